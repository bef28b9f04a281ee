"""A small grammar for phrases: `(a|b|)` chooses, `<slot>` is filled in; both nest.

`"(I want|I'd like) to (end|cancel) my <plan>"` says four things for each plan.
"""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cxlab.errors import CxError

# Text, ("slot", name), or ("any", the alternatives, each of them nodes again).
Node = str | tuple[str, Any]
Nodes = tuple[Node, ...]
TOKEN = re.compile(r"<(\w+)>|[(|)]|[^<(|)]+|<")
_SPACES, _BEFORE_A_STOP, _FIRST_STOP = re.compile(r"\s+"), re.compile(r"\s+([,.;:!?])"), re.compile(r"^[,;:]\s*")


# A phrase is one sentence; what is longer or deeper than these has more wordings than memory holds.
LONGEST = 5_000
DEEPEST = 20


class BadPhrase(CxError):
    """A phrase whose brackets do not close or that names no known slot."""


@functools.lru_cache(maxsize=50_000)
def parse(line: str) -> Nodes:
    """The line as nested tuples: text, ("slot", name) or ("any", alternatives); raises BadPhrase."""
    if len(line) > LONGEST:
        raise BadPhrase(f"a phrase of {len(line):,} characters; the limit is {LONGEST:,}")
    stack: list[list[list[Node]]] = [[[]]]
    for match in TOKEN.finditer(line):
        token = match.group(0)
        if token == "(":
            if len(stack) > DEEPEST:
                raise BadPhrase(f"brackets more than {DEEPEST} deep in {line[:80]!r}")
            stack.append([[]])
        elif token == "|":
            if len(stack) == 1:
                raise BadPhrase(f"a | outside brackets in {line!r}; write (a|b)")
            stack[-1].append([])
        elif token == ")":
            if len(stack) == 1:
                raise BadPhrase(f"a bracket closes that never opened in {line!r}")
            alternatives = tuple(tuple(a) for a in stack.pop())
            stack[-1][-1].append(("any", alternatives))
        elif match.group(1):
            stack[-1][-1].append(("slot", match.group(1)))
        else:
            stack[-1][-1].append(token)
    if len(stack) != 1:
        raise BadPhrase(f"a bracket never closes in {line!r}")
    return tuple(stack[0][0])


def say(line: str, rng: np.random.Generator, slots: Mapping[str, str]) -> str:
    """One wording of the line; a slot's value may hold brackets of its own."""
    return tidy(piece(line, rng, slots))


def say_one(lines: Sequence[str], rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    """One wording of one of the lines, each line as likely as any other."""
    return say(lines[int(rng.random() * len(lines))], rng, slots or {})


def piece(line: str, rng: np.random.Generator, slots: Mapping[str, str]) -> str:
    """One wording of a part of a sentence: as `say`, untidied, to be joined to something."""
    parts: list[str] = []
    _walk(parse(line), rng, slots, parts)
    return "".join(parts)


@functools.lru_cache(maxsize=50_000)
def tidy(text: str) -> str:
    """Mend what choices leave behind: double spaces, spaces before stops, a small first letter."""
    text = _SPACES.sub(" ", text).strip()
    text = _BEFORE_A_STOP.sub(r"\1", text)
    text = _FIRST_STOP.sub("", text)
    return text[:1].upper() + text[1:]


def variants(line: str, slots: Mapping[str, int] | None = None) -> int:
    """How many wordings the line has, slots counted with the number of their values."""
    return _count(parse(line), slots or {})


def every(line: str, limit: int = 200) -> list[str]:
    """The line's wordings without filling slots, at most `limit`; for checks."""
    found = [""]
    for node in parse(line):
        found = [a + b for a in found for b in _texts(node)][:limit]
    return found


def slot_names(line: str) -> set[str]:
    return set(re.findall(r"<(\w+)>", line))


def check(line: str, allowed: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with a line whose slots must be among those allowed: (problem, how to mend it)."""
    try:
        unknown = slot_names(line) - set(allowed)
        parse(line)
    except BadPhrase as error:
        yield str(error), "mend the brackets"
        return
    if unknown:
        yield f"no slot {sorted(unknown)}", f"known slots: {', '.join(sorted(allowed))}"


def check_lines(
    where: tuple[object, ...], lines: Iterable[str], allowed: Collection[str]
) -> Iterator[tuple[tuple[object, ...], str, str]]:
    """The same for lines that stand one after the other at a place of a file: (place, problem, how to mend it)."""
    for index, line in enumerate(lines):
        for problem, fix in check(line, allowed):
            yield (*where, index), problem, fix


def _walk(nodes: Nodes, rng: np.random.Generator, slots: Mapping[str, str], parts: list[str]) -> None:
    for node in nodes:
        if isinstance(node, str):
            parts.append(node)
        elif node[0] == "slot":
            name = node[1]
            if name not in slots:
                raise BadPhrase(f"no slot <{name}>; known: {', '.join(sorted(slots))}")
            parts.append(str(slots[name]))
        else:
            choices = node[1]
            _walk(choices[int(rng.random() * len(choices))], rng, slots, parts)


def _count(nodes: Nodes, slots: Mapping[str, int]) -> int:
    total = 1
    for node in nodes:
        if isinstance(node, tuple):
            total *= slots.get(node[1], 1) if node[0] == "slot" else sum(_count(a, slots) for a in node[1])
    return total


def _texts(node: Node) -> list[str]:
    if isinstance(node, str):
        return [node]
    if node[0] == "slot":
        return ["thing"]
    out: list[str] = []
    for alternative in node[1]:
        found = [""]
        for part in alternative:
            found = [a + b for a in found for b in _texts(part)][:200]
        out.extend(found)
    return out
