"""The moments of a conversation (finding the account, looking at the signal, paying …), and variants in step by them.

A moment is told by the tools that are used in it, so it is the same for every model and wording. What is asked for
belongs to the moment of the tool that answers it; an exchange after which no tool is used belongs to the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.dialogue.dual_control import SILENCE
from cxlab.records import Message

OPENING, ASKING, END = "What is wrong", "Under way", "How it ends"
_CALLER, _BILL, _HANDING_OVER = "Who is calling", "The bill", "Handing over"
_TOOLS = {
    _CALLER: (
        "get_customer_by_phone get_customer_by_id get_customer_by_name find_user_id_by_email find_user_id_by_name_zip "
        "get_user_details"
    ),
    _BILL: ("get_bills_for_customer send_payment_request check_payment_request make_payment resume_line suspend_line"),
    "Data left": "get_data_usage refuel_data",
    "Roaming": "enable_roaming disable_roaming toggle_roaming",
    "Signal and airplane mode": "check_status_bar toggle_airplane_mode",
    "SIM card": "check_sim_status reseat_sim_card",
    "Access point": "check_apn_settings set_apn_settings reset_apn_settings",
    "Restart": "reboot_device",
    "Mobile data": "check_network_status toggle_data",
    "Kind of network": "check_network_mode_preference set_network_mode_preference",
    "Data saver": "check_data_restriction_status toggle_data_saver_mode",
    "VPN": "check_vpn_status connect_vpn disconnect_vpn",
    "Wi-Fi": "check_wifi_status toggle_wifi",
    "Calls over Wi-Fi": "check_wifi_calling_status toggle_wifi_calling",
    "The messaging app": "check_installed_apps check_app_status check_app_permissions grant_app_permission",
    "Speed test": "run_speed_test",
    "Test picture": "can_send_mms",
    "Which order": "get_order_details get_item_details calculate",
    "What is in stock": "get_product_details list_all_product_types",
    "Cancelling": "cancel_pending_order",
    "Changing the address": "modify_pending_order_address modify_user_address",
    "Changing the items": "modify_pending_order_items",
    "Changing the payment": "modify_pending_order_payment",
    "Returning": "return_delivered_order_items",
    "Exchanging": "exchange_delivered_order_items",
    _HANDING_OVER: TRANSFER,
}
# What is looked up by an id is told by its first letter alone.
LOOK_UP = "get_details_by_id"
_LOOKED_UP = {"C": _CALLER, "L": "The line", "D": "The line", "P": "The plan", "B": _BILL}
_ID = re.compile(r'"id"\s*:\s*"(\w)')
MOMENTS = {tool: moment for moment, tools in _TOOLS.items() for tool in tools.split()}


@dataclass(frozen=True)
class Moment:
    """One moment of a conversation: what it is about, and its messages from `start` up to `end`."""

    title: str
    start: int
    end: int


def split(messages: Sequence[Message], over: bool) -> list[Moment]:
    """The conversation in moments that follow on one another; `over`: nothing more will come."""
    titles = _titles(messages, over)
    found: list[Moment] = []
    for place, title in enumerate(titles):
        if found and found[-1].title == title:
            found[-1] = Moment(title, found[-1].start, place + 1)
        else:
            found.append(Moment(title, place, place + 1))
    return found


def _titles(messages: Sequence[Message], over: bool) -> list[str]:
    """The moment of each message."""
    titles = [""] * len(messages)
    later = END if over else ASKING
    place = len(messages)
    # From the end: an exchange that uses no tool leads up to the next one that does.
    while place > 0:
        start = max((at for at in range(place) if _speaks(messages[at], "agent")), default=0)
        used = [_find_moment(messages[at]) for at in range(start, place)]
        by_customer = [
            moment
            for at, moment in enumerate(used, start)
            if moment and messages[at].data.get("side", messages[at].role) == "customer"
        ]
        if first := next(filter(None, by_customer or used), None):
            later = first
        # What was asked for and refused is what an exchange is about, and not the hand-over that came of it.
        if not by_customer and (asked := _asks_for(messages[start])):
            later = asked
        elif later == _HANDING_OVER:
            later = ASKING
        # What the customer does and says belongs to one request, however much was asked for in it; what the agent
        # looks up behind it is a moment of its own.
        for at in range(start, place):
            ours = used[at - start] if messages[at].data.get("side", messages[at].role) == "agent" else None
            titles[at] = ours or later
        place = start
    said = 0
    for at, message in enumerate(messages):  # the greeting, and what the customer comes for
        said += _speaks(message, "customer")
        if said > 1 or (said and not _speaks(message, "customer")):
            break
        titles[at] = OPENING
    return titles


def _find_moment(message: Message) -> str | None:
    """The moment of a tool that is used, None where none is."""
    given: Any
    if message.tool_calls:
        name, given = message.tool_calls[0].name, message.tool_calls[0].arguments
    elif message.role == "tool":
        name, given = str(message.data.get("tool")), message.data.get("arguments")
    else:
        return None
    if name == LOOK_UP:
        # As it was emitted, or as it was carried out.
        found = _ID.search(given if isinstance(given, str) else json.dumps(given))
        return _LOOKED_UP.get(found[1]) if found else None
    return MOMENTS.get(name)


def _asks_for(message: Message) -> str | None:
    """The moment of what the agent asks for a yes to."""
    return MOMENTS.get(str(message.data.get("confirms"))) if _speaks(message, "agent") else None


def _speaks(message: Message, side: str) -> bool:
    return message.role == side and bool(message.data.get("delivered", True)) and not message.tool_calls


def align(variants: Sequence[Sequence[Moment]]) -> list[tuple[str, list[Moment | None]]]:
    """The variants' moments in rows: the same moment side by side, None where a variant has none there.

    Each variant keeps its own order. Variants are taken up one by one, each matched with the rows so far by a longest
    common subsequence of titles.
    """
    rows: list[tuple[str, list[Moment | None]]] = []
    for number, moments in enumerate(variants):
        pairs = _common([title for title, _ in rows], [one.title for one in moments])
        merged: list[tuple[str, list[Moment | None]]] = []
        row = own = 0
        for at, mine in [*pairs, (len(rows), len(moments))]:
            merged += [(title, [*cells, None]) for title, cells in rows[row:at]]
            merged += [(one.title, [*[None] * number, one]) for one in moments[own:mine]]
            if at < len(rows):
                merged.append((rows[at][0], [*rows[at][1], moments[mine]]))
            row, own = at + 1, mine + 1
        rows = merged
    return rows


def _common(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Places of a longest common subsequence of two lists, in order."""
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            same = one[i] == other[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def is_empty_reply(message: Message) -> bool:
    """Whether the agent sent nothing, in place of which the customer is told just that."""
    return message.role == "agent" and message.data.get("meant", message.text) == SILENCE
