"""How the answer to a question comes about: the solver's calls in order, what each asks and what it returns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.solvers import SOLVERS, solve
from cxlab.benchmarks.crmarena.tasks import PREFIXES, TASKS
from cxlab.benchmarks.crmarena.tools import DEFINITIONS, TOOLS
from cxlab.views.crm.console.asking import flatten
from cxlab.views.crm.organisation import Organisation, count_records

_MOST_NAMED = 4
_MOST_ROWS = 12
_LONGEST_CELL = 160
_LONGEST_QUESTION = 105
# As the product and the tools write times.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.000)?(Z|\+0000)")


@dataclass(frozen=True, eq=False)
class _Listening(Sandbox):
    """A sandbox that notes what it is asked."""

    heard: list[str] = field(default_factory=list)

    def soql(self, text: str, attributes: bool = False) -> list[dict[str, Any]]:
        self.heard.append(text)
        return super().soql(text, attributes)

    def sosl(self, text: str, attributes: bool = False) -> list[dict[str, Any]]:
        self.heard.append(text)
        return super().sosl(text, attributes)


@dataclass(frozen=True)
class SolverStep:
    """One call of a solution: the tool and what it is for, its arguments, the queries it asks, and its result.

    `made_by`: argument → the number of the step, from 1, whose result it is.
    """

    tool: str
    about: str
    arguments: Mapping[str, Any]
    queries: tuple[str, ...]
    result: Any
    made_by: Mapping[str, int]


@dataclass(frozen=True)
class QuestionSolution:
    """The answers to a question (none: it has no answer; several: they are level), and the steps to them."""

    answers: tuple[str, ...]
    steps: tuple[SolverStep, ...]


def can_solve(task: str, expected: Mapping[str, Any]) -> bool:
    """Whether a question's answer can be worked out: its task has a solver and its arguments are known."""
    return task in SOLVERS and isinstance(expected.get("arguments"), Mapping)


def work_out(sandbox: Sandbox, task: str, arguments: Mapping[str, Any]) -> QuestionSolution:
    """The reference solution of a question, each step with its queries; CxError where it cannot be worked out."""
    found = solve(sandbox, task, arguments)
    steps: list[SolverStep] = []
    for step in found.steps:
        # Asked once more, as the solver keeps calls and not queries.
        listening = _Listening(**{each.name: getattr(sandbox, each.name) for each in fields(Sandbox)})
        TOOLS[step.tool](listening, **step.arguments)
        about = DEFINITIONS[step.tool].description.partition(". ")[0]
        made_by = {name: _find_maker(value, steps) for name, value in step.arguments.items()}
        known = {name: number for name, number in made_by.items() if number}
        steps.append(SolverStep(step.tool, about, step.arguments, tuple(listening.heard), step.result, known))
    return QuestionSolution(found.answers, tuple(steps))


def _find_maker(value: Any, steps: Sequence[SolverStep]) -> int:
    """The number of the last step that returned a list or a mapping like this; 0 where none did."""
    if not isinstance(value, list | Mapping):
        return 0
    return next((number for number in range(len(steps), 0, -1) if steps[number - 1].result == value), 0)


def shorten_question(text: str) -> str:
    """A question for a cell of a table, without its last line, which says what form the answer has."""
    *lines, last = text.split("\n")
    return textwrap.shorten(" ".join(lines) or last, _LONGEST_QUESTION, placeholder=" …")


def name_answer(organisation: Organisation | None, task: str, answer: str | None) -> str:
    """An answer as people read it: what its id stands for, or that there is none."""
    if answer is None:
        return "None: the question has no answer"
    known = TASKS.get(task)
    if organisation is not None and known is not None and known.answer in PREFIXES:
        return write_alone(organisation, answer)
    return answer


def write_alone(organisation: Organisation | None, value: Any) -> str:
    """`write_argument` of a value that stands by itself: an id beside what it stands for, as a call that turns a
    contact into its account of the same name would else seem to do nothing."""
    told = write_argument(organisation, value)
    named = isinstance(value, str) and organisation is not None and organisation.title(value) not in (value, "")
    return f"{told} ({value})" if named else told


def write_argument(organisation: Organisation | None, value: Any) -> str:
    """An argument or a short result in a line: ids by what they stand for, long lists by their number, times short."""
    if isinstance(value, str):
        return _name(organisation, value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_name(organisation, str(key))}: {write_argument(organisation, each)}"
                          for key, each in list(value.items())[:_MOST_NAMED])  # fmt: skip
        return inner + _rest(len(value))
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], Mapping):
            return count_records(len(value))
        return ", ".join(write_argument(organisation, each) for each in value[:_MOST_NAMED]) + _rest(len(value))
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= 1000 else f"{value:.4g}"
    return "null" if value is None else str(value)


def _rest(count: int) -> str:
    return f" and {count - _MOST_NAMED:,} more" if count > _MOST_NAMED else "" if count else "none"


def _name(organisation: Organisation | None, id: str) -> str:
    if _MOMENT.fullmatch(id):
        return f"{id[:10]} {id[11:16] if id[17:19] == '00' else id[11:19]}"
    return organisation.title(id) if organisation is not None and len(id) == 18 else id


def tabulate(organisation: Organisation | None, result: Any) -> tuple[list[str], list[list[str]], int]:
    """A result as a small table: heads, the first rows with long cells cut, and how many rows there are; ([], [], 0)
    for what is none.

    Figures by id come with the largest on top.
    """
    if isinstance(result, Mapping) and result:
        values = sorted(result.items(), key=_by_value) if all(map(_is_number, result.values())) else result.items()
        rows = [[_name(organisation, str(key)), write_argument(organisation, value)] for key, value in values]
        return ["", ""], rows[:_MOST_ROWS], len(rows)
    if isinstance(result, Sequence) and not isinstance(result, str) and result and isinstance(result[0], Mapping):
        flat = [dict(flatten(row)) for row in result[:_MOST_ROWS] if isinstance(row, Mapping)]
        heads = list(dict.fromkeys(key for row in flat for key in row))
        columns = {head: [_shorten(write_argument(organisation, row.get(head))) for row in flat] for head in heads}
        for head in heads:
            stored = [_shorten(write_argument(None, row.get(head))) for row in flat]
            # A record's own id stays, and any other where what it stands for is told beside it.
            if head == "Id" or any(columns[head] == columns[other] for other in heads if other != head):
                columns[head] = stored
        return heads, [list(row) for row in zip(*columns.values(), strict=True)], len(result)
    return [], [], 0


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else f"{cell[: _LONGEST_CELL - 1]}…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _by_value(item: tuple[str, Any]) -> tuple[float, str]:
    return -item[1], item[0]
