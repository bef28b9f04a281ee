"""A store of any size, as runs would have left it, for pages to be measured on."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxlab.records import Dataset, Run, Sample
from cxlab.store import frames, tables, write

# Views that no page lists: another side of one of them.
BELOW = (
    ("judges", "tab=bias&judges-against=truth"), ("persona_lab", "tab=results"), ("datasets", "tab=generate"),
    ("conversations", "q=users who grow more frustrated"), ("conversations", "tab=counts&q=users who grow frustrated"),
)  # fmt: skip
_SCENARIOS = (
    "telecom_package",
    "ecommerce_refund",
    "property_service",
    "logistics_delivery",
    "airline_refund",
    "online_education",
)
_LEVELS = ("zero", "weak", "strong")
_QUALITY = {
    "simulated:strong": 86.0,
    "simulated:base": 74.0,
    "simulated:weak": 52.0,
    "simulated:eloquent": 61.0,
    "simulated:curt": 79.0,
}
_TURN_METRICS = (
    "overall",
    "logic",
    "chat",
    "classification",
    "path",
    "path_fitness",
    "action",
    "format_error",
    "chat_words",
)
_JUDGES = ("simulated:judge-strict", "simulated:judge-fair", "simulated:judge-lenient")
_STAGES = ("stage1", "stage2", "stage3", "stage4")
_ACTIONS = ("ChangeOrder", "TransHuman", "GoodBye", "Explain")
_WORDS = ("my", "bill", "is", "too", "high", "please", "change", "the", "package", "order", "now", "refund", "late")


def make_store(home: Path, attempts: int, turns: int = 4, seed: int = 0) -> int:
    """Fill a store with made-up runs of five models (`attempts` in all, `turns` each); the number of score rows.

    The numbers are drawn at random and mean nothing: this is for measuring speed and for tests of pages.
    """
    rng = np.random.default_rng(seed)
    dataset = Dataset(
        id=f"made-up-{attempts}",
        benchmark="sage",
        name="made up for measuring",
        source="generated",
        config={},
        seed=seed,
        licence="none",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )
    count = max(18, attempts // len(_QUALITY))
    samples = [_make_sample(dataset.id, place) for place in range(count)]
    write.save_dataset(dataset, samples, home)
    rows = 0
    for place, model in enumerate(_QUALITY):
        run = Run(
            id=f"run-260101-00000{place}-made",
            benchmark="sage",
            model=model,
            simulated=True,
            setup={"customer": "simulated:customer", "options": {"turns": turns}},
            judges=_JUDGES,
            dataset_id=dataset.id,
            seed=seed,
            trials=1,
            planned=count,
            prompts={},
            code="made up",
            created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=place),
        )
        folder = write.create_run(run, home)
        parts = _make_parts(run, samples, turns, rng)
        batch = folder / "parts" / "001-1-000000"
        batch.mkdir(parents=True)
        for name, frame in parts.items():
            frame.write_parquet(batch / f"{name}.parquet")
        rows += parts["scores"].height
        (folder / "status.json").write_text(
            f'{{"state": "done", "planned": {count}, "done": {count}, "ok": {count}, "format": 0, "provider": 0, '
            '"cost_usd": 0.0, "tokens": 0, "started": "2026-01-01T00:00:00.000+00:00", '
            '"updated": "2026-01-01T00:01:00.000+00:00"}'
        )
    return rows


def _make_sample(dataset_id: str, place: int) -> Sample:
    scenario, level = _SCENARIOS[place % 6], _LEVELS[place // 6 % 3]
    return Sample(
        id=f"s{place:08x}",
        dataset_id=dataset_id,
        benchmark="sage",
        task="dialogue",
        inputs={"scenario": scenario},
        expected={"action": _ACTIONS[place % 4]},
        facets={
            "scenario": scenario,
            "level": level,
            "leaf": f"leaf{place % 9}",
            "persona": f"persona {place % 5}",
            "language": "en",
            "modality": "text",
        },
    )


def _make_parts(run: Run, samples: list[Sample], turns: int, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    count = len(samples)
    started = datetime(2026, 1, 1, tzinfo=UTC)
    level = np.clip(rng.normal(_QUALITY[run.model], 12, count), 0, 100)
    broken = rng.random(count) < (100 - _QUALITY[run.model]) / 900
    facets = [sample.facets for sample in samples]
    attempts = pl.DataFrame(
        {
            **dict.fromkeys(tables.ATTEMPTS, [None] * count),
            "run_id": [run.id] * count,
            "attempt_id": [f"a{run.id[16]}{place:07x}" for place in range(count)],
            "sample_id": [sample.id for sample in samples],
            "trial": [1] * count,
            "benchmark": ["sage"] * count,
            "model": [run.model] * count,
            "simulated": [True] * count,
            "task": ["dialogue"] * count,
            "facets": frames.build_facets(facets),
            "outcome": np.where(broken, "format", "ok"),
            "ended_by": ["customer"] * count,
            "turns": [turns] * count,
            "started": [started + timedelta(seconds=place) for place in range(count)],
            "latency_s": rng.gamma(4, 0.2, count),
            "prompt_tokens": rng.integers(500, 4000, count),
            "completion_tokens": rng.integers(50, 400, count),
            "calls": [2 * turns] * count,
            "retries": [0] * count,
            "cached_calls": [0] * count,
            "cost_usd": rng.gamma(2, 0.001, count),
            "output": ["{}"] * count,
            "opening": [" ".join(words) for words in rng.choice(_WORDS, (count, 8))],
            "failure": ["format:not_json" if each else None for each in broken],
            # A fifth of the turns goes wrong: most dialogues have one that does.
            "verdict": ["failed"] * count,
            "verdict_reason": ["left the procedure"] * count,
            "verdict_owner": ["agent"] * count,
            "verdict_turn": [1] * count,
        },
        schema=tables.ATTEMPTS,
        strict=False,
    )
    owner = np.repeat(np.arange(count), turns)
    turn = np.tile(np.arange(1, turns + 1), count)
    by_turn = attempts[owner].with_columns(turn=pl.Series(turn, dtype=pl.Int32))
    return {
        "attempts": attempts,
        "messages": _make_messages(by_turn, rng),
        "scores": _make_scores(attempts, by_turn, level, owner, rng),
        "judgements": pl.concat([_make_judgements(by_turn, rng), _make_grades(by_turn)]),
        "votes": _make_votes(by_turn, rng),
        "traces": _make_traces(by_turn, turns, rng),
        "failures": attempts.filter(pl.col("failure").is_not_null()).select(
            "run_id",
            "attempt_id",
            "model",
            seq=pl.lit(0, pl.Int32),
            turn=pl.lit(2, pl.Int32),
            where_=pl.lit("format"),
            type=pl.lit("not_json"),
            message=pl.lit("the reply is no JSON object"),
            retryable=pl.lit(False),
        ),
    }


def _make_scores(
    attempts: pl.DataFrame, by_turn: pl.DataFrame, level: Any, owner: Any, rng: np.random.Generator
) -> pl.DataFrame:
    parts = []
    for place, metric in enumerate(_TURN_METRICS):
        values = np.clip(rng.normal(level[owner] - place, 15), 0, 100)
        if metric == "format_error":
            values = 100.0 * (rng.random(owner.size) < (100 - level[owner]) / 1500)
        elif metric == "chat_words":
            values = np.round(values / 2)
        parts.append(by_turn.with_columns(metric=pl.lit(metric), value=pl.Series(values)))
    whole = attempts.with_columns(turn=pl.lit(None, pl.Int32), metric=pl.lit("overall"), value=pl.Series(level))
    made = pl.concat([*parts, whole])
    return _fill(made, tables.SCORES)


def _fill(made: pl.DataFrame, schema: tables.Schema) -> pl.DataFrame:
    """The columns of a table, null where nothing was made up."""
    lacking = (pl.lit(None, type_).alias(name) for name, type_ in schema.items() if name not in made.columns)
    return made.with_columns(lacking).select(schema.keys())


def _make_messages(by_turn: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    parts = []
    for place, role in enumerate(("customer", "agent")):
        texts = [" ".join(words) for words in rng.choice(_WORDS, (by_turn.height, 10))]
        parts.append(
            by_turn.select(
                "run_id",
                "attempt_id",
                seq=(pl.col("turn") * 2 - 2 + place).cast(pl.Int32),
                turn="turn",
                role=pl.lit(role),
                text=pl.Series(texts),
            )
        )
    return _fill(pl.concat(parts), tables.MESSAGES)


def _make_judgements(by_turn: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    verdicts = np.array(("yes", "no", "unclear"))
    parts = [
        by_turn.select("run_id", "attempt_id", "benchmark", "model", "turn").with_columns(
            judge=pl.lit(judge),
            kind=pl.lit("field"),
            field=pl.lit("intent"),
            verdict=pl.Series(verdicts[rng.choice(3, by_turn.height, p=(0.7, 0.2, 0.1))]),
            status=pl.lit("ok"),
        )
        for judge in _JUDGES
    ]
    return pl.concat(parts).select(tables.JUDGEMENTS.keys())


def _make_grades(by_turn: pl.DataFrame) -> pl.DataFrame:
    # Of their own, so that all else stays as it was drawn.
    rng, grades = np.random.default_rng(1), np.array(("3", "6", "9"))
    shares = {judge: (0.3 - 0.1 * step, 0.4, 0.3 + 0.1 * step) for step, judge in enumerate(_JUDGES)}
    parts = [
        by_turn.select("run_id", "attempt_id", "benchmark", "model", "turn").with_columns(
            judge=pl.lit(judge),
            kind=pl.lit("dimension"),
            field=pl.lit("content_utility"),
            verdict=pl.Series(grades[rng.choice(3, by_turn.height, p=shares[judge])]),
            status=pl.lit("ok"),
        )
        for judge in _JUDGES
    ]
    return pl.concat(parts).select(tables.JUDGEMENTS.keys())


def _make_votes(by_turn: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    parts = [
        by_turn.select(
            "run_id",
            "attempt_id",
            "turn",
            judge=pl.lit(judge),
            valid=pl.Series(rng.random(by_turn.height) > 0.01),
            raw=pl.lit('{"intent": "yes"}'),
            rationale=pl.lit("The customer says so."),
            failure=pl.lit(None, pl.String),
            latency_s=pl.lit(0.2),
            cost_usd=pl.lit(0.0001),
            prompt_tokens=pl.lit(900, pl.Int64),
            completion_tokens=pl.lit(120, pl.Int64),
            calls=pl.lit(1, pl.Int32),
            retries=pl.lit(0, pl.Int32),
            cached_calls=pl.lit(0, pl.Int32),
        )
        for judge in _JUDGES
    ]
    return _fill(pl.concat(parts), tables.VOTES)


def _make_traces(by_turn: pl.DataFrame, turns: int, rng: np.random.Generator) -> pl.DataFrame:
    count = by_turn.height
    cut = rng.integers(2, 5, count)
    paths = [list(_STAGES[:length]) for length in (2, 3, 4)]
    moves = [[{"move": "sync", "stage": stage} for stage in path] for path in paths]
    slips = rng.random(count) < 0.2
    predicted = [paths[length - 2] for length in cut]
    reference = [paths[0] if slip else path for slip, path in zip(slips, predicted, strict=True)]
    actions = np.array(_ACTIONS)[rng.integers(0, 4, count)]
    return by_turn.select(
        "run_id",
        "attempt_id",
        "sample_id",
        "trial",
        "model",
        "turn",
        last=pl.col("turn") == turns,
        parsed=pl.lit(True),
        predicted_fields=pl.lit('{"intent": "yes"}'),
        panel_fields=pl.lit('{"intent": "yes"}'),
        gold_fields=pl.lit('{"intent": "yes"}'),
        predicted_path=pl.Series(predicted),
        reference_path=pl.Series(reference),
        own_path=pl.Series(predicted),
        gold_path=pl.Series(reference),
        predicted_action=pl.Series(actions),
        reference_action=pl.Series(actions),
        own_action=pl.Series(actions),
        gold_action=pl.Series(actions),
        moves=pl.Series([moves[length - 2] for length in cut], dtype=tables.MOVES),
        error=pl.Series(np.where(slips, "field", "none")),
        single_judges=pl.Series(_judge_singly(reference, actions, rng), dtype=tables.SINGLE_JUDGES),
    ).select(tables.TRACES.keys())


def _judge_singly(reference: list[list[str]], actions: Any, rng: np.random.Generator) -> list[list[dict[str, Any]]]:
    strays = rng.random((len(reference), len(_JUDGES))) < 0.1
    scores = rng.uniform(40, 100, strays.shape)
    return [
        [
            {
                "judge": judge,
                "path": path[:1] if strays[row, place] else path,
                "action": action,
                "scores": [
                    {"key": "chat", "value": 70.0},
                    {"key": "logic", "value": scores[row, place]},
                    {"key": "overall", "value": 0.8 * scores[row, place] + 14.0},
                ],
            }
            for place, judge in enumerate(_JUDGES)
        ]
        for row, (path, action) in enumerate(zip(reference, actions, strict=True))
    ]
