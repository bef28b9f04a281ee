"""A text with speakers in front of its messages, taken apart again."""

import re
from typing import Literal, NamedTuple

Side = Literal["user", "assistant"]
_USERS = ("user", "customer", "human", "client", "caller")
_ASSISTANTS = ("assistant", "agent", "bot", "ai", "representative")
SIDES: dict[str, Side] = {**dict.fromkeys(_USERS, "user"), **dict.fromkeys(_ASSISTANTS, "assistant")}
_OTHERS = ("system", "tool", "menu", "ivr")
_START = re.compile(rf"^[ \t]*({'|'.join((*SIDES, *_OTHERS))})[ \t]*:[ \t]?", re.IGNORECASE | re.MULTILINE)


class ConversationMessage(NamedTuple):
    """One message; `side` is None where nobody is named."""

    side: Side | None
    text: str


def read_messages(text: str) -> list[ConversationMessage]:
    """The messages of the two sides in their order, and first what stands before any speaker; others' are left out."""
    starts = list(_START.finditer(text))
    before = text[: starts[0].start()].strip() if starts else text.strip()
    said = [ConversationMessage(None, before)] if before else []
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        side = SIDES.get(start[1].lower())
        if side is not None:
            said.append(ConversationMessage(side, text[start.end() : end].strip()))
    return said
