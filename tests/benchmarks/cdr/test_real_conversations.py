"""The labelled questions on real dialogues: ids alone, all of them there, and a perfect ranking scores full."""

import re
from collections import Counter

import pytest

from cxlab.benchmarks.cdr.corpus import AREAS, load_written
from cxlab.metrics.retrieval import evaluate_each
from tests.data import conversation_questions
from tests.data.real_conversations import DATA, agreement, load_queries, load_real, reversals

needs_data = pytest.mark.skipif(not (DATA / "sgd").is_dir(), reason="../shared/data is not here")
# What the retriever for conversations was looked at with while it was made.
LOOKED_AT = r"frustrat|satisf(ied|action)|apolog|baggage|vague|distrust"


def test_sixty_questions_none_of_those_that_were_looked_at():
    queries = load_queries()
    assert Counter(query.area for query in queries) == dict.fromkeys(AREAS, 12)
    assert len({query.id for query in queries}) == len({query.text for query in queries}) == 60
    assert [query.text for query in queries if re.search(LOOKED_AT, query.text.casefold())] == []
    assert max(len(query.relevant) for query in queries) < 20


def test_labels_are_ids_and_the_passes_agree():
    queries = load_queries()
    for query in queries:
        assert len(set(query.relevant)) == len(query.relevant)
        assert all(re.fullmatch(r"(tau|sgd|abcd|natcs)_\w+", name) for name in query.relevant)
        for one in (*query.first_pass, *query.second_pass):
            assert (one[:2] == "+ ") == (one[2:] in query.relevant)
    kappa, positive = agreement(queries, 195)
    assert kappa == pytest.approx(0.973, abs=0.001)
    assert positive == pytest.approx(0.973, abs=0.001)


def test_agreement_by_hand():
    query = load_queries()[0].model_copy(
        update={"relevant": ("a", "b", "c"), "first_pass": ("+ c",), "second_pass": ("- d",)}
    )
    assert query.passes() == ({"a", "b", "c"}, {"a", "b", "d"})
    # Of 10 dialogues both name 2, each one more: 8 of 10 agree, .3 * .3 + .7 * .7 = .58 would by chance.
    kappa, positive = agreement((query,), 10)
    assert kappa == pytest.approx((0.8 - 0.58) / 0.42)
    assert positive == pytest.approx(4 / 6)


@needs_data
def test_dialogues_are_there_and_gold_scores_full():
    material = load_real()
    assert len(material.corpus) == 195
    assert frozenset().union(*material.relevant.values()) <= material.corpus.keys()
    perfect = {query: sorted(gold) for query, gold in material.relevant.items()}
    assert set(evaluate_each(perfect, material.relevant, [20])["ndcg@20"].tolist()) == {1.0}
    assert not any("###STOP###" in message.text for each in material.corpus.values() for message in each.messages)


def test_reversals_are_counted():
    corpus = load_written()
    everything = sorted(corpus.conversations)
    first = {name: sorted(everything, key=lambda one: one not in gold) for name, gold in corpus.relevant.items()}
    before, pairs = reversals(corpus, first)
    assert before == pairs > 30
    assert reversals(corpus, {name: ranking[::-1] for name, ranking in first.items()}) == (0, pairs)


def test_reader_gets_two_pairs_a_query_and_no_label():
    corpus = load_written()
    pairs = conversation_questions.draw(corpus)
    assert Counter(pair.query.id for pair in pairs) == {query.id: 2 for query in corpus.queries}
    assert sum(pair.relevant for pair in pairs) == 60
    for pair in pairs:
        assert (pair.conversation in corpus.relevant[pair.query.id]) == pair.relevant
    # A way from one thing to another is asked of a conversation that runs the other way round.
    turned = [pair for pair in pairs if pair.query.rule.directed and not pair.relevant]
    assert sum("reversal" in corpus.conversations[pair.conversation].labels for pair in turned) >= 10
    assert not re.search(r"labels?:|\[\w+, \w+\]", conversation_questions.show(corpus, "health_01"))


def test_a_readers_answers_are_compared_with_the_gold(tmp_path, monkeypatch, capsys):
    assert conversation_questions.read_answers("a: x, y\n\n2. Yes\n3. no\n") == {"a x", "a y", "2"}
    # As in the case by hand above.
    kappa, lines = conversation_questions.compare({"a", "b", "c"}, {"a", "b", "d"}, 10)
    assert kappa == pytest.approx((0.8 - 0.58) / 0.42)
    assert lines[1:] == ["gold alone: c", "reader alone: d"]
    monkeypatch.setattr("sys.argv", ["it", "--gold"])
    conversation_questions.main()
    (tmp_path / "answers.txt").write_text(capsys.readouterr().out, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["it", "--answers", str(tmp_path / "answers.txt")])
    conversation_questions.main()
    assert capsys.readouterr().out.rstrip().endswith("kappa 1.000")
