"""Labels for what a message does, read from its words when it is sent: which action it asks a yes for, what it asks.

A label stands only where the words leave no doubt; where none stands, the measures read the words themselves.
"""

from __future__ import annotations

import re
from typing import Any

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.cues import questions

# The action that a request for a yes is about; the first that fits.
_ACTIONS = {
    "telecom": (
        ("refuel_data", r"\b(?:add|refuel)\b.*\b(?:gb|gigabytes?|data)\b|\bgb\b.*\bfor \$"),
        ("send_payment_request", r"\bpayment request\b"),
    ),
    "retail": (
        ("cancel_pending_order", r"\bcancel"),
        ("return_delivered_order_items", r"\breturn\b|\bsend(?:ing)? back\b"),
        ("exchange_delivered_order_items", r"\bexchang|\bswap"),
        ("modify_pending_order_payment", r"\bpay(?:ment method)?\b.*\binstead\b|\bchange\b.*\bpayment method\b"),
        (
            "modify_pending_order_address",
            r"\b(?:send|deliver|ship)\b.*\bto\b.*\binstead\b|\bchange\b.*\bdelivery address\b",
        ),
        ("modify_user_address", r"\bchange\b.*\baddress\b"),
        ("modify_pending_order_items", r"\b(?:change|modify|replace)\b.*\b(?:item|order)\b"),
    ),
}
_FIELDS = {
    "telecom": (
        ("phone_number", r"\bphone number\b"),
        ("dob", r"\bdate of birth\b|\bborn\b"),
        ("full_name", r"\b(?:full|your) name\b"),
        ("gb_amount", r"\bhow (?:much|many)\b.*\b(?:data|gb|gigabytes?)\b"),
    ),
    "retail": (
        ("email", r"\be-?mail\b"),
        ("zip", r"\b(?:zip|postal|post) ?code\b"),
        ("order_id", r"\border(?:'s)? (?:number|id)\b|\bwhich order\b"),
        (
            "payment_method_id",
            r"\b(?:which|what) payment method\b|\bhow (?:would|do) you (?:like|want) to pay\b|\brefund\b.*\bgo\b",
        ),
        ("reason", r"\b(?:why|reason)\b"),
    ),
}


class ActLabeller:
    """Reads the messages of one domain as they are sent, in order."""

    def __init__(self, domain: str) -> None:
        self._actions = [(tool, re.compile(text, re.I)) for tool, text in _ACTIONS.get(domain, ())]
        self._fields = [(name, re.compile(text, re.I)) for name, text in _FIELDS.get(domain, ())]
        self._asked: tuple[str, str] | None = None  # the action and the words of the request, as heard

    def read(self, side: str, meant: str, heard: str) -> dict[str, Any]:
        """`confirms`, `asks`, `clarifies`, each only where it is sure."""
        labels: dict[str, Any] = {}
        if side == "customer":
            # A customer who says yes says it to what it heard being asked.
            if self._asked is not None and dialogue_acts.confirmed(self._asked[1], meant):
                labels["confirms"] = self._asked[0]
            self._asked = None
            return labels
        if dialogue_acts.found(meant, questions.ASKS_AGAIN):
            labels["clarifies"] = True
        if dialogue_acts.asks_to_confirm(meant):
            tool = next((name for name, pattern in self._actions if pattern.search(meant)), None)
            if tool is not None:
                labels["confirms"] = tool
                self._asked = (tool, heard) if dialogue_acts.asks_to_confirm(heard) else None
        elif "?" in meant:
            put = [part for part in re.split(r"(?<=[.!?])\s", meant) if part.endswith("?")]
            for name, pattern in self._fields:
                if any(pattern.search(part) for part in put):
                    labels["asks"] = name
                    break
        return labels
