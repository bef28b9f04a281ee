"""The order into which a chat model puts what a retriever found."""

from pathlib import Path

from pydantic import BaseModel, Field

from cxlab.llm import Prompt

HERE = Path(__file__).parent
SIMULATE = "cxlab.benchmarks.cdr.simulated"


class Candidate(BaseModel):
    """A conversation that was found, with its number in the prompt; the numbers tell nothing of how it was found."""

    number: int
    text: str


class RerankInputs(BaseModel):
    query: str
    candidates: tuple[Candidate, ...]

    def validate_output(self, output: "RerankReply") -> list[str]:
        """A number that no conversation has, or one that comes twice; leaving one out is allowed."""
        known = {each.number for each in self.candidates}
        wrong = [f"there is no conversation {number}" for number in output.order if number not in known]
        if len(set(output.order)) < len(output.order):
            wrong.append("a conversation comes twice")
        return wrong


class RerankReply(BaseModel):
    reason: str = ""
    order: list[int] = Field(description="Numbers of conversations, best first.")


RERANK = Prompt("cdr-rerank", 2, HERE / "rerank.md", RerankInputs, RerankReply, simulate=f"{SIMULATE}.reranking:rerank")
