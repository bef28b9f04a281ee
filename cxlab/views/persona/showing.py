"""Which stored tasks are worth showing, which the page opens on, and what became of the one on the page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation import worth_showing
from cxlab.benchmarks.mmtaup2.evaluation.results import TERMS
from cxlab.benchmarks.mmtaup2.evaluation.worth_showing import PairedEffect, TaskContrast
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.run import seed_of
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.store import write
from cxlab.store.attempt_metrics import load_figures
from cxlab.ui.address import cached
from cxlab.ui.labels import label, plain
from cxlab.views.persona.choices import SETS, Choices
from cxlab.views.persona.choices import write as write_address
from cxlab.views.persona.claims import FIGURES, find_runs, list_claims, list_pairs, measure, pick_claim
from cxlab.views.persona.queries import load_agent_messages

_MOST = 3
_COLUMNS = {"persona": SETS["Personas"], "exposure": SETS["What the agent knows"]}
_SURE = "as over all stored conversations, for sure"
_UNSURE = "a single case, not what is sure over all stored conversations"
_LEVELS = {"persona": ("no persona", "easy", "hard"), "exposure": ("told nothing", "told", "infers")}


def list_contrasts(agent: str, customer: str) -> list[TaskContrast]:
    """Tasks that stored runs of the two played under three personas or exposures, the most telling first."""
    runs = find_runs(agent, customer)
    return cached(_rank, runs) if runs else []


def _rank(runs: Mapping[str, str]) -> list[TaskContrast]:
    found = worth_showing.rank(*load_figures(list(runs), FIGURES, TERMS), runs, load_agent_messages(list(runs)))
    return [replace(one, hand_over=live_tasks.cases(one.domain, one.dataset)[one.task].transfer_right) for one in found]


def find_opening() -> dict[str, list[str]] | None:
    """The address that the page opens on: the contrast that shows most, of a real agent where one has any, of personas
    before exposures."""
    for agent, customer in list_pairs():
        example = next(filter(None, (find_example(agent, customer, kind) for kind in _COLUMNS)), None)
        if example is not None:
            best = example.task
            return {
                "from": [best.dataset], "domain": [best.domain], "case": [best.task], "seed": [str(_seed(best))],
                "agent": [agent], "customer": [customer],
                "variant": [column.code for column in _COLUMNS[best.kind]],
            }  # fmt: skip
    return None


class Example(NamedTuple):
    """A task as the example of a claim: the contrast, the place of the column that the claim is of, how many tasks
    there are, how many of these are solved, and of how many of those the difference in turns lies within the claim's
    interval."""

    task: TaskContrast
    place: int
    of: int
    solved: int
    within: int


def find_example(agent: str, customer: str, kind: str) -> Example | None:
    """Of all contrasts of this kind the one that shows most of the claim that stands above it; see worth_showing."""
    found, place, within = _list_kind(agent, customer, kind)
    (other,) = _COLUMNS.keys() - {kind}
    task = worth_showing.find_telling(found, place, within, worth_showing.weigh(*_list_kind(agent, customer, other)))
    if task is None:
        return None
    solved = worth_showing.find_solved(found)
    return Example(task, place, len(found), len(solved), len(worth_showing.find_within(solved, place, within)))


def _list_kind(agent: str, customer: str, kind: str) -> tuple[list[TaskContrast], int, tuple[float, float]]:
    """The contrasts of a kind, with the place of the column that the claim above them is of and the interval of its
    turns."""
    found = [one for one in list_contrasts(agent, customer) if one.kind == kind]
    claim = pick_claim(list_claims(agent, customer, _COLUMNS[kind]))
    turns = claim.turns if claim else None
    return found, claim.of.place if claim else -1, (turns.low, turns.high) if turns else worth_showing.ANY


def _list_effects(now: Choices, kind: str) -> tuple[int, Sequence[PairedEffect]]:
    """The place of the column that the claim over this kind is of, and what it claims."""
    claim = pick_claim(list_claims(now.agent, now.customer, _COLUMNS[kind]))
    return (claim.of.place, claim.effects) if claim else (-1, ())


def say_choice(now: Choices) -> str:
    """By which rule the task on the page is an example; "" where it is not chosen by it."""
    for kind in _COLUMNS:
        found = find_example(now.agent, now.customer, kind)
        if found is None or found.of < 2 or played(now, found.task).play != replace(now, anew=False).play:
            continue
        told = f"picked to show most: of {found.of} stored tasks"
        if found.solved and found.solved < found.of:
            told += f", of the {found.solved} that the agent solves each time without handing over"
        if 0 < found.within < (found.solved or found.of):
            told += f", of the {found.within} of them whose difference in turns lies within the interval of the mean"
        adapting = "" if found.task.more_adapted(found.place) is None else " and messages that adapt"
        return f"{told}, the one on which turns{adapting} change most, by persona and by what the agent knows"
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
    """Tasks on which personas or exposures differ most in stored runs of the two, to be shown by a click, those that
    show no more than is sure over all before those that do; on a stage none."""
    found = [one for one in list_contrasts(now.agent, now.customer) if one.domain == now.domain and one.size > (0, 0)]
    if now.large or not found:
        return
    shown: list[TaskContrast] = []
    claimed = {kind: _list_effects(now, kind) for kind in _COLUMNS}
    sure = {id(one): worth_showing.is_borne(one, *claimed[one.kind]) for one in found}
    # Of a hand-over an audience sees little; it comes after all others.
    for one in sorted(found, key=lambda one: (one.hand_over or not any(one.passed), not sure[id(one)])):
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
            st.caption(plain(f"{describe(one)}; {_SURE if sure[id(one)] else _UNSURE}"))


def show_why(now: Choices, frames: Sequence[LiveSnapshot], live: bool = False) -> None:
    """Of a play that is stored: what became of it there; `frames`: as it is played live, which may come out otherwise.

    On a stage nothing but that it did. While it is played `live`, what is stored is another conversation and would
    tell the end of this one.
    """
    known = (one for one in list_contrasts(now.agent, now.customer) if one.task == now.case)
    one = next((one for one in known if played(now, one).play == replace(now, anew=False).play), None)
    if one is None:
        return
    otherwise = tell_otherwise(one, frames)
    choice = say_choice(now)
    told = f"As stored, one conversation each, an example and no measure. The goal: {describe(one)}."
    told = "" if now.large or live else told + (f" The task is {choice}." if choice else "") + _tell_against(now, one)
    if told or otherwise:
        st.caption(plain(f"{told} {otherwise}".strip()))


def _tell_against(now: Choices, one: TaskContrast) -> str:
    """That the example goes the other way than its kind does over all, by a turn or for sure; "" where it does not."""
    runs, terms = tuple(find_runs(now.agent, now.customer)), worth_showing.SETS[one.kind]
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
