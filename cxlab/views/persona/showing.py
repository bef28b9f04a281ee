"""What stored runs say before anything is played: tasks worth showing, and whether being told shows at all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation import worth_showing
from cxlab.benchmarks.mmtaup2.evaluation.results import TERMS
from cxlab.benchmarks.mmtaup2.evaluation.worth_showing import PairedEffect, TaskContrast, Term
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.run import seed_of
from cxlab.charts.numbers import format_change
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.store import write
from cxlab.store.attempt_metrics import load_figures
from cxlab.ui.address import cached
from cxlab.ui.labels import label, plain, section
from cxlab.views.persona.choices import EXPOSURES, SETS, Choices, VariantChoice
from cxlab.views.persona.choices import write as write_address
from cxlab.views.persona.queries import list_runs, load_agent_messages

_MOST = 3
_FIGURES = ["pass", "turns"]
_COLUMNS = {"persona": SETS["Personas"], "exposure": SETS["What the agent knows"]}
_LEVELS = {"persona": ("no persona", "easy", "hard"), "exposure": ("told nothing", "told", "infers")}
_EXPOSED = {1: "Told who it is", 2: "With an inferred profile"}
_CALLED = {
    "none": "none",
    "easy": "an easy one",
    "hard": "a hard one",
    "hurried": "a hurried one",
    "wary": "a wary one",
}
_OF_WHOM = {0: " of the customer", 1: "", 2: ""}
# Of conversations; from this difference in goals reached on a tester asks for more of them.
_LARGE = 0.2
_OPENING = "simulated:strong"


def list_contrasts(agent: str) -> list[TaskContrast]:
    """Tasks that stored runs of this agent played under three personas or exposures, the most telling first."""
    runs = _runs_of(agent)
    return cached(_rank, runs) if runs else []


def _runs_of(agent: str) -> dict[str, str]:
    """The agent's largest run, of equals the newest, with its dataset; nothing where its tasks cannot be played."""
    playable = live_tasks.sources()
    rows = cached(list_runs).filter((pl.col("model") == agent) & ~pl.col("again"))
    found = rows.filter(pl.col("dataset_id").is_in(list(playable))).sort("conversations", descending=True)
    return dict(found.select("run_id", "dataset_id").head(1).iter_rows())


def _rank(runs: Mapping[str, str]) -> list[TaskContrast]:
    return worth_showing.rank(*load_figures(list(runs), _FIGURES, TERMS), runs, load_agent_messages(list(runs)))


def find_opening() -> dict[str, list[str]] | None:
    """The address of a typical contrast of the stand-in agent, of personas where there is any: what the page opens
    on."""
    found = list_contrasts(_OPENING)
    best = next(filter(None, (find_typical(found, kind) for kind in _COLUMNS)), None)
    if best is None:
        return None
    return {
        "from": [best.dataset], "domain": [best.domain], "case": [best.task], "seed": [str(_seed(best))],
        "agent": [_OPENING], "variant": [column.code for column in _COLUMNS[best.kind]],
    }  # fmt: skip


def find_typical(found: Sequence[TaskContrast], kind: str) -> TaskContrast | None:
    """Of all contrasts of this kind the typical one; see worth_showing."""
    return worth_showing.find_typical([one for one in found if one.kind == kind])


def say_typical(now: Choices) -> str:
    """By which rule the task on the page is an example; "" where it is not chosen by it."""
    found = list_contrasts(now.agent)
    for kind in _COLUMNS:
        one = find_typical(found, kind)
        if one is not None and played(now, one).play == replace(now, anew=False).play:
            count = sum(each.kind == kind for each in found)
            if count < 2:
                return ""
            differ = "difference" if one.more_adapted is None else "differences"
            told = f"a typical one: of {count} stored tasks that whose {differ} in turns ({one.more_turns:+d})"
            if one.more_adapted is None:
                return f"{told} is the median"
            points = f"{format_change(100 * one.more_adapted, 0)} points"
            return f"{told} and in messages that adapt ({points}) are together nearest to the means"
    return ""


def _seed(one: TaskContrast) -> int:
    return seed_of(one.task, one.trial, write.load_run(one.run_id).seed)


def played(now: Choices, one: TaskContrast) -> Choices:
    """The choices that play a stored contrast again, with its very seed."""
    return replace(
        now, source=one.dataset, domain=one.domain, case=one.task, seed=_seed(one),
        columns=_COLUMNS[one.kind], beats=0, anew=False, held="",
    )  # fmt: skip


def show_worth(now: Choices) -> None:
    """Tasks on which personas or exposures differ most in this agent's stored runs, to be shown by a click; on a stage
    none."""
    found = [one for one in list_contrasts(now.agent) if one.domain == now.domain and one.size > (0, 0)]
    if now.large or not found:
        return
    shown: list[TaskContrast] = []
    for one in found:
        if len(shown) < _MOST and one.task not in [each.task for each in shown]:
            shown.append(one)
    # Above the talk, where whoever comes for the first time looks.
    with st.popover("Worth showing", type="tertiary", key="persona-worth"):
        for place, one in enumerate(shown):
            tip = f"The goal: {describe(one)}. Stored: one conversation each of {label(now.agent)}."
            titles = live_tasks.titles(live_tasks.cases(one.domain, one.dataset))
            st.button(
                plain(titles[one.task]), key=f"persona-worth-{place}", width="stretch", help=plain(tip),
                type="primary" if now.play == played(now, one).play else "secondary",
                on_click=lambda one=one: write_address(played(now, one)),
            )  # fmt: skip
            st.caption(plain(describe(one)))


def show_why(now: Choices, frames: Sequence[LiveSnapshot], live: bool = False) -> None:
    """Of a play that is stored: what became of it there; `frames`: as it is played live, which may come out otherwise.

    On a stage nothing but that it did. While it is played `live`, what is stored is another conversation and would
    tell the end of this one.
    """
    known = (one for one in list_contrasts(now.agent) if one.task == now.case)
    one = next((one for one in known if played(now, one).play == replace(now, anew=False).play), None)
    if one is None:
        return
    otherwise = tell_otherwise(one, frames)
    typical = say_typical(now)
    told = f"As stored, one conversation each, an example and no measure. The goal: {describe(one)}."
    told = "" if now.large or live else told + (f" The task is {typical}." if typical else "") + _tell_against(now, one)
    if told or otherwise:
        st.caption(plain(f"{told} {otherwise}".strip()))


def _tell_against(now: Choices, one: TaskContrast) -> str:
    """That the example goes the other way than its kind does over all, by a turn or for sure; "" where it does not."""
    runs, terms = tuple(_runs_of(now.agent)), worth_showing.SETS[one.kind]
    for place, term in enumerate(terms[1:], 1):
        gap = one.turns[place] - one.turns[0]
        effects = cached(measure, runs, term, terms[0])
        usual = next((each for each in effects if each.figure == "turns"), None)
        if usual and gap * usual.difference < 0 and (usual.shown or abs(usual.difference) >= 1):
            sure = "" if usual.shown else ", though not for sure"
            return (
                f" Here {_LEVELS[one.kind][place]} went the other way than over all tasks: {one.turns[0]} → "
                f"{one.turns[place]} turns, on average {usual.base:.1f} → {usual.told:.1f}{sure}."
            )
    return ""


def tell_otherwise(one: TaskContrast, frames: Sequence[LiveSnapshot]) -> str:
    """That what is on the page is not what was stored, once all of it is over; "" where it is the same."""
    now = [(bool(frame.passed), frame.tally.turns) for frame in frames]
    if not now or not all(frame.ended for frame in frames) or now == list(zip(one.passed, one.turns, strict=True)):
        return ""
    return f"Played live it came out otherwise than stored, where the goal was: {describe(one)}."


def describe(one: TaskContrast) -> str:
    """What the contrast is: "no persona ✓ reached in 9 turns, easy ✓ reached in 10 turns, …"."""
    cells = zip(_LEVELS[one.kind], one.passed, one.turns, strict=True)
    return ", ".join(
        f"{level} {'✓ reached in' if passed else '✕ missed after'} {turns} turns" for level, passed, turns in cells
    )


class Comparison(NamedTuple):
    """A column against the first one, from which one thing sets it apart: what that is, and what both have alike."""

    what: str
    whose: str
    told: Term
    base: Term
    lines: tuple[str, str] = (worth_showing.TEXT, worth_showing.TEXT)


def list_comparisons(columns: Sequence[VariantChoice]) -> list[Comparison]:
    """The columns that stored conversations can be held against the first for: by another persona, by what the agent
    is told of a customer who has one, or by voice as runs usually have it."""
    first, found = columns[0], []
    base, whose = (first.persona, first.exposure), f"{first.persona} customers"
    for column in dict.fromkeys(columns[1:]):
        told = column.persona, column.exposure
        if told[1] == base[1] and column.modality == first.modality == worth_showing.TEXT and told != base:
            what = f"{told[0].capitalize()} persona against {_CALLED[base[0]]}"
            found.append(Comparison(what, f"text, the agent {EXPOSURES[base[1]]}{_OF_WHOM[base[1]]}", told, base))
        elif told[0] == base[0] != "none" and column.modality == first.modality == worth_showing.TEXT and not base[1]:
            if told != base:
                found.append(Comparison(_EXPOSED[told[1]], f"text, {whose}", told, base))
        elif told == base and (first.modality, column) == (worth_showing.TEXT, replace(first, modality="voice")):
            lines = worth_showing.VOICE, worth_showing.TEXT
            alike = f"{whose if base[0] != 'none' else 'no persona'}, the agent {EXPOSURES[base[1]]}"
            what = f"By voice, {column.wer} % misheard, against text"
            found.append(Comparison(what, alike, told, base, lines))
    return found


def show_effect(agent: str, columns: Sequence[VariantChoice], brief: bool = False, typical: str = "") -> None:
    """Over all stored runs of the agent: does what sets the columns apart show, in its words and in what comes of them?

    Each column is held against the first, where one thing sets the two apart. Nothing where nothing is stored.
    `brief`: a line, for a stage, which also says by which rule the example is a `typical` one.
    """
    runs = _runs_of(agent)
    asked = list_comparisons(columns)
    if runs and not asked and len(set(columns)) > 1:
        st.caption("These conversations differ in more than one thing, so no measured difference is told of them.")
    measured = [
        (one, cached(measure, _runs_for(agent, runs, one.lines), one.told, one.base, one.lines))
        for one in asked
        if runs
    ]
    found = [(one, effects) for one, effects in measured if effects]
    if not found:
        return
    # The last column is the one that is furthest from the first; what is sure comes before what is not.
    ranks = ((any(e.shown for e in effects), any(map(_is_large, effects)), n) for n, (_, effects) in enumerate(found))
    best, effects = found[max(ranks)[2]]
    first = effects[0]
    finding = f"{best.what}, {best.whose}: {tell_finding(effects)}"
    pairs = "1 pair" if first.n == 1 else f"{first.n} pairs"
    if brief:
        over = f"Over {pairs} of stored conversations, {first.tasks} tasks; below is one example."
        rule = f"The example is {plain(typical)}." if typical else None
        st.markdown(f"**{plain(finding)}.** :gray[{plain(over)}]", help=rule)
        return
    section(plain(finding))
    over = f"Over {pairs} of stored conversations of {label(agent)}, {first.tasks} tasks."
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(over), width="content")
        with st.popover("Each difference", type="tertiary", key="persona-effects"):
            lines = [f"- **{plain(f'{one.what}, {one.whose}')}**: {plain(tell_effect(each))}" for one, each in found]
            st.markdown("\n".join(lines))
            counts = sorted({cached(count, _runs_for(agent, runs, one.lines), *one[2:]) for one, _ in found})
            tests = " or ".join(map(str, counts))
            st.caption(
                f"Means, and 95 % intervals of the difference, corrected for {tests} comparisons: three figures of "
                "every level that is stored against the plainest, whichever columns are open."
            )


def _runs_for(agent: str, runs: Mapping[str, str], lines: tuple[str, str]) -> tuple[str, ...]:
    """The agent's run; of two ways to speak also the largest one on the same data that has the other way."""
    if lines[0] == lines[1]:
        return tuple(runs)
    rows = cached(list_runs).filter(
        (pl.col("model") == agent) & ~pl.col("again") & pl.col("dataset_id").is_in(list(runs.values()))
    )
    spoken = rows.filter(pl.col("modalities").list.contains(lines[0])).sort("conversations", descending=True)
    return tuple(dict.fromkeys([*runs, *spoken["run_id"].head(1)]))


_TEXTS = (worth_showing.TEXT, worth_showing.TEXT)


def count(runs: tuple[str, ...], told: Term, base: Term, lines: tuple[str, str] = _TEXTS) -> int:
    """For how many comparisons a difference of these terms is corrected."""
    return worth_showing.count_tests(load_figures(runs, _FIGURES, TERMS)[0], told, base, lines)


def measure(runs: tuple[str, ...], told: Term, base: Term, lines: tuple[str, str] = _TEXTS) -> list[PairedEffect]:
    """What these terms change against plainer ones in these runs, corrected for all that are stored beside them."""
    stored = load_figures(runs, _FIGURES, TERMS)
    tests = worth_showing.count_tests(stored[0], told, base, lines)
    return worth_showing.measure_effect(*stored, load_agent_messages(runs), told, base, 1 - 0.05 / tests, lines)


def _is_large(one: PairedEffect) -> bool:
    """Whether a difference in goals would matter if it were none of chance."""
    return one.figure == "pass" and not one.shown and abs(one.difference) >= _LARGE


def tell_finding(effects: Sequence[PairedEffect]) -> str:
    """What the effects come to, in words: "7.2 more turns; no sure difference in goals reached"."""
    if effects[0].n == 1:
        return "one pair of dialogues, an example and no measure"
    sure = []
    for one in (one for one in effects if one.shown):
        size, more = abs(one.difference), "more" if one.difference > 0 else "fewer"
        much = f"{size:.1f} {more}" if one.figure == "turns" else f"{100 * size:.1f} points {more}"
        sure.append(f"{much} {worth_showing.FIGURES[one.figure]}")
    # What may be chance and would matter is not hidden behind "no sure difference".
    large = [f"{_tell(one).partition(' (')[0]}, not sure" for one in effects if _is_large(one)]
    rest = [worth_showing.FIGURES[one.figure] for one in effects if not one.shown and not _is_large(one)]
    unsure = " and ".join(", ".join(rest).rsplit(", ", 1))
    return "; ".join(part for part in (", ".join(sure), *large, unsure and f"no sure difference in {unsure}") if part)


def tell_effect(effects: Sequence[PairedEffect]) -> str:
    """The effects in a line: what is sure, then what is not, each with the interval of its difference."""
    sure = [_tell(one) for one in effects if one.shown]
    unsure = [_tell(one) for one in effects if not one.shown]
    return "; not sure: ".join([", ".join(sure), *([", ".join(unsure)] if unsure else [])]).removeprefix("; ")


def _tell(one: PairedEffect) -> str:
    """ "goals reached 12 of 12 → 11 of 12 (−25 to 0 points)"; of what is the same no interval."""
    name = worth_showing.FIGURES[one.figure]
    if one.figure == "turns":
        low, high = (format_change(end) for end in (one.low, one.high))
        return f"{name} {one.base:.1f} → {one.told:.1f} ({low} to {high})"
    points = f"({_points(one.low)} to {_points(one.high)} points)"
    if one.figure != "pass":
        if round(100 * one.base) == round(100 * one.told):
            return f"{name} the same: {100 * one.base:.0f} %"
        return f"{name} {100 * one.base:.0f} → {100 * one.told:.0f} % {points}"
    base, told = (f"{round(share * one.n)} of {one.n}" for share in (one.base, one.told))
    return f"{name} the same: {base} and {told}" if base == told else f"{name} {base} → {told} {points}"


def _points(share: float) -> str:
    """A difference in points; one that would read as none keeps a decimal."""
    points = 100 * share
    return format_change(points, 1 if 0.05 <= abs(points) < 0.5 else 0)
