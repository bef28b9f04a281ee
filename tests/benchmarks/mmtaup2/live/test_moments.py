"""Conversations cut into moments by their tools, and set side by side."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.benchmarks.mmtaup2.live import live_tasks, moments
from cxlab.benchmarks.mmtaup2.live.moments import END, OPENING, Moment, align, split
from cxlab.records import Message, ToolCall


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
        assert named - moments.MOMENTS.keys() <= {"calculate", moments.LOOK_UP}


def test_what_was_asked_and_refused_is_not_the_hand_over_that_came_of_it() -> None:
    asks = Message(role="agent", text="A bill is due. Shall I?", turn=2, data={"confirms": "send_payment_request"})
    refused = [*TALK[:5], asks, said("customer", "No."), used("agent", TRANSFER), said("agent", "A colleague.")]
    titles = [(one.title, one.start) for one in split(refused, over=True)]
    assert titles[2:] == [("The bill", 5), ("Handing over", 7), (END, 8)]
    plain = [*TALK[:5], said("agent", "What is the PIN?"), *refused[6:]]
    assert [one.title for one in split(plain, over=True)][2:] == [moments.ASKING, "Handing over", END]


def test_a_look_up_by_id_is_about_what_the_id_is_of() -> None:
    def looked_up(**given: str) -> Message:
        data = {"side": "agent", "tool": moments.LOOK_UP, "kind": "ok", "arguments": given}
        return Message(role="tool", text="", turn=1, data=data)

    paid = [*TALK[:5], said("agent", "Please pay."), used("customer", "make_payment"), said("customer", "Done.")]
    named = [split([*paid, looked_up(id=id)], over=False)[-1] for id in ("B928281", "L40269", "C30181")]
    assert [(one.title, one.start) for one in named] == [("The bill", 5), ("The line", 8), ("Who is calling", 8)]
    # Without its id it is about what the exchange is about; as it was emitted it is text.
    assert split([*paid, looked_up()], over=False)[-1] == Moment("The bill", 5, 9)
    call = ToolCall(id="1", name=moments.LOOK_UP, arguments='{"id": "B928281"}')
    emitted = Message(role="agent", text="", turn=1, tool_calls=(call,))
    assert split([*paid, emitted], over=False)[-1] == Moment("The bill", 5, 9)


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
