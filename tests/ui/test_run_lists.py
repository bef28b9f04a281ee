"""Where runs are listed or picked, they are told apart by their names or by what was set, not by ids."""

import json
from pathlib import Path

import pytest
import streamlit as st
from typer.testing import CliRunner

from cxlab import read
from cxlab.cli import app as command
from cxlab.ui.annotations import annotate
from cxlab.ui.boards import show_runs
from cxlab.views.run.history import show_all_runs
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

VALUES = {(f"s{i}", 1): 60.0 + i for i in range(12)}


@pytest.fixture
def runs(empty_home: Path) -> list[str]:
    return [write_run(empty_home, number, "simulated:strong", VALUES, options=options, dataset=dataset)
            for number, (options, dataset) in enumerate((({"turns": 5}, "d1"), ({}, "d1"), ({}, "d2")), 1)]  # fmt: skip


def columns_of(monkeypatch: pytest.MonkeyPatch, draw: object) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}

    def note(frame: object, columns: dict[str, object], **rest: object) -> list[object]:
        found.update({name: frame[name].to_list() for name in columns})  # type: ignore[index]
        return []

    monkeypatch.setattr("cxlab.ui.boards.show_table", note)
    draw()  # type: ignore[operator]
    return found


def test_the_history_says_what_was_set_on_which_dataset_and_how_much(
    runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = columns_of(monkeypatch, lambda: show_all_runs(read.latest_runs().sort("run_id"), key="x", select="multi"))
    assert told["settings"] == ["turns 5", "turns 15", "turns 15"]
    assert told["dataset"] == ["d1", "d1", "d2"]
    assert told["planned"] == [12, 12, 12]
    assert "provider" not in told
    frame = read.latest_runs().head(2).with_columns(format=1, provider=2)
    told = columns_of(monkeypatch, lambda: show_runs(frame, {}, key="x", select="multi"))
    assert (told["format"], told["provider"]) == ([1, 1], [2, 2])


def test_the_filter_of_runs_calls_them_by_what_sets_them_apart(runs: list[str]) -> None:
    annotate("name", runs[2], "", "the other data")
    app = open_page("compare", benchmark="sage", sides="runs", run=runs[:2])
    assert not app.exception
    filtered = app.multiselect(key="cx-filter-runs")
    assert set(filtered.options) == {
        "turns 5 · strong", "turns 15 · strong", "the other data",
    }  # fmt: skip


def test_a_note_stands_on_compare(runs: list[str]) -> None:
    annotate("note", runs[0], "", "a shorter talk")
    assert "**strong · simulated, turns 5**: a shorter talk" in words(
        open_page("compare", benchmark="sage", sides="runs", run=runs[:2])
    )


def test_what_is_saved_of_a_run_is_said_and_the_run_stays_picked(
    runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(st, "toast", lambda words, **rest: said.append(words))
    app = open_page("compare", benchmark="sage", sides="runs", run=runs[:2])
    picked = app.radio(key="compare-names-run").set_value(runs[0]).run()
    picked.text_input(key=f"compare-names-name-{runs[0]}").set_value("short")
    next(each for each in picked.button if each.label == "Save").click().run()
    assert picked.radio(key="compare-names-run").value == runs[0]
    assert said == ["Saved for short."]


def test_runs_list_tells_them_apart(runs: list[str]) -> None:
    annotate("name", runs[2], "", "the other data")
    told = CliRunner().invoke(command, ["runs", "list"]).output.splitlines()
    assert [line.rpartition("  ")[2] for line in told] == ["the other data", "turns 15", "turns 5"]
    rows = json.loads(CliRunner().invoke(command, ["runs", "list", "--json"]).output)
    assert [row["told"] for row in rows] == ["the other data", "turns 15", "turns 5"]
