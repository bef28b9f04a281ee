"""Sample chats and e-mails of a company, by hand: what people say about an issue, and how an agent breaks a rule.

load_default() -> tuple[Talk, ...]         # data/crmarena/shoes/talks.yaml
load(path, company) -> tuple[Talk, ...]    # BadFile for the first fault
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation.company import FORM, Company, Key, Slug, Text
from cxlab.errors import BadFile
from cxlab.files import load_model

if TYPE_CHECKING:
    import numpy as np

SLOTS = frozenset({"customer", "agent", "colleague", "product", "order", "email"})
_SLOT = re.compile(r"<([^<>]*)>")
_FORMS = re.compile(r"\{([^{}]*)\}")
_EITHER = re.compile(r"\{([^{}]*)\}|<([^<>]*)>")
# What is checked in a text, and so is told in all its forms or in none.
_FACTS = frozenset({"order", "email", "colleague", "ids"})
Speaker = Literal["customer", "agent", "colleague"]
Line = Annotated[dict[Speaker, Text], Field(min_length=1, max_length=1)]


class Talk(BaseModel):
    """A chat or an exchange of e-mails about one case; each line is who speaks and what is said, slots as in SLOTS.

    `{…|…}` in a text are forms of one thing; `details` are slots of the talk's own, of which one value is taken for
    the whole of a case. A `colleague` is who has the case after it changed hands. `age`: days since the order, least
    and most, for which what is said is true. `kinds`, `audiences`: the products it can be about, None for all.
    `breaches`: the conduct policy that is broken, None where all are kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    form: Literal["chat", "email"]
    subject: Text | None = None
    issue: Text
    age: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]
    kinds: tuple[Text, ...] | None = None
    audiences: tuple[Text, ...] | None = None
    breaches: Slug | None = None
    details: dict[Key, Annotated[tuple[Text, ...], Field(min_length=1)]] = {}
    lines: Annotated[tuple[Line, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _fits_together(self) -> Talk:
        if self.form == "email" and self.subject is None:
            raise ValueError("an e-mail has a subject")
        if self.age[0] > self.age[1]:
            raise ValueError("the least age is above the most")
        if "customer" not in self.lines[0] or all("customer" in line for line in self.lines):
            raise ValueError("the customer begins and somebody answers")
        if own := SLOTS & self.details.keys():
            raise ValueError(f"the slot {min(own)!r} is no detail")
        texts = [self.subject or "", *(text for _, text in self.spoken()), *itertools.chain(*self.details.values())]
        unknown = {slot for text in texts for slot in _SLOT.findall(text)} - SLOTS - self.details.keys()
        if unknown:
            raise ValueError(f"there is no slot {min(unknown)!r}")
        for text in texts:
            if "{" in (bare := _FORMS.sub("", text)) or "}" in bare:
                raise ValueError(f"the braces of {text[:40]!r} do not close each other")
            for forms in _FORMS.findall(text):
                held = {frozenset(_SLOT.findall(form)) & _FACTS for form in forms.split("|")}
                if len(held) > 1:
                    raise ValueError(f"the forms of {forms[:40]!r} tell different facts")
        return self

    @property
    def hands_over(self) -> bool:
        """Whether the case changes hands in it."""
        return any(who == "colleague" or "<colleague>" in text for who, text in self.spoken())

    @property
    def is_silent(self) -> bool:
        """Whether it changes hands without a word to the customer: suddenly a colleague speaks."""
        return any(who == "colleague" for who, _ in self.spoken())

    @property
    def identifies(self) -> bool:
        """Whether the order number and the e-mail address are told."""
        whole = " ".join(text for _, text in self.spoken())
        for name, values in self.details.items():
            whole = whole.replace(f"<{name}>", values[0])
        return "<order>" in whole and "<email>" in whole

    def spoken(self) -> list[tuple[Speaker, str]]:
        """(who, text) of each line in order, with all its forms."""
        return [pair for line in self.lines for pair in line.items()]

    def word(self, rng: np.random.Generator) -> TalkWording:
        """The talk in one of its wordings; of each detail one value, of each `{…|…}` one form."""
        details = {name: values[int(rng.integers(len(values)))] for name, values in self.details.items()}

        def choose(found: re.Match[str]) -> str:
            forms = found[1].split("|")
            return forms[int(rng.integers(len(forms)))]

        def say(text: str) -> str:
            return fill_slots(_FORMS.sub(choose, fill_slots(_FORMS.sub(choose, text), details)), details)

        return TalkWording(say(self.subject or "Chat"), tuple((who, say(text)) for who, text in self.spoken()))

    def match(self) -> list[re.Pattern[str]]:
        """What each line that is not the customer's looks like, in all its wordings."""

        def pattern(text: str) -> str:
            whole, last = "", 0
            for found in _EITHER.finditer(text):
                whole += re.escape(text[last : found.start()])
                if found[1] is not None:
                    whole += "(?:" + "|".join(pattern(form) for form in found[1].split("|")) + ")"
                else:
                    values = self.details.get(found[2])
                    whole += "(?:" + "|".join(map(pattern, values)) + ")" if values else ".{1,80}?"
                last = found.end()
            return whole + re.escape(text[last:])

        return [re.compile(pattern(text)) for who, text in self.spoken() if who != "customer"]


class TalkWording(NamedTuple):
    """A talk in one wording: its subject, and (who, text) of each line; slots as in SLOTS."""

    subject: str
    lines: tuple[tuple[Speaker, str], ...]


def fill_slots(text: str, slots: Mapping[str, str]) -> str:
    """A text with its slots filled; what a slot's value holds is not filled again."""
    return _SLOT.sub(lambda found: slots.get(found[1], found[0]), text)


class _File(BaseModel):
    """`details` are those of every talk."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    details: dict[Key, Annotated[tuple[Text, ...], Field(min_length=1)]] = {}
    talks: Annotated[tuple[Talk, ...], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _share_details(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("details"), dict):
            return given
        shared, talks = given["details"], given.get("talks")
        if not isinstance(talks, list):
            return given
        return {
            **given,
            "talks": [
                {**talk, "details": {**shared, **(talk.get("details") or {})}} if isinstance(talk, dict) else talk
                for talk in talks
            ],
        }


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
    audiences = {name for model in company.catalogue.models for name in model.audiences}
    for name, count in Counter(talk.id for talk in talks).items():
        if count > 1:
            yield f"the talk {name!r} is there twice"
    for talk in talks:
        if talk.issue not in issues:
            yield f"{talk.id}: there is no issue {talk.issue!r}"
        for kind in sorted(set(talk.kinds or ()) - kinds):
            yield f"{talk.id}: there is no product of the kind {kind!r}"
        for name in sorted(set(talk.audiences or ()) - audiences):
            yield f"{talk.id}: there is no product for {name!r}"
        if talk.breaches is not None:
            if talk.breaches not in policies:
                yield f"{talk.id}: there is no policy {talk.breaches!r}"
            elif talk.issue not in policies[talk.breaches].issues:
                yield f"{talk.id}: the policy {talk.breaches!r} does not come up in cases of {talk.issue!r}"
