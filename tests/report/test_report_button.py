"""The pages hand their report over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from typer.testing import CliRunner

from cxlab.cli import app
from tests.pages.app_script import open_page
from tests.stores.runs import write_run


@pytest.mark.parametrize("stem", ["overview", "compare", "sop_paths", "judges"])
def test_a_page_offers_the_report_of_what_it_shows(
    judged_home: Path, stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[Callable[[], bytes]] = []
    labels: list[str] = []
    real = st.download_button

    def offer(label: str, data: Callable[[], bytes], *rest: Any, **settings: Any) -> bool:
        if label.endswith("report"):
            offered.append(data)
            labels.append(label)
        return real(label, data, *rest, **settings)

    monkeypatch.setattr(st, "download_button", offer)
    assert not open_page(stem).exception
    # As the server asks for it: with no page around it.
    whole, short = (make() for make in offered)
    assert labels == ["Download report", "Short report"]
    assert b"eloquent" in whole
    assert b"eloquent" in short
    assert len(short) < len(whole)


def test_the_report_on_several_benchmarks_is_short_unless_the_whole_is_asked_for(
    empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: dict[tuple[str, int], float | None] = {(f"s{place}", 1): 90.0 * (place % 2) for place in range(10)}
    for number, (benchmark, task) in enumerate((("sage", "dialogue"), ("mmtaup2", "telecom")), 1):
        for model in ("m", "n"):
            write_run(empty_home, 10 * number + (model == "n"), model, values, benchmark=benchmark, task=task)
    shown: list[str] = []
    real = st.download_button

    def offer(label: str, *rest: Any, **settings: Any) -> bool:
        shown.append(label)
        return real(label, *rest, **settings)

    monkeypatch.setattr(st, "download_button", offer)
    assert not open_page().exception
    assert [label for label in shown if label.endswith("report")] == ["Download report", "Whole report"]
    sizes = {}
    for form in ("", "--short", "--whole"):
        words = ["report", "--to", str(tmp_path / f"r{form}.html"), *filter(None, [form])]
        assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
        sizes[form] = (tmp_path / f"r{form}.html").stat().st_size
    assert sizes[""] == sizes["--short"] < sizes["--whole"]
    one = ["report", "run-260101-000010-aaaaaaaa", "--to", str(tmp_path / "one.html")]
    assert CliRunner().invoke(app, one, catch_exceptions=False).exit_code == 0
    assert "The most telling failures" in (tmp_path / "one.html").read_text()
