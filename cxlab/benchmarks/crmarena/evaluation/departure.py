"""Where a wrong answer left the way: the first of an attempt's actions that does not fit what it took.

What the trace shows by itself comes first (no action that can be read, the answer among other words); the seven tasks
with a solver are held beside its steps (comparison.py), the others beside the evidence that had to be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cxlab.benchmarks.crmarena.answers import NO_ANSWER, extract, tokens
from cxlab.benchmarks.crmarena.evaluation.causes import UNDETERMINED, Departure
from cxlab.benchmarks.crmarena.evaluation.comparison import Comparison, contains
from cxlab.benchmarks.crmarena.evaluation.evidence import ActionRequest, read_actions
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
        if spoiled and (spoiled[-1].turn == last or 2 * len(spoiled) > last):
            return Departure("format", "no action that can be read", spoiled[0].turn)
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
        return Departure("query", "answered without asking the records")
    found: Departure | None
    if sample.task in SOLVERS:
        arguments = sample.expected.get("arguments")
        if not isinstance(arguments, Mapping):
            return UNDETERMINED
        try:
            found = Comparison(sample, sandbox, dict(arguments), good, answer).find()
        except CxError:
            return UNDETERMINED  # arguments that the solver does not take
        if found is not None and found.cause == "tie" and found.turn is None:
            found = replace(found, turn=_last_turn(attempt))
    else:
        found = _find_unread(sample, good)
    if answer is None and (found is None or found.cause in ("tie", "policy")):
        if asked[-1].error is not None:
            return Departure("query", "errors up to the last reply", asked[-1].turn, asked[-1].tool)
        return Departure("undetermined", "no answer before the replies were used up")
    return found or UNDETERMINED


def _find_unread(sample: Sample, good: Sequence[ActionRequest]) -> Departure | None:
    """Knowledge questions and policy violations: what had to be read and was not; else the reading was at fault."""
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
        return Departure("policy", "a breach was seen where there is none") if case is not None else None
    if not any(contains(each.result, str(article)) for each in articles):
        return Departure("query", "the article was not found", articles[0].turn, articles[0].tool)
    return Departure("policy", "the article was read, and applied otherwise", articles[-1].turn, articles[-1].tool)
