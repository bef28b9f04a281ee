"""Every table of the store: its columns and their types."""

import polars as pl

TEXT, INT, LONG, REAL, FLAG = pl.String(), pl.Int32(), pl.Int64(), pl.Float64(), pl.Boolean()
TIME = pl.Datetime("us", "UTC")
TEXTS = pl.List(pl.String())
MOVES = pl.List(pl.Struct({"move": pl.String(), "stage": pl.String()}))
METRICS = pl.List(pl.Struct({"key": TEXT, "value": REAL}))
SINGLE_JUDGES = pl.List(pl.Struct({"judge": TEXT, "path": TEXTS, "action": TEXT, "scores": METRICS}))
Schema = dict[str, pl.DataType]

# A map of facet to value; DuckDB's views read it as a MAP.
FACETS = pl.List(pl.Struct({"key": TEXT, "value": TEXT}))
FACET_COLUMNS = ("scenario", "level", "leaf", "intent", "persona", "exposure", "modality", "language")
"""The facets of the first version of the store, which had a column each."""

# What models took for it; all NULL where nobody was asked, and in parts of before it was kept.
USAGE: Schema = {
    "latency_s": REAL,
    "cost_usd": REAL,
    "prompt_tokens": LONG,
    "completion_tokens": LONG,
    "calls": INT,
    "retries": INT,
    "cached_calls": INT,
    "cached_tokens": LONG,
    "reasoning_tokens": LONG,
}

SAMPLES: Schema = {
    "sample_id": TEXT,
    "dataset_id": TEXT,
    "benchmark": TEXT,
    "task": TEXT,
    "inputs": TEXT,
    "expected": TEXT,
    "facets": FACETS,
}
ATTEMPTS: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "sample_id": TEXT,
    "trial": INT,
    "benchmark": TEXT,
    "model": TEXT,
    "simulated": FLAG,
    "task": TEXT,
    "facets": FACETS,
    "outcome": TEXT,
    "ended_by": TEXT,
    "turns": INT,
    "started": TIME,
    "latency_s": REAL,
    "prompt_tokens": LONG,
    "completion_tokens": LONG,
    "calls": INT,
    "retries": INT,
    "cached_calls": INT,
    "cached_tokens": LONG,
    "reasoning_tokens": LONG,
    "cost_usd": REAL,
    "output": TEXT,
    "opening": TEXT,
    "failure": TEXT,
    "verdict": TEXT,
    "verdict_reason": TEXT,
    "verdict_owner": TEXT,
    "verdict_turn": INT,
    "verdict_stage": TEXT,
    "verdict_field": TEXT,
    "verdict_tool": TEXT,
    "offers": TEXTS,
}
MESSAGES: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "seq": INT,
    "turn": INT,
    "role": TEXT,
    "text": TEXT,
    "tool_calls": TEXT,
    "data": TEXT,
    **USAGE,
}
SCORES: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "sample_id": TEXT,
    "trial": INT,
    "benchmark": TEXT,
    "model": TEXT,
    "task": TEXT,
    "turn": INT,
    "metric": TEXT,
    "value": REAL,
    "reason": TEXT,
    "n": INT,
    "scorer": TEXT,
}
JUDGEMENTS: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "benchmark": TEXT,
    "model": TEXT,
    "turn": INT,
    "judge": TEXT,
    "kind": TEXT,
    "field": TEXT,
    "verdict": TEXT,
    "status": TEXT,
}
VOTES: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "turn": INT,
    "judge": TEXT,
    "valid": FLAG,
    "raw": TEXT,
    "rationale": TEXT,
    "failure": TEXT,
    **USAGE,
}
TRACES: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "sample_id": TEXT,
    "trial": INT,
    "model": TEXT,
    "turn": INT,
    "last": FLAG,
    "parsed": FLAG,
    "predicted_fields": TEXT,
    "panel_fields": TEXT,
    "gold_fields": TEXT,
    "predicted_path": TEXTS,
    "reference_path": TEXTS,
    "own_path": TEXTS,
    "gold_path": TEXTS,
    "predicted_action": TEXT,
    "reference_action": TEXT,
    "own_action": TEXT,
    "gold_action": TEXT,
    "moves": MOVES,
    "error": TEXT,
    "single_judges": SINGLE_JUDGES,
}
FAILURES: Schema = {
    "run_id": TEXT,
    "attempt_id": TEXT,
    "model": TEXT,
    "seq": INT,
    "turn": INT,
    "where_": TEXT,
    "type": TEXT,
    "message": TEXT,
    "retryable": FLAG,
    "role": TEXT,
}
ANNOTATIONS: Schema = {
    "id": TEXT,
    "created": TIME,
    "author": TEXT,
    "kind": TEXT,
    "run_id": TEXT,
    "attempt_id": TEXT,
    "turn": INT,
    "judge": TEXT,
    "field": TEXT,
    "value": TEXT,
}


# The tables of a run's parts; `attempts` comes first, the others borrow columns from it.
PARTS: dict[str, Schema] = {
    "attempts": ATTEMPTS,
    "messages": MESSAGES,
    "scores": SCORES,
    "judgements": JUDGEMENTS,
    "votes": VOTES,
    "traces": TRACES,
    "failures": FAILURES,
}
TABLES: dict[str, Schema] = {"samples": SAMPLES, **PARTS, "annotations": ANNOTATIONS}

# How a compacted table is sorted: so that what is asked for most often lies together and the rest is skipped.
ORDER: dict[str, tuple[str, ...]] = {
    "attempts": ("attempt_id",),
    "messages": ("attempt_id", "seq"),
    "scores": ("metric", "model", "attempt_id", "turn"),
    "judgements": ("kind", "field", "judge", "attempt_id", "turn"),
    "votes": ("attempt_id", "turn", "judge"),
    "traces": ("model", "attempt_id", "turn"),
    "failures": ("attempt_id", "seq"),
}
# Columns whose text is JSON; exports to JSON Lines nest them.
JSON_COLUMNS = {
    "inputs",
    "expected",
    "output",
    "tool_calls",
    "data",
    "predicted_fields",
    "panel_fields",
    "gold_fields",
    "setup",
    "prompts",
}
