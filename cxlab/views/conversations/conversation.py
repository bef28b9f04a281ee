"""Reading one conversation: who says what on which grounds, and how it sounds with its noise on or off."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.records import Message
from cxlab.ui.address import cached, go, here, set_view
from cxlab.ui.app_frame import colours
from cxlab.ui.labels import chip, error, plain, say, section, show_code
from cxlab.ui.looked_for import HELP, say_search
from cxlab.ui.paging import show_pages
from cxlab.ui.place import LONGEST
from cxlab.ui.render import render
from cxlab.ui.tables import column, show_table
from cxlab.ui.transcript_html import mark_sought
from cxlab.views.conversations import queries
from cxlab.views.conversations.queries import CLASSES, NOISES, DatasetConversation, ServedLine
from cxlab.word_forms import NOTHING, Sought

Hear = Callable[[DatasetConversation, frozenset[str]], Sequence[ServedLine]]
"""A conversation with these kinds of noise (of NOISES) and no others."""
_AVATARS = {"customer": "user", "agent": "assistant"}
_SPEAKERS = {"customer": "Customer", "agent": "Agent", "ivr": "Phone menu", "tool": "Tool", "system": "System"}
_CLASS_COLOURS = {"knowledge_base": "blue", "tool_call": "violet", "tool_information_gathering": "orange"}
_ANSWERS = {"Yes": ("green", "✓"), "No": ("red", "✕"), "NA": ("gray", "–")}
_TITLES = {"intent": "About", "persona": "Customer's traits", "modality": "Noise"}


def show_list(view: View) -> None:
    """The conversations under the filters, a page of rows at a time; a click opens one."""
    view = _filters(view)
    frame = cached(queries.listed, view.change(conversation="", tab="", page=1, turn=None))
    if view.search:
        found = queries.look_for(view.dataset, view.search)
        say_search(view.search, found.terms, found.forms, bool(found.conversations))
    section(f"{format_count(frame.height)} {'conversation' if frame.height == 1 else 'conversations'}")
    if frame.is_empty():
        st.info("No conversation fits these filters. Clear one of them in the sidebar.")
        return
    size = queries.ROWS_A_PAGE
    last = -(-frame.height // size)
    shown = frame.slice((min(view.page, last) - 1) * size, size).with_columns(
        pl.col("traits").list.join(", "),
        tell_tools(),
        noises=pl.col("noises").list.eval(pl.element().replace(NOISES)).list.join(", "),
    )
    columns = {
        "opening": column("Problem", help="The customer's problem; where none is noted, the first message."),
        "family": column("About"),
        "traits": column("Customer"),
        "turns": column("Turns", "count", "Messages of customer and agent."),
        "grounded": column("Grounded", "count", "Messages of the agent that rest on articles."),
        "tools": column("Tools", help="The first ones that are called; all of them stand in the conversation."),
        "questions": column("Questions", "count", "Questions on the agent's quality."),
        "noises": column("Noise"),
        "conversation_id": column("Id", "id"),
    }
    columns = {
        name: shape for name, shape in columns.items() if shown[name].n_unique() > 1 or name in ("opening", "turns")
    }
    alt = f"{frame.height} conversations, a page of them."
    picked = show_table(shown, columns, key="conversations", alt=alt, select="single", downloads=False, height=620)
    show_pages(view, frame.height, size, "conversations-page")
    if picked:
        go(view.change(conversation=picked[0]["conversation_id"], page=view.page))


# A row holds three lines, and a name is about one: what is beyond would be cut through its letters.
_TOOLS_NAMED = 2


def tell_tools() -> pl.Expr:
    """The tools of a conversation as its row tells them: the first ones by name, how many more there are."""
    tools = pl.col("tools")
    more = tools.list.len().cast(pl.Int64) - _TOOLS_NAMED
    named = tools.list.head(_TOOLS_NAMED).list.join(", ")
    return pl.when(more > 0).then(pl.format("{} and {} more", named, more)).otherwise(named).alias("tools")


def _filters(view: View) -> View:
    """Search and filters in the sidebar; values that the dataset does not have are dropped."""
    known = cached(queries.facets, view.dataset)
    kept = {name: tuple(each for each in view.values(name) if each in known[name]) for name in _TITLES}
    view = view.narrow(**kept).change(page=view.page)
    with st.sidebar:
        st.session_state["talk-search"] = view.search
        st.text_input(
            "Search in conversations", key="talk-search", placeholder="words in one message", max_chars=LONGEST,
            help=HELP, on_change=lambda: set_view(here().change(search=st.session_state["talk-search"])),
        )  # fmt: skip
        for name, title in _TITLES.items():
            if len(known[name]) > 1 or kept[name]:
                st.session_state[f"talk-{name}"] = list(kept[name])
                st.multiselect(
                    title, known[name], key=f"talk-{name}", placeholder="all", on_change=_changed, args=(name,),
                    format_func=lambda each: NOISES.get(each, each),
                )  # fmt: skip
    return view


def _changed(name: str) -> None:
    set_view(here().narrow(**{name: st.session_state[f"talk-{name}"]}))


def show_one(view: View, talk: DatasetConversation, hear: Hear) -> None:
    """One conversation in full."""
    _style()
    _walk(view, talk.id)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if about := talk.labels.get("about") or talk.labels.get("family"):
            chip(about, "blue", "What it is about.")
        if talk.labels.get("subject"):
            chip(talk.labels["subject"])
        for trait in queries.traits_of(talk.customer):
            chip(trait, "orange", "A trait of the customer.")
    sought = queries.look_for(view.dataset, view.search).sought if view.search else NOTHING
    lines, struck = _switch(talk, hear)
    said, about = st.columns([3, 2], gap="large")
    with said:
        for place, line in enumerate(lines):
            _bubble(talk, line, place, struck, sought)
    with about, st.container(key="cx-about"):
        _persona(talk)
        _quality(talk)


def _walk(view: View, conversation_id: str) -> None:
    """The way up, and to the conversations before and after in the list's order."""
    filters = view.change(conversation="", tab="", page=1, turn=None)
    order = cached(queries.listed, filters)["conversation_id"].to_list()
    at = order.index(conversation_id) if conversation_id in order else -1
    before = order[at - 1] if at > 0 else ""
    after = order[at + 1] if 0 <= at < len(order) - 1 else ""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            if st.button("All conversations", key="talk-up", type="tertiary", shortcut="u"):
                go(view.change(conversation="", page=view.page))
            st.text("›")
            show_code(conversation_id)
        with st.container(horizontal=True, gap="small", width="content"):
            for words, target, shortcut in (("Previous", before, "p"), ("Next", after, "n")):
                if st.button(words, key=f"talk-{shortcut}", shortcut=shortcut, disabled=not target):
                    go(view.change(conversation=target, page=view.page))


def _switch(talk: DatasetConversation, hear: Hear) -> tuple[Sequence[ServedLine], bool]:
    """The switches for its noise; the lines as they leave it, and whether what was said is to be struck out."""
    present = queries.kinds_of(talk.noise)
    if not present:
        st.caption(
            "Put together from the transcripts of the samples, in the published words: what the agent went by, the "
            "customer's persona and the noise were not published."
            if talk.labels.get("source") == "transcripts"
            else "This conversation was stored without noise."
        )
        return hear(talk, frozenset()), False
    struck = False
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption("Noise", width="content")
        on = {
            kind for kind in present if st.toggle(NOISES[kind].capitalize(), True, key=f"{kind}", bind="query-params")
        }
        if "speech" in on:
            tip = "Strikes out what was said where something else was heard."
            struck = st.toggle("Show what was said", True, key="said", help=tip, bind="query-params")
    lines = hear(talk, frozenset(on))
    heard = sum(len(line.changes) for line in lines)
    counts = [f"{format_count(len(lines))} messages", f"{format_count(heard)} misheard" if "speech" in on else ""]
    st.caption(" · ".join(filter(None, counts)))
    return lines, struck


def _bubble(talk: DatasetConversation, line: ServedLine, place: int, struck: bool, sought: Sought) -> None:
    source = talk.messages[line.index] if line.index is not None else None
    if line.role == "tool":
        return  # its result stands with the call
    avatar = _AVATARS.get(line.role)
    bubble = st.chat_message(avatar) if avatar else st.container()
    with bubble, st.container(key=f"cx-say-{line.role}-talk-{place}", gap="xsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            words = [_SPEAKERS.get(line.role, line.role), f"turn {line.turn}" if line.turn else "opening"]
            if line.parts > 1:
                words.append(f"part {line.part} of {line.parts}")
            st.caption(plain(" · ".join(words)), width="content")
            kind = source.data.get("class") if source else None
            if kind and kind != "general":
                chip(CLASSES.get(kind, kind), _CLASS_COLOURS.get(kind, "gray"))
            colour, sign = _ANSWERS["No"]
            for question in talk.broken(line.index):
                chip(f"{sign} {question}", colour, "A quality standard that this message is meant to break.")
        draw_heard(line, struck, sought)
        # What was known of the whole message stands with its last fragment.
        if source is not None and line.part == line.parts:
            _grounds(talk, source, line.index or 0, place)


def draw_heard(line: ServedLine, said: bool, sought: Sought = NOTHING) -> None:
    """The text of a line, with what is `sought` marked; misheard stretches are marked in another way, with what was
    said struck out before them if `said`."""
    if not line.changes and not sought.find(line.text):
        say(line.text)
        return
    parts, at = [], 0
    for start, heard, meant in line.changes:
        before = mark_sought(line.text[at:start], sought)
        parts.append({"before": before, "heard": heard, "meant": meant, "told": mark_sought(meant, sought)})
        at = start + len(heard)
    rest = mark_sought(line.text[at:], sought)
    st.html(render("cxlab.views.conversations:heard", parts=parts, rest=rest, said=said))


def _grounds(talk: DatasetConversation, message: Message, index: int, place: int) -> None:
    """What a message rests on: articles and passages, facts, and the tools it uses."""
    passages = talk.passages(message)
    facts = message.data.get("facts") or []
    details = message.data.get("details") or []
    if passages or facts or details:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if passages:
                words = f"{len(passages)} {'source' if len(passages) == 1 else 'sources'}"
                with st.popover(words, type="tertiary", key=f"talk-sources-{place}"):
                    for rank, each in enumerate(passages, 1):
                        st.markdown(f"**{rank}. {plain(each.title)}** · {plain(each.article_id)}")
                        if each.text:
                            say(each.text)
            if facts:
                words = f"{len(facts)} {'fact' if len(facts) == 1 else 'facts'}"
                with st.popover(words, type="tertiary", key=f"talk-facts-{place}"):
                    for each in facts:
                        say(talk.facts.get(each, str(each)))
            for each in details:
                chip(
                    f"reveals: {str(each).replace('_', ' ')}",
                    "gray",
                    "A detail that was left out of the problem at first.",
                )
    for offset, call in enumerate(message.tool_calls):
        result = _result(talk.messages, index, call.name, offset)
        with st.expander(plain(f"{call.name}({_shorten(call.arguments)}) → {_count(result)}"), type="compact"):
            st.caption("Arguments")
            show_code(call.arguments)
            st.caption("Result")
            show_code(json.dumps(result, indent=1, ensure_ascii=False))


def _result(messages: Sequence[Message], index: int, tool: str, offset: int) -> Any:
    """The result of a message's call: of the tool messages that follow it, the one at its place."""
    found = []
    for message in messages[index + 1 :]:
        if message.role != "tool":
            break
        found.append(message)
    told = found[offset] if offset < len(found) else None
    return told.data.get("result", told.text) if told is not None and told.data.get("tool", tool) == tool else None


def _count(result: Any) -> str:
    if result is None:
        return "no result"
    return (
        f"{len(result)} {'field' if len(result) == 1 else 'fields'}" if isinstance(result, dict | list) else "a result"
    )


def _shorten(text: str, length: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _persona(talk: DatasetConversation) -> None:
    with st.container(border=True):
        st.markdown("**Who talks to whom**")
        if talk.customer.get("problem"):
            st.caption(plain(f"The problem of {talk.customer.get('name') or 'the customer'}"))
            say(str(talk.customer["problem"]))
        if masked := talk.customer.get("masked") or []:
            words = f"{len(masked)} {'detail' if len(masked) == 1 else 'details'} held back at first"
            with st.expander(words, type="compact"):
                for each in masked:
                    told = each if isinstance(each, dict) else {"detail": each}
                    say(
                        f"{told.get('detail', '')}: {told['value']}"
                        if told.get("value")
                        else str(told.get("detail", ""))
                    )
        if details := talk.customer.get("details") or {}:
            with st.expander(f"{len(details)} details of the case", type="compact"):
                say("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in details.items()))
        if life := talk.customer.get("life") or {}:
            with st.expander("Small talk of the customer", type="compact"):
                say("\n".join(f"{name}: {value}" for name, value in life.items()))
        articles = talk.agent.get("articles") or []
        issue = talk.agent.get("issue")
        known = list(dict.fromkeys([*([issue] if issue else []), *articles]))
        if known:
            who = f"The agent, {talk.agent['name']}," if talk.agent.get("name") else "The agent"
            st.caption(plain(f"{who} has {len(known)} {'article' if len(known) == 1 else 'articles'}"))
            for each in known:
                chip(
                    talk.titles.get(each, each),
                    "blue" if each == issue else "gray",
                    "The issue article." if each == issue else None,
                )
        tools = talk.agent.get("tools") or []
        if tools:
            st.caption(f"and {len(tools)} {'tool' if len(tools) == 1 else 'tools'}")
            with st.container(horizontal=True, gap="small"):
                for each in tools:
                    chip(each, "violet")


def _quality(talk: DatasetConversation) -> None:
    questions = talk.labels.get("quality") or []
    if not questions:
        return
    with st.container(border=True):
        st.markdown("**Quality standards**")
        st.caption("The answer that is expected, and the messages that show it.")
        for each in questions:
            colour, sign = _ANSWERS.get(each["answer"], ("gray", "?"))
            with st.container(horizontal=True, gap="small", vertical_alignment="top"):
                chip(f"{sign} {each['answer']}", colour)
                with st.container(gap=None):
                    say(each["question"])
                    turns = [talk.messages[n].turn for n in each.get("evidence") or () if n < len(talk.messages)]
                    if turns:
                        st.caption("turn " + ", ".join(map(str, dict.fromkeys(turns))))


def say_unknown(view: View, problem: str) -> None:
    """A conversation that is not there, and the way out."""
    error(problem)
    if st.button("All conversations", key="talk-none"):
        go(view.change(conversation=""))


def _style() -> None:
    ink = colours()
    st.html(
        f"""<style>
    .cx-heard {{margin: 0; white-space: pre-wrap; overflow-wrap: anywhere;}}
    .cx-heard del {{color: {ink.muted};}}
    .cx-heard mark:not(.cx-sought) {{background: transparent; color: inherit; border-bottom: 2px dotted {ink.warning};}}
    .cx-heard mark.cx-sought {{background: Mark; color: MarkText;}}
    [data-testid="stColumn"]:has(> div .st-key-cx-about) {{position: sticky; top: 3.6rem; align-self: flex-start;
      max-height: calc(100vh - 4.2rem); overflow-y: auto;}}
    </style>"""
    )
