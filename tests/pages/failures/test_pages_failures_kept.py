"""What is kept of the page Failures: tags and notes as filters, saved filters, a set to run again, blind reading."""

import json
from pathlib import Path

import pytest

from cxlab.errors import BadOption
from cxlab.read import View, annotations, failures
from cxlab.read.files import to_csv
from cxlab.store import catalogue, sample_set, write
from cxlab.ui.annotations import annotate, save_filter, withdraw
from tests.pages.app_script import codes, open_page, words
from tests.stores.judged import HOSTILE

pytestmark = pytest.mark.xdist_group("failures")


def keys(**query: str | list[str]) -> list[str]:
    return sorted(failures.rows(View.from_query(query)).frame["attempt_id"])


def test_tags_and_notes_are_filters_and_stand_in_downloads(own_judged_home: Path) -> None:
    annotate("tag", "run-0", "run-0-a1", "look, again")
    annotate("tag", "run-0", "run-0-a0", "gone")
    annotate("untag", "run-0", "run-0-a0", "gone")
    annotate("note", "run-1", "run-1-a2", HOSTILE)
    taken_back = annotate("note", "run-1", "run-1-a3", "taken back")
    withdraw(taken_back, "run-1", "run-1-a3")
    assert keys(tag="look, again") == ["run-0-a1"]
    assert keys(tag="gone") == []
    assert keys(written="note") == ["run-1-a2"]
    assert keys(written=["note", "tag"]) == ["run-0-a1", "run-1-a2"]
    assert keys(written="nothing") == ["run-0-a0", "run-1-a3"]
    whole = failures.chosen_set(View()).sort("attempt_id")
    assert whole["tags"].to_list() == [None, ["look, again"], None, None]
    assert whole["notes"].to_list() == [None, None, [HOSTILE], None]
    assert whole["verdict_owner"].to_list().count("agent") == 2
    assert "look, again" in to_csv(whole).decode()
    lines = [json.loads(line) for line in failures.to_jsonl(failures.chosen_set(View(), True)).splitlines()]
    assert [line["notes"] for line in lines] == [None, None, [HOSTILE], None]
    app = open_page("failures", verdict="all", tag="look, again")
    assert app.multiselect(key="cx-filter-tags").value == ["look, again"]
    assert app.metric[0].value == "1"
    # A tag that nobody gives any more is named, and what there is without is shown.
    gone = open_page("failures", verdict="all", tag="gone")
    assert "tag “gone”" in words(gone)
    assert gone.metric[0].value == "4"


def test_a_saved_filter_is_there_for_everybody_and_comes_back(own_judged_home: Path) -> None:
    app = open_page("failures", owner="agent", q="evil")
    field = next(each for each in app.text_input if each.label == "Save what is chosen now as")
    field.set_value(HOSTILE)
    next(button for button in app.button if button.label == "Save filter").click().run()
    saved = annotations.saved_filters("failures")
    assert saved["name"].to_list() == [" ".join(HOSTILE.split())[:80]]
    other = open_page("failures")
    assert other.metric[0].value == "4"
    other.button(key=f"cx-filter-open-{saved['id'][0]}").click().run()
    assert (other.query_params["owner"], other.query_params["q"]) == ("agent", "evil")
    assert not any("<img" in button.label.replace("\\<", "") for button in other.button)
    other.button(key=f"cx-filter-delete-{saved['id'][0]}").click().run()
    assert annotations.saved_filters("failures").is_empty()
    other.button(key=f"cx-filter-undo-{saved['id'][0]}").click().run()
    assert annotations.saved_filters("failures")["query"].to_list() == saved["query"].to_list()
    assert annotations.deleted_filters("failures").is_empty()
    # Another session replaces one by saving under its name; pages do not see each other's.
    save_filter("failures", saved["name"][0], "verdict=all")
    assert annotations.saved_filters("failures")["query"].to_list() == ["verdict=all"]
    assert annotations.saved_filters("compare").is_empty()


@pytest.mark.parametrize(("name", "query"), [("  ", "q=x"), ("long", "q=" + "x" * 5_000)])
def test_a_filter_without_a_name_or_too_long_is_refused(own_judged_home: Path, name: str, query: str) -> None:
    with pytest.raises(BadOption):
        save_filter("failures", name, query)
    assert annotations.saved_filters("failures").is_empty()


def test_read_blind_neither_list_nor_dialogue_tells_model_or_verdict(judged_home: Path) -> None:
    app = open_page("failures", blind="yes")
    assert not app.exception
    shown = app.dataframe[-1].value
    assert len(shown) == 4
    assert not {"name", "score", "wrong_", "reason", "verdict_owner"} & set(shown.columns)
    assert not app.metric
    assert "eloquent" not in words(app)
    one = open_page("failures", blind="yes", attempt="run-0/run-0-a1", turn="1")
    told = words(one) + " ".join(str(each.proto.body) for each in one.get("html"))
    for secret in ("eloquent", "simulated", "✕", "failed", "run-0-a1", "CoreIntention"):
        assert secret not in told
    assert one.query_params["blind"] == "yes"
    one.button(key="blind-show").click().run()
    assert "✕ failed" in words(one)
    # The order is mixed, so either neighbour may be missing.
    next(one.button(key=f"dialogue-{way}") for way in "np" if not one.button(key=f"dialogue-{way}").disabled).click()
    one.run()
    assert one.button(key="blind-show")
    assert "failed" not in words(one)


def test_the_samples_of_a_set_are_a_dataset_that_keeps_the_origins_tables(own_judged_home: Path) -> None:
    made = sample_set.save_samples("d1", "again", {"s2", "unknown"}, {"verdict": "failed"})
    assert [each.id for each in write.load_samples(made.id)] == ["s2"]
    assert (made.benchmark, made.derived_from, made.config["asked"]) == ("sage", "d1", {"verdict": "failed"})
    assert sample_set.save_samples("d1", "another name", {"s2"}, {}).id == made.id
    with pytest.raises(BadOption, match="none of these samples"):
        sample_set.save_samples("d1", "nothing", {"unknown"}, {})
    assert catalogue.read().datasets.keys() == {"d1", made.id}


def test_the_page_makes_the_dataset_of_what_is_listed_and_takes_it_back(own_judged_home: Path) -> None:
    app = open_page("failures", error="format")
    next(button for button in app.button if button.label == "Make the dataset").click().run()
    assert not app.exception
    made = next(each for each in write.list_datasets() if each.id != "d1")
    assert [each.id for each in write.load_samples(made.id)] == ["s2"]
    assert {"error": ["format"], "verdict": "wrong"}.items() <= made.config["asked"].items()
    assert f"python -m cxlab run sage --dataset {made.id}" in codes(app)
    app.button(key=f"failures-dataset-drop-{made.id}").click().run()
    assert [each.id for each in write.list_datasets()] == ["d1"]


def test_long_and_right_to_left_names_are_kept_shown_and_bounded(own_judged_home: Path) -> None:
    tag, name = "לבדוק שוב", "ش" * 200
    annotate("tag", "run-0", "run-0-a1", tag)
    save_filter("failures", name, "verdict=all")
    app = open_page("failures", verdict="all", tag=tag)
    assert not app.exception
    assert app.multiselect(key="cx-filter-tags").value == [tag]
    assert annotations.saved_filters("failures")["name"].to_list() == ["ش" * 80]
    made = sample_set.save_samples("d1", name, {"s1"}, {"tag": tag})
    assert write.load_dataset(made.id).config["asked"] == {"tag": tag}
    # What no address of ours can hold is ignored, on every key that is new.
    assert not open_page("failures", blind="x" * 500, floors="'; --", written="\0", tag="y" * 300).exception
