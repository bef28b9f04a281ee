"""The simulated reader of procedures: numbered steps with "If … then go to step 4. Otherwise refuse and stop.", tables.

A condition about the customer becomes a field, one on a number or a date a bound, any other one a system variable; what
is neither a condition nor a jump is an action. A step that leads back to an earlier one ends in asking again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cxlab import files
from cxlab.benchmarks.sage import conditions
from cxlab.benchmarks.sage.conditions import Kind
from cxlab.benchmarks.sage.simulated.phrases import as_i, content_words
from cxlab.benchmarks.sage.simulated.prose_steps import (
    ANY,
    STEP,
    Bound,
    ProcedureStep,
    StepRule,
    TableRules,
    read_bound,
    read_steps,
)
from cxlab.llm.simulated.profiles import Profile

PERSON = re.compile(
    r"\b(?:customer|caller|client|guest|user|passenger|patient|tenant|resident|member|reader|receiver|they|he|she"
    r"|wish(?:es)?|wants?)\b",
    re.IGNORECASE,
)
# What a step tells the desk to do with the thing that it is about.


def convert(inputs: Any, profile: Profile, rng: np.random.Generator) -> str:
    """The YAML text of the scenario, or one plain sentence when the prose has no numbered steps."""
    steps = read_steps(inputs.text)
    if not steps:
        return "I can only read steps that decide something: If ... then go to step 2. Otherwise ... and stop."
    return files.dump_yaml(Draft(steps).scenario(inputs.text))


@dataclass
class Draft:
    """A scenario in the making."""

    steps: list[ProcedureStep]
    fields: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)
    actions: dict[str, Any] = field(default_factory=dict)
    stages: dict[str, Any] = field(default_factory=dict)

    def scenario(self, text: str) -> dict[str, Any]:
        for index, step in enumerate(self.steps):
            following = f"stage{self.steps[index + 1].number}" if index + 1 < len(self.steps) else None
            self._add(step, following)
        heading = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), "Procedure")
        title = "Procedure" if STEP.match(heading) else heading.rstrip(".:")[:80]
        return {
            "id": re.sub(r"\W+", "_", title.lower()).strip("_")[:40] or "procedure",
            "short": "".join(word[0] for word in re.findall(r"[A-Za-z]+", title))[:2].upper() or "P",
            "title": title,
            "business": f"This desk works by the procedure {title}.",
            "role": "a customer of this business",
            "slots": {"name": ["Alex", "Robin", "Kim", "Jo", "Chris", "Pat"]},
            "fields": self.fields,
            "system": self.system,
            "actions": self.actions,
            "stages": self.stages,
            "intents": {
                "concern": {
                    "title": title,
                    "level": "zero",
                    "background": [f"It is about this matter: {re.sub('[()|<>]', ' ', title)}."],
                    "goal": "Have the matter settled.",
                }
            },
            "personalities": {
                "plain": {"description": "says what matters", "style": ["terse"]},
                "talkative": {"description": "likes to talk", "style": ["chatty"]},
            },
        }

    def _add(self, step: ProcedureStep, following: str | None) -> None:
        title = (step.title or f"Step {step.number}")[:60]
        name = f"stage{step.number}"
        if step.table is not None:
            self.stages[name] = {"title": title, "branches": self._table(step)}
            return
        asked = [rule for rule in step.rules if rule.conditions]
        rest = next((rule for rule in step.rules if not rule.conditions), None)
        end = rest or StepRule((), following, None if following else step.title or "close the conversation")
        if not asked:
            self.stages[name] = {"title": title, "branches": [self._out(step, end)]}
        elif all(len(rule.conditions) == 1 and isinstance(rule.conditions[0], str) for rule in asked):
            told = [str(rule.conditions[0]) for rule in asked]
            variable, options = self._variable(step, title, told, with_rest=rest is not None or len(asked) == 1)
            branches = [
                {"when": {variable: option}, **self._out(step, rule)}
                for option, rule in zip(options, asked, strict=False)
            ]
            if len(options) > len(asked):
                branches.append({"when": {variable: options[-1]}, **self._out(step, end)})
            self.stages[name] = {"title": title, "branches": branches}
        elif bounds := _same_number(asked):
            variable = self._number(bounds[0])
            told = [bound.condition for bound in bounds]
            branches = [
                {"when": {variable: one}, **self._out(step, rule)} for one, rule in zip(told, asked, strict=True)
            ]
            if left := complement(told, bounds[0].kind):
                branches.append({"when": {variable: left}, **self._out(step, end)})
            self.stages[name] = {"title": title, "branches": branches}
        else:
            self._chain(name, step, title, asked, end)

    def _chain(self, name: str, step: ProcedureStep, title: str, asked: list[StepRule], end: StepRule) -> None:
        """Rules that look at different things, one stage each: what does not fit goes on to the next of them."""
        for index, rule in enumerate(asked):
            here = name if index == 0 else f"{name}_{index + 1}"
            if index and index + 1 == len(asked) and _is_rest(asked):
                self.stages[here] = {"title": title, "branches": [self._out(step, rule)]}
                return
            on = self._out(step, end) if index + 1 == len(asked) else {"to": f"{name}_{index + 2}"}
            branches: list[dict[str, Any]] = []
            held: dict[str, Any] = {}
            for part in rule.conditions:
                variable, yes, no = self._test(step, title, part)
                branches.append({"when": {**held, variable: no}, **on})
                held[variable] = yes
            branches.insert(0, {"when": held, **self._out(step, rule)})
            self.stages[here] = {"title": title, "branches": branches}

    def _test(self, step: ProcedureStep, title: str, part: str | Bound) -> tuple[str, Any, Any]:
        """(variable, condition when it holds, condition when it does not)."""
        if isinstance(part, Bound):
            return self._number(part), part.condition, complement([part.condition], part.kind)
        variable, options = self._variable(step, title, [part], with_rest=True)
        return variable, options[0], options[1]

    def _table(self, step: ProcedureStep) -> list[dict[str, Any]]:
        table = step.table or TableRules([], [])
        branches = []
        for cells, rule in table.rows:
            when: dict[str, Any] = {}
            for column, cell in zip(table.columns, cells, strict=False):
                if cell.lower() in ANY:
                    continue
                bound = read_bound(
                    f"{column} {cell}" if re.match(r"[<>=≤≥]|[a-z]", cell, re.I) else f"{column} = {cell}"
                )
                if bound is not None:
                    when[self._number(Bound(column.lower(), bound.kind, bound.condition))] = bound.condition
                else:
                    when[self._column(column, cell)] = camel(cell, 4)
            branches.append({"when": when, **self._out(step, rule)} if when else self._out(step, rule))
        return branches

    def _column(self, column: str, cell: str) -> str:
        """A column in words: of the customer where its heading says so, else of the records."""
        name, value = camel(column, 3) or "Case", camel(cell, 4)
        if PERSON.search(column):
            spec = self.fields.setdefault(name, {"description": f"{column}.", "default": value, "options": {}})
            spec["options"].setdefault(value, _option(f"{cell}", name))
        else:
            self.system.setdefault(name, {"description": f"{column}.", "values": {}})["values"].setdefault(value, cell)
        return name

    def _number(self, bound: Bound) -> str:
        name = camel(bound.subject, 3) or "Number"
        self.system.setdefault(name, {"description": f"The {bound.subject}.", "number": bound.kind})
        return name

    def _variable(self, step: ProcedureStep, title: str, told: list[str], with_rest: bool) -> tuple[str, list[str]]:
        """A field or system variable with an option for each condition, and one for none of them."""
        options = option_names(told)
        named = [*options, "Otherwise"] if with_rest else options
        texts = [*told, "none of the above" if len(told) > 1 else f"it is not the case that {told[0]}"][: len(named)]
        plain = re.sub(
            r"^(?:ask|check|look|find|verify|see|get)\b(?: (?:for|at|out|up|into))?", "", title, flags=re.IGNORECASE
        )
        name = camel(plain, 3) or camel(title, 3) or "Step"
        if name in self.fields or name in self.system:
            name += step.number
        if all(PERSON.search(text) for text in told) or re.match(r"(?:first |then )?ask\b", title, re.IGNORECASE):
            self.fields[name] = {
                "description": f"{title}.",
                "default": named[-1],
                "options": {option: _option(text, name) for option, text in zip(named, texts, strict=True)},
            }
        else:
            self.system[name] = {"description": f"{title}.", "values": dict(zip(named, texts, strict=True))}
        return name, named

    def _out(self, step: ProcedureStep, rule: StepRule) -> dict[str, Any]:
        """Where a rule leads: on to a stage, or to an action; a way back is an action that asks again."""
        if rule.to:
            numbers = [each.number for each in self.steps]
            target = rule.to.removeprefix("stage")
            if target not in numbers or numbers.index(target) > numbers.index(step.number):
                return {"to": rule.to}
            again = self.steps[numbers.index(target)].title or f"step {target}"
            return {"action": self._action(f"Ask again: {again}", "AskAgain")}
        said = rule.action or "close the conversation"
        return {"action": self._action(said, camel(said, 3) or "Close")}

    def _action(self, text: str, name: str) -> str:
        described = f"{text[:1].upper()}{text[1:]}."
        number = 1
        while self.actions.get(name if number == 1 else f"{name}{number}", {"description": described}) != {
            "description": described
        }:
            number += 1
        name = name if number == 1 else f"{name}{number}"
        self.actions[name] = {"description": described}
        return name


def _same_number(asked: list[StepRule]) -> list[Bound]:
    """The bounds of rules that all look at one number and exclude each other; none where they do not."""
    bounds = [rule.conditions[0] for rule in asked if len(rule.conditions) == 1]
    if len(bounds) < len(asked):
        return []
    found = [bound for bound in bounds if isinstance(bound, Bound)]
    if len(found) < len(bounds) or len({(bound.subject, bound.kind) for bound in found}) > 1:
        return []
    told = [bound.condition for bound in found]
    for cell in conditions.cells(told, found[0].kind, None):
        inside = conditions.representative(cell, found[0].kind)
        if sum(conditions.meets(inside, one, found[0].kind) for one in told) > 1:
            return []
    return found


def _is_rest(asked: list[StepRule]) -> bool:
    """Whether the last rule holds wherever a rule before it does not: "at least 14 days", then "less than 14"."""
    last = asked[-1].conditions
    if len(last) != 1 or not isinstance(last[0], Bound):
        return False
    bound = last[0]
    before = [one for rule in asked[:-1] for one in rule.conditions if isinstance(one, Bound)]
    alike = [one for one in before if (one.subject, one.kind) == (bound.subject, bound.kind)]
    return any(not complement([one.condition, bound.condition], bound.kind) for one in alike)


def complement(given: list[str], kind: Kind) -> Any:
    """What meets none of the bounds, as a condition: a bound, a range or a list of them."""
    found = []
    for cell in conditions.cells(given, kind, None):
        inside = conditions.from_step(cell.low if cell.low is not None else (cell.high or 0), kind)
        if any(conditions.meets(inside, one, kind) for one in given):
            continue
        low = None if cell.low is None else conditions.from_step(cell.low, kind)
        high = None if cell.high is None else conditions.from_step(cell.high, kind)
        found.append(f"<={high}" if low is None else f">={low}" if high is None else f"{low}..{high}")
    return found[0] if len(found) == 1 else found


def option_names(told: list[str]) -> list[str]:
    """A name for each condition, from the words that tell it from the others."""
    names: list[str] = []
    for text in told:
        others = {word for other in told if other is not text for word in content_words(other)}
        own = [w for w in content_words(text) if w not in others] or content_words(text)
        negated = "Not" if re.search(r"\bnot\b|\bno\b|n't\b", text) else ""
        name = negated + "".join(word.capitalize() for word in own[:3]) or f"Option{len(names) + 1}"
        names.append(name if name not in names else f"{name}{len(names) + 1}")
    return names


def camel(text: str, words: int) -> str:
    """The first words that carry meaning, as one name."""
    found = content_words(text)[:words] or re.findall(r"[a-z]+", text.lower())[:words]
    return "".join(word.capitalize() for word in found)


def _option(text: str, name: str) -> dict[str, str]:
    """An option as the desk knows it; the customer's own words are made from it where they are needed."""
    return {"description": f"{text}." if as_i(text) else f"{name}: {text}."}
