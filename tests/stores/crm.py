"""A small organisation as a stored dataset, with tasks of four kinds whose answers the solvers give, and runs over it.

make_crm(home) -> dataset id
make_runs(home) -> a run with function calling and one with ReAct, their replies written out

Account CUSTOMER has one order of two items; a case of the first item has a history, two e-mails and a chat with markup.
"""

import json
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.score import measure
from cxlab.benchmarks.crmarena.solvers import solve
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Dataset, Run, Sample
from cxlab.store import write
from tests.benchmarks.crmarena.crm_play import Reply, Scripted, play
from tests.benchmarks.crmarena.small_organisation import add_history, ident, make_rows

DATASET = "crmarena-known"
CUSTOMER, ORDER, ITEM, CASE, CHAT = (
    ident(prefix, 900) for prefix in ("001", "801", "802", "500", "570")
)  # fmt: skip
CONTACT, AGENT, NEXT_AGENT, PRODUCT, ISSUE, ARTICLE = (
    ident("003", 900), ident("005", 0), ident("005", 1), ident("01t", 0), ident("a1M", 1), ident("ka0", 0)
)  # fmt: skip
HOSTILE = "<img src=x onerror=alert(1)> **bold** [l](http://evil.example)"
TODAY = "2021-12-31"
WINDOW = {"name": "Q2", "year": 2020}


def make_crm(home: Path) -> str:
    """Write it into a store."""
    tables = to_tables(_rows(), load_default())
    sandbox = Sandbox.of_tables(tables, compat="policy", today=TODAY)
    hidden = pl.DataFrame({"agent": [AGENT], "skill": [0.25]})
    dataset = Dataset(
        id=DATASET, benchmark="crmarena", name="Known shoes", source="generated", seed=1, licence="own",
        config={"compat": "policy", "industry": "shoes"}, created=datetime(2026, 11, 20, tzinfo=UTC),
    )  # fmt: skip
    write.save_dataset(dataset, make_samples(sandbox), home, tables={**tables, "latent_skills": hidden})
    return DATASET


def _rows() -> dict[str, list[dict[str, Any]]]:
    rows = add_history(make_rows(7, cases=120))
    opened, closed = "2020-05-03T09:00:00.000+0000", "2020-05-05T12:30:00.000+0000"
    rows["Account"].append({"Id": CUSTOMER, "FirstName": "Dana", "LastName": "Moss", "ShippingState": "NY"})
    rows["Contact"].append({"Id": CONTACT, "FirstName": "Dana", "LastName": "Moss", "AccountId": CUSTOMER})
    rows["Order"].append(
        {"Id": ORDER, "AccountId": CUSTOMER, "Status": "Activated", "EffectiveDate": "2020-04-20"}
    )  # fmt: skip
    rows["OrderItem"] += [
        {"Id": ITEM, "OrderId": ORDER, "Product2Id": PRODUCT, "Quantity": 1.0, "UnitPrice": 129.99},
        {"Id": ident("802", 901), "OrderId": ORDER, "Product2Id": ident("01t", 3), "Quantity": 2.0, "UnitPrice": 80.0},
    ]
    rows["Case"].append(
        {
            "Id": CASE, "Subject": f"Too narrow {HOSTILE}", "Description": "They pinch.", "Status": "Closed",
            "Priority": "High", "CreatedDate": opened, "ClosedDate": closed, "AccountId": CUSTOMER,
            "ContactId": CONTACT, "OwnerId": NEXT_AGENT, "OrderItemId__c": ITEM, "IssueId__c": ISSUE,
        }
    )  # fmt: skip
    history = [
        ("Case Creation", opened, None, None), ("Owner Assignment", opened, None, AGENT),
        ("Owner Assignment", "2020-05-04T10:00:00.000+0000", AGENT, NEXT_AGENT), ("Case Closed", closed, None, None),
    ]  # fmt: skip
    rows["CaseHistory__c"] += [
        {"Id": ident("a1N", 900 + place), "CaseId__c": CASE, "Field__c": field, "CreatedDate": at,
         "OldValue__c": old, "NewValue__c": new}
        for place, (field, at, old, new) in enumerate(history)
    ]  # fmt: skip
    rows["EmailMessage"] += [
        {"Id": ident("02s", 900 + place), "ParentId": CASE, "Subject": "Size", "TextBody": body, "FromAddress": sender,
         "ToIds": [to], "MessageDate": f"2020-05-04T1{place}:00:00.000+0000"}
        for place, (body, sender, to) in enumerate((
            (f"They pinch. {HOSTILE}", "dana@moss.example", AGENT), ("Please send them back.", "a0@x.org", CONTACT),
        ))
    ]  # fmt: skip
    rows["LiveChatTranscript"] = [
        {"Id": CHAT, "CaseId": CASE, "AccountId": CUSTOMER, "ContactId": CONTACT, "OwnerId": AGENT,
         "EndTime": "2020-05-03T09:20:00.000+0000",
         "Body": "[2020-05-03 09:01] Dana Moss (Customer): They are too narrow.\n"
                 "[2020-05-03 09:02] Ann0 O'Neil (Agent): I am sorry &amp; will help."},
    ]  # fmt: skip
    return rows


def make_samples(sandbox: Sandbox) -> list[Sample]:
    """A handle time, a best region, a question without an answer, a knowledge question and a broken rule."""
    window = {"window": WINDOW}
    given: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        ("handle_time", "Which agent was fastest in the second quarter of 2020?", {},
         {"arguments": {**window, "more_than": 1, "extreme": "min"}}),
        ("handle_time", "Which agent with more than 500 cases was fastest in the second quarter of 2020?", {},
         {"arguments": {**window, "more_than": 500, "extreme": "min"}}),
        ("best_region_identification", "In which state were cases of Q2 2020 closed fastest?", {},
         {"arguments": window}),
        ("knowledge_qa", "How long may boots be sent back?", {}, {"answer": "within 30 days", "article_id": ARTICLE}),
        ("policy_violation_identification", "Did the agent break a rule, and which?", {"case_id": CASE},
         {"answer": ARTICLE, "article_id": ARTICLE, "rule": "Boots may be sent back within 30 days.",
          "breach": "Nobody told the customer of the 30 days."}),
    ]  # fmt: skip
    return [_sample(sandbox, number, *each) for number, each in enumerate(given)]


def _sample(
    sandbox: Sandbox, number: int, task: str, query: str, told: dict[str, Any], expected: dict[str, Any]
) -> Sample:
    if "arguments" in expected:
        original = solve(sandbox.under("original"), task, expected["arguments"])
        answers = solve(sandbox, task, expected["arguments"]).answers
        expected = expected | {"answers": list(answers), "answer": answers[0] if answers else None,
                               "answer_original": original.answer}  # fmt: skip
    return Sample(
        id=f"s-crm-{number}",
        dataset_id=DATASET,
        benchmark="crmarena",
        task=task,
        inputs={"number": number, "query": query, "required": f"The policy: be exact.\nToday's date is {TODAY}.",
                "optional": "Q2 is April to June.", "today": TODAY, **told},
        expected=expected,
        facets={"persona": TASKS[task].persona, "answerable": "no" if expected["answer"] is None else "yes",
                "difficulty": "2"},
    )  # fmt: skip


REACT, CALLING = "run-crm-react", "run-crm-calling"
STATES = "SELECT Account.ShippingState, ClosedDate, CreatedDate FROM Case WHERE Status = 'Closed'"
MISSPELT = STATES.replace("Status =", "Statis =")
PERIOD = f"{STATES} AND CreatedDate >= 2020-01-01T00:00:00Z AND CreatedDate < 2020-04-01T00:00:00Z"
REPLIES: dict[str, list[Reply]] = {
    # The query is misspelled, mended, and of another quarter.
    "s-crm-2": [
        f"<thought>I look at closed cases.</thought><execute>{MISSPELT}</execute>",
        f"<thought>A slip {HOSTILE}</thought><execute>{PERIOD}</execute>",
        "<thought>It is Texas.</thought><submit>TX</submit>",
    ],
    "s-crm-3": ["within 30 days", "<submit>within 30 days</submit>"],
}
QUARTER = {"start_date": "2020-04-01T00:00:00Z", "end_date": "2020-07-01T00:00:00Z"}
CALLS: dict[str, list[Reply]] = {
    "s-crm-2": [
        ("get_period", json.dumps({"period_name": "Q2", "year": 2020})),
        ("get_cases", json.dumps({**QUARTER, "statuses": ["Closed"]})),
        ("submit", json.dumps({"content": "NY"})),
    ],
    "s-crm-3": [("search_knowledge_articles", json.dumps({"search_term": "boots"})),
                ("submit", json.dumps({"content": "within 30 days"}))],
}  # fmt: skip


def make_runs(home: Path, trials: int = 1) -> None:
    """Two runs of a scripted model over the best region and the knowledge question, each tried so many times."""
    samples = {each.id: each for each in write.load_samples(DATASET, home)}
    for place, (run_id, framework, replies) in enumerate(
        ((REACT, "react", REPLIES), (CALLING, "function_calling", CALLS))
    ):
        run = Run(
            id=run_id, benchmark="crmarena", model="scripted", simulated=False, judges=(), dataset_id=DATASET, seed=1,
            setup={"options": {"framework": framework}}, trials=trials, planned=trials * len(replies), prompts={},
            created=datetime(2026, 11, 21, 9 + place, tzinfo=UTC), code="x",
        )  # fmt: skip
        write.create_run(run, home)
        with write.PartWriter(run, samples, home=home) as writer, pytest.MonkeyPatch.context() as patch:
            patch.setenv("CXLAB_HOME", str(home))
            for sample_id, trial in product(replies, range(trials)):
                attempt = play(samples[sample_id], Scripted(replies[sample_id]), {"framework": framework}, trial)
                identity = f"{run_id}-{sample_id}" + f"-{trial}" * (trial > 0)
                attempt = attempt.model_copy(update={"id": identity, "run_id": run_id})
                writer.add(attempt, measure(samples[sample_id], attempt))
