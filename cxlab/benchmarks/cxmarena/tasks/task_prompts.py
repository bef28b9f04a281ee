"""The prompts that derive tasks from a brand's knowledge and conversations, and those that check what came of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import (
    INTENT,
    NumberedMessage,
    Passage,
    TaxonomyLabel,
    read_answer,
)
from cxlab.llm import Prompt

HERE = Path(__file__).parents[1] / "prompts" / "tasks"
SIMULATE = "cxlab.benchmarks.cxmarena.simulated.task_derivation"


class Member(BaseModel):
    """One issue in a cluster: what is wrong, with what, and how often customers call about it."""

    title: str
    group: str
    conversations: int = 0


class NameInputs(BaseModel):
    """A cluster that becomes an intent; `l1` is the group above it, `taken` what neighbours are about."""

    language: str
    members: tuple[Member, ...]
    terms: tuple[str, ...]
    examples: tuple[str, ...]
    taken: tuple[str, ...] = ()
    l1: str = ""


class NameReply(BaseModel):
    name: str = Field(min_length=1, max_length=160)
    description: str = Field(min_length=1)


class ReasonInputs(BaseModel):
    """A cluster of conversations without labels: how some begin, the words that mark it, and those of the others."""

    conversations: int
    terms: tuple[str, ...]
    openings: tuple[str, ...]
    others: tuple[str, ...] = ()


class ReasonReply(BaseModel):
    reason: str = ""
    name: str = Field(min_length=1, max_length=160)
    description: str = ""


class QueryFact(BaseModel):
    """A fact to ask for: what it is, the sentence that states it, its value, and how customers ask for it."""

    aspect: str
    sentence: str
    value: str
    questions: tuple[str, ...]


class QuestionInputs(BaseModel):
    """An article and the facts in it that are to be asked for; no value must be given away."""

    language: str
    passage: Passage
    subject: str
    facts: tuple[QueryFact, ...]

    def validate_output(self, output: QuestionReply) -> list[str]:
        """A question that names its value asks for nothing; one that names no subject has many answers."""
        asked = output.question.lower()
        # A model's name may hold a figure that is also the value.
        rest = asked.replace(self.subject.lower(), " ")
        values = [fact.value for fact in self.facts]
        given = [v for v in values if re.search(rf"(?<!\w){re.escape(v.lower())}(?!\w)", rest)]
        said = [f"the question gives the value {value!r} away" for value in given]
        if self.subject.lower() not in asked:
            said.append(f"the question does not name {self.subject!r}")
        return said


class QuestionReply(BaseModel):
    question: str = Field(min_length=5)


class SupportInputs(BaseModel):
    """A label put on a conversation, and the taxonomy that it was chosen from."""

    transcript: str
    label: str
    taxonomy: tuple[TaxonomyLabel, ...]


class SupportReply(BaseModel):
    reason: str = ""
    supported: bool


class AnswerableInputs(BaseModel):
    query: str
    passage: Passage


class AnswerableReply(BaseModel):
    """`answer` is the article's own words, empty when it holds no answer."""

    answer: str = ""
    answerable: bool


class RelevantInputs(BaseModel):
    transcript: str
    passage: Passage


class RelevantReply(BaseModel):
    reason: str = ""
    relevant: bool


class Review(BaseModel):
    """An answer to a quality question, and how sure the reviewer is: 1 guesses, 5 is certain."""

    question: int
    reason: str = ""
    answer: Annotated[Literal["Yes", "No", "NA"], BeforeValidator(read_answer)]
    evidence: list[int] = []
    confidence: int = Field(ge=1, le=5)


class ReviewReply(BaseModel):
    answers: list[Review]


class ReviewInputs(BaseModel):
    lines: tuple[NumberedMessage, ...]
    questions: tuple[str, ...]

    def validate_output(self, output: ReviewReply) -> list[str]:
        """Each question once."""
        numbers = sorted(one.question for one in output.answers)
        wanted = list(range(1, len(self.questions) + 1))
        return [] if numbers == wanted else [f"answers to {numbers} where {wanted} were asked"]


class AdjudicateInputs(BaseModel):
    """One question that the reviewer was unsure of, with the reviewer's answer and reason."""

    lines: tuple[NumberedMessage, ...]
    question: str
    answer: str
    reason: str
    confidence: int


class AdjudicateReply(BaseModel):
    """`unclear` when the conversation does not decide it."""

    reason: str = ""
    evidence: list[int] = []
    answer: Annotated[
        Literal["Yes", "No", "NA", "unclear"],
        BeforeValidator(
            lambda said: "unclear" if isinstance(said, str) and said.strip().lower() == "unclear" else read_answer(said)
        ),
    ]


# Detection is the task's own prompt: a label out of a list of drafts.
DETECT = INTENT
NAME = Prompt("cxm_name_intent", 1, HERE / "name_intent.md", NameInputs, NameReply, f"{SIMULATE}:name", 0.2)
NAME_REASON = Prompt(
    "cxm_name_reason", 1, HERE / "name_reason.md", ReasonInputs, ReasonReply, f"{SIMULATE}:name_reason", 0.2
)
QUESTION = Prompt("cxm_question", 2, HERE / "question.md", QuestionInputs, QuestionReply, f"{SIMULATE}:question", 0.6)
SUPPORTED = Prompt("cxm_supported", 2, HERE / "supported.md", SupportInputs, SupportReply, f"{SIMULATE}:supported", 0.0)
ANSWERABLE = Prompt(
    "cxm_answerable", 2, HERE / "answerable.md", AnswerableInputs, AnswerableReply, f"{SIMULATE}:answerable", 0.0
)
RELEVANT = Prompt("cxm_relevant", 2, HERE / "relevant.md", RelevantInputs, RelevantReply, f"{SIMULATE}:relevant", 0.0)
REVIEW = Prompt("cxm_review", 2, HERE / "review.md", ReviewInputs, ReviewReply, f"{SIMULATE}:review", 0.0)
ADJUDICATE = Prompt(
    "cxm_adjudicate", 2, HERE / "adjudicate.md", AdjudicateInputs, AdjudicateReply, f"{SIMULATE}:adjudicate", 0.0
)
# What generating a dataset asks; NAME_REASON is asked of conversations that people bring.
ALL = (DETECT, NAME, QUESTION, SUPPORTED, ANSWERABLE, RELEVANT, REVIEW, ADJUDICATE)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as datasets keep them."""
    return {prompt.name: prompt.hash for prompt in ALL}
