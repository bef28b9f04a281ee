"""One small prompt with its handler, shared by the tests of this folder."""

import json
from pathlib import Path
from typing import Any, Literal

from numpy.random import Generator
from pydantic import BaseModel

from cxlab.llm import Prompt
from cxlab.llm.openai_clients import EndpointOptions
from cxlab.llm.openai_model import OpenAIModel
from cxlab.llm.simulated import Profile


class Inputs(BaseModel):
    message: str
    options: tuple[str, ...] = ("refund", "delivery")


class Output(BaseModel):
    intent: Literal["refund", "delivery"]


class TextInputs(BaseModel):
    message: str


def answer(inputs: Inputs, profile: Profile, rng: Generator) -> str:
    """Find the option in the message, or guess; the weaker the form, the likelier broken JSON."""
    found = [option for option in inputs.options if option in inputs.message]
    intent = found[0] if found else inputs.options[int(rng.integers(len(inputs.options)))]
    if rng.random() > profile.format_reliability:
        return f"I think it is {intent}"
    return json.dumps({"intent": intent, "draw": float(rng.random())})


def chat(inputs: TextInputs, profile: Profile, rng: Generator) -> str:
    return f"You said: {inputs.message}"


_HERE = Path(__file__).parent
INTENT = Prompt("intent", 1, _HERE / "intent.md", Inputs, Output, simulate=f"{__name__}:answer")
CHAT = Prompt("chat", 1, _HERE / "chat.md", TextInputs, simulate=f"{__name__}:chat")


def model_at(url: str, key_variable: str | None = None, **options: Any) -> OpenAIModel:
    """A real openai client on a URL, with waits short enough for tests."""
    settings: dict[str, Any] = {"first_wait_s": 0.01, "longest_wait_s": 0.5, "read_timeout_s": 5.0, **options}
    return OpenAIModel("endpoint:test", "tiny", url, key_variable, options=EndpointOptions(**settings))
