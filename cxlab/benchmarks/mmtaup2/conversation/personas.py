"""Who the customers are: personas, read from data/mmtaup2/personas.yaml, crossed with every task.

What a persona does to a conversation it does through its traits alone: what is said unasked and how, what is
understood, what is touched by mistake, and when it is too much (stand-ins: `simulated/customer_patience.py`). Nothing
is taken off a result.
"""

from __future__ import annotations

import functools

from pydantic import model_validator

from cxlab import files, resources
from cxlab.errors import UnknownName
from cxlab.records.base import Record

FILE = resources.data("mmtaup2", "personas.yaml")
NAMES = ("none", "easy", "hard", "hurried", "wary")
USUAL = NAMES[:3]
"""With which every task is played where no persona is named."""
IN_WORDS = {name: f"{'no' if name == 'none' else name} persona" for name in NAMES}
"""What each is called wherever people read of it."""


class Persona(Record):
    """A kind of customer. All but `card` goes to the customer, `card` to the agent at exposure 1."""

    title: str
    about: str
    writes: str = ""
    speaks: str = ""
    card: dict[str, str | int]
    traits: tuple[str, ...]


class _File(Record):
    device: tuple[str, ...]
    traits: dict[str, str]
    personas: dict[str, Persona]

    @model_validator(mode="after")
    def _complete(self) -> _File:
        if set(self.personas) != set(NAMES):
            raise ValueError(f"personas must be {', '.join(NAMES)}")
        told = {f"persona {name}": persona.traits for name, persona in self.personas.items()} | {"device": self.device}
        for name, traits in told.items():
            if strange := set(traits) - set(self.traits):
                raise ValueError(f"{name} has traits that nobody explains: {', '.join(sorted(strange))}")
        return self


@functools.cache
def _file() -> _File:
    return files.load_model(FILE, _File, "see data/mmtaup2/personas.yaml as it came")


def persona(name: str) -> Persona:
    """One of `NAMES`; raises UnknownName."""
    if name not in NAMES:
        raise UnknownName("persona", name, NAMES)
    return _file().personas[name]


def describe(name: str, voice: bool) -> str:
    """Who the customer is, and how it writes in a chat or speaks on the telephone."""
    found = persona(name)
    return f"{found.about} {found.speaks if voice else found.writes}".strip()


def manner(name: str, device: bool = True) -> dict[str, str]:
    """The traits of a persona, each with the sentence that a customer goes by; none that needs a device without one."""
    kept = [trait for trait in persona(name).traits if device or trait not in _file().device]
    return {trait: _file().traits[trait] for trait in kept}
