"""What became of attempts side by side: fixed and broken samples, whose doing, and labels that may be wrong."""

import json
from itertools import product
from math import comb
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import REGISTRY
from cxlab.cli import app as cli
from cxlab.read import View, annotations, ask, where
from cxlab.read.annotations import WRONG_LABEL
from cxlab.read.attempts import attempts
from cxlab.read.comparison.ranking import by_sample, rank, results_of, summarise
from cxlab.report.write import write_report
from cxlab.ui.annotations import annotate
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries
from cxlab.views.compare import queries_verdicts as verdicts
from cxlab.views.compare.queries_verdicts import audit, count_flips, flips, owners, runs_behind, typical_pairs
from cxlab.views.compare.verdicts import counted
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

VIEW = View(benchmark="sage", metric="told")
Values = dict[tuple[str, int], float | None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def marks(passed: str, *, trials: int = 1) -> Values:
    """A value for each sample and trial from a word of p and f, trial by trial."""
    count = len(passed) // trials
    return {
        (f"s{i}", t + 1): 90.0 if passed[i * trials + t] == "p" else 10.0
        for i, t in product(range(count), range(trials))
    }


def test_what_is_fixed_and_broken_is_counted_by_sample_and_tested_exactly(home: Path) -> None:
    write_run(home, 1, "old", marks("ppppffffff"))
    write_run(home, 2, "new", marks("pppfpppppf"))
    found = flips(VIEW, "new", "old")
    told = dict(found.select("sample_id", "flip").iter_rows())
    assert [told[f"s{i}"] for i in range(10)] == ["same"] * 3 + ["broken"] + ["fixed"] * 5 + ["same"]
    fixed, broken, p = count_flips(found)
    assert (fixed, broken) == (5, 1)
    assert p == pytest.approx(2 * sum(comb(6, k) for k in (0, 1)) / 2**6)
    turned = flips(VIEW, "old", "new")
    assert count_flips(turned)[:2] == (1, 5)


def test_a_typical_pair_is_the_one_nearest_to_both_medians(home: Path) -> None:
    old = {"s0": 0.0, "s1": 10.0, "s2": 20.0, "s3": 40.0, "s4": 11.0, "s5": 90.0, "s6": 90.0, "s7": 5.0}
    new = {"s0": 100.0, "s1": 50.0, "s2": 60.0, "s3": 80.0, "s4": 70.0, "s5": 0.0, "s6": 10.0, "s7": 5.0}
    write_run(home, 1, "old", {(name, 1): value for name, value in old.items()})
    run = write_run(home, 2, "new", {(name, 1): value for name, value in new.items()})
    found = typical_pairs(VIEW, "new", "old")
    # Of the two that are broken none is in the middle; s7 fails on both sides.
    (row,) = found.iter_rows(named=True)
    # By old alone s4 is in the middle, by new as well: 11 of 0, 10, 11, 20, 40 and 70 of 50, 60, 70, 80, 100.
    assert row == {
        "flip": "fixed", "n": 5, "sample_id": "s4", "run_id": run, "attempt_id": "a2-s4-1", "first": 70.0,
        "second": 11.0, "mid_first": 70.0, "mid_second": 11.0,
    }  # fmt: skip
    app = open_page("compare", benchmark="sage", model=["old", "new"], tab="samples")
    assert "Typical: scores of" in words(app)
    button = next(each for each in app.button if each.label.startswith("Read a typical one side by side"))
    button.click().run()
    assert not app.exception
    assert "s4" in str(app.query_params["attempt"])


def test_with_several_trials_a_sample_is_fixed_that_passes_more_of_them(home: Path) -> None:
    write_run(home, 1, "old", marks("pffp", trials=2))
    write_run(home, 2, "new", marks("ppfp", trials=2))
    rows = flips(VIEW, "new", "old").sort("sample_id").rows()
    assert rows == [("s0", 2, 1, 2, "fixed"), ("s1", 1, 1, 2, "same")]


def test_a_row_of_the_fixed_opens_both_dialogues(home: Path) -> None:
    write_run(home, 1, "old", marks("ppfff"))
    new = write_run(home, 2, "new", marks("pfppp"))
    app = open_page("compare", benchmark="sage", baseline="old", show="fixed", attempt=f"{new}/a2-s2-1")
    assert not app.exception
    assert "new passes 3 of the samples that old fails, and fails 1" in words(app)
    table = next(each.value for each in app.dataframe if "flip" in each.value)
    assert set(table["flip"]) == {"✓ only new"}
    assert len(table) == 3
    links = [each.proto.label for each in app.get("page_link")]
    assert sum("Open this dialogue" in each for each in links) == 2


def test_two_runs_of_one_model_fix_and_break(home: Path) -> None:
    old = write_run(home, 1, "same", marks("ppfff"))
    new = write_run(home, 2, "same", marks("pfppp"), options={"turns": 5})
    app = open_page("compare", benchmark="sage", run=[old, new], baseline=old, show="fixed")
    assert not app.exception
    table = next(each.value for each in app.dataframe if "flip" in each.value)
    assert set(table["flip"]) == {"✓ fixed"}


def test_failures_are_counted_by_owner_on_what_all_tried(home: Path) -> None:
    write_run(home, 1, "a", marks("pfff"), reasons={"s1": "late"})
    write_run(home, 2, "b", marks("ppffff"), reasons={"s2": "late"})
    found = owners(VIEW)
    # Samples s4 and s5 were tried by one side alone.
    assert found.select("side", "verdict", "owner", "n", "tried").rows() == [
        ("a", "failed", "agent", 3, 4), ("b", "failed", "agent", 2, 4),
    ]  # fmt: skip
    other = write_run(home, 3, "a", marks("ffff"), options={"turns": 5})
    runs = runs_behind(VIEW)
    assert len(runs) == 2
    assert other not in runs


def test_a_row_of_the_owners_opens_as_many_as_it_counts(home: Path) -> None:
    """Not what one side tried alone, nor the older of two runs of one model."""
    write_run(home, 1, "a", marks("ffff"))
    runs = [write_run(home, 2, "a", marks("ff")), write_run(home, 3, "b", marks("fffp")),
            write_run(home, 4, "c", marks("fff"))]  # fmt: skip
    about, view = declared("sage"), VIEW.change(models=("a", "b", "c"))
    every = VIEW.change(runs=(runs[0], runs[1]))
    for unit, one in (("model", view), ("run_id", every)):
        found = owners(one, unit)
        for (verdict, owner), part in found.group_by("verdict", "owner"):
            target = counted(about, one, unit, str(verdict), str(owner))
            again = View.from_query(target.to_query())
            assert attempts(again).total == part["n"].sum() > 0
            known = dict(queries.sides(one, unit).select("side", "model").iter_rows())
            for side, n in part.select("side", "n").iter_rows():
                assert attempts(counted(about, one, unit, str(verdict), str(owner), known[side])).total == n
    target = counted(about, view, "model", "failed", owners(view)["owner"][0])
    assert owners(view)["n"].sum() == attempts(target).total == 9
    assert attempts(target.change(shared="")).total == 12
    app = open_page("failures", **target.to_query())
    assert not app.exception
    assert "Only what all models of the comparison tried" in words(app)


@pytest.mark.parametrize("benchmark", list(REGISTRY))
def test_of_each_benchmark_the_owners_open_what_they_count(home: Path, benchmark: str) -> None:
    about = declared(benchmark)
    task = about.card.tasks[0]
    for number, (model, values) in enumerate({"a": marks("ffpf"), "b": marks("ffp"), "c": marks("pfpff")}.items(), 1):
        write_run(home, number, model, values, benchmark=benchmark, task=task.id, metric=task.metric)
    view = View(benchmark, tasks=(task.id,), metric=task.metric)
    found = owners(view)
    assert found["n"].sum() > 0
    for (verdict, owner), part in found.group_by("verdict", "owner"):
        assert attempts(counted(about, view, "model", str(verdict), str(owner))).total == part["n"].sum()


def test_what_all_strong_sides_fail_alike_and_nobody_passes_comes_first(home: Path) -> None:
    # s0: alike, nobody passes. s1: each its own reason. s2: alike, but a weaker side passes it. s3: one passes.
    same = {"s0": "chose A", "s2": "chose B", "s3": "chose C"}
    write_run(home, 1, "best", marks("fffp" + "p" * 8), reasons={**same, "s1": "late"})
    write_run(home, 2, "good", marks("ffff" + "p" * 8), reasons={**same, "s1": "rude"})
    write_run(home, 3, "poor", marks("ffpf" + "f" * 8), reasons={"s0": "anything"})
    strong, found = audit(VIEW)
    assert strong == ("best", "good")
    assert found.select("sample_id", "alike", "reason", "passed_by").rows() == [
        ("s0", True, "chose A", []),
        ("s1", False, "late", []),
        ("s2", True, "chose B", ["poor"]),
    ]
    assert [tuple(each) for each in found["opened"][0]] == [
        ("best", "run-260101-000001-aaaaaaaa", "a1-s0-1"), ("good", "run-260101-000002-aaaaaaaa", "a2-s0-1"),
    ]  # fmt: skip


def test_a_wrong_label_is_marked_on_the_page_and_the_mark_taken_back(home: Path) -> None:
    write_run(home, 1, "a", marks("fpp"), reasons={"s0": "chose A"})
    write_run(home, 2, "b", marks("fpp"), reasons={"s0": "chose A"})
    app = open_page("compare", benchmark="sage", tab="labels", sample="s0")
    # Of two neither is the better half.
    assert "1 sample is failed by both for one reason" in words(app)
    assert "better half" not in words(app)
    app.button(key="audit-s0").click().run()
    assert audit(VIEW)[1]["marked"].to_list() == [True]
    tagged = open_page("failures", benchmark="sage", tag=[WRONG_LABEL])
    assert not tagged.exception
    app.button(key="audit-s0").click().run()
    assert audit(VIEW)[1]["marked"].to_list() == [False]


def test_every_look_opens_where_all_failed_and_nobody_judged(home: Path) -> None:
    for number, model in enumerate(("a", "b"), 1):
        write_run(home, number, model, marks("ffff"), reasons={"s0": "late"}, judges=())
    for tab in ("", "owners", "labels", "front", "trials", "history"):
        app = open_page("compare", benchmark="sage", tab=tab)
        assert not app.exception, tab
        assert not app.error, tab
    assert count_flips(flips(VIEW, "a", "b")) == (0, 0, 1.0)
    assert owners(VIEW)["n"].to_list() == [4, 4]
    assert audit(VIEW)[1].height == 4


def test_one_model_alone_has_no_flips_and_no_audit(home: Path) -> None:
    write_run(home, 1, "a", marks("fp"))
    assert flips(VIEW, "a", "nobody").is_empty()
    strong, found = audit(VIEW)
    assert (len(strong), found.height) == (1, 0)
    assert owners(VIEW)["n"].to_list() == [1]
    assert isinstance(audit(View(benchmark="cdr"))[1], pl.DataFrame)


def test_samples_marked_as_wrongly_labelled_can_be_left_out_named_and_counted(home: Path) -> None:
    facets = {f"s{i}": {"leaf": f"L-{i}"} for i in range(20)}
    better: Values = {(f"s{i}", 1): 90.0 if i < 4 else 60.0 + i % 5 for i in range(20)}
    write_run(home, 1, "a", {(f"s{i}", 1): 10.0 if i < 4 else 60.5 + i % 5 for i in range(20)}, facets=facets)
    run = write_run(home, 2, "b", better, facets=facets)
    for sample in range(4):
        annotate("tag", run, f"a2-s{sample}-1", WRONG_LABEL)
    seen = words(open_page("compare", benchmark="sage"))
    assert "4 of these samples are marked “label is wrong”: L-0, L-1, L-2 and L-3." in seen
    assert "20 samples that both models have" in seen
    app = open_page("compare", benchmark="sage", marked="out")
    assert not app.exception
    left_out = "Left out: 4 samples marked as wrongly labelled: L-0, L-1, L-2 and L-3."
    assert left_out in words(app)
    assert "16 samples that both models have" in words(app)
    assert left_out in words(open_page(marked="out"))
    marked = tuple(annotations.marked_samples("sage")["sample_id"])
    view = VIEW.change(without_samples=marked)
    alone = rank(declared("sage"), view).tasks[0]
    assert set(alone.means["sample_id"]) == {f"s{i}" for i in range(4, 20)}
    assert alone.leader == "a"
    done = CliRunner().invoke(cli, ["compare", "--without-marked", "--json"], catch_exceptions=False)
    told = json.loads(done.stdout)
    assert (told["without_samples"], told["tasks"][0]["samples"], told["tasks"][0]["of"]) == (list(marked), 16, 16)
    assert left_out in write_report([(declared("sage"), view, "model")])
    assert count_messages(view) == 0


@pytest.mark.parametrize("page", ["overview", "compare"])
def test_where_all_samples_are_marked_they_can_be_counted_again(home: Path, page: str) -> None:
    for number, model in enumerate("ab", 1):
        run = write_run(home, number, model, marks("pfp"))
    for sample in range(3):
        annotate("tag", run, f"a2-s{sample}-1", WRONG_LABEL)
    app = open_page(page, marked="out")
    assert not app.exception
    app.button(key="marked-sage").click().run()
    assert "3 samples that both models have" in words(app)


def count_messages(view: View) -> int:
    """Attempts of the view that `where` lets through in tables that do not hold the sample themselves."""
    condition, params = where(view, "messages", "m.")
    assert "sample_id NOT IN" in condition
    return int(ask(f"SELECT count(*) AS n FROM messages m WHERE {condition}", params)["n"][0])


def test_a_filter_by_facet_reads_no_verdict_anew_and_each_part_has_its_own_scale(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facets = {f"s{i}": {"scenario": ("here", "there")[i % 2]} for i in range(12)}
    grades: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 4.0 + i % 3 for i in range(12)}
    for number, model in enumerate("ab", 1):
        values: dict[tuple[str, int], float | None] = {
            (f"s{i}", 1): 10.0 * number + 60 * (i % 3 > 0) for i in range(12)
        }
        write_run(home, number, model, values, facets=facets, also={"content_utility": grades, "action": values})
    view, asked = View(benchmark="sage", metric="told"), []
    monkeypatch.setattr(verdicts, "ask", lambda *given: asked.append(given) or ask(*given))
    every, here = owners(view), owners(view.narrow(scenario=["here"]))
    assert every["n"].sum() == 2 * here["n"].sum() > 0
    assert len(asked) == 1
    found = queries.profile(view, ("content_utility", "told", "action"))
    task = queries.task_of(view, "model")
    assert task is not None
    for metric in ("content_utility", "told", "action"):
        scored = by_sample(results_of(view, task, metric))
        alone = summarise(scored, declared("sage").card.scale(metric)).sort("side")
        own = found.filter(pl.col("metric") == metric).sort("side")
        for name, other in (("mean", "value"), ("low", "low"), ("high", "high"), ("n", "samples")):
            assert own[name].to_list() == pytest.approx(alone[other].to_list())
