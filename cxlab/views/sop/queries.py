"""Traces of procedures: where turns follow the reference path, where they leave it, and where they end.

A *way* is a path of stages with the action as its last step. A turn counts here when its reply could be parsed and the
panel gave a reference. Everything is counted in SQL on distinct pairs of ways; only what carries an interval goes down
to the sample. Shares run from 0 to 1; their intervals are clustered (Student's t, clusters - 1 degrees).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from cxlab.metrics.intervals import Bounds
from cxlab.metrics.paths import alignment
from cxlab.read.clusters import SHARE, summarise
from cxlab.read.coded import spell
from cxlab.read.comparison import score_sums
from cxlab.read.kept.chosen import keep_among, keep_facets
from cxlab.read.kept.numbers import number
from cxlab.read.procedures import procedure_facets, select_procedure
from cxlab.read.query import ask, cut, version_of, where, widen
from cxlab.read.view import View
from cxlab.store import catalogue, layout
from cxlab.store.connect import fetch
from cxlab.views.sop.queries_chosen_turns import EVALUATED, read_turns

if TYPE_CHECKING:
    import duckdb

QUADRANTS = ("right>right", "right>wrong", "wrong>right", "wrong>wrong")
"""Result>way: what a turn came to, and how."""


# Number of the first step that differs; NULL when the ways are equal. A way that stops differs where it stops.
DIVERGES = "list_filter(range(1, greatest(len(way), len(wanted)) + 1), lambda i: way[i] IS DISTINCT FROM wanted[i])[1]"


def _ask_pairs(view: View, sql: str) -> pl.DataFrame:
    """The rows of one SELECT over `pairs`, the distinct pairs of ways of a selection: model, way, wanted, n."""
    return _ask_of(read_turns(view).counted, sql)


def _ask_of(pairs: pl.DataFrame, sql: str) -> pl.DataFrame:
    with _open_memory().cursor() as con:
        con.register("pairs", pairs)
        return fetch(con, sql)


@lru_cache(maxsize=1)
def _open_memory() -> "duckdb.DuckDBPyConnection":
    # Making one takes some 20 ms, a cursor on it less than one.
    import duckdb

    return duckdb.connect()


def traffic(view: View) -> pl.DataFrame:
    """Transitions between steps: model, source, target, kind, n turns.

    `followed`: the agent made it and the reference makes it; `inserted`: only the agent; `skipped`: only the reference.
    """
    return _ask_pairs(view, _TRAFFIC)


def count_steps(pairs: pl.DataFrame) -> pl.DataFrame:
    """`traffic` of pairs of ways: model, way, wanted (a way is its stages with the action last), n."""
    return _ask_of(pairs, _TRAFFIC)


_TRAFFIC = """
        WITH steps AS (
            SELECT model, n,
                list_transform(range(1, len(way)), lambda i: {'source': way[i], 'target': way[i + 1]}) AS made,
                list_transform(range(1, len(wanted)), lambda i: {'source': wanted[i], 'target': wanted[i + 1]}) AS due
            FROM pairs
        ), sorted AS (
            SELECT model, n, 'followed' AS kind, unnest(list_filter(made, lambda s: list_contains(due, s))) AS step
            FROM steps UNION ALL
            SELECT model, n, 'inserted', unnest(list_filter(made, lambda s: NOT list_contains(due, s))) FROM steps
            UNION ALL
            SELECT model, n, 'skipped', unnest(list_filter(due, lambda s: NOT list_contains(made, s))) FROM steps
        )
        SELECT model, step.source AS source, step.target AS target, kind, sum(n)::BIGINT AS n
        FROM sorted GROUP BY ALL ORDER BY n DESC, source, target, kind, model
        """


def branches(view: View, by_model: bool = False) -> pl.DataFrame:
    """How often the right way out was taken, given that agent and reference were both at the stage.

    Columns: (model,) stage, n turns, clusters, share, low, high.
    """
    told = read_turns(view)
    with _open_memory().cursor() as con:
        con.register("pairs", told.pairs)
        arrivals = fetch(
            con,
            """SELECT pair, arrival.stage AS stage, arrival.right AS right FROM (SELECT pair, unnest(list_transform(
                list_filter(list_intersect(way[:-2], wanted[:-2]), lambda s: s IS NOT NULL),
                lambda s: {'stage': s, 'right': way[list_position(way, s) + 1] = wanted[list_position(wanted, s) + 1]}
            )) AS arrival FROM pairs)""",
        )
    keys = ("model", "stage") if by_model else ("stage",)
    right = pl.when("right").then("n").otherwise(0)
    arrived = told.turns.group_by(*(("model",) if by_model else ()), "cluster", "pair").agg(pl.col("n").sum())
    clusters = arrived.join(arrivals, on="pair").select(*keys, "cluster", "n", total=right)
    return spell(summarise(clusters, keys, SHARE)).sort(keys).rename({"mean": "share"})


def error_split(view: View) -> pl.DataFrame:
    """Where turns went wrong, per model: model, error, n turns, of (all turns), clusters, share, low, high.

    Every model has a row for each class of error that occurs at all.
    """
    turns = read_turns(view).turns
    return _shares_of(turns, ("model",), "error", turns["error"].unique().to_list())


def quadrants(view: View, by_model: bool = False) -> pl.DataFrame:
    """What turns came to against how: (model,) quadrant, n turns, of (all that have a way and one that was due),
    clusters, share, low, high; a row for each of QUADRANTS.

    The result is right where the action is the reference's, the way where all stages before it are.
    """
    told = read_turns(view)
    ways = told.pairs.select(
        "pair",
        quadrant=pl.concat_str(
            _right_or_wrong(pl.col("way").list.last().eq_missing(pl.col("wanted").list.last())),
            pl.lit(">"),
            _right_or_wrong(_stages("way").eq_missing(_stages("wanted"))),
        ),
    )
    turns = told.turns.join(ways, on="pair")
    return _shares_of(turns, ("model",) if by_model else (), "quadrant", QUADRANTS)


def _stages(way: str) -> pl.Expr:
    return pl.col(way).list.head(pl.col(way).list.len().cast(pl.Int64) - 1)


def _right_or_wrong(right: pl.Expr) -> pl.Expr:
    return pl.when(right).then(pl.lit("right")).otherwise(pl.lit("wrong"))


def _shares_of(turns: pl.DataFrame, keys: tuple[str, ...], group: str, groups: Sequence[str]) -> pl.DataFrame:
    """Shares of turns by group with intervals: keys, group, n, of, clusters, share, low, high."""
    # A column a group, summed before there is a row a group: to join what has none costs more than to count it as 0.
    named = {f"total_{place}": each for place, each in enumerate(groups or ("",))}
    totals = {name: pl.when(pl.col(group) == each).then("n").otherwise(0) for name, each in named.items()}
    sums = turns.select(*keys, "cluster", "n", **totals).group_by(*keys, "cluster").agg(pl.col("n", *totals).sum())
    clusters = pl.concat(
        sums.select(*keys, pl.lit(each).alias(group), "n", "cluster", total=name) for name, each in named.items()
    )
    found = spell(summarise(clusters, (*keys, group), SHARE)).sort(*keys, group)
    found = found.rename({"mean": "share", "n": "of"})
    return found.with_columns(n=(pl.col("share") * pl.col("of")).round().cast(pl.Int64)).select(
        *keys, group, "n", "of", "clusters", "share", "low", "high"
    )


def divergences(view: View) -> pl.DataFrame:
    """Where turns leave the reference: model, stage, place, n, arrived, share.

    `stage` is the last common step, `place` its position from 1; `n` turns left there for the first time out of
    `arrived` that had come so far in step with the reference.
    """
    return count_divergences(read_turns(view).counted)


def count_divergences(pairs: pl.DataFrame, by: Sequence[str] = ("model",)) -> pl.DataFrame:
    """`divergences` of pairs of ways (`by`, way, wanted, n), with these columns in the place of model."""
    keys = ", ".join(by)
    return _ask_of(
        pairs,
        f"""
        WITH held AS (
            SELECT {keys}, n, wanted, coalesce({DIVERGES} - 1, len(wanted)) AS common FROM pairs
        ), reached AS (
            SELECT {keys}, n, common, wanted, unnest(range(1, least(common, len(wanted) - 1) + 1)) AS place FROM held
        )
        SELECT {keys}, wanted[place] AS stage, place::INTEGER AS place,
            coalesce(sum(n) FILTER (common = place), 0)::BIGINT AS n, sum(reached.n)::BIGINT AS arrived,
            coalesce(sum(reached.n) FILTER (common = place), 0) / sum(reached.n) AS share
        FROM reached GROUP BY ALL ORDER BY {keys}, place, stage
        """,
    )


def survival(view: View) -> pl.DataFrame:
    """Share of turns still on the reference after each step: model, step (from 1), n still there, of (all), share.

    A turn whose way equals the reference to its end stays "on" for good, so the last row is the share of turns that
    are right from the first stage to the action.
    """
    return _ask_pairs(
        view,
        f"""
        WITH held AS (
            SELECT model, n, len(wanted) AS length, {DIVERGES} AS leaves FROM pairs
        ), steps AS (SELECT unnest(range(1, (SELECT max(greatest(length, coalesce(leaves, 0))) FROM held) + 1)) AS step)
        SELECT model, step::INTEGER AS step, coalesce(sum(n) FILTER (leaves IS NULL OR leaves > step), 0)::BIGINT AS n,
            sum(held.n)::BIGINT AS "of",
            coalesce(sum(held.n) FILTER (leaves IS NULL OR leaves > step), 0) / sum(held.n) AS share
        FROM held CROSS JOIN steps GROUP BY ALL ORDER BY model, step
        """,
    )


def confusion(view: View) -> pl.DataFrame:
    """Expected against taken way out of each stage that agent and reference both reach: stage, expected, taken, n."""
    return _ask_pairs(
        view,
        """
        WITH arrivals AS (
            SELECT n, unnest(list_transform(list_intersect(way[:-2], wanted[:-2]), lambda s: {'stage': s,
                'expected': wanted[list_position(wanted, s) + 1], 'taken': way[list_position(way, s) + 1]})) AS a
            FROM pairs
        )
        SELECT a.stage AS stage, a.expected AS expected, a.taken AS taken, sum(n)::BIGINT AS n
        FROM arrivals GROUP BY ALL ORDER BY stage, expected, taken
        """,
    )


def variants(view: View) -> pl.DataFrame:
    """Distinct ways, commonest first: way, n, right, share, cumulative, acted, steps, skipped.

    Each turn is compared with its own reference: `right` counts the turns for which the way was it, `acted` those whose
    action was due. `steps`, one a stage of the way: stage, followed (turns in which it was due there); `skipped`:
    stage, n (turns in which it was due and left out).
    """
    told = _ask_pairs(view, "SELECT way, wanted, sum(n)::BIGINT AS n FROM pairs GROUP BY ALL ORDER BY way, wanted")
    rows = []
    for (way,), part in told.group_by("way", maintain_order=True):
        stages, followed, skipped = way[:-1], [0] * (len(way) - 1), dict[str, int]()
        right = acted = 0
        for wanted, n in part.select("wanted", "n").iter_rows():
            right += n * (wanted == way)
            acted += n * (wanted[-1] == way[-1])
            place = 0
            for move, stage in alignment(stages, wanted[:-1]).moves:
                if move == "skipped":
                    skipped[stage] = skipped.get(stage, 0) + n
                    continue
                followed[place] += n * (move == "sync")
                place += 1
        steps = [{"stage": stage, "followed": n} for stage, n in zip(stages, followed, strict=True)]
        left = [{"stage": stage, "n": n} for stage, n in skipped.items()]
        rows.append(
            {"way": way, "n": int(part["n"].sum()), "right": right, "acted": acted, "steps": steps, "skipped": left}
        )
    schema: dict[str, Any] = {
        "way": pl.List(pl.String), **dict.fromkeys(("n", "right", "acted"), pl.Int64),
        "steps": pl.List(pl.Struct({"stage": pl.String, "followed": pl.Int64})),
        "skipped": pl.List(pl.Struct({"stage": pl.String, "n": pl.Int64})),
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema).sort(pl.col("n"), pl.col("way").list.join(">"), descending=[True, False])
    share = pl.col("n") / pl.col("n").sum()
    return frame.with_columns(share=share, cumulative=share.cum_sum())


def flows(view: View) -> pl.DataFrame:
    """Expected action, where the way left the reference ("" = nowhere), action taken: expected, left_at, taken, n."""
    return _ask_pairs(
        view,
        f"""
        WITH held AS (SELECT *, {DIVERGES} AS leaves FROM pairs)
        SELECT wanted[-1] AS expected,
            CASE WHEN leaves IS NULL THEN '' ELSE coalesce(wanted[leaves - 1], '?') END AS left_at, way[-1] AS taken,
            sum(n)::BIGINT AS n
        FROM held GROUP BY ALL ORDER BY n DESC, expected, taken, left_at
        """,
    )


def coverage(view: View) -> pl.DataFrame:
    """Leaf by model: leaf, model (null where nobody was tested), dialogues, n turns, mean of the view's metric."""
    scored = _turn_sums(view, "leaf").group_by("leaf", "model").agg(dialogues=pl.len().cast(pl.Int64), **_MEAN)
    known = _read_leaves(str(layout.home()), catalogue.data_version())
    if procedures := view.values("scenario"):
        known = known.filter(pl.col("procedure").is_in(procedures))
    known = known.select("leaf").unique()
    counts = pl.col("dialogues", "n").fill_null(0)
    found = known.join(scored, on="leaf", how="full", coalesce=True).with_columns(counts)
    return found.select("leaf", "model", "dialogues", "n", "mean").sort("leaf", "model", nulls_last=True)


@lru_cache(maxsize=2)
def _read_leaves(home: str, version: str) -> pl.DataFrame:
    """The leaves of the stored datasets: procedure, leaf."""
    leaf = select_procedure("facet_list", "leaf")
    return ask(f"SELECT DISTINCT {select_procedure('facet_list')} AS procedure, {leaf} AS leaf FROM samples "
               f"WHERE {leaf} IS NOT NULL")  # fmt: skip


_MEAN = {"n": pl.col("n").sum(), "mean": pl.col("total").sum() / pl.col("n").sum()}


def _turn_sums(view: View, *of: Literal["facet", "leaf", "level"]) -> pl.DataFrame:
    """Sums of the view's metric over the turns of each attempt, as `score_sums.of_attempts`; with what its facets say
    of the procedure, as columns of these names (a facet is the procedure itself)."""
    named = {each: procedure_facets(each) for each in of}
    sums = score_sums.of_attempts(view, [name for names in named.values() for name in names])
    told = {each: pl.coalesce(names) if names else pl.lit(None, pl.String) for each, names in named.items()}
    return sums.filter(~pl.col("whole")).with_columns(**told)


def _turn_scores(view: View) -> pl.DataFrame:
    """The view's metric at each of EVALUATED: run_id, attempt_id, sample_id, model, turn, value; none without a value.

    Turns other than EVALUATED are last turns only.
    """
    # Filters that change from look to look are applied to what was read, so that a change of them reads nothing anew.
    filters = ("models", *(name for name, _ in view.facets))
    wanted = widen(view, filters).change(among="")
    rows = cut(_read_turn_scores(str(layout.home()), version_of(view), wanted), view, ("models",))
    return keep_among(keep_facets(rows, view), view)


@lru_cache(maxsize=2)
def _read_turn_scores(home: str, version: str, wanted: View) -> pl.DataFrame:
    condition, params = where(wanted, "scores", "s.")
    found = ask(
        f"""SELECT s.run_id, s.attempt_id, s.sample_id, s.model, s.turn, s.value FROM scores s
        WHERE s.metric = $metric AND s.turn IN ({", ".join(map(str, EVALUATED))}) AND s.value IS NOT NULL
            AND {condition}""",
        {**params, "metric": wanted.metric},
    )
    return number(found)


def by_turn(view: View, reach: int | None = None, bounds: Bounds | None = (0.0, 100.0)) -> pl.DataFrame:
    """The view's metric by evaluated turn: model, turn, n dialogues, clusters, share (the mean), low, high.

    `reach`: only dialogues that were evaluated at every one of EVALUATED up to this turn, so that each point of a
    model is over the same dialogues.
    """
    rows = _turn_scores(view)
    if reach is not None:
        needed = sum(turn <= reach for turn in EVALUATED)
        rows = rows.filter(pl.col("turn") <= reach)
        whole = rows.group_by("run_id", "attempt_id").len().filter(pl.col("len") == needed)
        rows = rows.join(whole, on=["run_id", "attempt_id"], how="semi")
    found = rows.group_by("model", "turn", "sample_id").agg(n=pl.len(), total=pl.col("value").sum())
    return summarise(found, ("model", "turn"), bounds).rename({"mean": "share"})


def reaches(view: View) -> pl.DataFrame:
    """How many dialogues are scored at all evaluated turns up to each: model, turn, n."""
    dialogues = _turn_scores(view).group_by("run_id", "attempt_id", "model").agg(turns=pl.col("turn").sort())
    counted = [
        dialogues.group_by("model").agg(
            turn=pl.lit(goal, pl.Int32),
            n=(pl.col("turns").list.head(place) == list(EVALUATED[:place])).sum().cast(pl.Int64),
        )
        for place, goal in enumerate(EVALUATED, start=1)
    ]
    return pl.concat(counted).sort("model", "turn")


def leaf_levels(view: View) -> pl.DataFrame:
    """One mean a model, leaf and level, for pairing levels by leaf: model, scenario, leaf, level, n turns, mean."""
    keys = ["model", "scenario", "leaf", "level"]
    sums = _turn_sums(view, "facet", "leaf", "level").with_columns(scenario=pl.col("facet"))
    return sums.filter(pl.col("leaf").is_not_null()).group_by(keys).agg(**_MEAN).filter(pl.col("n") > 0).sort(keys)
