"""What the card that Compare opens with leads on to."""

from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.app_script import open_page
from tests.read.comparison.test_comparison_sets import steady
from tests.stores.runs import write_run


def estimates(app: AppTest) -> list[dict[str, list[str]]]:
    assert not app.exception
    links = [each.proto for each in app.get("page_link")]
    return [parse_qs(each.query_string) for each in links if each.label.startswith("What would real models cost?")]


@pytest.mark.parametrize("simulated", [True, False])
def test_what_stand_ins_do_not_tell_of_costs_is_to_be_had_on_run(empty_home: Path, simulated: bool) -> None:
    old, new = (
        write_run(
            empty_home, number, "a", steady(number), options={"turns": number}, simulated=simulated, judges=[judge]
        )
        for number, judge in ((5, "j1"), (9, "j2"))
    )
    write_run(empty_home, 12, "b", steady(1), options={"turns": 9}, simulated=simulated, judges=["j2"])
    models = estimates(open_page("compare", benchmark="sage"))
    # Best first: the run of more turns scores more.
    runs = estimates(open_page("compare", benchmark="sage", run=[old, new], sides="runs"))
    if not simulated:
        assert models == runs == []
        return
    assert [(each["bench"], each["dataset"], each["judges"]) for each in models] == [(["sage"], ["d1"], ["j2"])]
    assert [(each["agents"], each["judges"], each["option-turns"]) for each in runs] == [(["a"], ["j2"], ["9"])]
