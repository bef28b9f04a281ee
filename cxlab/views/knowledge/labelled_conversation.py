"""One conversation of a dataset on the page Knowledge: what was asked of it, what the run said, evidence marked."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.ui.address import cached, link
from cxlab.ui.labels import chip, error, plain, say
from cxlab.ui.place import go
from cxlab.ui.render import render
from cxlab.views.knowledge import queries_intents
from cxlab.views.knowledge.place import KnowledgePlace

_SIGNS = {"found": "✓ evidence, named", "missed": "✕ evidence, not named", "extra": "! named, no evidence"}
_SPEAKER = re.compile(r"^(Customer|Agent|Tool|System|IVR)\s*:\s*", re.IGNORECASE)


def show_conversation(place: KnowledgePlace) -> None:
    """A sample of the tasks intent and quality in full, what is expected beside what the run gave."""
    if st.button("← Back", key="knowledge-talk-up", type="tertiary", shortcut="u"):
        go(place.change(sample=""))
    try:
        sample = cached(queries_intents.sample, place.dataset, place.sample)
    except UnknownName as unknown:
        error(str(unknown))
        return
    given = cached(queries_intents.answer, place.run, place.sample) if place.run else {}
    said, about = st.columns([3, 2], gap="large")
    with about, st.container(border=True, key="cx-beside"):
        if sample["task"] == "quality":
            lines = _questions(place, sample, given)
        else:
            lines = {}
            _label(sample, given)
        if place.run and given:
            attempt = given.get("attempt_id", "")
            link("Open the attempt", "failures", View(attempt=f"{place.run}/{attempt}"))
        if number := sample["inputs"].get("conversation_id"):
            link(
                "Open the conversation with its noise", "datasets",
                View(dataset=place.dataset, tab="conversations", conversation=str(number)),
            )  # fmt: skip
    with said:
        _lines(_split(sample["inputs"]), lines)


def _label(sample: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    gold, told = sample["expected"].get("label", ""), given.get("output", {}).get("label")
    st.caption(f"Intent by taxonomy {sample['inputs'].get('taxonomy', '')}")
    with st.container(horizontal=True, gap="small"):
        chip(f"is: {gold}", "blue")
        if given:
            right = told == gold
            chip(
                f"{'✓' if right else '✕'} called: {told if told is not None else 'no label'}",
                "green" if right else "red",
            )
    if reason := given.get("output", {}).get("reason"):
        st.caption("The run's reason")
        say(str(reason))
    if not given:
        st.caption("The chosen run did not try this conversation.")


def _questions(place: KnowledgePlace, sample: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """The questions with their answers; a click marks the evidence of one. Returns line id → kind of evidence."""
    asked, gold = sample["inputs"].get("questions", []), sample["expected"]
    told = given.get("output", {})
    answers, shown = told.get("answers") or [], told.get("evidence") or []
    chosen = place.question if place.question in asked else (asked[0] if asked else "")
    st.caption(f"{format_count(len(asked))} questions; pick one to mark its evidence")
    marked: dict[str, str] = {}
    for number, question in enumerate(asked):
        right = _at(gold.get("answers"), number)
        answer = _at(answers, number)
        ok = answer is not None and str(answer).lower() == str(right).lower()
        with st.container(gap=None, border=question == chosen):
            sign = "✓" if ok else "✕" if given else "·"
            if st.button(f"{sign} {plain(question)}", key=f"knowledge-ask-{number}", type="tertiary"):
                go(place.change(question=question))
            words = f"gold {right}" + (f", run {answer if answer is not None else 'no answer'}" if given else "")
            st.caption(plain(words))
            if question == chosen:
                proof = {str(one) for one in _at(gold.get("evidence"), number) or ()}
                named = {str(one) for one in _at(shown, number) or ()}
                marked = {
                    **dict.fromkeys(proof & named, "found"),
                    **dict.fromkeys(proof - named, "missed" if given else "found"),
                    **dict.fromkeys(named - proof, "extra"),
                }
                if reason := _at(told.get("reasons"), number):
                    say(str(reason))
    return marked


def _split(inputs: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(id, who, text) of each line, of either task's form."""
    if "lines" in inputs:
        return [
            (str(line.get("id", "")), str(line.get("who", "")), str(line.get("text", ""))) for line in inputs["lines"]
        ]
    found: list[tuple[str, str, str]] = []
    for number, line in enumerate(str(inputs.get("transcript", "")).splitlines(), start=1):
        speaker = _SPEAKER.match(line)
        found.append(
            (str(number), speaker[1].capitalize() if speaker else "", line[speaker.end() :] if speaker else line)
        )
    return found


def _lines(lines: Sequence[tuple[str, str, str]], marked: Mapping[str, str]) -> None:
    rows = []
    for number, who, text in lines:
        kind = marked.get(number, "")
        rows.append({"kind": kind, "number": number, "who": who, "text": text, "sign": _SIGNS.get(kind, "")})
    st.html(render("cxlab.views.knowledge:lines", lines=rows))


def _at(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list) and place < len(values) else None
