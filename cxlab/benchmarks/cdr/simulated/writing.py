"""A stand-in that writes conversations in plain, short words (data/simulated/cdr/phrases.yaml)."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
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
    """Something that one side says, in one of several wordings; `before`: what the other one says just before it."""

    before: Lines | None = None
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
    welcomes: Lines
    replies: Lines
    answers: Lines
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
    known, topic = load_phrases(), inputs.topic
    talk: list[tuple[Literal["user", "assistant"], str]] = []

    def say(role: Literal["user", "assistant"], lines: Sequence[str]) -> str:
        told = {text for _, text in talk}
        lines = [line.format(topic=topic) for line in lines]
        talk.append((role, rng.choice([line for line in lines if line not in told] or lines)))
        return talk[-1][1]

    say("user", known.openings)
    # What the assistant says next, unless something has to be said just before a step.
    following: Sequence[str] = known.welcomes
    for step in (step for name in inputs.script for step in find_steps(name)):
        if step.user is not None:
            if not following:
                say("user", known.prompts)
            say("assistant", step.before or following or known.replies)
            following = known.answers if "?" in say("user", step.user) else known.replies
        else:
            if following:
                say("assistant", following)
            say("user", step.before or known.prompts)
            say("assistant", step.assistant or ())
            following = ()
    if following:
        say("assistant", following)
    user, assistant = rng.choice(known.closings)
    say("user", [user])
    say("assistant", [assistant])
    reply = WriteReply(messages=[WrittenMessage(role=role, text=text) for role, text in talk])
    return reply.model_dump_json()
