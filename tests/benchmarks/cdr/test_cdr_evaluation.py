"""Finding conversations: against the rule written out, against ir-measures, and what is reported beside."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab import retrieval
from cxlab.benchmarks.cdr import evaluate
from cxlab.benchmarks.cdr.units import GRANULARITIES, UnitText, split
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Conversation, Message

WORDS = ("bill", "late", "parcel", "refund", "login", "thanks")


class SharedWords:
    """Counts the words that a query and a text share; small whole numbers, so there are many ties."""

    def fit(self, texts):
        self.texts = [set(text.split()) for text in texts]

    def scores(self, query):
        return np.array([float(len(words & set(query.split()))) for words in self.texts])


def talk(name, *texts):
    roles = ("customer", "agent")
    return Conversation(
        id=name, messages=tuple(Message(role=roles[at % 2], text=text, turn=1) for at, text in enumerate(texts))
    )


sentences = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
corpora = st.lists(st.lists(sentences, max_size=6), max_size=9).map(
    lambda talks: {f"c{at:02d}": talk(f"c{at:02d}", *texts) for at, texts in enumerate(talks)}
)
names = st.integers(0, 11).map(lambda number: f"c{number:02d}")
asked = st.lists(st.tuples(sentences, st.lists(names, max_size=5)), min_size=1, max_size=6)


def by_the_rule(corpus, queries, granularity):
    """Every unit scored, the best for each conversation, ordered by falling score and rising id."""
    rankings = {}
    for query, text in queries.items():
        scored = []
        for name, conversation in corpus.items():
            texts = [unit.text for unit in split(conversation, granularity) if unit.text]
            if texts:
                retriever = SharedWords()
                retriever.fit(texts)
                scored.append((-max(retriever.scores(text)), name))
        rankings[query] = [name for _, name in sorted(scored)]
    return rankings


def gain_of(ranking, wanted, k):
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(ranking[:k], 1) if name in wanted)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gain / ideal if wanted else 0.0


@settings(max_examples=50)
@given(corpora, asked, st.sampled_from(GRANULARITIES))
def test_rankings_and_metrics_by_brute_force(corpus, items, granularity):
    queries = {f"q{at}": text for at, (text, _) in enumerate(items)}
    relevant = {f"q{at}": wanted for at, (_, wanted) in enumerate(items)}
    result = evaluate(corpus, queries, relevant, SharedWords(), granularity)
    expected = by_the_rule(corpus, queries, granularity)
    assert result.rankings == expected
    for k in (1, 5, 10, 20):
        hits = [len(set(expected[query][:k]) & set(relevant[query])) for query in queries]
        sizes = [len(set(relevant[query])) for query in queries]
        means = {
            "acc": np.mean([hit > 0 for hit in hits]),
            "precision": np.mean([hit / k for hit in hits]),
            "recall": np.mean([hit / size if size else 0 for hit, size in zip(hits, sizes, strict=True)]),
            "ndcg": np.mean([gain_of(expected[query], set(relevant[query]), k) for query in queries]),
        }
        for name, mean in means.items():
            assert result.metrics[f"{name}@{k}"] == pytest.approx(mean, abs=1e-12), name
    assert result.without_relevant == tuple(query for query in queries if not relevant[query])
    assert result.dangling == sum(len(set(wanted) - set(corpus)) for wanted in relevant.values())


@settings(max_examples=25)
@given(corpora, asked, st.randoms(use_true_random=False))
def test_the_order_in_which_things_come_changes_nothing(corpus, items, chance):
    queries = {f"q{at}": text for at, (text, _) in enumerate(items)}
    relevant = {f"q{at}": wanted for at, (_, wanted) in enumerate(items)}
    mixed = list(corpus.items())
    chance.shuffle(mixed)
    one = evaluate(corpus, queries, relevant, SharedWords(), "turn")
    other = evaluate(dict(mixed), queries, relevant, SharedWords(), "turn")
    assert (one.rankings, one.matched, one.metrics) == (other.rankings, other.matched, other.metrics)


def test_like_ir_measures():
    measures = pytest.importorskip("ir_measures", reason="ir-measures, the referee, is not installed")
    chance = random.Random(3)
    corpus = {
        f"c{at:03d}": talk(f"c{at:03d}", *[" ".join(chance.choices(WORDS, k=4)) for _ in range(chance.randint(1, 7))])
        for at in range(80)
    }
    queries = {f"q{at}": " ".join(chance.choices(WORDS, k=3)) for at in range(30)}
    # Relevance lists repeat, as the published ones do.
    relevant = {query: chance.choices(sorted(corpus), k=chance.randint(1, 40)) for query in queries}
    kinds = {"acc": measures.Success, "precision": measures.P, "recall": measures.R, "ndcg": measures.nDCG}
    kinds["mrr"] = measures.RR
    wanted = {kind @ k: f"{name}@{k}" for name, kind in kinds.items() for k in (1, 5, 10, 20)}
    for granularity in GRANULARITIES:
        result = evaluate(corpus, queries, relevant, SharedWords(), granularity)
        qrels = [measures.Qrel(query, name, 1) for query, ids in relevant.items() for name in set(ids)]
        run = [
            measures.ScoredDoc(query, name, -float(rank))
            for query, ids in result.rankings.items()
            for rank, name in enumerate(ids)
        ]
        theirs = measures.calc_aggregate(list(wanted), qrels, run)
        assert {wanted[kind]: value for kind, value in theirs.items()} == pytest.approx(result.metrics, abs=1e-9)


def test_many_units_of_one_conversation_take_one_place():
    corpus = {"a": talk("a", *["bill"] * 30), "b": talk("b", "a bill"), "c": talk("c", "parcel")}
    result = evaluate(corpus, {"q": "bill"}, {"q": ["b", "b"]}, SharedWords(), "turn")
    assert result.rankings == {"q": ["a", "b", "c"]}
    assert (result.metrics["ndcg@10"], result.metrics["recall@5"]) == (pytest.approx(1 / math.log2(3)), 1.0)
    assert result.matched["q"][1].text == "user: a bill"
    assert (result.metrics["mrr@1"], result.metrics["mrr@5"]) == (0.0, 0.5)


def test_gold_is_one_and_nothing_found_is_zero():
    corpus = {f"c{at}": talk(f"c{at}", f"word{at}") for at in range(40)}
    queries = {f"q{at}": f"word{at}" for at in range(40)}
    right = evaluate(corpus, queries, {f"q{at}": [f"c{at}"] for at in range(40)}, SharedWords(), "session")
    assert right.metrics["ndcg@10"] == right.metrics["acc@1"] == right.metrics["recall@20"] == 1.0
    assert right.metrics["precision@10"] == pytest.approx(0.1)
    wrong = evaluate(corpus, queries, {query: ["elsewhere"] for query in queries}, SharedWords(), "session")
    assert set(wrong.metrics.values()) == {0.0}
    assert wrong.dangling == 40


def test_empty_units_are_counted_and_never_searched():
    seen = []

    class Listens(SharedWords):
        def fit(self, texts):
            seen.extend(texts)
            super().fit(texts)

        def count_cut(self, texts):
            return sum(len(text) > 10 for text in texts)

    corpus = {"a": talk("a", " ", "bill"), "b": talk("b"), "c": talk("c", ""), "d": talk("d", "a parcel, late")}
    result = evaluate(corpus, {"q": "bill"}, {"q": ["a"]}, Listens(), "turn")
    assert seen == ["assistant: bill", "user: a parcel, late"]
    assert (result.units.count, result.units.empty, result.units.cut, result.units.without) == (4, 2, 2, ("b", "c"))
    assert result.rankings["q"] == ["a", "d"]
    nothing = evaluate({}, {"q": "bill"}, {}, Listens(), "turn")
    assert (nothing.rankings, nothing.metrics["acc@20"], nothing.units.count) == ({"q": []}, 0.0, 0)


def test_a_unit_that_comes_first_for_everything_is_reported():
    class Hubbed(SharedWords):
        def scores(self, query):
            return super().scores(query) + np.array([9.0 * ("ok" in words) for words in self.texts])

    corpus = {f"c{at}": talk(f"c{at}", f"word{at}") for at in range(20)} | {"h": talk("h", "word1", "ok")}
    queries = {f"q{at}": f"word{at}" for at in range(20)}
    relevant = {f"q{at}": [f"c{at}"] for at in range(20)} | {"q1": ["h"]}
    (hub,) = evaluate(corpus, queries, relevant, Hubbed(), "turn").hubs
    assert (hub.unit.text, hub.first, hub.wrong) == ("assistant: ok", 20, 19)
    sound = evaluate(corpus, queries, relevant, SharedWords(), "turn")
    assert sound.hubs == ()
    assert sound.metrics["acc@1"] > 0.9


def test_a_query_that_finds_nothing_is_told():
    corpus = {name: talk(name, "bill") for name in "abc"}
    result = evaluate(corpus, {"q": "giraffe", "r": "bill"}, {"q": ["a"]}, SharedWords(), "turn")
    assert result.undecided == ("q", "r")
    assert result.without_relevant == ("r",)


def test_what_is_recorded():
    class Named(SharedWords):
        description = {"kind": "words"}

    text = UnitText(prefix=False, roles=("customer",))
    result = evaluate({"a": talk("a", "bill")}, {"q": "bill"}, {"q": ["a"]}, Named(), "window", text)
    assert result.settings["granularity"] == "window"
    assert result.settings["text"] == {"prefix": False, "roles": ["customer"]}
    assert result.settings["retriever"] == {"kind": "words"}
    assert min(result.ingestion_s, result.inference_s) >= 0


def test_queries_are_handed_over_at_once_where_the_retriever_takes_them():
    given_queries = []

    class Prepares(SharedWords):
        def prepare(self, queries):
            given_queries.append(list(queries))

    corpus = {"a": talk("a", "bill")}
    evaluate(corpus, {"q": "bill", "r": "late"}, {}, Prepares(), "turn")
    assert given_queries == [["bill", "late"]]


def test_figures_by_group_with_intervals():
    corpus = {f"c{at}": talk(f"c{at}", f"word{at}") for at in range(20)}
    queries = {f"q{at}": f"word{at}" for at in range(20)}
    relevant = {f"q{at}": [f"c{at if at % 2 else 0}"] for at in range(20)}
    result = evaluate(corpus, queries, relevant, SharedWords(), "turn")
    found = result.by({f"q{at}": "odd" if at % 2 else "even" for at in range(20)}, "acc@1")
    assert (found["odd"].mean, found["odd"].n, found["even"].mean) == (1.0, 10, 0.1)
    assert found["odd"].low < 1.0 == found["odd"].high
    assert result.interval("acc@1").mean == result.metrics["acc@1"] == 0.55
    with pytest.raises(BadOption, match="metric 'acc@2'"):
        result.interval("acc@2")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.zeros(1), r"shape \(1,\) for 2 units"),
        (np.array([0.0, np.nan]), "score of unit 1 is not finite"),
        (np.array([[1.0, 2.0]]), r"shape \(1, 2\)"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(scores, said):
    class Broken(SharedWords):
        def scores(self, query):
            return scores

    with pytest.raises(BadOption, match=said):
        evaluate({"a": talk("a", "bill", "late")}, {"q": "bill"}, {}, Broken(), "turn")


def test_relevance_that_is_one_text_is_refused():
    with pytest.raises(BadOption, match="list or set of conversation ids"):
        evaluate({"a": talk("a", "bill")}, {"q": "bill"}, {"q": "a"}, SharedWords(), "turn")


def test_noise_of_float32_is_a_tie_and_small_float64_differences_count():
    class Fixed(SharedWords):
        given = np.zeros(2)

        def scores(self, query):
            return self.given

    corpus = {"a": talk("a", "bill"), "b": talk("b", "late")}
    retriever = Fixed()
    for scores, first in (
        (np.array([0.5, 0.5 + 6e-8], dtype=np.float32), "a"),
        (np.array([0.5, 0.51], dtype=np.float32), "b"),
        (np.array([1 / 9060, 1 / 9059]), "b"),
    ):
        retriever.given = scores
        assert evaluate(corpus, {"q": "x"}, {}, retriever, "turn").rankings["q"][0] == first


def test_a_retriever_may_be_given_by_its_name() -> None:
    asked = ({"q": "late parcel"}, {"q": ["a"]})
    corpus = {"a": talk("a", "my parcel is late", "sorry"), "b": talk("b", "hello", "hello")}
    by_name, made = (evaluate(corpus, *asked, each, "session") for each in ("bm25", retrieval.load("bm25")))
    assert by_name.rankings == made.rankings == {"q": ["a", "b"]}
    with pytest.raises(UnknownName):
        evaluate(corpus, *asked, "nonsense", "session")
