"""A store in which three indexes searched the same few articles; every rank is chosen, so figures can be told."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.cxmarena.score import measure
from cxlab.records import Attempt, Dataset, Failure, Run, Sample, Score
from cxlab.store import write
from tests.stores.verdicts import JudgingWriter, decide

DATASET = "cxmarena-searched"
HOSTILE = "![x](http://evil.example/a.png) <img src=x> $a$ **bold** [l](http://evil.example)"
# Root, branch, leaf: A1 and A2 are siblings, A0 is their parent, A3 lies elsewhere in their area, B1 in another.
TOPICS = {
    "A0": ("Lamps", "Aero"), "A1": ("Lamps", "Aero", "Price"), "A2": ("Lamps", "Aero", "Care"),
    "A3": ("Lamps", "Boreal", "Price"), "B1": ("Returns", "Refunds"),
}  # fmt: skip
RELATIONS = {
    "A0": '{"parent": [], "children": ["A1", "A2"], "siblings": []}',
    "A1": '{"parent": ["A0"], "children": [], "siblings": ["A2"]}',
    "A2": '{"parent": ["A0"], "children": [], "siblings": ["A1"]}',
}
QUERIES = ["price of the Aero lamp today", "cleaning the Aero lamp with water", "aero", HOSTILE]
GOLD = ["A1", "A2", "A1", "B1"]
_FILL = [f"X{n}" for n in range(30)]
# Of each query: what the index ranks, best first.
RANKED = {
    "run-good": [["A1", "A1", "A2"], ["A2"], ["A1"], ["B1", "A0"]],
    "run-fair": [["A2", "A1"], ["A2"], ["A0", *_FILL[:10], "A1"], ["A3", "B1"]],
    "run-poor": [["B1", "A3"], ["A1", *_FILL[:3], "A2"], ["A3"], []],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "run-good": {"retrieval": "hybrid", "chunk": 500, "overlap": 50},
    "run-fair": {"retrieval": "bm25", "chunk": 1000, "overlap": 100},
    "run-poor": {"retrieval": "bm25", "chunk": 500, "overlap": 0},
}
VERDICTS = {"run-good": ["correct", "correct", None], "run-fair": ["incorrect", "refusal", "correct"]}


def samples() -> list[Sample]:
    """Four searches with one right article each; three turns, the last of them without a right article."""
    found = [
        ("article_search", {"query": query, "corpus": "search"}, {"article_id": gold, "answer": "as told"})
        for query, gold in zip(QUERIES, GOLD, strict=True)
    ]
    for gold in (["A1", "A2"], ["B1"], []):
        talk = f"Customer: Hello\nAgent: Hello\nCustomer: about {' and '.join(gold) or 'nothing'}"
        found.append(("multi_turn", {"transcript": talk, "corpus": "multi_turn"}, {"article_ids": gold, "answer": ""}))
    return [
        Sample(
            id=f"s{n}", dataset_id=DATASET, benchmark="cxmarena", task=task, inputs=inputs, expected=expected,
            facets={"scenario": task},
        )
        for n, (task, inputs, expected) in enumerate(found)
    ]  # fmt: skip


def output(run: str, ranked: list[str]) -> dict[str, Any]:
    """What an attempt keeps of one search."""
    return {
        "ranked": ranked,
        "scores": [round(9.0 - place, 3) for place in range(len(ranked))],
        "spans": [[0, 4] for _ in ranked],
        "chunks": [] if run == "run-good" else ranked[:10],
        "index": {**OPTIONS[run], "embedder": "all-minilm-l6-v2" if run == "run-good" else None, "chunks": 60,
                  "documents": 35},
        "steps": {"search": {"latency_s": {"run-good": 0.02, "run-fair": 0.001, "run-poor": 0.002}[run], "build_s": 1}},
    }  # fmt: skip


def make_searched_store(home: Path) -> Path:
    """Write it: dataset, three runs of article search, two of them also of multi-turn with judged answers."""
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    dataset = Dataset(
        id=DATASET, benchmark="cxmarena", name="Searched", source="generated", config={}, seed=1, licence="own",
        created=begun,
    )  # fmt: skip
    known = {**TOPICS, **{name: ("Stores", name) for name in _FILL}}
    articles = pl.DataFrame(
        {
            "article_id": list(known),
            "title": [" ".join(topic) for topic in known.values()],
            "topic": [list(topic) for topic in known.values()],
            "body": [f"Text of {name}. {HOSTILE}" for name in known],
            "corpus": [["search", "multi_turn"]] * len(known),
            "relations": [RELATIONS.get(name, "{}") for name in known],
        }
    )
    write.save_dataset(dataset, samples(), home, tables={"articles": articles})
    for place, run_id in enumerate(RANKED):
        run = Run(
            id=run_id, benchmark="cxmarena", model="simulated:strong", simulated=True,
            setup={"benchmark": "cxmarena", "options": OPTIONS[run_id]}, judges=(), dataset_id=DATASET, seed=0,
            trials=1, planned=4, prompts={}, code="test", created=begun + timedelta(minutes=place),
        )  # fmt: skip
        write.create_run(run, home)
        by_id = {sample.id: sample for sample in samples()}
        with JudgingWriter(run, by_id, home=home) as parts:
            for sample in by_id.values():
                if sample.task == "multi_turn" and run_id not in VERDICTS:
                    continue
                parts.add(*attempt(run_id, sample))
    return home


def attempt(run_id: str, sample: Sample) -> tuple[Attempt, Scored]:
    """The attempt with the scores that the benchmark gives it; the judges' verdicts are as chosen."""
    place = int(sample.id[1:])
    turn = sample.task == "multi_turn"
    ranked = list(sample.expected["article_ids"]) if turn and run_id == "run-good" else ["A1"]
    told = output(run_id, ranked if turn else RANKED[run_id][place])
    if turn:
        told |= {"query": HOSTILE, "response": HOSTILE}
    made = Attempt(
        id=f"{run_id}-{sample.id}", run_id=run_id, sample_id=sample.id, trial=1, output=told, outcome="ok",
        ended_by=sample.task, latency_s=0.1, cost_usd=0.0, started=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    values: dict[str, tuple[float | None, str | None]] = dict(measure(sample, told))
    if turn:
        verdict = VERDICTS[run_id][place - 4]
        for name in ("correct", "incorrect", "hallucinated", "refusal"):
            values[f"response_{name}"] = (
                (None, "the judges are split") if verdict is None else (100.0 * (name == verdict), None)
            )
    rows = [Score(attempt_id=made.id, turn=None, metric=name, value=v, reason=why) for name, (v, why) in values.items()]
    return made, Scored(tuple(rows))


def lose(home: Path, run_id: str = "run-lost") -> None:
    """One more run, all of whose attempts a provider cut short."""
    run = write.load_run("run-good", home).model_copy(
        update={"id": run_id, "created": datetime(2026, 2, 1, tzinfo=UTC)}
    )
    write.create_run(run, home)
    by_id = {sample.id: sample for sample in samples() if sample.task == "article_search"}
    fault = Failure(where="provider", type="timeout", message="gone", retryable=True)
    with JudgingWriter(run, by_id, home=home) as parts:
        for sample in by_id.values():
            made = Attempt(
                id=f"{run_id}-{sample.id}", run_id=run_id, sample_id=sample.id, trial=1, output={}, outcome="provider",
                ended_by=sample.task, failures=(fault,), latency_s=0.0, cost_usd=None,
                started=datetime(2026, 2, 1, tzinfo=UTC),
            )  # fmt: skip
            parts.add(made, decide("cxmarena", sample.task, made, Scored()))
