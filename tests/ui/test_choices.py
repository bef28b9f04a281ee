"""What is chosen from: a name is shown as it is, whatever Markdown would make of it."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from cxlab.read import View
    from cxlab.ui.choices import choose, choose_id

    names = {"one": "endpoint:small", "two": "endpoint:large *new*"}
    st.caption(choose(View(), "baseline", "Model", list(names), names=names, style="segments"))
    st.caption(choose_id("side", "Side", list(names), names.__getitem__, style="segments"))


def test_no_part_of_a_name_is_taken_for_markup() -> None:
    # ":small" is a size to Streamlit, which drew "endpoint" alone.
    app = AppTest.from_function(page).run(timeout=60)
    assert not app.exception
    for shown in app.button_group:
        assert shown.options == [r"endpoint\:small", r"endpoint\:large \*new\*"]
