"""CXMArena's prompts as typed functions: five tasks, and what judges are asked about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from cxlab.llm import Prompt

HERE = Path(__file__).parents[1] / "prompts" / "evaluation"
SIMULATE = "cxlab.benchmarks.cxmarena.simulated"
ANSWERS = ("Yes", "No", "NA")
VERDICTS = ("correct", "incorrect", "hallucinated", "refusal")


class TaxonomyLabel(BaseModel):
    """One label of a taxonomy."""

    label: str
    description: str = ""


class NumberedMessage(BaseModel):
    """One numbered message."""

    id: int
    who: str
    text: str


class Passage(BaseModel):
    """An article, or a piece of one, as prompts print it."""

    id: str
    text: str


class IntentInputs(BaseModel):
    transcript: str
    candidates: tuple[TaxonomyLabel, ...]


class IntentReply(BaseModel):
    """Any label counts as said; whether the taxonomy has it is a matter of scoring."""

    reason: str = ""
    intent: str = Field(min_length=1)


def read_answer(said: Any) -> Any:
    """Capitals and the JSON words for yes and no are a matter of form."""
    if isinstance(said, bool):
        return "Yes" if said else "No"
    if isinstance(said, str):
        return {"yes": "Yes", "no": "No", "na": "NA", "n/a": "NA"}.get(said.strip().lower(), said)
    return said


class QualityAnswer(BaseModel):
    question: int
    reason: str = ""
    answer: Annotated[Literal["Yes", "No", "NA"], BeforeValidator(read_answer)]
    evidence: list[int] = []


class QualityReply(BaseModel):
    answers: list[QualityAnswer]


class QualityInputs(BaseModel):
    lines: tuple[NumberedMessage, ...]
    questions: tuple[str, ...]
    options: tuple[str, ...] = ANSWERS

    def validate_output(self, output: QualityReply) -> list[str]:
        """A question that was not asked or is answered twice; a missing one is for the score to see."""
        numbers = [one.question for one in output.answers]
        said = [f"question {n} does not exist" for n in numbers if not 1 <= n <= len(self.questions)]
        said += [f"question {n} is answered twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
        return said + [
            f"{one.answer!r} is none of the options" for one in output.answers if one.answer not in self.options
        ]


class QueryInputs(BaseModel):
    transcript: str
    style: Literal["keywords", "question"] = "keywords"


class AnswerInputs(BaseModel):
    transcript: str
    passages: tuple[Passage, ...]


class JudgeInputs(BaseModel):
    """What a response judge sees; the reference answer is not among it."""

    transcript: str
    response: str
    own: tuple[Passage, ...]
    other: tuple[Passage, ...]


class JudgeReply(BaseModel):
    reason: str = ""
    verdict: Annotated[
        Literal["correct", "incorrect", "hallucinated", "refusal"],
        BeforeValidator(lambda said: said.strip().lower() if isinstance(said, str) else said),
    ]


class ToolInputs(BaseModel):
    """`as_text` prints the tools into the prompt; otherwise they go with the request."""

    transcript: str
    articles: tuple[Passage, ...]
    tools: tuple[dict[str, Any], ...]
    forced: bool = False
    as_text: bool = False


class ToolChoice(BaseModel):
    name: str
    arguments: dict[str, Any] = {}


class ToolReply(BaseModel):
    calls: list[ToolChoice]
    message: str = ""


class PairInputs(BaseModel):
    first: Passage
    second: Passage


class PairReply(BaseModel):
    first: str = ""
    second: str = ""
    contradicts: bool


class SimilarReply(BaseModel):
    shared: str = ""
    similar: bool


class VerifyInputs(BaseModel):
    transcript: str
    label: str
    description: str = ""


class VerifyReply(BaseModel):
    reason: str = ""
    holds: bool


# In every schema the reasons come before the decision, so that a model thinks before it says.
# The format of the model under test is measured where it decides a score, so it gets no second ask there.
INTENT = Prompt(
    "cxm_intent",
    2,
    HERE / "intent.md",
    IntentInputs,
    IntentReply,
    f"{SIMULATE}.transcript_tasks:intent",
    0.0,
    repair=False,
)
QUALITY = Prompt(
    "cxm_quality",
    2,
    HERE / "quality.md",
    QualityInputs,
    QualityReply,
    f"{SIMULATE}.transcript_tasks:quality",
    0.0,
    repair=False,
)
QUERY = Prompt("cxm_query", 1, HERE / "query.md", QueryInputs, None, f"{SIMULATE}.transcript_tasks:query", 0.0)
ANSWER = Prompt("cxm_answer", 1, HERE / "answer.md", AnswerInputs, None, f"{SIMULATE}.answers:answer", 0.2)
TOOLS = Prompt("cxm_tools", 1, HERE / "tools.md", ToolInputs, None, f"{SIMULATE}.tool_calls:tools", 0.0)
TOOLS_JSON = Prompt(
    "cxm_tools_json",
    1,
    HERE / "tools.md",
    ToolInputs,
    ToolReply,
    f"{SIMULATE}.tool_calls:tools",
    0.0,
    repair=False,
)
CONTRADICTION = Prompt(
    "cxm_contradiction",
    2,
    HERE / "contradiction.md",
    PairInputs,
    PairReply,
    f"{SIMULATE}.article_pairs:contradiction",
    0.0,
)
SIMILAR = Prompt(
    "cxm_similar", 2, HERE / "similar.md", PairInputs, SimilarReply, f"{SIMULATE}.article_pairs:similar", 0.0
)
JUDGE = Prompt("cxm_judge", 2, HERE / "judge.md", JudgeInputs, JudgeReply, f"{SIMULATE}.answers:judge", 0.0)
VERIFY = Prompt(
    "cxm_verify", 2, HERE / "verify.md", VerifyInputs, VerifyReply, f"{SIMULATE}.transcript_tasks:verify", 0.0
)

EVALUATION: Sequence[Prompt[Any, Any]] = (
    INTENT,
    QUALITY,
    QUERY,
    ANSWER,
    TOOLS,
    TOOLS_JSON,
    CONTRADICTION,
    SIMILAR,
    JUDGE,
    VERIFY,
)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as runs keep them."""
    return {prompt.name: prompt.hash for prompt in EVALUATION}


def questions(facets: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """Judged field → what judges are asked of it; the same of all samples and in all runs."""
    del facets, options
    verdicts = "\n".join(f"  * {name}: {text}" for name, text in JUDGE.points.items())
    # The role, what is judged and how, before the form of the answer.
    roles = {"verdict": JUDGE.parts[0][1], "holds": VERIFY.parts[0][1]}
    asked = {name: text.partition("\n\n")[0] for name, text in roles.items()}
    return {**asked, "verdict": f"{asked['verdict']}\n{verdicts}"}
