"""What a report says of one benchmark: the decision, figures by task and facet, paths, settings and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxlab.charts.failure_names import describe_group
from cxlab.charts.names import begin
from cxlab.charts.numbers import format_interval, format_points
from cxlab.charts.theme import SIMULATED_PREFIX, Mark, mark_models, mark_of, short_model
from cxlab.read.annotations import marked_samples
from cxlab.read.attempts import attempt, known_models
from cxlab.read.comparison import ranking
from cxlab.read.comparison.corrected import correct_ranking
from cxlab.read.comparison.decision import decide
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.run_floors import with_floors
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import (
    MARKED_STANDING,
    is_repeat,
    leads,
    say_customers,
    say_floors,
    say_leader,
    say_left_out,
    say_repeats,
    say_set,
)
from cxlab.read.conditions import find_differing, of_runs
from cxlab.read.query import facet_ids
from cxlab.read.results.headlines import led_by, with_scored_headlines
from cxlab.read.run_names import call_runs_of
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.correction import Corrections
from cxlab.records.metric_names import name_metric
from cxlab.report import queries
from cxlab.report.base import attempts_behind, list_runs, name_task, say_base
from cxlab.report.breaks import Breaks, tell_breaks
from cxlab.report.corrected import CorrectedTask, tell_corrected
from cxlab.report.decision_figures import (
    Figure,
    list_figures,
    say_decision,
    say_metric,
    say_other_lead,
    say_warnings,
    say_zeros,
)
from cxlab.report.dialogues import Line, read_answer, read_lines
from cxlab.report.dots import Chart, Value, draw
from cxlab.report.paths import ProcedurePaths, find_paths, say_turn

MOST_FAILURES = 10
_MOST_VALUES = 15
"""A facet with more values than this tells single samples apart and is left out."""


@dataclass(frozen=True)
class Grouping:
    """Means by the values of one facet: a drawing, and its numbers as rows of cells, one column a side."""

    title: str
    chart: Chart
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TaskResult:
    """One task: who leads, and what that stands on in figures and sentences; a drawing; and one row a side and floor.

    `figures`: the leader against the second, as in the card that Compare opens with; none where nobody else is.
    """

    title: str
    metric: str
    meaning: str
    decision: str
    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]
    chart: Chart | None
    rows: tuple[Mapping[str, Any], ...]
    groupings: tuple[Grouping, ...]
    corrected: CorrectedTask | None


@dataclass(frozen=True)
class FailedAttempt:
    """One failed attempt: whose doing and why, how many fail like it, and what was said (or asked and answered);
    `facts` is all that is known of it, `brief` what whoever decides wants of them."""

    title: str
    owner: str
    where: str
    facts: tuple[str, ...]
    brief: tuple[str, ...]
    simulated: bool
    lines: tuple[Line, ...]
    answer: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Section:
    """All that a report says of one benchmark."""

    about: Declaration
    decision: str
    warnings: tuple[str, ...]
    tasks: tuple[TaskResult, ...]
    left_out: tuple[str, ...]
    without: str
    """The samples that are left out as wrongly labelled; "" where none is."""
    same: tuple[tuple[str, str], ...]
    apart: Mapping[str, Mapping[str, str]]
    runs: tuple[Mapping[str, Any], ...]
    """Each run's own figures, whatever of it is compared, and `counted`, how many of its attempts are; with what people
    noted on it."""
    base: str
    """What all but the table of runs tells of."""
    owners: tuple[tuple[str, str, int, int], ...]
    """Verdict, owner, attempts, and of the comparison's attempts in all."""
    procedures: tuple[ProcedurePaths, ...]
    failures: tuple[FailedAttempt, ...]
    failed: int
    breaks: tuple[Breaks, ...]
    marks: Mapping[str, Mark]
    names: Mapping[str, str]

    of_runs: bool = False
    task: str = ""
    """The one task that it tells of, where others were tried, too (`name_task`)."""

    @property
    def sides(self) -> tuple[str, ...]:
        """Every side of any task, constant agents last, in the order of the tasks."""
        rows = [row for task in self.tasks for row in task.rows]
        return tuple(dict.fromkeys(row["side"] for floor in (False, True) for row in rows if row["floor"] is floor))

    @property
    def simulated(self) -> bool:
        """Whether any of its models is simulated."""
        return any(run["simulated"] for run in self.runs)

    @property
    def others_simulated(self) -> bool:
        """Whether any customer or judge of it was."""
        said = [*(value for _, value in self.same), *(value for each in self.apart.values() for value in each.values())]
        return any(SIMULATED_PREFIX in value for value in said)


def find_section(
    about: Declaration, view: View, unit: Unit, corrections: Corrections | None = None, failures: int = MOST_FAILURES
) -> Section:
    """What a view of one benchmark comes to: its runs as the sides, or its models on their comparison set; by the
    view's metric where it has one. `corrections`: what reviewers' decisions come to, told of beside it; `failures`: of
    how many the dialogues are shown."""
    about = with_scored_headlines(led_by(about, view.lead))
    found = ranking.rank(about, view, unit, view.metric)
    known = of_runs(about.card.id, about.switches)
    scored = [each for each in found.tasks if each.table.height or each.floors.height]
    if unit == "run_id":
        scored = [with_floors(about, view, each) for each in scored]
    alone = name_task(about, scored)
    behind = attempts_behind(about, view, unit, found.set, scored)
    runs = list_runs(about, behind, view.runs if unit == "run_id" else ())
    names = _name_sides(about, runs, unit, [side for each in scored for side in each.table["side"]])
    marks = _mark_sides(runs, unit)
    own = {run["run_id"]: known[run["run_id"]].conditions for run in runs if run["run_id"] in known}
    repeat = unit == "run_id" and all(is_repeat(each, own) for each in scored if each.table.height > 1)
    repeat = repeat and any(each.table.height > 1 for each in scored)
    results = tuple(_tell_task(about, view, each, names, marks, corrections, repeat) for each in scored)
    contestants = _without_floors(about, behind, runs)
    apart = find_differing(own) if unit == "run_id" else {}
    parts = found.set.conditions.parts if found.set.conditions else next((each.parts for each in own.values()), ())
    total = sum(run["counted"] for run in runs if run["model"] not in about.floor_models) or sum(
        run["counted"] for run in runs
    )
    owners = queries.owners(contestants)
    telling = queries.telling(contestants, failures)
    breaks = tell_breaks(about, _without_floors(about, view, runs), contestants)
    compared = " among those compared" if len(breaks) > 1 else ""
    return Section(
        about,
        say_decision(scored, names, repeat, alone),
        say_warnings(about, scored, names),
        results,
        _say_left_out(scored, names),
        say_left_out(_name_samples(about, view)),
        tuple((title, value) for title, value in parts if title not in apart),
        {title: {names.get(run, run): value for run, value in values.items()} for title, values in apart.items()},
        runs,
        say_base(about, scored, total, unit),
        tuple((verdict, owner, n, total) for verdict, owner, n in owners.iter_rows()),
        find_paths(about.card.id, contestants, unit, names),
        tuple(_tell_failure(about, row, compared) for row in telling),
        telling[0]["of"] if telling else 0,
        breaks,
        marks,
        names,
        unit == "run_id",
        alone,
    )


def _without_floors(about: Declaration, view: View, runs: Sequence[Mapping[str, Any]]) -> View:
    """The view without constant agents, unless there is nobody else."""
    models = {run["model"] for run in runs}
    return view.change(without=about.floor_models) if models - set(about.floor_models) else view


def _name_sides(
    about: Declaration, runs: Sequence[Mapping[str, Any]], unit: Unit, ranked: Sequence[str]
) -> dict[str, str]:
    """How models and sides are called, the sides that are ranked first, the best on top."""
    floors = {floor.model: floor.name for floor in about.floors}
    names = {run["model"]: floors.get(run["model"], short_model(run["model"])) for run in runs}
    if unit == "run_id":
        names |= call_runs_of(about, [(run["run_id"], run["model"]) for run in runs], names)
    return {side: names[side] for side in dict.fromkeys([*(each for each in ranked if each in names), *names])}


def _mark_sides(runs: Sequence[Mapping[str, Any]], unit: Unit) -> dict[str, Mark]:
    """The colour of each side: a model has the one that it has on every page, a run one of its own."""
    simulated = {run[unit]: bool(run["simulated"]) for run in runs}
    known = known_models()["model"].to_list() if unit == "model" else list(simulated)
    return mark_models(known, simulated)


def _say_left_out(scored: Sequence[Ranking], names: Mapping[str, str]) -> tuple[str, ...]:
    told: dict[str, list[str]] = {}
    for each in scored:
        for side, reason in each.compared.coverage.filter(~pl.col("in_set")).select("side", "reason").iter_rows():
            told.setdefault(f"{names.get(side, short_model(side))}: {reason}", []).append(each.task.title)
    return tuple(line if len(tasks) == len(scored) else f"{line} ({', '.join(tasks)})" for line, tasks in told.items())


def _name_samples(about: Declaration, view: View) -> list[str]:
    """The samples that the view leaves out, as people know them."""
    if not view.without_samples:
        return []
    marked = marked_samples(about.card.id, about.identifying.id if about.identifying else "")
    return marked.filter(pl.col("sample_id").is_in(view.without_samples))["name"].to_list()


def _tell_task(
    about: Declaration, view: View, found: Ranking, names: Mapping[str, str], marks: Mapping[str, Mark],
    corrections: Corrections | None, repeat: bool,
) -> TaskResult:  # fmt: skip
    card, task = about.card, found.task

    def name(side: str) -> str:
        return names.get(side, short_model(side))

    told = say_repeats([found]) if repeat and found.table.height > 1 else say_leader(found, name)
    between = decide(about, found)
    corrected = corrections and correct_ranking(about, view, found, corrections)
    title, sides = name_metric(task.metric), ranking.describe_sides(found)
    figures = list_figures(about, found, between, sides, title, name, corrected, repeat) if between else ()
    floors = say_floors([found], name)
    others = between.other_leads if between and not repeat else ()
    elsewhere = ". ".join(say_other_lead(each, name) for each in others)
    low = say_zeros(about, between.other_leads, name) if between else ""
    sentences = (
        say_metric(about, found),
        elsewhere and f"{elsewhere}.",
        f"Compared on {say_set(found.compared)}.",
        floors and f"⚠ {floors}.",
        low and f"⚠ {low}.",
        say_customers(found.customers),
    )
    drawn = [
        (name(side), [Value(value, low, high, mark_of(marks, side), f"{name(side)}: {format_points(value)}")])
        for side, value, low, high in found.table.select("side", "value", "low", "high").iter_rows()
    ]
    alt = f"{task.title}, {title} by side with 95 % intervals: {told}."
    dotted = [*found.floors["value"].drop_nulls(), *([0.0] if task.metric in card.zeros else [])]
    return TaskResult(
        task.title,
        title,
        card.metrics.get(task.metric, "") + ("" if task.higher_is_better else " Less is better."),
        begin(told),
        tuple(figures),
        tuple(filter(None, sentences)),
        draw(drawn, card.scale(task.metric), alt, dotted) if drawn else None,
        _rows(found, name),
        tuple(_groupings(about, view, found, name, marks)),
        tell_corrected(about, found, corrected, name, marks) if corrected else None,
    )


def _rows(found: Ranking, name: Any) -> tuple[Mapping[str, Any], ...]:
    """One row a side, the best first, and one a floor."""
    coverage = {row["side"]: row for row in found.compared.coverage.iter_rows(named=True)}
    gaps = {row["side"]: row for row in found.gaps.iter_rows(named=True)}
    took = {row["side"]: row for row in ranking.took(found.compared.results).iter_rows(named=True)}
    rows = []
    for row in found.table.iter_rows(named=True):
        side = row["side"]
        gap, own, has = gaps.get(side), took.get(side, {}), coverage.get(side, {})
        simulated = bool(has.get("simulated"))
        first = ("leads" if leads(found) else "first") if found.table.height > 1 else "alone"
        rows.append({
            "side": side, "name": name(side), "floor": False, "simulated": simulated, "value": row["value"],
            "interval": format_interval(row["low"], row["high"]),
            "verdict": first if gap is None else MARKED_STANDING.get(gap["verdict"], "–"),
            "difference": gap and gap["difference"], "span": _span(gap), "samples": row["samples"],
            "has": has.get("samples"), "known": found.compared.known, "success": own.get("success"),
            "unscored": own.get("unscored"),
            "latency_s": own.get("latency_s"), "cost_usd": own.get("cost_usd"),
        })  # fmt: skip
    for row in found.floors.iter_rows(named=True):
        rows.append({
            "side": row["side"], "name": row["name"], "floor": True, "simulated": False, "value": row["value"],
            "interval": "–", "verdict": "not ranked", "difference": None, "span": "–", "samples": row["samples"],
            "has": None, "known": None, "success": took.get(row["side"], {}).get("success"), "unscored": None,
            "latency_s": None, "cost_usd": None,
        })  # fmt: skip
    return tuple(rows)


def _span(gap: Mapping[str, Any] | None) -> str:
    return "–" if gap is None or gap["low"] is None else format_interval(gap["low"], gap["high"])


def _groupings(about: Declaration, view: View, found: Ranking, name: Any, marks: Mapping[str, Mark]) -> list[Grouping]:
    stored = set(facet_ids())
    facets = [facet for facet in about.facets if facet.id in stored and not facet.identifies]
    if not facets or found.table.is_empty():
        return []
    results = ranking.results_of(view, found.compared, found.task.metric, [facet.id for facet in facets])
    scale, made = about.card.scale(found.task.metric), []
    sides = [*found.table["side"], *found.floors["side"]]
    tasks = {task.id for task in about.card.tasks}
    for facet in facets:
        values = set(results[facet.id].drop_nulls())
        if not 1 < len(values) <= _MOST_VALUES or values <= tasks:
            continue
        samples = ranking.by_sample(results.filter(pl.col("value").is_not_null()), facet.id)
        means = {
            (row["grp"], row["side"]): row
            for row in ranking.summarise(samples, scale, ("side", "grp")).iter_rows(named=True)
        }
        groups = about.in_order(facet.id, sorted({grp for grp, _ in means}))
        shown = {grp: about.value(facet.id, grp) if grp else "not given" for grp in groups}
        drawn = [
            (shown[grp], [
                Value(row["value"], row["low"], row["high"], mark_of(marks, side),
                      f"{shown[grp]}, {name(side)}: {format_points(row['value'])} (n = {row['samples']})",
                      name(side) if found.table.height > 1 else "")
                for side in found.table["side"] if (row := means.get((grp, side)))
            ])
            for grp in groups
        ]  # fmt: skip
        told = [side for side in sides if any((grp, side) in means for grp in groups)]
        rows = [(shown[grp], *(_cell(means.get((grp, side))) for side in told)) for grp in groups]
        alt = f"{found.task.title}, {found.task.metric} by {facet.title} and side, with 95 % intervals."
        made.append(Grouping(facet.title, draw(drawn, scale, alt), tuple(map(name, told)), tuple(rows)))
    return made


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "–"
    span = f" ({format_interval(row['low'], row['high'])})" if row["low"] is not None else ""
    return f"{format_points(row['value'])}{span}, n = {row['samples']:,}"


def _tell_failure(about: Declaration, row: Mapping[str, Any], compared: str) -> FailedAttempt:
    """`compared`: among what the failures are counted, where that is not all that failed."""
    found = attempt(row["run_id"], row["attempt_id"])
    own, turn = found.attempt, row["turn"]
    title, where = describe_group(row, {each.id: each.title for each in about.card.tasks})
    task = about.card.task(own["task"])
    one, many = about.card.unit
    who = f"{short_model(own['model'])}, {task.title if task else own['task']}"
    others = [short_model(model) for model in row["passed_by"] if model not in about.floor_models]
    asked = [f"{facet.title}: {about.value(facet.id, str(own[facet.id]))}" for facet in about.facets
             if own.get(facet.id) not in (None, "", own["task"])]  # fmt: skip
    said = say_turn(found, turn, row["field"] or "")
    count = (
        f"{row['attempts']:,} of {row['of']:,} failed {many}{compared} have a failure alike, "
        f"by {', '.join(map(short_model, row['models']))}"
    )
    passed = f"The same sample was passed by {', '.join(others)}" if others else ""
    lines = read_lines(found, turn)
    return FailedAttempt(
        title, row["owner"] or "not told", where if turn is None else f"turn {turn}, {where}",
        tuple(filter(None, (
            said, f"{who}; {one} {row['attempt_id']} of run {row['run_id']}", "; ".join(asked), count, passed,
        ))),
        tuple(filter(None, (said, f"{who}; {one} {row['attempt_id']}", count, passed))),
        bool(own.get("simulated")), lines, () if lines else read_answer(found),
    )  # fmt: skip
