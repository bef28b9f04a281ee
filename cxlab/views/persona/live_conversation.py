"""What stands under a conversation: how it ended, what has changed, who the agent takes the customer to be.

All of it is HTML of our own in which every value is escaped: nothing that anybody said is rendered.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.charts.numbers import format_usd
from cxlab.records.live_snapshot import LiveSnapshot, WorldChange
from cxlab.ui.labels import plain
from cxlab.ui.render import render
from cxlab.views.persona.choices import VariantChoice

ENDS = {
    "customer_stop": "the customer ended it",
    "agent_stop": "the agent ended it",
    "provider": "the model's provider failed",
    "unreadable": "three replies in a row could not be read",
    "loop": "the same was said or done four times over",
    "too_many_errors": "too many tool errors",
    "max_steps": "the limit of steps was reached",
    "timeout": "the time was up",
}
_HANDED_OVER = "handed over to a person"
GOAL = "The goal: at the end phone, line and orders are as the task wants them, whatever was said and whoever ended it."
HAND_OVER = (
    "The goal of this task is a hand-over to a person, for neither the agent nor the customer can mend all that is "
    "wrong. Nothing else is asked, so what could have been mended before does not count."
)
_MOST_ROWS = 12
_TELLING = {"technical_skill": "technical skill", "frustration_level": "frustration"}
_LONGEST = 42
# The way to end in which the goal is neither reached nor missed.
CUT_SHORT = "provider"
_WHERE = {
    "device": "phone",
    "surroundings": "line as the phone sees it",
    "orders": "order",
    "bills": "bill",
    "users": "user",
}
_LINES = {"address1": "street", "address2": "flat or suite", "zip": "zip code"}


def divide(variants: int, large: bool) -> Sequence[Any]:
    """A column a variant; on a beamer one more beside them, for the metrics."""
    return st.columns([1.0] * variants + [0.54 + 0.26 * variants]) if large else st.columns(variants, gap="medium")


def show_end(frame: LiveSnapshot, large: bool) -> None:
    """How it ended, in a line; nothing while it goes on."""
    if not frame.ended:
        return
    if frame.ended == CUT_SHORT:
        # Nobody knows what would have become of it: that is no goal missed.
        kind, sign, word = "bad", "■", "Cut short"
    else:
        missed = "Goal missed by what the customer did unasked" if frame.by_customer else "Goal missed"
        kind, sign, word = ("good", "✓", "Goal reached") if frame.passed else ("bad", "✕", missed)
    why, left = f" · {ENDS.get(frame.ended, frame.ended)}", Markup("")
    if frame.ended in ("customer_stop", "agent_stop") and _is_handed_over(frame):
        why = f" · {_HANDED_OVER}"
        if frame.passed and frame.hand_over:
            # Who reads that a goal was reached takes it that the phone works.
            word, why = "Handed over, as this task asks", ""
            left = _tell_unmended(frame.unmended)
    elif large and frame.ended == "customer_stop":
        why = ""  # an audience takes for granted that a customer hangs up
    goal = HAND_OVER if frame.hand_over else GOAL
    told = Markup('<div class="cx-end {}" title="{}">{} {}{}{}</div>').format(kind, goal, sign, word, why, left)
    st.html(told, width="content")


def _tell_unmended(unmended: Sequence[str]) -> Markup:
    if not unmended:
        return Markup("")
    return Markup('<div class="cx-quiet">Not mended: {}</div>').format("; ".join(unmended))


def _is_handed_over(frame: LiveSnapshot) -> bool:
    """Whether the agent handed the customer over to a person."""
    return any(one.data.get("tool") == TRANSFER and one.data.get("kind") == "ok" for one in frame.messages)


def show_fault(frame: LiveSnapshot) -> None:
    """What went wrong when it was cut short."""
    if frame.ended and frame.fault:
        _quietly(frame.fault)


def show_cost(cost_usd: float | None) -> None:
    """What a conversation has cost so far."""
    st.caption(plain(f"Cost so far: {'unknown' if cost_usd is None else format_usd(cost_usd)}"))


def divide_board(variants: int) -> Sequence[Any]:
    """On a beamer: the conversations, and the metrics beside them as wide as `divide` has it."""
    return st.columns([1.0 * variants, 0.54 + 0.26 * variants])


def show_changes(changes: Sequence[WorldChange], domain: str, names: Mapping[str, str] = MappingProxyType({})) -> None:
    """What is not as it was at the start: the device's and the line's, or the order's. `names`: what records are
    called, by their ids."""
    what = "phone and line" if domain == "telecom" else "orders"
    if not changes:
        _quietly(f"The {what}: as at the start.")
        return
    shown = changes[:_MOST_ROWS]
    # Of one address its lines are told under each other, the place itself once.
    parents = [None, *(each.path[:-1] for each in shown)]
    rows = [
        _Change(
            name_place(each.path[-2:] if same else each.path, names),
            names.get(str(each.before)) or shorten(each.before),
            names.get(str(each.now)) or shorten(each.now),
            True,
        )
        for each, same in ((each, each.path[:-1] == before) for each, before in zip(shown, parents, strict=False))
    ]
    _draw_changes(f"Changed on the {what}", rows, False, max(0, len(changes) - _MOST_ROWS))


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


def name_place(path: Sequence[str], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """("customer", "device", "airplane_mode") as "phone: airplane mode"; a record that has a name by that alone."""
    path = [each for at, each in enumerate(path) if at == 0 or not {*path[at + 1 : at + 2]} & names.keys()]
    places = [names.get(each) or (_WHERE | _LINES).get(each, each.replace("_", " ")) for each in path[1:]]
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
    really = personas.persona(column.persona).card.get("technical skill")
    # On a beamer what is new of it, in a line.
    shown = _TELLING if large else {name: name.replace("_", " ") for name in now}
    rows = [
        _Change(
            word,
            shorten(before.get(name), 80),
            shorten(now[name], 80) + (f" (really {really})" if really and name == "technical_skill" else ""),
            bool(before) and before.get(name) != now[name],
        )
        for name, word in shown.items()
        if name in now
    ]
    version = f": version {len(frame.profiles)}, turn {frame.profiles[-1].get('turn', '?')}"
    _draw_changes(f"The agent infers{'' if large else version}", rows, large)


def _told(version: Mapping[str, Any]) -> Mapping[str, Any]:
    profile = version.get("profile")
    return profile if isinstance(profile, Mapping) else {}


HEARD_ALOUD = (
    "Real audio: espeak-ng speaks and pocketsphinx listens, both on this machine. It misheard 22 of 172 words of "
    "everyday service talk, 3 in 10 of the stand-ins' sentences, and more than half where words are not among those it "
    "was given: what goes wrong is as much the recogniser's as the agent's. A transcription service hears better."
)


def explain_voice(columns: Sequence[VariantChoice], lacks: Mapping[str, str]) -> None:
    """What voice is on this page, and what would have to be installed to hear it."""
    lines = {column.modality for column in columns}
    if lines == {"text"}:
        return
    parts = ["~~Struck~~: said and not heard; underlined with dots: heard instead."]
    if "voice" in lines:
        parts.append("Voice has no sound here: a seeded channel mishears as many words as stated, in both directions.")
    if "sound" in lines:
        parts.append(HEARD_ALOUD)
    if needed := lacks.get("sound"):
        parts.append(plain(f"Real audio is not installed on this machine; it needs {needed}."))
    st.caption(" ".join(parts))


def find_difference(
    columns: Sequence[VariantChoice], frames: Sequence[LiveSnapshot], pair: tuple[int, int] | None = None
) -> str:
    """What the variants made of the same task, in a sentence; nothing until all are over. `pair`: the two columns that
    a measured difference above it is of; without one those with the fewest and the most turns are told."""
    if not all(frame.ended for frame in frames):
        return ""
    decided = [frame for frame in frames if frame.ended != CUT_SHORT]
    if not decided:
        return "All were cut short: the model's provider failed"
    reached = sum(bool(frame.passed) for frame in decided)
    if len(frames) == 1:
        which = "The goal, a hand-over," if frames[0].hand_over else "The goal"
        return f"{which} is {'reached in' if reached else 'missed after'} {_count_turns(frames[0])}"
    goal = "All reach the goal" if reached == len(frames) else f"{reached} of {len(decided)} reach the goal"
    goal = goal if reached else "None reaches the goal"
    goal += ", a hand-over" if frames[0].hand_over else ""
    if len(decided) < len(frames):
        return f"{goal}; {len(frames) - len(decided)} cut short, for the model's provider failed"
    names = [name.lower() for name in short_titles(columns)]
    if 0 < reached < len(frames):
        # How long a conversation took that came to nothing is not to be compared with one that reached the goal.
        missed = [
            f"{name} misses it after {_count_turns(frame)}"
            for name, frame in zip(names, frames, strict=True)
            if not frame.passed
        ]
        return f"{goal}; {', '.join(missed)}"
    turns = [frame.tally.turns for frame in frames]
    if len(set(turns)) == 1:
        return f"{goal}, each in {_count_turns(frames[0])}"
    one, other = pair or (turns.index(min(turns)), turns.index(max(turns)))
    return f"{goal}; {names[one]} takes {_count_turns(frames[one])}, {names[other]} {turns[other]}"


def _count_turns(frame: LiveSnapshot) -> str:
    return "1 turn" if frame.tally.turns == 1 else f"{frame.tally.turns} turns"


def short_titles(columns: Sequence[VariantChoice]) -> list[str]:
    """Each column by what sets it apart: one thing of it in full if that is all; those alike are numbered."""
    several = [place for place in range(3) if len({column.words[place] for column in columns}) > 1]
    if len(columns) == 1:
        return [columns[0].words[0]]
    if len(several) == 1:
        words = [column.words[several[0]] for column in columns]
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


def show_title(columns: Sequence[VariantChoice], reason: str, wrong: str) -> None:
    """What the customer comes for in its own words, and the persona where all columns have the same; `wrong`, what
    really is the matter, at hand."""
    personas = {column.words[0] for column in columns}
    shared = f" · {personas.pop().lower()}" if len(personas) == 1 < len(columns) else ""
    st.title(plain(f"“{reason}”{shared}"), anchor=False, width="content", help=plain(f"What is the matter: {wrong}."))


def show_wish(reason: str, large: bool) -> None:
    """What the customer comes for, above the talks that are about it; on a stage it is the title."""
    if not large:
        st.caption(plain(f"What the customer wants: “{reason}”"))


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def shorten(value: Any, longest: int = _LONGEST) -> str:
    """A value in a few words."""
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
