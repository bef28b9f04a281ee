"""A headline over time: the runs of a set, identical ones once; run against run; names and baselines of people."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.errors import CxError
from cxlab.read import View, annotations
from cxlab.read.run_names import call_runs
from cxlab.ui.address import marks
from cxlab.ui.annotations import annotate, withdraw
from cxlab.views.compare import queries
from cxlab.views.compare.sides import marks_of
from tests.pages.app_script import card_of, open_page, words
from tests.stores.runs import write_run

VIEW = View(benchmark="sage", metric="told")
LONG = "ن" * 100 + "x" * 100


def steady(value: float, count: int = 20) -> dict[tuple[str, int], float | None]:
    return {(f"s{i}", 1): value + i % 5 for i in range(count)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def test_identical_runs_count_once_and_other_conditions_stay_out(home: Path) -> None:
    first = write_run(home, 1, "m", steady(60))
    write_run(home, 2, "m", steady(60))
    better = write_run(home, 3, "m", steady(70))
    write_run(home, 4, "n", steady(50))
    write_run(home, 5, "m", steady(90), prompts={"agent": "another"})
    found = queries.history(VIEW)
    own = found.filter(found["model"] == "m")
    assert own.select("run_id", "value", "runs", "samples", "of").rows() == [
        (first, 62.0, 2, 20, 20), (better, 72.0, 1, 20, 20),
    ]  # fmt: skip
    assert found["created"].is_sorted()


def test_a_shorter_run_says_how_many_of_the_samples_it_has(home: Path) -> None:
    write_run(home, 1, "m", steady(60, count=5))
    write_run(home, 2, "m", steady(70))
    write_run(home, 3, "n", steady(50))
    found = queries.history(VIEW).filter(model="m")
    assert found.select("samples", "of").rows() == [(5, 20), (20, 20)]


def test_runs_with_two_prompts_are_compared_and_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = write_run(home, 1, "m", steady(60), prompts={"agent": "old"})
    new = write_run(home, 2, "m", steady(75), prompts={"agent": "new"})
    write_run(home, 3, "m", steady(75), dataset="another")
    assert queries.runs_to_compare(View("sage", runs=(old,))).runs == (old, new)
    assert queries.runs_to_compare(View("sage", models=("nobody",))).runs == ()
    annotate("name", new, "", LONG)
    annotate("name", old, "", "Before | *the* change")
    app = open_page("compare", benchmark="sage", run=[old, new], tab="history")
    assert not app.exception
    assert f"{LONG} ahead of Before | *the* change, decidable score" in card_of(app)
    assert "These runs differ in prompts: that is what is compared." in words(app)
    assert not app.warning
    assert any("over time: 2 runs" in each.value for each in app.subheader)


def test_a_name_is_taken_back_and_nothing_is_lost(home: Path) -> None:
    run = write_run(home, 1, "m", steady(60))
    annotate("name", run, "", "first name")
    second = annotate("name", run, "", "second name")
    annotate("note", run, "", "longer prompt")
    assert annotations.run_names() == {run: "second name"}
    assert annotations.on_run(run)["kind"].to_list() == ["note", "name", "name"]
    withdraw(second, run, "")
    assert annotations.run_names() == {run: "first name"}
    assert annotations.notes(run, "").log["value"].to_list() == ["first name", "longer prompt"]


def test_a_name_is_given_on_the_page_and_stands_in_its_tables(home: Path) -> None:
    run = write_run(home, 1, "m", steady(60))
    write_run(home, 2, "n", steady(50))
    app = open_page("compare", benchmark="sage", sides="runs", run=[run])
    app.text_input(key=f"compare-names-name-{run}").set_value("weekly build")
    app.button[[each.label for each in app.button].index("Save")].click().run()
    assert not app.exception
    assert annotations.run_names() == {run: "weekly build"}
    assert "weekly build ahead of n" in card_of(app)
    app.button(key=f"compare-names-back-{run}").click().run()
    assert "m ahead of n" in card_of(app)


def test_a_baseline_stays_until_it_is_given_up(home: Path) -> None:
    for number, (model, value) in enumerate((("a", 80), ("b", 70), ("c", 60)), 1):
        write_run(home, number, model, steady(value))
    app = open_page("compare", benchmark="sage", baseline="c")
    app.button(key="baseline-keep").click().run()
    assert annotations.baselines("sage")["model"].side == "c"
    again = open_page("compare", benchmark="sage")
    assert again.selectbox(key="cx-choose-baseline").value == "c"
    assert "a ahead of c" in card_of(again)
    again.button(key="baseline-back").click().run()
    assert annotations.baselines("sage") == {}
    assert "a ahead of b" in card_of(open_page("compare", benchmark="sage"))


def test_names_of_one_benchmark_are_no_baselines_of_another(home: Path) -> None:
    annotate("baseline", "sage", "", "a", field="model")
    annotate("baseline", "sage", "", "run-1", field="run_id")
    assert {field: each.side for field, each in annotations.baselines("sage").items()} == {
        "model": "a", "run_id": "run-1",
    }  # fmt: skip
    assert annotations.baselines("cdr") == {}
    with pytest.raises(CxError):
        annotate("baseline", "../elsewhere", "", "a", field="model")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["r-1", "r-2", "s-1", "s-3"]), st.sampled_from("ab")), unique_by=lambda e: e[0]),
    st.dictionaries(st.sampled_from(["r-1", "r-2", "s-1"]), st.sampled_from(["x", "y"])),
    st.dictionaries(
        st.sampled_from(["r-1", "r-2", "s-1", "s-3"]),
        st.dictionaries(st.sampled_from(["Turns", "Judges", "Glossary"]), st.sampled_from(["5", "true", "x" * 50])),
    ),
)
def test_no_two_runs_are_called_alike(
    runs: list[tuple[str, str]], names: dict[str, str], settings: dict[str, dict[str, str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cxlab.read.run_names.run_names", lambda: names)
        told = call_runs(runs, {"a": "Model a", "b": "Model b"}, settings)
    assert set(told) == {run for run, _ in runs}
    assert len(set(told.values())) == len(told)


def test_runs_of_one_model_are_called_by_what_sets_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cxlab.read.run_names.run_names", lambda: {"r-4": "the new prompt"})
    runs = [("r-1", "a"), ("r-2", "a"), ("r-3", "b"), ("r-4", "a")]
    settings = {
        "r-1": {"Framework": "react", "Seed": "0", "Glossary": "true"},
        "r-2": {"Framework": "function_calling", "Seed": "0", "Glossary": "false"},
        "r-3": {"Framework": "react", "Seed": "0"},
        "r-4": {"Framework": "other", "Seed": "1"},
    }
    assert call_runs(runs, {"a": "Model a", "b": "Model b"}, settings) == {
        "r-1": "Model a, framework react, glossary on",
        "r-2": "Model a, framework function calling, glossary off",
        "r-3": "Model b",
        "r-4": "the new prompt",
    }
    # Where that is too much to read, as few as tell them apart do; how much was run says it without a title.
    many = {run: {**settings[run], "Window": run[-1] * 2, "": f"{run[-1]}0 dialogues"} for run in ("r-1", "r-2")}
    assert call_runs(runs[:2], {"a": "Model a"}, many) == {
        "r-1": "Model a, framework react", "r-2": "Model a, framework function calling",
    }  # fmt: skip
    sizes = {"r-1": {"Seed": "0", "": "20 dialogues"}, "r-2": {"Seed": "0", "": "357 dialogues"}}
    assert call_runs(runs[:2], {"a": "Model a"}, sizes) == {
        "r-1": "Model a, 20 dialogues", "r-2": "Model a, 357 dialogues",
    }  # fmt: skip
    # What is as long as a list of judges is no name, and of what is all alike only the id is left.
    judges = {"r-1": {"Judges": "x" * 50}, "r-2": {"Judges": "y" * 50}}
    assert call_runs(runs[:2], {"a": "Model a"}, judges) == {"r-1": "Model a, run 1", "r-2": "Model a, run 2"}
    assert call_runs(runs[:2], {"a": "Model a"}) == {"r-1": "Model a, run 1", "r-2": "Model a, run 2"}


def test_a_run_is_drawn_as_its_model_unless_two_are_of_one(home: Path) -> None:
    runs = {write_run(home, number, model, steady(50)): model for number, model in enumerate("abb", 1)}
    each_another, two_alike = list(runs)[:2], list(runs)[1:]
    named = {run: f"{runs[run]} {run}" for run in runs}
    models = marks()
    found = marks_of("run_id", {run: named[run] for run in each_another})
    assert found == {named[run]: models[runs[run]] for run in each_another}
    alike = marks_of("run_id", {run: named[run] for run in two_alike})
    assert len({mark.colour for mark in alike.values()}) == 2


def test_runs_of_one_moment_are_told_in_a_table_without_a_chart(home: Path) -> None:
    for number, model in enumerate("ab", 1):
        run = write_run(home, number, model, steady(60 + number))
        if model == "b":
            path = home / "runs" / run / "run.json"
            path.write_text(path.read_text().replace("2026-01-01T02:00:00", "2026-01-01T01:00:20"))
    app = open_page("compare", benchmark="sage", tab="history")
    assert not app.exception
    assert "All of one time, 2026-01-01 01:00: there is no course to draw yet" in words(app)
    write_run(home, 5, "a", steady(70))
    assert "there is no course" not in words(open_page("compare", benchmark="sage", tab="history"))
