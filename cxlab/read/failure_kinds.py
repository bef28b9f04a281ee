"""Kinds of what goes wrong, in words."""

from cxlab.records.procedure import declared

_ANY = {"any": "anything at all"}
_KINDS = {
    "answer": "wrong result",
    "format": "unreadable reply",
    "unmarked": "no verdict",
    "provider": "provider fault",
    "customer": "simulated customer fault",
    "judge": "judge without a usable verdict",
    "scorer": "scorer fault",
    "unscored": "no reference: judges tied",
    "refused": "tool call refused",
    "arguments": "tool call with bad arguments",
    "unknown_tool": "call of a tool that is not there",
    "tool": "other tool error",
    "customer_tool": "customer's tool call refused",
    "agent": "slip of the agent",
}

EVENTS = ("refused", "arguments", "unknown_tool", "tool", "customer_tool", "agent")
"""Kinds that may happen on the way to a good end: an agent that is refused and mends it has done nothing wrong."""

VERDICTS = {"failed": ("failed",), "unscored": ("unscored",), "wrong": ("failed", "unscored"), "passed": ("passed",)}
"""What View.verdict lets through; all other values let everything through."""

NOT_ANY = ("judge", "scorer", "unscored", "unmarked", *EVENTS)
"""Kinds that `any` does not stand for."""

TOOL_ERRORS = ("refused", "arguments", "unknown_tool")
"""Types of failures with a kind of their own, where a tool is where they happened."""


def misread() -> dict[str, str]:
    """Kinds of turns on which an agent's own fields lead elsewhere, in words."""
    return {kind: words for each in declared().values() for kind, words in each.misread.items()}


def deviations() -> dict[str, str]:
    """Kinds of turns on which an agent left the way that its own fields lead, in words."""
    return {kind: words for each in declared().values() for kind, words in each.deviations.items()}


def others() -> dict[str, str]:
    """Kinds of turns that went wrong through nobody's fault that is under test, in words."""
    return {kind: words for each in declared().values() for kind, words in each.others.items()}


def disputed() -> frozenset[str]:
    """Kinds of turns on which panel, the customer's account and its card differ on whether the agent was right."""
    return frozenset(kind for each in declared().values() for kind in each.disputed)


def classes(benchmark: str) -> dict[str, tuple[str, str]]:
    """The classes of a benchmark's evaluated turns, in the order in which they are shown: (words, what they mean)."""
    known = declared().get(benchmark)
    if known is None:
        return {}
    names = {**known.misread, **known.deviations, **known.others}
    ordered = {"none": "followed the procedure", **names, **{kind: _KINDS[kind] for kind in ("format", "unscored")}}
    return {kind: (words, known.meanings.get(kind, "")) for kind, words in ordered.items()}


def told_apart(benchmark: str) -> str:
    """A sentence on how the classes of a benchmark's evaluated turns are told apart."""
    known = declared().get(benchmark)
    return known.told_apart if known else ""


def kinds() -> dict[str, str]:
    """Kinds of trouble in words, those of procedures first. `any` stands for those that are a fault of an agent, a
    provider or a customer."""
    return {**_ANY, **misread(), **deviations(), **others(), **_KINDS}


def name_kind(kind: str) -> str:
    """A kind in words."""
    return kinds().get(kind, kind)


def kind_of(where: str, type_: str) -> str:
    """The kind of a stored failure, as the SQL of `troubles` has it."""
    if type_ not in TOOL_ERRORS:
        return where
    return {"tool": type_, "customer": "customer_tool"}.get(where, where)


REASON_STEM = """coalesce(nullif(left(trim(regexp_replace(regexp_replace(regexp_replace(
    split_part(coalesce(verdict_reason, ''), chr(10), 1),
    '([;:]|\\([^()]*\\)$).*$', ''), '''[^'']*''', '…', 'g'), '[0-9]+', '…', 'g')), 160), ''), 'no reason is stored')"""
"""SQL: a verdict's (first) reason without what names one case: what is quoted, numbers, all behind the first colon or
semicolon, and what stands in brackets at its end; short enough for an address."""


def without_figures(column: str) -> str:
    """SQL: a text without what tells one case from another, what stands in brackets at its end and every word that has
    a digit in it. Failures are alike by it, on the page and in reports."""
    return f"regexp_replace(regexp_replace({column}, '\\s*\\([^()]*\\)$', ''), '\\S*[0-9]\\S*', '…', 'g')"


OWNER = "coalesce(nullif(verdict_owner, ''), 'unknown')"
"""SQL: whose doing a verdict was."""
