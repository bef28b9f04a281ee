"""What Overview answers at a glance, a row a benchmark: what was evaluated, who leads, how much passed, what breaks."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from cxlab.charts.failure_names import say_commonest, say_worst
from cxlab.charts.names import begin
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View, annotations
from cxlab.read.comparison.ranking import Ranking, Rankings
from cxlab.read.comparison.words import leads, say_against, say_floors, say_leader, say_leaders, say_no_floors
from cxlab.read.failures import passed_rate
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.report.decision_figures import say_metric, say_other_lead
from cxlab.ui.address import cached, link
from cxlab.ui.labels import plain, say_no_verdict, say_passed
from cxlab.views.benchmarks import leave_out_floors
from cxlab.views.comparison_sets import ranked, say_chosen, view_of
from cxlab.views.like_run import link_floors
from cxlab.views.overview.board import compared_success
from cxlab.views.overview.queries import Outcome, other_leads, outcome

_WIDTHS = (2, 4, 2, 4)
_MOST_RATES = 3
_HEADS = ("Evaluated", "Who leads", "Passed", "What breaks most")


def show_summary(abouts: Sequence[Declaration]) -> None:
    """One row for each benchmark of the store, with links to Compare and to the failures behind it."""
    with st.container(border=True, key="summary", gap="small"):
        for spot, head in zip(st.columns(_WIDTHS), _HEADS, strict=True):
            spot.caption(head)
        for about in abouts:
            _show_row(about)


def _show_row(about: Declaration) -> None:
    name = about.card.id
    view = view_of(name)
    found = cached(ranked, view)
    told = cached(outcome, leave_out_floors(View(benchmark=name), about))
    evaluated, leading, passed, breaks = st.columns(_WIDTHS)
    with evaluated:
        link(about.card.name, "compare", view)
        st.caption(_say_size(found))
    leading.markdown(plain(_say_finding(found, told, about.card.unit)))
    # Of several settings a ranking is of one, beside a rate that is of all of them.
    under = say_chosen(found.set)
    if under:
        leading.caption(plain(f"Under {under}; Compare has the others."))
    with leading:
        _show_leads(about, found, view)
        _show_judged_by(about, found, view)
    scored = [each for each in found.tasks if each.table.height]
    low = say_floors(scored, short_model)
    none = "" if low else say_no_floors(scored, bool(about.floors))
    if words := low or none:
        leading.caption(plain(f"⚠ Under {under}: {words}." if under else f"⚠ {words}."))
    if none:
        with leading:
            link_floors(about, found.set.conditions)
    if words := _say_baseline(about, found):
        leading.caption(plain(words))
    with passed:
        st.markdown(format_share(passed_rate(told.passed, told.failed)), help=_help_passed(about))
        st.caption(_say_passed(about, told))
        if words := _say_compared(about, view, scored, under):
            st.caption(plain(words))
        if told.unscored:
            many = format_count(told.unscored)
            link(
                f"{many}{' more' if told.passed + told.failed else ''} got no verdict",
                "failures",
                View(name, verdict="unscored"),
                help=_help_unscored(about, told),
            )
    with breaks:
        if told.failed and told.worst:
            _show_worst(about, told.worst, "failed", f"of {format_count(told.failed)} that failed")
        elif told.undecided and not told.failed:
            of = f"of {format_count(told.unscored)} that neither passed nor failed"
            _show_worst(about, told.undecided, "unscored", of)
        elif not told.failed:
            st.caption(f"No {about.card.unit[0]} failed.")


def _show_worst(about: Declaration, worst: Mapping[str, Any], verdict: str, of: str) -> None:
    """What broke most attempts of a verdict, where it shows more than its name, and the way to them."""
    unit, titles = about.card.unit, {task.id: task.title for task in about.card.tasks}
    finding, note = say_worst(worst, unit, of, titles)
    st.markdown(plain(finding))
    st.caption(plain(note))
    which = "this one" if worst["attempts"] == 1 else f"these {format_count(worst['attempts'])}"
    link(f"See {which}", "failures", View(about.card.id, alike=worst["alike"], verdict=verdict))


def _say_size(found: Rankings) -> str:
    scored = [each for each in found.tasks if each.table.height]
    if not scored:
        return "nothing that could be compared"
    models = {side for each in scored for side in each.table["side"]}
    samples = sum(each.compared.samples for each in scored)
    known = sum(each.compared.known for each in scored)
    tasks = f", {len(scored)} tasks" if len(scored) > 1 else ""
    simulated = {side for each in scored for side in each.simulated}
    who = f"{len(models)} model{'' if len(models) == 1 else 's'}"
    who += " (all simulated)" if models <= simulated else f" ({len(simulated)} simulated)" if simulated else ""
    of = f" of the dataset's {format_count(known)}" if known > samples else ""
    have = f" that {'both' if len(models) == 2 else 'all'} have" if len(models) > 1 else ""
    return f"{who}, {format_count(samples)}{of} sample{'' if samples == known == 1 else 's'}{have}{tasks}"


def _say_finding(found: Rankings, outcome: Outcome, unit: tuple[str, str]) -> str:
    scored = [each for each in found.tasks if each.table.height or each.floors.height]
    if not scored and outcome.unscored and not outcome.passed + outcome.failed:
        return f"Nobody can be ranked: {say_no_verdict(outcome.unscored, unit)}"
    if not scored:
        return "Nothing has been scored yet that models could be ranked by"
    told = say_leader(scored[0], short_model) if len(scored) == 1 else say_leaders(scored, short_model)
    return begin(told)


def _show_leads(about: Declaration, found: Rankings, view: View) -> None:
    """Of several tasks each that somebody leads, with the way to it."""
    several = [each for each in found.tasks if each.table.height > 1]
    if len(several) < 2:
        return
    with st.container(gap=None):
        for each in filter(leads, several):
            words = f"{short_model(each.leader)}: {each.task.title}"
            link(words, "compare", view.change(tasks=(each.task.id,)), help=plain(say_metric(about, each)))


def _show_judged_by(about: Declaration, found: Rankings, view: View) -> None:
    """By which metric a benchmark with one ranked task is judged, and each other one by which the verdict is another:
    links to Compare led by it."""
    several = [each for each in found.tasks if each.table.height > 1]
    if len(several) != 1 or not (others := cached(other_leads, view)):
        return
    with st.container(gap=None):
        words = f"Judged by {name_metric(several[0].task.metric)}"
        link(words, "compare", view, help=plain(say_metric(about, several[0])))
        for each in others:
            if (each.first, each.decided) != (several[0].leader, several[0].decided):
                link(say_other_lead(each, short_model), "compare", view.change(lead=each.metric))


def _say_baseline(about: Declaration, found: Rankings) -> str:
    """How the best stands against the kept baseline, task by task where there are several; "" where none is kept."""
    kept = cached(annotations.all_baselines).get(about.card.id, {}).get("model")
    if kept is None:
        return ""
    beside = [each for each in found.tasks if kept.side in each.compared.sides and each.table.height > 1]
    if len(beside) == 1:
        return say_against(beside[0], kept.side, short_model)
    sure = sum(_is_beaten(each, kept.side) for each in beside)
    told = f"another is ahead of it for sure in {sure} of {len(beside)} tasks" if beside else "not in this comparison"
    return f"Baseline {short_model(kept.side)}: {told}"


def _is_beaten(found: Ranking, baseline: str) -> bool:
    """Whether the leader is ahead of a side for sure."""
    return any(row["side"] == baseline and row["verdict"] == "worse" for row in found.gaps.iter_rows(named=True))


def _help_passed(about: Declaration) -> str:
    return f"{say_passed(about.card)} Without constant agents. By model on the same samples: the tables below."


def _say_passed(about: Declaration, told: Outcome) -> str:
    known = told.passed + told.failed
    return f"of {format_count(known)} {about.card.unit[known != 1]} with a verdict, of all models under all settings"


def _say_compared(about: Declaration, view: View, scored: Sequence[Ranking], under: str) -> str:
    """The success rates of the models on the samples that all of them have, `under` one of several settings; "" where
    there are no two."""
    if not any(each.table.height > 1 for each in scored):
        return ""
    rates = compared_success(about, view, scored)
    told = ", ".join(f"{short_model(model)} {format_share(rate)}" for model, rate in rates[:_MOST_RATES])
    more = f" and {len(rates) - _MOST_RATES} more" if len(rates) > _MOST_RATES else ""
    return f"On the same samples{under and f', under {under}'}: {told}{more}" if told else ""


def _help_unscored(about: Declaration, told: Outcome) -> str:
    """Why so many neither passed nor failed."""
    if told.undecided is None:
        return "Neither passed nor failed."
    why = say_commonest(told.undecided, about.card.unit, {task.id: task.title for task in about.card.tasks})
    return plain(f"Neither passed nor failed. Most often: {why}.")
