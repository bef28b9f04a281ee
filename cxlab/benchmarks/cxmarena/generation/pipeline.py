"""The pipeline: a brand becomes a stored dataset, stage by stage, each of which goes on where it was stopped.

    config = read_config({"brand": "talvero", "size": "small"}, seed=1)
    built = stages.finish(build(config))      # Generated(dataset, folder=…): datasets/ID appeared whole

What was made so far lies in the store's work/KEY, where KEY follows from everything that decides the result. A
second build of the same finds the dataset and makes nothing.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab import llm, resources
from cxlab.benchmarks.contract import Excerpt
from cxlab.benchmarks.cxmarena.brand import brand_pack as brand
from cxlab.benchmarks.cxmarena.brand import brief_plan, ledger, pack_files
from cxlab.benchmarks.cxmarena.brand import pack_from_brief as brief
from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations import (
    channel_mix,
    conversation_plan,
    conversation_writer,
    written_dialogue_prompts,
)
from cxlab.benchmarks.cxmarena.evaluation import evaluation_prompts
from cxlab.benchmarks.cxmarena.generation import dataset_statistics, dataset_tables, sizes
from cxlab.benchmarks.cxmarena.generation.dataset_config import ANSWERS, Config, read_config
from cxlab.benchmarks.cxmarena.knowledge import (
    article_noise,
    article_prompts,
    article_writer,
    refinement_corpus,
    topic_tree,
)
from cxlab.benchmarks.cxmarena.knowledge.acronyms import ACRONYMS
from cxlab.benchmarks.cxmarena.options import CxmDataset
from cxlab.benchmarks.cxmarena.tasks import (
    intent_taxonomies,
    search_queries,
    task_prompts,
)
from cxlab.benchmarks.cxmarena.tasks import (
    sample_validation as validate,
)
from cxlab.benchmarks.cxmarena.tasks import (
    task_samples as tasks,
)
from cxlab.benchmarks.generation import Generation, GenerationContext, make_once, parallel, stages
from cxlab.benchmarks.generation.budget import GenerationBudget
from cxlab.benchmarks.generation.stages import Progress
from cxlab.llm import ChatModel
from cxlab.records import Article, Conversation, Dataset, Sample, content_id
from cxlab.store import layout, write

# Part of the work folder's name: raised when a change makes older half-done work unusable.
VERSION = 1
# A process that talks has to take the whole knowledge base in first.
CONVERSATIONS_A_WORKER = 60
LICENCE = "own work, made with CX Lab"
HERE = resources.PACKAGE / "benchmarks" / "cxmarena"
# What simulated models are made of.
SIMULATED = (
    *(HERE, resources.PACKAGE / "llm", resources.PACKAGE / "voice"),
    *(resources.data(*name.split("/")) for name in ("simulated/cxmarena", "voice")),
)
TEXTS = (".py", ".md", ".yaml")


def generate(options: CxmDataset, context: GenerationContext) -> Generation:
    """The benchmark's generator: makes and stores a dataset, because samples point into its tables."""
    given = {name: value for name, value in options.to_record().items() if value is not None}
    config = read_config(given, context.seed)
    return (yield from build(config, context.home, context.workers, context.budget, context.writer))


def build(
    config: Config,
    home: Path | str | None = None,
    workers: int | None = None,
    generation_budget: GenerationBudget | None = None,
    writer: ChatModel | None = None,
) -> Generation:
    """Make a dataset and store it; one made before is only looked up. Without a `writer` the configured one."""
    base, generation_budget = layout.resolve_home(home), generation_budget or GenerationBudget()
    writer = writer or llm.load(config.model)
    # Refuses a budget that nothing could end, before anything is written.
    generation_budget.meter(writer)
    path = yield from find_brand(config, base, writer, generation_budget)
    pack = pack_files.load(path)
    with make_once(base, work_key(config, pack, Path(path))) as work:
        if work.made is not None:
            return work.made
        generation_budget.open(work.folder, Path(path).parent if config.brief else None)
        dataset, samples, frames = yield from generation_budget.follow(
            make(config, pack, work.folder, workers, generation_budget, writer)
        )
        files = work.folder / article_noise.FILES
        files.mkdir(exist_ok=True)
        # The pack goes along, so that a dataset of a brief or of somebody's own file explains itself.
        shutil.copyfile(path, files / "brand.yaml")
        return work.end(dataset, write.save_dataset(dataset, samples, base, tables=frames, files=files), samples)


def find_brand(
    config: Config, base: Path, writer: ChatModel, generation_budget: GenerationBudget | None = None
) -> Generator[Progress, None, Path]:
    """The pack's file; a brief is expanded once and kept."""
    if not config.brief:
        given = Path(config.brand)
        return given if given.suffix in (".yaml", ".yml") else brand.FOLDER / f"{config.brand}.yaml"
    made_by = (config.model, brief.EXPAND_BRAND.hash, brief_plan.READ_BRIEF.hash, *sources(config.model))
    answers = (config.language, *(getattr(config, name) for name in ANSWERS))
    folder = base / "brands" / content_id(config.brief, answers, *made_by)
    yield Progress("brand", 0, 1)
    found = sorted(folder.glob("*.yaml"))
    if not found:
        if generation_budget is not None and not writer.simulated:
            generation_budget.open_brand(folder)
            writer = generation_budget.meter(writer)
        found = [brief.write(config.brief, understand(config, writer), writer, folder)]
    yield Progress("brand", 1, 1)
    return found[0]


def understand(config: Config, model: ChatModel) -> brief_plan.BriefPlan:
    """What the writer understands of the brief, with what was answered."""
    return brief_plan.read(config.brief, model).correct(asdict(config))


def write_excerpts(config: Config, context: GenerationContext) -> Generator[Progress, None, list[Excerpt]]:
    """An article and a conversation of a brief's brand, written as they would be for a tiny dataset.

    The brand is kept, so that the dataset is made of the same one, and what the sample took is booked on it; the texts
    are not kept.
    """
    writer, base = context.writer or llm.load(config.model), layout.resolve_home(context.home)
    path = yield from find_brand(config, base, writer, context.budget)
    if config.brief and not writer.simulated:
        context.budget.open_brand(path.parent)
        context.budget.keep_replies(path.parent)
    model = stages.FaultStoppedModel(context.budget.meter(writer))
    return (yield from context.budget.follow(_write_excerpts(pack_files.load(path), model, config.seed)))


def _write_excerpts(pack: Brand, model: ChatModel, seed: int) -> Generator[Progress, None, list[Excerpt]]:
    facts = ledger.make(pack, seed, topic_tree.plan(pack, topic_tree.SMALLEST, 1))
    topics = yield from topic_tree.grow(facts, model, 1, seed)
    found = yield from article_writer.write_information(facts, topics, model, seed)
    plans = article_writer.plan_issues(facts, topics, 1, seed)
    about = {a.properties["subject"]: a.id for a in found}
    issues = yield from article_writer.write_issues(facts, plans, model, seed, None, len(found) + 1, about)
    tools = article_writer.define_tools(pack, plans, sizes.TOOLS)
    cases = conversation_plan.plan_conversations(facts, [*found, *issues], tools, 1, seed)
    talks = yield from conversation_writer.write_conversations(
        facts, [*found, *issues], tools, cases, model, seed, short=not model.simulated
    )
    return [
        *(Excerpt("article", one.title, one.body.partition("\n\n")[2]) for one in (found or issues)[:1]),
        *(
            Excerpt(
                "conversation", _capital(pack.issues[talk.labels["issue"]].title), conversation_writer.transcript(talk)
            )
            for talk in talks
        ),
    ]


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


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
        **evaluation_prompts.hashes(),
        **article_prompts.hashes(),
        brief.EXPAND_BRAND.name: brief.EXPAND_BRAND.hash,
        brief_plan.READ_BRIEF.name: brief_plan.READ_BRIEF.hash,
        **task_prompts.hashes(),
        **written_dialogue_prompts.hashes(),
        ACRONYMS.name: ACRONYMS.hash,
    }


def make(
    config: Config, pack: Brand, work: Path, workers: int | None, generation_budget: GenerationBudget, writer: ChatModel
) -> Generator[Progress, None, tuple[Dataset, list[Sample], dict[str, pl.DataFrame]]]:
    """All stages; nothing is stored but what they leave in `work`."""
    parallel.preload(__name__)
    size, seed = sizes.read_size(config.size), config.seed
    model = stages.FaultStoppedModel(generation_budget.meter(writer))
    if not model.simulated:
        generation_budget.keep_replies(work)
    yield Progress("ledger", 0, 1)
    facts = ledger.make(pack, seed, topic_tree.plan(pack, max(size.information, topic_tree.SMALLEST), size.issues))
    yield Progress("ledger", 1, 1)
    topics = yield from topic_tree.grow(facts, model, size.information, seed, work)
    found = yield from article_writer.write_information(facts, topics, model, seed, work)
    plans = article_writer.plan_issues(facts, topics, size.issues, seed)
    about = {a.properties["subject"]: a.id for a in reversed(found) if a.properties["subject"]}
    found += yield from article_writer.write_issues(facts, plans, model, seed, work, len(found) + 1, about)
    unusable = len(topics) + len(plans) - len(found)
    tools = article_writer.define_tools(pack, plans, sizes.TOOLS)
    corpus = dataset_tables.rename(
        (yield from refinement_corpus.make(found, facts, model, size.refinement, seed, work))
    )
    acronyms: dict[str, str] = {}
    if "acronyms" in config.noise:
        acronyms = yield from article_noise.find_acronyms(found, pack, model, seed, work)
    formats = "formats" in config.noise
    served = yield from article_noise.add_article_noise(
        found, facts, acronyms, seed, work, formats=formats, workers=workers
    )
    talks = yield from make_conversations(config, facts, found, tools, size, model, work, workers)
    noises = channel_mix.plan(talks, pack, config.noise, config.wer, seed)
    noisy = yield from channel_mix.disturb(talks, noises, workers)
    talks = channel_mix.name_channels(talks, noises)
    taxonomies, labels = yield from intent_taxonomies.make(talks, found, model, seed, work, language=pack.language.name)
    asked = yield from search_queries.make(found, topics, facts, model, seed, work, 10 if size.tiny else None)
    heard = {each.id: one for each, one in zip(talks, noisy, strict=True)}
    samples = tasks.make("", corpus, talks, labels, asked, tools, seed, heard, pack.language_id)
    rates: dict[str, Any] = {}
    if config.validate and not size.tiny:
        texts = dataset_tables.read_by(found, served)
        report = yield from validate.check(samples, taxonomies, texts, model, seed, work)
        samples, rates = validate.apply(samples, report), report.procedures
    frames = {
        "articles": dataset_tables.article_rows(found, served, corpus),
        "topics": dataset_tables.topic_rows(topics, found),
        "facts": dataset_tables.fact_rows(facts),
        "tools": dataset_tables.tool_rows(tools, found),
        "acronyms": dataset_tables.acronym_rows(acronyms, served),
        "changes": dataset_tables.change_rows(corpus),
        "conversations": dataset_tables.conversation_rows(talks, noisy),
        "taxonomies": dataset_tables.taxonomy_rows(taxonomies),
    }
    yield Progress("statistics", 0, 1)
    measured = dataset_statistics.measure(found, talks, noisy, pack.language_id)
    yield Progress("statistics", 1, 1)
    content = dataset_tables.digest(frames, (sample.model_dump(mode="json") for sample in samples))
    dataset_id = f"cxmarena-{pack.id.replace('_', '-')}-{content}"
    dataset = Dataset(
        id=dataset_id,
        benchmark="cxmarena",
        name=f"{pack.name}: {len(found):,} articles, {len(talks):,} conversations",
        source="generated",
        config={
            "options": {**asdict(config), "brand": pack.id, "noise": list(config.noise)},
            "writer": writer.name,
            "prompts": hashes(),
            "statistics": measured,
            "counts": dataset_statistics.count(frames, samples),
            "validation": rates,
            "left_out": {
                "articles": unusable,
                "copies": corpus.lost,
                "conversations": size.conversations - len(talks),
                "intent names": sum(not row["description"] for row in taxonomies),
            },
            **({} if model.simulated else {"spending": generation_budget.sum_up()}),
            **({"note": pack.note} if pack.note else {}),
        },
        seed=seed,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return dataset, tasks.place(samples, dataset_id), frames


def make_conversations(
    config: Config,
    facts: Ledger,
    found: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    size: sizes.DatasetSize,
    model: ChatModel,
    work: Path,
    workers: int | None,
) -> Generator[Progress, None, list[Conversation]]:
    """The conversations; simulated ones are CPU work and spread over processes."""
    cases = conversation_plan.plan_conversations(facts, found, tools, size.conversations, config.seed)
    if model.simulated:
        task = functools.partial(conversations_shard, facts, found, tools, config.model, config.seed)
        yield from parallel.fill(
            "conversations", cases, lambda case: case.id, task, work, workers, CONVERSATIONS_A_WORKER
        )
    return (
        yield from conversation_writer.write_conversations(
            facts, found, tools, cases, model, config.seed, work, short=size.tiny
        )
    )


def conversations_shard(
    facts: Ledger,
    found: Sequence[Article],
    tools: Sequence[Mapping[str, Any]],
    model: str,
    seed: int,
    cases: Sequence[conversation_plan.ConversationPlan],
    folder: Path,
) -> None:
    """A shard of the conversations, in a process of its own."""
    stages.finish(conversation_writer.write_conversations(facts, found, tools, cases, llm.load(model), seed, folder))
