"""What a writer is asked while an organisation is made: people, cases and questions in batches, and two checks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from cxlab.benchmarks.crmarena.organisation.company import Text
from cxlab.benchmarks.crmarena.organisation.talks import Speaker
from cxlab.llm import Prompt
from cxlab.llm.prompts import unrendered

HERE = Path(__file__).parents[1] / "prompts" / "generation"
SIMULATE = "cxlab.benchmarks.crmarena.simulated.writer"
MOST_LINES = 16
NO_RULE = "none"


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True)


class PeopleInputs(_Given):
    """`known`: names that are taken."""

    description: str
    role: str
    count: int
    known: tuple[str, ...]

    def validate_output(self, output: People) -> list[str]:
        """Complaints about the number of names and about names that come twice."""
        names = [each.name for each in output.people]
        told = [f"{len(names)} people, {self.count} were wanted"] if len(names) != self.count else []
        again = sorted(name for name, count in Counter(names).items() if count > 1 or name in self.known)
        return told + [f"{name} is there already" for name in again]


class PersonName(BaseModel):
    """A first and a last name."""

    first: Text = Field(max_length=40)
    last: Text = Field(max_length=40)

    @property
    def name(self) -> str:
        """Both together."""
        return f"{self.first} {self.last}"


class People(BaseModel):
    """A batch of names."""

    people: list[PersonName]


class Line(_Given):
    """What somebody said."""

    speaker: Speaker
    text: str = Field(min_length=1, max_length=4000)


class CaseFacts(_Given):
    """What happens in a case. `told`: whether the customer is told that it changes hands; `identified`: whether order
    number and e-mail address are said; `days` since the order. `script` is what a simulated writer copies.
    """

    number: int
    form: Literal["chat", "email"]
    customer: str
    agent: str
    colleague: str | None
    told: bool
    product: str
    days: int
    issue: str
    description: str
    identified: bool
    order: str
    email: str
    rule: str | None
    breach: str | None
    rules: tuple[str, ...]
    subject: str = unrendered("")
    script: tuple[Line, ...] = unrendered(())


class CasesInputs(_Given):
    """A batch of cases; `known` are beginnings of texts that these shall not be like."""

    description: str
    cases: tuple[CaseFacts, ...]
    known: tuple[str, ...] = ()

    def validate_output(self, output: CaseTexts) -> list[str]:
        """Complaints about cases that are missing or do not hold what is given."""
        written = {case.number: case for case in output.cases}
        told = [f"case {case.number} is missing" for case in self.cases if case.number not in written]
        for case in self.cases:
            if case.number in written:
                told += [f"case {case.number}: {fault}" for fault in find_faults(case, written[case.number])]
        return told


class CaseText(BaseModel):
    """What was written in one case."""

    number: int
    subject: Text = Field(max_length=200)
    lines: list[Line] = Field(min_length=2, max_length=MOST_LINES)


class CaseTexts(BaseModel):
    """A batch of them."""

    cases: list[CaseText]


def find_faults(case: CaseFacts, text: CaseText) -> list[str]:
    """What in a text is not as the facts say: who speaks, the order's number and address, the colleague's name."""
    speakers = [line.speaker for line in text.lines]
    whole = "\n".join(line.text for line in text.lines)
    by_agent = "\n".join(line.text for line in text.lines if line.speaker == "agent")
    found = []
    if speakers[0] != "customer":
        found.append("the customer does not begin")
    if all(who == "customer" for who in speakers):
        found.append("nobody answers")
    if case.colleague is None and "colleague" in speakers:
        found.append("a colleague speaks, and the case does not change hands")
    if case.colleague is not None and case.told and case.colleague not in by_agent:
        found.append(f"the agent does not say that {case.colleague} takes over")
    if case.colleague is not None and not case.told and "colleague" not in speakers:
        found.append("the colleague does not answer")
    if case.colleague is not None and not case.told and case.colleague in by_agent:
        found.append(f"the agent names {case.colleague}, and should not say a word of it")
    for what, value in (("order number", case.order), ("e-mail address", case.email)):
        if case.identified != (value in whole):
            found.append(f"the {what} is {'missing' if case.identified else 'told'}")
    return found


class Rule(_Given):
    """A rule as a reader sees it."""

    id: str
    text: str


class BreachInputs(_Given):
    """The lines of a case, who said them before each, and the rules."""

    lines: tuple[str, ...]
    days: int
    rules: tuple[Rule, ...]


class BreachFound(BaseModel):
    """The rule that a reader found broken, "none" where all were kept."""

    reasoning: str = ""
    rule: str


class Purchase(_Given):
    """Something that a customer bought."""

    id: str
    name: str
    day: str


class ProductInputs(_Given):
    """A customer's words and all that they bought."""

    company: str
    words: str
    day: str
    purchases: tuple[Purchase, ...]


class ProductMeant(BaseModel):
    """The purchase that is meant, "none" where none or several fit."""

    reasoning: str = ""
    id: str


class NumberQuestion(_Given):
    """A question of a number; `script` is what a simulated writer makes of it."""

    number: int
    text: str
    script: str = unrendered("")


class ParaphraseInputs(_Given):
    """A batch of questions of one task. What must stay is checked by `questions.wording`, question by question."""

    role: str
    questions: tuple[NumberQuestion, ...]


class RewordedQuestion(BaseModel):
    """A question in other words."""

    number: int
    text: Text = Field(max_length=2000)


class RewordedBatch(BaseModel):
    """A batch of them."""

    questions: list[RewordedQuestion]


class TextField(_Given):
    """A field that is to be written."""

    name: str
    about: str
    longest: int


class RecordFacts(_Given):
    """A record of a number, and what is known of it."""

    number: int
    facts: tuple[str, ...]


class RecordsInputs(_Given):
    """A batch of records of an object that schema changes add; `known` are names that are taken."""

    description: str
    label: str
    about: str
    fields: tuple[TextField, ...]
    records: tuple[RecordFacts, ...]
    known: tuple[str, ...] = ()

    def sort(self, output: RecordTexts) -> list[dict[str, str]]:
        """Field → text of each record, in their order."""
        found = {one.number: {each.field: each.text.strip() for each in one.texts} for one in output.records}
        return [{field.name: found[record.number][field.name] for field in self.fields} for record in self.records]

    def validate_output(self, output: RecordTexts) -> list[str]:
        """Complaints about what is missing or too long, and about names that come twice."""
        found = {one.number: {each.field: each.text.strip() for each in one.texts} for one in output.records}
        told = []
        for record in self.records:
            texts = found.get(record.number, {})
            for field in self.fields:
                length = len(texts.get(field.name, ""))
                if not 0 < length <= field.longest:
                    problem = f"has {length} characters, {field.longest} are the most" if length else "is missing"
                    told.append(f"record {record.number}: {field.name} {problem}")
        names = [texts["Name"] for texts in found.values() if "Name" in texts]
        again = sorted(name for name, count in Counter(names).items() if count > 1 or name in self.known)
        return told + [f"{name} is there already" for name in again]


class FieldText(BaseModel):
    """What was written in a field."""

    field: str
    text: str = Field(max_length=4000)


class RecordText(BaseModel):
    """What was written of one record."""

    number: int
    texts: list[FieldText]


class RecordTexts(BaseModel):
    """A batch of them."""

    records: list[RecordText]


PEOPLE = Prompt("crmarena_people", 1, HERE / "people.md", PeopleInputs, People, f"{SIMULATE}:name_people", 0.8)
CASES = Prompt("crmarena_cases", 1, HERE / "cases.md", CasesInputs, CaseTexts, f"{SIMULATE}:write_cases", 0.8)
BREACH = Prompt("crmarena_breach", 1, HERE / "breach.md", BreachInputs, BreachFound, f"{SIMULATE}:find_breach")
PRODUCT = Prompt("crmarena_product", 1, HERE / "product.md", ProductInputs, ProductMeant, f"{SIMULATE}:pick_product")
PARAPHRASE = Prompt(
    "crmarena_paraphrase", 1, HERE / "paraphrase.md", ParaphraseInputs, RewordedBatch, f"{SIMULATE}:reword", 0.8
)
RECORDS = Prompt(
    "crmarena_records", 1, HERE / "records.md", RecordsInputs, RecordTexts, f"{SIMULATE}:write_records", 0.8
)
ALL = (PEOPLE, CASES, BREACH, PRODUCT, PARAPHRASE, RECORDS)


def hashes() -> dict[str, str]:
    """Prompt name → hash."""
    return {prompt.name: prompt.hash for prompt in ALL}
