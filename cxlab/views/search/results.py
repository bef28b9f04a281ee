"""What was found: conversations with the messages that matched, and why."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.cdr.retrievers import Hit
from cxlab.benchmarks.cdr.retrievers.explanation import LEAST, NOTHING, Explanation, Movement, explain
from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.records import Message, ToolCall
from cxlab.ui.address import cached
from cxlab.ui.app_frame import colours
from cxlab.ui.labels import chip, plain, section, show_code
from cxlab.ui.looked_for import quote, say_looked_for
from cxlab.ui.paging import show_pages
from cxlab.ui.place import go
from cxlab.ui.transcript_html import TranscriptCall, TranscriptLine, mark_sought, style, to_html
from cxlab.views.search import dialogues, finding
from cxlab.views.search.excerpts import cut_around
from cxlab.views.search.finding import Findings
from cxlab.views.search.place import SIZES, SearchPlace, is_joined
from cxlab.word_forms import NOTHING as NO_WORDS
from cxlab.word_forms import WORD, Sought

ROWS_A_PAGE = 10
# Messages around the ones that matched that a result shows before it is opened.
_AROUND = 1
# Of a whole conversation, the messages that a result shows before it is opened: the first ones where none tells more,
# else so many that tell most.
_FIRST, _TELLING = 4, 3
# Words that are named as a reason.
_NAMED = 8
_SIDES = {"user": "the customer", "assistant": "the agent", None: "anybody"}
_ENDS = {
    ("mood", 1): "a better mood", ("mood", -1): "a worse mood", ("trust", 1): "trust", ("trust", -1): "doubt",
    ("clarity", 1): "clarity", ("clarity", -1): "confusion", ("courtesy", 1): "courtesy",
    ("courtesy", -1): "rudeness", ("detail", 1): "detail", ("detail", -1): "vagueness",
}  # fmt: skip
_WHERE = {
    "start": "at the start", "end": "at the end", "rise": "growing", "grow": "growing, and there in the end",
    "any": "anywhere",
}  # fmt: skip


def say_found(place: SearchPlace, found: Findings) -> None:
    """How many were found among how many, and the ways to fewer and to more."""
    size = place.limit(found.among)
    fewer = [each for each in SIZES if each < size]
    more = [each for each in SIZES if each > size]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if found.scoring is None:
            told = f"**{format_count(len(found.hits))} nearest** of {format_count(found.among)} conversations; "
            told += "found by the index, and " if place.index else ""
            told += "the last of them may have nothing to do with it"
        else:
            many = f"{'at least ' if found.most else ''}{format_count(found.scoring)}"
            told = f"Something speaks for it in **{many}** of {format_count(found.among)} conversations"
            if len(found.hits) < found.scoring:
                told += f"; these are the {format_count(len(found.hits))} best"
        st.markdown(
            told,
            width="content",
        )
        if st.button(
            "Narrow", key="search-narrow", type="tertiary", disabled=not fewer, help="Fewer, that fit better."
        ):
            go(place.change(size=fewer[-1]))
        known = found.among if found.scoring is None else found.scoring
        most = not more or known <= size
        if st.button("Widen", key="search-widen", type="tertiary", disabled=most, help="More, that may fit."):
            go(place.change(size=more[0]))
    if found.moving:
        st.caption(
            "The question asks how something moves, so it is read by who says what and when, and not by its words; "
            "where there is most of it comes first."
        )
    say_looked_for(found.forms.values())
    if found.both is not None and found.scoring:
        few = format_count(found.both) if found.both else "none"
        first = "; those come first" if 0 < found.both < found.scoring else ""
        st.caption(f"In {few} of them the words stand and what is asked of the mood, tone or clarity is read{first}.")


def say_unsaid(place: SearchPlace, found: Findings) -> None:
    """Which words that matter speak for none, as nobody says them or the other side alone; and the ways to
    these, and to other conversations that say them where nothing was found."""
    nobody = [each.word for each in found.unsaid if not each.others]
    if nobody:
        st.markdown(f"No conversation here says {plain(quote(nobody))}.")
    for number, each in enumerate(each for each in found.unsaid if each.others):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            many = "1 conversation" if each.others == 1 else f"{format_count(each.others)} conversations"
            told = f"No {'agent' if each.side == 'assistant' else 'customer'} here says {quote([each.word])}; "
            told += f"in {many} somebody else does."
            st.markdown(plain(told), width="content")
            if st.button(plain(f"Search for {each.word}"), key=f"search-others-{number}", type="tertiary"):
                go(place.ask(each.word))
    if found.hits or not found.unsaid:
        return
    for name, title in cached(finding.find_elsewhere, place.dataset, place.question).items():
        if st.button(plain(f"Said in {title}: ask there"), key=f"search-there-{name}", type="tertiary"):
            go(SearchPlace(View(dataset=name, search=place.question)))
    if count := cached(dialogues.count_dialogues, place.question):
        told = "1 dialogue of a run" if count == 1 else f"{format_count(count)} dialogues of runs"
        if st.button(f"Said in {told}: look there", key="search-there-runs", type="tertiary"):
            go(place.change(source="runs", tab="", like=""))


def show_hits(place: SearchPlace, found: Findings) -> None:
    """A page of the results."""
    style()
    st.html(f"<style>.cx-gap {{color: {colours().muted}; font-size: .78rem; margin: 0 0 .7rem .8rem;}}</style>")
    last = max(1, -(-len(found.hits) // ROWS_A_PAGE))
    start = (min(place.view.page, last) - 1) * ROWS_A_PAGE
    for rank, hit in enumerate(found.hits[start : start + ROWS_A_PAGE], start + 1):
        _show_hit(place, found, hit, rank)
    show_pages(place.view, len(found.hits), ROWS_A_PAGE, "search-page")
    if found.weaker:
        st.divider()
        section("Weaker: the nearest of the others", "Nothing in these speaks plainly for it; read before you count.")
        for rank, hit in enumerate(found.weaker, len(found.hits) + 1):
            _show_hit(place, found, hit, rank)


def _show_hit(place: SearchPlace, found: Findings, hit: Hit, rank: int) -> None:
    why = explain(found.asked, hit.conversation, hit.unit, found.language)
    sought = Sought(frozenset(why.words))
    messages = hit.conversation.messages
    whole = hit.unit.first == 0 and hit.unit.last >= len(messages) - 1
    with st.container(border=True, key=f"search-hit-{rank}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{rank}**")
            show_code(hit.conversation.id, width="content")
            st.caption(
                plain(_describe_place(hit, len(messages), whole, not is_joined(place.retriever))),
                width="content",
            )
        _show_why(place, why)
        if whole:
            matched: Sequence[int] = find_telling(messages, why)
            shown = sorted({0, *matched, *([] if matched else range(min(_FIRST, len(messages))))})
        else:
            matched = range(hit.unit.first, hit.unit.last + 1)
            shown = list(range(max(0, matched[0] - _AROUND), min(len(messages), matched[-1] + 1 + _AROUND)))
        st.html(draw_messages(messages, shown, matched, sought))
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            if st.button("More like this", key=f"search-like-{rank}", type="tertiary"):
                go(place.change(like=f"{hit.unit.first}~{hit.conversation.id}", tab=""))
        if len(shown) < len(messages):
            with st.expander(f"All {len(messages)} messages", type="compact"):
                st.html(draw_messages(messages, range(len(messages)), matched, sought, cut=False))


def find_telling(messages: Sequence[Message], why: Explanation) -> list[int]:
    """Of a conversation that was found as a whole the messages that tell most: for each state that the question names
    those nearest to it (where it is to move, to either end); where it names none those with most of its words. Each of
    the words that are named as a reason stands in one of them."""
    found: set[int] = set()
    for each in why.movements:
        ends = (1, -1) if each.where in ("rise", "grow") else (1,)
        for end in ends:
            levels = sorted(each.levels, key=lambda level: -end * each.sign * level.value)
            found |= {one.place for one in levels[:_TELLING] if end * each.sign * one.value >= LEAST}
    held = {place: {*why.words} & {*WORD.findall(said.text.casefold())} for place, said in enumerate(messages)}
    of_side = {at for at in held if not why.side or SPEAKERS[messages[at].role] == why.side}
    # Those of the side that is meant first.
    order = sorted(held, key=lambda at: (at not in of_side, -len(held[at]), at))
    if not found:
        found = {*[at for at in order if held[at] and (at in of_side or not why.of_side)][:_TELLING]}
    for word in why.words[:_NAMED]:
        if not any(word in held[at] for at in found):
            found |= {*[at for at in order if word in held[at]][:1]}
    return sorted(found)


def _describe_place(hit: Hit, count: int, whole: bool, scored: bool) -> str:
    """Where it matched; with its score where that is one, and no sum of two retrievers' ranks."""
    first, last = hit.unit.first + 1, hit.unit.last + 1
    score = f" · score {hit.score:.3g}" if scored else ""
    if whole:
        return f"{format_count(count)} messages, read as a whole{score}"
    where = f"message {first}" if first == last else f"messages {first} to {last}"
    return f"matched in {where} of {format_count(count)}{score}"


def _show_why(place: SearchPlace, why: Explanation) -> None:
    """Words, whose they are, what moves; in one line of marks."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if why.words:
            told = ", ".join(why.words[:_NAMED]) + (" …" if len(why.words) > _NAMED else "")
            chip(f"words: {told}", "gray", "Words of the question that stand in what matched; marked below.")
        if why.side and not place.like:
            chip(*_describe_side(why))
        for each in _one_a_dimension(why.movements) if not place.like else ():
            # What does not speak for it is no reason, and says so.
            chip(_describe_movement(each), "violet" if each.speaks_for_it else "gray", _explain_movement(each))
        if not why.speaks_for_it and not place.like:
            st.caption("Found by likeness alone.", width="content")


def _one_a_dimension(movements: Sequence[Movement]) -> Sequence[Movement]:
    """From confusion to clarity is one way: told by where it is to lead."""
    return list({each.dimension: each for each in movements}.values())


def _describe_side(why: Explanation) -> tuple[str, str, str]:
    """Whose messages the question is about, and whether the words that matched are theirs."""
    side, tip = _SIDES[why.side], "Whose messages the question is about"
    if why.words and not why.of_side:
        return f"not said by {side}", "orange", f"{tip}; the words that matched are the other side's."
    return f"said by {side}", "blue", f"{tip}."


def _describe_movement(each: Movement) -> str:
    name = _ENDS[each.dimension, each.sign]
    if not each.speaks_for_it:
        return f"not read in it: {name}{'' if each.where == 'any' else f', {_WHERE[each.where]}'}"
    if each.where == "any" or len(each.levels) < 2:
        return f"{name}: {_signed(each.sign * each.level)} of 1"
    return f"{name}: {_signed(each.sign * each.early)} → {_signed(each.sign * each.late)} of 1"


def _signed(value: float) -> str:
    """0.74; −0.25; 0.00 without a sign."""
    return f"{value:.2f}".replace("-", "−") if abs(value) >= NOTHING else "0.00"


def _explain_movement(each: Movement) -> str:
    return (
        f"The question asks for {_ENDS[each.dimension, each.sign]}, {_WHERE[each.where]}. Read off words, from -1 to 1 "
        "towards it: the mean of the first and of the second half of that side's messages. A rule of words sees no "
        "irony and no mood that is not said."
    )


def draw_messages(
    messages: Sequence[Message],
    shown: Sequence[int],
    matched: Sequence[int] = (),
    sought: Sought = NO_WORDS,
    cut: bool = True,
) -> str:
    """Messages as HTML, those that matched set off and what was sought marked in all of them; gaps are told. What a
    tool gave back stands with its call.

    `cut`: long messages are shortened.
    """
    parts: list[Markup] = []
    results = _find_results(messages)
    # Results that are drawn with a call, by the places of the messages that hold both.
    drawn = {result: place for (place, _), result in results.items() if place in shown}
    hidden = [place for place in range(len(messages)) if place not in shown and place not in drawn]
    before = -1
    for place in shown:
        if place in drawn:
            continue
        if gap := sum(before < each < place for each in hidden):
            parts.append(_draw_gap(gap))
        before = place
        message = messages[place]
        text = cut_around(message.text, sought if place in matched else NO_WORDS) if cut else message.text
        calls = tuple(
            TranscriptCall(
                message.role,
                call.name,
                call.arguments,
                id=call.id,
                result=messages[results[place, number]].text if (place, number) in results else None,
            )
            for number, call in enumerate(message.tool_calls)
        )
        found = place in matched or any(drawn.get(each) == place for each in matched)
        line = TranscriptLine(message.role, message.turn, text, calls)
        parts.append(to_html(line, mark_sought(text, sought), asked=found))
    if before >= 0 and (gap := sum(each > before for each in hidden)):
        parts.append(_draw_gap(gap))
    return "".join(parts)


def _find_results(messages: Sequence[Message]) -> dict[tuple[int, int], int]:
    """(place of a message, number of its call) → place of what came back: by the call's id, else by the tool's name,
    else (nothing is noted) the next call that waits for one."""
    found: dict[tuple[int, int], int] = {}
    waiting: dict[tuple[int, int], ToolCall] = {}
    for place, message in enumerate(messages):
        waiting |= {(place, number): call for number, call in enumerate(message.tool_calls)}
        if message.role != "tool":
            continue
        id, tool = message.data.get("call"), message.data.get("tool")
        fits = (at for at, call in waiting.items() if (call.id == id if id else call.name == tool if tool else True))
        if (at := next(fits, None)) is not None:
            found[at] = place
            del waiting[at]
    return found


def _draw_gap(count: int) -> Markup:
    return Markup('<p class="cx-gap">… {} {} …</p>').format(count, "message" if count == 1 else "messages")
