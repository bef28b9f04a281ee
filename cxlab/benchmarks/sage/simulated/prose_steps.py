"""How the simulated reader takes a written procedure apart: steps, rules of steps, tables, bounds of numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cxlab.benchmarks.sage.conditions import Kind, to_step

STEP = re.compile(r"^\s*(?:#+\s*)?(?:step\s+)?(\d+)\s*[.):]\s*(\S.*)$", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*•]|[a-z]\))\s+(.*)$")
ROW = re.compile(r"^\s*\|(.+)\|\s*$")
RULE = re.compile(r"^(?:if|when|in case|where|for)\s+(.+?)(?:,\s*then\s+|:\s+|,\s*|\s+then\s+)(.+)$", re.IGNORECASE)
ELSE = re.compile(r"^(?:otherwise|else|if not|in all other cases|in any other case)[,:]?\s+(.+)$", re.IGNORECASE)
JUMP = re.compile(
    r"\b(?:go|continue|proceed|move|jump|return|start)(?: on| back| over)?(?: again)?(?: to| with| at| from)?"
    r" step (\d+)\b|\brepeat step (\d+)\b|^(?:see )?step (\d+)$",
    re.IGNORECASE,
)
END = re.compile(r"\s*(?:,\s*)?(?:and |then )?(?:stop|end)(?: here| there| the (?:call|chat|contact))?$", re.IGNORECASE)
ANY = frozenset({"", "-", "–", "any", "all", "*", "either", "n/a"})

_AMOUNT = r"\d{4}-\d{2}-\d{2}|(?:[£$€]\s?)?\d[\d,]*(?:\.\d+)?"
_UNITS = "%|euros?|eur|dollars?|usd|pounds?|gbp|days?|weeks?|months?|years?|hours?|minutes?|kg|km|points?|items?"
_UNIT = rf"(?:\s*(?:{_UNITS}))?"
# How a comparison is written: sign → the words in front of the number.
_WORDS = {
    ">=": r"\bat least|\bno less than|\bnot less than|\bon or after|>=|≥",
    "<=": r"\bat most|\bup to|\bno more than|\bnot more than|\bwithin|\bon or before|<=|≤",
    ">": r"\bmore than|\bover|\babove|\bgreater than|\blonger than|\bolder than|\bexceeds?|\bafter|>",
    "<": r"\bless than|\bbelow|\bunder|\bfewer than|\bshorter than|\byounger than|\bbefore|<",
    "=": r"\bexactly|\bis|\bare|=",
}
_BETWEEN = re.compile(rf"^(.*?)\b(?:between|from)\s+({_AMOUNT}){_UNIT}\s+(?:and|to)\s+({_AMOUNT}){_UNIT}(.*)$")
_COMPARE = (
    ("between", _BETWEEN),
    *((sign, re.compile(rf"^(.*?)(?:{words})\s*({_AMOUNT}){_UNIT}(.*)$")) for sign, words in _WORDS.items()),
)


@dataclass(frozen=True)
class Bound:
    """A condition on a number or a date: what is measured, its kind, and the bound or range as a file writes it."""

    subject: str
    kind: Kind
    condition: str


@dataclass(frozen=True)
class StepRule:
    """One rule: what must hold (none: otherwise), and the step to go to or what to do."""

    conditions: tuple[str | Bound, ...]
    to: str | None
    action: str | None


@dataclass
class TableRules:
    """A table of a step: what its columns are about, and a row's cells with its outcome."""

    columns: list[str]
    rows: list[tuple[list[str], StepRule]]


@dataclass
class ProcedureStep:
    """A numbered step: its first words that are no rule, its rules, and a table where it has one."""

    number: str
    title: str
    rules: list[StepRule] = field(default_factory=list)
    table: TableRules | None = None


def read_steps(text: str) -> list[ProcedureStep]:
    """The numbered steps with their rules, in the order of the text."""
    blocks: list[tuple[str, list[str], list[list[str]]]] = []
    for line in text.splitlines():
        if found := STEP.match(line):
            blocks.append((found[1], [found[2]], []))
        elif not blocks:
            continue
        elif row := ROW.match(line):
            cells = [cell.strip() for cell in row[1].split("|")]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                blocks[-1][2].append(cells)
        elif bullet := BULLET.match(line):
            # A bullet is a sentence of its own, whatever stands before it.
            blocks[-1][1].append(f"\n{bullet[1]}")
        elif line.strip():
            blocks[-1][1].append(line.strip())
    return [_read_step(number, " ".join(lines), rows) for number, lines, rows in blocks]


def _read_step(number: str, text: str, rows: list[list[str]]) -> ProcedureStep:
    step = ProcedureStep(number, "")
    for sentence in re.split(r"(?<=[.;!?])\s+|\n", text):
        said = sentence.strip().rstrip(".;:!")
        if not said:
            continue
        if found := ELSE.match(said):
            step.rules.append(read_rule((), found[1]))
        elif found := RULE.match(said):
            step.rules.append(read_rule(read_conditions(found[1]), found[2]))
        elif JUMP.search(said) or END.search(said):
            step.rules.append(read_rule((), said))
        else:
            step.title = step.title or said
    if len(rows) > 1:
        columns = rows[0][:-1]
        step.table = TableRules(columns, [(row[:-1], read_rule((), row[-1])) for row in rows[1:] if len(row) > 1])
    return step


def read_rule(conditions: tuple[str | Bound, ...], outcome: str) -> StepRule:
    """What a rule does: the step it jumps to, else the action that it ends in."""
    if found := JUMP.search(outcome.strip()):
        return StepRule(conditions, f"stage{found[1] or found[2] or found[3]}", None)
    said = END.sub("", outcome.strip()).strip(" .")
    return StepRule(conditions, None, said or "close the conversation")


def read_conditions(text: str) -> tuple[str | Bound, ...]:
    """The parts of a condition; it is only parted at "and" where one of the parts is about a number."""
    whole = read_bound(text)
    if whole is not None and " and " not in text:
        return (whole,)
    parts = re.split(r"\s+and\s+", text)
    bounds = [read_bound(part) for part in parts]
    if len(parts) > 1 and any(bounds) and not re.search(r"\b(?:between|from)\b", text):
        return tuple(bound or part for bound, part in zip(bounds, parts, strict=True))
    return (whole or text,)


def read_bound(text: str, subject: str = "") -> Bound | None:
    """A condition on a number, an amount or a date; None for one in words."""
    for sign, pattern in _COMPARE:
        found = pattern.match(text.strip().lower())
        if found is None:
            continue
        numbers = [found[2], found[3]] if sign == "between" else [found[2]]
        about = _subject(found[1], found[found.lastindex or 1]) or subject
        if not about:
            return None
        kind = _kind(text, numbers)
        plain = [_plain(number) for number in numbers]
        if any(to_step(number, kind) is None for number in plain):
            return None
        condition = f"{plain[0]}..{plain[1]}" if sign == "between" else plain[0] if sign == "=" else f"{sign}{plain[0]}"
        return Bound(about, kind, condition)
    return None


def _kind(text: str, numbers: list[str]) -> Kind:
    if any(re.fullmatch(r"\d{4}-\d{2}-\d{2}", number) for number in numbers):
        return "date"
    money = re.search(r"[£$€]|\b(?:euros?|eur|dollars?|usd|pounds?|gbp)\b", text.lower())
    return "amount" if money or any("." in number for number in numbers) else "integer"


def _plain(number: str) -> str:
    return re.sub(r"[£$€,\s]", "", number)


def _subject(before: str, after: str) -> str:
    """What is measured: the words before the comparison, or behind it where there are none."""
    text = re.sub(
        r"\b(?:the|a|an|is|are|was|were|has|have|had|been|it|that|than|if|or|not|for|made|placed)\b", " ", before
    )
    words = re.findall(r"[a-z]+", text)
    if not words:
        words = re.findall(r"[a-z]+", re.sub(r"\b(?:ago|old|or|more|less|of|the)\b", " ", after))
    return " ".join(words[-3:])
