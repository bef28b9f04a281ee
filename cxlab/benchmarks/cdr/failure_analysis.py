"""Why a wrong conversation came first: the paper's three kinds of failure, told by rules, and two more.

    kind = explain(query, conversation)       # of what was ranked first; a key of KINDS

Told in this order, English alone:
  progression  the query asks how something develops, and the conversation has the words without the way
  role         the query says who does it, and in the conversation its words stand with the other side
  context      the words are there, on the side that is meant: something else is talked about
  unrelated    no word of the query stands in the conversation
The paper labelled its examples by hand; a rule reads words, so a kind is a first guess at each single miss and is
good for counts.
"""

import re
from collections.abc import Sequence

from cxlab.records import Conversation, Message
from cxlab.retrieval.conversation.question import read_question

KINDS = {
    "progression": "dynamic progression: the words are there, not the way it develops",
    "role": "role recognition: the words stand with the other side",
    "context": "context misread: the words are there, the matter is another",
    "unrelated": "nothing in common: no word of the query is in what came first",
    "undecided": "nothing found: all conversations score alike",
}
_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 5
_SIDES = {"user": "customer", "assistant": "agent"}
# What a query says of conversations in general, and words that hold a sentence together.
_FRAME_WORDS = (
    "about after again agent alone also and another any anybody are assistant asks at away because been before "
    "being both but can chat chats comes conversation conversations customer customers did dialogue dialogues does "
    "doing done during each end ends even every find first for from gets give gives goes had has have her him his "
    "how into its just keeps last later like makes many matter mention mentions messages more most much not off "
    "once one only other others out over person point put said same say saying says session sessions she show "
    "shows some somebody something starts still such take takes talk talks tell telling tells than that the their "
    "them then there these they thing things this those through told too turns until use user users very wants "
    "was way what when where which while who whose will with without word words would you your"
)
_FRAME = frozenset(_FRAME_WORDS.split())
# Words that ask how something develops, beside those that the question's own reader knows.
_WAY = re.compile(
    r"\b(?:increasing(?:ly)?|gradual(?:ly)?|progressive(?:ly)?|over time|more and more|less and less|eventually|"
    r"at first|in the end|at the end|goes away|grow(?:s|ing)?|turns? (?:into|from|to)|"
    r"chang(?:es?|ing) (?:from|over|to|of|mind)|"
    r"shifts?|escalat\w+|from .{2,60} to |then|before|after(?:wards)?|again|later|comes? back|returns?|until|"
    r"starts? .{2,60} ends?)\b",
    re.IGNORECASE,
)


def explain(query: str, conversation: Conversation) -> str:
    """The kind of failure by which a conversation came first that the query does not ask for."""
    words = read_words(query)
    mine = {role: read_words(" ".join(_texts(conversation.messages, role))) & words for role in ("customer", "agent")}
    if not mine["customer"] | mine["agent"]:
        return "unrelated"
    asked = read_question(query)
    if _WAY.search(query) or any(state.where != "any" for state in asked.states):
        return "progression"
    if asked.side is not None:
        meant = _SIDES[asked.side]
        other = "agent" if meant == "customer" else "customer"
        if len(mine[other] - mine[meant]) > len(mine[meant]):
            return "role"
    return "context"


def read_words(text: str) -> set[str]:
    """The beginnings of the words that carry a meaning."""
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _FRAME}


def _texts(messages: Sequence[Message], role: str) -> list[str]:
    return [message.text for message in messages if message.role == role]
