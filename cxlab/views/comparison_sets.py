"""The comparison set of a page: what was chosen, what it stands on, and who is not in it."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.names import name_each, name_parties
from cxlab.charts.numbers import format_count, format_time
from cxlab.read import View, annotations
from cxlab.read.annotations import WRONG_LABEL
from cxlab.read.comparison import ranking
from cxlab.read.comparison.ranking import Ranking, Rankings
from cxlab.read.comparison.sets import Choice, ComparisonSet, TaskSet, Unit, attempts_of
from cxlab.read.comparison.words import leads, name_some, say_customers, say_left_out
from cxlab.read.conditions import of_runs
from cxlab.read.query import AttemptSet, replaced_runs
from cxlab.read.results.headlines import may_lead
from cxlab.read.runs import RunProgress, progress
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric, name_metric
from cxlab.store import catalogue, layout
from cxlab.ui.address import cached, here, link, set_view
from cxlab.ui.labels import describe_state, label, plain
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries

_MOST_PARTS = 3
_MOST_RUNS = 40
_NOT_WHOLE = ("running", "stalled", "failed", "stopped", "partly")


def ranked(view: View, unit: Unit = "model") -> Rankings:
    """The rankings of a view of one benchmark, a task each, by its headline."""
    return ranking.rank(declared(view.benchmark, view.lead), view, unit)


def view_of(benchmark: str) -> View:
    """What is ranked of a benchmark, as the address has it: the conditions, what leads, and without which samples."""
    return leave_out_marked(View(benchmark=benchmark, sets=here().sets, lead=here().lead))


def find_telling_task(benchmark: str) -> str:
    """Of a benchmark's several tasks the one that tells most: one that somebody leads for sure, of those the one of
    most samples; "" where no two models are compared."""
    several = [each for each in cached(ranked, view_of(benchmark)).tasks if each.table.height > 1]
    best = max(several, key=lambda each: (leads(each), each.compared.samples), default=None)
    return best.task.id if best else ""


def leave_out_marked(view: View) -> View:
    """The view without the samples whose label people marked as wrong, where the address asks for that."""
    if here().marked != "out":
        return view
    marked = tuple(cached(annotations.marked_samples, view.benchmark)["sample_id"])
    return view.change(marked="out", without_samples=marked, page=view.page)


def offer_marked(found: ComparisonSet, rankings: Sequence[Ranking], about: Declaration) -> None:
    """How many of the samples are marked as wrongly labelled and which, and the switch that leaves them out, or counts
    them again, also where nothing else is left; nothing where none is."""
    marked = cached(annotations.marked_samples, about.card.id, about.identifying.id if about.identifying else "")
    if marked.is_empty():
        return
    out = here().marked == "out"
    if out and found.conditions is not None:
        marked = marked.filter(pl.col("datasets").list.contains(found.conditions.dataset))
    elif not out:
        inside = frozenset[str]().union(*(each.samples for each in rankings))
        marked = marked.filter(pl.col("sample_id").is_in(inside))
    names = marked["name"].to_list()
    if not names:
        return
    of = f"{format_count(len(names))} of these samples {'is' if len(names) == 1 else 'are'} marked “{WRONG_LABEL}”"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(f"{say_left_out(names) if out else f'{of}: {name_some(names)}'}."), width="content")
        words = "Count them again" if out else "Leave them out"
        if st.button(words, key=f"marked-{about.card.id}", type="tertiary"):
            set_view(here().change(marked="" if out else "out"))
            st.rerun()


def choose_set(found: ComparisonSet, key: str, benchmark: str = "") -> None:
    """A list of the conditions that models can be compared under, where there are several; the choice goes into the
    address. `benchmark`: its name, on a page that shows several."""
    if len(found.choices) < 2 or found.conditions is None:
        return
    names = describe_choices(found.choices)
    ids = list(names)
    widget = f"cx-set-{key}"
    st.session_state[widget] = found.conditions.id

    def changed() -> None:
        picked, now = st.session_state[widget], here()
        others = tuple(each for each in now.sets if each not in names)
        set_view(now.change(sets=others if picked == ids[0] else (*others, picked)))

    words = f"{plain(benchmark)}, compared under" if benchmark else "Compared under"
    st.selectbox(
        words, ids, key=widget, format_func=names.__getitem__, on_change=changed,
        help="Only results under the same conditions are ranked together: dataset, settings, judges, customer, prompts "
        "and scorer. The largest complete set comes first.",
    )  # fmt: skip


def choose_lead(benchmark: str) -> None:
    """Which metric leads, where the benchmark lets that be chosen; the choice goes into the address and stays."""
    about = declared(benchmark)
    card = about.card
    if len(may_lead(about)) < 2:
        return
    scored = set(cached(read.metric_names, View(benchmark=benchmark))["metric"])
    leads = [metric for metric in may_lead(about) if metric in scored]
    if len(leads) < 2:
        return
    usual = card.headline if card.headline in leads else leads[0]
    widget, now = f"cx-lead-{benchmark}", here().lead
    st.session_state[widget] = now if now in leads else usual

    def changed() -> None:
        picked = st.session_state[widget]
        set_view(here().change(lead="" if picked == usual else picked, metric=""))

    paper = next((task.paper for task in card.tasks if task.paper in leads), "")
    said = [f"{head_metric(usual)} is what ranks unless another is chosen"]
    said += [f"published tables go by {name_metric(paper)}"] if paper and paper != usual else []
    meanings = "; ".join(f"{head_metric(metric)}: {card.metrics.get(metric, '')}" for metric in leads)
    meanings = f"{'; '.join(said)}. {meanings}"
    st.selectbox(
        "Ranked by", leads, key=widget, format_func=head_metric, on_change=changed, width=320, help=plain(meanings)
    )


def describe_choices(choices: Sequence[Choice]) -> dict[str, str]:
    """Id → in what the conditions differ, and how much was done under them."""
    told, apart = {}, _find_apart(choices)
    for each in choices:
        own = dict(each.conditions.parts)
        words = [own[title] if title == "Dataset" else f"{title} {name_parties(own[title])}"
                 for title in apart if title in own]  # fmt: skip
        size = f"{each.models} model{'' if each.models == 1 else 's'}, {format_count(each.samples)} samples"
        told[each.conditions.id] = " · ".join([*words, size, f"newest {format_time(each.newest)}"])
    return told


def say_chosen(found: ComparisonSet) -> str:
    """In what the chosen conditions differ from others that results are stored under, to stand after "under":
    "framework ReAct"; "" where there are no others."""
    if len(found.choices) < 2 or found.conditions is None:
        return ""
    own = dict(found.conditions.parts)
    words = [f"{title.lower()} {name_parties(own[title])}" for title in _find_apart(found.choices) if title in own]
    return ", ".join(words) or "one of several settings"


def _find_apart(choices: Sequence[Choice]) -> list[str]:
    """The titles of the first few settings that are not the same in all."""
    parts = [dict(each.conditions.parts) for each in choices]
    titles = dict.fromkeys(title for each in parts for title in each)
    return [title for title in titles if len({each.get(title) for each in parts}) > 1][:_MOST_PARTS]


def narrow_to_set(view: View, benchmarks: Sequence[str]) -> View:
    """The view narrowed to the attempts behind the rankings of these benchmarks, as on Overview and Compare: one set of
    conditions each, no run twice, for all models the same samples. Says which, lets others be chosen and names who is
    left out; a view without results stays as it is."""
    wanted = tuple(View(name, view.runs, view.models, view.tasks, view.facets, sets=view.sets) for name in benchmarks)
    chosen, samples = _attempts_of(str(layout.home()), catalogue.data_version(), wanted)
    told, looked_at = [], []
    for each, count in zip(wanted, samples, strict=True):
        found, card = queries.compared(each), declared(each.benchmark).card
        sets = [one for one in found.tasks.values() if one.sides]
        if not sets:
            continue
        sides = {one.sides for one in sets}
        models = len(sets[0].sides)
        who = "one model" if models == 1 else "both models" if models == 2 else f"all {models} models"
        who = who if len(sides) == 1 else "all models of their task"
        lead = f"{card.name}: " if len(benchmarks) > 1 else ""
        told.append(f"{lead}{format_count(count)} sample{'' if count == 1 else 's'} that {who} tried")
        looked_at.append((card, found, sets))
    if told:
        st.caption(plain(f"{'; '.join(told)}, under the same conditions."))
    for card, found, sets in looked_at:
        choose_set(found, card.id, card.name if len(benchmarks) > 1 else "")
        titles = {task.id: task.title for task in card.tasks}
        _show_left_out([(titles.get(one.task, one.task), one) for one in sets], label)
    return view if chosen is None else view.change(among=chosen.keep(), page=view.page)


@lru_cache(maxsize=32)
def _attempts_of(home: str, version: str, wanted: tuple[View, ...]) -> tuple[AttemptSet | None, tuple[int, ...]]:
    """The attempts behind the sets of several views, None where there are none, and how many samples each has."""
    parts: list[pl.DataFrame] = []
    samples = []
    for view in wanted:
        found, about = queries.compared(view), declared(view.benchmark)
        own = [attempts_of(about, view, found, each) for each in found.tasks.values() if each.sides]
        samples.append(pl.concat(own)["sample_id"].n_unique() if own else 0)
        parts += own
    return (AttemptSet.of(pl.concat(parts)) if parts else None), tuple(samples)


def tell_standing(
    about: Declaration, found: ComparisonSet, rankings: Sequence[Ranking], key: str, name: Callable[[str], str] = label
) -> None:
    """What a ranking stands on, below it: who and what is left out, which runs are not whole, whether the customers
    said the same to all, and what all results have in common."""
    show_left_out(rankings, name)
    _show_unfinished(about, found, rankings)
    offer_marked(found, rankings, about)
    _warn_of_customers(rankings)
    _show_conditions(found, rankings, key, name)


def show_left_out(found: Sequence[Ranking], name: Callable[[str], str] = label) -> None:
    """Who is not ranked, with the reason; nothing where everybody is."""
    _show_left_out([(each.task.title, each.compared) for each in found], name)


def _show_left_out(found: Sequence[tuple[str, TaskSet]], name: Callable[[str], str]) -> None:
    tasks: dict[tuple[str, str], list[str]] = {}
    for task, each in found:
        own = each.coverage
        for side, reason, inside in zip(own["side"], own["reason"], own["in_set"], strict=True):
            if not inside:
                tasks.setdefault((name(side), reason), []).append(task)
    # Who is left out for one reason in the same tasks is named together; all tasks need not be named.
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (side, reason), where in tasks.items():
        together.setdefault((reason, () if len(where) == len(found) else tuple(where)), []).append(side)
    lines = [
        f"**{plain(', '.join(sides))}**: {plain(reason)}" + (f" ({plain(', '.join(where))})" if where else "")
        for (reason, where), sides in together.items()
    ]
    if lines:
        st.caption("Not ranked: " + "; ".join(lines) + ".")


def _show_unfinished(about: Declaration, found: ComparisonSet, rankings: Sequence[Ranking]) -> None:
    """The runs behind a ranking that go on, ended early or were spoilt in part by a provider, newest first; nothing
    where all are whole."""
    ranked = frozenset[str]().union(*(each.runs for each in rankings))
    replaced = replaced_runs()
    runs = [
        each for each in of_runs(about.card.id, about.switches).values()
        if (each.run in ranked or each.conditions == found.conditions) and each.model not in about.floor_models
        and each.run not in replaced
    ]  # fmt: skip
    newest = sorted(runs, key=lambda each: each.created, reverse=True)[:_MOST_RUNS]
    told = [
        f"{label(each.model)} ({describe_state(state.state)}, {_say_done(state)})"
        for each in newest if (state := progress(each.run)).state in _NOT_WHOLE
    ]  # fmt: skip
    if told:
        runs_words = "A run behind this is" if len(told) == 1 else f"{len(told)} runs behind this are"
        st.caption(plain(f"⚠ {runs_words} not whole: {name_some(told)}."))
        link("Resume or try again", "run")


def _say_done(state: RunProgress) -> str:
    if state.state == "partly":
        return f"{format_count(state.again)} of {format_count(state.planned)} spoilt by a provider"
    return f"{format_count(state.done)} of {format_count(state.planned)}"


def _show_conditions(found: ComparisonSet, rankings: Sequence[Ranking], key: str, name: Callable[[str], str]) -> None:
    """What all results have in common, and how much each model has: folded, below a ranking."""
    with st.expander("What is compared", type="compact"):
        if found.conditions is not None:
            usual = "; ".join(
                f"{plain(title)}: {plain(name_parties(value))}" for title, value in found.conditions.parts
            )
            st.caption(f"The same for all: {usual}.")
        frame = pl.concat([each.coverage for each in rankings])
        frame = frame.with_columns(name=name_each(frame["side"], name))
        columns = {
            "name": column("Model" if found.conditions else "Run"),
            "task": column("Task"),
            "samples": column("Has samples", "count", "With a result under these conditions."),
            "of": column("Of", "count", "Samples of the task in the dataset."),
            "shared": column("Compared on", "count", "Samples that all models of the ranking have."),
            "reason": column("Why not ranked", width="large"),
        }
        if len(rankings) < 2:
            del columns["task"]
        if not any(frame["reason"]):
            del columns["reason"]
        show_table(frame, columns, key=f"coverage-{key}", alt="What each model has.", downloads=False)


def _warn_of_customers(found: Sequence[Ranking]) -> None:
    """Says where customers did not say the same to all models."""
    for words in dict.fromkeys(told for each in found if (told := say_customers(each.customers))):
        st.caption(f"⚠ {plain(words)}")
