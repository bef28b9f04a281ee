"""Questions as samples: what agents are told, what is kept from them, the answers under both readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.organisation.company import Company
from cxlab.benchmarks.crmarena.organisation.schema import Schema, load_default
from cxlab.benchmarks.crmarena.questions.draw import MOST_OF_ONE
from cxlab.benchmarks.crmarena.questions.question import Question, count_unanswerable
from cxlab.benchmarks.crmarena.questions.wording import load_wordings
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.solvers import Solution
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Sample, content_id

# Which objects each tool reads.
READS: Mapping[str, tuple[str, ...]] = {
    "get_agent_handled_cases_by_period": ("CaseHistory__c",),
    "get_agent_transferred_cases_by_period": ("CaseHistory__c",),
    "get_non_transferred_case_ids": ("CaseHistory__c",),
    "get_cases": ("Case",),
    "get_issue_counts": ("Case",),
    "get_shipping_state": ("Account",),
    "get_order_item_ids_by_product": ("OrderItem",),
    "search_products": ("Product2",),
    "get_account_id_by_contact_id": ("Contact",),
    "get_purchase_history": ("Order", "OrderItem"),
}
# What is read beside what the solver's tools read: names that a question gives in words, and texts.
ALSO: Mapping[str, tuple[str, ...]] = {
    "case_routing": ("Issue__c", "Product2"),
    "knowledge_qa": ("Knowledge__kav",),
    "policy_violation_identification": ("EmailMessage or LiveChatTranscript", "Knowledge__kav"),
}
_OPTIONAL = {
    "handle_time": ("window",),
    "transfer_count": ("window",),
    "top_issue_identification": ("window",),
    "monthly_trend_analysis": ("window", "month"),
    "best_region_identification": ("window", "region"),
    "case_routing": ("routing",),
    "named_entity_disambiguation": ("purchase",),
    "policy_violation_identification": ("violation",),
    "knowledge_qa": (),
}


@dataclass(frozen=True)
class QuestionAnswers:
    """A question with its answers: `answers` as the policies read, `original` as the original's tools count."""

    question: Question
    answers: tuple[str, ...]
    original: tuple[str, ...]
    difficulty: int


def open_sandbox(tables: Mapping[str, pl.DataFrame], schema: Schema | None = None) -> Sandbox:
    """The organisation to solve questions in, whose cases are linked with issue and product."""
    schema = schema or load_default()
    return Sandbox.of_tables({name: tables[name] for name in schema.objects}, schema, compat="policy")


def answer(sandbox: Sandbox, question: Question) -> QuestionAnswers | None:
    """The question's answers by the solvers, under both readings; None where it has not the one answer it should have,
    or another one than it was drawn for.
    """
    if question.task not in solvers.SOLVERS:
        answers = question.answers or ()
        return QuestionAnswers(question, answers, answers, len(ALSO[question.task]))
    at = sandbox.at(question.today) if question.today else sandbox
    found = solvers.solve(at.under("policy"), question.task, question.arguments)
    if len(found.answers) != question.answerable:
        return None
    if question.answers is not None and found.answers != question.answers:
        return None
    original = solvers.solve(at.under("original"), question.task, question.arguments)
    return QuestionAnswers(question, found.answers, original.answers, count_objects(question.task, found))


def count_objects(task: str, solution: Solution) -> int:
    """How many objects the way to an answer reads."""
    read = {name for step in solution.steps for name in READS.get(step.tool, ())}
    return len(read | set(ALSO.get(task, ())))


def to_sample(answered: QuestionAnswers, text: str, number: int, dataset_id: str, company: Company) -> Sample:
    """The sample; see the room's README for what it holds."""
    question, task = answered.question, TASKS[answered.question.task]
    hidden: dict[str, Any] = {
        "today": question.today.isoformat() if question.today else None,
        "contact_id": question.contact_id,
        "case_id": question.case_id,
    }
    return Sample(
        id=content_id(dataset_id, number),
        dataset_id=dataset_id,
        benchmark="crmarena",
        task=task.id,
        inputs={
            "number": number,
            "query": say(question, text),
            "required": tell_required(question, company),
            "optional": tell_optional(question.task),
            **{key: value for key, value in hidden.items() if value is not None},
        },
        expected={
            "answer": answered.answers[0] if answered.answers else None,
            "answers": list(answered.answers),
            "answer_original": answered.original[0] if answered.original else None,
            "arguments": dict(question.arguments),
            **question.hidden,
        },
        facets={
            "persona": task.persona,
            "answerable": "yes" if answered.answers else "no",
            "difficulty": str(answered.difficulty),
        },
    )


def say(question: Question, text: str) -> str:
    """The question as an agent gets it: the words, what stands below them, and what the answer is to look like."""
    wordings = load_wordings()
    parts = [text, question.block, wordings.answers[TASKS[question.task].answer]]
    return "\n".join(part for part in parts if part)


def tell_required(question: Question, company: Company) -> str:
    """What every agent is told: whom it works for, the policy of the task, today's date, the contact or case."""
    task = TASKS[question.task]
    role = next(role for role in company.profile.roles if role.persona == task.persona)
    parts = [f"You work for {company.profile.name} and help a {role.name}, who {role.does[:1].lower()}{role.does[1:]}"]
    policy = getattr(company.profile.task_policies, question.task, None)
    if policy is not None:
        parts.append(f"Policy: {policy}")
    if question.today is not None:
        parts.append(f"Today's date: {question.today.isoformat()}")
    if question.contact_id is not None:
        parts.append(f"The question comes from the contact with the Id {question.contact_id}.")
    if question.case_id is not None:
        parts.append(f"The case has the Id {question.case_id}.")
    return "\n".join(parts)


def tell_optional(task: str) -> str:
    """What agents that are aided are told besides."""
    told = load_wordings().optional
    return "\n".join(told[name] for name in _OPTIONAL[task])


def choose(answered: Sequence[QuestionAnswers], count: int) -> list[QuestionAnswers]:
    """At most so many, in their order; of a task with questions that have no answer the share of those is kept."""
    without = count_unanswerable(answered[0].question.task, count) if answered else 0
    left = {True: count - without, False: without}
    found: list[QuestionAnswers] = []
    late: list[QuestionAnswers] = []
    given = Counter[tuple[str, ...]]()
    for one in answered:
        # Of new cases, who gets which is known only now.
        often = given[one.answers] >= MOST_OF_ONE * count and one.question.task == "case_routing"
        (late if often else found).append(one)
        given[one.answers] += not often
    kept = []
    for one in [*found, *late]:
        if left[one.question.answerable]:
            left[one.question.answerable] -= 1
            kept.append(one)
    return kept
