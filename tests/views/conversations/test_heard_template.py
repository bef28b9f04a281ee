"""Misheard words as HTML: our marks around text that stays text."""

from cxlab.ui.render import render

EVIL = '<img src=x onerror=alert(1)>"'


def draw(said: bool) -> str:
    parts = [{"before": f"a {EVIL} ", "heard": EVIL, "meant": EVIL}, {"before": " b ", "heard": "", "meant": ""}]
    return str(render("cxlab.views.conversations:heard", parts=parts, rest=f" end {EVIL}", said=said))


def test_what_was_said_and_heard_is_text() -> None:
    found = draw(said=True)
    assert "<img" not in found
    assert found.count("&lt;img src=x onerror=alert(1)&gt;") == 5
    assert found.count("<del>") == 1  # of what was not said nothing is struck out
    assert 'title="said: nothing"' in found
    assert '<span aria-label="nothing">∅</span>' in found
    assert found == f'<p class="cx-heard">{found[20:-4]}</p>'


def test_what_was_said_is_struck_out_only_where_it_is_asked_for() -> None:
    assert "<del>" not in draw(said=False)
    assert draw(said=False).count("<mark") == 2
