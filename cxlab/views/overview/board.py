"""The leaderboard of one benchmark on its comparison set: each task by its own headline, floors as lines."""

import math
from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.board import Floor, draw_board
from cxlab.charts.compare import draw_scores
from cxlab.charts.numbers import format_count, interval_of
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.read.comparison import ranking
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.words import MARKED_STANDING, leads, say_leader, say_leaders, say_set
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric, name_metric
from cxlab.ui.address import cached, link, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import with_labels
from cxlab.ui.labels import PASSED_COMPARED, PASSED_OF_ALL, Badge, plain, say_passed, section
from cxlab.ui.tables import Kind, column, show_chart, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.comparison_sets import choose_lead, choose_set, offer_marked, ranked, tell_standing, view_of
from cxlab.views.judges.corrections import show_beside_scores

Picked = tuple[str, str] | None
"""A model or "", and a task or "", that was clicked."""
_KINDS: dict[str, Kind] = {"points": "points", "percent": "percent", "ratio": "ratio", "seconds": "seconds"}
_NOTE = "Pick a model to see its failures."


def show_board(about: Declaration) -> Picked:
    """Chart and table of the benchmark's models; what was picked in either."""
    view = view_of(about.card.id)
    found = cached(ranked, view)
    scored = [each for each in found.tasks if each.table.height or each.floors.height]
    if not scored:
        offer_marked(found.set, scored, about)
        return _show_unranked(about, cached(read.leaderboard, View(benchmark=about.card.id), ()))
    told = say_leader(scored[0], short_model) if len(scored) == 1 else say_leaders(scored, short_model)
    finding = plain(told)
    section(f"{plain(about.card.name)}: {finding}", badges=_badges(scored))
    with st.container(horizontal=True):
        choose_lead(about.card.id)
        choose_set(found.set, about.card.id)
    picked = _show_one(about, scored[0], view, finding) if len(scored) == 1 else _show_tasks(about, scored, finding)
    tell_standing(about, found.set, scored, about.card.id)
    show_beside_scores(View(benchmark=about.card.id))
    link("Compare these models", "compare", view)
    return picked


def took(view: View, metrics: Sequence[str] = ()) -> pl.DataFrame:
    """What each model came to on the comparison set, all tasks together, as `ranking.took` with `model` for the side;
    and the mean of each further metric, of a benchmark with one task."""
    found = cached(ranked, view)
    told = ranking.took(pl.concat([each.compared.results for each in found.tasks])).rename({"side": "model"})
    about = declared(view.benchmark, view.lead)
    for metric in metrics:
        one = ranking.rank_task(about, view, found.tasks[0].compared, metric)
        means = pl.concat([one.table.select("side", "value"), one.floors.select("side", "value")])
        told = told.join(means.rename({"side": "model", "value": metric}), on="model", how="left")
    return told


def compared_success(about: Declaration, view: View, found: Sequence[Ranking]) -> list[tuple[str, float]]:
    """Each ranked model's success rate on the samples that all of them have, the highest first: how often a model was
    run moves none of them."""
    beside = _beside(about, found[0].task.metric) if len(found) == 1 else ()
    told = cached(took, view, beside) if beside else cached(took, view)
    rates = [
        (str(model), float(rate)) for model, rate in zip(told["model"], told["success"], strict=True)
        if model not in about.floor_models and rate is not None and not math.isnan(rate)
    ]  # fmt: skip
    return sorted(rates, key=lambda each: (-each[1], each[0]))


def _beside(about: Declaration, metric: str) -> tuple[str, ...]:
    """The figures that stand beside the one that ranks."""
    return tuple(each for each in about.card.leading if each != metric)


def _show_one(about: Declaration, found: Ranking, view: View, finding: str) -> Picked:
    """A benchmark with one task, or of which one task has results."""
    card, task = about.card, found.task
    name, scale = head_metric(task.metric), card.scale(task.metric)
    st.caption(f"Mean over {plain(say_set(found.compared))}, each sample counting once, with 95 % intervals. {_NOTE}")
    beside = _beside(about, task.metric)
    board, rows = cached(_rows, view, task.id, beside)
    constant = [_title_of(about, model) for model in found.floors["side"]]
    floors: Sequence[Floor] = [
        *zip(constant, found.floors["value"], strict=True), *ranking.zero_of(about, task.metric)
    ]  # fmt: skip
    figure = draw_board(board, task.metric, marks(), dark(), name, floors, scale)
    alt = f"{name} with 95 % interval of {board.height} models: {finding}."
    points = show_chart(figure, board, key=f"board-{card.id}", alt=alt, select=True, table=False)
    columns = {
        task.metric: column(name, _KINDS.get(task.unit, "points"), card.metrics.get(task.metric)),
        "interval": column("95 % interval", help=f"Clustered by {about.cluster_name}, within the metric's scale."),
        "verdict": column("Lead", help="Against the first: paired by sample, corrected for the number of models."),
    }
    behind = {each: column(head_metric(each), "points", card.metrics.get(each)) for each in beside}
    if found.table.height < 2:
        del columns["verdict"]
    return _show_table(about, rows, columns, behind=behind) or ((str(points[0][0]), "") if points else None)


def _rows(view: View, task: str, beside: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The models of a benchmark's one ranked task as `draw_board` draws them, and as a table tells of them, constant
    agents too."""
    found = next(each for each in cached(ranked, view).tasks if each.task.id == task)
    metric = found.task.metric
    known = found.compared.coverage
    simulated = dict(zip(known["side"], known["simulated"], strict=True))
    board = found.table.select(
        model="side", simulated=pl.col("side").replace_strict(simulated, default=False, return_dtype=pl.Boolean),
        **{metric: "value", f"{metric}_low": "low", f"{metric}_high": "high"}, samples="samples",
    )  # fmt: skip
    floors = found.floors.select(pl.col("side").alias("model"), pl.col("value").alias(metric), "samples")
    rows = pl.concat([board, floors], how="diagonal")
    rows = rows.with_columns(interval=interval_of(rows, f"{metric}_low", f"{metric}_high"))
    gaps = found.gaps.select(model="side", verdict=pl.col("verdict").replace_strict(MARKED_STANDING, default=""))
    lead = pl.DataFrame({"model": [found.leader], "verdict": ["leads" if leads(found) else "first"]})
    for each in (pl.concat([gaps, lead]), cached(took, view, beside)):
        rows = rows.join(each, on="model", how="left", maintain_order="left")
    return board, rows


def _show_tasks(about: Declaration, found: Sequence[Ranking], finding: str) -> Picked:
    """A benchmark of several tasks: no mean over them, each task has its own order."""
    card = about.card
    st.caption(
        "Each task by its own main figure, over the samples that all its models have, with 95 % intervals. Figures of "
        f"different tasks are not to be compared. {_NOTE}"
    )
    scores = pl.concat([
        each.table.select(
            "side", "low", "high", "clusters", grp=pl.lit(each.task.id), mean="value", n="samples"
        )
        for each in found
    ])  # fmt: skip
    floors = pl.concat([
        each.floors.select(grp=pl.lit(each.task.id), value="value", name="name", side="side") for each in found
    ])  # fmt: skip
    names = {each.task.id: f"{each.task.title} ({name_metric(each.task.metric)})" for each in found}
    lines = pl.DataFrame(
        [(each.task.id, value, name) for each in found for name, value in ranking.floors_of(about, each)],
        schema={"grp": pl.String, "value": pl.Float64, "name": pl.String}, orient="row",
    )  # fmt: skip
    figure = draw_scores(
        scores, (0.0, 100.0), "Main figure of the task, points of 100", names, marks(), dark(), None, lines
    )
    alt = f"Main figure of each task by model: {finding}."
    points = show_chart(figure, scores, key=f"board-{card.id}", alt=alt, select=True, table=False)
    if lines.height:
        st.caption("Dotted: " + plain("; ".join(lines["name"].unique(maintain_order=True))) + ".")
    sides = pl.concat([scores.select("side"), floors.select("side")]).unique().sort("side")
    board = sides.rename({"side": "model"}).join(cached(took, view_of(card.id)), on="model", how="left")
    with st.expander("Tables", type="compact"):
        opened = _show_by_task(about, found)
        chosen = _show_table(about, board, {})
    return chosen or opened or ((str(points[0][1]), str(points[0][0])) if points else None)


def _show_by_task(about: Declaration, found: Sequence[Ranking]) -> Picked:
    """A row a task, a column a model or constant agent, so that many tasks put no column out of sight; what was
    picked."""
    models = sorted({side for each in found for side in each.table["side"]})
    floors = [floor for floor in about.floors if any(floor.model in set(each.floors["side"]) for each in found)]
    rows = []
    for each in found:
        values = dict(
            [*each.table.select("side", "value").iter_rows(), *each.floors.select("side", "value").iter_rows()]
        )
        lead = f"✓ {short_model(each.leader)}" if leads(each) else _say_no_lead(each)
        rows.append({
            "task": each.task.title, "lead": lead, "samples": each.compared.samples,
            **{f"side_{place}": values.get(model) for place, model in enumerate(models)},
            **{f"floor_{place}": values.get(floor.model) for place, floor in enumerate(floors)},
        })  # fmt: skip
    columns = {
        "task": column("Task"),
        "lead": column("Leads for sure", help="Paired by sample, corrected for the number of models."),
        **{f"side_{place}": column(short_model(model), "points") for place, model in enumerate(models)},
        **{f"floor_{place}": column(floor.title, "points", f"{floor.meaning.rstrip('.')}. Not ranked.")
           for place, floor in enumerate(floors)},
        "samples": column("Samples", "count", "That all models of the task have."),
    }  # fmt: skip
    schema = {"task": pl.String, "lead": pl.String, "samples": pl.Int64}
    numbers = dict.fromkeys((name for name in columns if name not in schema), pl.Float64)
    frame = pl.DataFrame(rows, schema={**schema, **numbers}, orient="row")
    picked = show_table(frame, columns, key=f"board-tasks-{about.card.id}",
                        alt=f"Main figure of each task on {about.card.name}.", select="single")  # fmt: skip
    if not picked:
        return None
    chosen = next(each for each in found if each.task.title == picked[0]["task"])
    return "", chosen.task.id


def _say_no_lead(found: Ranking) -> str:
    if found.decided:
        return "✕ below a constant agent"
    return "? cannot tell" if found.table.height > 1 else "–"


def _show_unranked(about: Declaration, board: pl.DataFrame) -> Picked:
    """Nothing is scored by a headline, or the benchmark is not known any more: verdicts, in no order of worth."""
    section(f"{plain(about.card.name)}: nothing has been scored yet that models could be ranked by",
            "All attempts of each model, by the verdict stored with each.")  # fmt: skip
    return _show_table(about, board.sort("model"), {}, (PASSED_OF_ALL, ""))


_ON_THE_SET = "Of the comparison alone: the samples, trials and settings that all its models share."
_WHY_NONE = "a reply could not be read, judges tied, a provider failed. Compare tells whose doing it was."
_PRICES = ("latency_s", "cost_usd")
"""Columns that are left away where nothing is known in them, as with stand-ins alone."""


def _show_table(
    about: Declaration, board: pl.DataFrame, figures: Mapping[str, object],
    passed: tuple[str, str] = (PASSED_COMPARED, _ON_THE_SET), behind: Mapping[str, object] | None = None,
) -> Picked:  # fmt: skip
    """One row a model, floors at the foot; `passed`: what its success rate is called, and of what it is; `behind`:
    figures that stand last, where a narrow window shows them on scrolling."""
    card = about.card
    one, many = card.unit
    named = with_labels(board)
    if about.floors:
        words = {floor.model: floor.name for floor in about.floors}
        named = named.with_columns(
            name=pl.col("model").replace_strict(words, default=pl.col("name")), floor=pl.col("model").is_in(list(words))
        ).sort("floor", maintain_order=True)
    columns = {
        "name": column("Model"),
        **figures,
        "success": column(passed[0], "share", f"{say_passed(card)} {passed[1]}".rstrip()),
        "unscored": column("No verdict", "count", f"{many.capitalize()} that neither passed nor failed: {_WHY_NONE}"),
        "attempts": column(many.capitalize(), "count", f"Finished {many} of the comparison."),
        "latency_s": column("Time", "seconds", f"Mean of one {one}."),
        "cost_usd": column("Cost", "usd", f"Mean of one {one}, judges left out; empty when that of any is unknown."),
        **(behind or {}),
    }
    known = {name: shape for name, shape in columns.items() if name not in _PRICES or named[name].drop_nulls().len()}
    # What is the same of all is said once, so that no column is out of sight in a narrow window.
    undecided = bool((named["unscored"].fill_null(0) > 0).any())
    if not undecided:
        del known["unscored"]
    alike = len(set(named["attempts"])) == 1
    if alike:
        del known["attempts"]
    rows = show_table(
        named, known, key=f"board-table-{card.id}", alt=f"Models on {card.name}, the best first.", select="single"
    )
    if alike and named.height and named["success"].drop_nulls().len():
        all_have = " of each, those that all of them have" if named.height > 1 else ""
        told = f"Passed: of {format_count(named['attempts'][0])} {card.unit[named['attempts'][0] != 1]}{all_have}"
        st.caption(f"{told}{'' if undecided else '; every one has a verdict'}.")
    if about.floors and any(named["floor"]):
        st.caption("Floors are constant agents. They are not ranked: " + plain("; ".join(_meanings(about, named))))
    return (str(rows[0]["model"]), "") if rows else None


def _meanings(about: Declaration, board: pl.DataFrame) -> list[str]:
    return [
        f"{floor.title}: {floor.meaning.rstrip('.')}" for floor in about.floors if floor.model in set(board["model"])
    ]


def _title_of(about: Declaration, model: str) -> str:
    return next((floor.title for floor in about.floors if floor.model == model), short_model(model))


def _badges(found: Sequence[Ranking]) -> list[Badge]:
    return ["own", "simulated"] if any(each.compared.coverage["simulated"].any() for each in found) else ["own"]
