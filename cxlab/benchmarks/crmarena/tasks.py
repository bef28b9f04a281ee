"""The nine tasks: who asks, what an answer is, and how it is scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Persona = Literal["manager", "agent", "analyst"]
Answer = Literal["user", "product", "article", "issue", "month", "state", "text"]
Metric = Literal["exact_match", "fuzzy_match"]
# The id prefix of the object that an answer names.
PREFIXES = {"user": "005", "product": "01t", "article": "ka0", "issue": "a1M"}
QUERIES_PER_TASK = 130
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class CrmTask:
    """One task. `short` is the paper's abbreviation; `answer` what kind of thing the answer is; `unanswerable` whether
    some of its queries have no answer, which is then "None"; `first` the number of its first query in the published
    file.
    """

    id: str
    short: str
    title: str
    persona: Persona
    answer: Answer
    first: int
    unanswerable: bool = False
    metric: Metric = "exact_match"


TASKS: dict[str, CrmTask] = {
    task.id: task
    for task in (
        CrmTask("case_routing", "NCR", "New case routing", "manager", "user", 390),
        CrmTask("handle_time", "HTU", "Handle time understanding", "manager", "user", 650, True),
        CrmTask("transfer_count", "TCU", "Transfer count understanding", "manager", "user", 780, True),
        CrmTask("named_entity_disambiguation", "NED", "Named entity disambiguation", "agent", "product", 520, True),
        CrmTask(
            "policy_violation_identification", "PVI", "Policy violation identification", "agent", "article", 910, True
        ),
        CrmTask("knowledge_qa", "KQA", "Knowledge question answering", "agent", "text", 0, metric="fuzzy_match"),
        CrmTask("top_issue_identification", "TII", "Top issue identification", "analyst", "issue", 260, True),
        CrmTask("monthly_trend_analysis", "MTA", "Monthly trend analysis", "analyst", "month", 130),
        CrmTask("best_region_identification", "BRI", "Best region identification", "analyst", "state", 1040),
    )
}
