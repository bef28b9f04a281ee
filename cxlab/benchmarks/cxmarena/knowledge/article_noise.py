"""Article noise over a whole knowledge base: acronyms, then one of five formats for each article.

    short = yield from find_acronyms(articles, brand, model, seed, folder)          # phrase -> acronym
    served = yield from add_article_noise(articles, ledger, short, seed, folder, formats=True)  # [NoisyArticle]

PDFs are laid out in FOLDER/files by a pool of processes, because one takes thirty times as long as anything else;
which process lays out which file changes nothing in it. Without formats an article is served as text.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from cxlab.benchmarks.cxmarena.brand.brand_pack import WORDED, Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.knowledge.acronyms import choose_acronyms, find_candidates
from cxlab.benchmarks.cxmarena.knowledge.formats import (
    SHARES,
    Format,
    LostValue,
    NoisyArticle,
    apply_format,
    plan_formats,
)
from cxlab.benchmarks.cxmarena.knowledge.pdf import Untypable
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.parallel import fill
from cxlab.llm.base import ChatModel
from cxlab.records import Article

FILES = "files"
Job = tuple[Article, list[str]]
Settings = tuple[int, Mapping[str, float], Mapping[str, str], str, str, Path]


def find_acronyms(
    articles: Sequence[Article], brand: Brand, model: ChatModel, seed: int, folder: Path | None = None
) -> Generator[stages.Progress, None, dict[str, str]]:
    """Phrase → acronym, from the whole corpus and the model's choice."""

    async def choose(name: str) -> stages.Row:
        candidates = find_candidates(article.body for article in articles)
        found = await choose_acronyms(model, candidates, brand=brand.name, language=brand.language.name, seed=seed)
        return {"acronyms": found.acronyms}

    (row,) = yield from stages.run("acronyms", [brand.id], str, choose, folder)
    return dict(row["acronyms"])


def add_article_noise(
    articles: Sequence[Article],
    ledger: Ledger,
    acronyms: Mapping[str, str],
    seed: int,
    folder: Path,
    *,
    formats: bool,
    workers: int | None = None,
) -> Generator[stages.Progress, None, list[NoisyArticle]]:
    """Each article as readers get it, with its clean text beside it."""
    shares = SHARES if formats else {"text": 1.0}
    settings = (seed, shares, dict(acronyms), ledger.brand.language_id, ledger.brand.name, folder / FILES)
    jobs = [(article, values_of(article, ledger)) for article in articles]
    laid_out = plan_formats([a.id for a in articles], seed, shares)
    pdfs = [job for job in jobs if laid_out[job[0].id] == "pdf"]
    yield from fill("formats", pdfs, _key, functools.partial(add_noise_shard, settings), folder, workers)
    rows = yield from _add_noise(settings, jobs, folder)
    return [NoisyArticle(article_id=a.id, clean=a.body, **row) for a, row in zip(articles, rows, strict=True)]


def add_noise_shard(settings: Settings, jobs: Sequence[Job], folder: Path) -> None:
    """A shard of the stage, in a process of its own."""
    stages.finish(_add_noise(settings, jobs, folder))


def _add_noise(
    settings: Settings, jobs: Sequence[Job], folder: Path
) -> Generator[stages.Progress, None, list[stages.Row]]:
    seed, shares, acronyms, language, publisher, files = settings
    planned = plan_formats([article.id for article, _ in jobs], seed, shares)

    async def work(job: Job) -> stages.Row:
        article, values = job
        return add_noise_to_article(article, planned[article.id], seed, values, acronyms, files, language, publisher)

    return (yield from stages.run("formats", jobs, _key, work, folder))


def _key(job: Job) -> str:
    return job[0].id


def add_noise_to_article(
    article: Article,
    format: Format,
    seed: int,
    values: Sequence[str],
    acronyms: Mapping[str, str],
    folder: Path,
    language: str,
    publisher: str,
) -> stages.Row:
    """One article as a row; where a format loses a value or lacks a character, the article stays text."""
    write = functools.partial(
        apply_format, article, seed=seed, values=values, acronyms=acronyms, language=language, publisher=publisher
    )
    try:
        served = write(format, folder=folder)
    except (LostValue, Untypable):
        (folder / f"{article.id}.pdf").unlink(missing_ok=True)
        served = write("text")
    return served.model_dump(exclude={"article_id", "clean"})


def values_of(article: Article, ledger: Ledger) -> list[str]:
    """The values of the article's facts as it may write them: what no noise may swallow."""
    found: list[str] = []
    for name in article.properties.get("facts", ()):
        fact = ledger.facts[name]
        found.append(ledger.show(fact))
        if ledger.brand.properties[fact.property].kind not in WORDED:
            found.append(ledger.show(fact, dative=True))
    return list(dict.fromkeys(found))
