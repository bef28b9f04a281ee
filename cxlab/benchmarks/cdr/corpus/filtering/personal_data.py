"""Personal data taken out of messages, calls of tools and columns beside them, by datafog's patterns.

No model is asked, and no network.

Seen are e-mail addresses, telephone numbers as they are written in North America or with a country's code, numbers of
credit cards and of American social security, and IP addresses. Not seen are names, streets, dates of birth and the
numbers of other countries: who passes conversations on must read them.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from cxlab.importers.conversations import COLUMNS
from cxlab.records import Conversation

KINDS = {"EMAIL": "e-mail", "PHONE": "phone", "CREDIT_CARD": "card number", "SSN": "social security number",
         "IP_ADDRESS": "IP address"}  # fmt: skip
"""Dates and postal codes are left: an order's number of five digits is none."""
# What every one of these has: an @, six digits with at most three marks between two of them, or an address of numbers.
_MAY_HOLD = re.compile(r"@|(?:\d[^\dA-Za-z]{0,3}){6}|\d\.\d{1,3}\.\d")
LIMITS = "names, streets, dates of birth and telephone numbers of most countries without their code are not seen"


def redact(conversation: Conversation) -> tuple[Conversation, Counter[str]]:
    """The conversation with `[e-mail]` and the like in place of what was found, and how often each was."""
    counts: Counter[str] = Counter()
    messages = []
    for message in conversation.messages:
        text, found = redact_text(message.text)
        calls = []
        for call in message.tool_calls:
            arguments, within = redact_text(call.arguments)
            found += within
            calls.append(call.model_copy(update={"arguments": arguments}))
        counts += found
        messages.append(message.model_copy(update={"text": text, "tool_calls": tuple(calls)}) if found else message)
    columns = dict(conversation.labels.get(COLUMNS, {}))
    for name, value in columns.items():
        if isinstance(value, str):
            columns[name], found = redact_text(value)
            counts += found
    if not counts:
        return conversation, counts
    labels = {**conversation.labels, COLUMNS: columns} if columns else conversation.labels
    return conversation.model_copy(update={"messages": tuple(messages), "labels": labels}), counts


def redact_text(text: str) -> tuple[str, Counter[str]]:
    """The same of one text."""
    if not _MAY_HOLD.search(text):
        return text, Counter()
    os.environ.setdefault("DATAFOG_NO_TELEMETRY", "1")  # off by default; this keeps it so
    import datafog  # late: 0.1 s

    found = sorted(
        (one for one in datafog.scan(text, engine="regex").entities if one.type in KINDS), key=lambda one: one.start
    )
    parts, at = [], 0
    counts: Counter[str] = Counter()
    for one in found:
        if one.start < at:
            continue  # inside what was just taken out
        parts += [text[at : one.start], f"[{KINDS[one.type]}]"]
        counts[KINDS[one.type]] += 1
        at = one.end
    return "".join([*parts, text[at:]]), counts
