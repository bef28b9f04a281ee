"""Lines of two dialogues beside each other: nothing lost, every difference marked, text stays text."""

import html
import re
import time
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.ui import transcript_html
from cxlab.ui.render import render
from cxlab.ui.transcript_html import TranscriptLine, mark_changes, read_lines, to_html
from cxlab.views.compare import side_by_side
from cxlab.views.compare.alignment import align, differs
from tests.stores.judged import HOSTILE

TEXTS = st.text(alphabet="ab <>&'\"\n1", max_size=30)
LINES = st.builds(
    TranscriptLine, role=st.sampled_from(["agent", "customer"]), turn=st.integers(0, 9), text=TEXTS
)  # fmt: skip


def bare(marked: str) -> str:
    """What a browser would show of our marks; anything else that is a tag stays, and spoils the comparison."""
    return html.unescape(re.sub(r"</?mark>", "", marked))


@given(first=TEXTS, second=TEXTS)
def test_marking_changes_no_text_and_marks_exactly_what_differs(first: str, second: str) -> None:
    left, right = mark_changes(first, second)
    assert (bare(left), bare(right)) == (first, second)
    # What is left without the marks is common to both; spaces are not worth a mark of their own.
    one, two = (re.sub(r"<mark>.*?</mark>|\s", "", side, flags=re.DOTALL) for side in (left, right))
    assert one == two
    if first == second:
        assert "<mark>" not in left + right


@settings(max_examples=60)
@given(first=st.lists(LINES, max_size=9), second=st.lists(LINES, max_size=9))
def test_alignment_keeps_every_line_once_in_order_and_pairs_one_speaker(
    first: list[TranscriptLine], second: list[TranscriptLine]
) -> None:
    pairs = align(first, second)
    assert [one for one, _ in pairs if one is not None] == first
    assert [two for _, two in pairs if two is not None] == second
    assert all(one.role == two.role for one, two in pairs if one and two)
    same = [TranscriptLine(each.role, each.turn, each.text) for each in first]
    assert not any(map(differs, align(first, same)))


def test_a_line_that_only_one_side_has_does_not_shift_the_rest() -> None:
    said = [TranscriptLine("customer", i, f"question {i}") for i in range(4)]
    more = [
        *said[:2],
        TranscriptLine("customer", 9, "and something else entirely"),
        *said[2:3],
        TranscriptLine("customer", 3, "question x"),
    ]
    pairs = align(said, more)
    assert [(one and one.text, two and two.text) for one, two in pairs if differs((one, two))] == [
        (None, "and something else entirely"), ("question 3", "question x"),
    ]  # fmt: skip


def test_long_dialogues_are_aligned_at_once() -> None:
    one = [TranscriptLine("agent" if i % 2 else "customer", i, f"line {i} of this dialogue " * 6) for i in range(400)]
    two = [TranscriptLine(line.role, line.turn, line.text.replace("1", "one")) for line in one]
    start = time.process_time()
    pairs = align(one, two)
    marked = [mark_changes(a.text, b.text) for a, b in pairs if a and b and differs((a, b))]
    assert len(marked) > 100
    # Of this process, and a hundred times what it takes: only what is quadratic fails.
    assert time.process_time() - start < 20


def test_a_call_stands_with_its_own_result_and_the_rest_is_kept() -> None:
    def tool(call: str, text: str, **data: Any) -> dict[str, Any]:
        return {"role": "tool", "turn": 1, "text": text, "tool_calls": None, "data": {"call": call, **data}}

    calls = [{"id": "a", "name": "find", "arguments": "{}"}, {"id": "b", "name": "pay", "arguments": HOSTILE}]
    found = read_lines([
        {"role": "agent", "turn": 1, "text": "", "tool_calls": calls, "data": {"delivered": False}},
        tool("b", HOSTILE, kind="refused", side="agent"),
        tool("a", "[1]", kind="ok", side="agent", changed=True),
        tool("z", "nobody asked"),
    ])  # fmt: skip
    first, stray = found
    assert [(call.name, call.kind, call.result) for call in first.calls] == [
        ("find", "ok", "[1]"), ("pay", "refused", HOSTILE),
    ]  # fmt: skip
    assert (stray.role, stray.text) == ("tool", "nobody asked")
    drawn = to_html(first)
    assert "refused" in drawn
    assert "changed something" in drawn
    assert "<img" not in drawn
    assert "<script" not in drawn


def test_what_was_spoken_shows_what_was_heard_and_on_demand_all_three() -> None:
    data = {"meant": "*I* see 5 bars", "ideal": "I see 5 bars", "heard": "I sea 5 bars", "wer": 0.25, "errors": [["x"]]}
    (line,) = read_lines([{"role": "customer", "turn": 2, "text": "I sea 5 bars", "tool_calls": None, "data": data}])
    assert '<del>see</del> <mark title="said: see">sea</mark>' in to_html(line)
    drawn = to_html(line, transcripts=True)
    assert [drawn.count(f">{way}</span>") for way in ("meant", "ideal", "heard")] == [1, 1, 1]
    assert "*I* see 5 bars" in drawn
    assert transcript_html.mark_heard("a b", "a b") == "a b"


def test_the_turn_of_a_verdict_is_marked_on_its_own_side_and_can_be_jumped_to() -> None:
    def line(role: str, turn: int) -> TranscriptLine:
        return TranscriptLine(role, turn, f"{role} {turn}")

    def side(verdict: str, turn: int | None) -> Any:
        attempt = {"verdict": verdict, "verdict_turn": turn, "verdict_reason": "<b>left_the way</b>"}
        return SimpleNamespace(attempt=attempt)

    first = [line("customer", 1), line("agent", 1), line("customer", 2), line("agent", 2)]
    second = [line("customer", 1), line("agent", 1), line("customer", 2)]
    told = [side_by_side.verdict_turn(side("failed", 2), "curt"), side_by_side.verdict_turn(side("unscored", 2), "odd")]
    assert told[0] == (2, "✕ The verdict on curt stands on this turn: <b>“left the” way</b>",
                       "Turn 2: where curt failed")  # fmt: skip
    assert told[1]
    assert told[1][2] == "Turn 2: where odd got no verdict"
    assert side_by_side.verdict_turn(side("passed", 2), "strong") is None
    assert side_by_side.verdict_turn(side("failed", None), "strong") is None
    pairs = align(first, second)
    marks = side_by_side.place_verdicts(pairs, told)
    # The agent's line of that turn, or the customer's where the agent says nothing more.
    assert {(pair[0] or pair[1], place) for pair, row in zip(pairs, marks, strict=True)
            for place, words in enumerate(row) if words} == {(first[3], 0), (second[2], 1)}  # fmt: skip
    assert side_by_side.place_verdicts(pairs, [None, None]) == [["", ""]] * len(pairs)
    cells = [{"place": 0, "sides": [("", words) for words in row]} for row in marks]
    drawn = render("cxlab.views.compare:pairs", places=0, pairs=cells, jumps=[(0, "Turn 2 <x>")])
    assert 'class="verdict" data-side="0"' in drawn
    assert "&lt;b&gt;“left the” way" in drawn
    assert "Turn 2 &lt;x&gt;" in drawn
