from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.read import View

WORDS = st.text(min_size=1, max_size=30)
MANY = st.lists(WORDS, unique=True, max_size=4).map(tuple)


@given(models=MANY, scenario=MANY, search=WORDS, turn=st.integers(1, 99), page=st.integers(1, 99), metric=WORDS)
def test_an_address_holds_exactly_this_view(**given: Any) -> None:
    scenario = given.pop("scenario")
    view = View(**given, attempt="run-1/a1", benchmark="sage").narrow(scenario=scenario).change(page=given["page"])
    assert view.values("scenario") == scenario
    assert View.from_query(view.to_query(), ("scenario", "level")) == view


def test_the_address_of_the_default_view_is_empty() -> None:
    assert View().to_query() == {}


def test_lists_become_repeated_keys_so_that_commas_are_no_problem() -> None:
    assert View(models=("a,b", "c")).to_query() == {"model": ["a,b", "c"]}


@pytest.mark.parametrize(
    "query",
    [
        {"nonsense": "1"},
        {"page": "-3"},
        {"page": "1e9"},
        {"turn": "²"},
        {"turn": "99999999999999999999"},
        {"attempt": "no-slash"},
        {"attempt": "a/b/c"},
        {"model": ""},
        {"model": "x" * 1000},
        {"page": []},
    ],
)
def test_what_cannot_be_meant_is_ignored(query: dict[str, Any]) -> None:
    assert View.from_query(query) == View()


def test_a_changed_filter_goes_back_to_the_first_page_and_a_changed_place_does_not() -> None:
    view = View(page=4)
    assert view.change(models=("a",)).page == 1
    assert view.change(order="worst").page == 1
    assert view.change(turn=2).page == 4
    assert view.change(models=("a",), page=2).page == 2


def test_filters_leave_the_place_behind() -> None:
    view = View(models=("a",), search="bill", metric="logic", attempt="r/a", turn=3, page=2, order="worst")
    # Words that were searched for in dialogues are no question to the conversations of the next page.
    assert view.filters() == View(models=("a",), metric="logic")
    assert view.change(search="payment").page == 1


def test_opened_is_the_pair() -> None:
    assert View().opened is None
    assert View().open("run-1", "a1", turn=2).opened == ("run-1", "a1")


def test_a_bare_attempt_belongs_to_the_only_run_chosen() -> None:
    assert View.from_query({"run": ["r1"], "attempt": ["a1"]}).opened == ("r1", "a1")
    assert View.from_query({"attempt": ["r1/a1"]}).opened == ("r1", "a1")
    assert View.from_query({"attempt": ["a1"]}).opened is None
    assert View.from_query({"run": ["r1", "r2"], "attempt": ["a1"]}).opened is None
