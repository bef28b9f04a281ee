"""What the reader of dialogue acts does on every labelled set, in one table; the sets: tests/data/tau_bench_acts.md.

    python -m tests.benchmarks.mmtaup2.acts_table

A row an act and set. `due`: labelled as the act; of them `found` (True), `denied` (False) and `open` (None, which goes
to a judge). `wrong`: labelled none and found. Messages that are labelled unclear are left out. Recall is counted three
ways: of what is decided by rule, with what is open as missed, and with what is open as sent to a judge. A set that was
"kept apart" was labelled before the reader was run on it, and nothing is mended by what it showed but where the page
about the sets says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.metrics.intervals import proportion_interval

ROOT = Path(__file__).resolve().parents[3]
LABELS = ROOT / "tests" / "data"
DATA = ROOT.parent / "shared" / "data"
SIDES = {
    "agent": ("request", "clarification"),
    "customer": ("agreement", "refusal", "correction", "frustration"),
}
ACTS = (*SIDES["agent"], *SIDES["customer"])
ALONE = ("request", "clarification", "frustration")  # read without what the other side said


@dataclass(frozen=True)
class Labelled:
    """A message with what the other side said last, whether it is labelled as the act (None: unclear)."""

    act: str
    text: str
    asked: str | None
    due: bool | None


def read(act: str, text: str, asked: str | None) -> bool | None:
    """What the reader says of a message: it is the act, it is not, or that is open."""
    reader = getattr(dialogue_acts, act)
    found: bool | None = reader(text) if act in ALONE else reader(text, asked)
    return found


def count(messages: Iterable[Labelled]) -> dict[str, Counter[tuple[bool | None, bool]]]:
    """Act → (what was read, whether it is labelled) → messages; what is labelled unclear is left out."""
    seen: dict[str, Counter[tuple[bool | None, bool]]] = {act: Counter() for act in ACTS}
    for one in messages:
        if one.due is not None:
            seen[one.act][read(one.act, one.text, one.asked), one.due] += 1
    return seen


def _label(row: dict[str, Any], act: str, prefix: str = "") -> bool | None:
    return None if act in row.get(f"{prefix}unclear", ()) else act in row.get(f"{prefix}acts", ())


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELS / name).read_text().splitlines()]


def of_talks(name: str, chosen: Callable[[dict[str, Any]], bool]) -> Iterator[Labelled]:
    """Of a file with a row a message, in order."""
    asked, talk = None, None
    for row in filter(chosen, _rows(name)):
        if row["dialogue"] != talk:
            asked, talk = None, row["dialogue"]
        if "text" not in row:
            continue
        for act in SIDES[row["side"]]:
            if asked is not None or act in ALONE:
                yield Labelled(act, row["text"], asked, _label(row, act))
        asked = row["text"] if row["side"] == "agent" else asked


def of_pairs(name: str, chosen: Callable[[dict[str, Any]], bool]) -> Iterator[Labelled]:
    """Of a file with a row a pair of what the agent said and what the customer answered."""
    for row in filter(chosen, _rows(name)):
        for act in SIDES["agent"]:
            yield Labelled(act, row["asked"], None, _label(row, act, "asked_"))
        for act in SIDES["customer"]:
            yield Labelled(act, row["said"], row["asked"], _label(row, act))


def of_writers(parts: str) -> Iterator[Labelled]:
    """Of the talks written by hand: customers labelled for two acts, agents for the other two."""
    for row in _rows("written_acts.jsonl"):
        if row["part"] in parts:
            for act in SIDES["agent"] if row.get("side") == "agent" else ("correction", "frustration"):
                if act in ALONE or "asked" in row:
                    yield Labelled(act, row["said"], row.get("asked"), _label(row, act))


def by_id(chosen: Callable[[dict[str, Any]], bool]) -> Iterator[Labelled]:
    """Of dialogues whose texts are not ours to copy: SGD's and ABCD's, as they lie in the shared data."""
    files: dict[str, Any] = {}
    for row in filter(chosen, _rows("acts_by_id.jsonl")):
        if not (DATA / row["source"]).exists():
            pytest.skip(f"{row['source']} is not there")
        if row["source"] not in files:
            files[row["source"]] = json.loads((DATA / row["source"]).read_text())
        name = "dialogue_id" if row["source"].startswith("sgd") else "convo_id"
        whole = next(each for each in files[row["source"]] if str(each[name]) == row["dialogue"])
        said = whole["original"] if "original" in whole else [(t["speaker"], t["utterance"]) for t in whole["turns"]]
        asked = None
        for at, (speaker, text) in enumerate(said):
            side = {"SYSTEM": "agent", "USER": "customer"}.get(speaker, speaker)
            if side == "action":
                continue
            if at == row.get("turn", at):
                labels = {"acts": row["acts"].get(str(at), ()), "unclear": row["unclear"].get(str(at), ())}
                for act in SIDES[side]:
                    if asked is not None or act in ALONE:
                        yield Labelled(act, text, asked, _label(labels, act))
            asked = text if side == "agent" else asked


def of_callers() -> Iterator[Labelled]:
    """NatCS' openings, read for annoyance."""
    labels = json.loads((LABELS / "frustration_by_id.json").read_text())
    if not (DATA / labels["source"]).exists():
        pytest.skip(f"{labels['source']} is not there")
    parts = (labels, labels["longer"], labels["short"], labels["longest"])
    annoyed, unclear = ({one for part in parts for one in part[kind]} for kind in ("frustration", "unclear"))
    for row in map(json.loads, (DATA / labels["source"]).read_text().splitlines()):
        name = row["utterance_id"]
        yield Labelled("frustration", row["utterance"], None, None if name in unclear else name in annoyed)


def _is(name: str, *values: Any) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row.get(name) in values


SETS: dict[tuple[str, str], Callable[[], Iterable[Labelled]]] = {
    ("tau-bench, 100 dialogues", "development"): lambda: of_talks("tau_bench_acts.jsonl", _is("held_out", None)),
    ("tau-bench, 100 dialogues", "kept apart"): lambda: of_talks("tau_bench_acts.jsonl", _is("held_out", True)),
    ("written by hand", "development"): lambda: of_writers("AC"),
    ("written by hand", "kept apart"): lambda: of_writers("BD"),
    ("SGD and ABCD", "development"): lambda: by_id(lambda row: row["part"] <= 27),
    ("SGD and ABCD", "kept apart"): lambda: by_id(_is("part", 28)),
    ("MultiWOZ", "development"): lambda: (
        one
        for some in (of_pairs("multiwoz_acts.jsonl", bool), of_talks("blind_acts.jsonl", _is("part", 22, 25, 26)))
        for one in some
    ),
    ("tau-bench, other", "development"): lambda: (
        one
        for some in (of_pairs("retail_acts.jsonl", bool), of_talks("blind_acts.jsonl", _is("part", 21, 24)))
        for one in some
    ),
    ("NatCS, openings", "development"): of_callers,
}


def share(hits: int, of: int) -> str:
    """A share with its 95 % interval by Wilson, and what it is a share of."""
    if not of:
        return "-"
    found = proportion_interval(hits, of)
    return f"{hits}/{of} {hits / of:.3f} ({found.low:.3f} to {found.high:.3f})"


HEAD = (
    "act", "set", "part", "n", "due", "found", "denied", "open", "wrong", "open of all", "precision",
    "recall of decided", "recall, open missed", "recall, open judged",
)  # fmt: skip


def lines() -> Iterator[tuple[str, ...]]:
    """The table's rows: an act and set each, then the act over all sets."""
    counted: dict[tuple[str, str], dict[str, Counter[tuple[bool | None, bool]]]] = {
        place: count(made()) for place, made in SETS.items()
    }
    for part in dict.fromkeys(part for _, part in SETS):
        of_part = [seen for (_, kind), seen in counted.items() if kind == part]
        counted["all", part] = {act: sum((seen[act] for seen in of_part), Counter()) for act in ACTS}
    for act in ACTS:
        for (name, part), seen in counted.items():
            n = seen[act]
            found, denied, undecided, wrong = n[True, True], n[False, True], n[None, True], n[True, False]
            due = found + denied + undecided
            if n.total():
                yield (
                    act, name, part, str(n.total()), str(due), str(found), str(denied), str(undecided), str(wrong),
                    f"{(undecided + n[None, False]) / n.total():.2f}", share(found, found + wrong),
                    share(found, found + denied), share(found, due), share(found + undecided, due),
                )  # fmt: skip


def main() -> None:
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    for row in lines():
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
