"""The conversations side by side, the same moment of the task in one row, with the words in which the agent adapts.

All of it is HTML of our own in which every value is escaped: nothing that anybody said is rendered.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.evaluation import adaptations
from cxlab.benchmarks.mmtaup2.live import moments
from cxlab.charts.record_words import describe_record, name_records
from cxlab.charts.sent_fields import say_arguments
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.ui.app_frame import colours
from cxlab.ui.render import render
from cxlab.ui.transcript_html import mark_heard
from cxlab.views.persona.choices import VariantChoice
from cxlab.views.persona.live_conversation import shorten

# Who does not know what a setting is called stumbles over its name.
_STUMBLES = "plain_words"
_NOW = "Now"
# Letters of what a tool is called with.
_MOST_TOLD = 90
# A simulated agent sends nothing now and then, as real models do.
PLANTED = "simulated fault: an empty reply"
# What is wrong with a call's arguments, as its caller is told it → as an audience understands it.
_FAULTS = {
    "also needs:": "sent without",
    "does not take:": "sent with what it does not take:",
    "takes its arguments as a JSON object": "sent in a form that cannot be read",
}
# A model that has not answered for so long is told of by the second.
SLOW_S = 3.0


class Pending(NamedTuple):
    """What is still to come in a column: whether a model is at it, (side, what it has written so far), since when."""

    busy: bool
    draft: tuple[str, str] | None
    since: float | None


def style(large: bool) -> str:
    """The look of the board, as CSS."""
    ink = colours()
    size = "clamp(1.05rem, 1.45vw, 1.5rem)" if large else ".86rem"
    return f"""
    .cx-board {{overflow-y: auto; display: flex; flex-direction: column-reverse; font-size: {size}; line-height: 1.35;
      border: 1px solid {ink.hairline}; border-radius: .4rem;}}
    .cx-board .moment {{font-size: .8em; font-weight: 600; color: {ink.muted}; background: {ink.raised};
      padding: .15rem .7rem; border-bottom: 1px solid {ink.hairline}; border-top: 1px solid {ink.hairline};}}
    .cx-board .moment:first-child {{border-top: 0;}}
    .cx-board .cells {{display: grid; grid-template-columns: repeat(var(--n), minmax(0, 1fr)); column-gap: 1rem;}}
    .cx-board .cell {{padding: .45rem .7rem .1rem .7rem;}}
    /* What was said last stands at the bottom, where it is in sight, however long the others are. */
    .cx-board .last .cell {{display: flex; flex-direction: column; justify-content: flex-end;}}
    .cx-board .cell + .cell {{border-left: 1px solid {ink.hairline};}}
    .cx-board .none {{color: {ink.muted};}}
    .cx-board p {{font-size: inherit; margin: 0 0 .5rem 0; padding-left: .6rem; white-space: pre-wrap;
      overflow-wrap: anywhere;}}
    .cx-board p.customer {{border-left: 3px solid #56B4E9;}} .cx-board p.agent {{border-left: 3px solid {ink.accent};}}
    .cx-board p.person {{background: {ink.raised}; border-left: 3px dashed #56B4E9;}}
    .cx-board .who, .cx-board .call {{font-size: .8em; color: {ink.muted};}}
    .cx-board .who {{display: block;}}
    .cx-board .call {{margin: 0 0 .4rem .7rem; overflow-wrap: anywhere;}}
    .cx-board .call b {{color: {ink.ink}; font-weight: 600;}}
    .cx-board .needless {{color: {ink.warning}; font-weight: 600; cursor: help;}} .cx-board .bad {{color: {ink.bad};}}
    .cx-board .sign {{border: 1px solid {ink.hairline}; border-radius: .3rem; padding: 0 .3rem; margin-left: .3rem;}}
    .cx-board .caret {{color: {ink.muted};}}
    .cx-board del {{color: {ink.muted};}}
    .cx-board mark {{background: transparent; color: inherit; border-bottom: 2px dotted {ink.warning};}}
    .cx-board .adapts, .cx-legend .adapts {{background: color-mix(in srgb, {ink.good} 18%, transparent);
      border-radius: .2rem; box-shadow: 0 1px 0 {ink.good}; cursor: help;}}
    .cx-board .strange, .cx-legend .strange {{text-decoration: underline wavy {ink.bad} 1px;
      text-underline-offset: .2em; cursor: help;}}
    .cx-legend {{font-size: .8rem; color: {ink.muted};}}
    @media (prefers-reduced-motion: no-preference) {{
      .cx-board .fresh {{animation: cx-come .35s ease-out;}}
      @keyframes cx-come {{from {{opacity: 0; transform: translateY(.4rem);}}}}
    }}"""


def show_board_of_talks(
    columns: Sequence[VariantChoice],
    frames: Sequence[LiveSnapshot],
    pending: Sequence[Pending],
    large: bool,
    beside: str = "plain",
    stand_in: bool = False,
) -> None:
    """What was said as the other side got it, in rows by moment; what is said now stands at the bottom, in sight.

    `beside`: what else the screen has to hold: plain, found (what the variants came to), left (and what one of them did
    not mend), live (the switch to answer) or hand (a person's answer). `stand_in`: the agent is a simulated one, whose
    empty replies are planted faults.
    """
    past, last = zip(*(_cut(frame) for frame in frames), strict=True)
    drawn = [
        _lines(frame, column, each, large, stand_in)
        for frame, column, each in zip(frames, columns, pending, strict=True)
    ]
    rows: list[dict[str, Any]] = []
    for title, cells in moments.align(past):
        told = [[] if one is None else _flat(drawn[at][one.start : one.end]) for at, one in enumerate(cells)]
        if any(told):
            rows.append({"title": title, "cells": told, "last": False})
    now = [_flat(drawn[at][start:]) for at, start in enumerate(last)]
    over = all(frame.ended for frame in frames)
    rows.append({"title": moments.END if over else _NOW, "cells": now, "last": True})
    titles = [column.title for column in columns]
    st.html(render("cxlab.views.persona:board", beside=beside, titles=titles, rows=rows))


def explain_marks(columns: Sequence[VariantChoice], frames: Sequence[LiveSnapshot]) -> None:
    """What the marks in the agent's words mean, and who set them; of marks that stand in no message nothing."""
    said = [
        mark_adaptations(one.text, adaptations.find(one.text), _stumbles(column))
        for column, frame in zip(columns, frames, strict=True)
        for one in frame.messages
        if one.role == "agent" and one.turn and speaks(one)
    ]
    legend = []
    if any('class="adapts"' in words for words in said):
        legend.append(
            Markup(
                '<span class="adapts">Shaded</span>: words in which the agent adapts to the customer; in which way '
                "stands above the message."
            )
        )
    if any('class="strange"' in words for words in said):
        legend.append(
            Markup('<span class="strange">Wavy</span>: the name of a setting that this customer stumbles over.')
        )
    if legend:
        told = Markup(" ").join([*legend, "Found by rule; no judge has read it."])
        st.html(Markup('<div class="cx-legend">{}</div>').format(told))


def _cut(frame: LiveSnapshot) -> tuple[list[moments.Moment], int]:
    """The moments that are behind, and where the exchange begins that is going on: what was said last, and what it
    answers, or an audience would not see to what."""
    messages = frame.messages
    spoken = [at for at, one in enumerate(messages) if speaks(one)]
    start = spoken[-2] if len(spoken) > 1 else 0
    before = moments.split(messages, bool(frame.ended))
    kept = [moments.Moment(one.title, one.start, min(one.end, start)) for one in before if one.start < start]
    return kept, start


def _flat(lines: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for each in lines for line in each]


def _lines(
    frame: LiveSnapshot, column: VariantChoice, pending: Pending, large: bool, stand_in: bool
) -> list[list[dict[str, Any]]]:
    """What is drawn of each message, and after the last one what is being written."""
    last = max((n for n, each in enumerate(frame.messages) if speaks(each)), default=-1)
    lines: list[list[dict[str, Any]]] = []
    names = name_records(one.data.get("value") for one in frame.messages if one.role == "tool")
    for place, message in enumerate(frame.messages):
        if message.role == "tool":
            lines.append(_call(message, large, place in frame.needless, names))
        else:
            lines.append([_said(message, column, place == last, stand_in)] if speaks(message) else [])
    if pending.busy and frame.waits:
        usual = frame.messages[-1].role if frame.waits == "tool" else "agent" if frame.waits == "agent" else "customer"
        who, words = pending.draft or (usual, "")
        waited = time.monotonic() - pending.since if pending.since is not None else 0.0
        told = f" {waited:.0f} s" if waited >= SLOW_S and not words else ""
        lines.append(
            [{"kind": who, "who": f"{who.capitalize()} …{told}", "signs": (), "words": words, "caret": bool(words)}]
        )
    return lines


def speaks(message: Message) -> bool:
    """Whether a message was said to the other side."""
    return message.role in ("customer", "agent") and bool(message.data.get("delivered", True)) and bool(message.text)


def _said(message: Message, column: VariantChoice, fresh: bool, stand_in: bool) -> dict[str, Any]:
    data = message.data
    by_hand = bool(data.get("by_hand"))
    who = "You, as the customer" if by_hand else "Customer" if message.role == "customer" else "Agent"
    signs = []
    if data.get("confirms"):
        tool = str(data["confirms"]).replace("_", " ")
        signs.append(f"asks for a yes: {tool}" if message.role == "agent" else "says yes")
    if data.get("clarifies"):
        signs.append("asks again")
    if stand_in and moments.is_empty_reply(message):
        signs.append(PLANTED)
    ideal = data.get("ideal")
    spoken = bool(data.get("wer") and ideal)
    words = mark_heard(str(ideal), message.text) if spoken else Markup.escape(message.text)
    if message.role == "agent" and message.turn:
        meant = str(ideal) if spoken else message.text
        found = adaptations.find(meant)
        if ways := dict.fromkeys(adaptations.KINDS[one.kind] for one in found):
            signs.append(f"adapts: {', '.join(ways)}")
        # In a text that was partly misheard the marks of the recogniser have the right of way.
        words = words if spoken else mark_adaptations(message.text, found, _stumbles(column))
    return {
        "kind": f"{message.role}{' person' if by_hand else ''}{' fresh' if fresh else ''}",
        "who": f"{who} · {message.turn}" if message.turn else who,
        "signs": signs,
        "words": words,
        "caret": False,
    }


def mark_adaptations(text: str, found: Sequence[adaptations.Adaptation], stumbles: bool) -> Markup:
    """The text with the words marked that adapt and, if the customer stumbles over them, names of settings."""
    spans = [(one.start, one.end, "adapts", adaptations.KINDS[one.kind]) for one in found]
    if stumbles:
        free = [hit.span() for hit in adaptations.NAMES.finditer(text)]
        spans += [
            (start, end, "strange", "a name that this customer stumbles over")
            for start, end in free
            if not any(start < one.end and one.start < end for one in found)
        ]
    parts, at = [Markup("")], 0
    for start, end, kind, told in sorted(spans):
        parts += [
            Markup.escape(text[at:start]),
            Markup('<span class="{}" title="{}">{}</span>').format(kind, told, text[start:end]),
        ]
        at = end
    return Markup("").join([*parts, Markup.escape(text[at:])])


def _stumbles(column: VariantChoice) -> bool:
    return _STUMBLES in personas.persona(column.persona).traits


def _call(message: Message, large: bool, needless: bool, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """A tool call in a line: who, which, whether it went well, changed anything, and was for the task at all. `names`:
    what records are called, by their ids, which stand in the tooltip."""
    data = message.data
    failed = data.get("kind", "ok") != "ok"
    if large and not failed and not data.get("changed"):
        return []
    given = data.get("arguments")
    sent = say_arguments(given) if isinstance(given, dict) else ""
    told = say_arguments(given, names) if isinstance(given, dict) else ""
    # An audience knows a bill and a customer, and no ids.
    told = shorten(told, _MOST_TOLD) if told and (not large or told != sent) else ""
    name = str(data.get("tool", "tool")).replace("_", " ")
    return [
        {
            "call": name,
            "who": "customer’s phone" if data.get("side") == "customer" else "agent",
            "told": f" ({told})" if told else "",
            "sent": sent,
            "came": "" if failed or large else describe_record(data.get("value")),
            "fault": _say_fault(str(data.get("error") or "refused"), str(data.get("tool"))) if failed else "",
            "changed": bool(data.get("changed")),
            "needless": needless,
        }
    ]


def _say_fault(error: str, tool: str) -> str:
    """Why a call failed, for who looks on: what its caller is told names the tool once more, and not what is wrong."""
    told = error.removeprefix(tool).lstrip(": ").rstrip(".") if error.startswith(tool) else error
    for given, words in _FAULTS.items():
        if told.startswith(given):
            return f"{words} {told.removeprefix(given).strip().replace('_', ' ')}".strip()
    return told.replace("_", " ") if told != error else error
