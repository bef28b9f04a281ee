"""The switches of a run of CDR, and the settings of its dataset."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from cxlab.benchmarks.cdr.units import UnitText
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.errors import BadOption
from cxlab.records import Role
from cxlab.records.settings import Listed

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
        json_schema_extra={
            "choices": ["bm25", "lexical", "hashing", "minilm", "hybrid", "conversation", "random"],
            "forms": ["hybrid:EMBEDDER", "openai:MODEL", "endpoint:NAME/MODEL", "fastembed:NAME", "st:NAME"],
        },
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
        "The conversations that were written by hand are taken as they are. Made ones are written from what is to "
        "happen in them, so that it is known which questions they answer. Of a reference's conversations the best five "
        "of each query are read first; where none fits, one is adapted or the query dropped; what a reranker and a "
        "classifier find beside them, four judges verify."
    )

    size: str = Field(
        WRITTEN,
        title="Conversations",
        description="written: those by hand, with sixty questions. Or how many to make; the paper has 9146.",
        json_schema_extra={"choices": [WRITTEN, "300", "1000", PAPER]},
    )
    model: str = Field(
        "simulated:strong",
        description="Writes made conversations; with a reference it reads and adapts conversations. Simulated ones "
        "need no network, cost nothing, write plainly and count words.",
        json_schema_extra={"offers": "models"},
    )
    reference: str | None = Field(
        None, description="A stored dataset with conversations that is given queries instead: the way of the paper."
    )
    queries: int = Field(100, ge=5, le=28_000, description="With a reference: queries to draw from the templates.")
    reranker: str = Field(
        "local",
        description="With a reference: who puts conversations into the order in which is read on: local, a small "
        "one that was trained on made conversations; a chat model, which reads the twenty best; or retriever:NAME, an "
        "embedding endpoint for example.",
        json_schema_extra={"offers": "models"},
    )
    classifier: str = Field(
        "local",
        description="With a reference: who looks for more beyond the best five: local, a small classifier that is "
        "trained on the labels at hand and is weak; a chat model, asked of each pair how likely it fits; or "
        "retriever:NAME, by whose scores the local one then learns.",
        json_schema_extra={"offers": "models"},
    )
    judges: Annotated[tuple[str, ...], Listed] = Field(
        ("simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial", "simulated:judge-fair"),
        description="With a reference: the panel of four that reads each pair of a query and a conversation.",
    )


def read_size(size: str) -> int | None:
    """How many conversations to make, None for those that were written by hand; BadOption otherwise."""
    if size == WRITTEN:
        return None
    if size.isascii() and size.isdigit() and len(size) < 7 and FEWEST <= int(size) <= MOST:
        return int(size)
    raise BadOption(f"size={size[:40]}: give {WRITTEN}, or a whole number from {FEWEST} to {MOST}")
