"""Records as columns: the frames that the store writes."""

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
import polars as pl

from cxlab.records import Annotation, Attempt, Judgement, Message, Run, Sample, Score, Trace, Usage, Verdict, Vote
from cxlab.store.tables import ANNOTATIONS, ATTEMPTS, PARTS, SAMPLES, USAGE, Schema


class Scored(Protocol):
    """What scoring one attempt yields (benchmarks.contract.Scored fits; the store may not import it)."""

    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def votes(self) -> Sequence[Vote]: ...
    @property
    def judgements(self) -> Sequence[Judgement]: ...
    @property
    def traces(self) -> Sequence[Trace]: ...
    @property
    def verdict(self) -> Verdict | None: ...


Item = tuple[Attempt, Scored, Sample]


def to_json(value: Any) -> str:
    """Compact JSON text: NaN becomes null, what JSON has no word for becomes text, broken Unicode is mended."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # whole numbers beyond 64 bits, halves of surrogate pairs: the slow way round
        text = mend_text(json.dumps(value, default=str, ensure_ascii=False))
        return json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)


def mend_text(text: str) -> str:
    """Replace halves of surrogate pairs, which models do emit and no file format can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def build_frame(columns: Mapping[str, Any], schema: Schema) -> pl.DataFrame:
    """One typed frame of column lists; text that is no valid Unicode is mended, not refused."""
    try:
        return pl.DataFrame(columns, schema=schema)
    except UnicodeEncodeError:
        return pl.DataFrame({name: _mend(values) for name, values in columns.items()}, schema=schema)


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, list | tuple):
        return [_mend(each) for each in value]
    if isinstance(value, dict):
        return {key: _mend(each) for key, each in value.items()}
    return value


_GROUP_BYTES = 16_000_000


def write_parquet(frame: pl.DataFrame, path: Path, level: int = 3) -> None:
    """Write one file, compressed with zstd. Built in memory: what Polars itself says of a full disk is no OSError.

    A large one in groups of rows, as writing takes several times the memory of one group.
    """
    buffer = io.BytesIO()
    size = int(frame.estimated_size())
    rows = max(1, frame.height * _GROUP_BYTES // size) if size > _GROUP_BYTES else None
    frame.write_parquet(buffer, compression="zstd", compression_level=level, row_group_size=rows)
    path.write_bytes(buffer.getbuffer())


def build_samples(samples: Sequence[Sample]) -> pl.DataFrame:
    """Samples as rows; inputs and expected as JSON text."""
    columns: dict[str, list[Any]] = {
        "sample_id": [s.id for s in samples],
        "dataset_id": [s.dataset_id for s in samples],
        "benchmark": [s.benchmark for s in samples],
        "task": [s.task for s in samples],
        "inputs": [to_json(s.inputs) for s in samples],
        "expected": [to_json(s.expected) for s in samples],
        "facets": build_facets(sample.facets for sample in samples),
    }
    return build_frame(columns, SAMPLES)


def build_annotations(annotations: Sequence[Annotation]) -> pl.DataFrame:
    """Annotations as rows."""
    return build_frame({name: [getattr(a, name) for a in annotations] for name in ANNOTATIONS}, ANNOTATIONS)


def build_parts(run: Run, items: Sequence[Item]) -> dict[str, pl.DataFrame]:
    """One frame per table of a batch of attempts with what scoring them yielded; tables without rows are left out."""
    attempts = _attempts(run, items)
    built = {"attempts": attempts}
    for name, build in _CHILDREN.items():
        counts, own = build(items)
        rows = int(sum(counts))
        if rows:
            schema = PARTS[name]
            frame = build_frame(own, {column: schema[column] for column in own})
            # Columns of the attempt are gathered by index: text is never built once per row.
            borrowed = attempts.select(column for column in schema if column not in own)
            borrowed = borrowed[np.repeat(np.arange(len(items)), counts)]
            built[name] = pl.DataFrame([(frame if column in own else borrowed)[column] for column in schema])
    return built


def build_facets(facets: Iterable[Mapping[str, str]]) -> list[list[dict[str, Any]]]:
    """Facets as the column keeps them."""
    return [_build_entries(each) for each in facets]


def _build_entries(named: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A map as a column keeps it: entries in the order of their names."""
    return [{"key": name, "value": named[name]} for name in sorted(named)]


def read_entries(entries: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """A map from a column's entries."""
    return {each["key"]: each["value"] for each in entries or ()}


def _attempts(run: Run, items: Sequence[Item]) -> pl.DataFrame:
    attempts = [attempt for attempt, _, _ in items]
    samples = [sample for _, _, sample in items]
    count = len(items)
    columns: dict[str, list[Any]] = {
        "run_id": [run.id] * count,
        "attempt_id": [a.id for a in attempts],
        "sample_id": [a.sample_id for a in attempts],
        "trial": [a.trial for a in attempts],
        "benchmark": [run.benchmark] * count,
        "model": [run.model] * count,
        "simulated": [run.simulated] * count,
        "task": [s.task for s in samples],
        "facets": build_facets(sample.facets for sample in samples),
        "outcome": [a.outcome for a in attempts],
        "ended_by": [a.ended_by for a in attempts],
        # The agent's, as metrics count them: a goodbye that nobody answers is no turn, nor is a greeting.
        "turns": [len({m.turn for m in a.messages if _is_turn(m)}) for a in attempts],
        "started": [a.started for a in attempts],
        "latency_s": [a.latency_s for a in attempts],
        **_usage(attempts),
        "cost_usd": [a.cost_usd for a in attempts],
        "output": [to_json(a.output) for a in attempts],
        "opening": [next((m.text for m in a.messages if m.role == "customer"), None) for a in attempts],
        "failure": [f"{a.failures[0].where}:{a.failures[0].type}" if a.failures else None for a in attempts],
        **build_verdicts([scored.verdict for _, scored, _ in items]),
        "offers": [list(a.offers) or None for a in attempts],
    }
    return build_frame(columns, ATTEMPTS)


def build_verdicts(verdicts: Sequence[Verdict | None]) -> dict[str, list[Any]]:
    """The columns of attempts that hold their verdicts."""
    columns: dict[str, list[Any]] = {"verdict": [each.value if each else None for each in verdicts]}
    for name in ("reason", "owner", "turn", "stage", "field", "tool"):
        columns[f"verdict_{name}"] = [getattr(each, name) if each else None for each in verdicts]
    return columns


def _is_turn(message: Message) -> bool:
    """Whether the agent replied after it was spoken to: told something, or acted where no customer waits meanwhile."""
    reached = bool(message.text or message.tool_calls) and bool(message.data.get("delivered", True))
    return message.role == "agent" and message.turn > 0 and reached


def _usage(records: Sequence[Attempt] | Sequence[Vote] | Sequence[Message]) -> dict[str, list[int | None]]:
    used = [record.usage for record in records]
    # What was not answered is told of the whole run; in an attempt its cost is unknown.
    kept = [name for name in Usage.model_fields if name in USAGE]
    return {name: [getattr(u, name) if u else None for u in used] for name in kept}


ChildRows = tuple[list[int], dict[str, list[Any]]]


def _messages(items: Sequence[Item]) -> ChildRows:
    counts = [len(a.messages) for a, _, _ in items]
    flat = [m for a, _, _ in items for m in a.messages]
    return counts, {
        "seq": list(chain.from_iterable(map(range, counts))),
        "turn": [m.turn for m in flat],
        "role": [m.role for m in flat],
        "text": [m.text for m in flat],
        "tool_calls": [to_json([c.model_dump() for c in m.tool_calls]) if m.tool_calls else None for m in flat],
        "data": [to_json(m.data) if m.data else None for m in flat],
        "latency_s": [m.latency_s for m in flat],
        "cost_usd": [m.cost_usd for m in flat],
        **_usage(flat),
    }


def _scores(items: Sequence[Item]) -> ChildRows:
    flat = [s for _, scored, _ in items for s in scored.scores]
    values: list[float | None] = [s.value for s in flat]
    reasons = [s.reason for s in flat]
    for row, value in enumerate(values):
        # A mean over one NaN is NaN: what is not a number counts as not scored, and says so.
        if value is not None and not math.isfinite(value):
            values[row] = None
            reasons[row] = reasons[row] or f"not a finite number: {value}"
    return [len(scored.scores) for _, scored, _ in items], {
        "turn": [s.turn for s in flat],
        "metric": [s.metric for s in flat],
        "value": values,
        "reason": reasons,
        "n": [s.n for s in flat],
        "scorer": [s.scorer for s in flat],
    }


def _judgements(items: Sequence[Item]) -> ChildRows:
    flat = [j for _, scored, _ in items for j in scored.judgements]
    names = ("turn", "judge", "kind", "field", "verdict", "status")
    return [len(s.judgements) for _, s, _ in items], {name: [getattr(j, name) for j in flat] for name in names}


def _votes(items: Sequence[Item]) -> ChildRows:
    flat = [v for _, scored, _ in items for v in scored.votes]
    names = ("turn", "judge", "valid", "raw", "rationale", "failure", "latency_s", "cost_usd")
    own: dict[str, list[Any]] = {name: [getattr(v, name) for v in flat] for name in names}
    return [len(s.votes) for _, s, _ in items], {**own, **_usage(flat)}


def _traces(items: Sequence[Item]) -> ChildRows:
    flat = [t for _, scored, _ in items for t in scored.traces]
    names = ("turn", "last", "parsed", "predicted_action", "reference_action", "own_action", "gold_action", "error")
    own: dict[str, list[Any]] = {name: [getattr(t, name) for t in flat] for name in names}
    for name in ("predicted_path", "reference_path", "own_path", "gold_path"):
        own[name] = [list(getattr(t, name)) for t in flat]
    for name in ("predicted_fields", "panel_fields", "gold_fields"):
        own[name] = [to_json(getattr(t, name)) for t in flat]
    own["moves"] = [[{"move": move, "stage": stage} for move, stage in t.moves] for t in flat]
    own["single_judges"] = [
        [one.model_dump() | {"scores": _build_entries(one.scores)} for one in t.single_judges] for t in flat
    ]
    return [len(s.traces) for _, s, _ in items], own


def _failures(items: Sequence[Item]) -> ChildRows:
    counts = [len(a.failures) for a, _, _ in items]
    flat = [f for a, _, _ in items for f in a.failures]
    return counts, {
        "seq": list(chain.from_iterable(map(range, counts))),
        "turn": [f.turn for f in flat],
        "where_": [f.where for f in flat],
        "type": [f.type for f in flat],
        "message": [f.message for f in flat],
        "retryable": [f.retryable for f in flat],
        "role": [f.role for f in flat],
    }


_CHILDREN: dict[str, Callable[[Sequence[Item]], ChildRows]] = {
    "messages": _messages,
    "scores": _scores,
    "judgements": _judgements,
    "votes": _votes,
    "traces": _traces,
    "failures": _failures,
}
