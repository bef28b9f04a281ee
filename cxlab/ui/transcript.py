"""A dialogue on a page: what was said, what the judges said of it, and the path it took."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.names import name_id
from cxlab.charts.sent_fields import list_fields, read_sent, say_arguments
from cxlab.charts.theme import short_model
from cxlab.records.conversation import UNREADABLE
from cxlab.ui.labels import chip, plain, say, show_code
from cxlab.ui.path_strips import grid
from cxlab.ui.render import render
from cxlab.ui.transcript_html import mark_sought
from cxlab.word_forms import NOTHING, Sought

_SPEAKERS = {"customer": "Customer", "agent": "Agent", "system": "System", "tool": "Tool", "ivr": "Phone menu"}
# The two who talk get Streamlit's own pictures, which need no emoji font and no network.
# Letters of a reply that could not be read; all of it is with the turn.
_MOST_RAW = 1200
_AVATARS = {"customer": "user", "agent": "assistant"}


def transcript(
    messages: pl.DataFrame | Iterable[Mapping[str, Any]],
    *,
    key: str = "transcript",
    turn: int | None = None,
    after: Callable[[int], None] | None = None,
    unread: Mapping[int, str] = MappingProxyType({}),
    sought: Sought = NOTHING,
) -> None:
    """A dialogue as chat. Messages need role, text, turn (and may have tool_calls and data, as dicts or JSON text).

    `turn` is marked. `after(turn)` is called below the last message of each turn, to draw votes or the path there.
    `unread`: by turn why a reply could not be used, told in its place. What is `sought` is marked.
    `data["grounding"]` (a list of ids) becomes chips. Everything that was said is shown as text, never rendered.
    """
    rows = list(messages.iter_rows(named=True) if isinstance(messages, pl.DataFrame) else messages)
    for place, row in enumerate(rows):
        why = unread.get(row["turn"], "")
        _message(row, f"{key}-{place}", turn is not None and row["turn"] == turn, why, sought)
        last = place + 1 == len(rows) or rows[place + 1]["turn"] != row["turn"]
        if after is not None and last:
            after(int(row["turn"]))


def _message(row: Mapping[str, Any], key: str, marked: bool, unread: str, sought: Sought) -> None:
    role = str(row["role"])
    name, avatar = _SPEAKERS.get(role, role), _AVATARS.get(role)
    bubble = st.chat_message(avatar) if avatar else st.container()
    named = f"cx-say-{_key(role)}-{_key(key)}" + (f"-cx-said-marked-{row['turn']}-here" if marked else "")
    with bubble, st.container(key=named, gap="xsmall"):
        st.caption(f"{plain(name)} · turn {row['turn']}" + (" · **the turn in question**" if marked else ""))
        data = read_sent(row.get("data")) or {}
        if row["text"] == UNREADABLE and unread:
            say(f"(Not usable: {unread}.)")
        elif sought.find(str(row["text"] or "")):
            st.html(render("said", text=mark_sought(str(row["text"]), sought)))
        elif row["text"]:
            say(row["text"])
        # The customer of a reply that could not be read was told just that; who reads on wants to know what came.
        if row["text"] in ("", UNREADABLE) and (raw := data.get("raw")):
            _show_raw(str(raw), key)
        for place, call in enumerate(read_sent(row.get("tool_calls")) or ()):
            told = _shorten(say_arguments(call.get("arguments", "")), 80)
            with st.expander(plain(f"{name_id(call.get('name', 'tool'))} ({told})"), type="compact"):
                _show_fields(call.get("arguments", ""), f"{key}-call-{place}")
        grounding = data.get("grounding") or ()
        if grounding:
            with st.container(horizontal=True, gap="small"):
                for each in grounding:
                    chip(each)


def _show_raw(raw: str, key: str) -> None:
    """What a reply held that could not be used: by its fields where it has any, else as it came."""
    if isinstance(read_sent(raw), Mapping):
        with st.expander("What came", type="compact"):
            _show_fields(raw, f"{key}-raw")
    else:
        st.caption(plain(f"What came: {_shorten(raw, _MOST_RAW)}"))


def _show_fields(sent: Any, key: str) -> None:
    """An object that a model sent, field by field in words; as it was sent behind a switch."""
    fields = list(list_fields(read_sent(sent)))
    if fields and not st.toggle("As it was sent", key=f"cx-sent-{_key(key)}"):
        grid(("Field", "Value"), [[(name, "quiet"), (value, "")] for name, value in fields])
    else:
        show_code(str(sent))


def votes(frame: pl.DataFrame, words: Mapping[str, str] | None = None, key: str = "votes") -> None:
    """The judges' votes on one turn as dots with words; each opens its rationale and its raw reply.

    `frame` has judge, valid, rationale, raw, failure; `words` says in a word what each judge decided.
    """
    with st.container(horizontal=True, gap="small"):
        for place, row in enumerate(frame.iter_rows(named=True)):
            decided = (words or {}).get(row["judge"], "valid" if row["valid"] else "invalid")
            sign, colour = ("●", "green") if row["valid"] else ("✕", "red")
            with st.popover(
                f":{colour}[{sign}] {plain(short_model(row['judge']))}: {plain(decided)}",
                type="tertiary",
                key=f"{key}-{place}",
            ):
                say(row["rationale"] or "No rationale was given.")
                if row["failure"]:
                    say(f"Failure: {row['failure']}")
                show_code(row["raw"] or "")


def path_strip(moves: Sequence[Mapping[str, str]] | Sequence[tuple[str, str]]) -> None:
    """A path as a strip of steps: ✓ followed, + inserted, − skipped; `moves` as in the traces table or as pairs."""
    looks = {
        "sync": ("green", "✓", "followed"),
        "inserted": ("red", "+", "inserted: not in the procedure"),
        "skipped": ("gray", "−", "skipped: the procedure has it"),
    }
    with st.container(horizontal=True, gap="small"):
        for each in moves:
            move, stage = (each["move"], each["stage"]) if isinstance(each, Mapping) else each
            colour, sign, meaning = looks.get(move, ("gray", "?", move))
            chip(f"{sign} {stage}", colour, meaning)


def _shorten(text: object, length: int) -> str:
    flat = " ".join(str(text).split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _key(text: object) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", str(text))
