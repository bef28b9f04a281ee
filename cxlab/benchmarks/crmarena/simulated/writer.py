"""The simulated writer of an organisation: names off a list, cases and questions from the script beside the prompt."""

from __future__ import annotations

import functools
import re
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field

from cxlab import resources
from cxlab.benchmarks.crmarena.generation.prompts import (
    NO_RULE,
    BreachFound,
    BreachInputs,
    CasesInputs,
    CaseText,
    CaseTexts,
    FieldText,
    ParaphraseInputs,
    People,
    PeopleInputs,
    PersonName,
    ProductInputs,
    ProductMeant,
    RecordsInputs,
    RecordText,
    RecordTexts,
    RewordedBatch,
    RewordedQuestion,
)
from cxlab.benchmarks.crmarena.organisation import talks
from cxlab.benchmarks.crmarena.organisation.company import FORM, Text
from cxlab.files import load_model
from cxlab.llm.simulated.profiles import Profile


class _Names(BaseModel):
    first: Annotated[tuple[Text, ...], Field(min_length=10)]
    last: Annotated[tuple[Text, ...], Field(min_length=10)]


@functools.cache
def _load_names() -> _Names:
    return load_model(resources.data("simulated", "crmarena", "people.yaml"), _Names, FORM)


def name_people(inputs: PeopleInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Names off the list that nobody has yet; first names come again only when all are used."""
    names, taken = _load_names(), set(inputs.known)
    found: list[PersonName] = []
    while len(found) < inputs.count:
        used = {name.split(" ")[0] for name in taken}
        fresh = [name for name in names.first if name not in used] or names.first
        one = PersonName(
            first=fresh[int(rng.integers(len(fresh)))], last=names.last[int(rng.integers(len(names.last)))]
        )
        if one.name not in taken:
            taken.add(one.name)
            found.append(one)
    return People(people=found).model_dump_json()


def write_cases(inputs: CasesInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The hand-written talk of each case, its slots filled."""
    made = [CaseText(number=case.number, subject=case.subject, lines=list(case.script)) for case in inputs.cases]
    return CaseTexts(cases=made).model_dump_json()


def reword(inputs: ParaphraseInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Each question in one of its hand-written wordings."""
    made = [RewordedQuestion(number=each.number, text=each.script or each.text) for each in inputs.questions]
    return RewordedBatch(questions=made).model_dump_json()


def pick_product(inputs: ProductInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The purchase of the named day whose name has all the words; none where no one or several do."""
    wanted = _words(inputs.words)
    fitting = [each.id for each in inputs.purchases if each.day == inputs.day and wanted <= _words(each.name)]
    return ProductMeant(id=fitting[0] if len(fitting) == 1 else "none").model_dump_json()


def find_breach(inputs: BreachInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The rule of the hand-written talk that these lines come from; none where they come from no such talk."""
    whole = "\n".join(inputs.lines)
    for rule, said in _load_breaches():
        if all(pattern.search(whole) for pattern in said):
            return BreachFound(rule=rule).model_dump_json()
    return BreachFound(rule=NO_RULE).model_dump_json()


def write_records(inputs: RecordsInputs, profile: Profile, rng: np.random.Generator) -> str:
    """What is known of each record, as a sentence a fact; a short field names the record by its number."""
    made = []
    for record in inputs.records:
        name = f"{inputs.label} {record.number}"
        told = ". ".join(record.facts) or name
        texts = [
            FieldText(field=field.name, text=name if field.name == "Name" else f"{told}."[: field.longest])
            for field in inputs.fields
        ]
        made.append(RecordText(number=record.number, texts=texts))
    return RecordTexts(records=made).model_dump_json()


@functools.cache
def _load_breaches() -> list[tuple[str, list[re.Pattern[str]]]]:
    """The rule that each talk breaks that breaks one, and what is said there."""
    return [(talk.breaches, talk.match()) for talk in talks.load_default() if talk.breaches is not None]


def _words(text: str) -> set[str]:
    """The words of a name, small and in the singular."""
    plain = [word.strip("()").removesuffix("'s") for word in text.lower().split()]
    return {word.removesuffix("s") if not word.endswith("ss") else word for word in plain}
