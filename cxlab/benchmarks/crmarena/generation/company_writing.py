"""A company from a person's paragraph, through a real writer, as a folder of the files that people write.

Profile, catalogue, articles in batches of five, then the talks of each issue; what does not fit the company is
discarded and asked for again, three times at most. The folder lies in the store's `companies/` and is a company like
any other: `python -m cxlab generate crmarena --company FOLDER`.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from cxlab.benchmarks.crmarena.generation import company_prompts as prompts
from cxlab.benchmarks.crmarena.generation.sizes import PAPER_CASES, SMALL_CASES, Size
from cxlab.benchmarks.crmarena.generation.writing import Counts, write_batch
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import incoming, talks
from cxlab.benchmarks.crmarena.organisation.company import Article, Catalogue, Company, Profile
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import GenerationStopped, Progress
from cxlab.files import dump_yaml
from cxlab.llm import ChatModel, Prompt
from cxlab.store import layout

ARTICLES_A_CALL = 5
STAGE = "company"
In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class Extent(BaseModel):
    """How much of a company is written: as the paper's has it at its size, less for smaller organisations."""

    issues: int
    policies: int
    articles: int
    models: int

    @property
    def calls(self) -> int:
        """Calls where nothing has to be made again."""
        return 2 + -(-self.articles // ARTICLES_A_CALL) + self.issues


def find_extent(size: Size) -> Extent:
    """What a company needs for an organisation of that size."""
    if size.cases >= PAPER_CASES:
        return Extent(issues=10, policies=10, articles=45, models=16)
    if size.cases >= SMALL_CASES:
        return Extent(issues=6, policies=6, articles=20, models=12)
    return Extent(issues=4, policies=4, articles=8, models=8)


Written = Generator[Progress, None, Counts]


def write_company(model: ChatModel, brief: str, extent: Extent, seed: int, folder: Path, work: Path) -> Written:
    """Write the company's files into a folder; rows of what is done so far lie in `work`. Raises GenerationStopped."""
    counts = Counts()
    total = extent.calls

    async def write(key: str, prompt: Prompt[In, Out], inputs: In) -> dict[str, Any]:
        made, discarded, why = await write_batch(model, prompt, inputs, seed * 1000 + sum(map(ord, key)))
        if made is None:
            raise GenerationStopped(
                f"{STAGE}: {model.name} did not write {key} as asked in 3 tries ({why}); what was made so far is kept: "
                "run the same command again to go on"
            )
        return {"made": made.model_dump(mode="json"), "discarded": discarded}

    def make(key: str, prompt: Prompt[In, Out], inputs: In) -> Out:
        """One reply, or the one that an earlier try left."""

        async def work_on(name: str) -> dict[str, Any]:
            return await write(name, prompt, inputs)

        row = stages.finish(stages.run(STAGE, [key], str, work_on, work))[0]
        counts.add(row)
        return prompt.Output.model_validate(row["made"])

    yield Progress(STAGE, 0, total)
    asked = prompts.CompanyInputs(brief=brief, issues=extent.issues, policies=extent.policies)
    profile = make("profile", prompts.COMPANY, asked).to_profile()
    yield Progress(STAGE, 1, total)
    catalogue = make("catalogue", prompts.CATALOGUE, prompts.CatalogueInputs(profile=profile, models=extent.models))
    yield Progress(STAGE, 2, total)
    articles: list[Article] = []
    for number, inputs_of in enumerate(_plan_articles(profile, catalogue, extent.articles)):
        inputs = inputs_of(articles)
        articles += make(f"articles {number + 1}", prompts.ARTICLES, inputs).articles
        yield Progress(STAGE, 3 + number, total)
    made: list[talks.Talk] = []
    new_cases: list[incoming.NewCase] = []
    for number, issue in enumerate(profile.issues):
        inputs = prompts.TalksInputs(
            profile=profile,
            catalogue=catalogue,
            issue=issue,
            policies=tuple(policy for policy in profile.conduct_policies if issue.name in policy.issues),
            ids=tuple(talk.id for talk in made),
        )
        found = make(f"talks {number + 1}", prompts.TALKS, inputs)
        made += [draft.to_talk(issue.name) for draft in found.talks]
        new_cases += [report.to_case(issue.name) for report in found.new_cases]
        yield Progress(STAGE, total - len(profile.issues) + number + 1, total)
    _write_files(folder, profile, catalogue, articles, made, new_cases)
    return counts


def _plan_articles(profile: Profile, catalogue: Catalogue, count: int) -> list[Any]:
    """What is asked for in each batch, once it is known what was written before it."""
    wanted = [
        prompts.WantedArticle(slug=policy.article, rule=policy.rule, terms=policy.terms)
        for policy in profile.conduct_policies
    ]
    batches = [wanted[start : start + ARTICLES_A_CALL] for start in range(0, len(wanted), ARTICLES_A_CALL)]
    left = max(count, len(wanted)) - len(wanted)
    mores = [0] * len(batches)
    if batches and (room := min(left, ARTICLES_A_CALL - len(batches[-1]))):
        mores[-1] = room
        left -= room
    while left:
        batches.append([])
        mores.append(min(left, ARTICLES_A_CALL))
        left -= mores[-1]

    def ask(some: list[prompts.WantedArticle], more: int, there: Sequence[Article]) -> prompts.ArticlesInputs:
        return prompts.ArticlesInputs(
            profile=profile,
            catalogue=catalogue,
            wanted=tuple(some),
            more=more,
            titles=tuple(article.title for article in there),
            slugs=tuple(article.slug for article in there),
        )

    return [functools.partial(ask, some, more) for some, more in zip(batches, mores, strict=True)]


def _write_files(
    folder: Path,
    profile: Profile,
    catalogue: Catalogue,
    articles: Sequence[Article],
    made: Sequence[talks.Talk],
    new_cases: Sequence[incoming.NewCase],
) -> None:
    """The files in the form that people write; `company.yaml` is written last, so that a folder with it is whole."""
    company = Company(profile, catalogue, {article.slug: article for article in articles})
    faults = [f"{name}: {problem}" for name, problem in companies.find_faults(company)]
    if faults := [*faults, *talks.find_faults(tuple(made), company)]:
        raise GenerationStopped(f"{STAGE}: what was written does not hold together ({faults[0]}); take another seed")

    def write(name: str, text: str) -> None:
        layout.write_whole(folder / name, text.encode())

    for article in articles:
        head = dump_yaml(article.model_dump(mode="json", exclude={"slug", "body"}))
        write(f"knowledge/{article.slug}.md", f"---\n{head}---\n{article.body.strip()}\n")
    write("catalogue.yaml", dump_yaml(catalogue.model_dump(mode="json", exclude_none=True)))
    write("talks.yaml", dump_yaml({"talks": [talk.model_dump(mode="json", exclude_none=True) for talk in made]}))
    write("new_cases.yaml", dump_yaml({"cases": [case.model_dump(mode="json") for case in new_cases]}))
    write("company.yaml", dump_yaml(profile.model_dump(mode="json")))
