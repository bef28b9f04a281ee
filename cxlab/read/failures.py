"""Failures: how many there are, which are alike, what failed on the way, and the chosen set as a file."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from cxlab.read.attempts import ROWS_A_PAGE, Page, attempts, list_attempts, shown_columns
from cxlab.read.comparison.score_sums import FullScore, score_attempts
from cxlab.read.kept.chosen import choose, keep, keep_these, numbered, stands
from cxlab.read.kept.numbers import facts, look_up, number
from cxlab.read.query import ask, say_annotations_read, where
from cxlab.read.view import View
from cxlab.store import catalogue, layout

MOST_GROUPS = 12
# Chosen sets are written whole into memory before they are downloaded.
MOST_EXPORTED = 50_000


def counts(view: View) -> dict[str, int]:
    """Of the view, whatever its verdict: attempts, of them failed, unscored and passed; turns evaluated and wrong;
    in how many attempts a tool call failed (`tool_errors`), also where the attempt passed (`mended`); how many
    failures were found, and how much failed on the way without deciding anything."""
    chosen = choose(view.change(verdict=""), "nth", "verdict").with_columns(pl.col("verdict").fill_null("unscored"))
    verdicts = dict(chosen.group_by("verdict").len().iter_rows())
    found = numbered("troubles").filter("on_the_way").select("nth", "owner").join(chosen, on="nth")
    failed_calls = found.filter(pl.col("owner") == "tool").unique("nth")
    turns = keep_these(numbered("turns_gone_wrong"), chosen)
    return {
        "attempts": chosen.height, **{name: verdicts.get(name, 0) for name in ("failed", "unscored", "passed")},
        "tool_errors": failed_calls.height, "mended": failed_calls.filter(pl.col("verdict") == "passed").height,
        "on_the_way": found.height, "turns": int(turns["turns"].sum()), "wrong_turns": int(turns["wrong"].sum()),
    }  # fmt: skip


def count_verdicts() -> pl.DataFrame:
    """The attempts of the store by benchmark, model and verdict (passed, failed or unscored), with their number `n`."""
    told = choose(View(), "benchmark", "model", "verdict").with_columns(pl.col("verdict").fill_null("unscored"))
    return told.group_by(told.columns).agg(n=pl.len().cast(pl.Int64)).sort(told.columns)


def passed_rate(passed: int, failed: int) -> float | None:
    """The success rate, on every page: passed of those that passed or failed; None where there are neither."""
    return passed / (passed + failed) if passed + failed else None


# By what an attempt is in the middle of its group; of two each is as far from it as the other.
_MIDDLE = ("turns", "failures", "lost")
_LEAST_TYPICAL = 3
# What the failures of a group share; a detail that differs by its figures alone is told without them.
_SHARED = ("kind", "stage", "took", "due", "field", "given", "wanted", "owner")
# What makes two groups sound alike wherever they happened; steps without a field go by names of their own scenario.
_WORDS = ("kind", "field", "given", "wanted", "detail", "owner")
_NAMED_ALIKE = pl.col("given").is_not_null() | (pl.col("took").is_null() & pl.col("due").is_null())
_SCENARIO: dict[str, pl.Expr] = {
    "scenario": pl.when(pl.col("scenario").drop_nulls().n_unique() == 1).then(pl.col("scenario").drop_nulls().first()),
    "scenarios": pl.col("scenario").drop_nulls().n_unique().cast(pl.Int64),
}
# A tool is told where all of them failed by it.
_TOOL = pl.when((pl.col("tool").null_count() == 0) & (pl.col("tool").n_unique() == 1)).then(pl.col("tool").first())
_DETAIL = (
    pl.when(pl.col("detail").drop_nulls().n_unique() > 1)
    .then(pl.col("stem").drop_nulls().first())
    .otherwise(pl.col("detail").drop_nulls().first())
)
_ATTEMPTS = pl.col("nth").n_unique().cast(pl.Int64)
_N = pl.len().cast(pl.Int64)
# In how many attempts of a group the verdict stands on a failure of it; in how many people say that it was another's
# doing than the group's owner.
_COUNTED = {
    "deciding": pl.col("nth").filter("decides").n_unique().cast(pl.Int64),
    "disputed": pl.col("nth").filter("another").n_unique().cast(pl.Int64),
}


def _disputes() -> pl.DataFrame:
    """Who else people say did it, an attempt: run_id, attempt_id, others, and these in words (`disputed`)."""
    say_annotations_read()
    return _read_disputes(str(layout.home()), catalogue.version())


@lru_cache(maxsize=4)
def _read_disputes(home: str, version: str) -> pl.DataFrame:
    return ask("""SELECT run_id, attempt_id, list(DISTINCT field) AS others,
            string_agg(DISTINCT field, ', ' ORDER BY field) AS disputed
        FROM annotations_in_force WHERE kind = 'dispute' GROUP BY 1, 2""")


def _list_troubles(view: View) -> pl.DataFrame:
    """The troubles of the attempts under a view: as `troubles.TABLES` says, with nth, and whether the verdict stands on
    it (`decides`) and people say that it was another's doing (`another`)."""
    rows = keep(numbered("troubles"), view)
    told = _disputes()
    rows = rows.with_columns(decides=stands(rows))
    if told.is_empty():
        return rows.with_columns(another=pl.lit(value=False))
    others = number(told).select("nth", "others").explode("others")
    named = rows.select("nth", "owner").unique().join(others, on="nth")
    named = named.filter(pl.col("others").ne_missing(pl.col("owner"))).select("nth", "owner").unique()
    named = named.with_columns(another=pl.lit(value=True))
    rows = rows.join(named, on=["nth", "owner"], how="left", nulls_equal=True, maintain_order="left")
    return rows.with_columns(pl.col("another").fill_null(value=False))


def groups(view: View, limit: int = MOST_GROUPS, full: Sequence[FullScore] = ()) -> pl.DataFrame:
    """Groups of alike failures, those in most attempts first (of those that lost most points, where the view's
    weight is "points"): in how many (`attempts`), how often (`n`), by which `models`, how often by each
    (`by_model`), and what they share. Of attempts, as they are what is listed, and one can fail alike several
    times.

    Alike are failures of one scenario and kind that leave the way at the same stage by the same step, with the same
    value misread; unreadable replies of the same form and a provider's faults in the same words, in any scenario
    (`scenario` is null where there are several, `scenarios` their number); attempts whose end is wrong for the same
    reason, whatever its figures. What happened on the way is left out (see `on_the_way`) unless the view's errors
    name its kind. `of` are all failures under the view, in `of_attempts` attempts, `of_unscored` of them not
    scored; `share` is of these; `elsewhere`: whether the same happened in other scenarios too; `groups` the number
    of groups in all, `level` of those in as many attempts. `lost`: points that the group's attempts are below a
    full score, summed over the `scored` ones among them, by `full`; null where none has a score. `lost_in_all`: the
    points lost by all attempts under the view that are in any group, each counted once; `lost_in_groups` those of
    all groups added up, in which an attempt of several groups counts once in each. `deciding`: in how many of the
    attempts the verdict stands on a failure of the group; `disputed`: in how many of the attempts people say that
    it was another's doing than the group's owner.
    """
    listed = _list_troubles(view.change(alike="")).filter(_counted(view))
    verdicts = look_up(facts().select("verdict"), listed["nth"]).to_series().fill_null("unscored")
    losses = _losses(listed["nth"], view, full)
    lost = listed.select("alike", "nth").unique().join(losses, on="nth").group_by("alike").agg(
        lost=pl.col("lost").sum(), scored=pl.len().cast(pl.Int64)
    )  # fmt: skip
    by_model = listed.group_by("alike", *_SHARED, "model").agg(n=_N).sort("model").group_by("alike", *_SHARED).agg(
        models=pl.col("model"), by_model=pl.struct(key="model", value="n")
    )  # fmt: skip
    of_attempts = listed["nth"].n_unique()
    found = listed.group_by("alike", *_SHARED).agg(
        tool=_TOOL, **_SCENARIO, detail=_DETAIL, n=_N, attempts=_ATTEMPTS, **_COUNTED
    )  # fmt: skip
    keys = ["alike", *_SHARED]
    by_model = by_model.with_columns(pl.col("by_model").cast(pl.Map(pl.String, pl.Int64)))
    found = found.join(by_model, on=keys, nulls_equal=True).join(lost, on="alike", how="left")
    order = ["lost", "attempts"] if view.weight == "points" else ["attempts"]
    return (
        found.with_columns(
            pl.lit(listed.height, pl.Int64).alias("of"),
            groups=pl.lit(found.height, pl.Int64),
            of_attempts=pl.lit(of_attempts, pl.Int64),
            of_unscored=pl.lit(listed["nth"].filter(verdicts == "unscored").n_unique(), pl.Int64),
            share=pl.col("attempts") / of_attempts,
            level=pl.len().over("attempts").cast(pl.Int64),
            elsewhere=_NAMED_ALIKE & (pl.col("scenario").n_unique().over(*_WORDS) > 1),
            scored=pl.col("scored").fill_null(0),
            lost_in_all=pl.lit(losses["lost"].sum() if losses.height else None, pl.Float64),
            lost_in_groups=pl.lit(lost["lost"].sum() if lost.height else None, pl.Float64),
        )
        .sort(*order, "n", "alike", descending=[*(True for _ in order), True, False], nulls_last=True)
        .head(limit)
        .select(
            "alike", *_SHARED, "tool", "scenario", "scenarios", "detail", "n", "attempts", "deciding", "disputed",
            "models", "by_model", "of", "groups", "of_attempts", "of_unscored", "lost", "scored", "share", "level",
            "elsewhere", "lost_in_all", "lost_in_groups",
        )
    )  # fmt: skip


def _counted(view: View) -> pl.Expr:
    """Which troubles count as failures under a view."""
    kinds = [kind for kind in view.errors if kind != "any"]
    if kinds and "any" not in view.errors:
        return pl.col("kind").is_in(kinds)
    return ~pl.col("on_the_way")


def _losses(numbers: pl.Series, view: View, full: Sequence[FullScore]) -> pl.DataFrame:
    """How far the scored ones among these attempts are below a full score: nth, lost."""
    found = score_attempts(numbers.unique(), view, full) if full else pl.DataFrame(schema=_LOSSES)
    if found.is_empty():
        return pl.DataFrame(schema=_LOSSES)
    names = ("benchmark", "task", "metric", "best")
    best = pl.DataFrame({name: [getattr(each, name) for each in full] for name in names})
    found = found.join(best, on=list(names[:-1])).unique("nth", keep="first", maintain_order=True)
    return found.sort("nth").select("nth", lost=(pl.col("best") - pl.col("score")).abs())


_LOSSES = {"nth": pl.UInt32, "lost": pl.Float64}


def on_the_way(view: View, limit: int = MOST_GROUPS) -> pl.DataFrame:
    """What failed on the way without deciding the attempt: refused and malformed tool calls, slips, lost replies.

    Columns: alike, kind, scenario and scenarios (as in `groups`), detail, n, attempts, passed (of these attempts),
    models, groups (in all), of (all that happened). Whatever the view's verdict, for what was mended is told apart.
    """
    rows = _list_troubles(view.change(verdict="", alike="")).filter("on_the_way")
    passed = look_up(facts().select("verdict"), rows["nth"]).to_series() == "passed"
    found = rows.with_columns(passed=passed).group_by("alike", "kind").agg(
        **_SCENARIO, detail=_DETAIL, n=_N, attempts=_ATTEMPTS,
        passed=pl.col("nth").filter(pl.col("passed").fill_null(value=False)).n_unique().cast(pl.Int64),
        models=pl.col("model").unique().sort(),
    )  # fmt: skip
    return (
        found.with_columns(pl.lit(rows.height, pl.Int64).alias("of"), groups=pl.lit(found.height, pl.Int64))
        .sort("n", "alike", descending=[True, False])
        .head(limit)
        .select("alike", "kind", "scenario", "scenarios", "detail", "n", "attempts", "passed", "models", "groups", "of")
    )


def group(view: View) -> dict[str, Any] | None:
    """What the failures of the view's group share (the columns of `groups` that describe), and under the view how often
    they happened (`n`) in how many `attempts`, `deciding` and `disputed` of them; None where there is none."""
    found = _list_troubles(view).filter(pl.col("alike") == view.alike).group_by(_SHARED).agg(
        tool=_TOOL, **_SCENARIO, detail=_DETAIL, n=_N, attempts=_ATTEMPTS, **_COUNTED
    ).sort("n", *_SHARED, descending=[True, *(False for _ in _SHARED)])  # fmt: skip
    return None if found.is_empty() else found.row(0, named=True)


def typical(view: View, full: Sequence[FullScore] = ()) -> dict[str, Any] | None:
    """The attempt nearest to the middle of the view's group: run_id, attempt_id, the first turn of the group's failures
    (`first_turn`), turns, failures (all that decided it), lost (points, by `full`; null where it has no score), and the
    group's medians of these (`mid_turns`, `mid_failures`, `mid_lost`) and how far it reaches (`reach_…`). None of fewer
    than three attempts.

    The middle is the three medians; a distance from one is taken as a share of how far the group reaches in it, and
    they are summed. An attempt without a score is as far from that median as can be where others have one. Of those
    equally near it is the first by id. Where the verdict of any stands on a failure of the group (`deciding`: of how
    many, of `many` in all), it is one of these, and `first_turn` the turn of its verdict.
    """
    rows = _list_troubles(view)
    own = pl.col("alike") == view.alike
    listed = rows.group_by("nth").agg(
        decides=(own & pl.col("decides")).any(),
        first_turn=pl.coalesce(pl.col("turn").filter(own & pl.col("decides")).min(), pl.col("turn").filter(own).min()),
        failures=(~pl.col("on_the_way")).sum().cast(pl.Int64),
    )  # fmt: skip
    if listed.height < _LEAST_TYPICAL:
        return None
    about = look_up(facts().select("run_id", "attempt_id", "turns"), listed["nth"])
    listed = listed.hstack(about).join(_losses(listed["nth"], view, full), on="nth", how="left", maintain_order="left")
    listed = listed.with_columns(
        *(pl.col(name).median().alias(f"mid_{name}") for name in _MIDDLE),
        *((pl.col(name).max() - pl.col(name).min()).alias(f"reach_{name}") for name in _MIDDLE),
    )
    far = pl.sum_horizontal(
        pl.when(pl.col(f"mid_{name}").is_null())
        .then(0.0)
        .when(pl.col(f"reach_{name}") != 0)
        .then((pl.col(name) - pl.col(f"mid_{name}")).abs() / pl.col(f"reach_{name}"))
        .fill_null(pl.when(pl.col(name).is_null() & pl.col(f"mid_{name}").is_not_null()).then(1.0).otherwise(0.0))
        for name in _MIDDLE
    )
    told = [column for name in _MIDDLE for column in (name, f"mid_{name}", f"reach_{name}")]
    found = listed.with_columns(many=pl.len().cast(pl.Int64), deciding=pl.col("decides").sum().cast(pl.Int64))
    found = found.sort("decides", far, "run_id", "attempt_id", descending=[True, False, False, False])
    found = found.select("run_id", "attempt_id", "first_turn", "deciding", "many", *told)
    return found.row(0, named=True)


def main_scores(attempts: pl.DataFrame, mains: Sequence[FullScore]) -> pl.DataFrame:
    """What attempts (run_id, attempt_id) of several benchmarks come to by their tasks' own main figures: run_id,
    attempt_id, score."""
    known = number(attempts)
    scored = score_attempts(known["nth"], View(runs=tuple(attempts["run_id"].unique().sort())), mains)
    return known.select("run_id", "attempt_id", "nth").join(scored.select("nth", "score"), on="nth").drop("nth")


def of_attempt(run_id: str, attempt_id: str) -> pl.DataFrame:
    """What decided one attempt, in the order of its turns: turn, alike, and what the failures of a group share."""
    return ask(
        f"""SELECT turn, alike, detail, scenario, {", ".join(_SHARED)}, tool FROM troubles
        WHERE run_id = $run AND attempt_id = $attempt AND NOT on_the_way ORDER BY turn NULLS FIRST, kind""",
        {"run": run_id, "attempt": attempt_id},
    )


def turns_alike(run_id: str, attempt_id: str, alike: str) -> list[int]:
    """The turns of one attempt on which something of this group failed, whether or not it decided anything."""
    found = ask(
        "SELECT DISTINCT turn FROM troubles WHERE run_id = $run AND attempt_id = $attempt AND alike = $alike "
        "AND turn IS NOT NULL ORDER BY turn",
        {"run": run_id, "attempt": attempt_id, "alike": alike},
    )
    return found["turn"].to_list()


def rows(
    view: View, limit: int = ROWS_A_PAGE, offset: int = 0, less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> Page:  # fmt: skip
    """One page of attempts as `read.attempts`, with `wrong` and `way` (kinds and how often each), first_turn, reason,
    disputed (whose doing people say it was instead).

    `wrong` is what decided the attempt, `way` what failed on the way to its end. `reason` says in words what is wrong
    with what was marked as a whole, or why it could not be marked. `first_turn` is the first one with something wrong.
    """
    page = attempts(view, limit, offset, view.order or "worst", less_is_better, mains)
    # Inside a group of alike failures, or of some kinds, their own turns count, else every turn that went wrong.
    opened = ~pl.col("on_the_way")
    asked = [kind for kind in view.errors if kind != "any"]
    if view.alike:
        opened = pl.col("alike") == view.alike
    elif asked:
        opened = pl.col("kind").is_in(asked)
    found = page.frame
    counted = (
        keep_these(numbered("troubles"), found)
        .group_by("run_id", "attempt_id", "kind", "on_the_way")
        .agg(
            n=pl.len(),
            turn=pl.col("turn").filter(opened).min(),
            reason=pl.col("detail").filter(pl.col("kind").is_in(["answer", "unmarked"])).drop_nulls().sort(),
        )
        .sort("n", "kind", descending=[True, False])
        .group_by("run_id", "attempt_id", maintain_order=True)
        .agg(
            wrong=_SAID.filter(~pl.col("on_the_way")),
            way=_SAID.filter("on_the_way"),
            first_turn=pl.col("turn").min(),
            reason=pl.col("reason").list.join(chr(10)).filter(pl.col("reason").list.len() > 0).first(),
        )
        .with_columns(_or_none("wrong"), _or_none("way"))
    )
    told = _disputes().select("run_id", "attempt_id", "disputed")
    for each in (counted, told):
        found = found.join(each, on=["run_id", "attempt_id"], how="left", maintain_order="left")
    return Page(found, page.total)


_SAID = pl.format("{}:{}", "kind", "n")


def _or_none(name: str) -> pl.Expr:
    return pl.when(pl.col(name).list.len() > 0).then(name).alias(name)


def chosen_set(
    view: View, messages: bool = False, metrics: Sequence[str] = (), less_is_better: bool = False,
    mains: Sequence[FullScore] = (),
) -> pl.DataFrame:  # fmt: skip
    """All attempts of the view as one row each in the order of `rows`, up to MOST_EXPORTED, with these metrics of the
    whole attempt (NAME_scored where an attempt has something else of that name), its verdict, tags and notes, the
    groups of alike failures that it is in (`alike`, as `groups` has them); with all that was said where asked for."""
    listed = list_attempts(view, view.order or "worst", less_is_better, mains).head(MOST_EXPORTED)
    params: dict[str, Any] = {}
    alike = keep_these(numbered("troubles"), listed).filter(_counted(view)).group_by("run_id", "attempt_id").agg(
        pl.col("alike").unique().sort()
    )  # fmt: skip
    said = (
        """, (SELECT list({'turn': m.turn, 'role': m.role, 'text': m.text} ORDER BY m.seq) FROM messages m
            WHERE m.run_id = a.run_id AND m.attempt_id = a.attempt_id) AS messages"""
        if messages
        else ""
    )
    kinds = "list(DISTINCT value ORDER BY value)"
    taken = {name: f"metric_{place}" for place, name in enumerate(dict.fromkeys(metrics))}
    params |= {key: name for name, key in taken.items()}
    columns = [f"max(value) FILTER (metric = ${key}) AS {key}" for key in taken.values()]
    picked = "".join(f"figures.{key}, " for key in taken.values())
    found = ask(
        f"""
        WITH wrong AS (SELECT run_id, attempt_id, {kinds} AS wrong FROM trouble_kinds
            WHERE value <> 'any' GROUP BY 1, 2),
        tagged AS (SELECT run_id, attempt_id, list(value ORDER BY value) AS tags FROM attempt_tags GROUP BY 1, 2),
        noted AS (SELECT run_id, attempt_id, list(value ORDER BY created, id) AS notes FROM annotations_in_force
            WHERE kind = 'note' GROUP BY 1, 2),
        figures AS (SELECT {", ".join(["run_id", "attempt_id", *columns])} FROM scores
            WHERE turn IS NULL GROUP BY 1, 2)
        SELECT a.* EXCLUDE (output, facets, facet_list), {shown_columns()} {picked} wrong.wrong, alike, disputed,
            tags, notes{said}
        FROM attempts a JOIN listed_attempts listed USING (run_id, attempt_id)
            LEFT JOIN wrong USING (run_id, attempt_id) LEFT JOIN figures USING (run_id, attempt_id)
            LEFT JOIN doubted_attempts USING (run_id, attempt_id) LEFT JOIN grouped_attempts USING (run_id, attempt_id)
            LEFT JOIN tagged USING (run_id, attempt_id) LEFT JOIN noted USING (run_id, attempt_id)
        ORDER BY listed.place
        """,
        params,
        {
            "listed_attempts": listed.with_row_index("place").to_arrow(),
            "grouped_attempts": alike.to_arrow(),
            "doubted_attempts": _disputes().drop("others").to_arrow(),
        },
    )
    # A metric may be called as a column of attempts is: `turns` is both.
    return found.rename({key: f"{name}_scored" if name in found.columns else name for name, key in taken.items()})


def to_jsonl(chosen: pl.DataFrame) -> bytes:
    """A chosen set as JSON Lines, one attempt a line."""
    return chosen.with_columns(pl.col("started").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).write_ndjson().encode()


def samples_of(view: View) -> pl.DataFrame:
    """The samples that the view's attempts were made of: benchmark, dataset_id, sample_id, attempts (how many)."""
    condition, params = where(view, "attempts", "a.")
    return ask(
        f"""SELECT a.benchmark, r.dataset_id, a.sample_id, count(*) AS attempts
        FROM attempts a JOIN runs r USING (run_id) WHERE {condition} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
        params,
    )
