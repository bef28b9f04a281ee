"""The question: typed, built from a template, or suggested for these conversations."""

from __future__ import annotations

import streamlit as st

from cxlab.benchmarks.cdr.corpus.written import AREAS
from cxlab.benchmarks.cdr.queries.templates import Template, load_templates
from cxlab.benchmarks.cdr.retrievers.suggestions import suggest
from cxlab.errors import BadOption
from cxlab.ui.address import cached
from cxlab.ui.labels import plain
from cxlab.ui.place import LONGEST, go, move
from cxlab.views.search.place import SearchPlace

_WAITS = "your conversations are coming in: ask when they are there"
EXAMPLE = "users who grow more frustrated over time"


def ask_question(place: SearchPlace, waits: bool = False) -> None:
    """The field, and beside it the ways to a question for who does not know what to ask. While conversations come in
    it `waits`: the page then goes on to them, and what was typed till then would be lost."""
    key = "search-question"
    st.session_state[key] = place.view.search

    def changed() -> None:
        move(place.now().ask(str(st.session_state[key] or "")))

    field, more, ideas = st.columns([6, 1.5, 1.5], vertical_alignment="bottom")
    with field:
        st.text_input(
            "Question", key=key, on_change=changed, max_chars=LONGEST, label_visibility="collapsed", disabled=waits,
            placeholder=_WAITS if waits else f"for example: {EXAMPLE}",
        )  # fmt: skip
    with more, st.popover("Build one", width="stretch", key="search-build"):
        _build(place)
    with ideas, st.popover("Suggestions", width="stretch", key="search-ideas"):
        show_ideas(place, "search-idea")


def _build(place: SearchPlace) -> None:
    """Area, template, then a value for each of its slots."""
    templates = load_templates().templates
    area = st.selectbox("Area", list(AREAS), format_func=AREAS.__getitem__, key="search-area")
    known = {_write(each): each for each in templates if each.area == area}
    chosen = st.selectbox("Template", list(known), key=f"search-template-{area}")
    if chosen is None:
        return
    template = known[chosen]
    values = []
    for place_of, slot in enumerate(template.slots):
        key = f"search-slot-{templates.index(template)}-{place_of}"
        values.append(str(st.selectbox(slot.placeholder.capitalize(), slot.values, key=key)))
    try:
        text = template.fill(values).text
    except BadOption:
        st.caption("The same value stands twice: choose another one.")
        return
    st.caption("Your question")
    st.text(text)
    if st.button("Ask this", type="primary", key="search-ask-built", disabled=len(text) > LONGEST):
        go(place.ask(text))


def _write(template: Template) -> str:
    """The template with its slots in words."""
    names = [f"[{slot.placeholder}]" for slot in template.slots]
    text = template.text
    for name in names:
        start, end = text.index("{"), text.index("}")
        text = text[:start] + name + text[end + 1 :]
    return text


def show_ideas(place: SearchPlace, key: str) -> None:
    """Questions that some conversations of the set answer better than the others, to be asked by a click."""
    st.caption("Questions that set some of these conversations apart from the rest, best first.")
    with st.spinner("Reading the conversations"):
        found = cached(suggest, place.dataset)
    with st.container(horizontal=True, gap="small"):
        for number, each in enumerate(found):
            if st.button(plain(each), key=f"{key}-{number}"):
                go(place.ask(each))
    if not found:
        st.caption("None stands out. Ask in your own words.")
