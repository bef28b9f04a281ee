"""A conversation under way as a column: what was said and heard, what was counted, what has changed, who it is.

All of it is HTML of our own in which every value is escaped: nothing that anybody said is rendered.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from cxlab.charts.numbers import format_usd
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot, WorldChange
from cxlab.ui.app_frame import colours
from cxlab.ui.labels import plain
from cxlab.ui.render import render
from cxlab.ui.transcript_html import mark_heard
from cxlab.views.persona import live_metrics
from cxlab.views.persona.choices import VariantChoice

ENDS = {
    "customer_stop": "the customer hung up",
    "agent_stop": "the agent ended it",
    "provider": "the model's provider failed",
    "unreadable": "three replies in a row could not be read",
    "loop": "the same was said or done four times over",
    "too_many_errors": "too many tool errors",
    "max_steps": "the limit of steps was reached",
    "timeout": "the time was up",
}
_MOST_ROWS, _MOST_CHANGES = 12, 2
_TELLING = {"technical_skill": "technical skill", "frustration_level": "frustration"}
_LONGEST = 42
# The way to end in which the goal is neither reached nor missed.
CUT_SHORT = "provider"
# Of a screen: what is not the talk; when there is also a finding; when a person answers.
_REST = {"plain": "27rem", "found": "31rem", "hand": "34rem"}
_WHERE = {
    "device": "phone",
    "surroundings": "line as the phone sees it",
    "orders": "order",
    "bills": "bill",
    "users": "user",
}


def style(large: bool) -> None:
    """The look of the columns; `large` is for a beamer."""
    ink = colours()
    size, told = ("clamp(1.05rem, 1.55vw, 1.6rem)", "clamp(.95rem, 1.25vw, 1.3rem)") if large else (".86rem", ".86rem")
    # On one screen: what stands above and below a talk takes as much more of it as there is to be said there.
    sizes = ".cx-talk {height: 22rem;}"
    if large:
        rest = [f".cx-talk.{name} {{height: max(9rem, calc(100vh - {taken}));}}" for name, taken in _REST.items()]
        narrow = [
            f".cx-talk.{name} {{height: max(9rem, calc(100vh - {taken} - 2rem));}}" for name, taken in _REST.items()
        ]
        sizes = " ".join([*rest, "@media (max-width: 1200px) {", *narrow, "}"])
    alone = """
    [data-testid="stMain"] h3 {font-size: clamp(1.15rem, 1.9vw, 1.8rem);}
    [class*="st-key-persona-v"] button p {font-size: clamp(1rem, 1.5vw, 1.5rem); font-weight: 600;}
    [data-testid="stMain"] audio[autoplay] {position: absolute; height: 0;}
    section[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] {display: none;}
    [data-testid="stMainBlockContainer"] {padding-top: 1rem; padding-bottom: .5rem; max-width: none;}
    """
    st.html(
        f"""<style>{alone if large else ""}
    {sizes}
    .cx-talk {{overflow-y: auto; display: flex; flex-direction: column-reverse; font-size: {size};
      line-height: 1.35; border: 1px solid {ink.hairline}; border-radius: .4rem; padding: .5rem .7rem;}}
    .cx-talk p {{font-size: inherit; margin: 0 0 .55rem 0; padding-left: .6rem; white-space: pre-wrap;
      overflow-wrap: anywhere;}}
    .cx-talk p.customer {{border-left: 3px solid #56B4E9;}} .cx-talk p.agent {{border-left: 3px solid {ink.accent};}}
    .cx-talk p.person {{background: {ink.raised}; border-left: 3px dashed #56B4E9;}}
    .cx-talk .who, .cx-talk .call {{font-size: .8em; color: {ink.muted};}}
    .cx-quiet {{font-size: {told if large else ".8rem"}; color: {ink.muted};}}
    .cx-talk .who {{display: block;}}
    .cx-talk .call {{margin: 0 0 .4rem .7rem; overflow-wrap: anywhere;}}
    .cx-talk .call b {{color: {ink.ink}; font-weight: 600;}} .cx-talk .bad {{color: {ink.bad};}}
    .cx-talk .sign {{border: 1px solid {ink.hairline}; border-radius: .3rem; padding: 0 .3rem; margin-left: .3rem;}}
    .cx-talk .caret {{color: {ink.muted};}}
    .cx-talk del {{color: {ink.muted};}}
    .cx-talk mark {{background: transparent; color: inherit; border-bottom: 2px dotted {ink.warning};}}
    .cx-change {{font-size: {told}; border-collapse: collapse; width: 100%;}}
    .cx-change td {{padding: 1px .6rem 1px 0; vertical-align: top; overflow-wrap: anywhere;
      border-bottom: 1px solid {ink.hairline};}}
    .cx-change td:first-child {{color: {ink.muted}; width: 48%;}}
    .cx-change mark {{background: transparent; color: {ink.good}; font-weight: 600;}}
    .cx-told {{font-size: {told}; line-height: 1.35;}}
    {live_metrics.style(large)}
    .cx-end {{font-size: {size}; font-weight: 600;}} .cx-end.good {{color: {ink.good};}}
    .cx-end.bad {{color: {ink.bad};}}
    @media (prefers-reduced-motion: no-preference) {{
      .cx-talk .fresh {{animation: cx-come .35s ease-out;}}
      @keyframes cx-come {{from {{opacity: 0; transform: translateY(.4rem);}}}}
    }}
    </style>"""
    )


def divide(variants: int, large: bool) -> Sequence[Any]:
    """A column a variant; on a beamer one more beside them, for the metrics."""
    return st.columns([1.0] * variants + [0.54 + 0.26 * variants]) if large else st.columns(variants, gap="medium")


def show_dialogue(
    frame: LiveSnapshot, title: str, large: bool, busy: bool, draft: tuple[str, str] | None, beside: str = "plain"
) -> None:
    """What was said, as the other side got it; the newest message stands at the bottom and is in sight.

    `beside`: what else the screen has to hold: plain, found (what the variants came to) or hand (a person's answer).
    `busy`: a model is at it, whose words are still to come; `draft`: (side, what it has written of them so far).
    """
    last = max((n for n, each in enumerate(frame.messages) if _speaks(each)), default=-1)
    lines: list[dict[str, Any]] = []
    for place, message in enumerate(frame.messages):
        if message.role == "tool":
            lines += _call(message, large)
        elif _speaks(message):
            lines.append(_said(message, fresh=place == last))
    if busy and frame.waits:
        usual = frame.messages[-1].role if frame.waits == "tool" else "agent" if frame.waits == "agent" else "customer"
        who, words = draft or (usual, "")
        lines.append({"kind": who, "who": f"{who.capitalize()} …", "signs": (), "words": words, "caret": bool(words)})
    st.html(render("cxlab.views.persona:talk", beside=beside, title=title, lines=lines))


def _speaks(message: Message) -> bool:
    return message.role in ("customer", "agent") and bool(message.data.get("delivered", True)) and bool(message.text)


def _said(message: Message, fresh: bool) -> dict[str, Any]:
    data = message.data
    by_hand = bool(data.get("by_hand"))
    who = "You, as the customer" if by_hand else "Customer" if message.role == "customer" else "Agent"
    signs = []
    if data.get("confirms"):
        tool = str(data["confirms"]).replace("_", " ")
        signs.append(f"asks for a yes: {tool}" if message.role == "agent" else "says yes")
    if data.get("clarifies"):
        signs.append("asks again")
    ideal = data.get("ideal")
    return {
        "kind": f"{message.role}{' person' if by_hand else ''}{' fresh' if fresh else ''}",
        "who": f"{who} · {message.turn}" if message.turn else who,
        "signs": signs,
        "words": mark_heard(str(ideal), message.text) if data.get("wer") and ideal else message.text,
        "caret": False,
    }


def _call(message: Message, large: bool) -> list[dict[str, Any]]:
    """A tool call in a line: who, which, whether it went well and whether it changed anything."""
    data = message.data
    failed = data.get("kind", "ok") != "ok"
    if large and not failed and not data.get("changed"):
        return []
    given = data.get("arguments")
    told = ", ".join(_short(value) for value in given.values()) if isinstance(given, dict) and not large else ""
    name = str(data.get("tool", "tool")).replace("_", " ")
    return [
        {
            "call": name,
            "who": "customer’s phone" if data.get("side") == "customer" else "agent",
            "told": f"({told})" if told else "",
            "fault": (data.get("error") or "refused") if failed else "",
            "changed": bool(data.get("changed")),
        }
    ]


def show_end(frame: LiveSnapshot, large: bool) -> None:
    """How it ended, in a line; nothing while it goes on."""
    if not frame.ended:
        return
    if frame.ended == CUT_SHORT:
        # Nobody knows what would have become of it: that is no goal missed.
        kind, sign, word = "bad", "■", "Cut short"
    else:
        kind, sign, word = ("good", "✓", "Goal reached") if frame.passed else ("bad", "✕", "Goal missed")
    # An audience takes for granted that a customer hangs up.
    why = "" if large and frame.ended == "customer_stop" else f" · {ENDS.get(frame.ended, frame.ended)}"
    st.html(Markup('<div class="cx-end {}">{} {}{}</div>').format(kind, sign, word, why), width="content")


def show_fault(frame: LiveSnapshot) -> None:
    """What went wrong when it was cut short."""
    if frame.ended and frame.fault:
        _quietly(frame.fault)


def show_cost(cost_usd: float | None) -> None:
    """What a conversation has cost so far."""
    st.caption(plain(f"Cost so far: {'unknown' if cost_usd is None else format_usd(cost_usd)}"))


def show_changes(changes: Sequence[WorldChange], domain: str, large: bool) -> None:
    """What is not as it was at the start: the device's and the line's, or the order's."""
    what = "phone and line" if domain == "telecom" else "orders"
    if not changes:
        _quietly(f"The {what}: as at the start.")
        return
    # On a beamer in a line or two, by the last word of the place alone.
    most = _MOST_CHANGES if large else _MOST_ROWS
    rows = [
        _Change(_plain_name(each.path) if large else name_place(each.path), _short(each.before), _short(each.now), True)
        for each in changes[:most]
    ]
    _draw_changes("Changed" if large else f"Changed on the {what}", rows, large, max(0, len(changes) - most))


class _Change(NamedTuple):
    """A value that is another than before; where what was before is not known, it is told as it is."""

    name: str
    before: str
    now: str
    known: bool


def _draw_changes(head: str, changes: Sequence[_Change], large: bool, more: int = 0) -> None:
    st.html(render("cxlab.views.persona:changes", head=head, changes=changes, in_a_line=large, more=more))


def _quietly(text: str) -> None:
    st.html(Markup('<div class="cx-quiet">{}</div>').format(text))


def _plain_name(path: Sequence[str]) -> str:
    return path[-1].replace("_", " ")


def name_place(path: Sequence[str]) -> str:
    """("customer", "device", "airplane_mode") as "phone: airplane mode"."""
    places = [_WHERE.get(each, each.replace("_", " ")) for each in path[1:]]
    return f"{' '.join(places[:-1])}: {places[-1]}" if len(places) > 1 else " ".join(places)


def show_profile(frame: LiveSnapshot, column: VariantChoice, large: bool) -> None:
    """What the agent is told of the customer: nothing, the persona's card, or what it inferred, with what is new."""
    if column.exposure == 0:
        return
    if column.exposure == 1:
        card = frame.told or "There is no persona to tell of."
        lines = [each.lstrip("- ") for each in card.splitlines() if each.strip()]
        st.html(render("cxlab.views.persona:card", lines=lines[:3] if large else lines, in_a_line=large))
        return
    if not frame.profiles:
        when = "after three messages" if large else "none yet; the first one comes after three messages of the customer"
        _quietly(f"Profile: {when}.")
        return
    now = _told(frame.profiles[-1])
    before = _told(frame.profiles[-2]) if len(frame.profiles) > 1 else {}
    # On a beamer what is new of it, in a line.
    shown = _TELLING if large else {name: name.replace("_", " ") for name in now}
    rows = [
        _Change(
            word, _short(before.get(name), 80), _short(now[name], 80), bool(before) and before.get(name) != now[name]
        )
        for name, word in shown.items()
        if name in now
    ]
    version = f": version {len(frame.profiles)}, turn {frame.profiles[-1].get('turn', '?')}"
    _draw_changes(f"The agent infers{'' if large else version}", rows, large)


def _told(version: Mapping[str, Any]) -> Mapping[str, Any]:
    profile = version.get("profile")
    return profile if isinstance(profile, Mapping) else {}


def explain_voice(columns: Sequence[VariantChoice], lacks: Mapping[str, str]) -> None:
    """What voice is on this page, and what would have to be installed to hear it."""
    lines = {column.modality for column in columns}
    if lines == {"text"}:
        return
    parts = ["~~Struck~~: said and not heard; underlined with dots: heard instead."]
    if "voice" in lines:
        parts.append("Voice has no sound here: a seeded channel mishears as many words as stated, in both directions.")
    if needed := lacks.get("sound"):
        parts.append(plain(f"Real audio is not installed on this machine; it needs {needed}."))
    st.caption(" ".join(parts))


def find_difference(columns: Sequence[VariantChoice], frames: Sequence[LiveSnapshot]) -> str:
    """What the variants made of the same task, in a sentence; nothing until all are over."""
    if not all(frame.ended for frame in frames):
        return ""
    decided = [frame for frame in frames if frame.ended != CUT_SHORT]
    if not decided:
        return "All were cut short: the model's provider failed"
    reached = sum(bool(frame.passed) for frame in decided)
    goal = "All reach the goal" if reached == len(frames) else f"{reached} of {len(decided)} reach the goal"
    if len(decided) < len(frames):
        return f"{goal}; {len(frames) - len(decided)} cut short, for the model's provider failed"
    turns = [frame.tally.turns for frame in frames]
    most, least = turns.index(max(turns)), turns.index(min(turns))
    if turns[most] == turns[least]:
        return f"{goal}, each in {turns[0]} turns"
    names = short_titles(columns)
    few = "1 turn" if turns[least] == 1 else f"{turns[least]} turns"
    return f"{goal}; {names[least].lower()} takes {few}, {names[most].lower()} {turns[most]}"


def short_titles(columns: Sequence[VariantChoice]) -> list[str]:
    """Each column by what sets it apart: one thing of it in full if that is enough; those alike are numbered."""
    for place in range(3):
        words = [column.words[place] for column in columns]
        if len(set(words)) == len(words):
            return [_begin(each) for each in words]
    names = [_begin(" · ".join(parts)) for parts in brief_titles(columns)]
    return [f"{name} ({n})" if names.count(name) > 1 else name for n, name in enumerate(names, 1)]


def brief_titles(columns: Sequence[VariantChoice]) -> list[tuple[str, ...]]:
    """The same in single words, where there is little room: ("told", "voice")."""
    losses = {column.wer for column in columns if column.modality == "voice"}
    brief = [column.brief(len(losses) > 1) for column in columns]
    kept = [place for place in range(3) if len({each[place] for each in brief}) > 1] or [0]
    return [tuple(each[place] for place in kept) for each in brief]


def show_title(columns: Sequence[VariantChoice], task: str) -> None:
    """The task, and the persona where all columns have the same: what an audience must know."""
    personas = {column.words[0] for column in columns}
    shared = f" · {personas.pop().lower()}" if len(personas) == 1 else ""
    st.title(plain(task + shared), anchor=False, width="content")


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(value: Any, longest: int = _LONGEST) -> str:
    match value:
        case None:
            text = "nothing"
        case bool():
            text = "yes" if value else "no"
        case dict() | list():
            text = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}" if value else "none"
        case str():
            text = " ".join(value.split()).replace("_", " ") or "empty"
        case _:
            text = json.dumps(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
