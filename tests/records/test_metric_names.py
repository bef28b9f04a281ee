"""What metrics are called: one name each, wherever it is shown."""

from collections import Counter

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.records.metric_names import head_metric, name_metric, spell_metric, within_sentence


@pytest.mark.parametrize(
    ("metric", "words", "head"),
    [
        ("told", "decidable score", "Decidable score"),
        ("ndcg@10", "nDCG@10", "nDCG@10"),
        ("similar_f1", "F1 of similar pairs", "F1 of similar pairs"),
        ("arga", "ASR-robust goal achievement", "ASR-robust goal achievement"),
        ("judged_turn_efficiency", "turn efficiency as judged", "Turn efficiency as judged"),
        ("of_nobody_f1@5", "of nobody F1@5", "Of nobody F1@5"),
    ],
)
def test_a_metric_in_words(metric: str, words: str, head: str) -> None:
    assert (name_metric(metric), head_metric(metric)) == (words, head)


def test_a_metric_has_one_name_in_all_benchmarks_and_no_two_share_one() -> None:
    named = {name: {metric: name_metric(metric) for metric in each.card.metrics} for name, each in REGISTRY.items()}
    for benchmark, names in named.items():
        assert [words for words, n in Counter(names.values()).items() if n > 1] == [], benchmark
        declared = REGISTRY[benchmark].card.titles
        assert {metric: names.get(metric) for metric in declared} == dict(declared), "another benchmark says otherwise"
        assert all("_" not in words for words in names.values())


def test_words_of_an_id_and_of_a_title() -> None:
    assert spell_metric("mrr@10") == "MRR@10"
    assert within_sentence("Turn efficiency") == "turn efficiency"
    assert within_sentence("nDCG@10") == "nDCG@10"
