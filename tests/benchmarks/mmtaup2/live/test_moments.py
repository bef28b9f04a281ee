"""Conversations cut into moments by their tools, and set side by side."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.live import live_tasks, moments
from cxlab.benchmarks.mmtaup2.live.moments import END, OPENING, Moment, align, split
from cxlab.records import Message


def said(role: str, text: str, turn: int = 1) -> Message:
    return Message(role=role, text=text, turn=turn)


def used(side: str, tool: str) -> Message:
    return Message(role="tool", text="", turn=1, data={"side": side, "tool": tool, "kind": "ok"})


TALK = [
    said("agent", "Hello", 0),
    said("customer", "No signal"),
    said("agent", "Your number?"),
    said("customer", "555"),
    used("agent", "get_customer_by_phone"),
    said("agent", "What does the status bar show?"),
    said("customer", "What is a status bar?"),
    said("agent", "The row at the top of the screen."),
    used("customer", "check_status_bar"),
    said("customer", "A plane."),
    used("agent", "get_data_usage"),
    said("agent", "Goodbye"),
    said("customer", "Bye"),
]


def test_what_is_asked_for_belongs_to_the_tool_that_answers_it() -> None:
    titles = [(one.title, one.start, one.end) for one in split(TALK, over=True)]
    assert titles == [
        (OPENING, 0, 2),
        ("Who is calling", 2, 5),
        ("Signal and airplane mode", 5, 10),
        ("Data left", 10, 11),
        (END, 11, 13),
    ]
    assert split(TALK[:7], over=False)[-1].title == moments.ASKING
    assert split([], over=False) == []
    # Two things asked for at once are one exchange.
    both = [*TALK[:8], used("customer", "check_status_bar"), used("customer", "toggle_data"), said("customer", "Done.")]
    assert split(both, over=False)[-1] == Moment("Signal and airplane mode", 5, 11)


def test_every_tool_of_both_worlds_has_a_moment_or_is_none_of_the_talk() -> None:
    for domain in worlds.DOMAINS:
        world = tasks.begin(next(iter(live_tasks.cases(domain).values())))
        named = {tool["function"]["name"] for side in ("agent", "customer") for tool in world.tools(side)}
        assert named - moments.MOMENTS.keys() <= {"calculate"}


TITLES = st.lists(st.lists(st.sampled_from("abcd"), max_size=7), min_size=1, max_size=3)


@settings(max_examples=25)
@given(TITLES)
def test_each_variant_keeps_its_order_and_like_stands_with_like(variants: list[list[str]]) -> None:
    made = [[Moment(title, at, at + 1) for at, title in enumerate(each)] for each in variants]
    rows = align(made)
    for place, own in enumerate(made):
        assert [cells[place] for _, cells in rows if cells[place] is not None] == own
    assert all(one is None or one.title == title for title, cells in rows for one in cells)
    assert all(any(cells) for _, cells in rows)
    if len(set(map(tuple, variants))) == 1:
        assert len(rows) == len(variants[0])
