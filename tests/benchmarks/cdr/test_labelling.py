"""Relevance step by step, with models that know the truth, err on purpose, or cannot be read."""

import json
import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.benchmarks.cdr.benchmark import check, generate
from cxlab.benchmarks.cdr.corpus import generated
from cxlab.benchmarks.cdr.options import CdrDataset
from cxlab.benchmarks.cdr.relevance import PairClassifier, PairFeatures, PairLabel, label
from cxlab.benchmarks.cdr.relevance.classifier import FEATURES
from cxlab.benchmarks.cdr.relevance.labelling import CANDIDATES, SAMPLED, LabellingResult, tell_model
from cxlab.benchmarks.cdr.relevance.model_classifier import BLOCK
from cxlab.benchmarks.cdr.relevance.retriever_features import RetrieverFeatures
from cxlab.benchmarks.cdr.relevance.two_models import DEPTH, RERANKED
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import GenerationStopped, finish
from cxlab.errors import BadOption
from cxlab.llm import load
from cxlab.llm.base import Completion, Request
from cxlab.store import write
from tests.benchmarks.cdr.conftest import CORPUS, talk


@pytest.fixture(scope="module")
def known() -> generated.GeneratedCorpus:
    plans = generated.plan(110, 5)
    return generated.ask_for(plans, finish(generated.write(plans, load("simulated:strong"), 5)), 5)


class Knows:
    """Answers by the gold of a corpus; `flip` makes it say the opposite of some pairs, `mute` nothing readable."""

    simulated = False

    def __init__(self, known, name: str, flip=lambda query, name: False, mute: bool = False) -> None:
        self.known, self.name, self.flip, self.mute = known, name, flip, mute
        self.queries = {text: query for query, text in known.queries.items()}
        self.texts = {UnitText().write(each.messages): name for name, each in known.conversations.items()}
        self.asked: list[str] = []

    async def complete(self, request: Request) -> Completion:
        asked = request.prompt.name
        self.asked.append(asked)
        if self.mute:
            return Completion("hm")
        inputs = request.inputs
        if asked == "cdr-paraphrase":
            return Completion(json.dumps({"text": f"in other words, {inputs.query}"}))
        if asked == "cdr-adapt":
            said = [{"role": role, "text": f"ADAPTED {inputs.query}"} for role in ("user", "assistant") * 2]
            return Completion(json.dumps({"reason": "", "declined": "declined" in inputs.query, "messages": said}))
        if asked == "cdr-check":
            return Completion(json.dumps({"fits": "yes", "natural": "no" if "stiff" in inputs.query else "yes"}))
        query = self.queries.get(inputs.query)
        if asked == "cdr-rate" and "mumbles" in self.name:
            return Completion("perhaps")
        if "ADAPTED" in inputs.conversation:
            fits = True
        else:
            fits = self.texts[inputs.conversation] in self.known.relevant.get(query, ())
        if self.flip(query, inputs.conversation):
            fits = not fits
        if asked == "cdr-rate":
            return Completion(json.dumps({"reason": "r", "chance": 97 if fits else 4}))
        return Completion(json.dumps({"reason": "r", "fits": "yes" if fits else "no"}))

    async def aclose(self) -> None:
        pass


def panel(known, **errors):
    return [Knows(known, f"endpoint:judge-{n}", **errors.get(f"judge{n}", {})) for n in range(4)]


@pytest.fixture(scope="module")
def labelled(known) -> LabellingResult:
    model = Knows(known, "endpoint:annotator")
    return finish(label(known.conversations, known.queries, model, model, panel(known), 1))


def test_with_annotators_who_know_everything_that_is_kept_is_right(known, labelled) -> None:
    found = labelled
    for query, names in found.relevant.items():
        if query not in found.dropped:
            assert {name for name in names if not name.startswith("adapted")} <= known.relevant[query]
            assert found.negatives[query] not in names
            assert found.paraphrases[query] != known.queries[query]
    assert found.rates["panel"][0] == found.rates["panel"][1] > 0
    assert found.queue == []
    assert found.trained is not None
    read = (CANDIDATES + SAMPLED) * len(known.queries)
    assert (found.trained.pairs, found.trained.queries) == (read, len(known.queries))
    steps = found.to_frame()["step"].unique().to_list()
    assert {"candidates", "classifier", "panel", "vote"} <= {*steps}
    # Two figures that are easily mistaken for each other, each by its name and beside what says nothing.
    over_all, one_to_three = (line for line in found.lines() if line.startswith("classifier"))
    assert "over all pairs" in over_all
    assert "one relevant pair with three that are not" in one_to_three
    assert "(paper 0.952, blind 0.250)" in one_to_three
    # The reranker is another model, held against the same labels, of which it was trained on none.
    assert found.reranked is not None
    assert (found.reranked.by, found.reranked.against) == ("local", "endpoint:annotator")
    assert found.reranked.pairs == found.trained.pairs
    assert found.reranked.average_precision > 2 * found.reranked.base
    order = [line for line in found.lines() if line.startswith("reranker")]
    assert "(paper 0.962, blind 0.250)" in order[1]
    assert "accuracy" not in "".join(order)
    # What it passes on is what the classifier reads, in its order.
    first = next(iter(known.queries))
    passed = found.to_frame().filter(step="reranker", query_id=first)
    assert passed["score"].is_sorted(descending=True)
    read = found.to_frame().filter(step="classifier", query_id=first)["conversation_id"].to_list()
    assert read == [name for name in passed["conversation_id"] if name in set(read)]
    # Each query's best five are read first, whatever comes later.
    frame = found.to_frame()
    assert frame.filter(step="candidates").height == CANDIDATES * len(known.queries)
    # Ten below them are drawn, and nobody is asked of a pair twice.
    assert frame.filter(step="sampled").height == SAMPLED * len(known.queries)
    asked = frame.filter(pl.col("step").is_in(["candidates", "sampled", "uncertain"]))
    assert asked.select("query_id", "conversation_id").n_unique() == asked.height


def test_a_chat_model_in_the_classifiers_place_reads_on_and_is_held_against_the_annotator(known) -> None:
    annotator, rater = Knows(known, "endpoint:annotator"), Knows(known, "endpoint:rater")
    found = finish(label(known.conversations, known.queries, annotator, annotator, panel(known), 1, rater=rater))
    assert found.trained is not None
    assert (found.trained.by, found.trained.against) == ("endpoint:rater", "endpoint:annotator")
    # It says what the annotator says, so that its figures are those of a perfect order.
    assert (found.trained.average_precision, found.trained.accuracy) == (1, 1)
    assert (found.trained.paired_precision, found.trained.paired_accuracy) == (1, 1)
    assert "endpoint:rater as the classifier, against the labels of endpoint:annotator" in "\n".join(found.lines())
    by = found.to_frame().filter(step="classifier")["by"].unique().to_list()
    assert by == ["endpoint:rater"]
    # It stops after ten in a row that do not fit: far fewer than the hundred best.
    most = len(known.queries) * (CANDIDATES + SAMPLED + DEPTH - CANDIDATES)
    assert len(known.queries) * (CANDIDATES + SAMPLED + BLOCK) <= len(rater.asked) < most / 2
    # What it adds beyond the candidates is right.
    for query, names in found.relevant.items():
        if query not in found.dropped:
            assert {name for name in names if not name.startswith("adapted")} <= known.relevant[query]
    own = found.trained._replace(against=found.trained.by)
    assert all("its own: how steady it is, not how right" in line for line in tell_model(own, "classifier"))
    mumbles = Knows(known, "endpoint:mumbles")
    few = dict(list(known.queries.items())[:5])
    lost = finish(label(known.conversations, few, annotator, annotator, panel(known), 1, rater=mumbles))
    assert lost.trained is None
    unread = lost.to_frame().filter(step="classifier")
    assert set(unread["reason"]) == {"no readable reply"}
    # What it could not say is read by the annotator.
    assert lost.to_frame().filter(step="uncertain").height == unread.height


def test_a_chat_model_in_the_rerankers_place_orders_the_best_of_retrieval(known) -> None:
    few = dict(list(known.queries.items())[:6])
    annotator, orders = Knows(known, "endpoint:annotator"), Knows(known, "endpoint:orders")
    found = finish(label(known.conversations, few, annotator, annotator, panel(known), 1, reranker=orders))
    assert found.reranked is not None
    assert (found.reranked.by, found.reranked.average_precision) == ("endpoint:orders", 1)
    assert {*orders.asked} == {"cdr-rate"}
    assert len(orders.asked) == len(few) * (CANDIDATES + SAMPLED + RERANKED)
    for query in few:
        rows = found.to_frame().filter(step="reranker", query_id=query).head(RERANKED)
        fits = [name in known.relevant[query] for name in rows["conversation_id"]]
        assert fits == sorted(fits, reverse=True)


def test_a_retriever_can_stand_in_either_place(known) -> None:
    few = dict(list(known.queries.items())[:14])
    annotator, hashing = Knows(known, "endpoint:annotator"), load("retriever:hashing")
    found = finish(label(known.conversations, few, annotator, annotator, panel(known), 1, None, hashing, hashing))
    assert found.reranked is not None
    assert found.trained is not None
    assert (found.reranked.by, found.reranked.against) == ("retriever:hashing", "endpoint:annotator")
    # It orders; the classifier that reads its scores is trained on the labels here.
    assert (found.trained.by, found.trained.against) == ("retriever:hashing", "")
    assert "retriever:hashing as the classifier, over all pairs of queries it was not trained on" in found.lines()[-3]
    assert found.to_frame().filter(step="classifier")["by"].unique().to_list() == ["retriever:hashing"]


def test_a_server_of_vectors_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    (tmp_path / "models.toml").write_text('[endpoints.gone]\nbase_url = "http://127.0.0.1:9/v1"\nattempts = 1\n')
    with pytest.raises(GenerationStopped, match="retriever:endpoint:gone/e did not deliver"):
        RetrieverFeatures(CORPUS, "retriever:endpoint:gone/e", ["late"])


def test_only_where_nothing_fits_a_conversation_is_adapted_checked_and_kept() -> None:
    queries = {"q1": "zebra crossings", "q2": "declined zebra", "q3": "stiff zebra"}
    nothing = generated.GeneratedCorpus(CORPUS, queries, dict.fromkeys(queries, frozenset()), {})
    model = Knows(nothing, "endpoint:annotator")
    found = finish(label(CORPUS, queries, model, model, panel(nothing), 1))
    assert found.added.keys() == {"adapted_q1"}
    assert found.added["adapted_q1"].labels["adapted_from"] in CORPUS
    assert (found.relevant["q1"], found.rates["adapt"]) == ({"adapted_q1"}, (1, 3))
    assert found.dropped == {"q2": "no conversation fits", "q3": "no conversation fits"}
    assert "too few" in found.note or "needs" in found.note
    assert found.trained is None


def test_a_panel_that_is_split_discards_the_pair_and_asks_a_person(known) -> None:
    few = generated.GeneratedCorpus(
        known.conversations, dict(list(known.queries.items())[:4]), known.relevant, known.areas
    )
    wrong = {"flip": lambda query, text: True}
    model = Knows(few, "endpoint:annotator")
    split = finish(label(few.conversations, few.queries, model, model, panel(few, judge0=wrong, judge1=wrong), 1))
    tied = [one for one in split.queue if one.step == "panel"]
    assert len(tied) == split.rates["panel"][1] > 0
    assert split.rates["panel"][0] == 0
    assert {*split.dropped} == {*few.queries}
    one = finish(label(few.conversations, few.queries, model, model, panel(few, judge0=wrong), 1))
    assert one.rates["panel"][0] == one.rates["panel"][1]
    mute = finish(
        label(few.conversations, few.queries, model, model, panel(few, judge0={"mute": True}, judge1={"mute": True}), 1)
    )
    assert mute.rates["panel"][0] == 0
    assert all("unreadable" in each.reason for each in mute.queue if each.step == "panel")


def test_a_query_that_too_many_answer_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    from cxlab.benchmarks.cdr.relevance import labelling

    monkeypatch.setattr(labelling, "MOST_RELEVANT", 2)
    corpus = {f"c{n}": talk(f"c{n}", f"late parcel {n}", "sorry") for n in range(6)}
    gold = generated.GeneratedCorpus(corpus, {"q": "late parcel"}, {"q": frozenset(corpus)}, {})
    model = Knows(gold, "endpoint:annotator")
    found = finish(label(corpus, gold.queries, model, model, panel(gold), 1))
    assert re.fullmatch(r"6 conversations fit: too general", found.dropped["q"])
    assert "panel-1" not in model.asked


def test_what_was_asked_is_not_asked_again(known, tmp_path: Path) -> None:
    few = generated.GeneratedCorpus(
        known.conversations, dict(list(known.queries.items())[:3]), known.relevant, known.areas
    )
    first, second = Knows(few, "endpoint:annotator"), Knows(few, "endpoint:annotator")
    judges = panel(few)
    one = finish(label(few.conversations, few.queries, first, first, judges, 1, tmp_path))
    again = finish(label(few.conversations, few.queries, second, second, panel(few), 1, tmp_path))
    assert again.relevant == one.relevant
    assert second.asked == []
    with pytest.raises(BadOption, match="4 different judges"):
        finish(label(few.conversations, few.queries, first, first, judges[:3], 1))


def test_the_classifier_learns_what_words_tell_and_nothing_from_chance(known) -> None:
    features = PairFeatures(known.conversations)
    names = list(known.conversations)
    topics = {query: next(iter(names)).labels["topic"] for query, names in (
        (query, [known.conversations[name] for name in found]) for query, found in known.relevant.items())}  # fmt: skip
    by_topic = [
        (query, name, known.conversations[name].labels["topic"] == topic)
        for query, topic in topics.items()
        for name in names[:24]
    ]
    learnt = PairClassifier.train(features, known.queries, by_topic).held_out
    assert learnt.average_precision > 0.95
    assert learnt.accuracy > 0.95
    assert learnt.paired_precision is not None
    assert learnt.paired_precision > 0.95
    weighed = [PairLabel(q, n, fits, 1.0 if fits else 10.0) for q, n, fits in by_topic]
    base = PairClassifier.train(features, known.queries, weighed).held_out.base
    ours = sum(fits for _, _, fits in by_topic)
    assert base == pytest.approx(ours / (ours + 10 * (len(by_topic) - ours)))
    rng = random.Random(1)
    guessed = [(q, n, rng.random() < 0.3) for q, n, _ in by_topic]
    trained = PairClassifier.train(features, known.queries, guessed)
    blind = trained.held_out
    assert abs(blind.average_precision - blind.base) < 0.1
    assert blind.paired_precision == pytest.approx(0.25, abs=0.1)
    # Calibrated: where nothing can be told its chances are about the share of relevant pairs.
    chances = [trained.predict(features, text, names[24:48]).mean() for text in list(known.queries.values())[:6]]
    assert float(np.mean(chances)) == pytest.approx(0.3, abs=0.1)


def test_the_classifier_needs_labels_of_both_kinds(known) -> None:
    features = PairFeatures(CORPUS)
    with pytest.raises(BadOption, match="needs"):
        PairClassifier.train(features, {"q": "late"}, [("q", "late", True)])
    assert features.read("late parcel").shape == (6, len(FEATURES))
    assert features.rank("cannot log in", 1) == ["login"]


def test_a_stored_corpus_gets_queries_with_stand_ins(known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    made = finish(generate(CdrDataset.read({}), GenerationContext()))
    options = CdrDataset.read({"reference": made.dataset.id, "queries": 40})
    found = finish(generate(options, GenerationContext(seed=1)))
    assert [complaint for sample in found.samples for complaint in check(sample)] == []
    assert found.dataset.derived_from == made.dataset.id
    assert write.load_table(found.dataset.id, "trail").height > 200
    with pytest.raises(BadOption, match="4 different"):
        finish(generate(CdrDataset.read({"reference": made.dataset.id, "judges": "a,b"}), GenerationContext()))
