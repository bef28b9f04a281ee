"""What a cue is: a wording by which a dialogue act is told.

Each cue is a pattern of its own, so that a reader can know some and not others: `plain` ones say it outright,
`oblique` ones in passing. `dialogue_acts` reads messages by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Cue:
    """One wording and how directly it says what it says; each is made once and looked up by identity."""

    pattern: re.Pattern[str]
    plain: bool


Knows = Callable[[Cue], bool]


def cue_list(plain: tuple[str, ...], oblique: tuple[str, ...] = ()) -> tuple[Cue, ...]:
    return tuple(
        Cue(re.compile(text, re.IGNORECASE), direct)
        for texts, direct in ((plain, True), (oblique, False))
        for text in texts
    )


FINE = r"(?:ok|okay|all right|alright|fine|correct|right|good|accurate|acceptable|in order)"
"""What is said of something that suits, by who asks and by who answers."""
