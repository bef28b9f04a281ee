"""Sample chats and e-mails of a company, by hand: what people say about an issue, and how an agent breaks a rule.

load_default() -> tuple[Talk, ...]         # data/crmarena/shoes/talks.yaml
load(path, company) -> tuple[Talk, ...]    # BadFile for the first fault
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation.company import FORM, Company, Slug, Text
from cxlab.errors import BadFile
from cxlab.files import load_model

SLOTS = frozenset({"customer", "agent", "colleague", "product", "order", "email"})
_SLOT = re.compile(r"<([^<>]*)>")
Speaker = Literal["customer", "agent", "colleague"]
Line = Annotated[dict[Speaker, Text], Field(min_length=1, max_length=1)]


class Talk(BaseModel):
    """A chat or an exchange of e-mails about one case; each line is who speaks and what is said, slots as in SLOTS.

    A `colleague` is who has the case after it changed hands. `age`: days since the order, least and most, for which
    what is said is true. `kinds`: the products it can be about, None for all. `breaches`: the conduct policy that is
    broken, None where all are kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    form: Literal["chat", "email"]
    subject: Text | None = None
    issue: Text
    age: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]
    kinds: tuple[Text, ...] | None = None
    breaches: Slug | None = None
    lines: Annotated[tuple[Line, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _fits_together(self) -> Talk:
        if (self.form == "email") != (self.subject is not None):
            raise ValueError("an e-mail has a subject and a chat has none")
        if self.age[0] > self.age[1]:
            raise ValueError("the least age is above the most")
        if "customer" not in self.lines[0] or all("customer" in line for line in self.lines):
            raise ValueError("the customer begins and somebody answers")
        unknown = {slot for _, text in self.spoken() for slot in _SLOT.findall(text)} - SLOTS
        if unknown:
            raise ValueError(f"there is no slot {min(unknown)!r}")
        return self

    @property
    def hands_over(self) -> bool:
        """Whether the case changes hands in it."""
        return any(who == "colleague" or "<colleague>" in text for who, text in self.spoken())

    @property
    def is_silent(self) -> bool:
        """Whether it changes hands without a word to the customer: suddenly a colleague speaks."""
        return any(who == "colleague" for who, _ in self.spoken())

    def spoken(self) -> list[tuple[Speaker, str]]:
        """(who, text) of each line in order."""
        return [pair for line in self.lines for pair in line.items()]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    talks: Annotated[tuple[Talk, ...], Field(min_length=1)]


@functools.cache
def load_default() -> tuple[Talk, ...]:
    """The talks of the company that comes with the product."""
    return load(resources.data("crmarena", "shoes", "talks.yaml"), companies.load_default())


def load(path: Path, company: Company) -> tuple[Talk, ...]:
    """The talks of a file, checked against their company; BadFile names the first that does not fit it."""
    talks = load_model(path, _File, FORM).talks
    for problem in find_faults(talks, company):
        raise BadFile(path, None, problem, FORM)
    return talks


def find_faults(talks: tuple[Talk, ...], company: Company) -> Iterator[str]:
    issues = {issue.name for issue in company.profile.issues}
    policies = {policy.id: policy for policy in company.profile.conduct_policies}
    kinds = {model.kind for model in company.catalogue.models}
    for name, count in Counter(talk.id for talk in talks).items():
        if count > 1:
            yield f"the talk {name!r} is there twice"
    for talk in talks:
        if talk.issue not in issues:
            yield f"{talk.id}: there is no issue {talk.issue!r}"
        for kind in sorted(set(talk.kinds or ()) - kinds):
            yield f"{talk.id}: there is no product of the kind {kind!r}"
        if talk.breaches is not None:
            if talk.breaches not in policies:
                yield f"{talk.id}: there is no policy {talk.breaches!r}"
            elif talk.issue not in policies[talk.breaches].issues:
                yield f"{talk.id}: the policy {talk.breaches!r} does not come up in cases of {talk.issue!r}"
