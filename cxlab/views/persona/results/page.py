"""The Persona lab's results over runs: what a persona, what is told of it and a voice do to the figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation import baselines as floors
from cxlab.benchmarks.mmtaup2.evaluation import left_undecided, measured_metrics, results
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.ui.address import cached, link, open_page
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import is_new
from cxlab.ui.labels import ROUNDED, badge, empty, label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import published_tables
from cxlab.views.like_run import form_of
from cxlab.views.persona.queries import BENCHMARK, list_runs
from cxlab.views.persona.results import charts, undecided_words
from cxlab.views.persona.results import labels as terms
from cxlab.views.persona.results.runs import LikeWithLike, count_alike, offer_others
from cxlab.views.persona.results.selection import ALL, FILTERS, ResultSelection, best_first, set_scene

_COMMAND = (
    "python -m cxlab run mmtaup2 --model simulated:strong --model simulated:weak\n"
    "python -m cxlab run mmtaup2 --model simulated:floor-transfer --model simulated:floor-nothing"
)
_OPEN = ("undecided", "least", "most")
_CELL = ("value", "low", "high", "n", "tasks", *_OPEN)
_VERDICTS = {"better": "✓ better", "worse": "✕ worse", "cannot tell": "? cannot tell"}


def show_results() -> None:
    """Runs side by side by persona, exposure, modality or domain: finding, chart, differences, all figures."""
    known = cached(list_runs)
    if known.is_empty():
        empty(
            "Once an agent has played the tasks with every persona, told nothing or something of the customer, by "
            "text and by voice, this shows what each of them does to it: mm-tap, pass^k, the twelve metrics, and "
            "which differences are real.",
            command=_COMMAND,
        )
        link("Start an evaluation", "run", also={"bench": BENCHMARK})
        return
    scene = set_scene(known)
    if not scene.sides:
        empty("Choose a run in the sidebar.")
        return
    _warn(known, scene)
    offer_others(known, scene.runs)
    with st.spinner("Reading the runs"):
        whole, parts = scene.table(scene.runs, ()), scene.table(scene.runs, (scene.by,))
        gaps = cached(
            results.make_differences, best_first(scene, whole), (scene.metric,), weights=scene.weights,
            only=scene.only, prefix=scene.prefix,
        )  # fmt: skip
    frame = pl.concat([whole.with_columns(grp=pl.lit(ALL)), parts.rename({scene.by: "grp"})], how="diagonal")
    frame = left_undecided.add_bounds(frame, ["run_id", "grp"])
    frame, gaps = scene.named(frame), scene.named(gaps)
    _show_sure(scene)
    alike = count_alike(scene.runs, scene.by, scene.only, scene.prefix, scene.metric)
    _show_figures(scene, frame, gaps, alike)
    _show_differences(scene, gaps, undecided_words.has_bounds(frame.filter(metric=scene.metric)))
    _show_all(scene, frame, alike)


def _warn(known: pl.DataFrame, scene: ResultSelection) -> None:
    chosen = known.filter(pl.col("run_id").is_in(list(scene.stored)))
    if chosen["dataset_id"].n_unique() > 1:
        st.caption("! These runs are on different data: what sets them apart may be the tasks.")
    told = cached(_exact, scene.runs, scene.prefix)
    if loose := [name for name, run in scene.sides.items() if not told[run]]:
        st.caption(
            plain(
                f"! {', '.join(map(label, loose))}: scored before observations were counted, so each conversation "
                "weighs alike. Run it again for pooled figures."
            )
        )


def _say_which(scene: ResultSelection) -> str:
    """Of how many conversations each run tells; what Overview and Compare say is of those that all models have."""
    sizes = {row["run_id"]: row["conversations"] for row in cached(list_runs).iter_rows(named=True)}
    of = {name: sum(sizes.get(run, 0) for run in key.split(results.TOGETHER)) for name, key in scene.sides.items()}
    each = ", ".join(f"{format_count(n)} of {label(name)}" for name, n in of.items())
    if scene.only:
        return (
            f"Of those that the filters leave of the runs' conversations (in all {each}); Overview and Compare filter "
            "nothing and count those that all models have."
        )
    return (
        f"Of all conversations of these runs ({each}), personas and ways to speak together; "
        "Overview and Compare count those that all models have."
    )


def _exact(runs: Sequence[str], prefix: str) -> dict[str, bool]:
    return {run: told.exact for run, told in results.load(runs, prefix).items()}


def _show_sure(scene: ResultSelection) -> None:
    """What the factor changes for sure in any of turns, words that adapt and goals, before any one figure."""
    if scene.by not in results.LEVELS:
        return
    found = {
        name: cached(
            results.make_differences, (run,), ("pass", "turns", "adaptation"), (scene.by,), only=scene.only,
            prefix=scene.prefix,
        )
        for name, run in scene.sides.items()
    }  # fmt: skip
    told = {name: words for name, gaps in found.items() if (words := terms.say_sure(scene.by, gaps))}
    if not told:
        return
    # In the order of the models, whichever figure is looked at: the sentence stays where it is.
    (first, words), *others = told.items()
    rest = "; ".join(f"{short_model(name)}: {words[:1].lower()}{words[1:]}" for name, words in others)
    finding = (f"{short_model(first)}: " if len(scene.sides) > 1 else "") + words[:1].lower() + words[1:]
    # The stage tells the same of a part of these conversations: that it is another base stands in the sentence.
    section(
        plain(f"{terms.say_base(scene.by, scene.only)}: {finding}"),
        plain(
            (f"{rest}. " if rest else "")
            + "Of all pairs of conversations that are alike but for this; Dialogues tells of those like the ones on "
            f"its stage alone. Corrected for {found[first].height} comparisons of each model."
        ),
    )  # fmt: skip


def _show_figures(scene: ResultSelection, frame: pl.DataFrame, gaps: pl.DataFrame, alike: LikeWithLike) -> None:
    """The finding, the chart of the chosen figure with floors and published cells, and its table."""
    rows = frame.filter(metric=scene.metric)
    bounds = undecided_words.has_bounds(rows)
    section(
        terms.find(scene.metric, scene.by, rows.filter(grp=ALL), gaps),
        plain(
            f"{alike.told} {terms.define(scene.metric)} {'As the judges see it. ' if scene.prefix else ''}"
            f"{f'{undecided_words.EXPLAINED} ' if bounds else ''}Whiskers: 95 % intervals, tasks as clusters."
        ),
        ["simulated"] if any(mark.simulated for mark in scene.marks.values()) else [],
    )
    groups = _groups(scene, frame, alike.all if alike.told else "All together")
    lines = _floor_lines(scene)
    cells = terms.published_cells(scene.metric, scene.by, scene.only)
    beside = False
    if cells.height:
        beside = st.toggle(
            "Show published figures", key="results-published", help="Other tasks, agents and judges: to look at only."
        )
    parts = rows.filter(pl.col("grp") != ALL)
    if parts["value"].null_count() == parts.height:
        st.info(plain(terms.explain_nothing(scene.metric, scene.by, parts)))
    if rows["value"].null_count() < rows.height:
        shares = results.is_share(scene.metric)
        figure = charts.draw_results(
            rows, scene.title, groups, scene.marks, dark(), floors=lines, shares=shares,
            published=cells if beside else cells.clear(), percent=scene.metric in terms.PERCENT,
            digits=1 if scene.metric == "turns" else None,
        )  # fmt: skip
        key = f"results-chart-{scene.by}"
        twin = _readable(scene, rows, groups)
        columns = {name: shape for name, shape in _twin_columns(scene).items() if name in twin.columns}
        picked = show_chart(
            figure, twin, key=key, columns=columns, select=True,
            alt=f"{scene.title} by {scene.by} and model, with 95 % intervals.",
        )  # fmt: skip
        _explain_lines(scene, lines)
        st.caption(plain(_say_which(scene)))
        if len(scene.runs) > 1:
            link(
                "These runs on Compare: a task at a time, the samples that all of them have",
                "compare",
                View(benchmark=BENCHMARK, runs=scene.stored),
            )
        if is_new(key, picked):
            open_page("failures", _behind(scene, *map(str, picked[0][:2])))
    if beside:
        badge("published", "grey diamonds: " + terms.SOURCE)


def _groups(scene: ResultSelection, frame: pl.DataFrame, together: str) -> dict[str, str]:
    """Names of the levels that there are, in their order; imported runs may have domains of their own."""
    there = set(frame["grp"])
    names = {ALL: together} | terms.levels(scene.by)
    names |= {group: label(group) for group in sorted(there - names.keys())}
    return {group: name for group, name in names.items() if group in there}


def _behind(scene: ResultSelection, group: str, side: str) -> View:
    """The conversations that a dot stands for."""
    levels = scene.only | ({} if group == ALL else {scene.by: int(group) if scene.by == "exposure" else group})
    filters: dict[str, Any] = {FILTERS[factor]: (str(level),) for factor, level in levels.items()}
    if "exposure" in levels:
        filters["exposure"] = (exposure_facet(levels["exposure"]),)
    return View(benchmark=BENCHMARK, runs=tuple(scene.sides[side].split(results.TOGETHER))).narrow(**filters)


def _floor_lines(scene: ResultSelection) -> pl.DataFrame:
    """grp, value, name, whole of the floors; of an undefined composite what its other parts come to."""
    runs = tuple(scene.floors.values())
    names = {run: name for name, run in scene.floors.items()}
    parts = [
        scene.table(runs, by)
        .filter(metric=scene.metric)
        .select(
            grp=pl.col(by[0]) if by else pl.lit(ALL),
            value=pl.coalesce("value", "partial"),
            name=pl.col("run_id").replace_strict(names, default="", return_dtype=pl.String),
            whole=pl.col("value").is_not_null(),
        )
        for by in (((), (scene.by,)) if runs else ())
    ]
    schema = {"grp": pl.String, "value": pl.Float64, "name": pl.String, "whole": pl.Boolean}
    return pl.concat(parts).drop_nulls("value") if parts else pl.DataFrame(schema=schema)


def _explain_lines(scene: ResultSelection, lines: pl.DataFrame) -> None:
    told = "A dot opens its conversations."
    if not scene.floors and not set(scene.sides) & set(floors.BASELINES):
        st.caption(f"{told} Constant agents, which do nothing or hand everybody over, were not run on this data.")
        if form := form_of(scene.stored[0], tuple(floors.BASELINES)):
            link("Run the constant agents on the same", "run", also=form)
        return
    known = [
        f"an agent that {row['name']} {terms.write_value(scene.metric, row['value'])}"
        + ("" if row["whole"] else " (of the parts it has)")
        for row in lines.filter(grp=ALL).iter_rows(named=True)
    ]
    st.caption(plain(told + (f" Broken lines are floors: {'; '.join(known)}." if known else "")))


def _readable(scene: ResultSelection, rows: pl.DataFrame, groups: Mapping[str, str]) -> pl.DataFrame:
    """Rows with names in the order of the chart."""
    place = {group: at for at, group in enumerate(groups)}
    names = {group: name.replace("<br>", ", ") for group, name in groups.items()}
    return (
        rows.with_columns(
            name=name_each(rows["side"], label),
            group=pl.col("grp").replace_strict(names, default=pl.col("grp")),
            figure=pl.lit(scene.title),
            at=pl.col("grp").replace_strict(place, default=99, return_dtype=pl.Int64),
        )
        .sort("at", "side")
        # Where all is decided, nothing is said of it.
        .drop("at", scene.by, *(name for name in _OPEN if rows[name].null_count() == rows.height), strict=False)
    )


def _twin_columns(scene: ResultSelection) -> dict[str, Any]:
    return {
        "name": column("Model"),
        "group": column(scene.by.capitalize()),
        "value": column(scene.title, "ratio"),
        "low": column("95 % from", "ratio"),
        "high": column("to", "ratio"),
        "n": column("n", "count", "Observations; of mm-tap and of comparisons of voice with text: conversations."),
        "tasks": column("Tasks", "count"),
        "reason": column("Why none", help="Where there is no value."),
        "undecided": column("Undecided", "ratio", "The share that the wording leaves open and no judge decides."),
        "least": column("At least", "ratio", "If all that is undecided were a no; where that is much."),
        "most": column("At most", "ratio", "If all of it were a yes."),
        "partial": column("Of its parts", "ratio", "mm-tap of the parts that are defined; not comparable."),
    }


def _show_differences(scene: ResultSelection, gaps: pl.DataFrame, bounds: bool) -> None:
    """Levels of the factors against plainer ones, on the same tasks."""
    if gaps.is_empty():
        if scene.metric in measured_metrics.PAIRED or scene.metric.startswith("pass^"):
            st.caption(
                plain(
                    f"{scene.title} compares conversations and has no value of a single one, so no paired difference "
                    "is told; look at mm-tap or the pass rate."
                )
            )
        return
    real = gaps.filter(pl.col("verdict") != "cannot tell").height
    section(
        plain(f"{scene.title}: {real} of {gaps.height} differences are sure"),
        (undecided_words.ON_DIFFERENCES if bounds else "")
        + "Conversations that are alike but for one thing; in the first rows for the model. Intervals and p by "
        "swapping the two sides of whole tasks at random (mm-tap: bootstrap), both corrected for all rows. Sure: clear "
        "of 0.",
    )
    if told := terms.say_exposure(gaps, "what passed" if scene.metric == "pass" else scene.title):
        st.markdown(plain(told))
    rows = gaps.with_columns(
        pair=pl.format("{}|{}|{}", "factor", "level", "base"),
        name=name_each(gaps["side"], label),
        shown=pl.col("verdict").replace_strict(_VERDICTS),
    )
    sides = {run: short_model(name) for name, run in scene.sides.items()}
    runs = rows.filter(factor="run").select("pair", "level", "base").unique(maintain_order=True).iter_rows()
    names = {pair: f"{sides[level]}<br>against {sides[base]}" for pair, level, base in runs}
    names |= {f"{f}|{level}|{base}": terms.pair_name(f, level, base) for f, level, base in terms.pairs()}
    figure = charts.draw_differences(
        rows, scene.title, names, scene.marks, dark(), percent=scene.metric in terms.PERCENT
    )  # fmt: skip
    columns = {
        "comparison": column("Compared", width="medium"),
        "name": column("Model"),
        "shown": column("Verdict", help="Better or worse at 5 % after correction."),
        "difference": column("Difference", "ratio", ROUNDED),
        "low": column("95 % from", "ratio"),
        "high": column("to", "ratio"),
        "p_corrected": column("p, corrected", "p"),
        "n": column("Pairs", "count"),
        "tasks": column("Tasks", "count"),
    }
    plain_names = {pair: name.replace("<br>", " ") for pair, name in names.items()}
    rows = rows.with_columns(comparison=pl.col("pair").replace_strict(plain_names, default=pl.col("pair")))
    alt = f"Differences of {scene.title} between personas, exposures and modalities on the same tasks."
    show_chart(figure, rows.drop("run_id", "pair"), key="results-gaps", alt=alt, columns=columns)


def _show_all(scene: ResultSelection, frame: pl.DataFrame, alike: LikeWithLike) -> None:
    """Every figure of one side, a column a level, as the paper's tables have it."""
    side = next(iter(scene.sides))
    note = "Value with its 95 % interval, ≥ and ≤ bounds where much is undecided; – where nothing was there to observe."
    section("All figures", plain(f"{note} {alike.told}".strip()))
    if len(scene.sides) > 1:
        side = (
            st.segmented_control(
                "Model", list(scene.sides), default=side, required=True,
                format_func=lambda each: plain(label(each)), key="results-side",
                label_visibility="collapsed",
            )
            or side
        )  # fmt: skip
    own = frame.filter(side=side)
    order = [*results.FIGURES[:1], *sorted(m for m in own["metric"].unique() if m.startswith("pass^"))]
    order += [name for name in results.FIGURES[1:] if name != "pass"]
    order += [name for name in measured_metrics.EXTRA if name not in results.FIGURES]
    groups = _groups(scene, own, "All" if alike.told else "All together")
    cells = {(row["metric"], row["grp"]): row for row in own.iter_rows(named=True)}
    rows = []
    for metric in order:
        first = cells.get((metric, ALL))
        if first is None:
            continue
        row: dict[str, Any] = {"figure": terms.title(metric), "n": first["n"]}
        for group in groups:
            cell = cells.get((metric, group), {})
            row[group] = terms.write_cell(cell)
            row |= {f"{group}_{name}": cell.get(name) for name in _CELL}
        rows.append(row | {"definition": terms.define(metric)})
    columns = {"figure": column("Figure")}
    columns |= {group: column(name) for group, name in groups.items()}
    columns |= {"n": column("n, all", "count")}
    table = pl.DataFrame(rows, infer_schema_length=None)
    key = f"results-all-{scene.by}-{list(scene.sides).index(side)}"
    show_table(table, columns, key=key, alt=f"All figures of {side} by {scene.by}.", height="content")
    with st.expander("How each figure is counted"):
        st.markdown("\n".join(f"- {plain(row['figure'])}: {plain(row['definition'])}" for row in rows))
    for paper in published_tables(BENCHMARK):
        if paper.id in ("table2", "table5"):
            terms.show_paper(paper)
