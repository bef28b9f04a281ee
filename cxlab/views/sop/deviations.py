"""The parts of the page SOP paths: each draws one question, and leads from its marks to the turns behind them."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View, failure_kinds
from cxlab.records.procedure import Procedure
from cxlab.ui.address import cached, link, marks, open_page, set_view, view
from cxlab.ui.app_frame import dark, read_window, screen
from cxlab.ui.boards import with_labels
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.sop import charts, queries, queries_chosen_turns, queries_difference, queries_turns
from cxlab.views.sop.branching import follow, show_confusion
from cxlab.views.sop.charts_variants import BADGES, badge_of, draw_variants
from cxlab.views.sop.difference_words import say_difference
from cxlab.views.sop.map.charts import ORDER, READS, draw_map, fit
from cxlab.views.sop.map.difference import draw_difference
from cxlab.views.sop.map.layout import name_whole

_NO_WAYS = "No turn of this selection has a way that could be set beside the reference."
_MOST_TURNS = 200
# What a page for an audience has at both sides of a map, above it, and of that a line below the headline.
_RIMS_PX, _HEAD_PX, _LINE_PX = 80, 164, 28
_MOST_VARIANTS = 12
_QUADRANTS = {
    "right>right": "Right result, right way",
    "right>wrong": "Right result, wrong way",
    "wrong>right": "Wrong result, right way",
    "wrong>wrong": "Wrong result, wrong way",
}
_ENDS = {"expected": "Expected", "taken": "Taken"}
_SHARES = {
    "n": column("n turns", "count"),
    "of": column("of", "count"),
    "share": column("Share", "share"),
    "low": column("95 % from", "share"),
    "high": column("to", "share"),
}
_STEP = {"source": column("From"), "target": column("To"), "kind": column("Move"), "n": column("n turns", "count")}


def show_turns(current: View, procedure: Procedure, *kinds: str) -> None:
    """The turns behind what was clicked, where it was a mark of these kinds; a row opens its dialogue."""
    pick = current.stage
    if queries_turns.kind_of(pick) not in kinds:
        return
    found = cached(queries_turns.turns, current, pick, _MOST_TURNS)
    parts = [name_whole(procedure, part) for part in queries_turns.parts_of(pick) if part]
    if queries_turns.kind_of(pick) == "error":
        parts = [failure_kinds.classes(current.benchmark).get(part, (part, ""))[0] for part in parts]
    elif pick.removeprefix("result=") in _QUADRANTS:
        parts = [_QUADRANTS[pick.removeprefix("result=")]]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            many = f", the first {_MOST_TURNS} listed" if found.total > _MOST_TURNS else ""
            st.markdown(
                f"**{plain(' → '.join(parts))}**: {format_count(found.total)} turns, wrong ones first{many}. "
                "Select a row to open its dialogue.",
                width="stretch",
            )
            if st.button("Close", key=f"sop-close-{kinds[0]}", type="tertiary"):
                set_view(current.change(stage=""))
                st.rerun()
        if not found.total:
            return
        rows = with_labels(found.frame).with_columns(
            here=pl.when("wrong").then(pl.lit("✕ wrong")).otherwise(pl.lit("✓ right")),
            path=_way("way"),
            due=_way("wanted"),
            what=pl.col("error").replace(
                {id: name for id, (name, _) in failure_kinds.classes(current.benchmark).items()}
            ),
        )
        columns = {
            "here": column("Here", width="small"),
            "name": column("Model"),
            "leaf": column("Case", width="small"),
            "level": column("Level", width="small"),
            "turn": column("Turn", "count", width="small"),
            "path": column("Way taken", width="large"),
            "due": column("Reference", width="large"),
            "what": column("Error"),
        }
        picked = show_table(rows, columns, key=f"sop-turns-{kinds[0]}", alt="The turns.", select="single", height=250)
        if picked:
            row = picked[0]
            open_page("failures", View(benchmark=current.benchmark).open(row["run_id"], row["attempt_id"], row["turn"]))


def _way(name: str) -> pl.Expr:
    return pl.col(name).list.eval(pl.element().str.strip_prefix("stage")).list.join(" › ")


def show_map(current: View, procedure: Procedure, difference: tuple[str, str] | None, large: bool = False) -> None:
    """The map, and below it what was clicked on it; `large` for an audience."""
    branches = cached(queries.branches, current, difference is not None)
    found = marks()
    shown = [difference[0], difference[1]] if difference else cached(queries_chosen_turns.models, current)
    simulated = [model for model in shown if model in found and found[model].simulated]
    stands_in = "" if not simulated else "simulated" if len(simulated) == len(shown) else "partly simulated"
    if difference:
        # Before an audience the mark alone says who is simulated.
        call = short_model if large else label
        names = (call(difference[0]), call(difference[1]))
        short = (short_model(difference[0]), short_model(difference[1]))
        steps = cached(queries_difference.step_differences, current, procedure, difference)
        sure = int(steps["sure"].sum())
        told = f"{sure} of {steps.height} steps differ for sure. " if sure else ""
        unmapped = large and not sure
        section(
            plain(say_difference(steps, procedure, short)),
            f"{told}At a line: per cent of turns, {plain(short[0])} : {plain(short[1])}."
            if large and sure
            else ""
            if large
            else f"{told}At a line: share of turns in per cent, the first model's "
            "before the other's; width: the difference; intervals paired by sample, corrected for all steps. Circles: "
            "difference in how often those who arrived took the right way out, in points. "
            f"{ORDER}"
            "Drag to move, + and − above it to zoom.",
            ["simulated"] if unmapped and simulated else [],
        )
        if unmapped:
            return  # The title has said all that there is to say.
        figure = draw_difference(
            procedure, steps, branches, difference, names, dark(), current.stage, simulated=stands_in, brief=large
        )
        rows, columns = steps, _differing(names)
    else:
        traffic = cached(queries.traffic, current)
        section(
            _name_the_leak(cached(queries.divergences, current), procedure),
            "" if large else READS,
        )
        figure = draw_map(procedure, traffic, branches, dark(), current.stage, stands_in, brief=large)
        rows, columns = with_labels(traffic), {"name": column("Model"), **_STEP}
    alt = f"Map of {procedure.title}: {len(procedure.stages)} stages, width by traffic, colour by branch accuracy."
    if large:
        width, height = read_window()
        above = _HEAD_PX + (_LINE_PX if difference else 0)
        figure = fit(figure, procedure, (width - _RIMS_PX, height - above))
    with screen() if large else nullcontext():
        picked = show_chart(
            figure, rows, key="sop-map", alt=alt, select=True, columns=columns, zoom=True, table=not large,
            stretch=large,
        )  # fmt: skip
    follow("sop-map", ">".join(picked[0][1:]) if picked and picked[0][0] != "action" else "")
    if queries_turns.kind_of(current.stage) == "stage" and current.stage in procedure.stages:
        show_confusion(current, procedure, current.stage, "map")
    show_turns(current, procedure, "stage", "step")


def _differing(names: tuple[str, str]) -> dict[str, Any]:
    return {
        "source": column("From"),
        "target": column("To"),
        "first": column(names[0], "share"),
        "second": column(names[1], "share"),
        "difference": column("Difference", "share"),
        "low": column("95 % from", "share"),
        "high": column("to", "share"),
        "p": column("p, corrected", "p"),
        "n": column("Samples", "count", "Samples that both models tried."),
        "sure": column("Sure", "flag"),
    }


def _name_the_leak(divergences: pl.DataFrame, procedure: Procedure) -> str:
    """Where most turns leave the reference, in a title."""
    left = divergences.group_by("stage").agg(pl.col("n").sum(), pl.col("arrived").sum()).sort("n", "stage").tail(1)
    if left.is_empty():
        # The ways part at the first step, or have but one.
        return "No turn went a step of its way together with the reference"
    stage, n, arrived = left.row(0)
    if not n:
        return "No turn leaves the reference"
    where = plain(f"“{procedure.name(stage)}”")
    return f"Turns leave most often at {where}: {format_count(n)} of the {format_count(arrived)} that got there in step"


def show_quadrants(current: View, procedure: Procedure) -> None:
    """What turns came to against how they got there: right result, wrong way and the rest."""
    found = {row["quadrant"]: row for row in cached(queries.quadrants, current).iter_rows(named=True)}
    if not found:
        return
    lucky = found["right>wrong"]
    frame = cached(queries.quadrants, current, True)
    section(
        f"{format_share(lucky['share'])} of turns come to the right result by the wrong way{plain(_say_models(frame))}",
        "Result: the action. Way: the stages before it. Both against the reference; shares of "
        f"{format_count(lucky['of'])} turns with clustered 95 % intervals. With the last turn "
        "alone they tell what dialogues came to.",
    )
    cards, chart = st.columns(2, gap="medium")
    with cards:
        for start in ("right", "wrong"):
            for spot, way in zip(st.columns(2, gap="small"), ("right", "wrong"), strict=True):
                _show_quadrant(spot, f"{start}>{way}", found[f"{start}>{way}"])
    with chart:
        columns = {"name": column("Model"), "quadrant": column("Result>way"), **_SHARES}
        figure = charts.draw_quadrants(frame, _QUADRANTS, marks(), dark())
        alt = "Share of turns by result and way, one dot a model with its interval."
        picked = show_chart(figure, with_labels(frame), key="sop-quadrants", alt=alt, select=True, columns=columns)
        follow("sop-quadrants", f"result={picked[0][0]}" if picked else "")
    show_turns(current, procedure, "result")


def _say_models(quadrants: pl.DataFrame) -> str:
    """Which models come by the wrong way to the right result: two each with its share, of more the ends."""
    shares = quadrants.filter(pl.col("quadrant") == "right>wrong").sort("share", "model")
    ends = [f"{short_model(row['model'])} {format_share(row['share'])}" for row in shares.iter_rows(named=True)]
    if len(ends) < 2:
        return ""
    return f": {ends[0]}, {ends[1]}" if len(ends) == 2 else f", from {ends[0]} to {ends[-1]}"


def _show_quadrant(spot: DeltaGenerator, quadrant: str, row: Mapping[str, Any]) -> None:
    with spot, st.container(border=True, gap=None, height="stretch"):
        st.markdown(f"**{_QUADRANTS[quadrant]}**")
        unsure = f", {format_share(row['low'])} to {format_share(row['high'])}" if row["low"] is not None else ""
        st.caption(f"{format_share(row['share'])}{unsure}")
        if row["n"]:
            words = f"See {format_count(row['n'])} turns" if row["n"] > 1 else "See the turn"
            link(words, "sop_paths", view().change(stage=f"result={quadrant}"))
        else:
            st.caption("No turn.")


def show_errors(current: View, procedure: Procedure) -> None:
    """The classes of errors that the benchmark tells apart, per model."""
    frame = cached(queries.error_split, current)
    own = {**failure_kinds.misread(), **failure_kinds.deviations()}
    causes = frame.filter(pl.col("error").is_in(list(own))).group_by("error").agg(pl.col("n").sum()).sort("n", "error")
    section(
        f"Most errors of agents: {plain(own[causes['error'][-1]])}"
        if causes["n"].sum()
        else "No errors in this selection",
        f"{plain(failure_kinds.told_apart(current.benchmark))} Shares of all evaluated turns.".strip(),
    )
    figure = charts.draw_errors(frame, failure_kinds.classes(current.benchmark), marks(), dark())
    columns = {"name": column("Model"), "error": column("Error"), **_SHARES}
    alt = "Share of turns by class of error, one dot a model with its interval."
    picked = show_chart(figure, with_labels(frame), key="sop-errors", alt=alt, select=True, columns=columns)
    follow("sop-errors", f"error={picked[0][0]}" if picked else "")
    show_turns(current, procedure, "error")


def _say_ends(least: float, most: float) -> str:
    """The shares of the models, as the beginning of a sentence."""
    if format_share(least) == format_share(most):
        return format_share(most)
    return f"From {format_share(least)} to {format_share(most)}"


def show_funnel(current: View, procedure: Procedure) -> None:
    """How far turns keep to the reference, and where they leave it first."""
    frame, left = cached(queries.survival, current), cached(queries.divergences, current)
    if frame.is_empty():
        st.info(_NO_WAYS)
        return
    ends = frame.filter(pl.col("step") == pl.col("step").max()).sort("share")
    section(
        f"{_say_ends(ends['share'][0], ends['share'][-1])} of turns are right to the end",
        "Share of turns still on the reference after each step; a turn that is right to its action stays on. "
        "Click a bar "
        "for the turns that left there.",
    )
    lines, bars = st.columns(2, gap="medium")
    with lines:
        columns = {
            "name": column("Model"),
            "step": column("Step", "count"),
            "n": column("n on", "count"),
            "of": column("of", "count"),
            "share": column("Share", "share"),
        }
        figure = charts.draw_survival(frame, marks(), dark())
        show_chart(
            figure, with_labels(frame), key="sop-survival", alt="Share on the reference by step.", columns=columns
        )
    with bars:
        columns = {
            "name": column("Model"),
            "stage": column("Left after"),
            "place": column("Step", "count"),
            "n": column("n left", "count"),
            "arrived": column("of", "count"),
            "share": column("Share", "share"),
        }
        figure = charts.draw_leaving(left, procedure, dark())
        alt = "Turns that left the reference first, by stage."
        picked = show_chart(figure, with_labels(left), key="sop-left", alt=alt, select=True, columns=columns)
        follow("sop-left", f"left={picked[0][0]}" if picked else "")
    show_turns(current, procedure, "left")


def show_branches(current: View, procedure: Procedure) -> None:
    """Branch confusion at every stage with more than one way out, the weakest first."""
    scored = cached(queries.branches, current).sort("share")
    deciding = [s for s in scored["stage"] if len({e.target for e in procedure.edges if e.source == s}) > 1]
    section(
        "Which way out was taken, and which was due",
        "Turns in which agent and reference both reached the stage; the weakest stage first. Click a square for "
        "its turns.",
    )
    show_turns(current, procedure, "cell")
    for place in range(0, len(deciding), 2):
        for spot, stage in zip(st.columns(2, gap="medium"), deciding[place : place + 2], strict=False):
            with spot:
                show_confusion(current, procedure, stage, "all")


def show_variants(current: View, procedure: Procedure) -> None:
    """The distinct ways with their counts."""
    frame = cached(queries.variants, current)
    if frame.is_empty():
        st.info(_NO_WAYS)
        return
    shown = frame.head(_MOST_VARIANTS)
    section(
        f"{format_count(frame.height)} ways were taken; the {shown.height} commonest make up "
        f"{format_share(shown['cumulative'][-1])}",
        "Each strip is a way. Each turn is compared with its own reference: of a stage the green part is the share of "
        "turns in which it was due there. Click one for its turns.",
    )
    picked = show_chart(
        draw_variants(shown, procedure, dark()),
        shown,
        key="sop-variants",
        alt="The commonest ways.",
        select=True,
        table=False,
    )
    follow("sop-variants", f"way={picked[0][0]}" if picked else "")
    show_turns(current, procedure, "way")
    rows = frame.with_columns(
        path=_way("way"),
        badge=pl.Series(
            [BADGES[badge_of(procedure, w, r, n)] for w, r, n in frame.select("way", "right", "n").iter_rows()],
            dtype=pl.String,
        ),
        key=pl.col("way").list.join(">"),
        due=pl.col("right") / pl.col("n"),
    )
    columns = {
        "path": column("Way", width="large"),
        "n": column("n turns", "count"),
        "share": column("Share", "share"),
        "cumulative": column("Cumulative", "progress"),
        "right": column("Was due", "count", "Turns for which this way was the reference."),
        "due": column("Share due", "share"),
        "badge": column("Conformance"),
    }
    alt = "All ways, commonest first."
    chosen = show_table(rows, columns, key="sop-variants-table", alt=alt, select="single", search=True, height=300)
    follow("sop-variants-table", f"way={chosen[0]['key']}" if chosen else "")


def show_flows(current: View, procedure: Procedure) -> None:
    """Expected against actual actions, and where the way parted."""
    frame = cached(queries.flows, current)
    if frame.is_empty():
        st.info(_NO_WAYS)
        return
    wrong = frame.filter(pl.col("expected") != pl.col("taken"))
    section(
        f"{format_share(int(wrong['n'].sum()) / int(frame['n'].sum()))} of turns end in another action than they "
        f"should",
        "Left: the action that was due. Middle: where the way left the reference. Right: the action taken. "
        "Green: on the "
        "reference, amber: another way to the right action, red: another action. Select a row for its turns.",
    )
    # One below the other: side by side neither fits at 1024.
    show_chart(
        charts.draw_flows(frame, procedure, dark()), frame, key="sop-flows", alt="Sankey of actions.", table=False
    )
    rows = frame.with_columns(
        left=name_each(frame["left_at"], lambda stage: procedure.name(stage) if stage else "on the reference"),
        **{f"{end}_": name_each(frame[end], lambda action: name_whole(procedure, action)) for end in _ENDS},
    )
    columns = {
        "n": column("n", "count", "Turns", width="small"),
        **{f"{end}_": column(title) for end, title in _ENDS.items()},
        "left": column("Left after"),
    }
    alt = "Expected action, where the way left, action taken."
    chosen = show_table(rows, columns, key="sop-flows-table", alt=alt, select="single", height=380)
    flow = (chosen[0]["expected"], chosen[0]["left_at"], chosen[0]["taken"]) if chosen else ()
    follow("sop-flows-table", f"flow={'>'.join(flow)}" if flow else "")
    show_turns(current, procedure, "flow")
