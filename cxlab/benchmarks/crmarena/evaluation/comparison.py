"""An attempt at a task with a solver beside the solver's steps: what took the right answer out of its reach.

A step that is merely another one, or one too many, is no departure; nor is a condition that is missing and changes
nothing. Where what had been read still gave the right answer, the reply that answered is at fault.

Queries are compared by what they ask for (evidence.py). What stays open after that is settled by asking the solver
again with one thing changed, as the agent may have had it: where that gives the agent's answer, it was that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.crmarena.answers import NO_ANSWER, extract
from cxlab.benchmarks.crmarena.evaluation.causes import Cause, Departure
from cxlab.benchmarks.crmarena.evaluation.evidence import ActionRequest, Window, read_call
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.solvers import Solution, solve
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.benchmarks.crmarena.tools import GENERIC, TOOLS
from cxlab.errors import CxError
from cxlab.records import Sample

_HISTORY, _CASE = "CaseHistory__c", "Case"
_PERIODS = ("get_period", "get_start_date")


@dataclass
class SolverComparison:
    """An attempt beside the solver's steps; `good` are its actions that were answered, `answered` is its last reply."""

    sample: Sample
    sandbox: Sandbox
    arguments: dict[str, Any]
    good: Sequence[ActionRequest]
    answer: str | None
    answered: int | None = None

    def __post_init__(self) -> None:
        self.task = self.sample.task
        self.solution = solve(self.sandbox, self.task, self.arguments)
        self.steps = [
            read_call(each.tool, each.arguments, self.sandbox.today, result=each.result) for each in self.solution.steps
        ]
        kind = TASKS[self.task].answer
        taken = extract(self.answer, kind)
        self.taken = None if taken == NO_ANSWER else taken
        self.said_none = taken == NO_ANSWER

    def find(self) -> Departure | None:
        for check in (
            self.figures,
            self.entity,
            self.window,
            self.subject,
            self.level,
            self.condition,
            self.changed,
            self.misread,
        ):
            if (found := check()) is not None:
                return found
        return None

    # --- what was still in reach

    def figures(self) -> Departure | None:
        """Whether the last figures that it had give the right answer, or the right record was shown and none named."""
        gold = self.solution.answer
        if gold is None:
            return None
        due = self.arguments.get("extreme") or _ENDS.get(self.task, "")
        ends = [each for each in self.good if each.tool.startswith("find_id_with")]
        values = ends[-1].arguments.get("values_by_id") if ends else None
        if (
            due
            and isinstance(values, Mapping)
            and self._call(f"find_id_with_{due}_value", values_by_id=values) == [gold]
        ):
            if ends[-1].tool != f"find_id_with_{due}_value":
                return Departure("tie", _OTHER_END, ends[-1].turn, ends[-1].tool, f"find_id_with_{due}_value")
            reason = "the right figures, another answer" if self.taken is not None else _NONE_NAMED
            return Departure("tie", reason, self.answered)
        bought = self._bought()
        if self.said_none and bought and contains(bought[-1].result, gold):
            return Departure("tie", _NONE_NAMED, self.answered)
        return None

    def _bought(self) -> list[ActionRequest]:
        if self.task != "named_entity_disambiguation":
            return []
        return [each for each in self.good if each.objects & {"Order", "OrderItem"}]

    # --- what was asked about

    def subject(self) -> Departure | None:
        """Whether it ever looked at that of which the answer is one."""
        what, objects, field, step = _SUBJECTS[self.task]
        if any(each.objects & objects and (not field or each.touches(field)) for each in self.good):
            return None
        last = self.good[-1]
        return Departure("query", f"never asked for {what}", last.turn, last.tool, step)

    def entity(self) -> Departure | None:
        """Whether it ever asked about the issue, product or customer in question."""
        wanted = {
            "case_routing": ("issue_id", "a1M", "get_cases"),
            "top_issue_identification": ("product_id", "01t", "get_order_item_ids_by_product"),
            "monthly_trend_analysis": ("product_id", "01t", "get_order_item_ids_by_product"),
            "named_entity_disambiguation": ("contact_id", "003", "get_account_id_by_contact_id"),
        }.get(self.task)
        if wanted is None:
            return None
        argument, prefix, step = wanted
        id = str(self.arguments.get(argument))
        # A query may name the issue or product by its words.
        lookups = {"case_routing": "Issue__c", "named_entity_disambiguation": "Account"}
        by_name = lookups.get(self.task, "Product2")
        if any(each.names(id) for each in self.good):
            return None
        others = [each for each in self.good if any(value.startswith(prefix) for value in _values(each))]
        if not others and any(each.tool in GENERIC and by_name in each.objects for each in self.good):
            return None
        if others:
            return Departure("query", f"asked about another {_NAMES[argument]}", others[0].turn, others[0].tool, step)
        return Departure("query", f"never asked about the {_NAMES[argument]}", step=step)

    def window(self) -> Departure | None:
        """Whether any of its actions had the solver's window, on each object for which the solver has one."""
        due = next((each.window for each in self.steps if each.window is not None and each.objects), None)
        if due is None:
            return None
        order = self.task == "named_entity_disambiguation"
        objects = {"Order", "OrderItem"} if order else {_CASE, _HISTORY}
        there = [each for each in self.good if each.objects & objects]
        windows = [each for each in there if each.window is not None]
        step = next((each.tool for each in self.steps if each.window is not None), None)
        of_objects = [[each for each in windows if one in each.objects] for one in objects]
        wrong = [each for mine in of_objects if all(_departs(each, due) for each in mine) for each in mine]
        if wrong:
            first = self._first_period(due) or min(wrong, key=lambda each: each.turn)
            return Departure("window", "another period", first.turn, first.tool, step)
        if windows or not there:
            return None
        times = {"EffectiveDate"} if order else {"CreatedDate"}
        if any(each.fields & times for each in there):
            return None  # it may have looked at the dates itself
        return Departure("window", "no period", there[0].turn, there[0].tool, step)

    def _first_period(self, due: Window) -> ActionRequest | None:
        """The call that reckoned another period, where none reckoned the right one."""
        reckoned = [each for each in self.good if each.tool in _PERIODS and each.window is not None]
        if any(not _departs(each, due) for each in reckoned):
            return None
        return reckoned[0] if reckoned else None

    # --- which of the figures was taken

    def level(self) -> Departure | None:
        """Whether the answer is level with the right one: at the end, or before a tie was broken."""
        if self.taken is None:
            return None
        if self.taken in self.solution.answers:
            return Departure("tie", "another one of those level", self.answered)
        for number, step in enumerate(self.steps, start=1):
            found = step.result
            named = step.tool in ("get_agents_with_max_cases", "get_agents_with_min_cases")
            if named and isinstance(found, list) and len(found) > 1 and self.taken in found:
                return Departure("tie", "the tie was broken otherwise", self.answered, step=self._missed(number))
        return None

    def _missed(self, start: int) -> str | None:
        """The first of the solver's later steps that has nothing like it among the actions."""
        for step in self.steps[start:]:
            if not any(
                each.tool == step.tool or (step.objects and each.objects >= step.objects and each.fields & step.fields)
                for each in self.good
            ):
                return step.tool
        return None

    def misread(self) -> Departure | None:
        """Whether it was shown the right record and named another one."""
        gold, bought = self.solution.answer, self._bought()
        if gold is not None and bought and contains(bought[-1].result, gold):
            # What was asked is right, so the reply that answers is at fault, and that is none of the actions.
            return Departure("tie", "the right record was shown, and another one named", self.answered)
        return None

    # --- under which conditions

    def condition(self) -> Departure | None:
        """Whether conditions that the solver has are missing."""
        check = {
            "handle_time": self._handled,
            "transfer_count": self._qualified,
            "best_region_identification": self._closed,
            "case_routing": self._closed,
            "named_entity_disambiguation": self._placed,
        }.get(self.task)
        return check() if check else None

    def _placed(self) -> Departure | None:
        bought = self._bought()
        if not bought or any(each.touches("Status") for each in bought) or self._was_placed():
            return None
        reason, last = "orders that were never placed are counted", bought[-1]
        return Departure("filter", reason, last.turn, last.tool, "get_purchase_history")

    def _was_placed(self) -> bool:
        """Whether what was named, or nothing, would have been named with the condition as well."""
        due = next((each for each in self.steps if each.tool == "get_purchase_history"), None)
        if self.taken is None or due is None:
            return self.taken is None
        return bool(self._call(due.tool, **{**due.arguments, "related_product_ids": [self.taken]}))

    def _handled(self) -> Departure | None:
        return self._qualified() or self._untouched() or self._closed()

    def _qualified(self) -> Departure | None:
        """An answer that does not qualify shows it, or the call of the tool."""
        tool = "get_qualified_agent_ids_by_case_count"
        due = next((each.result for each in self.steps if each.tool == tool), None)
        mine = [each for each in self.good if each.tool == tool]
        wanted = self.arguments.get("more_than")
        if mine and all(each.arguments.get("n_cases") != wanted for each in mine):
            return Departure("filter", "another number of cases", mine[0].turn, tool, tool)
        if self.taken is not None and isinstance(due, list) and self.taken not in due:
            # Tools are told who is compared; who asks freely settles it in the reply that answers.
            told = next((each for each in self.good if contains(each.arguments, self.taken)), None)
            if told is None:
                return Departure("filter", _TOO_FEW, self.answered, step=tool)
            return Departure("filter", _TOO_FEW, told.turn, told.tool, tool)
        if self._calls_tools() and not mine and not self._asks_freely():
            return Departure("filter", _TOO_FEW, step=tool)
        return None

    def _untouched(self) -> Departure | None:
        reason, step = _HANDED_OVER, "get_non_transferred_case_ids"
        if self.solution.answer is not None and self._ends_of_all() == [self.solution.answer]:
            return None  # with them counted the answer is the same
        if self._calls_tools() and not self._asks_freely():
            cases = [each for each in self.good if each.tool == "get_cases"]
            if not any(each.tool == step for each in self.good):
                first = cases[0] if cases else None
                return Departure("filter", reason, first.turn if first else None, first.tool if first else None, step)
            if cases and not any(each.arguments.get("case_ids") for each in cases):
                return Departure("filter", reason, cases[0].turn, "get_cases", step)
            return None
        moves = [
            each
            for each in self.good
            if _HISTORY in each.objects
            and each.tool != "get_agent_handled_cases_by_period"
            and (each.touches("OldValue__c") or "CaseId__c" in each.fields)
        ]
        if moves:
            return None
        counted = next((each for each in self.good if _CASE in each.objects), self.good[-1])
        return Departure("filter", reason, counted.turn, counted.tool, step)

    def _closed(self) -> Departure | None:
        cases = [each for each in self.good if _CASE in each.objects]
        if self.task == "case_routing":
            # Open cases have an owner, too, and nothing else gives them away.
            shows = [each for each in cases if each.names("Closed") or "ClosedDate" in each.conditions]
            shows += [each for each in cases if each.tool in GENERIC and each.fields & {"Status", "ClosedDate"}]
            if not shows and self._are_as_many_open():
                return None
        else:
            shows = [each for each in cases if each.names("Closed") or each.touches("ClosedDate")]
        if shows or not cases:
            return None
        return Departure("filter", "cases that are still open are counted", cases[0].turn, cases[0].tool, "get_cases")

    def _are_as_many_open(self) -> bool:
        """Whether the same agents come first with the issue's open cases counted."""
        given = {"issue_ids": [str(self.arguments.get("issue_id"))]}
        level = [
            self._call("get_agents_with_max_cases", subset_cases=self._call("get_cases", **given, **closed))
            for closed in ({}, {"statuses": ["Closed"]})
        ]
        return bool(level[0] == level[1])

    def _calls_tools(self) -> bool:
        return any(each.tool not in GENERIC for each in self.good)

    def _asks_freely(self) -> bool:
        return any(each.tool in GENERIC for each in self.good)

    # --- with one thing changed

    def changed(self) -> Departure | None:
        """The change to the solver's question that gives the agent's answer."""
        if self.answer is None:
            return None
        for cause, reason, arguments, sandbox in self._changes():
            try:
                found = solve(sandbox, self.task, arguments)
            except CxError:
                continue
            if self._agrees(found):
                ends = [each for each in self.good if reason == _OTHER_END and each.tool.startswith("find_id_with")]
                if ends:
                    return Departure(cause, reason, ends[-1].turn, ends[-1].tool)
                return Departure(cause, reason, self.answered)
        return self._of_all() or self._of_product()

    def _of_all(self) -> Departure | None:
        """Handle times with the cases that were handed over."""
        if self.taken is None or self.taken not in self._ends_of_all():
            return None
        counted = next((each for each in self.good if _CASE in each.objects), self.good[-1])
        return Departure("filter", _HANDED_OVER, counted.turn, counted.tool, "get_non_transferred_case_ids")

    def _ends_of_all(self) -> list[str]:
        """What the solver would answer on handle times with the cases that were handed over."""
        cases = next((each for each in self.solution.steps if each.tool == "get_cases"), None)
        if self.task != "handle_time" or cases is None:
            return []
        given = {name: value for name, value in cases.arguments.items() if name != "case_ids"}
        means = self._call("calculate_average_handle_time", cases=self._call("get_cases", **given))
        return list(self._call(f"find_id_with_{self.arguments['extreme']}_value", values_by_id=means) or ())

    def _agrees(self, found: Solution) -> bool:
        if self.said_none:
            return not found.answers
        return self.taken is not None and self.taken in found.answers

    def _changes(self) -> Iterator[tuple[Cause, str, dict[str, Any], Sandbox]]:
        given = self.arguments
        if "extreme" in given:
            other = "min" if given["extreme"] == "max" else "max"
            yield "tie", _OTHER_END, {**given, "extreme": other}, self.sandbox
        if "more_than" in given:
            for count in (given["more_than"] - 1, given["more_than"] + 1, 0):
                yield "filter", "another number of cases", {**given, "more_than": count}, self.sandbox
        reading = self.sandbox.under("original" if self.sandbox.compat == "policy" else "policy")
        yield "policy", "the policy read otherwise", given, reading

    def _of_product(self) -> Departure | None:
        """Routing by the product alone, which only breaks ties."""
        if self.task != "case_routing" or self.taken is None:
            return None
        items = self._call("get_order_item_ids_by_product", product_id=str(self.arguments.get("product_id")))
        if not items:
            return None
        cases = self._call("get_cases", order_item_ids=items, statuses=["Closed"])
        if self.taken in self._call("get_agents_with_max_cases", subset_cases=cases):
            return Departure("policy", "routed by the product before the issue", self.answered)
        return None

    def _call(self, tool: str, **arguments: Any) -> Any:
        return TOOLS[tool](self.sandbox, **arguments)


# Task → what must be looked up, on which objects, by which field if it is one alone, and the solver's tool for it.
_SUBJECTS: Mapping[str, tuple[str, frozenset[str], str, str]] = {
    "case_routing": ("cases", frozenset({_CASE}), "OwnerId", "get_cases"),
    "handle_time": ("cases", frozenset({_CASE}), "ClosedDate", "get_cases"),
    "transfer_count": ("transfers", frozenset({_HISTORY}), "OldValue__c", "get_agent_transferred_cases_by_period"),
    "top_issue_identification": ("issues", frozenset({_CASE}), "IssueId__c", "get_issue_counts"),
    "monthly_trend_analysis": ("cases", frozenset({_CASE}), "", "get_cases"),
    "best_region_identification": ("states", frozenset({_CASE, "Account"}), "ShippingState", "get_shipping_state"),
    "named_entity_disambiguation": ("purchases", frozenset({"Order", "OrderItem"}), "", "get_purchase_history"),
}
# Task → which end of its figures is asked for, where the question has no say in it.
_ENDS = {"top_issue_identification": "max", "monthly_trend_analysis": "max", "best_region_identification": "min"}
_OTHER_END = "the other end of the figures"
_NONE_NAMED = "the right record was shown, and none named"
_TOO_FEW = "agents with too few cases were compared"
_HANDED_OVER = "cases that were handed over are counted"
_NAMES = {"issue_id": "issue", "product_id": "product", "contact_id": "customer"}


def _departs(asked: ActionRequest, due: Window) -> bool:
    return asked.window is not None and asked.window.differs(due)


def _values(asked: ActionRequest) -> Iterator[str]:
    for values in asked.conditions.values():
        yield from values
    for value in asked.arguments.values():
        if isinstance(value, str):
            yield value


def contains(value: Any, id: str) -> bool:
    """Whether an id stands in a result."""
    if isinstance(value, Mapping):
        return any(contains(each, id) for each in value.values())
    if isinstance(value, list):
        return any(contains(each, id) for each in value)
    return bool(value == id)
