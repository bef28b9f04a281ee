"""What a question about conversations asks for: whose words, which states, and in which order."""

import re
from typing import Literal, NamedTuple

from cxlab.retrieval.conversation.messages import SIDES, Side
from cxlab.retrieval.conversation.signals import DIMENSIONS, called, tokens

Where = Literal["start", "end", "rise", "grow", "any"]


class State(NamedTuple):
    """One end of a dimension that is asked for, and where: at the start, at the end, or anywhere.

    `rise`: later nearer to it than earlier, as what grows less annoyed; `grow`: the same, and there in the end.
    """

    dimension: str
    sign: int
    where: Where


class ConversationQuery(NamedTuple):
    """`side`: whose words are meant, None: anybody's. `topic`: the words to be found.

    Left out of it is the frame ("conversations where the user"), and the name of a state whose order is asked for: who
    grows frustrated seldom says so, and who says it once need not grow.
    """

    side: Side | None
    states: tuple[State, ...]
    topic: str


# Said of a state: it grows, it falls.
_GROWS = re.compile(
    r"\b(?:increas(?:e|es|ing|ingly)|progressively|gradually|steadily|gr(?:ow|ows|owing|ew)|bec(?:ome|omes|oming|ame)|"
    r"gets|getting|get(?= (?:more|ever|\w+er)\b)|builds|building|"
    r"deepen(?:s|ing)|ris(?:es|ing)|escalat(?:es|ing)|turn(?:s|ing)?|more(?! than))\b"
)
_FALLS = re.compile(
    r"\b(?:less|decreas(?:es|ing)|declin(?:es|ing)|los(?:es|ing)|fad(?:es|ing)|fall(?:s|ing)|diminish(?:es|ing)|"
    r"drop(?:s|ping)|wan(?:es|ing)|shrink(?:s|ing)|soften(?:s|ing)|eas(?:es|ing))\b"
)
# What happens over the talk as a whole, and says of the state beside it that it grows.
_OVER = re.compile(
    r"\b(over time|over the (conversation|talk|session)|as (the|it|they|he|she)\b[^,.]*\b(goes|go|continues?)"
    r"( on)?|the longer (the|it|they)\b|"
    r"turn by turn|more and more|step by step|with (each|every) (turn|message|reply|answer))\b"
)
_FROM_TO = re.compile(r"\bfrom\b(?P<start>.{1,80}?)\b(?:in)?to\b(?P<end>.{1,80})")
_FIRST_THEN = re.compile(
    r"(?P<start>.{0,80}?)\b(?:at first|in the beginning|initially|at the start|early on)\b(?P<middle>.{0,80}?)"
    r"\b(?:but|and|then|later|eventually|finally|before|until|ends?|ending)\b(?P<end>.{1,80})"
)
_START_END = re.compile(
    r"\b(?:starts?|begins?|opens?|started|began|starting|beginning)\b(?P<start>.{1,80}?)"
    r"\b(?:ends?|ended|ending|finish\w*|closes?|then|but|later|before|until)\b(?P<end>.{1,80})"
)
_ENDS = re.compile(r"\b(?:end|ends|ended|ending|finish\w*|closes?|closing|concludes?|concluding)\b(?P<end>.{1,80})")
_STARTS = re.compile(
    r"\b(?:start|starts|started|starting|begin|begins|began|beginning|opens|opening)\b(?P<start>.{1,80})"
)
_AFTER = re.compile(r"(?P<end>.{1,80})\bafter\b(?P<start>.{1,80})")
# "trust in the assistant", "gratitude to the assistant": then the other one speaks.
_TOWARDS = re.compile(
    r"\b(?:to|toward|towards|at|in|with|about|of|against)\s+(?:the\s+|an?\s+)?"
    rf"(?P<side>{'|'.join(SIDES)})s?\b(?!\s*['’])",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"\b(?P<side>{'|'.join(SIDES)})s?\b", re.IGNORECASE)
_FRAME = {
    *(
        "conversation",
        "conversations",
        "talk",
        "talks",
        "session",
        "sessions",
        "chat",
        "chats",
        "dialogue",
        "dialogues",
    ),
    *("find", "show", "me", "where", "in", "which", "that", "who", "whose", "when", "a", "an", "the", "of", "to", "on"),
    *("with", "for", "is", "are", "was", "were", "be", "being", "by", "and", "or", "at", "its", "their", "his", "her"),
    *("reflecting", "expressing", "express", "expresses", "highlighting", "showing", "shows", "using", "uses", "over"),
    *(
        "time",
        "more",
        "from",
        "into",
        "feel",
        "feels",
        "feeling",
        "towards",
        "toward",
        "s",
        "?",
        "ending",
        "ends",
        "end",
    ),
    *("start", "starts", "starting", "begins", "first", "then", "later", "shift", "shifts", "moves", "moving", "goes"),
    *("about", "it", "they", "as", "has", "have", "all", "any", "given", "gives", "some", "after", "before", "does"),
    *(
        "because",
        "if",
        "how",
        "what",
        "why",
        "while",
        "can",
        "could",
        "would",
        "will",
        "not",
        "no",
        "very",
        "much",
        "than",
    ),
    *("provides", "provide", "user", "users", "assistant", "assistants", "user's", "assistant's"),
}
_FRAME |= set(SIDES) | {f"{name}s" for name in SIDES}
_OTHER: dict[Side, Side] = {"user": "assistant", "assistant": "user"}


def read_question(text: str) -> ConversationQuery:
    """A question as a person types it, in English; where nothing is recognised all of it is topic."""
    lower = text.casefold().replace("’", "'")
    bare = _OVER.sub(" ", _GROWS.sub(" ", _FALLS.sub(" ", lower)))
    states = tuple(dict.fromkeys(_find_states(lower)))
    ordered = [called()[state.dimension] for state in states if state.where != "any"]
    topic = [word for word in tokens(bare) if word not in _FRAME and not any(named.weigh([word]) for named in ordered)]
    return ConversationQuery(_find_side(text), states, " ".join(topic))


def _find_side(text: str) -> Side | None:
    """The first of the two that is named does it, unless it is the one that something is done to."""
    towards = {found.start("side"): SIDES[found["side"].lower()] for found in _TOWARDS.finditer(text)}
    named = [(found.start(), SIDES[found["side"].lower()]) for found in _NAMED.finditer(text)]
    acting = next((side for at, side in named if at not in towards), None)
    if acting is not None:
        return acting
    return _OTHER[named[0][1]] if named else None


def _find_states(text: str) -> list[State]:
    found = _FROM_TO.search(text) or _FIRST_THEN.search(text) or _START_END.search(text)
    if found:
        begun = _named_states(found["start"] + " " + (found.groupdict().get("middle") or ""))
        ended = _named_states(found["end"])
        if begun or ended:
            states = [State(name, sign, "start") for name, sign in begun] + [
                State(name, sign, "end") for name, sign in ended
            ]
            # The way between is asked for, too: one end alone would also fit who stands there throughout.
            rising = dict(ended) or {name: -sign for name, sign in begun}
            return states + [State(name, sign, "rise") for name, sign in rising.items()]
    named = _named_states(text)
    if _FALLS.search(text):
        return [State(name, -sign, "rise") for name, sign in named]
    if _GROWS.search(text) or _OVER.search(text):
        return [State(name, sign, "grow") for name, sign in named]
    if found := _ENDS.search(text):
        return [State(name, sign, "end") for name, sign in _named_states(found["end"])]
    if found := _STARTS.search(text):
        return [State(name, sign, "start") for name, sign in _named_states(found["start"])]
    if found := _AFTER.search(text):
        before, after = _named_states(found["start"]), _named_states(found["end"])
        if after:
            return [State(name, sign, "start") for name, sign in before] + [
                State(name, sign, "end") for name, sign in after
            ]
    return [State(name, sign, "any") for name, sign in named]


def _named_states(text: str) -> list[tuple[str, int]]:
    """Dimensions that are called by name, each with its end; a negation turns it round."""
    words = tokens(text)
    lexicons = called()
    return [(name, 1 if weight > 0 else -1) for name in DIMENSIONS if (weight := lexicons[name].weigh(words))]
