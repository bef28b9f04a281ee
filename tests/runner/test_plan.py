from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption, UnknownName
from cxlab.runner.arguments import to_arguments
from cxlab.runner.plan import SampleFilter, choose, find_benchmark, pair, parse_shard, parse_where, shard_of, take_shard
from cxlab.runner.request import RunRequest

from .lamp import BENCHMARK

SAMPLES = BENCHMARK.generate_now({"copies": 5})[1]


def test_limit_spreads_over_scenarios_levels_and_leaves() -> None:
    chosen = choose(BENCHMARK, SAMPLES, SampleFilter(limit=12))
    facets = Counter((s.facets["scenario"], s.facets["level"]) for s in chosen)
    assert set(facets.values()) == {3}
    assert len(facets) == 4
    assert set(Counter(s.facets["leaf"] for s in chosen).values()) == {4}


def test_limit_spreads_over_tasks_before_any_facet() -> None:
    tasks = ("lamp", "letter", "call")
    several = [each.model_copy(update={"task": tasks[at * 3 // len(SAMPLES)]}) for at, each in enumerate(SAMPLES)]
    found = choose(BENCHMARK, several, SampleFilter(limit=9))
    assert Counter(sample.task for sample in found) == dict.fromkeys(tasks, 3)


def test_few_samples_already_differ_in_leaf() -> None:
    chosen = choose(BENCHMARK, SAMPLES, SampleFilter(2, (("scenario", "hall"),)))
    assert [s.facets["level"] for s in chosen] == ["zero", "weak"]
    assert len({s.facets["leaf"] for s in chosen}) == 2


@given(st.integers(1, 60))
def test_a_larger_limit_keeps_what_a_smaller_one_had(limit: int) -> None:
    everything = choose(BENCHMARK, SAMPLES, SampleFilter())
    assert sorted(s.id for s in everything) == sorted(s.id for s in SAMPLES)
    assert choose(BENCHMARK, SAMPLES, SampleFilter(limit=limit)) == everything[:limit]


def test_filters_combine() -> None:
    chosen = choose(BENCHMARK, SAMPLES, SampleFilter(where=(("scenario", "kitchen"), ("level", "weak"))))
    assert {(s.facets["scenario"], s.facets["level"]) for s in chosen} == {("kitchen", "weak")}
    assert len(chosen) == 15


def test_any_facet_filters_and_survives_being_ordered() -> None:
    where = parse_where(["leaf=" + SAMPLES[0].facets["leaf"], "level=weak", "level=zero"])
    chosen = choose(BENCHMARK, SAMPLES, SampleFilter(where=where))
    assert {s.facets["leaf"] for s in chosen} == {SAMPLES[0].facets["leaf"]}
    assert {s.facets["level"] for s in chosen} == {"weak", "zero"}
    order = RunRequest("sage", ("simulated:weak",), choice=SampleFilter(where=where))
    words = [word.removeprefix("--where=") for word in to_arguments(order) if word.startswith("--where=")]
    assert parse_where(words) == where
    with pytest.raises(UnknownName, match="unknown facet 'mood'"):
        choose(BENCHMARK, SAMPLES, SampleFilter(where=parse_where(["mood=bad"])))
    with pytest.raises(BadOption, match="facet=value"):
        parse_where(["voice"])


@pytest.mark.parametrize("asked", [("scenario", "attic"), ("level", "strong")])
def test_unknown_filter_names_the_known_ones(asked: tuple[str, str]) -> None:
    with pytest.raises(UnknownName, match=r"'attic'; known: hall, kitchen|'strong'; known: weak, zero"):
        choose(BENCHMARK, SAMPLES, SampleFilter(where=(asked,)))


def test_pairs_go_trial_by_trial() -> None:
    assert pair(SAMPLES[:2], 2) == [(SAMPLES[0].id, 1), (SAMPLES[1].id, 1), (SAMPLES[0].id, 2), (SAMPLES[1].id, 2)]


@given(st.integers(1, 9), st.integers(1, 3))
def test_shards_divide_the_pairs(shards: int, trials: int) -> None:
    pairs = pair(SAMPLES, trials)
    taken = [take_shard(pairs, (index, shards)) for index in range(1, shards + 1)]
    assert sorted(each for part in taken for each in part) == sorted(pairs)
    assert all(shard_of(sample_id, shards) == index for index, part in enumerate(taken, 1) for sample_id, _ in part)


def test_shard_of_a_sample_is_fixed_for_good() -> None:
    # Runs that are half done depend on it: another hash would do pairs twice and leave others out.
    assert [shard_of(name, 16) for name in ("a", "b", "sage-1")] == [16, 6, 9]


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_bad_shard_is_refused(text: str) -> None:
    with pytest.raises(BadOption, match="must be I/N"):
        parse_shard(text)


def test_benchmark_is_found_by_path() -> None:
    assert find_benchmark("runner.lamp:BENCHMARK") is BENCHMARK
    with pytest.raises(BadOption, match="cannot be imported"):
        find_benchmark("runner.lamp:NOTHING")
    with pytest.raises(BadOption, match="not a cxlab"):
        find_benchmark("runner.lamp:generate")
    with pytest.raises(UnknownName, match=r"known: .*sage"):
        find_benchmark("nonsense")
