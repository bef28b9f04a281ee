"""How questions are worded: seeds of our own, and the check that other words ask the same.

load_wordings().seeds["handle_time"]                # Seed(id, task, window, wordings)
find_faults("Who had …?", meaning)                  # [] when it asks just what the meaning says
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation.company import FORM, Slug, Text
from cxlab.benchmarks.crmarena.questions import windows
from cxlab.benchmarks.crmarena.questions.windows import Window
from cxlab.benchmarks.crmarena.tasks import Answer
from cxlab.files import load_model

# Words that say which extreme is meant.
_SAYS = {
    "max": re.compile(
        r"\b(most|longest|highest|slowest|greatest|largest|maximum|more time|top|peak(?:ed)?|biggest)\b", re.I
    ),
    "min": re.compile(r"\b(fewest|least|shortest|lowest|fastest|quickest|smallest|minimum|quickly|less time)\b", re.I),
}
_COUNT = re.compile(rf"\b(\d+|{'|'.join(windows.NUMBERS)})\b", re.I)


class Seed(BaseModel):
    """One way to ask about a task: `window` says what stretch of time it takes, `wordings` the words with slots."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    task: str
    window: Literal["named", "past"] | None = None
    wordings: Annotated[tuple[Text, ...], Field(min_length=2)]


class Wordings(BaseModel):
    """The file questions.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extremes: dict[Literal["min", "max"], dict[str, Text]]
    seeds: tuple[Seed, ...]
    answers: dict[Answer, Text]
    optional: dict[str, Text]

    def of_task(self, task: str) -> list[Seed]:
        """The seeds of a task."""
        return [seed for seed in self.seeds if seed.task == task]


@functools.cache
def load_wordings() -> Wordings:
    """The wordings that come with the product."""
    return load_model(resources.data("crmarena", "questions.yaml"), Wordings, FORM)


@dataclass(frozen=True)
class Meaning:
    """What a question must say, however it is put: names letter by letter, the window, the number of cases, the
    extreme (None where the seed's words leave it open). `window` may be a time ago.
    """

    names: tuple[str, ...] = ()
    window: Window | None = None
    more_than: int | None = None
    extreme: str | None = None


def fill(wording: str, slots: dict[str, str]) -> str:
    """A wording with its slots filled; a slot with a capital begins with one."""
    whole = {**slots, **{name.capitalize(): text[:1].upper() + text[1:] for name, text in slots.items()}}
    return re.sub(r"\b1 cases\b", "1 case", re.sub(r"<(\w+)>", lambda slot: whole[slot[1]], wording))


def find_faults(text: str, meaning: Meaning) -> list[str]:
    """What a text does not say, or says besides."""
    found = [f"{name!r} is not named" for name in meaning.names if name not in text]
    rest = text
    for name in meaning.names:
        rest = rest.replace(name, " ")
    told = windows.read(rest)
    if told != ([meaning.window] if meaning.window else []):
        found.append(f"it is about {told or 'no time'}, not {meaning.window}")
    if meaning.more_than is not None:
        plain = _without_windows(rest)
        counts = [windows.read_number(each) for each in _COUNT.findall(plain)]
        if counts != [meaning.more_than]:
            found.append(f"it names {counts or 'no number'} as the number of cases, not {meaning.more_than}")
    if meaning.extreme is not None:
        # "more than" is no extreme.
        said = {name for name, words in _SAYS.items() if words.search(rest)}
        if said != {meaning.extreme}:
            found.append(f"it asks for {' and '.join(sorted(said)) or 'no extreme'}, not {meaning.extreme}")
    return found


def _without_windows(text: str) -> str:
    for pattern in windows.PATTERNS:
        text = pattern.sub(" ", text)
    return text
