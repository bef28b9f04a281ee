"""A procedure in prose → a scenario file, through a model; checked, and sent back once if it is wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel

from cxlab.benchmarks.sage.procedures.check import check_file
from cxlab.benchmarks.sage.rules import FOLDER
from cxlab.errors import BadFile, CxError
from cxlab.files import Complaint, written_yaml
from cxlab.llm import Prompt, ask
from cxlab.llm.base import ChatModel
from cxlab.store import home

EXAMPLE = "telecom_package"
FORM = """\
id: a_short_name            # small letters and underscores
short: TP                   # two capitals
title: a few words
business: one sentence about the desk
role: who the customer is, as "a customer of a bank"
slots:                      # optional: name -> list of values; <name> stands for one of them in customer and
                            # background, where (one wording|another) is a choice, too
fields:                     # Name -> description, default, emotion (true for feelings), options
  Name: {description: ..., default: ..., options: {Value: {description: ..., customer: ...}}}
system:                     # Name -> title (optional), description, and values: {Value: meaning}, or
                            # number: integer | amount | date, then samples (optional): values that occur
actions:                    # Name -> description
stages:                     # stage1 -> title, branches: list of {when: {...}, to: ...} or {when: {...}, action: ...}
intents:                    # name -> title, level (zero, weak or strong), when (optional), background (list), goal
personalities:              # name -> description in the third person ("types on the bus"), style (list of: chatty,
                            # terse, formal, sloppy, doubting)"""
TRIES = 3


class ConvertInputs(BaseModel):
    """The prose, the form it must take, and the last try with what was wrong with it."""

    text: str
    form: str
    example: str
    last: str = ""
    complaints: tuple[str, ...] = ()


CONVERT = Prompt(
    "sage_convert",
    2,
    Path(__file__).parents[1] / "prompts" / "convert.md",
    ConvertInputs,
    None,
    "cxlab.benchmarks.sage.simulated.procedure_converter:convert",
    0.0,
)


class Unconvertible(CxError):
    """The model made no scenario file that holds."""


def convert(text: str, model: ChatModel) -> str:
    """Scenario YAML for a procedure in prose; raises Unconvertible when the last try fails, kept in `drafts/`."""

    async def converted() -> str:
        try:
            return await convert_async(text, model)
        finally:
            await model.aclose()

    return asyncio.run(converted())


async def convert_async(text: str, model: ChatModel) -> str:
    """The same for callers that run an event loop."""
    if not text.strip():
        raise BadFile("the procedure", None, "is empty", "give the steps of the procedure")
    lines = (FOLDER / f"{EXAMPLE}.yaml").read_text(encoding="utf-8").splitlines()
    example = "\n".join(line for line in lines if not line.startswith("#"))
    inputs = ConvertInputs(text=text.strip(), form=FORM, example=example)
    complaints: list[Complaint] = []
    yaml = told = ""
    for number in range(TRIES):
        # What came to nothing is asked once more as it was, with another seed: the same would come again.
        reply = await ask(model, CONVERT, inputs, seed=number)
        if reply.output is None:
            told = f" gave no file: {reply.failure.message if reply.failure else 'no reply'}"
            if reply.failure is not None and reply.failure.where == "provider":
                break
            continue
        text = written_yaml.strip_fence(reply.output.text)
        if "\n" not in text.strip():
            told = f": {text.strip()[:300]}"
            if model.simulated:
                break
            continue
        yaml = text
        complaints = check_text(yaml)
        if not complaints:
            return yaml
        asked = tuple(str(complaint) for complaint in complaints[:20])
        if model.simulated:
            break  # it would say the same again
        inputs = inputs.model_copy(update={"last": yaml, "complaints": asked})
    if not yaml:
        raise Unconvertible(f"{model.name}{told}")
    listed = "\n  ".join(str(c) for c in complaints[:5])
    draft = _keep(yaml)
    raise Unconvertible(
        f"{model.name} wrote a file with {len(complaints)} faults, kept as {draft}; the first ones:\n  {listed}"
    )


def _keep(yaml: str) -> Path:
    """Where a file that does not hold yet was written, for a person to mend."""
    path = home() / "drafts" / f"{_id_of(yaml)}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml, encoding="utf-8")
    return path


def _id_of(yaml: str) -> str:
    return written_yaml.find_id(yaml, "scenario")


def check_text(yaml: str) -> list[Complaint]:
    """Complaints about a scenario that is not yet a file."""
    return written_yaml.check_text(yaml, _id_of(yaml), check_file)
