"""Where judges disagree: the split verdicts of a store, grouped by what disagrees, and in the order of a review.

A split is read once with the facets of its attempt and cut to a page's filters in memory, so that a change of a filter
reads nothing anew, and neither does a decision.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.read.attempts import StoredAttempt
from cxlab.read.procedures import (
    SINGLE_JUDGE_METRICS,
    name_single_judge_metrics,
    select_procedure,
    single_judge_metrics,
    stage_fields,
)
from cxlab.read.query import ask, cut, version_of, where, widen
from cxlab.read.view import View
from cxlab.records import content_id
from cxlab.records.correction import PASSED
from cxlab.records.evaluation import MEASURED
from cxlab.records.procedure import declared
from cxlab.store import layout
from cxlab.views.judges.queries_agreement import facet_columns

_AHEAD = 50
MOST = 500
"""Splits that a review goes through; a group of its own shows what lies deeper."""
GROUP = ("group", "benchmark", "kind", "name", "sides")
_PRIORITY = ("telling", "stake", "entropy", "run_id", "attempt_id", "turn", "field")
SUMS = ("benchmark", "metric", "whole", "model", "sample_id")
# Between a judge and its verdict, and between judges, in a pattern of votes.
_VERDICT, _JUDGE = "\x1f", "\x1e"


def benchmarks() -> list[str]:
    """The benchmarks in which judges have voted."""
    found = ask("SELECT DISTINCT benchmark FROM attempts SEMI JOIN votes USING (run_id, attempt_id) ORDER BY 1")
    return found["benchmark"].to_list()


def has_simulated_judges() -> bool:
    """Whether any of the judges that voted is a stand-in."""
    return not ask("SELECT 1 FROM votes WHERE starts_with(judge, 'simulated:') LIMIT 1").is_empty()


def splits(view: View, facets: Sequence[str] = ()) -> pl.DataFrame:
    """One row a field (or grade) and turn on which valid verdicts differ: run_id, attempt_id, turn, kind, field,
    name (with its procedure), benchmark, model, sample_id, the facets, group and sides (who against whom), entropy of
    the votes in bits, stake and telling; fields before grades, the most telling first.

    `telling`: another verdict would change a score. Where turns have traces, that is a field that the stage asks for at
    which the ways of single judges part, and `stake` the points from the lowest of them to the highest by the metric
    that follows from the way. Where they have none, a vote that one judge's change of mind would turn; of grades, one
    from end to end of the scale.
    """
    kept = ("models", *facets)
    return cut(_read_splits(str(layout.home()), version_of(view), widen(view, kept), tuple(facets)), view, kept)


@lru_cache(maxsize=2)
def _read_splits(home: str, version: str, wanted: View, facets: tuple[str, ...]) -> pl.DataFrame:
    condition, params = where(wanted, "judgements", "j.")
    columns = facet_columns(facets, "a")
    frame = ask(
        f"""
        WITH split AS (
            SELECT run_id, attempt_id, turn, kind, field, any_value(benchmark) AS benchmark,
                string_agg(concat(judge, chr(31), verdict), chr(30) ORDER BY judge) AS pattern
            FROM judgements j WHERE {condition} AND status = 'ok' AND judge <> '{MEASURED}'
            GROUP BY ALL HAVING min(verdict) <> max(verdict)
        ), apart AS (
            SELECT run_id, attempt_id, turn,
                coalesce(list_max(list_transform(led, lambda a: score_of(a.scores, metric)))
                    - list_min(list_transform(led, lambda a: score_of(a.scores, metric))), 0) AS range,
                list_transform(led, lambda a: list_append(a.path, a.action)) AS ways
            FROM (SELECT run_id, attempt_id, turn, metric,
                    list_filter(single_judges, lambda a: len(a.path) > 0) AS led
                FROM traces JOIN runs USING (run_id) LEFT JOIN ({SINGLE_JUDGE_METRICS}) USING (benchmark))
            WHERE len(list_distinct(list_transform(led, lambda a: hash(a.path, a.action)))) > 1
        ), parted AS (
            SELECT run_id, attempt_id, turn, range, ways[1][place - 1] AS stage
            FROM (SELECT *, list_filter(generate_series(1, 20), lambda place:
                    len(list_distinct(list_transform(ways, lambda way: coalesce(way[place], '')))) > 1)[1] AS place
                FROM apart)
            WHERE place IS NOT NULL
        ), asks AS (
            SELECT unnest(from_json($reads, '[{{"scenario":"VARCHAR","stage":"VARCHAR","fields":["VARCHAR"]}}]'),
                recursive := true)
        )
        SELECT s.* EXCLUDE (kind), s.kind, a.model, a.sample_id, {select_procedure("a.facet_list")} AS procedure,
            coalesce(list_contains(r.fields, s.field), false) AS decisive,
            CASE WHEN decisive THEN p.range ELSE 0 END::DOUBLE AS stake {columns}
        FROM split s JOIN attempts a USING (run_id, attempt_id)
            LEFT JOIN parted p USING (run_id, attempt_id, turn)
            LEFT JOIN asks r ON r.scenario = {select_procedure("a.facet_list")} AND r.stage = p.stage
        """,
        {**params, **name_single_judge_metrics("way"), "reads": stage_fields()},
    )
    frame = frame.with_columns(
        name=pl.when((pl.col("kind") == "field") & pl.col("procedure").is_not_null())
        .then(pl.concat_str("procedure", pl.lit("."), "field"))
        .otherwise("field")
    )
    scale = _read_scale(frame)
    patterns = frame.select("kind", "benchmark", "name", "pattern").unique()
    votes = pl.DataFrame(
        [_describe(kind, benchmark, name, pattern, scale) for kind, benchmark, name, pattern in patterns.iter_rows()],
        schema={**dict.fromkeys((*GROUP, "pattern"), pl.String), "entropy": pl.Float64, "near": pl.Boolean},
        orient="row",
    )
    traced = pl.col("benchmark").is_in(list(declared()))
    near = pl.col("near") & ((pl.col("kind") != "field") | ~traced)
    return (
        frame.join(votes, on=["benchmark", "kind", "name", "pattern"])
        .with_columns(telling=pl.col("decisive") | near)
        .drop("pattern", "procedure", "near", "decisive")
        .sort(pl.col("kind") != "field", *_PRIORITY, descending=[False, True, True, True, *[False] * 4])
    )


def _read_scale(frame: pl.DataFrame) -> dict[tuple[str, str], tuple[float, float]]:
    """Benchmark and grade → its lowest and highest value among the votes."""
    seen: dict[tuple[str, str], set[float]] = {}
    grades = frame.filter(pl.col("kind") == "dimension").select("benchmark", "name", "pattern").unique()
    for benchmark, name, pattern in grades.iter_rows():
        seen.setdefault((benchmark, name), set()).update(float(value) for _, value in _read_votes(pattern))
    return {key: (min(values), max(values)) for key, values in seen.items()}


def _read_votes(pattern: str) -> list[tuple[str, str]]:
    pairs = (each.rpartition(_VERDICT) for each in pattern.split(_JUDGE))
    return [(judge, value) for judge, _, value in pairs]


def _describe(
    kind: str, benchmark: str, name: str, pattern: str, scale: dict[tuple[str, str], tuple[float, float]]
) -> tuple[Any, ...]:
    """A pattern of votes as a group (who against whom, the smaller side first), its entropy, and whether it is near."""
    votes = _read_votes(pattern)
    said: dict[str, list[str]] = {}
    for judge, value in votes:
        said.setdefault(value, []).append(judge)
    sides = _VERDICT.join(_JUDGE.join(side) for side in sorted(said.values(), key=lambda side: (len(side), side)))
    counts = sorted(map(len, said.values()), reverse=True)
    entropy = -sum(n / len(votes) * math.log2(n / len(votes)) for n in counts)
    if kind == "dimension":
        grades = [float(value) for value in said]
        near = (min(grades), max(grades)) == scale[benchmark, name]
    else:
        near = counts[0] - counts[1] <= 1
    group = content_id(benchmark, kind, name, sides)[:10]
    return group, benchmark, kind, name, sides, pattern, entropy, near


def read_sides(sides: str) -> list[list[str]]:
    """Who stands against whom in a group: the judges of each side, the smallest side first."""
    return [side.split(_JUDGE) for side in sides.split(_VERDICT)]


def between(found: pl.DataFrame, a: str, b: str) -> pl.DataFrame:
    """The `splits` in which these two judges stand on different sides."""
    sides_of = {sides: {judge: side for side, of in enumerate(read_sides(sides)) for judge in of}
                for sides in found["sides"].unique()}  # fmt: skip
    apart = [sides for sides, of in sides_of.items() if a in of and b in of and of[a] != of[b]]
    return found.filter(pl.col("sides").is_in(apart))


def groups(found: pl.DataFrame) -> pl.DataFrame:
    """What disagrees: group, benchmark, kind, name, sides, n splits, telling (how many), stake (the mean of those);
    fields before grades, those with most that tell first."""
    return (
        found.group_by(GROUP)
        .agg(
            n=pl.len().cast(pl.Int64),
            telling=pl.col("telling").sum().cast(pl.Int64),
            stake=pl.col("stake").filter(pl.col("stake") > 0).mean(),
        )
        .sort(pl.col("kind") != "field", "telling", "n", "group", descending=[False, True, True, False])
    )


def order(found: pl.DataFrame, most: int = MOST) -> pl.DataFrame:
    """`splits` in the order of a review, `most` of them: groups take turns, each with its most telling first, and
    within a group customers do; no two of one field or of one customer follow each other while others are left."""
    # Nothing but what the order hangs on is sorted; whole rows are taken at the end, for the few that are shown.
    codes = found.select(pl.col("group", "sample_id").cast(pl.Categorical).to_physical().cast(pl.Int64))
    group, sample = (codes[name].to_numpy() for name in codes.columns)
    # Within a group a customer's second split comes after the first ones of all others.
    again = _count_before((group << 32) + sample)
    ranked = np.argsort(again, kind="stable")
    rounds = _count_before(group[ranked])
    first = np.flatnonzero(rounds < 2 * most)
    head = first[np.lexsort((ranked[first], rounds[first]))][: 2 * most]
    listed = found[ranked[head]]
    return listed[_take_turns(rounds[head].tolist(), listed.select("name", "sample_id").rows())[:most]]


def _count_before(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often the key of each place stands before it."""
    at = np.argsort(keys, kind="stable")
    new = np.diff(keys[at], prepend=-1) != 0
    counted, places = np.empty_like(keys), np.arange(len(keys))
    counted[at] = places - np.maximum.accumulate(np.where(new, places, 0))
    return counted


def _take_turns(rounds: Sequence[int], subjects: Sequence[tuple[str, str]]) -> list[int]:
    """Positions by round, moved back where one would follow another of its field or customer; where the next _AHEAD
    are all alike they come as they are."""
    fields = len({name for name, _ in subjects}) > 1
    waiting = sorted(range(len(rounds)), key=rounds.__getitem__)
    taken: list[int] = []
    name = sample = ""
    while waiting:
        ahead = waiting[:_AHEAD]
        best = next(
            (at for at in ahead if subjects[at][1] != sample and not (fields and subjects[at][0] == name)), ahead[0]
        )
        waiting.remove(best)
        taken.append(best)
        name, sample = subjects[best]
    return taken


def verdicts_of(benchmark: str, kind: str, field: str) -> list[str]:
    """Every verdict that judges ever gave on a field or grade, in order (numbers by size), at most 20."""
    said = ask(
        """SELECT DISTINCT verdict FROM judgements WHERE benchmark = $benchmark AND kind = $kind AND field = $field
            AND status = 'ok' AND verdict IS NOT NULL
        ORDER BY try_cast(verdict AS DOUBLE), verdict LIMIT 20""",
        {"benchmark": benchmark, "kind": kind, "field": field},
    )
    return said["verdict"].to_list()


def said_of(whole: StoredAttempt, turn: int, field: str) -> pl.DataFrame:
    """What every judge (and the log) said of one field of one turn: judge, kind, verdict, status, rationale, raw,
    valid, failure, and where the judge alone would lead: path, action, and `points` by `metric`."""
    metric = single_judge_metrics("way").get(str(whole.attempt["benchmark"]))
    here = pl.col("turn") == turn
    said = whole.judgements.filter(here & (pl.col("field") == field)).select("judge", "kind", "verdict", "status")
    votes = whole.votes.filter(here).select("judge", "rationale", "raw", "valid", "failure")
    alone = whole.traces.filter(here).select(pl.col("single_judges").explode()).unnest("single_judges")
    points = pl.element().filter(pl.element().struct.field("key") == metric).struct.field("value").first()
    alone = alone.select("judge", "path", "action", points=pl.col("scores").list.eval(points).list.first())
    found = said.join(votes, on="judge", how="left").join(alone, on="judge", how="left")
    return found.with_columns(metric=pl.lit(metric, pl.String)).sort("judge")


def verdicts_on(view: View, items: pl.DataFrame) -> pl.DataFrame:
    """The valid verdicts of judges on items (run_id, attempt_id, turn, field, …) that the view lets through: the
    columns of `items` with judge, verdict, benchmark, model and sample_id."""
    condition, params = where(view, "judgements", "j.")
    found = ask(
        f"""SELECT run_id, attempt_id, j.turn, j.field, j.judge, j.verdict, j.benchmark, j.model, sample_id
        FROM judgements j JOIN attempts USING (run_id, attempt_id)
        WHERE {condition} AND status = 'ok' AND judge <> '{MEASURED}' AND attempt_id IN (SELECT unnest($attempts))""",
        {**params, "attempts": items["attempt_id"].unique().sort().to_list()},
    )
    return items.join(found, on=["run_id", "attempt_id", "turn", "field"])


def sums(view: View, metrics: Sequence[str]) -> pl.DataFrame:
    """Sums of metrics by model and sample: benchmark, metric, whole (of attempts, not of turns), model, sample_id, n,
    total; with `passed` among the metrics verdicts, too."""
    condition, params = where(view, "scores", "s.")
    scores = ask(
        f"""SELECT benchmark, metric, turn IS NULL AS whole, model, sample_id, count(value) AS n,
            coalesce(sum(value), 0)::DOUBLE AS total
        FROM scores s WHERE {condition} AND metric IN (SELECT unnest($metrics)) GROUP BY ALL""",
        {**params, "metrics": list(metrics)},
    )
    if PASSED not in metrics:
        return scores
    condition, params = where(view)
    verdicts = ask(
        f"""SELECT benchmark, '{PASSED}' AS metric, true AS whole, model, sample_id,
            count(*) FILTER (verdict IN ('passed', 'failed')) AS n,
            100.0 * count(*) FILTER (verdict = 'passed') AS total
        FROM attempts WHERE {condition} GROUP BY ALL""",
        params,
    )
    return pl.concat([scores, verdicts.select(scores.columns).cast(scores.schema)])
