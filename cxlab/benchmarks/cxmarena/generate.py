"""The pipeline: a brand becomes a stored dataset, stage by stage, each of which goes on where it was stopped.

    config = read_config({"brand": "talvero", "size": "small"}, seed=1)
    built = stages.finish(build(config))      # Built(dataset, samples, folder): datasets/ID appeared whole

What was made so far lies in the store's work/KEY, where KEY follows from everything that decides the result. A
second build of the same finds the dataset and makes nothing.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from cxlab import llm, resources
from cxlab.benchmarks.cxmarena import (
    articles,
    brand,
    brief,
    channels,
    conversations,
    deriving,
    intents,
    ledger,
    overview,
    prompts,
    queries,
    refinement,
    serve,
    sizes,
    spread,
    stages,
    tables,
    talking,
    tasks,
    tree,
    validate,
    writing,
)
from cxlab.benchmarks.cxmarena.acronyms import ACRONYMS
from cxlab.benchmarks.cxmarena.brand import Brand
from cxlab.benchmarks.cxmarena.ledger import Ledger
from cxlab.benchmarks.cxmarena.purse import Purse
from cxlab.benchmarks.cxmarena.stages import Progress
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.llm import ChatModel
from cxlab.records import Article, Conversation, Dataset, Sample, content_id
from cxlab.store import layout, write

# Part of the work folder's name: raised when a change makes older half-done work unusable.
VERSION = 1
NOISE = ("formats", "acronyms", "fragmentation", "speech", "ivr")
WER = 0.1
WRITER = "simulated:strong"
# A process that talks has to take the whole knowledge base in first.
TALKS_A_WORKER = 60
LICENCE = "own work, made with CX Lab"
HERE = Path(__file__).parent
# What simulated models are made of.
SIMULATED = (
    *(HERE, resources.PACKAGE / "llm", resources.PACKAGE / "voice"),
    *(resources.data(*name.split("/")) for name in ("quality", "voice", "brands/trades")),
)
TEXTS = (".py", ".md", ".yaml")


@dataclass(frozen=True)
class Config:
    """What to make; `brand` is a pack's id or file, `brief` a paragraph from which a pack is made instead."""

    brand: str
    language: str
    size: str
    seed: int
    model: str = WRITER
    noise: tuple[str, ...] = NOISE
    wer: float = WER
    validate: bool = True
    brief: str = ""


class Built(NamedTuple):
    """A dataset in the store, and its folder."""

    dataset: Dataset
    tasks: dict[str, int]
    folder: Path


def generate(config: dict[str, Any], seed: int) -> tuple[Dataset, list[Sample]]:
    """The benchmark's generator: makes and stores a dataset, because samples point into its tables."""
    built = stages.finish(build(read_config(config, seed)))
    return built.dataset, write.load_samples(built.dataset.id)


def read_config(given: Mapping[str, Any], seed: int) -> Config:
    """Options by name, checked; BadOption or UnknownName says what is wrong."""
    known = ("brand", "language", "size", "model", "noise", "wer", "validate", "brief")
    for name in given:
        if name not in known:
            raise UnknownName("option of cxmarena's generator", name, known)
    language, name, told = (str(given.get(key) or "") for key in ("language", "brand", "brief"))
    if language and language not in brand.LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(brand.LANGUAGES)}")
    if given.get("brief") is not None and not told.strip():
        raise BadOption("the brief is empty; say in a paragraph what the brand sells and to whom")
    if name and told:
        raise BadOption("give a brand or a brief, not both: a brief makes a brand of its own")
    if not told:
        name = name or brief.EXAMPLES[language or "en"]
        own = brand.load(name).language_id
        if language and own != language:
            fitting = [one for one in brand.names() if brand.load(one).language_id == language]
            raise BadOption(
                f"brand {name!r} is written in {own!r}, not {language!r}, and packs are not translated; "
                f"take {', '.join(fitting)}, or have a brand made with --brief and --language {language}"
            )
        language = own
    sizes.read_size(given.get("size") or "small")
    try:
        wer = float(given.get("wer", WER))
    except (TypeError, ValueError):
        raise BadOption(f"wer={given['wer']!r}; give a share of words from 0 to 1") from None
    if not 0 <= wer <= 1:
        raise BadOption(f"wer={wer}; give a share of words from 0 to 1")
    config = Config(
        brand=name,
        language=language or "en",
        size=str(given.get("size") or "small"),
        seed=seed,
        model=str(given.get("model") or WRITER),
        noise=read_noise(given.get("noise")),
        wer=wer,
        validate=str(given.get("validate", True)).lower() not in ("false", "0", "no"),
        brief=read_brief(told),
    )
    llm.load(config.model)
    return config


def read_noise(given: Any) -> tuple[str, ...]:
    """The kinds of noise, all when nothing is said; "none" for a clean dataset."""
    if given is None:
        return NOISE
    names = given.split(",") if isinstance(given, str) else list(given)
    names = [name.strip() for name in names if name.strip() and name.strip() != "none"]
    for name in names:
        if name not in NOISE:
            raise UnknownName("noise", name, NOISE, "Or none")
    return tuple(name for name in NOISE if name in names)


def read_brief(given: str) -> str:
    """The paragraph itself, or what stands in the file of that name."""
    path = Path(given) if given and len(given) < 300 and "\n" not in given else None
    if path is None or not path.is_file():
        return given
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise BadFile(path, None, f"is no UTF-8 text ({error})") from None


def build(
    config: Config, home: Path | str | None = None, workers: int | None = None, purse: Purse | None = None
) -> Generator[Progress, None, Built]:
    """Make a dataset and store it; one that was made before is only looked up. `purse` counts what it takes."""
    base, purse = layout.resolve_home(home), purse or Purse()
    purse.meter(llm.load(config.model))  # refuses a budget that nothing could end before anything is written
    path = yield from find_brand(config, base, purse)
    pack = brand.load(path)
    key = work_key(config, pack, Path(path))
    work = base / "work" / key
    marker = work.with_suffix(".done")
    busy = "another process makes this dataset at the moment; wait for it, or take another seed"
    with layout.lock(work.with_suffix(".lock"), busy=busy):
        if marker.is_file():
            name = marker.read_text(encoding="utf-8").strip()
            if (base / "datasets" / name / "dataset.json").is_file():
                return _look_up(name, base)
        work.mkdir(parents=True, exist_ok=True)
        purse.open(work, Path(path).parent if config.brief else None)
        dataset, samples, frames = yield from purse.follow(make(config, pack, work, workers, purse))
        files = work / serve.FILES
        files.mkdir(exist_ok=True)
        # The pack goes along, so that a dataset of a brief or of somebody's own file explains itself.
        shutil.copyfile(path, files / "brand.yaml")
        folder = write.save_dataset(dataset, samples, base, tables=frames, files=files)
        layout.write_whole(marker, dataset.id.encode())
        shutil.rmtree(work)
    return Built(dataset, dict(Counter(sample.task for sample in samples)), folder)


def _look_up(name: str, base: Path) -> Built:
    found = write.load_samples(name, base, only_facets=True)
    return Built(
        write.load_dataset(name, base), dict(Counter(sample.task for sample in found)), base / "datasets" / name
    )


def find_brand(config: Config, base: Path, purse: Purse | None = None) -> Generator[Progress, None, Path]:
    """The pack's file; a brief is expanded once and kept."""
    if not config.brief:
        given = Path(config.brand)
        return given if given.suffix in (".yaml", ".yml") else brand.FOLDER / f"{config.brand}.yaml"
    made_by = (config.model, writing.EXPAND_BRAND.hash, *sources(config.model))
    folder = base / "brands" / content_id(config.brief, config.language, *made_by)
    yield Progress("brand", 0, 1)
    found = sorted(folder.glob("*.yaml"))
    if not found:
        model = llm.load(config.model)
        if purse is not None and not model.simulated:
            purse.open_brand(folder)
            model = purse.meter(model)
        found = [brief.write(config.brief, config.language, model, folder)]
    yield Progress("brand", 1, 1)
    return found[0]


def work_key(config: Config, pack: Brand, path: Path) -> str:
    """The name of the work folder: everything that decides the result.

    Simulated models are code, so with them every source file that they are made of counts, too; what a real model
    was paid for is kept as long as the prompts are the same.
    """
    asked = {**asdict(config), "brand": pack.id, "brief": ""}
    texts = [path.read_bytes(), *(file.read_bytes() for file in sorted((brand.FOLDER / "languages").glob("*.yaml")))]
    made_of = [*(hashlib.sha256(text).hexdigest() for text in texts), *sources(config.model)]
    return f"cxmarena-{content_id(VERSION, asked, made_of, hashes())}"


def sources(model: str) -> list[str]:
    """Hashes of all that a simulated model is made of; none for a real one, which is its name."""
    if not llm.load(model).simulated:
        return []
    files = [file for place in SIMULATED for file in sorted(place.rglob("*")) if file.suffix in TEXTS]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def hashes() -> dict[str, str]:
    """Prompt name → hash of all that the pipeline asks."""
    return {
        **prompts.hashes(),
        **writing.hashes(),
        **deriving.hashes(),
        **talking.hashes(),
        ACRONYMS.name: ACRONYMS.hash,
    }


def make(
    config: Config, pack: Brand, work: Path, workers: int | None, purse: Purse
) -> Generator[Progress, None, tuple[Dataset, list[Sample], dict[str, pl.DataFrame]]]:
    """All stages; nothing is stored but what they leave in `work`."""
    size, seed = sizes.read_size(config.size), config.seed
    model = stages.StopsOnFault(purse.meter(llm.load(config.model)))
    if not model.simulated:
        purse.keep_replies(work)
    yield Progress("ledger", 0, 1)
    facts = ledger.make(pack, seed, tree.plan(pack, size.information, size.issues))
    yield Progress("ledger", 1, 1)
    topics = yield from tree.grow(facts, model, size.information, seed, work)
    found = yield from articles.write_information(facts, topics, model, seed, work)
    plans = articles.plan_issues(facts, topics, size.issues, seed)
    about = {a.properties["subject"]: a.id for a in reversed(found) if a.properties["subject"]}
    found += yield from articles.write_issues(facts, plans, model, seed, work, len(found) + 1, about)
    tools = articles.define_tools(pack, plans, sizes.TOOLS)
    corpus = tables.rename((yield from refinement.make(found, facts, model, size.refinement, seed, work)))
    acronyms: dict[str, str] = {}
    if "acronyms" in config.noise:
        acronyms = yield from serve.find_acronyms(found, pack, model, seed, work)
    formats = "formats" in config.noise
    served = yield from serve.serve(found, facts, acronyms, seed, work, formats=formats, workers=workers)
    talks = yield from talk(config, facts, found, tools, size.conversations, model, work, workers)
    noises = channels.plan(talks, pack, config.noise, config.wer, seed)
    noisy = yield from channels.disturb(talks, noises, workers)
    talks = channels.name_channels(talks, noises)
    taxonomies, labels = yield from intents.make(talks, found, model, seed, work, language=pack.language.name)
    asked = yield from queries.make(found, topics, facts, model, seed, work)
    heard = {each.id: one for each, one in zip(talks, noisy, strict=True)}
    samples = tasks.make("", corpus, talks, labels, asked, tools, seed, heard, pack.language_id)
    rates: dict[str, Any] = {}
    if config.validate:
        texts = tables.read_by(found, served)
        report = yield from validate.check(samples, taxonomies, texts, model, seed, work)
        samples, rates = validate.apply(samples, report), report.procedures
    frames = {
        "articles": tables.article_rows(found, served, corpus),
        "topics": tables.topic_rows(topics, found),
        "facts": tables.fact_rows(facts),
        "tools": tables.tool_rows(tools, found),
        "acronyms": tables.acronym_rows(acronyms, served),
        "changes": tables.change_rows(corpus),
        "conversations": tables.conversation_rows(talks, noisy),
        "taxonomies": tables.taxonomy_rows(taxonomies),
    }
    yield Progress("statistics", 0, 1)
    measured = overview.measure(found, talks, noisy, pack.language_id)
    yield Progress("statistics", 1, 1)
    content = tables.digest(frames, (sample.model_dump(mode="json") for sample in samples))
    dataset_id = f"cxmarena-{pack.id.replace('_', '-')}-{content}"
    dataset = Dataset(
        id=dataset_id,
        benchmark="cxmarena",
        name=f"{pack.name}: {len(found):,} articles, {len(talks):,} conversations",
        source="generated",
        config={
            "options": {**asdict(config), "brand": pack.id, "noise": list(config.noise)},
            "prompts": hashes(),
            "statistics": measured,
            "counts": overview.count(frames, samples),
            "validation": rates,
            **({} if model.simulated else {"spending": purse.sum_up()}),
            **({"note": pack.note} if pack.note else {}),
        },
        seed=seed,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return dataset, tasks.place(samples, dataset_id), frames


def talk(
    config: Config,
    facts: Ledger,
    found: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    count: int,
    model: ChatModel,
    work: Path,
    workers: int | None,
) -> Generator[Progress, None, list[Conversation]]:
    """The conversations; simulated ones are CPU work and spread over processes."""
    cases = conversations.plan_conversations(facts, found, tools, count, config.seed)
    if model.simulated:
        task = functools.partial(talk_shard, facts, found, tools, config.model, config.seed)
        yield from spread.fill("conversations", cases, lambda case: case.id, task, work, workers, TALKS_A_WORKER)
    return (yield from conversations.write_conversations(facts, found, tools, cases, model, config.seed, work))


def talk_shard(
    facts: Ledger,
    found: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    model: str,
    seed: int,
    cases: Sequence[conversations.Case],
    folder: Path,
) -> None:
    """A shard of the conversations, in a process of its own."""
    stages.finish(conversations.write_conversations(facts, found, tools, cases, llm.load(model), seed, folder))
