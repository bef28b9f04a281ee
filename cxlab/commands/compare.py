"""`compare`: what the page Compare says, as text or as one line of JSON."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxlab.commands import json_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cxlab.read import View
    from cxlab.read.comparison.corrected import CorrectedRanking
    from cxlab.read.comparison.ranking import Ranking, Rankings
    from cxlab.read.comparison.sets import ComparisonSet, Unit
    from cxlab.read.comparison.words import Name
    from cxlab.read.conditions import Conditions
    from cxlab.records.benchmark_card import Declaration

WithoutMarked = Annotated[
    bool, typer.Option("--without-marked", help="Leave out samples that people marked as wrongly labelled.")
]
WithCorrections = Annotated[
    bool, typer.Option("--with-corrections", help="Beside it, what reviewers' decisions make of the judges' verdicts.")
]


def compare(
    sides: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN_OR_MODEL...", help="Models to compare, or runs; all models when none is named."),
    ] = None,
    benchmark: Annotated[str, typer.Option(help="Needed where what is named ran on several.")] = "",
    dataset: Annotated[str, typer.Option(help="Compare on this dataset.")] = "",
    task: Annotated[str, typer.Option(help="One task; each in turn when none is named.")] = "",
    metric: Annotated[str, typer.Option(help="Another metric than the task's headline.")] = "",
    lead: Annotated[str, typer.Option(help="What leads, of what the benchmark lets be chosen.")] = "",
    baseline: Annotated[str, typer.Option(help="Whom the others are measured against; the first when not set.")] = "",
    set_id: Annotated[
        str, typer.Option("--set", help="The conditions to compare under, by their id; the largest complete set's.")
    ] = "",
    where: Annotated[
        list[str] | None, typer.Option(help="Only samples with this value of a facet, as level=weak; repeatable.")
    ] = None,
    without_marked: WithoutMarked = False,
    with_corrections: WithCorrections = False,
    without_judge: Annotated[
        str, typer.Option(help="Beside it, what it would be without this judge of the panel, by the stored votes.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Which model leads, and is the difference real? Models on the samples, trials and conditions that all share.

    Runs are compared whatever their conditions, and it is said in what these differ. Whoever is not in the set is named
    with the reason. `cannot tell` is an answer.
    """
    from cxlab.benchmarks.scores.corrected import correct
    from cxlab.commands.compare_text import write
    from cxlab.errors import UnknownName
    from cxlab.read import decisions
    from cxlab.read.annotations import marked_samples
    from cxlab.read.comparison import ranking
    from cxlab.read.comparison.corrected import correct_ranking
    from cxlab.read.comparison.words import say_left_out
    from cxlab.read.conditions import find_differing, of_runs
    from cxlab.runner.plan import find_benchmark

    about, view, unit = _find_view(sides or [], benchmark, task, lead, where or [], find_benchmark)
    identity = about.identifying.id if about.identifying else ""
    marked = marked_samples(about.card.id, identity).rows(named=True) if without_marked else []
    view = view.change(without_samples=tuple(row["sample_id"] for row in marked))
    found = ranking.rank(about, view, unit, metric)
    if dataset or set_id:
        known = [each.conditions for each in found.set.choices]
        chosen = [each.id for each in known if set_id in ("", each.id) and dataset in ("", each.dataset)]
        if not chosen:
            datasets = {each.dataset for each in known}
            if dataset and dataset not in datasets:
                raise UnknownName("dataset with results to compare", dataset, datasets)
            raise UnknownName("set", set_id, [each.id for each in known])
        found = ranking.rank(about, view.change(sets=(chosen[0],)), unit, metric)
    runs = of_runs(about.card.id, about.switches) if unit == "run_id" else {}
    made_under = {run: runs[run].conditions for run in view.runs if run in runs}
    apart = find_differing(made_under)
    names = _name_sides(about, found, unit)
    made = correct(decisions.in_force()) if with_corrections else None
    told = [
        _tell(about, each, baseline, names, made_under, made and correct_ranking(about, view, each, made))
        for each in found.tasks
    ]
    if without_judge:
        _leave_out(about, view, found.tasks, without_judge, told, names)
    if baseline and not any(baseline in each.compared.sides for each in found.tasks):
        raise UnknownName("side", baseline, {side for each in found.tasks for side in each.compared.sides})
    if as_json:
        conditions = {"set": _tell_set(found.set), "differ_in": apart, "without_samples": list(view.without_samples)}
        json_line.say({"benchmark": about.card.id, **conditions, "tasks": told})
        return
    if marked:
        print(f"{say_left_out([row['name'] for row in marked])}.\n")
    if apart:
        print("These runs differ in other things than the model, so a difference may be due to them:")
        for title, values in apart.items():
            print(f"  {title}: " + "; ".join(f"{names.get(run, run)} {value}" for run, value in values.items()))
        print()
    written = [write(about, found.set, each, row, names) for each, row in zip(found.tasks, told, strict=True)]
    print("\n\n".join(written) or f"{about.card.name}: nothing has been scored that could be compared")


def _find_view(
    sides: list[str], benchmark: str, task: str, lead: str, where: list[str], find_benchmark: Any
) -> "tuple[Declaration, View, Unit]":
    """What is declared of the benchmark, the view that the words ask for, and what its sides are."""
    from cxlab.errors import BadOption, UnknownName
    from cxlab.read import View, known
    from cxlab.runner.plan import parse_where

    runs = known.runs()
    of_run = {run: name for run, _, name in runs}
    of_model: dict[str, set[str]] = {}
    for _, model, name in runs:
        of_model.setdefault(model, set()).add(name)
    named_runs = tuple(side for side in sides if side in of_run)
    named_models = tuple(side for side in sides if side not in of_run)
    for side in named_models:
        if side not in of_model:
            if side in set(of_run.values()):
                raise BadOption(f"{side} is a benchmark: compare --benchmark {side}, with the models or runs beside")
            raise UnknownName("run or model", side, of_model, f"Runs are listed by: runs list ({len(of_run)} of them)")
    if named_runs and named_models:
        raise BadOption(f"{named_models[0]} is a model and {named_runs[0]} a run: name runs, or models")
    on = [{of_run[run]} for run in named_runs] or [of_model[model] for model in named_models] or [set(of_run.values())]
    shared = set.intersection(*on)
    if not benchmark:
        if not of_run:
            raise BadOption("nothing has been run yet; python -m cxlab run BENCHMARK --model MODEL")
        if not shared:
            raise BadOption("these ran on different benchmarks, so they share no sample")
        if len(shared) > 1:
            raise BadOption(f"name the --benchmark, one of {', '.join(sorted(shared))}")
        benchmark = next(iter(shared))
    elif benchmark not in set(of_run.values()):
        raise UnknownName("benchmark with runs", benchmark, set(of_run.values()))
    from cxlab.read.results.headlines import led_by, may_lead, with_scored_headlines

    about = find_benchmark(benchmark).declaration
    if lead and lead not in (leads := may_lead(about)):
        raise UnknownName("metric that may lead", lead, leads)
    about = with_scored_headlines(led_by(about, lead))
    tasks = [each.id for each in about.card.tasks]
    if task and task not in tasks:
        raise UnknownName("task", task, tasks)
    facets: dict[str, list[str]] = {}
    for facet, value in parse_where(where):
        if about.facet(facet) is None:
            raise UnknownName("facet", facet, [each.id for each in about.facets])
        facets.setdefault(facet, []).append(value)
    view = View(benchmark, named_runs, named_models, (task,) if task else (), lead=lead)
    return about, view.narrow(**facets), "run_id" if named_runs else "model"


def _tell_set(found: "ComparisonSet") -> dict[str, Any] | None:
    """The conditions in plain values; None where runs are compared whatever theirs are."""
    if found.conditions is None:
        return None
    return {
        "id": found.conditions.id,
        "dataset": found.conditions.dataset,
        "conditions": dict(found.conditions.parts),
        "others": [
            {"id": each.conditions.id, "dataset": each.conditions.dataset, "models": each.models,
             "samples": each.samples}
            for each in found.choices if each.conditions.id != found.conditions.id
        ],
    }  # fmt: skip


def _name_sides(about: "Declaration", found: "Rankings", unit: "Unit") -> dict[str, str]:
    """How sides are called: models by their ids, which one types; runs as on the pages."""
    from cxlab.read.run_names import call_runs_of

    sides = [row for each in found.tasks for row in each.compared.coverage.select("side", "model").iter_rows()]
    return {side: side for side, _ in sides} if unit == "model" else call_runs_of(about, list(dict.fromkeys(sides)), {})


def _tell(
    about: "Declaration", found: "Ranking", baseline: str, names: dict[str, str],
    made_under: "Mapping[str, Conditions]", corrected: "CorrectedRanking | None",
) -> dict[str, Any]:  # fmt: skip
    """One task in plain values; None is unknown. `made_under`: the conditions of the runs that are compared."""
    from dataclasses import asdict

    from cxlab.read.comparison import ranking
    from cxlab.read.comparison.decision import decide
    from cxlab.read.comparison.words import is_repeat, leads, say_customers, say_floors, say_leader, say_repeats
    from cxlab.records.metric_names import name_metric
    from cxlab.report.decision_figures import list_figures, say_metric, say_other_lead

    def name(side: str) -> str:
        return names.get(side, side)

    compared, gaps = found.compared, found.gaps
    against = baseline if baseline in compared.sides else found.leader
    if against != found.leader:
        gaps = ranking.gaps_from(about, found, against)
    between = decide(about, found, against)
    sides = ranking.describe_sides(found) if between else found.table
    title = name_metric(found.task.metric)
    repeat = is_repeat(found, made_under)
    figures = list_figures(about, found, between, sides, title, name, corrected, repeat) if between else []
    coverage = {row["side"]: row for row in compared.coverage.iter_rows(named=True)}
    said = found.customers
    return {
        "task": found.task.id,
        "metric": found.task.metric,
        "judged_by": say_metric(about, found),
        "higher_is_better": found.task.higher_is_better,
        "samples": compared.samples,
        "trials": compared.trials,
        "clusters": compared.clusters,
        "cluster": None if compared.shared is None else compared.shared.name,
        "of": compared.known,
        "verdict": say_repeats([found]) if repeat else say_leader(found, name),
        "same_model": repeat,
        "leader": found.leader if leads(found) and not repeat else None,
        "first": found.leader or None,
        "decision": None if between is None else {
            "leader": between.leader, "rival": between.rival, "told": [asdict(each) for each in figures],
            **{column: {row["side"]: _finite(row[column]) for row in sides.iter_rows(named=True)}
               for column in ("cost_usd", "latency_s")},
            "passed": {side: asdict(each) for side, each in between.passed.items()},
            "other_leads": [] if repeat else [
                asdict(each) | {"told": say_other_lead(each, name)} for each in between.other_leads
            ],
            "other_metrics": [asdict(each) for each in between.metrics],
            "slices_looked_at": between.looked_at, "slices": [asdict(each) for each in between.slices],
        },
        "below_floor": say_floors([found], name) or None,
        "models": [
            {"model": row["side"], "name": name(row["side"]), "mean": row["value"], "low": row["low"],
             "high": row["high"], "n": row["samples"], "clusters": row["clusters"],
             "has": coverage[row["side"]]["samples"], "simulated": coverage[row["side"]]["simulated"]}
            for row in found.table.iter_rows(named=True)
        ],
        "floors": [
            {"model": row["side"], "name": row["name"], "mean": row["value"], "n": row["samples"]}
            for row in found.floors.iter_rows(named=True)
        ],
        "baseline": against or None,
        "differences": [
            {"model": row["side"], **{name: _finite(row[name]) for name in (
                "difference", "low", "high", "p", "p_corrected", "n", "clusters", "wins", "ties", "losses",
                "detectable", "needed",
            )}, "verdict": row["verdict"]}
            for row in gaps.iter_rows(named=True)
        ],
        "left_out": [
            {"model": row["side"], "has": row["samples"], "reason": row["reason"]}
            for row in coverage.values() if not row["in_set"]
        ],
        "corrected": None if corrected is None else _tell_corrected(about, corrected, name),
        "customers": None if said is None else {
            "conversations": said.compared, "same": said.same, "by_script": said.scripts,
            "told": say_customers(said) or None,
        },
    }  # fmt: skip


def _leave_out(
    about: "Declaration", view: "View", found: "Sequence[Ranking]", judge: str, told: list[dict[str, Any]],
    names: dict[str, str],
) -> None:  # fmt: skip
    """Put `without_judge` into each task's plain values: what is left of its ranking, None where it was not judged by
    it beside others."""
    from cxlab.benchmarks.scores.without_judge import judges_of, leave_out
    from cxlab.errors import UnknownName
    from cxlab.read.comparison.without_judge import compared_attempts, rank_without, say_reach, say_without
    from cxlab.read.comparison.words import leads

    attempts = [compared_attempts(each) for each in found]
    judges = [judges_of(sorted(own)) for own in attempts]
    if judge not in (known := {name for own in judges for name in own}):
        raise UnknownName("judge of the panel that can be left out", judge, known)

    def name(side: str) -> str:
        return names.get(side, side)

    for each, own, panel, row in zip(found, attempts, judges, told, strict=True):
        row["without_judge"] = None
        if judge not in panel:
            continue
        left = rank_without(about, view, each, judge, leave_out(judge, own))
        row["without_judge"] = {
            "judge": judge,
            "verdict": say_without(left, each, name, judge),
            "told": say_reach(left, about.card.unit[1]),
            "changes": left.changes(each),
            "leader": left.ranking.leader if leads(left.ranking) else None,
            "values": left.values, "lost_samples": left.lost,
            "models": [
                {"model": one["side"], "name": name(one["side"]), "mean": one["value"],
                 **{column: _finite(one[column]) for column in ("without", "low", "high")}}
                for one in left.beside.iter_rows(named=True)
            ],
            "left_out": dict(left.left_out),
        }  # fmt: skip


def _tell_corrected(about: "Declaration", found: "CorrectedRanking", name: "Name") -> dict[str, Any]:
    """What reviewers' decisions change in a task, each mean and success rate beside the one as judged."""
    from cxlab.read.comparison.words import leads, say_changes, say_leader

    words = ("mean", "corrected", "low", "high", "change", "passed", "passed_corrected")
    columns = ("value", "corrected", "corrected_low", "corrected_high", *words[4:])
    return {
        "decisions": found.decided, "values": found.values, "verdicts": found.verdicts,
        "told": say_changes(found, about.card.unit[1]),
        "verdict": say_leader(found.ranking, name),
        "leader": found.ranking.leader if leads(found.ranking) else None,
        "models": [
            {"model": row["side"], "name": name(row["side"]),
             **{word: _finite(row[column]) for word, column in zip(words, columns, strict=True)}}
            for row in found.beside.iter_rows(named=True)
        ],
        "left_out": dict(found.left_out),
    }  # fmt: skip


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
