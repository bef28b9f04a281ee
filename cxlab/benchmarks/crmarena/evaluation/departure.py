"""Where a wrong answer left the way: the reply after which what had been read no longer led to the right one.

What the trace shows by itself comes first (no action that can be read, the answer among other words); the seven tasks
with a solver are held beside its steps (comparison.py), the others beside the evidence that had to be read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.contract import name_unread
from cxlab.benchmarks.crmarena.agents.episode import STUCK
from cxlab.benchmarks.crmarena.answers import NO_ANSWER, extract, tokens
from cxlab.benchmarks.crmarena.evaluation.causes import UNDETERMINED, Departure
from cxlab.benchmarks.crmarena.evaluation.comparison import SolverComparison
from cxlab.benchmarks.crmarena.evaluation.evidence import ActionRequest, read_actions
from cxlab.benchmarks.crmarena.organisation.tables import text_of
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.solvers import SOLVERS
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.errors import CxError
from cxlab.records import Attempt, Sample

# Share of the gold answer's words that an answer has whose trouble is all that stands around them.
_CONTAINED = 0.8


def find_departure(sample: Sample, attempt: Attempt, open_sandbox: Callable[[Sample], Sandbox]) -> Departure:
    """The first departure of an attempt whose answer is wrong or missing. Without the organisation or the solver's
    arguments only what the trace itself shows can be told."""
    answer = attempt.output.get("answer")
    given = None if answer is None else str(answer)
    return _find_form_fault(sample, attempt, given) or _find_in_records(sample, attempt, given, open_sandbox)


def _find_form_fault(sample: Sample, attempt: Attempt, answer: str | None) -> Departure | None:
    """No answer because of the form, or the right one among other words."""
    task, gold = TASKS[sample.task], sample.expected.get("answer")
    if answer is None:
        spoiled = [each for each in attempt.failures if each.where == "format"]
        last = max((message.turn for message in attempt.messages), default=0)
        if spoiled and ((spoiled[-1].turn or 0) >= last or 2 * len(spoiled) > last):
            commonest = Counter(each.type for each in spoiled).most_common(1)[0][0]
            like = next(each for each in spoiled if each.type == commonest)
            return Departure("format", name_unread(like, "no action that can be read"), spoiled[0].turn)
        return None
    if task.answer == "text":
        wanted, said = set(tokens(str(gold))), set(tokens(answer))
        if wanted and len(wanted & said) >= _CONTAINED * len(wanted):
            return Departure("format", "the answer among many other words", _last_turn(attempt))
        return None
    taken = extract(answer, task.answer)
    stands = gold is not None and re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", answer) is not None
    if taken == (NO_ANSWER if gold is None else gold) or (taken is None and stands):
        return Departure("format", "the answer among other words", _last_turn(attempt))
    return None


def _last_turn(attempt: Attempt) -> int | None:
    return max((message.turn for message in attempt.messages), default=None)


def _find_in_records(
    sample: Sample, attempt: Attempt, answer: str | None, open_sandbox: Callable[[Sample], Sandbox]
) -> Departure:
    try:
        sandbox = open_sandbox(sample)
    except CxError:
        return UNDETERMINED
    asked = read_actions(attempt.messages, sandbox.today)
    good = [each for each in asked if each.error is None]
    if not any(each.objects for each in good):
        if asked and asked[-1].error is not None:
            first = next(each for each in asked if each.error is not None)
            return Departure("query", "no query that could be answered", first.turn, first.tool)
        return Departure("query", "answered without asking the records", _last_turn(attempt))
    found: Departure | None
    if sample.task in SOLVERS:
        arguments = sample.expected.get("arguments")
        if not isinstance(arguments, Mapping):
            return UNDETERMINED
        try:
            found = SolverComparison(sample, sandbox, dict(arguments), good, answer, _last_turn(attempt)).find()
        except CxError:
            return UNDETERMINED  # arguments that the solver does not take
    else:
        found = _find_unread(sample, good, answer, _last_turn(attempt))
    if answer is None and (found is None or found.cause in ("tie", "policy")):
        if asked[-1].error is not None:
            return Departure("query", "errors up to the last reply", asked[-1].turn, asked[-1].tool)
        stuck = attempt.ended_by == STUCK
        why = "the same reply again and again" if stuck else "no answer before the replies were used up"
        return Departure("undetermined", why)
    return found or UNDETERMINED


def _find_unread(
    sample: Sample, good: Sequence[ActionRequest], answer: str | None, answered: int | None
) -> Departure | None:
    """Knowledge questions and policy violations: what had to be read and was not; else the reply that answered is at
    fault, and no search before it, be it one too many."""
    article, case = sample.expected.get("article_id"), sample.inputs.get("case_id")
    talks = [each for each in good if each.objects & {"EmailMessage", "LiveChatTranscript"}]
    if case is not None and sample.task == "policy_violation_identification":
        own = [each for each in talks if each.names(str(case))]
        if not own:
            first = talks[0] if talks else None
            where = (first.turn, first.tool) if first else (None, None)
            return Departure("query", "the case's chats and e-mails were not read", *where)
    articles = [each for each in good if "Knowledge__kav" in each.objects]
    if not articles:
        return Departure("query", "no article was looked for")
    if article is None:
        return Departure("policy", "a breach was seen where there is none", answered) if case is not None else None
    seen = [(each, record) for each in articles for record in _records(each.result)]
    right = [(each, record) for each, record in seen if record.get("Id") == article]
    if not right:
        # Of several searches none is more to blame than another.
        one = articles[0] if len(articles) == 1 else None
        return Departure("query", "the article was not found", *((one.turn, one.tool) if one else (None, None)))
    if not any(text_of(record) for _, record in right):
        return Departure("query", "the article was found, and its text not read", right[-1][0].turn, right[-1][0].tool)
    return Departure("policy", _name_misreading(sample, answer, right, seen), answered)


_Seen = Sequence[tuple[ActionRequest, Mapping[str, Any]]]


def _name_misreading(sample: Sample, answer: str | None, right: _Seen, seen: _Seen) -> str:
    """What was answered, though the right article had been read."""
    if sample.task == "policy_violation_identification":
        none = extract(answer, TASKS[sample.task].answer) == NO_ANSWER
        return "the article was read, and no breach seen" if none else "the article was read, and another one named"
    said = tokens(answer or "")
    if said and any(_quotes(record, said) for _, record in right):
        return "the article was read, and another passage of it given"
    if said and any(_quotes(record, said) for _, record in seen):
        return "the article was read, and the answer taken from another one"
    return "the article was read, and its answer not given"


def _records(result: Any) -> Iterator[Mapping[str, Any]]:
    """The records of a result, wherever they stand in it."""
    if isinstance(result, Mapping):
        yield result
    for each in result.values() if isinstance(result, Mapping) else result if isinstance(result, list) else ():
        yield from _records(each)


def _quotes(record: Mapping[str, Any], said: Sequence[str]) -> bool:
    return f" {' '.join(said)} " in f" {' '.join(tokens(text_of(record)))} "
