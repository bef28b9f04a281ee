"""A conversation at one moment: what a player publishes after each delivery and a page draws. Never stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cxlab.records.conversation import Message


@dataclass(frozen=True)
class WorldChange:
    """A value of the world that is another one than at the start; None where there is none."""

    path: tuple[str, ...]
    before: Any
    now: Any


@dataclass(frozen=True)
class LiveCounts:
    """What can be counted of a conversation so far; `least` is the shortest way in turns, `repeated` the turns in which
    the agent asks or says again what the customer had answered."""

    turns: int
    least: int
    fields: Mapping[str, bool]
    wer: float | None
    repeated: tuple[int, ...] = ()


@dataclass(frozen=True)
class LiveMetric:
    """A metric as it stands: `value` of `n` observations, or None with the reason; `share` from 0 to 1. `left`: how
    many more may count and are open, as the wording does not decide them."""

    metric: str
    title: str
    definition: str
    value: float | None
    n: int
    reason: str
    share: bool
    best: float
    left: int = 0


@dataclass(frozen=True)
class LiveSnapshot:
    """All that is to be seen of a conversation under way. `waits` for whom: a model, a person, a tool, or nobody."""

    messages: tuple[Message, ...]
    beats: int
    turn: int
    waits: Literal["agent", "customer", "person", "tool", ""]
    ended: str
    passed: bool | None
    changes: tuple[WorldChange, ...]
    profiles: tuple[Mapping[str, Any], ...]
    told: str
    tally: LiveCounts
    course: tuple[tuple[int, float], ...]
    """(turn, share of the needed actions carried out), a point a turn."""
    cost_usd: float | None
    readings: tuple[LiveMetric, ...]
    """The twelve metrics as they stand."""
    before: Mapping[str, float | None]
    """The metrics' values at the end of the turn before."""
    fault: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Both sides' rows as they are now; `begun` as they were at the start."""
    begun: Mapping[str, Any] = field(default_factory=dict)
    worn: tuple[float, ...] = ()
    """Share of the customer's patience that is gone after each message of the agent, the greeting first; () for a
    customer who has all the time in the world."""
    needless: frozenset[int] = frozenset()
    """Places in `messages` of what the customer did on its device, the task did not need and nobody has put back."""
    by_customer: bool = False
    """Whether the goal was missed only by what the customer did though nobody had asked for it."""
    hand_over: bool = False
    """Whether the task asks for a hand-over to a person."""
    unmended: tuple[str, ...] = ()
    """Of a conversation that is over and should end so: what could have been mended before it, and was not."""
