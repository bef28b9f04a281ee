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
    r"\b(?:go|continue|proceed|move|jump|return|start)(?: on| back| over)?(?: again)?"
    r"(?:(?: to| with| at| from)? step| to| with| at) (\d+)\b|\brepeat step (\d+)\b|^(?:see )?step (\d+)$",
    re.IGNORECASE,
)
# "Go on to the pressure": what comes next, without its number.
NEXT = re.compile(r"^(?:go|carry|move) on\b|^(?:continue|proceed)\b(?! \w+ing\b)", re.IGNORECASE)
# A bullet that names a case: "cancelled: refund the ticket".
CASE = re.compile(r"^([^:.,]{2,50}):\s+(.+)$")
# What begins a procedure in prose without being a condition, and what only looks something up.
PREFACE = re.compile(
    r"^(?:when|if) (?:some(?:body|one)|any(?:body|one)|a \w+|the \w+) (?:calls?|rings?|writes?|gets in touch),?\s+",
    re.IGNORECASE,
)
LOOK = re.compile(r"^(?:first |then )?(?:ask|check|look|find|verify|see)\b", re.IGNORECASE)
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
# "7 days or fewer", "1 or more".
_OR_MORE = rf"^(.*?)\b({_AMOUNT}){_UNIT}\s+or\s+(?:more|above|over|longer|later|higher)\b(.*)$"
_OR_LESS = rf"^(.*?)\b({_AMOUNT}){_UNIT}\s+or\s+(?:fewer|less|below|under|shorter|earlier|lower)\b(.*)$"
_RANGE = re.compile(rf"^(.*?)\b(?:by\s+|is\s+|are\s+|of\s+)?({_AMOUNT})\s*(?:to|–)\s*({_AMOUNT}){_UNIT}(.*)$")
_COMPARE = (
    (">=", re.compile(_OR_MORE)),
    ("<=", re.compile(_OR_LESS)),
    ("between", _BETWEEN),
    ("between", _RANGE),
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
    """The steps with their rules, in the order of the text; where no line has a number, each paragraph is one."""
    lines = [line for line in text.splitlines() if line.strip()]
    numbered = any(STEP.match(line) for line in lines)
    blocks: list[tuple[str, list[str], list[list[str]]]] = []
    for place, line in enumerate(lines):
        # Where a sentence ended with the line before, or a heading did, the next begins a paragraph.
        ended = place > 0 and (re.search(r"[.;:]\s*$", lines[place - 1]) or place == 1)
        if found := STEP.match(line):
            blocks.append((found[1], [found[2]], []))
        elif row := ROW.match(line):
            cells = [cell.strip() for cell in row[1].split("|")]
            if not blocks:
                blocks.append(("1", ["Find the right row"], []))
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                blocks[-1][2].append(cells)
        elif not numbered and ended and not BULLET.match(line):
            blocks.append((str(len(blocks) + 1), [PREFACE.sub("", line.strip())], []))
        elif not blocks:
            continue
        elif bullet := BULLET.match(line):
            # A bullet is a sentence of its own, whatever stands before it.
            blocks[-1][1].append(f"\n{bullet[1]}")
        else:
            blocks[-1][1].append(line.strip())
    numbers = [number for number, _, _ in blocks]
    following = dict(zip(numbers, [*numbers, ""][1:], strict=True))
    if not numbered and not any(rows for _, _, rows in blocks):
        told = " ".join(said for _, text, _ in blocks for said in text)
        if not re.search(r"\b(?:if|otherwise|in all other cases)\b", told, re.IGNORECASE):
            return []  # paragraphs that decide nothing are no procedure
    steps: list[ProcedureStep] = []
    seen: list[Bound] = []
    for number, said, rows in blocks:
        steps.append(_read_step(number, " ".join(said), rows, following[number], numbered, seen))
    return steps


def _read_step(
    number: str, text: str, rows: list[list[str]], following: str, numbered: bool, seen: list[Bound]
) -> ProcedureStep:
    """One step; `following` is the number of the next one, where "go on" leads, `seen` the bounds told so far."""
    step = ProcedureStep(number, "")
    cases = sum(bool(CASE.match(line.strip())) for line in text.split("\n")[1:]) > 1
    for at, sentence in enumerate(re.split(r"(?<=[.;!?])\s+|\n|,?\s+(?=otherwise\b)", text)):
        said = sentence.strip().rstrip(".;:!")
        if not said:
            continue
        if found := ELSE.match(said):
            step.rules.append(read_rule((), found[1], following))
        elif found := RULE.match(said):
            if not numbered and not step.rules and LOOK.match(found[2]) and not END.search(found[2]):
                # "If not, check the boiler": the way here has settled the condition already.
                step.title = step.title or found[2]
                continue
            for conditions in read_alternatives(found[1], seen, step.title):
                seen += [one for one in conditions if isinstance(one, Bound)]
                step.rules.append(read_rule(conditions, found[2], following))
        elif at and cases and (case := CASE.match(said)):
            step.rules.append(read_rule((case[1].strip(),), case[2], following))
        elif JUMP.search(said) or END.search(said):
            step.rules.append(read_rule((), said, following))
        else:
            step.title = step.title or said
    if len(rows) > 1:
        columns = rows[0][:-1]
        step.table = TableRules(columns, [(row[:-1], read_rule((), row[-1])) for row in rows[1:] if len(row) > 1])
    return step


def read_rule(conditions: tuple[str | Bound, ...], outcome: str, following: str = "") -> StepRule:
    """What a rule does: the step it jumps to, else the action that it ends in."""
    if found := JUMP.search(outcome.strip()):
        return StepRule(conditions, f"stage{found[1] or found[2] or found[3]}", None)
    if following and NEXT.match(outcome.strip()):
        return StepRule(conditions, f"stage{following}", None)
    said = END.sub("", outcome.strip()).strip(" .")
    return StepRule(conditions, None, said or "close the conversation")


def read_alternatives(text: str, seen: list[Bound], title: str) -> list[tuple[str | Bound, ...]]:
    """The ways in which a condition is met: two bounds with "or" between them are two.

    "It" is the number of its kind that was spoken of last, else what the step's title looks up.
    """
    if re.match(r"(?:it|this|that)\b", text, re.IGNORECASE) and (found := read_bound(text, "it")):
        alike = [one.subject for one in seen if one.kind == found.kind]
        meant = alike[-1] if alike else _subject(LOOK.sub("", title.lower()), "")
        if meant:
            return [(Bound(meant, found.kind, found.condition),)]
    first, sign, second = text.partition(" or ")
    one = read_bound(first)
    other = read_bound(second, one.subject) if one and sign else None
    if one and other and not re.match(r"\w+$", second):
        return [(one,), (Bound(one.subject, other.kind, other.condition),)]
    return [read_conditions(text)]


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
