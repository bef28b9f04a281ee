"""Knowledge, first tab: one finding, with what shows it, the conversations it touched, and what people decided."""

import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.cxmarena.evaluation.knowledge_health import Suspicion
from cxlab.charts.numbers import format_count, format_time
from cxlab.read import View
from cxlab.ui.address import cached, link
from cxlab.ui.annotations import STATES, ask_author, author, decide, withdraw
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import chip, label, plain, say
from cxlab.ui.place import go
from cxlab.views.knowledge import queries_health
from cxlab.views.knowledge.article_html import mark_differences
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace
from cxlab.views.knowledge.suspicions import (
    KINDS,
    ONE,
    ReviewedSuspicion,
    find_passages,
    is_listed,
    say_why,
    titles_of,
    to_row,
)

_MOST_CONVERSATIONS, _MOST_PASSAGES = 12, 4
_DECIDED = "cx-knowledge-decided"
"""In the session: what was decided last, (its id, dataset, key, words), to be told and taken back further on."""


def show_finding(place: KnowledgePlace, each: ReviewedSuspicion, found: list[ReviewedSuspicion]) -> None:
    """One finding: what shows it, the conversations it touched, and what people decided."""
    one = each.suspicion
    before, after = _neighbours(place, one, found)
    _walk(place, before, after)
    show_decided(place)
    titles = titles_of(place.dataset, [each])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(to_row(each, titles)["what"]), anchor=False, width="content")
        chip(ONE[one.kind], "orange" if each.state == "open" else "gray", KINDS[one.kind][1])
        if one.known:
            chip("the dataset was made so", "blue")
        for model in each.models:
            chip(f"named by {label(model)}")
    passages = list(one.passages) or cached(find_passages, place.dataset, one)
    collection = f"Collection: {CORPORA.get(one.corpus, one.corpus).lower()}."
    st.caption(plain(collection if passages else f"{say_why(one)}. {collection}"))
    for mine, theirs in passages[:_MOST_PASSAGES]:
        sides = st.columns(2, gap="large")
        for side, made in zip(sides, mark_differences(mine, theirs), strict=True):
            side.html(Markup('<div class="cx-marked cx-quote">{}</div>').format(made))
    with st.container(horizontal=True, gap="small"):
        for id in one.articles:
            words = f"Read {titles.get((one.corpus, id), id)}"
            if st.button(plain(words), key=f"knowledge-finding-read-{id}", type="tertiary"):
                go(place.change(tab="articles", corpus=one.corpus, article=id, finding=""))
    if each.models:
        kind = "contradictory" if one.kind == "contradiction" else "similar"
        if st.button("Set the two articles side by side", key="knowledge-finding-pair", type="tertiary"):
            go(place.change(tab="pairs", pairs=kind, pair=one.articles, finding=""))
    talks, beside = st.columns([3, 2], gap="large")
    with talks:
        _show_conversations(place, each)
    with beside:
        _show_decision(place, each, to_row(each, titles)["what"], after or before)


def _neighbours(place: KnowledgePlace, one: Suspicion, found: list[ReviewedSuspicion]) -> tuple[str, str]:
    """The listed findings before and after one, by their keys; "" where there is none. The one itself need not be
    listed any more: a decision takes it off the list."""
    at = next(place for place, each in enumerate(found) if each.suspicion.key == one.key)
    before = [each.suspicion.key for each in found[:at] if is_listed(place, each)]
    after = [each.suspicion.key for each in found[at + 1 :] if is_listed(place, each)]
    return (before or [""])[-1], (after or [""])[0]


def _walk(place: KnowledgePlace, before: str, after: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("← All findings", key="knowledge-findings-up", type="tertiary", shortcut="u"):
            go(place.change(finding=""))
        for words, key, shortcut in (("Previous", before, "p"), ("Next", after, "n")):
            if st.button(words, key=f"knowledge-findings-{shortcut}", shortcut=shortcut, disabled=not key):
                go(place.change(finding=key))


def _show_conversations(place: KnowledgePlace, each: ReviewedSuspicion) -> None:
    n = len(each.conversations)
    st.markdown(f"**{format_count(n)} {'conversation' if n == 1 else 'conversations'} touched**")
    if not n:
        st.caption("No conversation of this dataset rests on it.")
    shown = each.conversations[:_MOST_CONVERSATIONS]
    for name, words in cached(queries_health.first_words, place.dataset, shown).items():
        link(plain(words), "datasets", View(dataset=place.dataset, tab="conversations", conversation=name))
    if n > _MOST_CONVERSATIONS:
        st.caption(f"and {format_count(n - _MOST_CONVERSATIONS)} more")


def show_decided(place: KnowledgePlace) -> None:
    made = st.session_state.get(_DECIDED)
    if not made or made[1] != place.dataset or made[2] == place.finding:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"✓ {made[3]}"), width="content")
        if st.button("Take it back", key="knowledge-decided-undo", type="tertiary"):
            with guarded():
                withdraw(*made[:3])
                del st.session_state[_DECIDED]
                go(place.change(finding=made[2]))


def _show_decision(place: KnowledgePlace, each: ReviewedSuspicion, what: str, then: str) -> None:
    """What people decided, and the form; once it is decided one goes on to the finding `then`."""
    key, made = each.suspicion.key, each.decision
    with st.container(border=True):
        st.markdown("**What became of it**")
        if made:
            when = format_time(made["created"], zone())
            st.caption(plain(f"{str(made['state']).capitalize()} by {made['author']}, {when}"))
            if made["note"]:
                say(str(made["note"]))
            if st.button("Undo", key="knowledge-finding-undo", type="tertiary", help="Takes it back for everybody."):
                with guarded():
                    withdraw(str(made["id"]), place.dataset, key)
                    st.rerun()
        with st.form("knowledge-finding", clear_on_submit=True, border=False):
            note = st.text_area("Note", height=80, max_chars=4000, placeholder="why, or what is to be done")
            with st.container(horizontal=True, gap="small"):
                words = {"resolved": "Resolve", "dismissed": "Dismiss", "open": "Open again" if made else "Note only"}
                for state in STATES:
                    if st.form_submit_button(words[state], type="primary" if state == "resolved" else "secondary"):
                        with guarded():
                            id = decide(place.dataset, key, state, note)
                            if state == "open" or place.status:
                                st.rerun()
                            words_ = f"{state.capitalize()}: {what}"
                            st.session_state[_DECIDED] = (id, place.dataset, key, words_)
                            go(place.change(finding=then))
        with st.popover(f"Writing as {plain(author())}", type="tertiary"):
            ask_author()
