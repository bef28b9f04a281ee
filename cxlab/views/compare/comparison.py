"""The parts of the page Compare: sides next to each other, what differs for sure, and the samples behind it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl
import streamlit as st

from cxlab.charts import compare as charts
from cxlab.charts.board import draw_board
from cxlab.charts.history import draw_history
from cxlab.charts.numbers import format_count, format_points, format_time, interval_of
from cxlab.charts.theme import Mark, short_model
from cxlab.read import View, annotations
from cxlab.read.comparison import ranking
from cxlab.read.comparison.corrected import CorrectedRanking
from cxlab.read.comparison.decision import Decision
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import MARKED_STANDING
from cxlab.read.failures import counts
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import begin_metric, head_metric, name_metric, within_sentence
from cxlab.ui.address import cached, has_page, link, open_page
from cxlab.ui.app_frame import dark, zone
from cxlab.ui.boards import with_labels
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import badge, empty, label, plain, say_no_verdict, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import leave_out_floors
from cxlab.views.compare import queries
from cxlab.views.compare.groups import Groups, choose_groups, mark_few, say_groups
from cxlab.views.compare.no_published import show_no_published
from cxlab.views.compare.sides import drawn, marks_of
from cxlab.views.comparison_sets import show_left_out

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_MOST_SAMPLES = 200


def list_groups(about: Declaration, view: View, unit: Unit, facets: Sequence[str]) -> dict[str, str]:
    """What the sides can be grouped by, with its title: "" all together, and facets of several values.

    A facet that stands for the sample's id has too many values, unless one value of the first facet is picked.
    """
    groups = {"": "All together"}
    counts = cached(queries.count_values, view, unit, tuple(facets))
    narrowed = any(len(view.values(facet)) == 1 for facet in facets)
    for name in facets:
        facet = about.facet(name)
        if counts.get(name, 0) > 1 and (narrowed or not (facet and facet.identifies)):
            groups[name] = about.title(name)
    return groups


def show_too_few(about: Declaration, found: Ranking | None, view: View) -> None:
    """Why nothing can be compared under a view, and what there is."""
    if found is None or not found.table.height:
        known = cached(counts, leave_out_floors(view, about))
        if known["unscored"] and known["unscored"] == known["attempts"]:
            told = say_no_verdict(known["unscored"], about.card.unit)
            empty(f"There is nothing to compare: {told}. Failures says why; then try the faults again on Run.")
            link("Why there is no verdict", "failures", view.filters().change(verdict="unscored"))
            return
        empty("Nothing here is scored on this metric. Widen the filters, or choose another metric.")
        return
    row = found.table.row(0, named=True)
    samples = f"{row['samples']:,} sample{'' if row['samples'] == 1 else 's'}"
    lines = [f"{label(row['side'])}: {format_points(row['value'])} over {samples}"]
    lines += [f"{name}: {format_points(value)}" for name, value in found.floors.select("name", "value").iter_rows()]
    told = "Only one model has results on these samples under these conditions, and nobody leads over nobody. "
    empty(f"{told}{plain('; '.join(lines))}. Run another model on the same dataset with the same settings, widen the "
          "filters, or choose a constant agent as a model to compare with.",
          command=f"python -m cxlab run {about.card.id} --model MODEL")  # fmt: skip
    show_left_out([found])


def show_scores(
    about: Declaration, view: View, unit: Unit, by: str, title: str, named: Mapping[str, str], beside: bool,
    between: Decision, corrected: CorrectedRanking | None = None,
) -> Groups:  # fmt: skip
    """Means with intervals, side by side, group by group; constant agents are dotted lines. Where there are no groups
    the `corrected` means stand below those as judged. `between`: the two by whom groups are put in order. The groups,
    as they stand in the chart."""
    card = about.card
    found = cached(queries.table, view, unit, by)
    frame = found.filter(pl.col("side").is_in(list(named)))
    titles = {floor.model: floor.name for floor in about.floors}
    constant = pl.col("side").is_in(about.floor_models) & ~pl.col("side").is_in(list(named))
    lines = found.filter(constant).select("grp", value="mean", name=pl.col("side").replace(titles))
    if unit == "run_id" and not by and (judged := cached(queries.ranked, view, unit)) is not None:
        lines = judged.floors.select(grp=pl.lit(""), value="value", name="name")
    section(
        f"{plain(begin_metric(title))} {'by ' + plain(about.title(by).lower()) if by else 'side by side'}",
        "Mean over samples, each counting once, with 95 % intervals"
        + (" that stay within the metric's scale." if card.scale(view.metric) else "."),
    )
    less = view.metric in card.lower_is_better
    groups = choose_groups(about, frame, by, between.leader, between.rival, less)
    if by and (words := say_groups(about, by, groups, cached(queries.alike, view, unit, by))):
        st.caption(plain(words))
    shown = None
    if beside:
        # Of several tasks, a paper's leaderboard tells the one that says so.
        told = [task.paper for task in card.tasks if task.paper] or [task.metric for task in card.tasks]
        headline = told[0] if len(told) == 1 else ""
        narrowed = tuple(value for _, values in view.facets for value in values)
        shown = queries.published_points(card.id, view.metric, headline, by, tuple(groups.shown), narrowed)
        if shown.is_empty():
            show_no_published(card.id)
        else:
            badge("published", "grey diamonds: printed in the paper, on other data; not paired")
    floors = pl.concat([lines, cached(queries.floors, view, by)])
    for name, value in ranking.zero_of(about, view.metric):
        drawn_at = pl.DataFrame({"grp": found["grp"].unique().sort()})
        floors = pl.concat([floors, drawn_at.with_columns(value=pl.lit(value), name=pl.lit(name))])
    marked = marks_of(unit, named)
    if by or shown is not None:
        figure = charts.draw_scores(
            drawn(frame, unit, named), card.scale(view.metric), title, mark_few(groups), marked, dark(), shown, floors,
            groups.few,
        )  # fmt: skip
    else:
        if corrected is not None:
            frame, named, marked = _add_corrected(frame, corrected, unit, named, marked)
        figure = _draw_sides(about, drawn(frame, unit, named), view.metric, title, marked, named, floors)
    if floors.height:
        st.caption(f"Dotted, constant agents: {plain('; '.join(_explain_floors(about, floors)))}.")
    columns = {
        "name": column("Model"),
        "group": column("Group"),
        "mean": column("Mean", "points"),
        "low": column("95 % from", "points"),
        "high": column("to", "points"),
        "n": column("Samples", "count"),
    }
    rows = name_sides(frame, named, groups.names if by else {})
    show_chart(
        figure, rows, key=f"compare-scores-{by}", alt=f"{title} by model with intervals.", columns=_without(columns, by)
    )
    return groups


def _explain_floors(about: Declaration, floors: pl.DataFrame) -> list[str]:
    """The constant agents that a chart draws, those that ran with what they do."""
    does = {floor.name: within_sentence(floor.meaning.rstrip(".")) for floor in about.floors}
    found = floors["name"].unique(maintain_order=True).to_list()
    return [f"{name}: {does[name]}" if name in does else name for name in found]


def _add_corrected(
    frame: pl.DataFrame, corrected: CorrectedRanking, unit: Unit, named: Mapping[str, str], marked: Mapping[str, Mark]
) -> tuple[pl.DataFrame, dict[str, str], dict[str, Mark]]:
    """The sides with a row of their own for each one's corrected mean, in its colour."""
    words = ", corrected"
    own = corrected.ranking.table.filter(pl.col("side").is_in(frame["side"].implode()))
    rows = own.select(pl.col("side") + words, grp=pl.lit(""), mean="value", low="low", high="high", n="samples",
                      clusters="samples")  # fmt: skip
    both = {side + words: name + words for side, name in named.items()}
    drawn_as = named if unit == "run_id" else {side: side for side in named}
    marks = {key: marked[key] for key in drawn_as.values() if key in marked}
    new = {(both[side + words] if unit == "run_id" else side + words): marks[key] for side, key in drawn_as.items()
           if key in marks}  # fmt: skip
    return pl.concat([frame, rows.select(frame.columns)]), {**named, **both}, {**marked, **new}


def _draw_sides(
    about: Declaration, frame: pl.DataFrame, metric: str, title: str, marked: Mapping[str, Mark],
    named: Mapping[str, str], floors: pl.DataFrame,
) -> "Figure":  # fmt: skip
    """A row a side, its name and value beside it, so that there is no legend to look up."""
    board = frame.select(
        model=pl.col("side"), simulated=pl.lit(False), samples="n",
        **{metric: "mean", f"{metric}_low": "low", f"{metric}_high": "high"},
    ).sort(metric, descending=metric not in about.card.lower_is_better)  # fmt: skip
    lines = list(floors.select("name", "value").unique(maintain_order=True).iter_rows())
    told = {**{name: name for name in named.values()}, **named}
    return draw_board(board, metric, marked, dark(), title, lines, about.card.scale(metric), told)


def show_gaps(
    about: Declaration, gaps: pl.DataFrame, unit: Unit, by: str, title: str, named: Mapping[str, str], baseline: str,
    groups: Groups,
) -> None:  # fmt: skip
    """Paired differences with verdicts, as chart and table."""
    shared = f" of whole {about.cluster.plural}" if about.cluster else " of samples"
    tested = gaps.filter(pl.col("verdict") != "too few").height
    section(
        f"Differences from {plain(named[baseline])} on the same samples",
        f"Paired by sample. Intervals and p by flipping signs{shared} (closed form from {ranking.MANY:,} on), both "
        f"corrected for {tested} comparisons (Bonferroni): a difference is real where its interval is clear of 0."
        if tested else "Paired by sample. No group is large enough for a test, so no difference here is known to be "
        "real.",
    )  # fmt: skip
    written = baseline if unit == "model" else named[baseline]
    figure = charts.draw_differences(
        drawn(gaps, unit, named), title, written, mark_few(groups), marks_of(unit, named), dark()
    )
    show_chart(figure, gaps, key=f"compare-gaps-{by}", alt="Paired differences from the baseline.", table=False)
    places = {group: place for place, group in enumerate(groups.names)}
    # The page says further up who is simulated: here the word would push the last column out of sight at 1024.
    brief = {side: name.removesuffix(" · simulated") for side, name in named.items()}
    rows = name_sides(gaps, brief, groups.names if by else {}).with_columns(
        verdict=pl.col("verdict").replace_strict(MARKED_STANDING),
        results=pl.format("{} / {} / {}", "wins", "ties", "losses"),
        interval=interval_of(gaps, "low", "high"),
        place=pl.col("grp").replace_strict(places, default=len(places), return_dtype=pl.Int64),
    )
    columns = {
        "name": column("Model"),
        "group": column("Group"),
        "verdict": column("Verdict", help="Ahead of or behind the baseline at 5 % after correction."),
        "difference": column("Difference", "points"),
        "interval": column("95 % interval"),
        "p_corrected": column("p", "p", "Corrected for the number of comparisons (Bonferroni)."),
        "results": column("Won / tied / lost", help="Samples on which it did better, the same, worse."),
        "n": column("Samples", "count"),
        "detectable": column("Finds from", "points", "Smallest difference found in four cases out of five."),
    }
    shown = rows.sort("place", "difference", descending=[False, True], nulls_last=True).drop("place")
    show_table(shown, _without(columns, by), key=f"compare-gaps-table-{by}", alt="Paired differences with verdicts.")


def show_profile(about: Declaration, view: View, unit: Unit, named: Mapping[str, str]) -> None:
    """What makes up the headline, as parallel coordinates."""
    parts = [part for part in about.card.parts if about.card.scale(part)]
    scales = {part: scale for part in parts if (scale := about.card.scale(part))}
    frame = cached(queries.profile, view, tuple(parts), unit).filter(pl.col("side").is_in(list(named)))
    if frame.is_empty():
        empty("This benchmark has no parts to set side by side.")
        return
    wide = pl.col("metric").replace_strict({part: high - low for part, (low, high) in scales.items()})
    spread = frame.group_by("metric").agg(gap=(pl.col("mean").max() - pl.col("mean").min()) / wide.first())
    widest = spread.sort("gap", "metric")["metric"][-1]
    meaning = about.card.metrics.get(widest, "")
    section(
        f"The models differ most in {name_metric(widest)}",
        "Each axis runs over its metric's whole scale. " + plain(f"{name_metric(widest)}: {meaning}"),
    )
    names = {metric: head_metric(metric) for metric in parts}
    columns = {
        "name": column("Model"),
        "part": column("Metric"),
        "mean": column("Mean", "points"),
        "low": column("95 % from", "points"),
        "high": column("to", "points"),
        "n": column("Samples", "count"),
    }
    rows = name_sides(frame, named, {}).with_columns(
        part=pl.col("metric").replace_strict(names, default=pl.col("metric"))
    )
    figure = charts.draw_profile(drawn(frame, unit, named), names, scales, marks_of(unit, named), dark())
    show_chart(figure, rows, key="compare-profile", alt="Parts of the headline by model.", columns=columns)


def show_front(
    about: Declaration, board: pl.DataFrame, unit: Unit, ranked: Ranking, title: str, named: Mapping[str, str]
) -> None:
    """Quality against cost, or against time where nothing has a price."""
    metric, less_is_better = ranked.task.metric, not ranked.task.higher_is_better
    one, many = about.card.unit
    priced = bool((board["cost_usd"] > 0).any())
    price = "cost_usd" if priced else "latency_s"
    if priced:
        options = {"cost_usd": "Cost", "latency_s": "Time"}
        price = choose_id("price", "Price", list(options), options.__getitem__, style="segments")
    front = charts.front_of(board, price, less_is_better)
    if front.is_empty():
        empty(
            f"Which model is worth its price? This stands here once real models have run: what stand-ins cost and how "
            f"long they take says nothing of a real {one}.",
            command=f"python -m cxlab run {about.card.id} --model MODEL",
        )
        return
    known, what = board[price].drop_nulls().len(), "cost" if price == "cost_usd" else "time"
    section(
        f"{len(front)} of {known} are worth their {what}: " + plain(", ".join(named[side] for side in front["side"])),
        "None of the others is both at least as cheap and better."
        + ("" if priced else " Nothing here has a price, so time stands for it."),
    )
    columns = {
        "name": column("Model"),
        "value": column(title, "points"),
        "low": column("95 % from", "points"),
        "high": column("to", "points"),
        "cost_usd": column("Cost", "usd", f"Mean of one {one}, judges left out."),
        "latency_s": column("Time", "seconds", f"Mean of one {one}."),
        "attempts": column(many.capitalize(), "count"),
    }
    scale, marked = about.card.scale(metric), marks_of(unit, named)
    floors = ranking.floors_of(about, ranked)
    figure = charts.draw_front(
        drawn(board, unit, named), scale, title, price, marked, dark(), less_is_better, one, floors
    )
    show_chart(figure, name_sides(board, named, {}), key="compare-front", alt="Quality against price.", columns=columns)


def show_trials(about: Declaration, view: View, unit: Unit, named: Mapping[str, str]) -> None:
    """pass^k, where samples were tried more than once."""
    frame = cached(queries.trials, view, unit).filter(pl.col("side").is_in(list(named)))
    if frame.is_empty():
        empty(
            "Does a model always get it right, or only sometimes? With several trials a sample this shows how fast "
            "reliability falls: the share of samples that k trials in a row get right (pass^k).",
            command=f"python -m cxlab run {about.card.id} --model simulated:strong --limit 30 --trials 4",
        )
        return
    section(
        "How reliable is it when asked again and again?",
        "pass^k: the chance that k trials of a sample all pass (pass^1: that one does), unbiased, mean over samples. A "
        "trial passes by the verdict that is stored with it.",
    )
    columns = {
        "name": column("Model"),
        "k": column("k", "count"),
        "share": column("pass^k", "share", "The chance that k trials of a sample all pass; pass^1: that one does."),
        "samples": column("Samples", "count"),
    }
    figure = charts.draw_trials(drawn(frame, unit, named), marks_of(unit, named), dark())
    show_chart(figure, name_sides(frame, named, {}), key="compare-trials", alt="pass^k by k.", columns=columns)


def show_history(about: Declaration, view: View, unit: Unit, title: str, named: Mapping[str, str]) -> None:
    """The headline over time: each run of the set, identical ones once."""
    frame = cached(queries.history, view, unit)
    if frame.is_empty():
        empty("Each run of these sides will stand here by when it was made.")
        return
    called = cached(annotations.run_names)
    frame = frame.with_columns(
        side=pl.col("model") if unit == "model" else pl.col("run_id"),
        called=pl.col("run_id").replace_strict(called, default=None, return_dtype=pl.String),
    )
    again = int(frame["runs"].sum()) - frame.height
    section(
        f"{plain(begin_metric(title))} over time: {format_count(frame.height)} "
        f"run{'' if frame.height == 1 else 's'} by when they were made",
        ("Runs under the conditions of this comparison. " if unit == "model" else "The runs that are compared. ")
        + "Joined are runs of one model under the same conditions; whiskers are 95 % intervals."
        + (f" {again} made no difference: their outcome is another run's throughout, and they count with it once."
           if again else ""),
    )  # fmt: skip
    beside = {
        run: name or named.get(side) or short_model(model)
        for run, name, side, model in frame.select("run_id", "called", "side", "model").iter_rows()
    }
    columns = {
        "called": column("Name", help="As somebody called the run."),
        "name": column("Model"),
        "created": column("Made", "time"),
        "value": column(begin_metric(title), "points"),
        "low": column("95 % from", "points"),
        "high": column("to", "points"),
        "samples": column("Samples", "count", "Of the comparison's, with a result in this run."),
        "runs": column("Identical", "count", "Runs with the same outcome throughout, this one among them."),
        "run_id": column("Run", "id"),
    }
    if not called:
        del columns["called"]
    rows = with_labels(frame)
    alt = f"{title} of runs over time."
    made = frame["created"].dt.truncate("1m").unique()
    if len(made) < 2:
        # As a chart that would be a column of dots beside an empty plot.
        st.caption(f"All of one time, {format_time(made[0], zone())}: there is no course to draw yet.")
        chosen = show_table(rows, columns, key="compare-history", alt=alt, select="single")
        picked = [[each["run_id"]] for each in chosen]
    else:
        figure = draw_history(
            drawn(frame, unit, named), about.card.scale(view.metric), title, marks_of(unit, named), beside, dark(),
            ranking.zero_of(about, view.metric),
        )  # fmt: skip
        picked = show_chart(figure, rows, key="compare-history", alt=alt, columns=columns, select=True)
    if picked and has_page("failures"):
        open_page("failures", View(benchmark=about.card.id, runs=(str(picked[0][0]),), verdict="all"))


def name_sides(frame: pl.DataFrame, named: Mapping[str, str], groups: Mapping[str, str]) -> pl.DataFrame:
    """The frame with `name` of each side, and `group` of each value of the facet."""
    shown = frame.with_columns(name=pl.col("side").replace_strict(dict(named), default=pl.col("side")))
    return (
        shown.with_columns(group=pl.col("grp").replace_strict(dict(groups), default=pl.col("grp"))) if groups else shown
    )


def _without(columns: dict[str, object], by: str) -> dict[str, object]:
    return columns if by else {name: config for name, config in columns.items() if name != "group"}
