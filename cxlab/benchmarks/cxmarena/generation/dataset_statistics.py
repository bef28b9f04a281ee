"""What a dataset holds and how it reads, beside the paper's tables 8 and 9: counts, statistics, pass rates.

counts = count(frames, samples)          # {"Intent: Labelled conversations": 979, ...}: the rows of table 8
print("\n".join(describe(dataset)))      # all of it as text
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxlab import resources
from cxlab.benchmarks.cxmarena.conversations.noise import NoisyConversation
from cxlab.metrics import text_statistics
from cxlab.records import Article, Conversation, Dataset, Sample

# Vocabulary of articles and conversations together; the paper has no figure for it.
CORPUS = {
    "corpus_vocabulary": "Vocabulary with articles, words without digits",
    "corpus_vocabulary_raw": "Vocabulary with articles, all words",
}
PUBLISHED = resources.data("published", "cxmarena.json")


@functools.cache
def _read_tables() -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in json.loads(PUBLISHED.read_text(encoding="utf-8"))["tables"]}


def read_published(table: str) -> dict[str, Any]:
    """One of the paper's tables, as it was transcribed: rows, columns, keys where it has them."""
    return _read_tables()[table]


def published_counts() -> dict[str, int]:
    """Table 8: "part: figure" → count."""
    return {f"{part}: {figure}": n for part, figure, n in read_published("table8")["rows"]}


def count(frames: Mapping[str, pl.DataFrame], samples: Sequence[Sample]) -> dict[str, float]:
    """Table 8 of a dataset, in the published order; what it lacks counts 0."""
    kinds = frames["articles"].explode("corpus").select("corpus", "kind")
    corpora = dict(kinds.group_by("corpus").len().iter_rows())
    issues = kinds.filter((pl.col("kind") == "issue") & (pl.col("corpus") == "multi_turn")).height
    tasks: dict[str, list[Sample]] = {}
    for sample in samples:
        tasks.setdefault(sample.task, []).append(sample)
    pairs: dict[str, list[Any]] = next((s.expected for s in tasks.get("kb_refinement", ())), {})
    asked: dict[str, int] = {}
    for sample in tasks.get("quality", ()):
        case = str(sample.inputs.get("conversation_id"))
        asked[case] = asked.get(case, 0) + len(sample.inputs["questions"])
    labelled = {s.inputs["transcript"] for s in tasks.get("intent", ())}
    found: dict[str, float] = {
        "Conversations: Conversations": frames["conversations"].height if "conversations" in frames else 0,
        "Knowledge base: Information articles": corpora.get("search", 0),
        "Knowledge base: Issue articles": issues,
        "Knowledge-base refinement: Articles": corpora.get("refinement", 0),
        "Knowledge-base refinement: Similar pairs": len(pairs.get("similar", ())),
        "Knowledge-base refinement: Contradictory pairs": len(pairs.get("contradictory", ())),
        "Intent: Labelled conversations": len(labelled),
        **_taxonomies(frames.get("taxonomies")),
        "Quality: Labelled conversations": len(asked),
        "Quality: Questions a conversation, mean": sum(asked.values()) / len(asked) if asked else 0.0,
        "Article search: Articles": corpora.get("search", 0),
        "Article search: Queries": len(tasks.get("article_search", ())),
        "Multi-turn: Conversations": len(tasks.get("multi_turn", ())),
        "Multi-turn: Articles": corpora.get("multi_turn", 0),
        "Multi-turn: Tools": frames["tools"].height,
    }
    return found


def _taxonomies(frame: pl.DataFrame | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for letter in "ABC":
        own = frame.filter(pl.col("taxonomy") == letter) if frame is not None else pl.DataFrame()
        levels = 0 if own.is_empty() else 2 if own["l2"].is_not_null().any() else 1
        found[f"Intent: Intents of taxonomy {letter}"] = own.height
        found[f"Intent: Levels of taxonomy {letter}"] = levels
    return found


def _table_9() -> dict[str, tuple[str, float, float]]:
    """Key → (title, synthetic, real world), as published."""
    table = read_published("table9")
    return {key: (row[0], row[2], row[3]) for key, row in zip(table["keys"], table["rows"], strict=True)}


def published() -> dict[str, tuple[float, float]]:
    """Table 9's figures: key → (synthetic, real world)."""
    return {key: (synthetic, real) for key, (_, synthetic, real) in _table_9().items()}


def beside_published(found: dict[str, float]) -> list[tuple[str, float, float, float]]:
    """(statistic, ours, published synthetic, real world) for what both have."""
    return [(title, found[key], made, real) for key, (title, made, real) in _table_9().items() if key in found]


def measure(
    articles: Sequence[Article],
    conversations: Sequence[Conversation],
    noisy: Sequence[NoisyConversation],
    language: str,
) -> dict[str, float]:
    """Table 9 of the clean articles and the served conversations; what the latter were when clean is under `clean_`.

    Vocabulary and ratios are those of the conversations; those of the articles are under `article_`, the vocabulary of
    both together, conversations clean, under `corpus_`.
    """
    served = [c.model_copy(update={"messages": n.messages}) for c, n in zip(conversations, noisy, strict=True)]
    written = text_statistics.articles([a.body for a in articles], language)
    own = {name if name.startswith("article") else f"article_{name}": value for name, value in written.items()}
    clean = {f"clean_{name}": value for name, value in text_statistics.conversations(conversations, language).items()}
    said = (m.text for c in conversations for m in c.messages if m.role != "tool")
    both = {f"corpus_{k}": v for k, v in text_statistics.vocabulary([*(a.body for a in articles), *said]).items()}
    return {**text_statistics.conversations(served, language), **own, **clean, **both}


def describe(dataset: Dataset) -> list[str]:
    """Counts, statistics and pass rates as lines of text, the published figures beside them."""
    counts, measured = dataset.config["counts"], dataset.config["statistics"]
    lines = [f"{'Table 8':50}{'here':>12}{'published':>12}"]
    for title, ours in counts.items():
        lines.append(f"{title:50}{number(ours):>12}{number(published_counts().get(title)):>12}")
    lines += ["", f"{'Table 9':50}{'here':>12}{'published':>12}{'real world':>12}"]
    for title, ours, synthetic, real in beside_published(measured):
        lines.append(f"{title:50}{number(ours):>12}{number(synthetic):>12}{number(real):>12}")
    for name, title in CORPUS.items():
        if name in measured:
            lines.append(f"{title:50}{number(measured[name]):>12}")
    if rates := dataset.config["validation"]:
        lines += ["", f"{'Validation: passed':50}{'of':>12}{'rate':>12}{'published':>12}"]
        published_rates = dict(read_published("appendixC")["rows"])
        for name, one in rates.items():
            told = published_rates.get(name)
            rate = f"{one['rate']:.1%}" if one["rate"] is not None else "-"
            lines.append(f"{name:50}{number(one['n']):>12}{rate:>12}{f'{told:.0%}' if told else '-':>12}")
    lost = tell_lost(dataset.config)
    return [*lines, "", lost] if lost else lines


def tell_lost(config: Mapping[str, Any]) -> str:
    """What a real writer was asked for and did not give, after it was asked again; "" where it gave all."""
    told = {
        "articles": "articles that did not state their facts",
        "conversations": "conversations that lacked what they have to hold",
        "intent names": "names of intents, in whose place stands the title of an article",
    }
    lost = [f"{n:,} {told[what]}" for what, n in (config.get("left_out") or {}).items() if n]
    return f"Asked for again and not had: {'; '.join(lost)}." if lost else ""


def number(value: float | None) -> str:
    """A count without decimals, a ratio with three, another figure with one; "-" for none."""
    if value is None:
        return "-"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:,.1f}"
