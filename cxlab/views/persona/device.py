"""What a customer has before it: the phone as a person sees it, the orders of a shop, and how much patience is left.

All of it is HTML of our own in which every value is escaped.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.worlds.telecom_device import status_bar
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.ui.app_frame import colours
from cxlab.ui.render import render

_BARS = {"none": 0, "poor": 1, "fair": 2, "good": 3, "excellent": 4}
_MOST_LINES, _MOST_ORDERS = 7, 2
# Share of the patience from which on it is short, and very short.
_SHORT, _VERY_SHORT = 0.4, 0.15


class ScreenLine(NamedTuple):
    """A line of a screen; `switch` is "on" or "off" where it is one."""

    text: str
    switch: str


class OrderItem(NamedTuple):
    """An item of an order, and what was there in its place before ("" for the same)."""

    name: str
    options: str
    before: str


class Order(NamedTuple):
    """An order as its page shows it; `was` is what its state was before, "" for the same; `address_was` alike."""

    number: str
    status: str
    was: str
    items: Sequence[OrderItem]
    address: str
    address_was: str


# On a stage a long value gets two lines, and the pictures stay of about one height.
_LOW = """.cx-phone .line > :first-child {display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
      overflow: hidden;}"""


def style(large: bool) -> str:
    """The look of phones, orders and patience, as CSS."""
    ink = colours()
    size = "clamp(.9rem, 1.1vw, 1.15rem)" if large else ".8rem"
    return f"""
    .cx-phone {{border: 2px solid {ink.ink}; border-radius: 1.1rem; padding: .5rem .7rem .6rem .7rem; font-size: {size};
      line-height: 1.3; max-width: 19rem; min-height: {"5.5rem" if large else "8rem"}; background: {ink.surface};}}
    .cx-phone .top {{display: flex; align-items: center; gap: .45rem; padding-bottom: .3rem;
      border-bottom: 1px solid {ink.hairline}; font-size: .92em; color: {ink.muted};
      font-variant-numeric: tabular-nums;}}
    .cx-phone .top .gap {{flex: 1;}} .cx-phone .top .on {{color: {ink.ink};}}
    .cx-phone .bars {{display: inline-flex; align-items: end; gap: 1px; height: .8em;}}
    .cx-phone .bars i {{width: .22em; background: {ink.hairline}; display: block;}}
    .cx-phone .bars i.lit {{background: {ink.ink};}}
    .cx-phone .page {{font-weight: 600; padding: .35rem 0 .15rem 0;}}
    .cx-phone .line {{display: flex; justify-content: space-between; gap: .6rem; padding: .1rem 0;
      overflow-wrap: anywhere;}}
    {_LOW if large else ""}
    .cx-phone .switch {{flex: none; width: 1.9em; height: 1.05em; border-radius: 1em; background: {ink.hairline};
      position: relative; align-self: center;}}
    .cx-phone .switch::after {{content: ""; position: absolute; top: .12em; left: .14em; width: .8em; height: .8em;
      border-radius: 50%; background: {ink.surface};}}
    .cx-phone .switch.on {{background: {ink.good};}} .cx-phone .switch.on::after {{left: .96em;}}
    .cx-phone .quiet, .cx-order .quiet {{color: {ink.muted};}}
    .cx-phone .bad {{color: {ink.bad};}} .cx-phone .changed {{color: {ink.good}; font-weight: 600;}}
    .cx-order {{border: 1px solid {ink.hairline}; border-radius: .5rem; padding: .45rem .7rem; font-size: {size};
      line-height: 1.35; margin-bottom: .4rem; background: {ink.surface}; overflow-wrap: anywhere;}}
    .cx-order .head {{display: flex; gap: .5rem; justify-content: space-between; font-weight: 600;}}
    .cx-order .head span {{white-space: nowrap;}} .cx-order .head {{flex-wrap: wrap;}}
    .cx-order .state {{align-self: flex-start; font-weight: 400; border: 1px solid {ink.hairline};
      border-radius: .3rem; padding: 0 .35rem;
      flex: none;}}
    .cx-order mark {{background: transparent; color: {ink.good}; font-weight: 600;}}
    .cx-order del {{color: {ink.muted};}}
    .cx-patience {{font-size: {size}; color: {ink.muted}; padding-top: .3rem;}}
    .cx-patience .meter {{height: .45em; margin-top: .15rem; border-radius: .2em; background: {ink.hairline};
      overflow: hidden;}}
    .cx-patience .meter i {{display: block; height: 100%; background: {ink.good};}}
    .cx-patience .meter i.short {{background: {ink.warning};}} .cx-patience .meter i.gone {{background: {ink.bad};}}
    .cx-patience .course {{display: flex; align-items: end; gap: 2px; height: 1.9em; margin-top: .15rem;
      border-bottom: 1px solid {ink.hairline};}}
    .cx-patience.low {{padding-top: 0;}}
    .cx-patience .course i {{flex: 1 1 0; max-width: .8rem; min-height: 2px; display: block; background: {ink.good};
      position: relative;}}
    .cx-patience .course i.short {{background: {ink.warning};}}
    .cx-patience .course i.gone {{background: {ink.bad};}}
    .cx-patience .course i.upset {{outline: 2px solid {ink.bad}; outline-offset: 0;}}
    @media (prefers-reduced-motion: no-preference) {{
      .cx-phone .switch::after {{transition: left .3s;}} .cx-phone .switch {{transition: background .3s;}}
    }}"""


def show_device(frame: LiveSnapshot, domain: str, large: bool) -> None:
    """The phone with the screen that was opened last, or the orders that were looked at."""
    if domain == "telecom":
        _show_phone(frame, large)
    else:
        _show_orders(frame, large)


def _show_phone(frame: LiveSnapshot, large: bool) -> None:
    device = (frame.state.get("customer") or {}).get("device")
    if not device:
        return
    bar = status_bar(device)
    opened = next((one for one in reversed(frame.messages) if is_screen(one)), None)
    lines = [] if opened is None else read_screen(opened.text)
    title = "" if opened is None else str(opened.data.get("tool", "")).removeprefix("check_").replace("_", " ")
    title = re.sub(r"\b(?:sim|apn|vpn|mms)\b", lambda name: name[0].upper(), title)
    failed = opened is not None and opened.data.get("kind", "ok") != "ok"
    st.html(
        render(
            "cxlab.views.persona:phone",
            bars=_BARS.get(str(bar.get("network_signal_strength", "none")), 0),
            network=str(bar.get("network_technology_connected", "none")),
            airplane=bool(bar["airplane_mode"]),
            battery=bar["battery_level"],
            data=bool(bar.get("data_enabled")),
            saver=bool(bar.get("data_saver_mode")),
            wifi=str(bar.get("wifi_ssid") or ""),
            vpn=bool(bar["vpn_connected"]),
            title=title[:1].upper() + title[1:],
            lines=lines[: 2 if large else _MOST_LINES],
            failed=failed,
            changed=opened is not None and bool(opened.data.get("changed")),
        )
    )


def is_screen(message: Message) -> bool:
    """Whether a message is what the customer's device showed."""
    return message.role == "tool" and message.data.get("side") == "customer"


def read_screen(text: str) -> list[ScreenLine]:
    """A screen in words as its lines; what stands in the bar at the top is left to the bar."""
    lines = []
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        if line.startswith("At the top of the screen"):
            continue
        lines.append(ScreenLine(name, value) if value in ("on", "off") else ScreenLine(line, ""))
    return lines


def _show_orders(frame: LiveSnapshot, large: bool) -> None:
    found = read_orders(frame)
    shown = found[: 1 if large else _MOST_ORDERS]
    more = len(found) - len(shown)
    st.html(render("cxlab.views.persona:orders", orders=shown, more=more, items=1 if large else 6))


def read_orders(frame: LiveSnapshot) -> list[Order]:
    """The orders that the agent has opened: those that have changed first, then the one looked at last."""
    now = (frame.state.get("agent") or {}).get("orders") or {}
    before = (frame.begun.get("agent") or {}).get("orders") or {}
    looked: dict[str, None] = {}
    for message in reversed(frame.messages):
        given = message.data.get("arguments")
        if message.role == "tool" and message.data.get("kind") == "ok" and isinstance(given, dict):
            looked.setdefault(str(given.get("order_id", "")))
    rows = [(name, now[name], before.get(name)) for name in looked if name in now]
    rows.sort(key=lambda row: row[2] is None or row[1] == row[2])
    return [_order(name, row, was) for name, row, was in rows]


def _order(name: str, row: Mapping[str, Any], was: Mapping[str, Any] | None) -> Order:
    was = row if was is None else was
    earlier = dict(enumerate(was.get("items", [])))
    items = []
    for place, item in enumerate(row.get("items", [])):
        old = earlier.get(place, item)
        gone = _options(old) if old.get("item_id") != item.get("item_id") else ""
        items.append(OrderItem(str(item.get("name", "")), _options(item), gone))
    status, before = str(row.get("status", "")), str(was.get("status", ""))
    address, moved = _address(row.get("address")), _address(was.get("address"))
    return Order(
        name, status, before if before != status else "", items, address, moved if moved != address else ""
    )  # fmt: skip


def _options(item: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for value in (item.get("options") or {}).values())


def _address(address: Any) -> str:
    if not isinstance(address, Mapping):
        return ""
    return ", ".join(str(address[name]) for name in ("address1", "address2", "city", "state") if address.get(name))


def show_patience(frame: LiveSnapshot, large: bool) -> None:
    """How much patience is left after each message of the agent, and where the customer says that it is annoyed."""
    if not frame.worn:
        return
    said = [one for one in frame.messages if one.role in ("agent", "customer") and not one.tool_calls]
    upset: set[int] = set()
    spoken = -1
    for one in said:
        spoken += one.role == "agent"
        if one.role == "customer" and spoken >= 0 and dialogue_acts.is_frustrated(str(one.data.get("meant", one.text))):
            upset.add(spoken)
    bars = []
    for number, gone in enumerate(frame.worn):
        left = 1 - gone
        kind = "gone" if left <= _VERY_SHORT else "short" if left <= _SHORT else ""
        told = f"after message {number} of the agent: {100 * left:.0f} % left"
        bars.append(
            {
                "height": max(4, round(100 * left)),
                "level": kind,
                "kind": f"{kind}{' upset' if number in upset else ''}".strip(),
                "told": told + ("; the customer says that it is annoyed" if number in upset else ""),
            }
        )
    left = 100 * (1 - frame.worn[-1])
    st.html(render("cxlab.views.persona:patience", left=f"{left:.0f}", bars=bars, upset=len(upset), low=large))
