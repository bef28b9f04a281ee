"""What is evaluated and what came of it: samples, runs, attempts, votes, scores."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from cxlab.records.base import Record
from cxlab.records.conversation import Message
from cxlab.records.usage import Usage
from cxlab.records.versions import FILE_VERSION, Version


def _known(values: Any) -> Any:
    """Facets without those that are not known."""
    return {key: value for key, value in values.items() if value is not None} if isinstance(values, Mapping) else values


Facets = Annotated[dict[str, str], BeforeValidator(_known)]
"""What a sample can be filtered and grouped by: facet → value; its benchmark declares which there are."""


class Sample(Record):
    """One thing to evaluate; `id` is the hash of its content, so that runs compare the same samples."""

    id: str
    dataset_id: str
    benchmark: str
    task: str
    inputs: dict[str, Any]
    expected: dict[str, Any]
    facets: Facets = {}


class Failure(Record):
    """Something that went wrong, as data: where it happened and whether trying again could help.

    `role` says behind whom the provider stood that did not deliver: agent, customer or judge; None where it is not
    told.
    """

    where: Literal["provider", "agent", "format", "tool", "judge", "scorer", "customer"]
    type: str
    message: str
    retryable: bool = False
    turn: int | None = None
    role: Literal["agent", "customer", "judge"] | None = None


Outcome = Literal["ok", "format", "provider"]


def find_outcome(failures: Iterable[Failure]) -> Outcome:
    """What became of an attempt by what failed in it (`Attempt.outcome`)."""
    found = {failure.where for failure in failures}
    return "provider" if "provider" in found else "format" if "format" in found else "ok"


class Attempt(Record):
    """One trial of one sample by one model: all that was said, what it cost, how it ended.

    `usage`, `latency_s` and `cost_usd` are those of the model under test alone; what the customer took stands with its
    messages, what judges took with their votes.
    `outcome`: `provider` when a provider fault cut it short, else `format` when a reply of the model
    under test could not be parsed, else `ok`; so ok + format + provider = attempts.
    """

    id: str
    run_id: str
    sample_id: str
    trial: int
    messages: tuple[Message, ...] = ()
    output: dict[str, Any] = {}
    outcome: Outcome = "ok"
    ended_by: str = ""
    failures: tuple[Failure, ...] = ()
    usage: Usage = Usage()
    latency_s: float = 0.0
    cost_usd: float | None = None
    started: datetime
    offers: tuple[str, ...] = ()
    """Ids of what the model under test was offered (records/offer.py); () where that was not kept."""


class Vote(Record):
    """One judge's whole reply on one turn: raw text, rationale, and whether it could be used."""

    attempt_id: str
    turn: int
    judge: str
    valid: bool
    raw: str
    rationale: str = ""
    failure: str | None = None
    usage: Usage = Usage()
    latency_s: float = 0.0
    cost_usd: float | None = None


MEASURED = "measured"
"""The judge in whose name what the log itself shows stands beside the judges' verdicts."""


class Judgement(Record):
    """One judge's verdict on one field of one turn.

    `status`: `ok`; `oov` for a value outside the options, which never counts; `missing`. `kind` is
    `field` (a label, put to the vote) or `dimension` (a grade, averaged).
    """

    attempt_id: str
    turn: int
    judge: str
    kind: Literal["field", "dimension"]
    field: str
    verdict: str | None
    status: Literal["ok", "oov", "missing"] = "ok"


class Score(Record):
    """One number: finite, or None with the reason why it was not scored. `turn` None = whole attempt."""

    attempt_id: str
    turn: int | None
    metric: str
    value: float | None
    reason: str | None = None
    n: int | None = None
    """How many observations the value is the mean of, where it is one of several."""
    scorer: str | None = None
    """Version of the scorer that gave it; None before versions were kept."""


Owner = Literal["", "agent", "customer", "judge", "provider", "tool", "label", "scorer"]


class Verdict(Record):
    """What one attempt came to, whatever the benchmark: passed, failed, or unscored, which is neither.

    `reason` says why in a few words that alike failures share, a line for each of several things that are wrong;
    `owner` whose doing it was ("" where it passed);
    `turn`, `stage`, `field` and `tool` where it happened, as far as that is known.
    """

    attempt_id: str
    value: Literal["passed", "failed", "unscored"]
    reason: str = ""
    owner: Owner = ""
    turn: int | None = None
    stage: str | None = None
    field: str | None = None
    tool: str | None = None


class Run(Record):
    """One model on one dataset under one set-up; everything needed to trace a number back."""

    version: Version = FILE_VERSION
    id: str
    benchmark: str
    model: str
    simulated: bool
    setup: dict[str, Any]
    judges: tuple[str, ...]
    dataset_id: str
    seed: int
    trials: int
    planned: int
    prompts: dict[str, str]
    code: str
    group: str | None = None
    created: datetime


class Annotation(Record):
    """What a person wrote: a note, a tag, an adjudication; append-only, a later one of the same target wins.

    An `adjudication` says what a judged field of a turn is, a `resolution` what it is where raters differ.
    A `dispute` says that an attempt's verdict was another's doing: `field` is whose, `value` the reason.
    A `rating` says of a conversation of a dataset whether it is real: then `run_id` is the dataset's id, `attempt_id`
    the conversation's, `field` real or fake, and `value` the reasons, one a line. Where `run_id` names a question, it
    says whether the conversation fits: `field` yes, no or unsure, and `value` the question.
    A `filter` is a selection that was saved under a name: `run_id` is the page, `attempt_id` the name, `value` the
    address's query.
    A `finding` says what became of something suspected of a dataset: `run_id` is the dataset's id, `attempt_id` what is
    suspected, `field` open, resolved or dismissed, `value` the reason.
    A `name` is what a run is called (`attempt_id` is empty, as it is of a note on a whole run). A `baseline` is what a
    benchmark's others are compared with: then `run_id` is the benchmark's id, `field` model or run_id, `value` which.
    """

    id: str
    created: datetime
    author: str
    kind: Literal[
        "note",
        "tag",
        "untag",
        "adjudication",
        "dispute",
        "resolution",
        "rating",
        "filter",
        "finding",
        "name",
        "baseline",
        "withdrawn",
    ]
    run_id: str
    attempt_id: str
    turn: int | None = None
    judge: str | None = None
    field: str | None = None
    value: str = ""
