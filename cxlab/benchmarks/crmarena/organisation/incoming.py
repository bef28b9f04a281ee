"""New cases of a company that wait for an agent, by hand: what customers report, plain enough to tell the issue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from cxlab.benchmarks.crmarena.organisation.company import FORM, Company, Text
from cxlab.errors import BadFile
from cxlab.files import load_model


class NewCase(BaseModel):
    """What a customer reports; slots <product>, <order>, <email>."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issue: Text
    subject: Text
    description: Text


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    cases: Annotated[tuple[NewCase, ...], Field(min_length=1)]


def load(path: Path, company: Company) -> tuple[NewCase, ...]:
    """The new cases of a file; BadFile for an issue that the company does not have, or one without a case."""
    cases = load_model(path, _File, FORM).cases
    known, told = {issue.name for issue in company.profile.issues}, {case.issue for case in cases}
    for name in sorted(told - known):
        raise BadFile(path, None, f"there is no issue {name!r}", FORM)
    for name in sorted(known - told):
        raise BadFile(path, None, f"no new case is about {name!r}", FORM)
    return cases
