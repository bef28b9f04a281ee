"""Words and signs: headings, badges, empty states, and text that must not be rendered."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.charts.theme import short_model
from cxlab.read.results.headlines import say_rules
from cxlab.records.benchmark_card import Card
from cxlab.ui.render import render

Badge = Literal["simulated", "published", "own", "running", "done", "failed", "stopped", "stalled", "warning"]


_BADGES: dict[str, tuple[str, str, str]] = {
    # word -> colour, sign, what it means
    "simulated": (
        "gray",
        "◇",
        "Answers come from a built-in simulation that needs no network, not from a language model.",
    ),
    "published": ("gray", "◆", "Figures as printed in a paper; not measured here."),
    "own": ("blue", "●", "Measured by runs in this store."),
    "running": ("blue", "▶", "Work is going on."),
    "done": ("green", "✓", "Finished."),
    "failed": ("red", "✕", "Ended by a fault."),
    "stopped": ("orange", "■", "Stopped before its end; it can be resumed."),
    "stalled": ("orange", "!", "Its process is gone without a word; it can be resumed."),
    "warning": ("orange", "!", "Look at this before you trust the number."),
}
_STATES: dict[str, tuple[str, str]] = {
    # state of a run -> sign and words
    "running": ("▶", "running"),
    "done": ("✓", "done"),
    "partly": ("◐", "partly"),
    "failed": ("✕", "failed"),
    "stopped": ("■", "stopped"),
    "stalled": ("!", "stalled"),
    "planned": ("…", "planned"),
    "unknown": ("?", "unknown"),
}


def plain(text: object) -> str:
    """Text for a label or caption, with every sign escaped that Markdown could take for more than itself.

    Addresses are not made links and `:names:` no pictures: no escape stops those two, so a character without width
    (word joiner) goes between.
    """
    flat = re.sub(r"\s+", " ", str(text))
    # Only where needed: a name that is copied from a label should be that name.
    flat = re.sub(r":(?=//|[\w+\-/]+:)|(?<=\w)(?=@\w)|(?<=\bwww)(?=\.)", lambda found: found.group() + "\u2060", flat)
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|$~<>:&^=\"'])", r"\\\1", flat)


def chip(text: object, colour: str = "gray", help: str | None = None) -> None:
    """A small coloured mark with any text; `help` is ours, the text may be anybody's."""
    # st.badge escapes brackets by itself.
    st.badge(plain(text).replace("\\[", "[").replace("\\]", "]"), color=cast("Any", colour), help=help)


def say(text: str, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show text as it is, line breaks kept; nothing in it is read as Markdown, HTML, a formula or a link."""
    st.text(text, width=width)


def show_code(
    text: str, wrap: bool = True, width: Literal["stretch", "content"] = "stretch", height: int | None = None
) -> None:
    """Text to copy: an id, a command, what a program or model wrote. As it is, in one width of letter, with a button.

    Not `st.code`: the first on a page makes the browser build the grammars of all programming languages, which takes it
    seconds, and for an id there is nothing to colour. Above `height` pixels it scrolls.
    """
    st.html(render("code", text=text, wrap=wrap, height=height), width=width)


_ACRONYMS = {"f1": "F1", "kb": "KB", "rag": "RAG"}


def label(value: str) -> str:
    """A value for people: "strong · simulated" for a simulated model, "telecom package" for an id."""
    if value.startswith("simulated:"):
        return f"{short_model(value)} · simulated"
    if value.startswith("retriever:"):
        return short_model(value)
    if not re.fullmatch(r"[a-z0-9_]+", value):
        return value
    return " ".join(_ACRONYMS.get(word, word) for word in value.split("_"))


def label_judge(value: str) -> str:
    """A judge for people: "strict · simulated"."""
    return label(value).removeprefix("judge-")


def title(value: str) -> str:
    """The label at the head of a column or figure."""
    shown = label(value)
    return shown[:1].upper() + shown[1:]


def header(title: str, question: str, badges: Sequence[Badge] = ()) -> None:
    """The page's name and, in one line, what it answers."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(title, anchor=False, width="content")
        for word in badges:
            badge(word)
    st.caption(question)


def section(title: str, note: str = "", badges: Sequence[Badge] = ()) -> None:
    """A heading inside a page: a finding or a question, with a line that explains how it is computed."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(title, anchor=False, width="content")
        for word in badges:
            badge(word)
    if note:
        st.caption(note)


def badge(word: Badge, text: str | None = None) -> None:
    """A small mark: a sign and a word, never a colour alone; its tooltip explains it."""
    colour, sign, meaning = _BADGES[word]
    chip(f"{sign} {text or word}", colour, meaning)


def figures(items: Sequence[tuple[str, str, str]]) -> None:
    """A strip of at most four figures: (name, value, how it is computed)."""
    for column, (name, value, meaning) in zip(st.columns(len(items[:4])), items[:4], strict=True):
        column.metric(name, value, help=meaning)


def empty(message: str, button: str | None = None, action: Callable[[], None] | None = None, command: str = "") -> None:
    """What this page would show, and how to fill it: a button, or the exact command."""
    with st.container(border=True):
        st.markdown(message)
        if button and action and st.button(button, type="primary", key=f"cx-empty-{button}"):
            action()
        if command:
            st.caption("or on the command line:" if button and action else "On the command line:")
            show_code(command)


def error(what: str, fix: str = "") -> None:
    """What happened and what to do; the text is shown as it is."""
    st.error(plain(what) + (f"\n\n{plain(fix)}" if fix else ""), icon="⚠")


ROUNDED = "Worked out from unrounded figures, so its last digit may not be that of the figures shown."
"""What a column of differences says, wherever it stands beside the figures that they are of."""
PASSED_OF_ALL = "Passed, in all runs"
"""The success rate over every run of the store, whatever its settings and samples: of all models together, or of what a
page is narrowed to."""
PASSED_COMPARED = "Passed, compared"
"""A model's success rate on a comparison set: on the samples and under the conditions that all its models share."""


def say_no_verdict(attempts: int, unit: tuple[str, str]) -> str:
    """That no attempt of these got a verdict: "none of 10 dialogues got a verdict"."""
    if attempts == 1:
        return f"the one {unit[0]} got no verdict"
    return f"none of {format_count(attempts)} {unit[1]} got a verdict"


def say_passed(card: Card) -> str:
    """How a benchmark's success rate is computed and what passing is, wherever it is shown."""
    share = f"Of the {card.unit[1]} that passed or failed, by the verdict stored with each; those without one are left"
    return f"{share} out. {say_rules(card)}".rstrip()


def describe_state(state: str) -> str:
    """ "✓ done" of a run's state."""
    sign, words = _STATES.get(state, ("?", state))
    return f"{sign} {words}"
