"""The prompts that make a brand's knowledge: topics, articles, paraphrases, and a whole brand from a brief."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from cxlab.llm import Prompt
from cxlab.llm.prompts import unrendered

HERE = Path(__file__).parents[1] / "prompts" / "knowledge"
SIMULATE = "cxlab.benchmarks.cxmarena.simulated.articles"


class Candidate(BaseModel):
    """A topic that may be taken: title and what it covers."""

    title: str
    description: str


class ExpandInputs(BaseModel):
    """A node of the tree and topics that suit what stands below it."""

    language: str
    brand: str
    path: str
    description: str
    candidates: tuple[Candidate, ...]


class Children(BaseModel):
    """The topics below a node; none where it needs none."""

    children: list[Candidate]


class Note(BaseModel):
    """A point to be made, as a sentence; `kind` says where it belongs."""

    kind: Literal["about", "aspect", "use", "care"]
    text: str


class FactLine(BaseModel):
    """A fact in plain words and what its value means in use; for stand-ins a sentence that states it, its kind, a
    second wording, and a question that it answers."""

    id: str
    plain: str
    text: str
    remark: str = ""
    kind: Literal["price", "period", "size", "percent", "worded"]
    again: str
    question: str

    @property
    def of(self) -> str:
        """The property that it is a fact of, as it is called in `plain`."""
        return self.plain.partition(", ")[2].rpartition(": ")[0]


class InformationInputs(BaseModel):
    """All that an information article may state: nothing beyond the facts."""

    language: str
    formal_you: str = ""
    brand: str
    path: str
    title: str
    topic: str
    names: tuple[str, ...]
    words: int
    notes: tuple[Note, ...]
    facts: tuple[FactLine, ...]
    related: tuple[str, ...]
    """Facts of related things, in plain words."""
    complaints: tuple[str, ...] = ()
    others: tuple[str, ...] = unrendered()
    """The same as sentences."""
    language_id: str = unrendered()
    tokens: int = unrendered()
    root: str = unrendered("")


class StepLine(BaseModel):
    """A step of a resolution; `tool` is called there."""

    text: str
    tool: str = ""


class IssueInputs(BaseModel):
    """All that an issue article may state."""

    language: str
    formal_you: str = ""
    brand: str
    title: str
    topic: str
    names: tuple[str, ...]
    words: int
    symptoms: tuple[str, ...]
    causes: tuple[str, ...]
    needs: tuple[str, ...]
    steps: tuple[StepLine, ...]
    facts: tuple[FactLine, ...]
    notes: tuple[Note, ...] = ()
    complaints: tuple[str, ...] = ()
    language_id: str = unrendered()
    tokens: int = unrendered()
    root: str = unrendered("")


class RephraseInputs(BaseModel):
    """An article to be written again with other words, in another order, and the same facts."""

    language: str
    text: str
    names: tuple[str, ...]
    language_id: str = unrendered()


class Article(BaseModel):
    """An article's body."""

    body: str = Field(min_length=1)


EXPAND = Prompt("cxmarena_expand_topic", 1, HERE / "expand_topic.md", ExpandInputs, Children, f"{SIMULATE}:expand", 0.1)
INFORMATION = Prompt(
    "cxmarena_information",
    2,
    HERE / "write_information.md",
    InformationInputs,
    None,
    f"{SIMULATE}:information",
    0.6,
)
ISSUE = Prompt("cxmarena_issue", 2, HERE / "write_issue.md", IssueInputs, None, f"{SIMULATE}:issue", 0.6)
REPHRASE = Prompt("cxmarena_rephrase", 2, HERE / "rephrase.md", RephraseInputs, None, f"{SIMULATE}:rephrase", 0.6)
ALL = (EXPAND, INFORMATION, ISSUE, REPHRASE)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as datasets keep them."""
    return {prompt.name: prompt.hash for prompt in ALL}
