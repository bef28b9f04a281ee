"""A panel without one of its judges: worked out by hand, and against a plain count over every verdict."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.read import View
from cxlab.records.benchmark_card import Card, Declaration, Task
from cxlab.views.benchmarks import declared, declared_all
from cxlab.views.judges import materiality, queries_leave_out, queries_materiality
from cxlab.views.judges.leave_out import find_whole, say_drop, say_narrowed
from cxlab.views.judges.materiality import say_at_stake
from tests.pages.app_script import open_page, words
from tests.stores.judged import JUDGES


def test_the_votes_where_the_truth_is_known(judged_home: Path) -> None:
    found = queries_leave_out.votes_with_truth(View(), JUDGES)
    # Of the four last turns one could not be read; each was made from a refund.
    assert found["n"].sum() == 3
    assert set(found["gold"]) == {"ReturnOrRefund"}
    # (R R R), (E R R), (E E E): the panel is right twice; without lenient still, and no tie is left.
    rows = {row["judge"].rpartition("-")[2]: row for row in queries_leave_out.without_each(found, JUDGES).to_dicts()}
    assert [rows[name]["n"] for name in ("lenient", "partial", "strict")] == [3, 3, 3]
    assert rows["lenient"]["whole"] == rows["lenient"]["rest"] == pytest.approx(2 / 3)
    # Without strict lenient and partial tie on the second: a lot drawn is right half the time.
    assert rows["strict"]["rest"] == pytest.approx(1.5 / 3)
    assert rows["strict"]["change"] == pytest.approx(-0.5 / 3)
    assert rows["lenient"]["alone"] == pytest.approx(1 / 3)


@given(
    st.lists(
        st.tuples(st.sampled_from("st"), st.sampled_from("xy"), *[st.sampled_from(["x", "y", "z", None])] * 3),
        min_size=1,
        max_size=20,
    )
)
def test_leaving_out_is_what_a_plain_count_says(rows: list[tuple]) -> None:
    schema = {"sample_id": pl.String, "gold": pl.String, "v0": pl.String, "v1": pl.String, "v2": pl.String}
    votes = pl.DataFrame(rows, schema=schema, orient="row").with_columns(n=pl.lit(1))
    found = {row["judge"]: row for row in queries_leave_out.without_each(votes, ("a", "b", "c")).to_dicts()}

    def right(values: list[str], gold: str) -> float:
        most = max(values.count(each) for each in values)
        top = {each for each in values if values.count(each) == most}
        return (gold in top) / len(top)

    for place, judge in enumerate("abc"):
        kept = []
        for _, gold, *said in rows:
            others = [value for at, value in enumerate(said) if at != place and value is not None]
            if said[place] is not None and others:
                kept.append((right([*others, said[place]], gold), right(others, gold)))
        if not kept:
            assert judge not in found
            continue
        assert found[judge]["n"] == len(kept)
        assert found[judge]["whole"] == pytest.approx(sum(one for one, _ in kept) / len(kept))
        assert found[judge]["rest"] == pytest.approx(sum(other for _, other in kept) / len(kept))
        assert found[judge]["change"] == pytest.approx(found[judge]["rest"] - found[judge]["whole"])


def test_who_is_missed_least_is_said_only_where_that_is_sure() -> None:
    votes = pl.DataFrame(
        {
            "sample_id": [f"s{place}" for place in range(60)],
            "gold": ["x"] * 60,
            # The first is right always, the second but for a sixth, the third in half of the samples.
            "v0": ["x"] * 60,
            "v1": ["y" if place % 6 == 0 else "x" for place in range(60)],
            "v2": ["y" if place % 2 else "x" for place in range(60)],
            "n": [1] * 60,
        }
    )
    found = {row["judge"]: row for row in queries_leave_out.without_each(votes, ("a", "b", "c")).to_dicts()}
    assert [found[judge]["least"] for judge in "abc"] == [False, False, True]
    assert [found[judge]["undecided"] for judge in "abc"] == pytest.approx([2 / 3, 1 / 2, 1 / 6])
    assert found["a"]["high"] < 0
    # Corrected for three judges: wider than an interval for one.
    assert found["c"]["high"] - found["c"]["low"] > 0
    few = queries_leave_out.without_each(votes.head(4), ("a", "b", "c"))
    assert not few["least"].any()


def frame_of(*rows: tuple[str, float, float, float]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"judge": judge, "n": 100, "whole": 0.9, "rest": 0.9 + change, "change": change, "low": low, "high": high,
          "least": judge.endswith("spare")}
         for judge, change, low, high in rows]
    )  # fmt: skip


def test_a_judge_is_dropped_only_where_that_is_tested() -> None:
    missed = ("b", -0.1, -0.2, -0.01)
    assert say_drop(frame_of(("a", 0.02, 0.01, 0.03), missed, ("c", -0.1, -0.2, -0.01))).startswith(
        "Drop a: without it the panel is right on 92.0 %, not 90.0 % (+2.0 points, +1.0 to +3.0, n 100 verdicts)"
    )
    assert say_drop(frame_of(("a", 0.0, -0.01, 0.01), missed, ("c", -0.1, -0.2, -0.01))).startswith(
        "A can go: nothing is lost beyond chance"
    )
    assert say_drop(frame_of(("a", 0.0, -0.01, 0.01), ("b", 0.0, -0.02, 0.01), ("c", 0.0, -0.02, 0.01))).startswith(
        "No judge is missed"
    )
    unsure = say_drop(frame_of(("a", -0.1, -0.2, -0.01), missed, ("c", -0.1, -0.2, -0.01)))
    assert unsure.startswith("Drop none")
    assert unsure.endswith("which of them is the weakest is not sure")
    assert say_drop(frame_of(("a", -0.1, -0.2, -0.05), missed, ("spare", -0.02, -0.03, -0.01))).endswith(
        "If one must go, spare is missed least (−2.0 points, −3.0 to −1.0)"
    )
    assert "no truth is known" in say_drop(frame_of(("a", 0.0, 0.0, 0.0)).with_columns(low=None, high=None))


def test_of_two_judges_none_is_dropped_for_what_is_left_is_no_panel() -> None:
    told = say_drop(frame_of(("a", 0.02, 0.01, 0.03), ("b", -0.02, -0.03, -0.01)))
    assert told.startswith("Of the two judges a is the weaker one: b alone is right on 92.0 %")
    assert told.endswith("n 100 verdicts of known truth). Without it one judge is left, and no panel")
    unsure = say_drop(frame_of(("a", 0.02, -0.01, 0.03), ("b", -0.02, -0.03, 0.01)))
    assert unsure.startswith("Neither of the two judges is the weaker one beyond chance: b alone is")


def test_ranks_without_a_judge(judged_home: Path) -> None:
    scores = pl.DataFrame(
        {"judge": ["panel", "panel", "a", "a", "b", "b"], "model": ["m", "n"] * 3,
         "mean": [50.0, 40.0, 60.0, 30.0, 40.0, 50.0], "low": [48.0, 38.0, 58.0, 28.0, 38.0, 48.0],
         "high": [52.0, 42.0, 62.0, 32.0, 42.0, 52.0]}
    )  # fmt: skip
    found = queries_leave_out.ranks_without(scores)
    assert found.select("judge", "tau", "moved").rows() == [("a", -1.0, 2), ("b", 1.0, 0)]
    assert materiality.say_ranking(scores, {"a": 1.0, "b": -1.0}) == "B turns m and n, each beyond chance"
    wide = scores.with_columns(low=pl.col("mean") - 20, high=pl.col("mean") + 20)
    assert materiality.say_ranking(wide, {"a": 1.0, "b": -1.0}) == (
        "No judge alone turns the order of two models beyond chance"
    )
    assert queries_leave_out.ranks_without(queries_materiality.alone(View(models=("none",)))).is_empty()


def test_filters_that_came_along_are_told_with_the_finding() -> None:
    about = declared_all(["sage"], union=True)
    assert say_narrowed(View("sage"), about) == ""
    view = View("sage", models=("simulated:weak",), runs=("r1", "r2")).narrow(scenario=("airline_refund",))
    assert say_narrowed(view, about) == ", scenario: airline refund, model: weak · simulated, 2 runs alone"


def test_where_none_can_go_each_judge_is_named_with_what_is_lost_without_it() -> None:
    told = say_drop(frame_of(("a", -0.1, -0.2, -0.01), ("b", -0.12, -0.2, -0.01), ("c", -0.15, -0.2, -0.01)))
    assert "(10.0 points without a, 12.0 points without b, 15.0 points without c)" in told


def test_the_panels_share_is_that_of_the_row_without_anybody_left_out() -> None:
    rows = frame_of(("a", -0.1, -0.2, -0.01), ("b", -0.12, -0.2, -0.01), ("c", -0.15, -0.2, -0.01))
    rows = rows.with_columns(n=pl.Series([99, 100, 98]), whole=pl.Series([0.98550, 0.98549, 0.98551]))
    assert find_whole(rows)["whole"].to_list() == [0.98549]
    assert "the whole panel is right on 98.5 %," in say_drop(rows)


def test_whether_a_ranking_hangs_on_judges_is_said_before_one_is_dropped(judged_home: Path) -> None:
    def about(metric: str, *leads: str, other: str = "") -> Declaration:
        tasks = [Task("a", "A", metric, leads=leads), *([Task("b", "B", other)] if other else [])]
        return Declaration(Card("x", "X", "", "", "", tuple(tasks), {}, unjudged=frozenset({"f1"})))

    free = "Models are ranked by F1, in which no judge has a say: dropping one changes nobody's rank by it."
    assert say_at_stake(about("f1")) == free
    assert say_at_stake(about("f1", "f1", "chat")).startswith(f"{free} They have one in chat:")
    assert say_at_stake(about("chat")).startswith("Models are ranked by chat; where judges have a say")
    assert say_at_stake(about("chat", other="mrr")).startswith("Models are ranked by each task's own main figure;")
    app = open_page("judges", benchmark="sage", tab="changes")
    assert not app.exception
    assert say_at_stake(declared("sage")) in words(app)


@pytest.mark.parametrize(("rest", "told"), [
    (0.9136, "strict alone is right on 91.36 %, both together on 90.84 % (+0.5 points"),
    (0.9134, "strict alone is right on 91.3 %, both together on 90.8 % (+0.5 points"),
])  # fmt: skip
def test_shares_and_their_difference_agree_as_they_are_written(rest: float, told: str) -> None:
    change = rest - 0.9084
    frame = frame_of(("lenient", change, 0.001, 0.02), ("strict", -0.02, -0.03, -0.01)).with_columns(
        rest=pl.Series([rest, 0.8884]), whole=pl.lit(0.9084)
    )
    assert told in say_drop(frame)
