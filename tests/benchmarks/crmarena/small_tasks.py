"""Questions about the small organisation, with their solver's arguments and gold answers, stored as a dataset."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Dataset, Sample, content_id
from cxlab.store import write
from tests.benchmarks.crmarena.small_organisation import Rows, add_history, ident, make_rows

DATASET = "crmarena-small"
TODAY = "2021-12-30"
HANDLE = (
    "A case's handle time runs from its creation to its closing. Count only closed cases that were created in the "
    "period and never handed over. Only agents with more cases than the question names are compared."
)
ROUTING = (
    "Case routing: a new case goes to the agent who closed most cases of its issue; of those level, most of its "
    "product; of those level, who has the fewest open cases."
)


def make_small_rows() -> Rows:
    """The small organisation with some history, a chat that breaks a rule, and an order to be found again."""
    rows = add_history(make_rows(7, cases=240))
    chats = [
        {
            "Id": ident("570", n),
            "CaseId": ident("500", n),
            "Body": body,
            "EndTime": "2020-05-02T08:00:00.000+0000",
        }
        for n, body in enumerate(
            (
                "Ann: I return the boots after 50 days.\nBob (Agent): Fine, I send you the label.",
                "Ann: When does my parcel leave?\nBob (Agent): On the same day.",
            )
        )
    ]
    return rows | {"LiveChatTranscript": chats}


def make_questions() -> list[tuple[str, str, dict[str, Any]]]:
    """(task, question, the solver's arguments) of the seven tasks that have a solver."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    spring, year = {"name": "Spring", "year": 2020}, {"period": "month", "count": 12}
    quarter, month = {"name": "Q3", "year": 2021}, {"name": "June", "year": 2021}
    for window, said in (
        (spring, "In Spring 2020"),
        (year, "In the past 12 months"),
        (quarter, "In Q3 of 2021"),
        (month, "In June 2021"),
    ):
        for extreme, word in (("min", "shortest"), ("max", "longest")):
            for more in (2, 5):
                ask = f"{said}, which agent had the {word} handle time among those with more than {more} cases?"
                found.append(("handle_time", ask, {"window": window, "more_than": more, "extreme": extreme}))
        for extreme, word in (("min", "fewest"), ("max", "most")):
            ask = f"{said}, which agent transferred the {word} cases among those with more than 2 cases?"
            found.append(("transfer_count", ask, {"window": window, "more_than": 2, "extreme": extreme}))
        ask = f"{said}, in which state were cases closed fastest?"
        found.append(("best_region_identification", ask, {"window": window}))
        for n in (0, 3):
            product = ident("01t", n)
            ask = f"{said}, what is the most common issue with the product {product}?"
            found.append(("top_issue_identification", ask, {"window": window, "product_id": product}))
            ask = f"{said}, which month had the most cases about the product {product}?"
            found.append(("monthly_trend_analysis", ask, {"window": window, "product_id": product}))
    for n, said in enumerate(("The parcel is late, I am still waiting.", "The shoes are too small.")):
        ask = f"A new case came in about the Trail Running Shoe. {said} Who is the best agent for it?"
        found.append(("case_routing", ask, {"issue_id": ident("a1M", n), "product_id": ident("01t", 0)}))
    for n, days, words in ((0, 0, "boots"), (3, 626, "boots"), (4, 595, "running shoe")):
        ask = f"Show me the {words} I ordered {days} days ago."
        arguments = {"contact_id": ident("003", n), "words": words, "period": "day", "count": days}
        found.append(("named_entity_disambiguation", ask, arguments))
    return found


def make_samples(sandbox: Sandbox) -> list[Sample]:
    """The questions as samples, the gold as the solver has it."""
    found = []
    for number, (task, query, arguments) in enumerate(make_questions()):
        answers = solvers.solve(sandbox, task, arguments).answers
        told = {"handle_time": HANDLE, "transfer_count": HANDLE, "case_routing": ROUTING}.get(task, "")
        contact = arguments.get("contact_id")
        required = "\n".join(filter(None, [told, contact and f"The customer is {contact}.", f"Today is {TODAY}."]))
        inputs = {"number": number, "query": query, "required": required, "optional": "Q3: July to September."}
        found.append(_sample(task, inputs, {"answer": next(iter(answers), None), "arguments": arguments}))
    violation = "policy_violation_identification"
    texts = (
        ("knowledge_qa", "Within how many days may boots be sent back?", {}, "30 days", 0),
        ("knowledge_qa", "When do parcels leave?", {}, "on the same day", 1),
        (
            violation,
            "Which article did the agent break?",
            {"case_id": ident("500", 0)},
            None,
            0,
        ),
        (violation, "Which article was broken?", {"case_id": ident("500", 1)}, None, None),
    )
    for number, (task, query, given, answer, article) in enumerate(texts, len(found)):
        article_id = None if article is None else ident("ka0", article)
        case = given.get("case_id")
        required = "\n".join(filter(None, [case and f"The case is {case}.", f"Today is {TODAY}."]))
        inputs = {"number": number, "query": query, "required": required, "optional": "", **given}
        gold = article_id if task.startswith("policy") else answer
        found.append(_sample(task, inputs, {"answer": gold, "article_id": article_id}))
    return found


def _sample(task: str, inputs: dict[str, Any], expected: dict[str, Any]) -> Sample:
    return Sample(
        id=content_id(DATASET, inputs["number"]),
        dataset_id=DATASET,
        benchmark="crmarena",
        task=task,
        inputs={**inputs, "today": TODAY},
        expected=expected,
        facets={"persona": TASKS[task].persona, "answerable": "no" if expected["answer"] is None else "yes"},
    )


def save_small(home: Path, compat: str = "policy") -> list[Sample]:
    """Store the small organisation with its questions; the samples."""
    tables = to_tables(make_small_rows(), load_default())
    sandbox = Sandbox.of_tables(tables, compat=compat, today=TODAY)
    samples = make_samples(sandbox)
    dataset = Dataset(
        id=DATASET,
        benchmark="crmarena",
        name="A small organisation",
        source="generated",
        config={"compat": compat},
        seed=0,
        licence="own work",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )
    write.save_dataset(dataset, samples, home, tables=tables)
    return samples
