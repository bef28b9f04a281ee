"""How a simulated judge reads a rule about handing over: clause by clause, what it lets count and what it bars.

What a clause names is looked for in the conversation by the wordings of CASES, or, where it names something else, by
its own words: most of them in one line. A clause that leaves the matter to the reader ("only if necessary") names
nothing. So another text of the rule is another reading, whoever wrote it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# What rules speak of: how a clause names it, and what of it shows in a conversation.
CASES: dict[str, tuple[str, str]] = {
    "a locked SIM card": (
        r"\bsim\b[^.;]*\block|\bpin\b|\bpuk\b",
        r"\b(?:pin|puk)\b|\bsim\b[^.]{0,40}\block|locked_p(?:in|uk)",
    ),
    "an ended contract": (r"\bcontract\b", r"\bcontract\b[^.]{0,60}\b(?:end|ran|run|expire|over)"),
    "no tool for it": (
        r"\bno tool\b",
        r"\b(?:parcel|package|box)\b[^.]{0,60}\b(?:lost|damaged|broken|empty|without|never|gone)\b"
        r"|\b(?:charged|taken|paid|money)\b[^.]{0,40}\btwice\b|\bcomplain\w*|\brude\b",
    ),
    "the customer's wish for a person": (
        r"\b(?:wish|want\w*|ask\w*|demand\w*|insist\w*)\b[^.;]*\b(?:person|human|colleague|manager|someone)\b",
        r"\b(?:want|speak|talk|get me|give me|connect|put me)\b[^.?!]{0,40}"
        r"\b(?:person|human|colleague|manager|someone)\b",
    ),
    "an angry customer": (
        r"\b(?:angry|anger|upset|abus\w*|insult\w*|threat\w*)\b",
        r"\b(?:ridiculous|unacceptable|useless|fed up|furious|angry|incompetent)\b",
    ),
}
STEPS = re.compile(r"\bsteps?\b|\btried\b|\battempts?\b", re.IGNORECASE)
# A condition with one of these hands the question back to the reader.
_VAGUE = re.compile(
    r"\b(?:necessary|needed|appropriate|reasonable|justified|sensible|power|solutions?|better|best|helps?|unable)\b",
    re.IGNORECASE,
)
_BARS = re.compile(
    r"\bnever\b|\b(?:no|not a|not the) reasons?\b|\b(?:does|do|did|will) not count|\b(?:is|are) none\b"
    r"|\bnot (?:when|if)\b",
    re.IGNORECASE,
)
_FLAT = re.compile(r"\bnever counts?\b|\bunder no circumstances\b|\balways\b|\bin (?:any|every) case\b", re.IGNORECASE)
_OPENS = re.compile(r"\b(?:if|when|where|because|in case|after)\b(?!,)", re.IGNORECASE)
_TURN = re.compile(r"\b(unless|except(?: (?:if|when|where))?|but not|but only)\b", re.IGNORECASE)
_HEAD = re.compile(r"\bhand(?:ing|ed)?[ -]?(?:over|off)s?\b|\btransfer\w*\b|\bescalat\w*\b", re.IGNORECASE)
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """
    about after also and another any are because been being but can cannot card case cases count counts customer
    customers does done each every following for from had handed handing has have her his hold holds its line
    mere merely must not nor none off one only or other over person reason reasons rule she should some than
    that the their them then there these they thing this those very was were what when where which who will with
    without agent agents transfer if it is of on an be by do
    """,
    )
)
# Of a clause's own words, this share has to stand in one line, and a single word is too little to go by.
_ENOUGH, _LEAST = 0.6, 2


@dataclass(frozen=True)
class EscalationReason:
    """Something that a clause names, and how to see it in a line of the conversation."""

    name: str
    clause: str
    pattern: re.Pattern[str] | None = None
    words: frozenset[str] = frozenset()

    def shows(self, line: str) -> bool:
        if self.pattern is not None:
            return bool(self.pattern.search(line))
        here = len(self.words & _stems(line))
        return here >= _LEAST and here >= _ENOUGH * len(self.words)


@dataclass(frozen=True)
class ParsedRule:
    """A rule as read: what `counts`, what is `barred`, whether tried steps are, and a flat yes or no to all."""

    counts: tuple[EscalationReason, ...] = ()
    barred: tuple[EscalationReason, ...] = ()
    bars_steps: bool = False
    always: bool = False
    never: bool = False

    @property
    def decides(self) -> bool:
        """Whether it says by itself which hand-overs count; else that is left to the judge."""
        return bool(self.counts) or self.always or self.never

    def taken_in(self, knows: Callable[[str], bool]) -> ParsedRule:
        """What is left of it for a judge that does not take in every clause."""
        return ParsedRule(
            tuple(case for case in self.counts if knows(case.clause)),
            tuple(case for case in self.barred if knows(case.clause)),
            self.bars_steps,
            self.always,
            self.never,
        )


@functools.lru_cache(maxsize=64)
def parse_rule(text: str) -> ParsedRule:
    """What a rule says, sentence by sentence; "unless", "except" and "but not" turn what follows round."""
    counts: list[EscalationReason] = []
    barred: list[EscalationReason] = []
    bars_steps = always = never = False
    for sentence in re.split(r"[.;:!\n]+", text):
        parts = _TURN.split(sentence)
        against = bool(_BARS.search(parts[0]))
        for place in range(0, len(parts), 2):
            clause = parts[place].strip()
            turned = place > 0 and parts[place - 1].lower() != "but only"
            bars = against != turned if place else against
            if not clause:
                continue
            if place == 0 and _FLAT.search(clause) and not _cases(clause):
                always, never = (always, True) if bars else (True, never)
                continue
            bars_steps |= bars and bool(STEPS.search(clause))
            (barred if bars else counts).extend(_cases(clause))
    return ParsedRule(tuple(counts), tuple(barred), bars_steps, always, never)


def shown(cases: Iterable[EscalationReason], lines: Iterable[str]) -> list[str]:
    """The names of the cases that show in one of the lines."""
    texts = list(lines)
    return [case.name for case in cases if any(case.shows(line) for line in texts)]


def _cases(clause: str) -> list[EscalationReason]:
    """What a clause names: cases that are known, else its condition by its own words; nothing where it is vague."""
    named = [
        EscalationReason(name, clause, re.compile(seen, re.IGNORECASE))
        for name, (says, seen) in CASES.items()
        if re.search(says, clause, re.IGNORECASE)
    ]
    if named or _VAGUE.search(clause) or STEPS.search(clause):
        return named
    opening = _OPENS.search(clause)
    if opening is None and _HEAD.search(clause):
        return []
    words = _stems(clause[opening.end() :] if opening else clause)
    return [EscalationReason(f'"{clause}"', clause, words=words)] if len(words) >= _LEAST else []


def _stems(text: str) -> frozenset[str]:
    """Words by their beginning, so that "damaged" meets "damage"; those that every rule has are left out."""
    found = re.findall(r"[a-z']+", text.lower())
    return frozenset(word[:5] for word in found if len(word) > 2 and word not in _EMPTY)
