"""Which conversations a query asks for, by a rule over the labels of their messages.

A rule is data: a mapping of one key.

    has: P              a message of P
    times: [n, P]       at least n messages of P
    starts: P, ends: P  the first (last) message of P's side
    reply: [P, Q]       a message of Q directly after one of P
    later: [P, Q]       a message of Q anywhere after one of P
    turns: [P, Q]       of the messages of P or Q, which have one side, the first is of P and the last of Q
    rises: [mood, ...]  of the user's moods, weak to strong: none is stronger than the last message's, the first weaker
    falls: [mood, ...]  the other way round: none is stronger than the first message's, the last weaker
    all: [rule, ...], any: [rule, ...], not: rule

P is `{user: [label, ...]}` or `{assistant: [...]}`, any of them; `with: [...]` wants one of these on the message too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from cxlab.records.base import Record

Side = Literal["user", "assistant"]
Labels = Annotated[tuple[str, ...], Field(min_length=1)]


class LabelledMessage(NamedTuple):
    """Who speaks, and what is seen in the message."""

    side: Side
    labels: frozenset[str]


class Pattern(Record):
    """A kind of message: whose, and with which labels."""

    user: Labels | None = None
    assistant: Labels | None = None
    with_: Annotated[tuple[str, ...], Field(alias="with")] = ()

    @model_validator(mode="after")
    def _one_side(self) -> Pattern:
        if (self.user is None) == (self.assistant is None):
            raise ValueError("give either user or assistant")
        return self

    @property
    def side(self) -> Side:
        return "user" if self.user is not None else "assistant"

    @property
    def any_of(self) -> tuple[str, ...]:
        return self.user or self.assistant or ()

    def fits(self, message: LabelledMessage) -> bool:
        """Whether the message is of this kind."""
        if message.side != self.side or message.labels.isdisjoint(self.any_of):
            return False
        return not self.with_ or not message.labels.isdisjoint(self.with_)


Pair = tuple[Pattern, Pattern]


class Rule(Record):
    """One condition on a conversation; exactly one field is set."""

    has: Pattern | None = None
    times: tuple[Annotated[int, Field(ge=2)], Pattern] | None = None
    starts: Pattern | None = None
    ends: Pattern | None = None
    reply: Pair | None = None
    later: Pair | None = None
    turns: Pair | None = None
    rises: Labels | None = None
    falls: Labels | None = None
    all_: Annotated[tuple[Rule, ...] | None, Field(alias="all", min_length=1)] = None
    any_: Annotated[tuple[Rule, ...] | None, Field(alias="any", min_length=1)] = None
    not_: Annotated[Rule | None, Field(alias="not")] = None

    @model_validator(mode="after")
    def _one(self) -> Rule:
        if len(self.model_fields_set) != 1:
            raise ValueError("a rule has exactly one key")
        if self.turns is not None and self.turns[0].side != self.turns[1].side:
            raise ValueError("turns: both are of one side")
        return self

    @property
    def directed(self) -> bool:
        """Whether it asks for a way from one thing to another, so that the same words backwards do not match."""
        if self.turns is not None or self.rises is not None or self.falls is not None:
            return True
        return any(rule.directed for rule in (*(self.all_ or ()), *(self.any_ or ())))

    def patterns(self) -> Iterator[Pattern]:
        """All patterns in it."""
        yield from (one for one in (self.has, self.starts, self.ends) if one is not None)
        for pair in (self.reply, self.later, self.turns):
            yield from pair or ()
        if self.times is not None:
            yield self.times[1]
        for mood in (*(self.rises or ()), *(self.falls or ())):
            yield Pattern(user=(mood,))
        for rule in (*(self.all_ or ()), *(self.any_ or ()), *((self.not_,) if self.not_ else ())):
            yield from rule.patterns()

    def fits(self, messages: Sequence[LabelledMessage]) -> bool:
        """Whether a conversation, as its messages in order, is what the rule asks for."""
        if self.has is not None:
            return any(map(self.has.fits, messages))
        if self.times is not None:
            return sum(map(self.times[1].fits, messages)) >= self.times[0]
        if (edge := self.starts or self.ends) is not None:
            own = [one for one in messages if one.side == edge.side]
            return bool(own) and edge.fits(own[0 if self.starts else -1])
        if self.reply is not None:
            first, second = self.reply
            return any(first.fits(a) and second.fits(b) for a, b in pairwise(messages))
        if self.later is not None:
            first, second = self.later
            place = next((at for at, one in enumerate(messages) if first.fits(one)), len(messages))
            return any(map(second.fits, messages[place + 1 :]))
        if self.turns is not None:
            before, after = self.turns
            either = [one for one in messages if before.fits(one) or after.fits(one)]
            return len(either) > 1 and before.fits(either[0]) and after.fits(either[-1])
        if (moods := self.rises or self.falls) is not None:
            levels = [_level(one, moods) for one in messages if one.side == "user"]
            if self.falls is not None:
                levels.reverse()
            return bool(levels) and levels[-1] == max(levels) > levels[0]
        if self.not_ is not None:
            return not self.not_.fits(messages)
        if self.any_ is not None:
            return any(rule.fits(messages) for rule in self.any_)
        return all(rule.fits(messages) for rule in self.all_ or ())


def _level(message: LabelledMessage, moods: Sequence[str]) -> int:
    """How strong: the place from 1 of the strongest of the moods, 0 for none of them."""
    return max((place for place, mood in enumerate(moods, 1) if mood in message.labels), default=0)
