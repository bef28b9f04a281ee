"""A real HTTP server that plays a strong model from what is sent alone: it answers in which state cases close fastest.

It is given no inputs and no gold; it refuses what real servers refuse: calls without results, arguments that are no
JSON, empty messages, and tools where it has none (`endpoint:plain`).
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

from tests.llm.local_server import RoleServer

THOUGHT = "nobody reads what I think"
START, END = "2020-03-01T00:00:00Z", "2020-06-01T00:00:00Z"
QUERY = (
    "SELECT Account.ShippingState, CreatedDate, ClosedDate FROM Case WHERE Status = 'Closed' AND "
    f"CreatedDate >= {START} AND CreatedDate < {END}"
)


class StrongCrmModel(RoleServer):
    """`endpoint:tools` and `endpoint:plain` on a free port; `bodies` is what each was sent."""

    roles = ("tools", "plain")

    async def reply(self, role: str, body: Mapping[str, Any]) -> dict[str, Any]:
        wrong = find_wrong(role, body)
        return {"error": {"message": wrong}} if wrong else answer(body)


def find_wrong(role: str, body: Mapping[str, Any]) -> str | None:
    """What a server would refuse of a request."""
    if role == "plain" and body.get("tools"):
        return "this model does not support tools"
    open_calls: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return "a tool message without its call"
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            return "a call without its result"
        calls = message.get("tool_calls") or ()
        if not calls and not message.get("content"):
            return "an empty message"
        for call in calls:
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return "arguments that are no object"
            open_calls.add(call["id"])
    return None


def answer(body: Mapping[str, Any]) -> dict[str, Any]:
    messages = body["messages"]
    text, calls = "", []
    if body.get("tools"):
        results = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
        name, arguments = next_call(results)
        calls = [
            {
                "id": f"c{len(messages)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
        ]
    else:
        seen = observations(messages)
        if "<execute>" in messages[0]["content"]:
            text = f"<thought>Then the means.</thought>\n<submit>{fastest(seen[0])}</submit>" if seen else ""
            text = text or f"<thought>The closed cases of spring.</thought>\n<execute>{QUERY}</execute>"
        else:
            name, arguments = next_call(seen)
            text = f"Next.\nAction: {name}\nAction Input: {json.dumps(arguments)}"
    message = {
        "role": "assistant",
        "content": f"<think>{THOUGHT}</think>{text}",
        **({"tool_calls": calls} if calls else {}),
    }
    return {
        "choices": [{"message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": len(json.dumps(messages)) // 4, "completion_tokens": 20},
    }


def observations(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    found = [re.search(r"<observation>\n(.*)\n</observation>", m["content"], re.S) for m in messages[2:]]
    return [json.loads(each[1]) for each in found if each]


def next_call(results: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """The tools that lead there, one after the other."""
    last = results[-1] if results else None
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        ("get_period", {"period_name": "Spring", "year": 2020}),
        ("get_cases", {"start_date": START, "end_date": END, "statuses": ["Closed"]}),
        ("get_shipping_state", {"cases": last}),
        ("calculate_region_average_closure_times", {"cases": last}),
        ("find_id_with_min_value", {"values_by_id": last}),
        ("submit", {"content": last[0] if isinstance(last, list) and last else "None"}),
    )
    return steps[len(results)]


def fastest(cases: Sequence[Mapping[str, Any]]) -> str:
    hours: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        state = (case["Account"] or {}).get("ShippingState")
        if state:
            opened, closed = (datetime.fromisoformat(case[name]) for name in ("CreatedDate", "ClosedDate"))
            hours[state].append((closed - opened).total_seconds())
    return min(hours, key=lambda state: fmean(hours[state]))
