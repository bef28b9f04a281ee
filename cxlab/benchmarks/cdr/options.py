"""The switches of a run of CDR, and the settings of its dataset."""

from typing import ClassVar, Literal

from pydantic import Field

from cxlab.benchmarks.cdr.units import UnitText
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.errors import BadOption
from cxlab.records import Role

WRITTEN = "written"
PAPER = "9146"
"""Conversations of the paper's corpus."""
FEWEST, MOST = 100, 100_000
_SIDES: tuple[Role, ...] = ("customer", "agent")


class CdrOptions(Options):
    """What a run of CDR can be told."""

    prefix: bool = Field(
        True,
        title="Speakers in front",
        description="Begin each message of a unit with its speaker: user:, assistant:.",
    )
    side: Literal["both", "customer", "agent"] = Field(
        "both", title="Whose messages", description="Whose messages a unit has; the others are not there."
    )
    first: str = Field(
        "bm25",
        title="First stage",
        description="Where the model under test is a chat model: the retriever that finds what the model orders anew.",
        json_schema_extra={"choices": ["bm25", "lexical", "hashing", "minilm", "hybrid", "conversation"]},
    )
    candidates: int = Field(
        20, ge=2, le=50, description="How many of the first stage's conversations a chat model orders anew."
    )

    @property
    def text(self) -> UnitText:
        """What a unit's text contains."""
        return UnitText(prefix=self.prefix, roles=_SIDES if self.side == "both" else (self.side,))


class CdrDataset(GenerateOptions):
    """Which conversations, and which questions on them."""

    making: ClassVar[str] = (
        "The conversations that were written by hand are taken as they are. Made ones are written message by message "
        "from what is to happen in them, so that it is known which questions they answer."
    )

    size: str = Field(
        WRITTEN,
        title="Conversations",
        description="written: those by hand, with sixty questions. Or how many to make; the paper has 9146.",
        json_schema_extra={"choices": [WRITTEN, "300", "1000", PAPER]},
    )
    model: str = Field(
        "simulated:strong",
        description="Writes made conversations. Simulated ones need no network, cost nothing and write plainly.",
        json_schema_extra={"offers": "models"},
    )


def read_size(size: str) -> int | None:
    """How many conversations to make, None for those that were written by hand; BadOption otherwise."""
    if size == WRITTEN:
        return None
    if size.isascii() and size.isdigit() and len(size) < 7 and FEWEST <= int(size) <= MOST:
        return int(size)
    raise BadOption(f"size={size[:40]}: give {WRITTEN}, or a whole number from {FEWEST} to {MOST}")
