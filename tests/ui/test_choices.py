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


def several() -> None:
    import streamlit as st

    from cxlab.ui.choices import choose_ids
    from cxlab.ui.labels import label

    known = ["simulated:strong", "simulated:weak"]
    st.caption(", ".join(choose_ids("agents", "Models", known, label, known[:1], "One run each.")))


def test_chips_are_names_and_the_address_holds_their_ids_and_names_that_were_typed() -> None:
    app = AppTest.from_function(several).run(timeout=60)
    (chips,) = app.multiselect
    assert chips.options == ["strong · simulated", "weak · simulated"]
    assert "weak · simulated: simulated:weak" in chips.help.replace("\\", "").replace("\u2060", "")
    assert app.caption[0].value == "simulated:strong"
    assert "agents" not in app.query_params, "the usual ones need no mention"
    chips.set_value(["simulated:weak", "endpoint:local/mine"]).run()
    assert not app.exception
    assert app.query_params["agents"] == ["simulated:weak", "endpoint:local/mine"]
    assert app.caption[0].value == "simulated:weak, endpoint:local/mine"
    # None at all is another choice than the usual ones.
    app.multiselect[0].set_value([]).run()
    assert app.caption[0].value == ""
    # What a list showed is understood as well.
    app = AppTest.from_function(several)
    app.query_params["agents"] = ["weak · simulated", "endpoint:other"]
    assert app.run(timeout=60).caption[0].value == "simulated:weak, endpoint:other"
