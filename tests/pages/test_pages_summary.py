"""Overview at a glance: every benchmark's row, one success rate with Failures, the baseline, and what is running."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import polars as pl
import pytest

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_share
from cxlab.read import View
from cxlab.read.failures import counts, passed_rate
from cxlab.store.run_status import Status, write
from cxlab.ui.annotations import annotate
from cxlab.ui.labels import PASSED_OF_ALL
from cxlab.views.benchmarks import declared, leave_out_floors
from cxlab.views.overview.queries import outcome
from tests.pages.app_script import card_of, open_page, words
from tests.stores.runs import write_run

# 200 characters, from right to left in part, with what Markdown and HTML could take for their own.
LONG = "نموذج<b>*[x](y)*" + "م" * 184


def test_each_benchmark_has_one_success_rate_on_overview_and_failures(made_home: Path) -> None:
    app = open_page()
    assert not app.exception
    told = words(app)
    for name in read.benchmarks()["benchmark"]:
        view = leave_out_floors(View(benchmark=name), declared(name))
        one, other = outcome(view), counts(view)
        assert (one.passed, one.failed, one.unscored) == (other["passed"], other["failed"], other["unscored"])
        rate = format_share(passed_rate(one.passed, one.failed))
        assert rate in told
        failures = open_page("failures", benchmark=name)
        assert next(each.value for each in failures.metric if each.label == PASSED_OF_ALL) == rate
        of = f"the share that passed is of the {one.passed + one.failed:,} scored"
        assert (of in words(failures)) == (one.unscored > 0)
    assert "Nothing is running." in told


def test_what_breaks_most_is_the_first_group_of_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 90.0 if i > 4 else 10.0 for i in range(8)}
    reasons = {"s0": "late: by 3 days", "s1": "late: by 7 days", "s2": "late: by 9 days", "s3": "rude", "s4": "rude"}
    write_run(tmp_path, 1, "m", values, reasons=reasons)
    found = outcome(View(benchmark="sage"))
    assert (found.passed, found.failed) == (3, 5)
    assert found.worst is not None
    assert (found.worst["owner"], found.worst["detail"], found.worst["attempts"]) == ("agent", "late: by … days", 3)
    page = open_page("failures", verdict="failed")
    assert "Most often: late: by … days (the agent's doing)" in words(page)
    assert "Late: by … days (the agent's doing)" in words(open_page())
    write_run(tmp_path, 3, "o", dict(list(values.items())[:1]), reasons={"s0": "late: by 4 days"})
    assert "3 of the 4 are m's" in words(open_page())
    few = {"s0": "late", "s1": "rude", "s2": "late", "s3": "rude", "s4": "slow"}
    write_run(tmp_path, 2, "n", values, reasons=few)
    assert "Nothing stands out: 2 kinds of failure in 2 dialogues each" in words(open_page("failures", model="n"))


# What a reason may hold that an address, a filter or the words of a page could stumble on.
REASONS = {
    "sage": "late: by 3 days", "cxmarena": "called 'find_it', which [nobody](x) has", "mmtaup2": "é" * 300,
    "crmarena": "قيمة خاطئة & more=1", "cdr": "",
}  # fmt: skip


def test_the_link_opens_exactly_the_failures_that_the_sentence_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    assert set(REASONS) == set(REGISTRY)
    for place, (name, reason) in enumerate(REASONS.items()):
        told = {f"s{i}": "rude" if i < 2 else reason for i in range(9)}
        values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 10.0 if i < 7 else 90.0 for i in range(9)}
        for trial, model in enumerate(("m", "n"), 1):
            write_run(tmp_path, 2 * place + trial, model, values, benchmark=name, reasons=told)
    overview = open_page()
    links = [each.proto for each in overview.get("page_link") if each.proto.label.startswith("See ")]
    assert [each.label for each in links] == ["See these 10"] * len(REASONS)
    assert words(overview).count("of 14 that failed") == len(REASONS)
    for name, each in zip(REGISTRY, links, strict=True):
        address = parse_qs(each.query_string)
        assert address["benchmark"] == [name]
        listed = open_page("failures", **address)
        assert not listed.exception
        assert not listed.warning
        assert listed.metric[0].value == "10"
        assert re.search(r"^10 \w+ failed$", words(listed), flags=re.M)


def test_the_kept_baseline_stands_on_overview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, (model, more) in enumerate((("new", 20.0), ("old", 0.0)), 1):
        write_run(tmp_path, number, model, {(f"s{i}", 1): 60.0 + i % 5 + more for i in range(20)})
    annotate("baseline", "sage", "", "old", field="model")
    assert "Baseline old: new is 20.0 points ahead of it, for sure" in words(open_page())


@pytest.mark.parametrize("page", ["overview", "compare"])
def test_runs_that_are_not_whole_are_told_of_where_they_are_ranked(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    states = {
        "whole": Status("done", 9, 9, ok=9),
        "gone": Status("running", 20, 9, ok=9, updated="2026-01-01T00:00:00+00:00"),
        "cut": Status("partly", 9, 9, ok=7, provider=2), "ended": Status("failed", 12, 9, ok=9),
    }  # fmt: skip
    for number, (model, status) in enumerate(states.items(), 1):
        run = write_run(tmp_path, number, model, {(f"s{i}", 1): 50.0 + number + i for i in range(9)})
        write(tmp_path / "runs" / run / "status.json", status)
    told = words(open_page(page))
    assert (
        "⚠ 3 runs behind this are not whole: ended (✕ failed, 9 of 12), cut (◐ partly, 2 of 9 spoilt by a provider) "
        in told
    )
    assert "gone (! stalled, 9 of 20)" in told
    assert "whole (" not in told


@pytest.mark.parametrize("page", ["overview", "compare"])
def test_names_of_any_length_and_direction_are_text(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, model in enumerate((LONG, "plain"), 1):
        values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 50.0 + number + i % 7 for i in range(20)}
        write_run(tmp_path, number, model, values, judges=(), simulated=False)
    app = open_page(page)
    assert not app.exception
    assert not app.error
    if page == "compare":
        assert f"plain ahead of {LONG}" in card_of(app)
        assert "<b>*[x](y)*" not in "".join(str(each.proto.body) for each in app.get("html"))
        assert "judges: none" in words(app)


def test_tasks_that_somebody_leads_are_named_with_a_way_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for place, (task, model, gain) in enumerate(
        (task, model, gain) for task, apart in (("telecom", 0.0), ("retail", 30.0))
        for model, gain in (("m", 0.0), ("n", apart))
    ):  # fmt: skip
        values: dict[tuple[str, int], float | None] = {(f"{task}{i}", 1): 50.0 + i % 3 + gain for i in range(20)}
        write_run(tmp_path, place, model, values, benchmark="mmtaup2", task=task)
    page = open_page()
    links = {each.proto.label.replace("\\", ""): each.proto.query_string for each in page.get("page_link")}
    level, led = declared("mmtaup2").card.tasks[:2]
    assert parse_qs(links[f"n: {led.title}"])["task"] == ["retail"]
    assert not any(label.startswith(("m: ", f"n: {level.title}")) for label in links)
    assert "40 samples that both have, 2 tasks" in words(page)
    # Compare opens at the task that somebody leads, though it is the second; and at any that is asked for.
    compare = open_page("compare", benchmark="mmtaup2")
    assert compare.selectbox(key="cx-choose-tasks").value == "retail"
    assert open_page("compare", benchmark="mmtaup2", task="telecom").selectbox(key="cx-choose-tasks").value == "telecom"


def test_attempts_without_a_verdict_are_counted_apart_and_lead_to_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for place, model in enumerate(("m", "n"), 1):
        values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 60.0 + i for i in range(9)}
        run = write_run(tmp_path, place, model, values)
        part = tmp_path / "runs" / run / "parts" / "001-1-000000" / "attempts.parquet"
        rows = pl.read_parquet(part)
        tied = pl.col("sample_id").is_in(["s0", "s1"]) & pl.lit(model == "m")
        rows.with_columns(
            verdict=pl.when(tied).then(pl.lit("unscored")).otherwise("verdict"),
            verdict_reason=pl.when(tied).then(pl.lit("judges tied")).otherwise("verdict_reason"),
        ).write_parquet(part)
    page = open_page()
    assert "of 16 dialogues with a verdict" in words(page)
    (lead,) = (each.proto for each in page.get("page_link") if "no verdict" in each.proto.label)
    assert lead.label == "2 more got no verdict"
    assert parse_qs(lead.query_string)["verdict"] == ["unscored"]
    assert "m 100.0 %" in card_of(open_page("compare"))
    assert "2 more got no verdict" in card_of(open_page("compare"))


def test_one_model_alone_has_attempts_and_nobody_to_share_them_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    write_run(tmp_path, 1, "m", {(f"s{i}", 1): 60.0 + i for i in range(9)})
    told = words(open_page())
    assert "Passed: of 9 dialogues; every one has a verdict." in told
    assert "of each, those" not in told


def test_how_often_a_model_was_run_moves_no_rate_of_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    good: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 90.0 if i < 8 else 10.0 for i in range(10)}
    bad: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 90.0 if i < 3 else 10.0 for i in range(10)}
    write_run(tmp_path, 1, "good", good)
    write_run(tmp_path, 2, "bad", bad)
    told = "On the same samples: good 80.0 %, bad 30.0 %"
    assert told in words(open_page())
    write_run(tmp_path, 3, "good", good)
    again = words(open_page())
    assert told in again
    assert "of 30 dialogues with a verdict" in again


def test_what_leads_on_stands_above_the_boards_which_are_shown_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, benchmark in enumerate(("sage", "cdr"), 1):
        task = REGISTRY[benchmark].card.tasks[0]
        write_run(tmp_path, number, "m", {("s1", 1): 90.0}, benchmark=benchmark, task=task.id, metric=task.metric)
    app = open_page()
    assert not app.exception
    assert [each.options for each in app.button_group if each.label == "Benchmark"] == [["SAGE", "CDR"]]
    told = [str(each.value) for each in walk(app.main) if each.type in ("markdown", "subheader")]
    assert told.index("**You look for failures**") < told.index("SAGE: only m has been evaluated, so nobody leads")
    assert "What the papers report" in [each.label for each in app.expander]
    # What is not chosen is not drawn; the address says which one is.
    leads = "{}: only m has been evaluated, so nobody leads".format
    assert {leads("SAGE"), leads("CDR")} & {each.value for each in app.subheader} == {leads("SAGE")}
    other = open_page(board="cdr")
    assert not other.exception
    assert {leads("SAGE"), leads("CDR")} & {each.value for each in other.subheader} == {leads("CDR")}


def walk(block: Any) -> Iterator[Any]:
    """What a block holds, in the order in which it is drawn."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from walk(child)


def test_a_new_run_stands_on_open_pages_at_their_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is kept from one run of a page to the next."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 50.0 + i for i in range(30)}
    write_run(tmp_path, 1, "slow", values)
    write_run(tmp_path, 2, "quick", {key: value + 10 for key, value in values.items() if value})
    overview, compare = open_page(), open_page("compare")
    overview.run()
    assert "quick leads for sure" in words(overview)
    assert "2 models" in words(overview)
    assert "quick ahead of slow" in card_of(compare)
    newest = write_run(tmp_path, 3, "best", {key: value + 20 for key, value in values.items() if value})
    assert "best leads, ahead of all 2 others for sure" in words(overview.run())
    assert "3 models" in words(overview)
    assert "best ahead of quick" in card_of(compare.run())
    (tmp_path / "runs" / newest).rename(tmp_path / "gone")
    assert "quick leads for sure" in words(overview.run())
    assert "quick ahead of slow" in card_of(compare.run())


def test_a_row_names_the_settings_under_which_its_figures_hold(empty_home: Path) -> None:
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 90.0 if i < 8 else 10.0 for i in range(10)}
    for number, model in enumerate("ab", 1):
        write_run(empty_home, number, model, values, options={"turns": 5})
    write_run(empty_home, 3, REGISTRY["sage"].declaration.floor_models[0], values, options={"turns": 5})
    row = words(open_page())
    assert "On the same samples: a 80.0 %, b 80.0 %" in row
    assert "Under turns" not in row
    write_run(empty_home, 4, "a", dict.fromkeys(list(values)[:5], 90.0), options={"turns": 9})
    row = words(open_page())
    assert "On the same samples, under turns 5: a 80.0 %, b 80.0 %" in row
    assert "Under turns 5; Compare has the others." in row
    assert "of all models under all settings" in row
    # What is of all runs and what is of one setting stand in one column.
    assert "Passed" in row.splitlines()
    assert PASSED_OF_ALL not in row
    assert [line for line in row.splitlines() if line.startswith("⚠ Under turns 5: ")]
