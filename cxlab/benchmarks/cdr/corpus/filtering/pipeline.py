"""The steps one after the other: exact and near-duplicates, meaning, quality, heuristics, personal data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl
from pydantic import Field

from cxlab.benchmarks.cdr.corpus.filtering import duplicates, quality
from cxlab.benchmarks.cdr.corpus.filtering.personal_data import LIMITS, redact
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.records import Conversation
from cxlab.records.settings import Settings
from cxlab.retrieval import minilm
from cxlab.retrieval.documents import readable
from cxlab.retrieval.embeddings import load_embedder

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


class Rejected(NamedTuple):
    """A conversation that was left out, at which step and why."""

    id: str
    step: str
    reason: str
    conversation: Conversation


class StepCount(NamedTuple):
    """What a step was given and what it left; `note` says why it was left out, or what it does not see."""

    step: str
    given: int
    kept: int
    note: str = ""


@dataclass
class Filtered:
    """What was kept, by id; what was rejected, in the order of the steps; counts a step; what was redacted."""

    kept: dict[str, Conversation]
    rejected: list[Rejected] = field(default_factory=list)
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
            (one.id, one.step, one.reason, to_json([m.model_dump(mode="json") for m in one.conversation.messages]))
            for one in self.rejected
        ]
        schema = dict.fromkeys(("conversation_id", "step", "reason", "messages"), pl.String)
        return pl.DataFrame(rows, schema=schema, orient="row")


def filter_corpus(corpus: Mapping[str, Conversation], options: FilterOptions | None = None) -> Filtered:
    """All steps; memory grows with the text, time with it too (near-duplicates by MinHash, meaning within clusters)."""
    chosen = options or FilterOptions.read({})
    done = Filtered(dict(corpus))
    text = UnitText()

    def texts() -> dict[str, str]:
        return {name: text.write(talk.messages) for name, talk in done.kept.items()}

    def step(name: str, find: Callable[[], Mapping[str, str]], note: str = "") -> None:
        given = len(done.kept)
        for each, reason in find().items():
            done.rejected.append(Rejected(each, name, reason, done.kept.pop(each)))
        done.counts.append(StepCount(name, given, len(done.kept), note))

    def same_as(pairs: Mapping[str, str], how: str) -> dict[str, str]:
        return {name: f"{how} {other}" for name, other in pairs.items()}

    step("exact", lambda: same_as(duplicates.find_exact(texts()), "the same as"))
    if chosen.near:
        step("near", lambda: same_as(duplicates.find_near(texts(), chosen.near), "nearly the same as"))
    name = chosen.semantic or ("" if minilm.missing() else "minilm")
    if chosen.alike and name:
        step("semantic", lambda: same_as(_find_alike(texts(), name, chosen.alike), "means the same as"), f"by {name}")
    elif chosen.alike:
        count = len(done.kept)
        note = "left out: no embedder that knows meaning is installed here; name one with semantic=NAME"
        done.counts.append(StepCount("semantic", count, count, note))
    if chosen.quality:
        scores = {name: quality.score(talk) for name, talk in done.kept.items()}
        low = {each: f"quality {value:.2f}" for each, value in scores.items() if value < chosen.quality}
        step("quality", lambda: low)
    if chosen.heuristics:
        faults = {name: fault for name, talk in done.kept.items() if (fault := quality.find_fault(talk))}
        step("heuristics", lambda: faults)
    if chosen.personal:
        for each, talk in done.kept.items():
            done.kept[each], found = redact(talk)
            done.redacted += found
        done.counts.append(StepCount("personal", len(done.kept), len(done.kept), LIMITS))
    return done


def _find_alike(texts: Mapping[str, str], name: str, least: float) -> dict[str, str]:
    vectors = load_embedder(name).embed(readable(texts.values()))
    return duplicates.find_alike(list(texts), vectors, least)
