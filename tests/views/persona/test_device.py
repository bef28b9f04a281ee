"""The phone, the orders and the words of a conversation as they are drawn."""

from markupsafe import Markup

from cxlab.benchmarks.mmtaup2.evaluation.adaptations import find
from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.live.live_session import LiveSession
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.views.persona.board import mark_adaptations
from cxlab.views.persona.device import ScreenLine, read_orders, read_screen


def test_a_screen_leaves_the_top_to_the_bar_and_switches_are_switches() -> None:
    assert read_screen("Mobile data: on\nSIM card: in use\nAt the top of the screen: Airplane mode: off") == [
        ScreenLine("Mobile data", "on"),
        ScreenLine("SIM card: in use", ""),
    ]


def test_an_order_shows_what_became_of_it() -> None:
    known = live_tasks.cases("retail")
    case = next(task for id, task in known.items() if id.startswith("[retail]cancel_order#"))
    stage = LiveSession(case, (Variant("easy"),), "simulated:strong", "simulated:customer", 0)
    assert read_orders(stage.players[0].frame) == []
    stage.forward(400, 300.0)
    frame = stage.players[0].frame
    assert frame.passed
    assert (read_orders(frame)[0].was, read_orders(frame)[0].status) == ("pending", "cancelled")
    assert frame.worn == ()  # this customer has all the time in the world


def test_marked_words_stay_text() -> None:
    text = "<b>Take your time</b>, then check the APN."
    shown = mark_adaptations(text, find(text), True)
    assert isinstance(shown, Markup)
    assert shown.striptags() == text
    assert "&lt;b&gt;" in shown
    assert shown.count('class="adapts"') == shown.count('class="strange"') == 1
    assert 'class="strange"' not in mark_adaptations(text, find(text), False)
