"""What sets the columns of the Persona lab apart, measured over stored runs of an agent and a customer, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.conversation.exposure import IN_WORDS as EXPOSURES
from cxlab.benchmarks.mmtaup2.evaluation import worth_showing
from cxlab.benchmarks.mmtaup2.evaluation.results import TERMS
from cxlab.benchmarks.mmtaup2.evaluation.worth_showing import PairedEffect, Term
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.charts.numbers import format_change
from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.store.attempt_metrics import load_figures
from cxlab.ui.address import cached
from cxlab.ui.labels import label, plain, section
from cxlab.views.persona.choices import VariantChoice
from cxlab.views.persona.queries import list_runs, load_agent_messages

FIGURES = ["pass", "turns"]
_USUAL = "simulated:strong"
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
# Turns by which an example may miss the mean and still be called as the mean is.
_NEAR = 1


def list_pairs() -> list[tuple[str, str]]:
    """(agent, customer) of the stored runs whose tasks can be played: real agents before stand-ins, of these the strong
    one first, then by size; of equals the newest."""
    rows = cached(list_runs).filter(~pl.col("again") & ~pl.col("by_hand") & (pl.col("customer") != ""))
    rows = rows.filter(pl.col("dataset_id").is_in(list(live_tasks.sources())))
    stand_in, usual = pl.col("model").str.starts_with(SIMULATED_PREFIX), pl.col("model") != _USUAL
    rows = rows.sort(stand_in, stand_in & usual, "conversations", descending=[False, False, True], maintain_order=True)
    return list(dict.fromkeys(rows.select("model", "customer").iter_rows()))


def find_runs(agent: str, customer: str) -> dict[str, str]:
    """The largest run of the agent with this customer, of equals the newest, with its dataset; nothing where its tasks
    cannot be played."""
    rows = _runs_between(agent, customer)
    found = rows.filter(pl.col("dataset_id").is_in(list(live_tasks.sources()))).sort("conversations", descending=True)
    return dict(found.select("run_id", "dataset_id").head(1).iter_rows())


def _runs_between(agent: str, customer: str) -> pl.DataFrame:
    """What others played is not told of these two."""
    same = (pl.col("model") == agent) & (pl.col("customer") == customer)
    return cached(list_runs).filter(same & ~pl.col("again") & ~pl.col("by_hand"))


class ColumnComparison(NamedTuple):
    """A column against the first one, from which one thing sets it apart: what that is, what both have alike, and the
    column's place."""

    what: str
    whose: str
    told: Term
    base: Term
    place: int
    lines: tuple[str, str] = (worth_showing.TEXT, worth_showing.TEXT)


class Claim(NamedTuple):
    """A comparison with what it comes to over all stored runs."""

    of: ColumnComparison
    effects: Sequence[PairedEffect]

    @property
    def turns(self) -> PairedEffect | None:
        """What it does to the number of turns."""
        return next((one for one in self.effects if one.figure == "turns"), None)


def list_comparisons(columns: Sequence[VariantChoice]) -> list[ColumnComparison]:
    """The columns that stored conversations can be compared with the first for: by another persona, by what the agent
    is told of a customer who has one, or by voice as runs usually have it."""
    first, found = columns[0], []
    base, whose = (first.persona, first.exposure), f"{first.persona} customers"
    for column in dict.fromkeys(columns[1:]):
        told, place = (column.persona, column.exposure), columns.index(column)
        if told[1] == base[1] and column.modality == first.modality == worth_showing.TEXT and told != base:
            what = f"{told[0].capitalize()} persona against {_CALLED[base[0]]}"
            alike = f"text, the agent {EXPOSURES[base[1]]}{_OF_WHOM[base[1]]}"
            found.append(ColumnComparison(what, alike, told, base, place))
        elif told[0] == base[0] != "none" and column.modality == first.modality == worth_showing.TEXT and not base[1]:
            if told != base:
                found.append(ColumnComparison(EXPOSURES[told[1]].capitalize(), f"text, {whose}", told, base, place))
        elif told == base and (first.modality, column) == (worth_showing.TEXT, replace(first, modality="voice")):
            lines = worth_showing.VOICE, worth_showing.TEXT
            alike = f"{whose if base[0] != 'none' else 'no persona'}, the agent {EXPOSURES[base[1]]}"
            what = f"By voice, {column.wer} % misheard, against text"
            found.append(ColumnComparison(what, alike, told, base, place, lines))
    return found


def list_claims(agent: str, customer: str, columns: Sequence[VariantChoice]) -> list[Claim]:
    """Each column that can be compared with the first, with what stored runs of the two say; none without a pair."""
    runs = find_runs(agent, customer)
    if not runs:
        return []
    measured = [
        Claim(one, cached(measure, _runs_for(agent, customer, runs, one.lines), one.told, one.base, one.lines))
        for one in list_comparisons(columns)
    ]
    return [one for one in measured if one.effects]


def pick_claim(claims: Sequence[Claim]) -> Claim | None:
    """The one that is told in large letters: what is sure before what is not, then the last column, which is the
    furthest from the first."""
    ranks = ((any(e.shown for e in one.effects), any(map(_is_large, one.effects)), n) for n, one in enumerate(claims))
    return claims[max(ranks)[2]] if claims else None


def say_example(claim: Claim | None, frames: Sequence[LiveSnapshot]) -> str:
    """How the example on the page stands to the mean of the claim: "7 more turns, about the mean"; "" as long as it
    goes on, where no difference is sure, or where one of the two came to another end than the other."""
    usual = claim.turns if claim else None
    if claim is None or usual is None or not usual.shown or not all(frame.ended for frame in frames):
        return ""
    base, told = frames[0], frames[claim.of.place]
    if base.passed is not told.passed:
        return ""
    gap = told.tally.turns - base.tally.turns
    size = f"{abs(gap)} {'fewer' if gap < 0 else 'more'} turn{'' if abs(gap) == 1 else 's'}" if gap else "as many turns"
    if abs(gap - usual.difference) < _NEAR:
        return f"{size}, about the mean"
    if gap * usual.difference < 0:
        return f"{size}, the other way than the mean"
    return f"{size}, {'stronger' if abs(gap) > abs(usual.difference) else 'milder'} than the mean"


def show_effect(
    agent: str,
    customer: str,
    columns: Sequence[VariantChoice],
    frames: Sequence[LiveSnapshot],
    brief: bool = False,
    choice: str = "",
) -> tuple[int, int] | None:
    """Over all stored runs of the two: does what sets the columns apart show, in its words and in what comes of them?

    Each column is compared with the first, where one thing sets the two apart; the two columns of what is told in large
    letters are given back. Nothing where nothing is stored. `frames`: the example on the page as it stands; `brief`: a
    line, for a stage, which also says by which rule the example was chosen.
    """
    runs, claims = find_runs(agent, customer), list_claims(agent, customer, columns)
    best = pick_claim(claims)
    if best is None:
        if runs and not list_comparisons(columns) and len(set(columns)) > 1:
            st.caption("These conversations differ in more than one thing, so no measured difference is told of them.")
        return None
    example = say_example(best, frames)
    first = best.effects[0]
    finding = f"{best.of.what}, {best.of.whose}: {tell_finding(best.effects)}"
    pairs = f"{'1 pair' if first.n == 1 else f'{first.n} pairs'} of stored conversations"
    if brief:
        below = f"this example: {example}" if example else "below is one example"
        over = f"Over {pairs}, {first.tasks} tasks; {below}."
        rule = f"The example is {plain(choice)}." if choice else None
        st.markdown(f"**{plain(finding)}.** :gray[{plain(over)}]", help=rule)
        return 0, best.of.place
    section(plain(finding))
    over = f"Over {pairs} of {label(agent)}, {first.tasks} tasks."
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"{over} This example: {example}." if example else over), width="content")
        with st.popover("Each difference", type="tertiary", key="persona-effects"):
            lines = [f"- **{plain(f'{of.what}, {of.whose}')}**: {plain(tell_effect(each))}" for of, each in claims]
            st.markdown("\n".join(lines))
            behind = {of: _runs_for(agent, customer, runs, of.lines) for of, _ in claims}
            counts = sorted({cached(count, ids, of.told, of.base, of.lines) for of, ids in behind.items()})
            tests = " or ".join(map(str, counts))
            st.caption(
                f"Means, and 95 % intervals of the difference, corrected for {tests} comparisons: three figures of "
                "every level that is stored against the plainest, whichever columns are open."
            )
    return 0, best.of.place


def _runs_for(agent: str, customer: str, runs: Mapping[str, str], lines: tuple[str, str]) -> tuple[str, ...]:
    """The run of the two; of two ways to speak also the largest one on the same data that has the other way."""
    if lines[0] == lines[1]:
        return tuple(runs)
    rows = _runs_between(agent, customer).filter(pl.col("dataset_id").is_in(list(runs.values())))
    spoken = rows.filter(pl.col("modalities").list.contains(lines[0])).sort("conversations", descending=True)
    return tuple(dict.fromkeys([*runs, *spoken["run_id"].head(1)]))


_TEXTS = (worth_showing.TEXT, worth_showing.TEXT)


def count(runs: tuple[str, ...], told: Term, base: Term, lines: tuple[str, str] = _TEXTS) -> int:
    """For how many comparisons a difference of these terms is corrected."""
    return worth_showing.count_tests(load_figures(runs, FIGURES, TERMS)[0], told, base, lines)


def measure(runs: tuple[str, ...], told: Term, base: Term, lines: tuple[str, str] = _TEXTS) -> list[PairedEffect]:
    """What these terms change against plainer ones in these runs, corrected for all that are stored beside them."""
    stored = load_figures(runs, FIGURES, TERMS)
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
