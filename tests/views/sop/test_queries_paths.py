"""Paths counted by SQL against what one counts by hand, and against plain Python on made-up runs."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from cxlab.benchmarks.sage.procedures import graph
from cxlab.metrics.intervals import clustered_interval
from cxlab.metrics.paths import first_divergence
from cxlab.read import View, ask
from cxlab.read.query import AttemptSet
from cxlab.views.sop import queries, queries_comparisons, queries_difference, queries_turns
from cxlab.views.sop.branching import say_causes
from tests.stores.traces import LONG, RIGHT, fill

PAY, TALK = (*RIGHT, "ChangeOrder"), (*LONG, "TransHuman")
SHORT = ("stage1", "stage5", "ChangeOrder")  # jumps over stage2
VIEW = View(metric="overall").narrow(scenario=("telecom_package",))


def fill_by_hand(home: Path) -> Path:
    fill(
        home,
        {
            "a": {
                "s1": [(PAY, PAY, "none", 90.0), (SHORT, PAY, "execution", 60.0)],
                "s2": [(PAY, TALK, "field", 40.0)],
                "s3": [(TALK, TALK, "none", 95.0), ((), PAY, "format", 0.0)],
            },
            "b": {"s1": [((*RIGHT, "GoodBye"), PAY, "action", 70.0)]},
        },
    )
    return home


@pytest.fixture
def by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that nothing was asked of yet."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return fill_by_hand(tmp_path)


@pytest.fixture(scope="module")
def known_by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same for many questions."""
    home = tmp_path_factory.mktemp("by-hand")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        yield fill_by_hand(home)


def test_procedures_are_compared_by_the_turns_that_keep_them(by_hand: Path) -> None:
    found = queries_comparisons.compare_procedures(VIEW.narrow(scenario=()), "scenario", ["telecom_package", "nowhere"])
    assert found["procedure"].unique().to_list() == ["telecom_package"]
    kept = {model: (dialogues, n, round(share, 3)) for model, dialogues, n, share in
            found.select("model", "dialogues", "n", "share").iter_rows()}  # fmt: skip
    # The turn whose reply could not be parsed does not count.
    assert kept == {None: (4, 5, 0.4), "a": (3, 4, 0.5), "b": (1, 1, 0.0)}
    leaks = found.filter(pl.col("model") == "a").select("stage", "left", "arrived").row(0)
    left = queries.divergences(VIEW.change(models=("a",))).sort("n", "stage").tail(1)
    assert leaks == left.select("stage", "n", "arrived").row(0)


def test_transitions_are_followed_inserted_or_skipped(by_hand: Path) -> None:
    found = {(s, t, k): n for _, s, t, k, n in queries.traffic(VIEW.change(models=("a",))).iter_rows()}
    assert found == {
        ("stage1", "stage2", "followed"): 3,
        ("stage2", "stage5", "followed"): 3,
        ("stage5", "ChangeOrder", "followed"): 2,  # the jump comes back in time for the action
        ("stage5", "stage7", "followed"): 1,
        ("stage7", "TransHuman", "followed"): 1,
        ("stage1", "stage5", "inserted"): 1,
        ("stage5", "ChangeOrder", "inserted"): 1,
        ("stage1", "stage2", "skipped"): 1,
        ("stage2", "stage5", "skipped"): 1,
        ("stage5", "stage7", "skipped"): 1,
        ("stage7", "TransHuman", "skipped"): 1,
    }


def test_branch_accuracy_counts_those_that_arrived_with_the_reference(by_hand: Path) -> None:
    rows = {row["stage"]: row for row in queries.branches(VIEW).iter_rows(named=True)}
    assert {stage: (row["n"], round(row["share"], 4)) for stage, row in rows.items()} == {
        "stage1": (5, 0.8),
        "stage2": (4, 1.0),
        "stage5": (5, 0.6),
        "stage7": (1, 1.0),
    }
    # s1: right, right, wrong (b); s2: wrong; s3: right
    expected = clustered_interval([1, 1, 0, 0, 1], ["s1", "s1", "s1", "s2", "s3"], (0, 1))
    assert (rows["stage5"]["low"], rows["stage5"]["high"]) == pytest.approx((expected.low, expected.high))


def test_a_share_of_all_or_nothing_still_has_an_interval(by_hand: Path) -> None:
    row = queries.branches(VIEW).filter(pl.col("stage") == "stage2").row(0, named=True)
    assert (row["share"], row["high"]) == (1.0, 1.0)
    assert 0.2 < row["low"] < 0.5  # Wilson's for 2 of 2 samples


def test_error_split_adds_up_and_names_unparsed_replies(by_hand: Path) -> None:
    found = queries.error_split(VIEW)
    assert {(m, e): n for m, e, n in found.select("model", "error", "n").iter_rows() if n} == {
        ("a", "none"): 2,
        ("a", "execution"): 1,
        ("a", "field"): 1,
        ("a", "format"): 1,
        ("b", "action"): 1,
    }
    for _, part in found.group_by("model"):
        assert part["n"].sum() == part["of"][0]
        assert part["share"].sum() == pytest.approx(1.0)


def test_quadrants_set_results_against_ways(by_hand: Path) -> None:
    found = {row["quadrant"]: row for row in queries.quadrants(VIEW).iter_rows(named=True)}
    assert {name: (row["n"], row["of"]) for name, row in found.items()} == {
        "right>right": (2, 5),  # s1 and s3 of a
        "right>wrong": (1, 5),  # the jump over a stage to the right action
        "wrong>right": (1, 5),  # b says goodbye at the end of the right way
        "wrong>wrong": (1, 5),
    }
    expected = clustered_interval([1, 0, 0, 0, 1], ["s1", "s1", "s1", "s2", "s3"], (0, 1))
    assert (found["right>right"]["low"], found["right>right"]["high"]) == pytest.approx((expected.low, expected.high))
    own = queries.quadrants(VIEW, by_model=True)
    assert own.filter(pl.col("model") == "b").select("quadrant", "n").rows() == [
        ("right>right", 0), ("right>wrong", 0), ("wrong>right", 1), ("wrong>wrong", 0),
    ]  # fmt: skip
    nobody = queries.quadrants(VIEW.change(models=("nobody",)))
    assert nobody.is_empty()


def test_differences_are_of_samples_that_both_models_have(by_hand: Path) -> None:
    found = queries_difference.step_differences(VIEW, graph.load("telecom_package"), ("a", "b"))
    rows = {(row["source"], row["target"]): row for row in found.iter_rows(named=True)}
    # Only s1 is of both: a went the long way once and jumped once, b went the long way and said goodbye.
    assert (rows["stage1", "stage2"]["first"], rows["stage1", "stage2"]["second"]) == (0.5, 1.0)
    assert (rows["stage1", "stage5"]["first"], rows["stage1", "stage5"]["second"]) == (0.5, 0.0)
    assert rows["stage5", "GoodBye"]["difference"] == -1.0
    assert set(found["n"]) == {1}
    assert not found["sure"].any()
    alone = queries_difference.step_differences(VIEW, graph.load("telecom_package"), ("a", "nobody"))
    assert alone.is_empty()


def test_a_difference_on_every_sample_is_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    turns = {
        model: {f"s{place}": [(way, PAY, "none", 90.0)] for place in range(40)}
        for model, way in (("a", PAY), ("b", SHORT))
    }
    fill(tmp_path, turns)
    found = queries_difference.step_differences(VIEW, graph.load("telecom_package"), ("a", "b"))
    sure = {row["target"]: row["difference"] for row in found.filter("sure").iter_rows(named=True)}
    assert found.filter("sure").select("source", "target").rows() == [
        ("stage1", "stage2"), ("stage2", "stage5"), ("stage1", "stage5"),
    ]  # fmt: skip
    assert sure["stage2"] == 1.0


def test_survival_falls_to_the_share_of_wholly_right_turns(by_hand: Path) -> None:
    found = queries.survival(VIEW.change(models=("a",)))
    assert found["share"].to_list() == [1.0, 0.75, 0.75, 0.5, 0.5]


def test_first_divergence_by_stage(by_hand: Path) -> None:
    found = queries.divergences(VIEW.change(models=("a",)))
    assert {(s, p): (n, arrived) for _, s, p, n, arrived, _ in found.iter_rows()} == {
        ("stage1", 1): (1, 4),
        ("stage2", 2): (0, 3),
        ("stage5", 3): (1, 3),
        ("stage7", 4): (0, 1),
    }


def test_confusion_variants_and_flows(by_hand: Path) -> None:
    cells = {(s, e, t): n for s, e, t, n in queries.confusion(VIEW).iter_rows()}
    assert cells[("stage5", "stage7", "ChangeOrder")] == 1
    assert cells[("stage5", "ChangeOrder", "GoodBye")] == 1
    variants = queries.variants(VIEW)
    first = variants.row(0, named=True)
    assert (first["way"], first["n"], first["right"], first["share"]) == (list(PAY), 2, 1, pytest.approx(0.4))
    assert variants["cumulative"][-1] == pytest.approx(1.0)
    jump = variants.filter(pl.col("way").list.len() == 3).row(0, named=True)
    assert jump["steps"] == [{"stage": "stage1", "followed": 1}, {"stage": "stage5", "followed": 1}]
    assert jump["skipped"] == [{"stage": "stage2", "n": 1}]
    # Taken twice, due once: each turn is coloured by its own reference.
    assert (first["right"], first["acted"]) == (1, 1)
    assert all(0 <= step["followed"] <= first["n"] for step in first["steps"])
    flows = {(e, at, t): n for e, at, t, n in queries.flows(VIEW).iter_rows()}
    assert flows == {
        ("ChangeOrder", "", "ChangeOrder"): 1,
        ("ChangeOrder", "stage1", "ChangeOrder"): 1,
        ("TransHuman", "stage5", "ChangeOrder"): 1,
        ("TransHuman", "", "TransHuman"): 1,
        ("ChangeOrder", "stage5", "GoodBye"): 1,
    }


def test_turns_narrow_what_is_counted(by_hand: Path) -> None:
    assert queries.error_split(VIEW.change(at="1"))["n"].sum() == 4
    assert queries.error_split(VIEW.change(at="last", models=("a",)))["n"].sum() == 3
    assert queries.error_split(VIEW.change(at="nonsense"))["n"].sum() == 6


@pytest.mark.parametrize(
    ("pick", "total", "wrong"),
    [
        ("stage5", 5, 2),
        ("stage1>stage5", 1, 1),
        ("stage1>stage2", 5, 1),
        ("error=format", 1, 1),
        ("way=stage1>stage2>stage5>ChangeOrder", 2, 1),
        ("left=stage5", 2, 2),
        ("cell=stage5>stage7>ChangeOrder", 1, 1),
        ("flow=ChangeOrder>stage1>ChangeOrder", 1, 1),
        ("", 0, 0),
        ("result=right>right", 2, 0),
        ("result=right>wrong", 1, 1),
        ("result=wrong>right", 1, 1),
        ("result=wrong>wrong", 1, 1),
        ("result=right", 0, 0),
        ("error=nonsense", 0, 0),
        ("cell=stage5", 0, 0),
        ("bad=stage5", 0, 0),
        ("stage5' OR true --", 0, 0),
    ],
)
@pytest.mark.usefixtures("known_by_hand")
def test_a_pick_finds_the_turns_behind_its_mark(pick: str, total: int, wrong: int) -> None:
    page = queries_turns.turns(VIEW, pick)
    assert page.total == page.frame.height == total
    assert (int(page.frame["wrong"].sum()) if total else 0) == wrong
    if total:
        assert page.frame["wrong"].to_list() == sorted(page.frame["wrong"], reverse=True)


@pytest.mark.usefixtures("known_by_hand")
@pytest.mark.parametrize("pick", ["stage1", "stage2", "stage5", "left=stage1", "stage1>stage5", "", "stage99"])
def test_the_causes_of_a_pick_are_those_of_its_wrong_turns(pick: str) -> None:
    page = queries_turns.turns(VIEW, pick)
    found = queries_turns.causes(VIEW, pick)
    wrong = page.frame.filter("wrong") if page.total else page.frame
    expected = dict(wrong.group_by("error").len().iter_rows()) if page.total else {}
    assert (dict(found.select("error", "n").iter_rows()) if found.height else {}) == expected


def test_causes_are_told_with_what_is_misread_most_often() -> None:
    found = pl.DataFrame(
        {
            "error": ["field", "execution"], "n": [30, 1], "field": ["CoreDemand", None], "given": ["Inqury", None],
            "due": ["Complaint", None], "times": [22, None],
        }
    )  # fmt: skip
    assert say_causes(found, {"field": "misread field", "execution": "left the procedure"}) == (
        "Why 31 turns took another: 30 misread field (most often core demand read as inquiry, it was complaint: 22); "
        "1 left the procedure."
    )


def test_another_filter_reads_no_trace_again(by_hand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ask("SELECT run_id, attempt_id, model, sample_id FROM attempts")
    every = queries.error_split(VIEW.narrow(scenario=()))
    asked: list[str] = []
    monkeypatch.setattr(queries, "ask", lambda sql, *given: (asked.append(sql), ask(sql, *given))[1])
    assert queries.error_split(VIEW).equals(every)  # all of them are of this procedure
    for facet in ("scenario", "level", "intent"):
        # "intent" is a facet that no attempt of this store has.
        assert queries.error_split(VIEW.narrow(**{facet: ("another",)})).is_empty()
    among = AttemptSet.of(rows.filter((pl.col("model") == "a") & (pl.col("sample_id") == "s3"))).keep()
    left = queries.error_split(VIEW.change(among=among, page=1)).filter(pl.col("n") > 0)
    assert left.select("model", "error", "n").sort("error").rows() == [("a", "format", 1), ("a", "none", 1)]
    assert not [sql for sql in asked if "traces" in sql]


def test_rows_are_cut_after_they_are_counted(by_hand: Path) -> None:
    page = queries_turns.turns(VIEW, "stage5", limit=2)
    assert (page.total, page.frame.height) == (5, 2)


def test_the_event_log_spells_each_way(by_hand: Path) -> None:
    log = queries_turns.events(VIEW)
    case = log.filter(pl.col("case:concept:name") == "run-a/a-s1/5")
    assert case["concept:name"].to_list() == list(SHORT)
    assert case["kind"].to_list() == ["stage", "stage", "action"]
    assert case["time:timestamp"].is_sorted()
    assert log["case:concept:name"].n_unique() == 5


def test_the_paired_view_keeps_to_dialogues_that_reach_every_turn(by_hand: Path) -> None:
    everyone = queries.by_turn(VIEW.change(models=("a",)))
    assert dict(everyone.select("turn", "n").iter_rows()) == {1: 3, 5: 2}
    paired = queries.by_turn(VIEW.change(models=("a",)), 5)
    assert dict(paired.select("turn", "n").iter_rows()) == {1: 2, 5: 2}
    assert paired["share"].to_list() == [92.5, 30.0]
    assert dict(queries.reaches(VIEW.change(models=("a",))).select("turn", "n").iter_rows())[5] == 2


def test_untested_leaves_are_rows_of_their_own(by_hand: Path) -> None:
    found = queries.coverage(VIEW.change(models=("b",)))
    assert found.select("leaf", "model", "dialogues").rows() == [("TP-01", "b", 1)]
    nobody = queries.coverage(VIEW.narrow(models=("b",), level=("strong",)))
    assert nobody.select("leaf", "model", "dialogues").rows() == [("TP-01", None, 0)]


def test_levels_are_paired_by_leaf(by_hand: Path) -> None:
    found = {row["level"]: row for row in queries_comparisons.level_differences(VIEW).iter_rows(named=True)}
    assert set(found) == {"weak", "strong"}
    assert found["weak"]["difference"] == pytest.approx(40.0 - 75.0)
    assert (found["weak"]["n"], found["weak"]["unmatched"]) == (1, 0)


@pytest.mark.parametrize("at", ["", "last"])
def test_sql_agrees_with_plain_python_on_many_traces(home: Path, at: str) -> None:
    view = View(metric="overall", at=at)
    condition = "last" if at else "true"
    rows = ask(
        "SELECT model, list_append(predicted_path, predicted_action) AS way, "
        "list_append(reference_path, reference_action) AS wanted "
        f"FROM traces WHERE parsed AND len(reference_path) > 0 AND {condition}"
    )
    made: Counter[tuple[str, str, str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    for model, way, wanted in rows.iter_rows():
        ours, theirs = list(pairwise(way)), list(pairwise(wanted))
        made.update((model, *step, "followed" if step in theirs else "inserted") for step in ours)
        made.update((model, *step, "skipped") for step in theirs if step not in ours)
        place = first_divergence(way, wanted)
        if place:
            left[model, wanted[place - 1]] += 1
    assert rows.height > 50
    assert {row[:4]: row[4] for row in queries.traffic(view).iter_rows()} == made
    sums = queries.divergences(view).group_by("model", "stage").agg(pl.col("n").sum()).filter(pl.col("n") > 0)
    assert {(m, s): n for m, s, n in sums.iter_rows()} == left
