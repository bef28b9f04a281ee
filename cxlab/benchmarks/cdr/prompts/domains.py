"""What a model is asked that sorts conversations by domain."""

from pathlib import Path

from pydantic import BaseModel, Field

from cxlab.llm import Prompt

OTHER = "None of these"


class Domain(BaseModel):
    """A domain as the prompt prints it."""

    title: str
    covers: str


class DomainInputs(BaseModel):
    conversation: str
    domains: tuple[Domain, ...]
    other: str = OTHER

    def validate_output(self, output: "DomainReply") -> list[str]:
        """A domain that is none of those printed."""
        known = [each.title.casefold() for each in self.domains] + [self.other.casefold()]
        return [] if output.domain.strip().casefold() in known else [f"{output.domain[:60]!r} is none of the domains"]


class DomainReply(BaseModel):
    reason: str = ""
    domain: str = Field(min_length=1)


DOMAIN = Prompt(
    "cdr-domain", 1, Path(__file__).parent / "domain.md", DomainInputs, DomainReply,
    simulate="cxlab.benchmarks.cdr.simulated.domains:domain", temperature=0.0,
)  # fmt: skip
