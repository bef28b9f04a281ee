"""What a choice between two models stands on: the slice where the loser wins, prices, and samples still to run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_rough
from cxlab.metrics.paired import compare_pairs, minimum_detectable
from cxlab.read import View
from cxlab.read.comparison.decision import Decision, decide
from cxlab.read.comparison.other_metrics import OtherLead, OtherMetric
from cxlab.read.comparison.ranking import describe_sides, floors_of, rank, results_of, zero_of
from cxlab.read.comparison.words import samples_to_settle, say_floors, say_leader, say_leaders
from cxlab.report.decision_figures import Figure, list_figures, say_other_lead, say_zeros
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries
from tests.pages.app_script import open_page
from tests.pages.app_script import words as words_of
from tests.stores.runs import write_run

ABOUT = REGISTRY["sage"].declaration
VIEW = View(benchmark="sage")
COUNT = 60
# In the smallest scenario the second model is far ahead, elsewhere behind.
FACETS = {
    f"s{i}": {"scenario": "airline_refund" if i < 15 else "telecom_package", "level": ("zero", "weak", "strong")[i % 3]}
    for i in range(COUNT)
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def fill(home: Path, turned: float, *, real: bool = False) -> None:
    """Two models of which the first is 10 points ahead, and in airline_refund `turned` points behind."""
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 4, (2, COUNT))
    first = {(f"s{i}", 1): 70 + noise[0, i] + (0.0 if i < 15 else 10.0) for i in range(COUNT)}
    second = {(f"s{i}", 1): 70 + noise[1, i] + (turned if i < 15 else 0.0) for i in range(COUNT)}
    write_run(home, 1, "first", first, facets=FACETS, simulated=not real, cost_usd=0.02, latency_s=3.0)
    write_run(home, 2, "second", second, facets=FACETS, simulated=False, cost_usd=0.005, latency_s=4.5)


def told() -> Decision:
    found = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert found is not None
    return found


def card() -> dict[str, Figure]:
    found, decision = queries.ranked(VIEW.change(metric="told")), queries.decided(VIEW.change(metric="told"))
    assert found is not None
    assert decision is not None
    board = queries.sides(VIEW.change(metric="told"))
    return {each.label: each for each in list_figures(ABOUT, found, decision, board, "told", str)}


def test_the_slice_where_the_loser_wins_is_found_and_corrected_for_all_that_were_looked_at(home: Path) -> None:
    fill(home, turned=15.0)
    found = told()
    assert (found.leader, found.rival, found.decided) == ("first", "second", True)
    assert found.looked_at == 5  # two scenarios and three levels; no other facet has two values
    one = found.slices[0]
    assert (one.facet, one.value, one.n, one.sure) == ("scenario", "airline_refund", 15, True)
    means = {(side, sample): value for side, _, sample, value, _ in rank(ABOUT, VIEW).tasks[0].means.iter_rows()}
    samples = sorted(f"s{i}" for i in range(15))
    pairs = [([means["second", each] for each in samples], [means["first", each] for each in samples])]
    by_hand = compare_pairs(pairs, seed=20260101, bounds=(-100, 100), among=5)[0]
    assert (one.by, one.low, one.high) == pytest.approx(
        (by_hand.found.difference, by_hand.found.low, by_hand.found.high)
    )
    alone = compare_pairs(pairs, seed=20260101, bounds=(-100, 100))[0]
    assert by_hand.found.high - by_hand.found.low > alone.found.high - alone.found.low
    assert by_hand.p == pytest.approx(min(1.0, 5 * by_hand.found.p))


def test_a_slice_in_which_the_loser_is_ahead_by_chance_is_no_win(home: Path) -> None:
    fill(home, turned=1.0)
    found = told()
    assert not any(each.sure for each in found.slices)
    assert card()["Where second wins"].value in ("nowhere", "nowhere for sure")


def test_a_benchmark_whose_samples_have_no_facet_has_no_slice(home: Path) -> None:
    values = {(f"s{i}", 1): float(i % 7) for i in range(30)}
    write_run(home, 1, "first", {key: value + 1 for key, value in values.items()})
    write_run(home, 2, "second", values)
    assert (told().slices, told().looked_at) == ((), 0)
    assert card()["Where second wins"].value == "not looked at"


def test_prices_and_times_of_real_models_are_told_and_those_of_stand_ins_left_out(home: Path) -> None:
    fill(home, turned=0.0, real=True)
    found = card()
    assert found["Cost of one dialogue"].value == "$0.0200 against $0.0050"
    assert found["Cost of one dialogue"].note.startswith("$15.00 more in 1,000 dialogues.")
    assert found["Time of one dialogue"].value == "3.0 s against 4.5 s"
    assert found["Time of one dialogue"].note.startswith("25 min less in 1,000 dialogues.")


def test_a_stand_in_beside_a_real_model_has_no_price(home: Path) -> None:
    fill(home, turned=0.0)
    found = card()
    assert found["Cost of one dialogue"].value == "unknown against $0.0050"
    assert "stand-ins" in found["Cost of one dialogue"].note
    board = queries.sides(VIEW.change(metric="told"))
    assert dict(board.select("side", "latency_s").iter_rows()) == {"first": None, "second": 4.5}


def test_samples_still_to_run_agree_with_the_smallest_difference_that_is_found(home: Path) -> None:
    rng = np.random.default_rng(1)
    write_run(home, 1, "first", {(f"s{i}", 1): 71 + rng.normal(0, 10) for i in range(COUNT)})
    write_run(home, 2, "second", {(f"s{i}", 1): 70 + rng.normal(0, 10) for i in range(COUNT)})
    found = told()
    assert not found.decided
    more = samples_to_settle(found.gap)
    assert more is not None
    assert more > 0
    sd = found.gap["detectable"] / minimum_detectable(1.0, COUNT)
    assert (
        minimum_detectable(sd, COUNT + more) <= abs(found.gap["difference"]) < minimum_detectable(sd, COUNT + more - 2)
    )
    assert card()["More samples to settle it"].value == f"about {format_rough(more)}"


def test_where_the_verdict_turns_and_on_what_the_two_differ_for_sure(home: Path) -> None:
    rng = np.random.default_rng(5)
    samples = [(f"s{i}", 1) for i in range(COUNT)]
    level = {key: 70 + float(rng.normal(0, 10)) for key in samples}
    grades = {key: 6.0 + float(rng.normal(0, 0.2)) for key in samples}
    write_run(home, 1, "first", {key: value + 1.5 for key, value in level.items()},
              also={"overall": {key: value + 5 for key, value in level.items()},
                    "chat_words": dict.fromkeys(samples, 20.0), "content_utility": grades,
                    "action": {key: 80 + float(rng.normal(0, 20)) for key in samples}})  # fmt: skip
    write_run(home, 2, "second", {key: value + float(rng.normal(0, 8)) for key, value in level.items()},
              also={"overall": {key: value + float(rng.normal(0, 1)) for key, value in level.items()},
                    "chat_words": dict.fromkeys(samples, 30.0),
                    "content_utility": {key: value - 1 for key, value in grades.items()},
                    "action": {key: 80 + float(rng.normal(0, 20)) for key in samples}})  # fmt: skip
    found = told()
    assert not found.decided
    (other,) = found.other_leads
    assert (other.metric, other.first, other.behind, other.decided) == ("overall", "first", "second", True)
    assert say_other_lead(other, str).startswith("By paper's overall score: first leads for sure, ")
    # What may lead is no other metric, and what is no part of the headline is not looked at.
    assert [(each.metric, each.sure) for each in found.metrics] == [("content_utility", True), ("action", False)]
    one = found.metrics[0]
    assert (one.by, one.n, one.size) == (pytest.approx(-1.0), COUNT, pytest.approx(1 / 6))
    pairs = [([grades[key] - 1 for key in samples], [grades[key] for key in samples])]
    by_hand = compare_pairs(pairs, seed=20260101, bounds=(-6, 6), among=2)[0]
    assert (one.low, one.high) == pytest.approx((by_hand.found.low, by_hand.found.high))
    shown = card()
    assert shown["Other metrics, second worse"].value == "1 for sure"
    assert "second against first: content utility" in shown["Other metrics, second worse"].note
    assert shown["Other metrics, second better"].value in ("none", "none for sure")


def test_another_lead_is_by_as_much_as_the_page_that_its_link_opens_says(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(20)]
    for number, model in enumerate(("first", "second", "third"), 1):
        told_of = {key: 90.0 - number - place % 3 for place, key in enumerate(samples)}
        overall: dict[tuple[str, int], float | None] = {
            key: 80.0 - number * (1 + place) for place, key in enumerate(samples)
        }
        if model == "third":
            overall[samples[-1]] = None  # then nobody is compared there
        write_run(home, number, model, told_of, metric="told", also={"overall": overall})
    found = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert found is not None
    (other,) = [each for each in found.other_leads if each.metric == "overall"]
    opened = rank(declared("sage", "overall"), VIEW).tasks[0]
    assert other.by == pytest.approx(opened.gaps.filter(pl.col("side") == other.behind)["difference"].abs().item())
    assert other.by == pytest.approx(sum(1 + place for place in range(19)) / 19)


def test_of_a_metric_of_which_less_is_better_the_lower_mean_is_the_better_one(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(20)]
    for number, model, words in ((1, "first", 10.0), (2, "second", 4.0)):
        values = {key: 100.0 - number - place % 3 for place, key in enumerate(samples)}
        write_run(home, number, model, values, benchmark="crmarena", task="case_routing",
                  also={"turns": {key: words + place % 2 for place, key in enumerate(samples)}})  # fmt: skip
    about = REGISTRY["crmarena"].declaration
    found = decide(about, rank(about, View(benchmark="crmarena")).tasks[0])
    assert found is not None
    (turns,) = found.metrics
    assert (turns.metric, turns.sure, turns.by, turns.ours, turns.theirs) == ("turns", True, 6.0, 10.5, 4.5)
    assert turns.low is not None
    assert turns.low <= 6.0


def test_pass_rates_stand_with_their_counts_and_intervals(home: Path) -> None:
    values = {(f"s{i}", 1): 90.0 if i % 4 else 10.0 for i in range(40)}
    write_run(home, 1, "first", values)
    write_run(home, 2, "second", dict.fromkeys(values, 10.0))
    found = told().passed
    assert (found["first"].passed, found["first"].known, found["first"].share) == (30, 40, 0.75)
    assert found["second"].share == 0.0
    assert found["first"].low is not None
    assert found["second"].high is not None
    assert 0 < found["second"].high < found["first"].low < 0.75
    assert card()["Dialogues passed"].value == "30 of 40 against 0 of 40"


def test_one_model_alone_leaves_nothing_to_decide(home: Path) -> None:
    write_run(home, 1, "first", {("s1", 1): 50.0})
    assert decide(ABOUT, rank(ABOUT, VIEW).tasks[0]) is None


def test_the_constant_agent_that_a_metrics_zero_stands_for_is_a_floor_wherever_it_is_drawn(home: Path) -> None:
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): float(i) for i in range(10)}
    write_run(home, 1, "first", values, metric="skill")
    write_run(home, 2, "simulated:floor", dict.fromkeys(values, -20.0), metric="skill")
    found = rank(ABOUT, VIEW, metric="skill").tasks[0]
    assert ("Best constant agent", 0.0) in floors_of(ABOUT, found)
    assert len(floors_of(ABOUT, found)) == found.floors.height + 1
    assert zero_of(ABOUT, "told") == []


def test_who_is_no_better_than_the_constant_agent_of_another_metric_is_told(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(20)]
    for number, (model, skill) in enumerate((("good", 40.0), ("near", 0.0), ("bad", -40.0)), 1):
        told = dict.fromkeys(samples, 50.0 + skill / 2)
        also = {"skill": {key: skill + 10 * (place % 2) - 5 for place, key in enumerate(samples)}}
        write_run(home, number, model, told, metric="told", also=also)
    between = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert between is not None
    assert say_zeros(ABOUT, between.other_leads, str) == (
        "By skill above chance, whose 0 is the best constant agent (worked out, not Floor): bad is below 0 for sure; "
        "whether near is above 0 cannot be told yet"
    )
    assert "whose 0 is the best constant agent" in words_of(open_page("compare", benchmark="sage"))


def test_a_metric_that_says_the_same_of_every_sample_is_no_other_metric(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(20)]
    for number, (model, level) in enumerate((("first", 60.0), ("second", 40.0)), 1):
        told = {key: level + place % 3 for place, key in enumerate(samples)}
        write_run(home, number, model, told, metric="told",
                  also={"path": dict(told), "action": {**told, samples[0]: 90.0}})  # fmt: skip
    between = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert between is not None
    assert [each.metric for each in between.metrics] == ["action"]


@pytest.mark.parametrize(("count", "value"), [(7, "none: settled, on few"), (20, "none: settled")])
def test_a_lead_on_few_samples_is_told_as_that(home: Path, count: int, value: str) -> None:
    for number, (model, level) in enumerate((("first", 60.0), ("second", 40.0)), 1):
        write_run(home, number, model, {(f"s{i}", 1): level + i % 3 for i in range(count)})
    found = card()["More samples to settle it"]
    assert found.value == value
    assert ("It rests on 7 independent samples" in found.note) == (count == 7)


def test_level_samples_have_no_interval_and_say_so(home: Path) -> None:
    values = {(f"s{i}", 1): 60.0 + i for i in range(20)}
    for number, (model, shift) in enumerate((("a", 0), ("b", 0), ("c", -1)), 1):
        write_run(home, number, model, {key: value + shift * (key[0] == "s3") for key, value in values.items()})
    found = rank(ABOUT, VIEW).tasks[0]
    gaps = {row["side"]: row for row in found.gaps.iter_rows(named=True)}
    assert (gaps["b"]["low"], gaps["b"]["high"], gaps["b"]["p"], gaps["b"]["verdict"]) == (None, None, 1, "cannot tell")
    assert gaps["c"]["low"] is not None
    between = decide(ABOUT, found)
    assert between is not None
    (
        difference,
        *_,
    ) = list_figures(ABOUT, found, between, describe_sides(found), "told", str)
    assert difference.value == "0.0 points"
    assert difference.note.startswith("All samples are tied: no difference to measure, paired on 20 samples")
    power = next(each for each in list_figures(ABOUT, found, between, describe_sides(found), "told", str)
                 if each.label == "More samples to settle it")  # fmt: skip
    assert power.note == "All samples are tied: nothing says how many would tell them apart."


@pytest.mark.parametrize(("samples", "few"), [(5, ", with only 5 samples"), (9, "")])
def test_an_open_ranking_on_few_samples_says_so(home: Path, samples: int, few: str) -> None:
    for number, model in enumerate("ab", 1):
        write_run(home, number, model, {(f"s{i}", 1): 60.0 + 9 * (i % 2 == number % 2) for i in range(samples)})
    found = rank(ABOUT, VIEW).tasks
    told = say_leader(found[0], str)
    assert told.startswith("cannot tell yet who leads")
    assert told.endswith(few or "for sure")
    several = say_leaders([*found, *found], str)
    assert several == "cannot tell yet who leads in any of 2 tasks" + (
        f", on only {samples} independent samples each" if few else ""
    )


def test_a_lead_that_rounds_to_nothing_is_not_given_as_zero() -> None:
    near = OtherLead("skill", "a", "b", 0.03, False, (), ())
    assert say_other_lead(near, str).endswith("a is first by less than 0.1 points")
    assert say_other_lead(replace(near, by=0.0), str).endswith("a and b are level")


def test_a_warning_that_rests_on_few_samples_says_so(home: Path) -> None:
    for number, model in enumerate(("a", "b", "simulated:floor"), 1):
        write_run(home, number, model, {("s1", 1): 40.0})
    assert say_floors(rank(ABOUT, VIEW).tasks) == (
        "Whoever is first does no better than a constant agent: a 40.0, Floor 40.0, on 1 sample only"
    )


@pytest.mark.parametrize(("second", "told"), [(93.74, " Of the unrounded means: 95.16 and 93.74."), (93.66, "")])
def test_a_difference_that_the_printed_means_do_not_give_says_so(home: Path, second: float, told: str) -> None:
    for number, (model, value) in enumerate((("first", 95.16), ("second", second)), 1):
        write_run(home, number, model, dict.fromkeys([(f"s{i}", 1) for i in range(20)], value))
    found = rank(ABOUT, VIEW).tasks[0]
    between = decide(ABOUT, found)
    assert between is not None
    note = list_figures(ABOUT, found, between, describe_sides(found), "told", str)[0].note
    assert note.endswith(f"paired on 20 samples.{told}")


def test_means_by_number_are_those_of_the_rows(home: Path) -> None:
    """Of several trials, and of a sample that one side lacks by another metric."""
    first = {(f"s{i}", trial): 60.0 + i + trial for i in range(9) for trial in (1, 2)}
    second = {key: 100.0 - value / 2 for key, value in first.items()}
    facets = {f"s{i}": FACETS[f"s{i}"] for i in range(9)}
    write_run(
        home,
        1,
        "first",
        first,
        facets=facets,
        also={"classification": {key: None if key[0] == "s3" else 5.0 for key in first}},
    )
    write_run(
        home,
        2,
        "second",
        second,
        facets=facets,
        also={"classification": {key: 70.0 if key[0] == "s3" else 7.0 for key in second}},
    )
    for metric in (ABOUT.card.headline, "classification"):
        found = rank(ABOUT, VIEW, metric=metric).tasks[0]
        rows = results_of(VIEW, found.compared, metric)
        means = rows.group_by("side", "sample_id").agg(pl.col("value").mean()).sort("side", "sample_id")
        assert found.means.select("side", "sample_id").rows() == means.select("side", "sample_id").rows()
        assert found.means["value"].to_list() == pytest.approx(means["value"].to_list())
        assert found.means["cluster"].n_unique() == found.means["sample_id"].n_unique() == 9
    assert found.means.filter(sample_id="s3")["side"].to_list() == ["second"]
    decision = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert decision is not None
    other = next(each for each in decision.metrics if each.metric == "classification")
    # Both means are of the samples that both have.
    assert (other.n, {other.ours, other.theirs}) == (8, {5.0, 7.0})


def test_another_metric_is_named_as_better_only_by_what_its_figures_show(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(20)]
    for number, (model, level, path) in enumerate((("first", 60.0, 97.08), ("second", 55.0, 97.12)), 1):
        told_of = {key: level + place % 3 for place, key in enumerate(samples)}
        paths = {key: path + (place % 2) * (number - 1.5) for place, key in enumerate(samples)}
        write_run(home, number, model, told_of, metric="told", also={"path": paths, "action": dict(told_of)})
    found = decide(ABOUT, rank(ABOUT, VIEW).tasks[0])
    assert found is not None
    one = next(each for each in found.metrics if each.metric == "path")
    far = replace(one, by=0.04, ours=97.08, theirs=97.12, sure=False)

    def better(*metrics: OtherMetric) -> Figure:
        own = replace(found, metrics=metrics)
        told = list_figures(
            ABOUT, rank(ABOUT, VIEW).tasks[0], own, describe_sides(rank(ABOUT, VIEW).tasks[0]), "told", str
        )
        return next(each for each in told if each.label == "Other metrics, second better")

    assert better(far).note == "None differs in the first decimal."
    seen = replace(far, metric="action", by=0.3, ours=80.0, theirs=80.3)
    assert better(far, seen).note.startswith("Largest: action 80.3 against 80.0 ")
    # What is sure is told, however small.
    assert "path 97.12 against 97.08 " in better(replace(far, sure=True)).note
    none = better(replace(seen, low=None, high=None)).note
    assert "too few samples differ for an interval" in none


def test_slices_say_how_many_are_tested_and_by_what_their_intervals_are_corrected(home: Path) -> None:
    fill(home, turned=1.0)
    note = card()["Where second wins"].note
    assert note.startswith(
        f"5 slices have the {told().least} independent samples or more that each needs where so many"
    )
    assert "corrected for all 5, in the chart by facet for its own" in note
