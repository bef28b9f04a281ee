"""Taking over as the customer: what it knows, a line to type in, and the tools in its hands."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.ui.labels import plain, say

_LONGEST = 800
# Facts that the task's own sentences tell: what is wanted, how much data is bought, and the place says whether abroad.
WANTED = frozenset(("goal", "refuel_gb", "abroad"))
Say = Callable[[str], None]
Do = Callable[[str, Mapping[str, Any]], None]


def show_take_over(
    place: int,
    frame: LiveSnapshot,
    tools: Sequence[Mapping[str, Any]],
    say_so: Say,
    do: Do,
    hang_up: Callable[[], None],
) -> None:
    """What a person needs whose turn it is; `say_so`, `do` and `hang_up` carry it out."""
    if frame.waits != "person":
        st.caption("The agent is to speak. Play on, or take a step.")
        return
    shown = _seen(frame)
    if shown:
        st.caption("You see")
        say(shown)
    key = f"persona-say-{place}"
    st.chat_input("Type here", key=key, max_chars=2000, on_submit=lambda: say_so(str(st.session_state[key] or "")))
    with st.container(horizontal=True, gap="small"):
        if tools:
            with st.popover("Phone", key=f"persona-phone-{place}"):
                _choose_tool(place, tools, do)
        st.button("Hang up", key=f"persona-hang-{place}", on_click=hang_up)


def show_card(known: Mapping[str, Any]) -> None:
    """What the customer of this task knows and wants, for whoever plays it."""
    st.markdown("**You are the customer**")
    say(str(known.get("reason", "")))
    facts = known.get("facts") or {}
    if facts:
        say("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items() if name not in WANTED))
    for wish in known.get("wishes") or ():
        say(str(wish))
    if known.get("instructions"):
        say(str(known["instructions"]))


def _seen(frame: LiveSnapshot) -> str:
    """What the last tool of the customer showed, if nothing has been said since."""
    last = frame.messages[-1]
    if last.role != "tool" or last.data.get("side") != "customer":
        return ""
    return "\n".join(_lines(last.data.get("value")) or [last.text])[:_LONGEST]


def _lines(value: Any, under: str = "") -> list[str]:
    """A tool's answer in lines: airplane mode: yes."""
    if isinstance(value, dict):
        return [
            line for name, each in value.items() for line in _lines(each, f"{under} {name}".strip().replace("_", " "))
        ]
    told = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    return [f"{under}: {told}"] if under and told is not None else []


def _choose_tool(place: int, tools: Sequence[Mapping[str, Any]], do: Do) -> None:
    known = {str(tool["function"]["name"]): tool["function"] for tool in tools}
    name = st.selectbox(
        "Tool", list(known), key=f"persona-tool-{place}", format_func=lambda each: each.replace("_", " ").capitalize()
    )
    st.caption(plain(known[name].get("description", "")))
    given: dict[str, Any] = {}
    for argument, schema in known[name]["parameters"]["properties"].items():
        title, key = argument.replace("_", " ").capitalize(), f"persona-{place}-{name}-{argument}"
        if schema.get("enum"):
            given[argument] = st.selectbox(title, schema["enum"], key=key, help=plain(schema.get("description", "")))
        elif schema.get("type") == "object":
            # Settings with many fields: what is left empty is not sent.
            for field in schema.get("properties", {}):
                value = st.text_input(f"{title}: {field.replace('_', ' ')}", key=f"{key}-{field}")
                given.setdefault(argument, {}).update({field: value} if value else {})
        else:
            given[argument] = st.text_input(title, key=key, help=plain(schema.get("description", "")))
    st.button("Use it", type="primary", key=f"persona-do-{place}", on_click=do, args=(name, given))
