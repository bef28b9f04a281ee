"""The steps one after the other: exact and near-duplicates, meaning, quality, heuristics, personal data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from cxlab.benchmarks.cdr.corpus.filtering import duplicates, quality
from cxlab.benchmarks.cdr.corpus.filtering.personal_data import LIMITS, redact
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.importers.conversations import PackedConversations
from cxlab.records import Conversation
from cxlab.records.progress import Progress, finish
from cxlab.records.settings import Settings
from cxlab.retrieval.documents import readable
from cxlab.retrieval.embedders import minilm
from cxlab.retrieval.embedders.embeddings import load_embedder

# Conversations between two words of progress, and those that are embedded at once.
_EVERY, _EMBEDDED = 1_000, 512
STEPS = ("exact", "near", "semantic", "quality", "heuristics", "personal")


class FilterOptions(Settings):
    """How strictly conversations are filtered; 0 or an empty name leaves a step out."""

    near: float = Field(
        0.8, ge=0, le=1, description="Share of five words in a row in common from which one is left out; 0: none."
    )
    semantic: str | None = Field(
        None, description="Embedder by which conversations of one meaning are found; MiniLM where it is installed."
    )
    alike: float = Field(0.95, ge=0, le=1, description="Cosine from which two mean the same; 0: none.")
    quality: float = Field(0.5, ge=0, le=1, description="Quality score, from 0 to 1, below which one is left out.")
    heuristics: bool = Field(True, description="Leave out what is mostly punctuation, addresses or repetition.")
    personal: bool = Field(True, description="Take e-mail addresses, telephone and card numbers out of the messages.")


class Rejection(NamedTuple):
    """Which conversation was left out, at which step and why."""

    id: str
    step: str
    reason: str


class StepCount(NamedTuple):
    """What a step was given and what it left; `note` says why it was left out, or what it does not see."""

    step: str
    given: int
    kept: int
    note: str = ""


@dataclass
class FilterResult:
    """What was kept, by id; what was rejected, in the order of the steps, and those conversations; counts a step; what
    was redacted."""

    kept: PackedConversations
    rejected: list[Rejection] = field(default_factory=list)
    left_out: PackedConversations = field(default_factory=PackedConversations)
    counts: list[StepCount] = field(default_factory=list)
    redacted: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """The report for a person, a line a step."""
        told = [
            f"{each.step}: {each.kept:,} of {each.given:,} kept" + (f" ({each.note})" if each.note else "")
            for each in self.counts
        ]
        found = ", ".join(f"{count:,} × {what}" for what, count in self.redacted.most_common())
        return [*told, f"personal data taken out: {found}"] if found else told

    def to_record(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"steps": [each._asdict() for each in self.counts], "redacted": dict(self.redacted)}

    def to_frame(self) -> pl.DataFrame:
        """What was rejected: conversation_id, step, reason, messages (as JSON)."""
        from cxlab.importers.cells import to_json

        rows = [
            (one.id, one.step, one.reason, to_json([m.model_dump(mode="json") for m in self.left_out[one.id].messages]))
            for one in self.rejected
        ]
        schema = dict.fromkeys(("conversation_id", "step", "reason", "messages"), pl.String)
        return pl.DataFrame(rows, schema=schema, orient="row")


def filter_corpus(corpus: Mapping[str, Conversation], options: FilterOptions | None = None) -> FilterResult:
    """All steps; memory grows with the text, time with it too (near-duplicates by MinHash, meaning within clusters)."""
    return finish(filter_in_steps(corpus, options))


def filter_in_steps(
    corpus: Mapping[str, Conversation], options: FilterOptions | None = None
) -> Generator[Progress, None, FilterResult]:
    """The same with progress."""
    chosen = options or FilterOptions.read({})
    done = FilterResult(PackedConversations(corpus))
    text = UnitText()
    count = len(done.kept)
    # Once for three steps, and gone before the last ones.
    texts = {name: text.write(talk.messages) for name, talk in done.kept.items()}

    def leave_out(step: str, found: Mapping[str, str], note: str = "") -> Progress:
        given = len(done.kept)
        for each, reason in found.items():
            done.rejected.append(Rejection(each, step, reason))
            done.left_out.move(each, done.kept)
            texts.pop(each, None)
        done.counts.append(StepCount(step, given, len(done.kept), note))
        return Progress(step, count, count)

    def same_as(pairs: Mapping[str, str], how: str) -> dict[str, str]:
        return {name: f"{how} {other}" for name, other in pairs.items()}

    yield Progress("exact", 0, count)
    yield leave_out("exact", same_as(duplicates.find_exact(texts), "the same as"))
    if chosen.near:
        yield Progress("near", 0, count)
        yield leave_out("near", same_as(duplicates.find_near(texts, chosen.near), "nearly the same as"))
    name = chosen.semantic or ("" if minilm.missing() else "minilm")
    if chosen.alike and name:
        pairs = yield from _find_alike(texts, name, chosen.alike)
        yield leave_out("semantic", same_as(pairs, "means the same as"), f"by {name}")
    elif chosen.alike:
        left = len(done.kept)
        note = "left out: no embedder that knows meaning is installed here; name one with semantic=NAME"
        done.counts.append(StepCount("semantic", left, left, note))
    texts.clear()
    if chosen.quality:
        low: dict[str, str] = {}
        for place, (name, talk) in enumerate(done.kept.items()):
            if place % _EVERY == 0:
                yield Progress("quality", place, count)
            if (value := quality.score(talk)) < chosen.quality:
                low[name] = f"quality {value:.2f}"
        yield leave_out("quality", low)
    if chosen.heuristics:
        faults: dict[str, str] = {}
        for place, (name, talk) in enumerate(done.kept.items()):
            if place % _EVERY == 0:
                yield Progress("heuristics", place, count)
            if fault := quality.find_fault(talk):
                faults[name] = fault
        yield leave_out("heuristics", faults)
    if chosen.personal:
        for place, (name, talk) in enumerate(done.kept.items()):
            if place % _EVERY == 0:
                yield Progress("personal", place, count)
            clean, found = redact(talk)
            if found:
                done.kept[name] = clean
                done.redacted += found
        yield leave_out("personal", {}, LIMITS)
    return done


def _find_alike(texts: Mapping[str, str], name: str, least: float) -> Generator[Progress, None, Mapping[str, str]]:
    embedder, held = load_embedder(name), list(texts.values())
    # Filled part by part: whatever an embedder needs beside its vectors, it needs of one part alone.
    vectors = np.zeros((len(held), embedder.dim), dtype=np.float32)
    for start in range(0, len(held), _EMBEDDED):
        yield Progress("semantic", start, len(held))
        vectors[start : start + _EMBEDDED] = embedder.embed(readable(held[start : start + _EMBEDDED]))
    return duplicates.find_alike(list(texts), vectors, least)
