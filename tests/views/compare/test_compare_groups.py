"""Groups on Compare: like with like, which are too small for a test, and in which order they stand."""

from pathlib import Path

import numpy as np
import pytest

from cxlab.read import View
from cxlab.read.comparison.decision import decide
from cxlab.read.comparison.like_with_like import say_alike
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries
from cxlab.views.compare.groups import choose_groups, mark_few, say_groups
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

BOTH = ("first", "second")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def fill_personas(home: Path) -> None:
    """Easy and hard customers by text, both models alike at both; by voice hard ones alone, where all fail."""
    facets = {f"t{i}": {"persona": ("easy", "hard")[i % 2], "modality": "text", "exposure": "nothing"}
              for i in range(20)}  # fmt: skip
    facets |= {f"v{i}": {"persona": "hard", "modality": "voice", "exposure": "nothing"} for i in range(10)}
    for place, model in enumerate(BOTH, 1):
        values: dict[tuple[str, int], float | None] = {
            (name, 1): 0.0 if name.startswith("v") else 80.0 + place for name in facets
        }
        write_run(home, place, model, values, benchmark="mmtaup2", task="telecom", facets=facets)


def test_hard_customers_are_set_against_easy_ones_by_the_same_way_to_speak(home: Path) -> None:
    fill_personas(home)
    view = View(benchmark="mmtaup2", metric="pass")
    found = {(side, group): (mean, n) for side, group, mean, n in
             queries.table(view, by="persona").select("side", "grp", "mean", "n").iter_rows()}  # fmt: skip
    assert found["first", "easy"] == found["first", "hard"] == (81.0, 10)
    alike = queries.alike(view, "model", "persona")
    assert alike is not None
    assert (alike.samples, alike.of, alike.held) == (20, 30, {"modality": ("text",)})
    about = declared("mmtaup2")
    assert say_alike(about, "persona", alike).startswith("Like with like: 20 of 30 samples (Modality: text).")
    # By modality hard customers alone are left, as no other was tried by voice.
    by_voice = queries.alike(view, "model", "modality")
    assert by_voice is not None
    assert (by_voice.samples, by_voice.held) == (20, {"persona": ("hard",)})
    assert "Like with like: 20 of 30 samples" in words(open_page("compare", benchmark="mmtaup2", field="persona"))


def test_values_that_share_nothing_are_shown_as_they_are_and_said_to_be_mixed(home: Path) -> None:
    facets = {f"s{i}": {"persona": ("easy", "hard")[i % 2], "modality": ("text", "voice")[i % 2]} for i in range(20)}
    for place, model in enumerate(BOTH, 1):
        write_run(home, place, model, {(name, 1): 50.0 + place for name in facets}, benchmark="mmtaup2",
                  task="telecom", facets=facets)  # fmt: skip
    view = View(benchmark="mmtaup2", metric="pass")
    assert queries.table(view, by="persona")["n"].to_list() == [10] * 4
    told = say_alike(declared("mmtaup2"), "persona", queries.alike(view, "model", "persona"))
    assert told == "No two values of Persona were tried alike: they differ in Modality, too, and so may the means."


def fill_slices(home: Path) -> None:
    """Nine large slices, of which the second model is ahead in p3 alone, and one of three samples, where it is far
    ahead."""
    rng = np.random.default_rng(5)
    facets = {f"s{i}": {"persona": f"p{i % 9}"} for i in range(108)} | {f"x{i}": {"persona": "tiny"} for i in range(3)}
    first = {(name, 1): 70 + rng.normal(0, 1) for name in facets}
    gain = {"p3": 20.0, "tiny": 29.0}
    second = {key: value + gain.get(facets[key[0]]["persona"], -10.0) for key, value in first.items()}
    write_run(home, 1, "first", first, facets=facets)
    write_run(home, 2, "second", second, facets=facets)


def test_the_chart_puts_first_what_the_card_names_and_greys_what_it_leaves_out(home: Path) -> None:
    fill_slices(home)
    view, about = View(benchmark="sage", metric="told"), declared("sage")
    ranked = queries.ranked(view)
    assert ranked is not None
    card = decide(about, ranked)
    assert card is not None
    assert [each.value for each in card.slices] == ["p3"]
    groups = choose_groups(about, queries.table(view, by="persona"), "persona", card.leader, card.rival, False)
    assert next(iter(groups.names)) == "p3"
    assert list(groups.names)[-1] == "tiny"
    assert groups.few == {"tiny"}
    # Folded away is first of all what is not tested.
    assert "tiny" not in groups.shown
    assert len(groups.shown) == 8
    assert mark_few(groups)["p3"] == "p3"
    assert "1 of 10 groups has fewer than 9 independent paths" in say_groups(about, "persona", groups, None)
    gaps = {
        row["grp"]: row
        for row in queries.differences(view, "first", by="persona", least=groups.least).iter_rows(named=True)
    }
    assert (gaps["tiny"]["verdict"], gaps["tiny"]["low"], gaps["tiny"]["p_corrected"]) == ("too few", None, None)
    assert gaps["tiny"]["difference"] == pytest.approx(29.0)
    assert gaps["p3"]["verdict"] == "better"
    # What is not tested does not count in the correction: nine slices are.
    assert gaps["p3"]["p_corrected"] == pytest.approx(min(1.0, 9 * gaps["p3"]["p"]))
    page = open_page("compare", benchmark="sage", field="persona")
    assert not page.exception
    (chosen,) = (each for each in page.button_group if each.key == "groups")
    assert [each.content for each in chosen.proto.options] == ["First 8", "All 10"]
    assert "too few to test, and grey where drawn" in words(page)
    every = next(each.value for each in page.dataframe if {"verdict", "group"} <= set(each.value.columns))
    assert set(every["group"]) == {*gaps}


def test_the_customers_first_words_are_cut_at_a_word_to_fit_beside_all_other_columns(home: Path) -> None:
    long = "Here is what happened to the parcel that I ordered three weeks ago, and it is a long story " * 2
    openings = {(f"s{i}", 1): long for i in range(9)}
    for number, model in enumerate("ab", 1):
        values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 50.0 + number * i for i in range(9)}
        write_run(home, number, model, values, openings=openings)
    page = open_page("compare", benchmark="sage")
    assert not page.exception
    (shown,) = (each.value for each in page.dataframe if "said" in each.value.columns)
    assert {len(words) <= 60 and words.endswith("…") and long.startswith(words[:-1]) for words in shown["said"]} == {
        True
    }
