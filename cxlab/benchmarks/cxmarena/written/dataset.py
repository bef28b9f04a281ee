"""A brand written by hand as a stored dataset: no model is asked, and nothing in it is drawn but what the tasks draw.

    made = stages.finish(generate("aldersea", "en", context))     # Generated, stored; the same whatever the seed
    made = stages.finish(generate("aldersea", "en", context, ("speech",), 0.1))       # text articles, misheard calls

What a turn is grounded in follows from its facts: the sources of an agent's message are all articles that state one.
Two articles contradict each other when one states a fact as the ledger has it and the other states it otherwise.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.brand.ledger import rng_for
from cxlab.benchmarks.cxmarena.conversations import channel_mix
from cxlab.benchmarks.cxmarena.conversations.noise import IvrOpening, Noise, add_noise
from cxlab.benchmarks.cxmarena.evaluation import evaluation_prompts
from cxlab.benchmarks.cxmarena.generation import dataset_statistics, dataset_tables
from cxlab.benchmarks.cxmarena.knowledge.formats import NoisyArticle, apply_format
from cxlab.benchmarks.cxmarena.knowledge.issue_plans import write_definition
from cxlab.benchmarks.cxmarena.knowledge.refinement_corpus import RefinementCorpus
from cxlab.benchmarks.cxmarena.tasks import task_samples
from cxlab.benchmarks.cxmarena.written.articles import find_paragraph, make_article, path_of, refine
from cxlab.benchmarks.cxmarena.written.brand_files import (
    CHANNELS,
    WrittenArticle,
    WrittenBrand,
    WrittenConversation,
    WrittenMessage,
    load,
    split_list,
)
from cxlab.benchmarks.cxmarena.written.marked_text import read_marks
from cxlab.benchmarks.cxmarena.written.proof import prove
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation.stages import Progress
from cxlab.errors import BadFile
from cxlab.records import Article, Conversation, Dataset, Message, Sample, ToolCall
from cxlab.store import layout, write

SEED = 1
# The kinds of noise in which it was written: articles come in the format that their heads ask for.
WRITTEN = ("formats",)
FORMATS: Mapping[str, Any] = {"text": "text", "table": "table", "html": "html", "markdown": "markdown", "pdf": "pdf"}
NOTE = (
    "Written by hand, sentence by sentence, and small: no model made it, and neither size, writer nor seed changes "
    "anything in it; conversations are noisy only where that was asked for."
)
LICENCE = "own work, written for CX Lab"


def generate(
    name: str, language: str, context: GenerationContext, noise: Sequence[str] = WRITTEN, wer: float = 0.1
) -> Generation:
    """The dataset of a brand in a language, stored; BadFile with the first thing that does not hold.

    `noise`: kinds of it; without "formats" all articles are plain text. Acronyms there are only as people wrote them.
    """
    brand = load(name, language)
    yield Progress("read", 0, 1)
    complaints = prove(brand)
    if complaints:
        first = complaints[0]
        raise BadFile(first.path, first.line, first.problem, f"{first.fix} (and {len(complaints) - 1} more)")
    yield Progress("read", 1, 1)
    base = layout.resolve_home(context.home)
    work = base / "work" / f"written-{brand.id}-{language}"
    busy = "another process makes this dataset at the moment; wait for it"
    with layout.lock(work.with_suffix(".lock"), busy=busy):
        shutil.rmtree(work, ignore_errors=True)
        files = work / "files"
        files.mkdir(parents=True)
        yield Progress("articles", 0, len(brand.articles))
        dataset, samples, frames = make(brand, files, noise, wer)
        yield Progress("articles", len(brand.articles), len(brand.articles))
        shutil.copyfile(brand.folder / "ledger.yaml", files / "ledger.yaml")
        folder = base / "datasets" / dataset.id
        if not (folder / "dataset.json").is_file():
            folder = write.save_dataset(dataset, samples, base, tables=frames, files=files)
        shutil.rmtree(work)
    return Generated(dataset, folder=folder, counts=dict(Counter(sample.task for sample in samples)))


def make(
    brand: WrittenBrand, files: Path, noise: Sequence[str] = WRITTEN, wer: float = 0.1
) -> tuple[Dataset, list[Sample], dict[str, pl.DataFrame]]:
    """The dataset, its samples and its tables; PDFs are laid out in `files`."""
    numbers = {article.slug: f"KB_{n}" for n, article in enumerate(brand.articles, 1)}
    tools = [define_tool(name, told) for name, told in brand.tools.items()]
    by_name = {tool["function"]["name"]: tool for tool in tools}
    found = [make_article(brand, one, numbers[one.slug], by_name) for one in brand.articles]
    formats = "formats" in noise
    served = [serve(brand, one, article, files, formats) for one, article in zip(brand.articles, found, strict=True)]
    corpus = dataset_tables.rename(refine(brand, found, by_name)) if brand.refinement else RefinementCorpus()
    talks = [_conversation(brand, one, numbers) for one in brand.conversations]
    heard = [add_noise(talk.messages, disturb(brand, talk, noise, wer)) for talk in talks]
    labels = {
        one.id: {"A": label, "B": f"{area}:{label}", "C": area}
        for one in brand.conversations
        for area, label, _ in [brand.causes[one.intent]]
    }
    queries = [
        {"query": one["ask"], "article_id": numbers[one["in"]], "answer": (told := read_marks(one["answer"])).text}
        | {"facts": list(told.facts)}
        for one in brand.queries
    ]
    everyone = dict.fromkeys(task_samples.SHARES, 1.0)
    samples = task_samples.make(
        "",
        corpus,
        talks,
        labels,
        queries,
        tools,
        SEED,
        {talk.id: one for talk, one in zip(talks, heard, strict=True)},
        brand.language,
        everyone,
    )
    frames = {
        "articles": dataset_tables.article_rows(found, served, corpus),
        "topics": _topics(brand),
        "facts": _facts(brand),
        "tools": dataset_tables.tool_rows(tools, found),
        "acronyms": dataset_tables.acronym_rows({}, ()),
        "changes": dataset_tables.change_rows(corpus),
        "conversations": dataset_tables.conversation_rows(talks, heard),
        "taxonomies": dataset_tables.taxonomy_rows(_taxonomies(brand)),
    }
    content = dataset_tables.digest(frames, (sample.model_dump(mode="json") for sample in samples))
    dataset = Dataset(
        id=f"cxmarena-{brand.id}-{brand.language}-{content}",
        benchmark="cxmarena",
        name=f"{brand.name}: {len(found):,} articles, {len(talks):,} conversations, written by hand",
        source="generated",
        config={
            "options": {"brand": brand.id, "language": brand.language, "noise": list(noise), "wer": wer},
            "writer": "people",
            "prompts": evaluation_prompts.hashes(),
            "statistics": dataset_statistics.measure(found, talks, heard, brand.language),
            "counts": dataset_statistics.count(frames, samples),
            "validation": {},
            "note": NOTE,
        },
        seed=SEED,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return dataset, task_samples.place(samples, dataset.id), frames


def define_tool(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a tool whose parameters are texts."""
    parameters = {key: {"type": "string", "description": str(about)} for key, about in told["asks"].items()}
    return write_definition(name, f"{told['does']}. → {told['returns']}", parameters)


def disturb(brand: WrittenBrand, talk: Conversation, kinds: Sequence[str], wer: float) -> Noise:
    """The noise of one conversation, of the kinds asked for, as generated brands have it (`channel_mix.py`), but for
    who calls, which is written: calls are misheard and begin with a menu of the areas, and some people speak or write
    in pieces."""
    rng = rng_for("channel", brand.id, SEED, talk.id)
    torn, menu = rng.random() < channel_mix.FRAGMENTED, rng.random() < channel_mix.MENUS
    strength, line = float(rng.uniform(*channel_mix.STRENGTH)), float(rng.uniform(*channel_mix.LINES))
    called, areas = talk.channel == CHANNELS["call"], list(brand.intents)
    opening = IvrOpening(
        brand=brand.name,
        menus=(IvrOpening.Menu(options=tuple(areas), choice=areas.index(str(talk.labels["family"]))),),
    )
    return Noise(
        seed=int(rng.integers(2**31)),
        fragmentation=round(strength, 3) if torn and "fragmentation" in kinds else 0.0,
        wer=round(min(wer * line, 1.0), 4) if called and "speech" in kinds else 0.0,
        opening=opening if called and menu and "ivr" in kinds else None,
        language=brand.language,
    )


def serve(
    brand: WrittenBrand, one: WrittenArticle, article: Article, files: Path, formats: bool = True
) -> NoisyArticle:
    """The article in the format that its head asks for, or as text, with each value that it states."""
    values = [mark.words for mark in one.body.marks]
    return apply_format(
        article,
        FORMATS[one.head.get("format", "text") if formats else "text"],
        SEED,
        values=values,
        folder=files,
        language=brand.language,
        publisher=brand.name,
    )


def _conversation(brand: WrittenBrand, talk: WrittenConversation, numbers: Mapping[str, str]) -> Conversation:
    messages: list[Message] = []
    grounding: dict[int, tuple[str, ...]] = {}
    shown: dict[str, list[int]] = {}
    used: list[str] = []
    turn = 0
    for one in talk.messages:
        turn += one.role == "customer"
        place = len(messages)
        sources, passages = _sources(brand, one.said.facts)
        ids = [numbers[slug] for slug in sources]
        used += [each for each in ids if each not in used]
        if ids:
            grounding[place] = tuple(ids)
        for tag in one.tags:
            shown.setdefault(tag, []).append(place)
        for n, call in enumerate(one.calls or [None]):
            message, result = _message(one, call, turn, place, ids, passages, silent=n > 0)
            messages += [message] if result is None else [message, result]
    own = next((a for a in brand.articles if a.head.get("intent") == talk.intent), None)
    area, label, _ = brand.causes[talk.intent]
    head = talk.head
    return Conversation(
        id=talk.id,
        channel=CHANNELS[talk.channel],
        messages=tuple(messages),
        persona={
            "customer": {"problem": head["who"], "traits": split_list(head.get("traits", ""))},
            "agent": {"name": head["agent"], "articles": used},
        },
        labels={
            **({"issue_article": numbers[own.slug]} if own else {}),
            "issue": label,
            "family": area,
            "about": label,
            "outcome": talk.outcome,
            "quality": list(_quality(brand, talk, shown)),
        },
        grounding=grounding,
    )


def _message(
    one: WrittenMessage,
    call: tuple[str, dict[str, str], dict[str, str]] | None,
    turn: int,
    place: int,
    sources: list[str],
    passages: list[str],
    *,
    silent: bool,
) -> tuple[Message, Message | None]:
    """The message, and the tool's after it where it calls one; what was said goes with the first call."""
    text = "" if silent else one.said.text
    if one.role == "customer":
        return Message(role="customer", text=text, turn=max(turn, 1), data={"asks": one.asks, "facts": []}), None
    facts = [] if silent else list(one.said.facts)
    data: dict[str, Any] = {"class": "knowledge_base" if facts else "tool_call" if call else "general"}
    data |= {"sources": sources if facts else [], "passages": passages if facts else [], "facts": facts}
    if call is None:
        return Message(role="agent", text=text, turn=max(turn, 1), data=data), None
    name, arguments, result = call
    made = ToolCall(id=f"call_{turn}_{place}_{name}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
    return (
        Message(role="agent", text=text, turn=max(turn, 1), tool_calls=(made,), data=data),
        Message(
            role="tool",
            text=json.dumps(result, ensure_ascii=False),
            turn=max(turn, 1),
            data={"tool": name, "result": result},
        ),
    )


def _sources(brand: WrittenBrand, facts: Sequence[str]) -> tuple[list[str], list[str]]:
    """All articles that state one of the facts, those with most of them first, and the line of each that does."""
    wanted = set(facts)
    stating = [(len(wanted & set(a.body.facts)), a) for a in brand.articles if wanted & set(a.body.facts)]
    ordered = [article for _, article in sorted(stating, key=lambda pair: -pair[0])]
    lines = [
        next(find_paragraph(a.body.text, mark.words) for mark in a.body.marks if mark.fact in wanted) for a in ordered
    ]
    return [article.slug for article in ordered], lines


def _quality(
    brand: WrittenBrand, talk: WrittenConversation, shown: Mapping[str, list[int]]
) -> Iterable[dict[str, Any]]:
    """The standards that were labelled, in the company's order, with the messages that show a Yes."""
    no, na = split_list(talk.head.get("no", "")), split_list(talk.head.get("na", ""))
    for name, question in brand.quality.items():
        answer = "Yes" if name in shown else "No" if name in no else "NA" if name in na else None
        if answer is not None:
            yield {"id": name, "question": question, "answer": answer, "evidence": shown.get(name, [])}


def _topics(brand: WrittenBrand) -> pl.DataFrame:
    """The topics and, below the desk's, the areas of causes; articles name theirs themselves."""
    rows: list[dict[str, Any]] = []
    for n, (topic, about) in enumerate(brand.topics.items(), 1):
        rows.append({"topic_id": f"T_{n}", "parent": None, "title": topic, "description": about, "depth": 1})
        below = dict.fromkeys(path[1] for a in brand.articles if (path := path_of(brand, a))[0] == topic and path[1:])
        rows += [
            {"topic_id": f"T_{n}.{m}", "parent": f"T_{n}", "title": area, "description": "", "depth": 2}
            for m, area in enumerate(below, 1)
        ]
    texts = dict.fromkeys(("topic_id", "parent", "title", "description"), pl.String)
    schema = {**texts, "depth": pl.Int64, "article_id": pl.String}
    return pl.DataFrame([{"article_id": None, **row} for row in rows], schema=schema, orient="row")


def _facts(brand: WrittenBrand) -> pl.DataFrame:
    """The facts that the articles of this language state, in their words."""
    said: dict[str, str] = {}
    for article in brand.articles:
        for mark in article.body.marks:
            said.setdefault(mark.fact, mark.words)
    rows = [
        {
            "fact_id": fact.id,
            "subject": brand.subjects[fact.subject],
            "property": fact.property,
            "value": fact.forms[0],
            "unit": None,
            "shown": said[fact.id],
            "name": fact.property.replace("_", " "),
        }
        for fact in brand.facts.values()
        if fact.id in said
    ]
    columns = ("fact_id", "subject", "property", "value", "unit", "shown", "name")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _taxonomies(brand: WrittenBrand) -> list[dict[str, Any]]:
    """A: the causes; B: the same in two levels, below their areas; C: the areas alone."""
    rows = [
        {"taxonomy": "A", "l1": label, "l2": None, "description": about} for _, label, about in brand.causes.values()
    ]
    rows += [
        {"taxonomy": "B", "l1": area, "l2": label, "description": about} for area, label, about in brand.causes.values()
    ]
    for area, causes in brand.intents.items():
        about = "; ".join(label for label, _ in causes.values())
        rows.append({"taxonomy": "C", "l1": area, "l2": None, "description": about})
    return rows
