"""The metrics of variants side by side as they stand: a row a metric, a column a variant, marked where they moved."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from markupsafe import Markup, escape

from cxlab.benchmarks.mmtaup2.evaluation import adaptations, customer_talk
from cxlab.benchmarks.mmtaup2.evaluation.left_undecided import is_large
from cxlab.records.live_snapshot import LiveMetric, LiveSnapshot
from cxlab.ui.app_frame import colours
from cxlab.ui.labels import plain
from cxlab.ui.render import render
from cxlab.views.persona.choices import VariantChoice
from cxlab.views.persona.results.labels import in_words

TURNS = "The agent's messages to the customer."
REPEATS = (
    "Messages of the agent that ask or say again, nearly in the same words, what the customer had answered, with "
    "nothing done in between. Counted beside the paper's twelve, by rule."
)
MISHEARD = "Words in a hundred that were not heard as they were said, in both directions, so far."
_DASH = "–"
_ANNOYED = "Annoyed"
Talk = TypeVar("Talk", adaptations.SpeakingStyle, customer_talk.CustomerTalk)
# The value of the first variant, in per cent of the table's width; the name of the metric has what is left.
_FIRST = 11
_PER_CENT = Markup("{} <small>%</small>")


_MANNER: tuple[tuple[str, str, Callable[[adaptations.SpeakingStyle], str]], ...] = (
    (
        "Messages that adapt",
        "Messages of the agent with words that adapt to the customer, by rule.",
        lambda one: f"{round(one.adapted * one.messages)} of {one.messages}",
    ),
    ("Requests a message", "What a message asks the customer to do or tell, mean.", lambda one: f"{one.requests:.1f}"),
    ("Words a message", "Mean length.", lambda one: f"{one.words:.0f}"),
    (
        "Names of settings",
        "How often the agent uses a name that only people who know phones know.",
        lambda one: f"{round(one.names * one.messages)}",
    ),
)


_CUSTOMER: tuple[tuple[str, str, Callable[[customer_talk.CustomerTalk], str]], ...] = (
    ("Words of a message", "Mean length of the customer's messages.", lambda one: f"{one.words:.0f}"),
    ("Asks back", "Messages of the customer with a question.", lambda one: f"{one.questions} of {one.messages}"),
    (
        "Does not know or understand",
        "Messages that say that something is not known or was not understood, by the wording.",
        lambda one: f"{one.lost} of {one.messages}",
    ),
    (
        _ANNOYED,
        "Messages that say so plainly, by the wording; “open” are those that one who is annoyed may have written, too. "
        "Which they are stands at each figure.",
        lambda one: (
            f"{len(one.upset)} of {one.messages}" + (f", {len(one.maybe_upset)} open" if one.maybe_upset else "")
        ),
    ),
    (
        "Facts told at first",
        "Of the names, numbers and addresses that the customer knows those that its first message tells.",
        lambda one: f"{one.told_at_first} of {one.facts}",
    ),
)


class _Row(NamedTuple):
    """A metric: its cells are (value, whether it is the best, an arrow or "", what is told of it)."""

    title: str
    name: str
    told: str
    cells: Sequence[tuple[str, bool, Markup, str]]
    apart: bool


def style(large: bool) -> str:
    """The look of the table, as CSS."""
    ink = colours()
    size, pad = ("clamp(.95rem, min(1.3vw, 2.3vh), 1.7rem)", ".3em") if large else (".86rem", "2px")
    return f"""
    .cx-twelve {{border-collapse: collapse; width: 100%; font-size: {size}; line-height: 1.3;
      font-variant-numeric: tabular-nums;}}
    .cx-twelve th, .cx-twelve td {{padding: {pad} .4rem {pad} 0; border-bottom: 1px solid {ink.hairline};
      vertical-align: baseline;}}
    .cx-twelve th {{font-weight: 400; text-align: left; color: {ink.muted};}}
    .cx-twelve thead th {{text-align: right; vertical-align: bottom; font-size: .85em;
      white-space: {"nowrap" if large else "normal"};}}
    .cx-twelve.under {{table-layout: fixed;}}
    .cx-twelve:not(.under) tbody th {{line-height: 1.2;}}
    .cx-twelve thead th {{text-align: right; vertical-align: bottom; font-size: .85em;}}
    .cx-twelve:not(.under) thead th {{white-space: nowrap;}}
    .cx-twelve thead div {{display: flex; justify-content: space-between; align-items: end; gap: .6rem;}}
    .cx-twelve thead div span:first-child {{white-space: normal; text-align: left;}}
    .cx-twelve thead div span:last-child {{text-align: right;}}
    .cx-twelve td {{text-align: right; color: {ink.muted}; white-space: nowrap; cursor: help;}}
    .cx-twelve tr.apart th, .cx-twelve tr.apart td {{color: {ink.ink};}}
    .cx-twelve tr.apart td.best {{font-weight: 700;}}
    .cx-twelve small {{color: {ink.muted}; font-size: .82em; font-weight: 400;}}
    .cx-twelve .up {{color: {ink.good};}} .cx-twelve .down {{color: {ink.bad};}}
    @media (prefers-reduced-motion: no-preference) {{
      .cx-twelve td.moved {{animation: cx-moved 1.2s ease-out;}}
      @keyframes cx-moved {{from {{background: {ink.hairline};}}}}
    }}"""


def show_metrics(
    names: Sequence[Sequence[str]],
    frames: Sequence[LiveSnapshot],
    columns: Sequence[VariantChoice],
    large: bool,
    explain_marks: Callable[[], None],
) -> None:
    """The twelve metrics of all variants as they stand, after the turns they took and the words that were misheard.

    `names`: of each variant, in lines. Beneath their talks, the values stand at the right end of each.
    `explain_marks`: what the marks in the talks mean, told on a stage where the figures are explained.
    """
    rows = [_turns(frames, large)]
    if large:
        title, told, _ = _MANNER[0]
        row = _manner(title, told, lambda one: f"{100 * one.adapted:.0f}", _describe(frames))
        rows.append(row._replace(name=_PER_CENT.format(title)))
    rows.append(_repeats(frames, large))
    if any(column.modality != "text" for column in columns):
        rows.append(_misheard(frames, columns, large))
    rows += [
        _metric([frame.readings[place] for frame in frames], frames, large) for place in range(len(frames[0].readings))
    ]
    over = all(frame.ended for frame in frames)
    # What has a value of none is named below, once, and takes no row.
    nothing = [row for row in rows if {cell[0] for cell in row.cells} == {_DASH}]
    count, rows = len(rows), [row for row in rows if row not in nothing]
    alone = len(frames) == 1
    if alone:
        rows = [row._replace(apart=True) for row in rows]
    elif large:
        # On a stage what is the same for all, or known of one alone, tells nothing.
        rows = [row for row in rows if len({cell[0] for cell in row.cells} - {_DASH}) > 1] or rows[:1]
    share = 100 / len(frames)
    widths = [] if large else [share - _FIRST, _FIRST, *[share] * (len(names) - 1)]
    heads = [Markup("<br>").join(lines) for lines in names]
    st.html(render("cxlab.views.persona:metrics", names=heads, widths=widths, rows=rows, head="", moving=not over))
    if large:
        with st.popover("Figures and marks", type="tertiary", key="persona-figures"):
            st.markdown("\n".join(f"- **{plain(row.title)}**: {plain(row.told)}" for row in rows))
            if left := count - len(rows):
                which = "have no value yet" if alone else "are the same here, or have a value of one alone"
                st.caption(f"Left out: {left} figures that {which}.")
            explain_marks()
    elif nothing:
        names = Markup(", ").join(
            Markup('<span title="{}">{}</span>').format(row.cells[0][3] or row.told, row.title) for row in nothing
        )
        st.html(Markup('<div class="cx-quiet">Nothing to count {}: {}.</div>').format("here" if over else "yet", names))


def show_manner(names: Sequence[str], frames: Sequence[LiveSnapshot], facts: Sequence[Any]) -> None:
    """How each customer speaks, and the agent to it, counted in their messages; `facts`: what the customer knows."""
    talks = [customer_talk.describe(_said_by(frame, "customer"), facts) for frame in frames]
    rows = [_manner(*one, talks) for one in _CUSTOMER]
    rows = [row._replace(cells=_quote(row, talks)) if row.title == _ANNOYED else row for row in rows]
    _show_counts(names, "How the customer speaks", rows)
    _show_counts(names, "How the agent speaks", [_manner(*one, _describe(frames)) for one in _MANNER])


def _show_counts(names: Sequence[str], head: str, rows: Sequence[_Row]) -> None:
    share = 100 / len(names)
    widths = [share - _FIRST, _FIRST, *[share] * (len(names) - 1)]
    heads = [Markup("{}").format(name) for name in names]
    st.html(
        render(
            "cxlab.views.persona:metrics",
            names=heads,
            widths=widths,
            rows=rows,
            head=head,
            moving=False,
        )
    )


def _quote(row: _Row, talks: Sequence[customer_talk.CustomerTalk | None]) -> Sequence[tuple[str, bool, Markup, str]]:
    """The cells with the very messages that are counted as annoyed or left open."""
    cells = []
    for (value, best, move, told), one in zip(row.cells, talks, strict=True):
        counted = [
            f"{word}: " + " ".join(f"“{text}”" for text in texts)
            for word, texts in (("Annoyed", one.upset), ("Open", one.maybe_upset))
            if texts
        ] if one else []  # fmt: skip
        cells.append((value, best, move, "\n".join(counted) or told))
    return cells


def _describe(frames: Sequence[LiveSnapshot]) -> list[adaptations.SpeakingStyle | None]:
    """How the agent spoke in each conversation so far."""
    return [adaptations.describe(_said_by(frame, "agent")) for frame in frames]


def _said_by(frame: LiveSnapshot, role: str) -> list[str]:
    """What one side has said, as it meant it, the agent's greeting left out."""
    return [
        str(one.data.get("meant", one.text)) for one in frame.messages if one.role == role and one.turn
        and not one.tool_calls
    ]  # fmt: skip


def _manner(
    title: str,
    told: str,
    read: Callable[[Talk], str],
    said: Sequence[Talk | None],
) -> _Row:
    values = [_DASH if one is None else read(one) for one in said]
    cells = [(each, False, Markup(""), told) for each in values]
    return _Row(title, escape(title), told, cells, len(set(values)) > 1)


def _turns(frames: Sequence[LiveSnapshot], large: bool) -> _Row:
    told = TURNS + f" It takes at least {frames[0].tally.least}: the shortest conversation that keeps to the policy."
    note = Markup("") if large else Markup(" <small>at least {}</small>").format(frames[0].tally.least)
    counts = [frame.tally.turns for frame in frames]
    best = _find_best(counts, frames)
    cells = [(str(count), place in best, Markup(""), told) for place, count in enumerate(counts)]
    return _Row("Turns", "Turns" + note, told, cells, len(set(counts)) > 1)


def _find_best(values: Sequence[float | None], frames: Sequence[LiveSnapshot], best: float = 0.0) -> set[int]:
    """Places of the values that are praised, those nearest to the best there can be: once all conversations are over,
    among those that reached the goal and left nothing unmended, if they differ. A figure of one that came to nothing is
    no merit, and of one that goes on nobody knows."""
    if not all(frame.ended for frame in frames):
        return set()
    known = {
        place: abs(value - best)
        for place, (value, frame) in enumerate(zip(values, frames, strict=True))
        if value is not None and frame.passed and not frame.unmended
    }
    nearest = min(known.values(), default=0.0)
    return {place for place, gap in known.items() if gap == nearest} if len(set(known.values())) > 1 else set()


def _repeats(frames: Sequence[LiveSnapshot], large: bool) -> _Row:
    counts = [len(frame.tally.repeated) for frame in frames]
    best, cells = _find_best(counts, frames), []
    for place, (count, frame) in enumerate(zip(counts, frames, strict=True)):
        turns = ", ".join(map(str, frame.tally.repeated))
        told = f"{REPEATS} Here in turn {turns}." if turns else REPEATS
        few = Markup("") if large or not frame.tally.turns else Markup("<small>of {}</small>").format(frame.tally.turns)
        cells.append((Markup("{} {}").format(count, few), place in best, Markup(""), told))
    return _Row("Messages that repeat", escape("Messages that repeat"), REPEATS, cells, len(set(counts)) > 1)


def _misheard(frames: Sequence[LiveSnapshot], columns: Sequence[VariantChoice], large: bool) -> _Row:
    cells = []
    for frame, column in zip(frames, columns, strict=True):
        told = f"{100 * (frame.tally.wer or 0):.0f}{'' if large else ' %'}" if column.modality != "text" else _DASH
        cells.append((told, False, Markup(""), MISHEARD if told != _DASH else "a chat: nothing is spoken"))
    return _Row(
        "Misheard",
        _PER_CENT.format("Misheard") if large else "Misheard",
        MISHEARD,
        cells,
        len({cell[0] for cell in cells}) > 1,
    )


def _metric(readings: Sequence[LiveMetric], frames: Sequence[LiveSnapshot], large: bool) -> _Row:
    what = readings[0]
    values = [None if _is_open(one) else one.value for one in readings]
    apart = len({(one.value, one.left) for one in readings}) > 1
    best, cells = _find_best(values, frames, what.best), []
    for place, (one, frame) in enumerate(zip(readings, frames, strict=True)):
        if one.value is None:
            cells.append((_DASH, False, Markup(""), one.reason))
            continue
        counted = not large and one.share and one.n + one.left >= 2
        open = f", {one.left} open" if one.left else ""
        few = Markup("<small>{} of {}{}</small> ").format(round(one.value * one.n), one.n, open) if counted else ""
        told = f"{one.title}: mean of {one.n}{_tell_open(one)}" + _since(one, frame)
        # A mean of the few that are decided would be read as the figure.
        value = f"≥ {_value(one, _least(one))}" if _is_open(one) else _value(one, one.value)
        move = mark_move(one, {} if frame.ended else frame.before)
        cells.append((value.removesuffix(" %") if large else Markup(few) + value, place in best, move, told))
    name = escape(what.title)
    if large and _is_share(what):
        name = _PER_CENT.format(name)
    return _Row(what.title, name, in_words(what.definition), cells, apart)


def _is_open(one: LiveMetric) -> bool:
    """Whether so much is open that the figure is told as the least that it can be."""
    return one.share and one.value is not None and is_large(one.n, one.left)


def _least(one: LiveMetric) -> float:
    return (one.value or 0.0) * one.n / (one.n + one.left)


def _tell_open(one: LiveMetric) -> str:
    if not one.left:
        return ""
    told = f"; {one.left} more are open, which the wording does not decide"
    if _is_open(one):
        most = _value(one, ((one.value or 0.0) * one.n + one.left) / (one.n + one.left))
        told += f": at least {_value(one, _least(one))}, at most {most}"
    return told


def _is_share(one: LiveMetric) -> bool:
    return one.share or one.metric == "turn_overhead"


def _value(one: LiveMetric, value: float) -> str:
    if _is_share(one):
        sign = "+" if one.metric == "turn_overhead" and value > 0 else ""
        return f"{sign}{100 * value:.0f} %"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def mark_move(one: LiveMetric, before: Mapping[str, float | None]) -> Markup:
    """An arrow where the metric is another one than at the end of the turn before: up for better, down for worse."""
    was = before.get(one.metric)
    if one.value is None or was == one.value or not before:
        return Markup("")
    if was is None:
        return Markup(' <span aria-label="new">•</span>')
    better = abs(one.value - one.best) < abs(was - one.best)
    kind, word, sign = ("up", "better", "▲") if better else ("down", "worse", "▼")
    return Markup(' <span class="{}" aria-label="{} than the turn before">{}</span>').format(kind, word, sign)


def _since(one: LiveMetric, frame: LiveSnapshot) -> str:
    before = frame.before.get(one.metric)
    if one.value is None or before == one.value or not frame.before:
        return ""
    return f"; the turn before: {_DASH if before is None else _value(one, before)}"
