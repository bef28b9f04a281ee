"""What a writer is asked to make a company of a paragraph: who it is, what it sells, its articles and sample talks.

What comes back has the form of the files that people write (`organisation/company.py`), and is checked by the same
rules before it is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxlab.benchmarks.crmarena.generation.prompts import HERE, Line
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation.company import (
    Article,
    Catalogue,
    Company,
    ConductPolicy,
    Issue,
    Key,
    Profile,
    Region,
    Slug,
    Text,
    Warehouse,
)
from cxlab.benchmarks.crmarena.organisation.incoming import NewCase
from cxlab.benchmarks.crmarena.organisation.talks import Talk
from cxlab.benchmarks.crmarena.organisation.talks import find_faults as find_talk_faults
from cxlab.llm import Prompt

# An order's case can be opened between these days after it, whatever the product: a talk of each issue has to fit.
EARLIEST, LATEST = 60, 200


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True)


class TermDraft(BaseModel):
    """A price or period: its key, its value as it is written everywhere, what it is."""

    key: Key
    value: Text
    says: Text


class CompanyDraft(BaseModel):
    """Who a company is, as a writer tells it; what is alike in all companies is not asked for."""

    name: Text
    short_name: Text
    industry: Text
    description: Text
    warehouses: Annotated[list[Warehouse], Field(min_length=1)]
    regions: Annotated[list[Region], Field(min_length=2)]
    categories: Annotated[list[Text], Field(min_length=2)]
    terms: Annotated[list[TermDraft], Field(min_length=5)]
    issues: Annotated[list[Issue], Field(min_length=2)]
    conduct_policies: Annotated[list[ConductPolicy], Field(min_length=1)]

    def to_profile(self) -> Profile:
        """The profile, with the task policies and roles that all companies share."""
        shared = companies.load_default().profile
        slug = "-".join(re.findall(r"[a-z0-9]+", self.short_name.lower())) or "company"
        return Profile.model_validate(
            {
                **self.model_dump(exclude={"terms"}),
                "terms": {each.key: {"value": each.value, "says": each.says} for each in self.terms},
                "id": slug,
                "currency": "USD",
                "support_email": f"service@{slug}.example",
                "task_policies": shared.task_policies.model_dump(),
                "roles": [role.model_dump() for role in shared.roles],
            }
        )


class CompanyInputs(_Given):
    """A person's words about a company, and how many issues and rules it shall have."""

    brief: str
    issues: int
    policies: int

    def validate_output(self, output: CompanyDraft) -> list[str]:
        """Complaints about the numbers, and what the parts of the company say against each other."""
        found = [f"the term {key!r} is there twice" for key, n in Counter(t.key for t in output.terms).items() if n > 1]
        for what, got, wanted in (
            ("issues", len(output.issues), self.issues),
            ("conduct_policies", len(output.conduct_policies), self.policies),
        ):
            if got != wanted:
                found.append(f"{got} {what}, {wanted} were wanted")
        try:
            return found + companies.find_profile_faults(output.to_profile())
        except ValidationError as error:
            return [*found, str(error.errors(include_url=False)[0]["msg"])]


class CatalogueInputs(_Given):
    """A company that needs a catalogue."""

    profile: Profile
    models: int

    def validate_output(self, output: Catalogue) -> list[str]:
        """Complaints about the number of models, unknown categories, categories and issues without a product."""
        found = companies.find_catalogue_faults(output, self.profile)
        if len(output.models) < self.models:
            found.append(f"{len(output.models)} models, at least {self.models} were wanted")
        used = {name for model in output.models for name in model.categories}
        found += [f"no model is of the category {name!r}" for name in self.profile.categories if name not in used]
        kinds = Counter(model.kind for model in output.models)
        if not any(count > 1 for count in kinds.values()):
            found.append("no two models are of one kind; customers must be able to mean one of several")
        return found


class WantedArticle(_Given):
    """An article that a rule needs: its slug, the rule, the terms that it must name."""

    slug: Slug
    rule: Text
    terms: tuple[Key, ...]


class Articles(BaseModel):
    """A batch of articles."""

    articles: list[Article]


class ArticlesInputs(_Given):
    """A batch of articles: those that rules need, and `more` about what else customers ask. `titles` are taken."""

    profile: Profile
    catalogue: Catalogue
    wanted: tuple[WantedArticle, ...]
    more: int
    titles: tuple[str, ...]
    slugs: tuple[str, ...]

    def validate_output(self, output: Articles) -> list[str]:
        """Complaints about articles that are missing, come twice, or say what the company does not."""
        slugs = [article.slug for article in output.articles]
        found = [f"the article {each.slug} is missing" for each in self.wanted if each.slug not in slugs]
        if len(slugs) != (count := len(self.wanted) + self.more):
            found.append(f"{len(slugs)} articles, {count} were wanted")
        titles = Counter([article.title for article in output.articles] + list(self.titles))
        found += [f"the title {title!r} is there twice" for title, number in titles.items() if number > 1]
        again = Counter(slugs + list(self.slugs))
        found += [f"the slug {slug!r} is there twice" for slug, number in again.items() if number > 1]
        for article in output.articles:
            faults = companies.find_article_faults(article, self.profile, self.catalogue)
            found += [f"{article.slug}: {fault}" for fault in faults]
        return found


class TalkDraft(BaseModel):
    """A sample talk as a writer tells it; `breaches` is the id of the rule that is broken, "" where all are kept."""

    id: Slug
    form: Annotated[str, Field(pattern="^(chat|email)$")]
    subject: str = ""
    least_age: Annotated[int, Field(ge=0)]
    most_age: Annotated[int, Field(ge=0)]
    breaches: str = ""
    lines: Annotated[list[Line], Field(min_length=2)]

    def to_talk(self, issue: str) -> Talk:
        """The talk as the company's file has it; raises ValidationError."""
        return Talk.model_validate(
            {
                "id": self.id,
                "form": self.form,
                "subject": self.subject or None if self.form == "email" else None,
                "issue": issue,
                "age": (self.least_age, self.most_age),
                "breaches": self.breaches or None,
                "lines": [{line.speaker: line.text} for line in self.lines],
            }
        )


class IssueReport(BaseModel):
    """What a customer reports in a case that waits for an agent."""

    subject: Text
    description: Text

    def to_case(self, issue: str) -> NewCase:
        """The case as the company's file has it."""
        return NewCase(issue=issue, subject=self.subject, description=self.description)


class Talks(BaseModel):
    """The talks and the new cases of one issue."""

    talks: list[TalkDraft]
    new_cases: Annotated[list[IssueReport], Field(min_length=2)]


class TalksInputs(_Given):
    """An issue that needs talks: a chat and an exchange of e-mails that keep all rules, and one that breaks each rule
    of `policies`, which come up in it. `ids` are taken."""

    profile: Profile
    catalogue: Catalogue
    issue: Issue
    policies: tuple[ConductPolicy, ...]
    ids: tuple[str, ...]
    earliest: int = EARLIEST
    latest: int = LATEST

    def validate_output(self, output: Talks) -> list[str]:
        """Complaints about what is missing, and about talks that do not fit the company."""
        made, found = [], []
        for draft in output.talks:
            try:
                made.append(draft.to_talk(self.issue.name))
            except ValidationError as error:
                found.append(f"{draft.id}: {error.errors(include_url=False)[0]['msg']}")
        for form in ("chat", "email"):
            plain = [talk for talk in made if talk.form == form and talk.breaches is None and not talk.hands_over]
            if not any(talk.age[0] <= self.earliest and talk.age[1] >= self.latest for talk in plain):
                days = f"from day {self.earliest} to day {self.latest} after the order"
                found.append(f"there is no {form} that keeps all rules and is true {days}")
        broken = {talk.breaches for talk in made}
        found += [f"no talk breaks {policy.id}" for policy in self.policies if policy.id not in broken]
        found += [f"the id {talk.id!r} is taken" for talk in made if talk.id in self.ids]
        company = Company(self.profile, self.catalogue, {})
        return found + list(find_talk_faults(tuple(made), company))


COMPANY = Prompt("crmarena_company", 1, HERE / "company.md", CompanyInputs, CompanyDraft, temperature=0.7)
CATALOGUE = Prompt("crmarena_catalogue", 1, HERE / "catalogue.md", CatalogueInputs, Catalogue, temperature=0.7)
ARTICLES = Prompt("crmarena_articles", 1, HERE / "articles.md", ArticlesInputs, Articles, temperature=0.7)
TALKS = Prompt("crmarena_talks", 1, HERE / "talks.md", TalksInputs, Talks, temperature=0.8)
ALL = (COMPANY, CATALOGUE, ARTICLES, TALKS)


def hashes() -> dict[str, str]:
    """Prompt name → hash."""
    return {prompt.name: prompt.hash for prompt in ALL}
