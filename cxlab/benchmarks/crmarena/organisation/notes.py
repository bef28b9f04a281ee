"""What agents send beside a talk: that a message came in, that a case changes hands, that it is closed."""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation.company import FORM, Text
from cxlab.files import load_model

Wordings = Annotated[tuple[Text, ...], Field(min_length=1)]


class Notes(BaseModel):
    """Wordings by occasion, with slots as in `talks.SLOTS` and <case>."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    received: Wordings
    after_chat: Wordings
    handover_email: Wordings
    handover_chat: Wordings
    closing: Wordings


@functools.cache
def load_notes() -> Notes:
    """The notes that come with the product."""
    return load_model(resources.data("crmarena", "notes.yaml"), Notes, FORM)
