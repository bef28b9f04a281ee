"""A stand-in that writes conversations in plain, short words (data/simulated/cdr/phrases.yaml)."""

from __future__ import annotations

import functools
import random
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cxlab import resources
from cxlab.benchmarks.cdr.corpus.happenings import Lines, load_happenings
from cxlab.benchmarks.cdr.prompts.writing import WriteInputs, WriteReply, WrittenMessage
from cxlab.files import load_model
from cxlab.llm.simulated import Profile
from cxlab.records.base import Record

PATH = resources.data("simulated", "cdr", "phrases.yaml")


class Step(Record):
    """Something that one side says, in one of several wordings."""

    user: Lines | None = None
    assistant: Lines | None = None

    @model_validator(mode="after")
    def _one_side(self) -> Step:
        if (self.user is None) == (self.assistant is None):
            raise ValueError("a step is either the user's or the assistant's")
        return self


class Phrases(Record):
    """The whole file."""

    openings: Lines
    replies: Lines
    prompts: Lines
    closings: Annotated[tuple[tuple[str, str], ...], Field(min_length=1)]
    steps: dict[str, tuple[Step, ...]]


@functools.cache
def load_phrases() -> Phrases:
    """The file that ships."""
    return load_model(PATH, Phrases, "see the head of the file")


def find_steps(name: str) -> tuple[Step, ...]:
    """What is said where something happens, in its order."""
    steps, other = load_phrases().steps, load_happenings().happenings[name].backwards
    return steps[name] if name in steps or other is None else steps[other][::-1]


def write(inputs: WriteInputs, profile: Profile, rng: random.Random) -> str:
    """An opening, what happens, a closing, always in turns; it needs the script, as it reads no descriptions."""
    del profile
    known = load_phrases()
    said: list[tuple[Literal["user", "assistant"], str]] = [
        ("user", rng.choice(known.openings)),
        ("assistant", rng.choice(known.replies)),
    ]
    for name in inputs.script:
        for step in find_steps(name):
            if step.user is not None:
                said += [("user", rng.choice(step.user)), ("assistant", rng.choice(known.replies))]
            else:
                said += [("user", rng.choice(known.prompts)), ("assistant", rng.choice(step.assistant or ()))]
    user, assistant = rng.choice(known.closings)
    said += [("user", user), ("assistant", assistant)]
    reply = WriteReply(
        messages=[WrittenMessage(role=role, text=text.format(topic=inputs.topic)) for role, text in said]
    )
    return reply.model_dump_json()
