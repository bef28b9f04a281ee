"""When a role's calls are no longer worth making: a run that cannot succeed ends itself, and is told why."""

from typing import TYPE_CHECKING

from cxlab.llm.base import ProviderFault
from cxlab.records import Failure

if TYPE_CHECKING:
    from asyncio import Event

FIRST = 10
PASSING = 100
UNANSWERED = "unanswered"
"""Type of the fault of calls that are not made because those before them all failed alike."""
# Faults that no later call of a run recovers from: a refused key, spent money, no such model, a limit by the day.
_LASTING = frozenset(("auth", "quota", "not_found", "rate_limited"))
# Faults of a server that may be back in a minute. All others are a matter of what was asked.
_PASSING = frozenset(("server_error", "connection", "timeout", "bad_reply"))


class CircuitBreaker:
    """Lets no more calls of a role through once ten in a row have failed alike.

    Until one is answered, no more than ten are let through at a time: a wrong key or a dead server costs ten calls,
    not a run of them. Calls that fail in different ways are a matter of the single call, so then all are let through.
    Later on, only faults count that do not go away by themselves (a key that was revoked, money that is spent), and
    those of a server that is gone after a hundred in a row: what passes within minutes must not end a night's work.
    """

    def __init__(self, role: str, most: int = FIRST, most_passing: int = PASSING) -> None:
        self.role, self.most, self.most_passing = role, most, most_passing
        self.failures: list[Failure] = []
        """Those in a row, the last one last; as many as are needed."""
        self.open = False
        """Whether all calls are let through, as one was answered or they failed in different ways."""
        self.failed = False
        self._begun = 0
        self._moved: Event | None = None

    def describe(self) -> str:
        """Why nothing more is let through."""
        first = self.failures[0].message if self.failures else ""
        which = "the last" if self.open else "the first"
        return f"{which} {len(self.failures)} calls of the {self.role} all failed alike: {first}"

    async def begin(self) -> None:
        """Wait until one more call may be made; a ProviderFault where none will be."""
        while not self.open and not self.failed and self._begun >= self.most:
            from asyncio import Event

            self._moved = self._moved or Event()
            await self._moved.wait()
        if self.failed:
            raise ProviderFault(UNANSWERED, self.describe())
        self._begun += 1

    def end(self, failure: Failure | None, answered: bool) -> None:
        """A call came to its end: answered, failed, or neither, when it was cancelled."""
        if self.failed:
            return
        if answered or (failure is not None and failure.type == "no_tools"):
            # A server that takes no tools has answered: it is asked in words.
            self.open, self.failures = True, []
        elif failure is None:
            self._begun -= 1
        else:
            self._note(failure)
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    def _note(self, failure: Failure) -> None:
        alike = not self.failures or self.failures[-1].type == failure.type
        if not self.open:
            self.failures.append(failure)
            self.open = not alike
            self.failed = alike and len(self.failures) >= self.most
            self.failures = [failure] if self.open else self.failures
            return
        self.failures = [*self.failures, failure] if alike else [failure]
        most = self.most if failure.type in _LASTING else self.most_passing if failure.type in _PASSING else None
        self.failed = most is not None and len(self.failures) >= most
        del self.failures[: -self.most_passing]
