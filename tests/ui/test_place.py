"""Where one is on a page that has keys of its own."""

from typing import Any

from streamlit.testing.v1 import AppTest


def draw() -> None:
    """A page with a place of its own: what it reads from the address, and what a choice writes there."""
    from dataclasses import dataclass

    import streamlit as st

    from cxlab.read import View
    from cxlab.ui.place import PagePlace, find_words, pick

    @dataclass(frozen=True)
    class Shop(PagePlace):
        prefix = "shop"
        longest = {"note": 400}
        floor: str = ""
        find: str = ""
        note: str = ""
        size: int = 10
        path: tuple[str, ...] = ()

    place = Shop.read(View.from_query({key: st.query_params.get_all(key) for key in st.query_params}))
    st.json({name: getattr(place, name) for name in Shop.own()})
    pick(place, "floor", "Floor", ["ground", "first"], {"ground": "Ground"}, clears=("find", "path"))
    pick(place, "tasks", "Task", ["", "buy"], clears=("note",))
    find_words(place, "Search")


def open_shop(**query: Any) -> AppTest:
    app = AppTest.from_function(draw)
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def test_what_is_too_long_to_be_ours_is_ignored_and_a_list_stays_a_list(empty_home: object) -> None:
    app = open_shop(floor="x" * 201, note="n" * 300, path=["a", "b", "a\0"], find=["old", "new"])
    assert not app.exception
    read = app.json[0].value
    for part in ('"floor":""', '"find":"new"', '"path":["a","b"]', "n" * 300):
        assert part in read.replace(": ", ":").replace(", ", ",")


def test_a_choice_is_written_with_what_it_makes_senseless_gone_and_others_parameters_kept(empty_home: object) -> None:
    app = open_shop(find="lamp", path=["a"], job="7", note="stays")
    app.selectbox(key="shop-floor").set_value("first").run()
    assert app.query_params == {"floor": "first", "job": "7", "note": "stays"}
    app.selectbox(key="shop-tasks").set_value("buy").run()
    assert app.query_params == {"floor": "first", "job": "7", "task": "buy"}
    # The first option is what an empty key means.
    app.selectbox(key="shop-floor").set_value("ground").run()
    app.text_input(key="shop-find").set_value("chair").run()
    assert app.query_params == {"find": "chair", "job": "7", "task": "buy"}
