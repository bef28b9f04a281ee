"""What a writer is asked: a conversation in which something given happens."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from cxlab.llm import Prompt
from cxlab.llm.prompts import unrendered

HERE = Path(__file__).parent
SIMULATE = "cxlab.benchmarks.cdr.simulated"


class WrittenMessage(BaseModel):
    role: Literal["user", "assistant"]
    text: str = Field(min_length=1)


class WriteInputs(BaseModel):
    topic: str
    happenings: tuple[str, ...]
    fewest: int = 6
    most: int = 14
    script: tuple[str, ...] = unrendered(())
    """The names of what happens, by which a stand-in finds its words."""

    def validate_output(self, output: "WriteReply") -> list[str]:
        """Both speak; a stand-in's may be shorter."""
        sides = {message.role for message in output.messages}
        return [] if sides == {"user", "assistant"} else ["one side does not speak"]


class WriteReply(BaseModel):
    messages: list[WrittenMessage]


WRITE = Prompt("cdr-write", 1, HERE / "write.md", WriteInputs, WriteReply, simulate=f"{SIMULATE}.writing:write")
