"""How good a conversation is to search, by what can be counted: a score from 0 to 1, and faults of its text.

The paper's score is a classifier's with 180 million parameters; this one is a sum of five plain signs, which knows
nothing of what is said. Limits of the heuristics are those that are usual for texts of the web.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from cxlab.records import Conversation, Message

MOST_PUNCTUATION, MOST_URLS, MOST_REPEATED_LINES = 0.25, 0.2, 0.3
MOST_REPEATED_WORDS = 0.2
"""Share of the words that the commonest four in a row, where they come more than twice, may make up."""
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"[\W_]")
_GRAM = 4
_ENOUGH_WORDS, _USUAL_WORDS = 3, 8


def score(conversation: Conversation) -> float:
    """The mean of five signs: both sides speak; they take turns; messages have words; they are no single words; words
    are not always the same."""
    both = (message for message in conversation.messages if message.role in ("customer", "agent"))
    said = [message for message in both if message.text or not message.tool_calls]
    if not said:
        return 0.0
    words = [_WORD.findall(message.text.casefold()) for message in said]
    every = [word for each in words for word in each]
    if not every:
        return 0.0
    sides = len({message.role for message in said}) / 2
    changes = sum(a.role != b.role for a, b in itertools.pairwise(said))
    turns = changes / (len(said) - 1) if len(said) > 1 else 0.0
    full = sum(len(each) >= _ENOUGH_WORDS for each in words) / len(said)
    length = min(1.0, len(every) / len(said) / _USUAL_WORDS)
    # Of a long text fewer words are new.
    variety = min(1.0, len(set(every)) / min(len(every), 40))
    return (sides + turns + full + length + variety) / 5


def find_fault(conversation: Conversation) -> str:
    """What is wrong with the text, "" for nothing."""
    text = "\n".join(message.text for message in conversation.messages)
    dense = "".join(text.split())
    if not dense:
        return "no text"
    marks = len(_MARK.findall(dense)) / len(dense)
    if marks > MOST_PUNCTUATION:
        return f"{marks:.0%} of its characters are punctuation"
    links = sum(map(len, _URL.findall(text))) / len(dense)
    if links > MOST_URLS:
        return f"{links:.0%} of its characters are addresses of pages"
    lines = _list_lines(conversation.messages)
    repeated = 1 - len(set(lines)) / len(lines) if lines else 0.0
    if repeated > MOST_REPEATED_LINES:
        return f"{repeated:.0%} of its lines repeat another"
    words = [word for line in lines for word in _WORD.findall(line)]
    grams = Counter(tuple(words[at : at + _GRAM]) for at in range(len(words) - _GRAM + 1))
    if grams:
        gram, times = grams.most_common(1)[0]
        share = times * _GRAM / len(words)
        if times > 2 and share > MOST_REPEATED_WORDS:
            return f"{' '.join(gram)!r} comes {times} times"
    return ""


def _list_lines(messages: Sequence[Message]) -> list[str]:
    return [line for message in messages for each in message.text.splitlines() if (line := each.strip().casefold())]
