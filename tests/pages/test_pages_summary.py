"""Overview at a glance: every benchmark's row, one success rate with Failures, the baseline, and what is running."""

from pathlib import Path

import pytest

from cxlab import read
from cxlab.charts.numbers import format_share
from cxlab.read import View
from cxlab.read.failures import counts, passed_rate
from cxlab.ui.annotations import annotate
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
        assert next(each.value for each in failures.metric if each.label == "Passed") == rate
    assert "Nothing is running." in told


def test_what_breaks_most_is_counted_without_what_names_one_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 90.0 if i > 4 else 10.0 for i in range(8)}
    reasons = {"s0": "late: by 3 days", "s1": "late: by 7 days", "s2": "late: by 7 days", "s3": "rude", "s4": "rude"}
    write_run(tmp_path, 1, "m", values, reasons=reasons)
    found = outcome(View(benchmark="sage"))
    assert (found.passed, found.failed, found.owner, found.reason, found.n) == (3, 5, "agent", "late", 3)


def test_the_kept_baseline_stands_on_overview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for number, (model, more) in enumerate((("new", 20.0), ("old", 0.0)), 1):
        write_run(tmp_path, number, model, {(f"s{i}", 1): 60.0 + i % 5 + more for i in range(20)})
    annotate("baseline", "sage", "", "old", field="model")
    assert "Baseline old: new is 20.0 points ahead of it, for sure" in words(open_page())


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
