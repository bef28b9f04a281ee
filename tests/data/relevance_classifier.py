"""How far the reranker and the classifier can be relied on, on queries that they were not trained on, in both ways.

    python -m tests.data.relevance_classifier               # on the conversations written by hand
    python -m tests.data.relevance_classifier --real        # on the real dialogues, where ../shared/data is
    python -m tests.data.relevance_classifier --model openai:gpt-4.1    # a chat model in their place
    python -m tests.data.relevance_classifier --model retriever:minilm  # a retriever in their place
    python -m tests.data.relevance_classifier --train-reranker          # train it anew, write data/cdr/reranker.yaml

Five folds by query, means over three draws. It is trained on labels of the other queries: of the five best candidates;
of these and ten pairs below them, drawn by chance, as the labelling does it; of all pairs. Each is measured over all
pairs of the held-out queries, and the paper's way: each relevant pair beside three irrelevant ones of its query.
The reranker is trained on made conversations, so that all pairs here are new to it.
A chat model is trained on nothing here; it is asked of all relevant pairs, of the five best candidates and of ten below
them, which stand for all others.
"""

import argparse
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cxlab import llm
from cxlab.benchmarks.cdr.relevance import PairClassifier, PairFeatures, PairLabel
from cxlab.benchmarks.cdr.relevance.classifier import RETRIEVERS, Array, TrainingReport
from cxlab.benchmarks.cdr.relevance.labelling import CANDIDATES, SAMPLED, tell_model
from cxlab.benchmarks.cdr.relevance.model_classifier import hold_against
from cxlab.benchmarks.cdr.relevance.pair_readings import PairReadings
from cxlab.benchmarks.cdr.relevance.reranker import FILE, load_reranker
from cxlab.benchmarks.cdr.relevance.reranker import train as train_reranker
from cxlab.benchmarks.cdr.relevance.retriever_features import RetrieverFeatures, is_retriever
from cxlab.benchmarks.generation.stages import FaultStoppedModel
from cxlab.llm import ChatModel
from cxlab.records.progress import finish
from tests.data.real_conversations import Material, load_by_hand, load_real

KINDS = ("candidates", "sampled", "all")
DRAWS = 3


def choose(kind: str, ranked: list[str], rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """The conversations that are labelled, and how many pairs each stands for."""
    if kind == "all":
        yield from ((name, 1.0) for name in ranked)
        return
    yield from ((name, 1.0) for name in ranked[:CANDIDATES])
    below = ranked[CANDIDATES:]
    if kind == "sampled":
        yield from ((str(name), len(below) / SAMPLED) for name in rng.choice(below, SAMPLED, replace=False))


def measure_order(material: Material, score: Callable[[str], Array], ids: list[str]) -> dict[str, float]:
    """Of scores of all pairs: average precision in both ways, and nDCG@10 of their order."""
    # Late, here and below: it takes a second, which most processes of tests need not spend.
    from sklearn.metrics import average_precision_score

    told, true, few_told, few_true, gains = [], [], [], [], []
    rng = np.random.default_rng(0)
    for query, text in sorted(material.queries.items()):
        scores, fits = score(text), np.array([name in material.relevant[query] for name in ids])
        told.append(scores)
        true.append(fits)
        relevant = np.flatnonzero(fits)
        others = rng.choice(np.flatnonzero(~fits), 3 * len(relevant), replace=False)
        few_told.append(scores[np.concatenate([relevant, others])])
        few_true.append(np.repeat([True, False], [len(relevant), 3 * len(relevant)]))
        order = np.argsort(-scores, kind="stable")[:10]
        discounts = 1 / np.log2(np.arange(2, 12))
        gains.append(float((fits[order] * discounts).sum() / discounts[: min(10, len(relevant))].sum()))
    return {
        "all pairs: average precision": average_precision_score(np.concatenate(true), np.concatenate(told)),
        "one to three: average precision": average_precision_score(np.concatenate(few_true), np.concatenate(few_told)),
        "nDCG@10": float(np.mean(gains)),
    }


def measure_rerankers(material: Material) -> Iterator[tuple[str, dict[str, float]]]:
    """What comes before the reranker, the sum of three reciprocal ranks, and the reranker."""
    features, reranker = PairFeatures(material.corpus), load_reranker()
    count = len(RETRIEVERS)
    yield (
        "retrieval",
        measure_order(material, lambda text: features.read(text)[:, count : 2 * count].sum(axis=1), features.ids),
    )
    yield "reranker", measure_order(material, lambda text: reranker.score(features.read(text)), features.ids)


def measure(material: Material, kind: str, name: str = "") -> dict[str, float]:
    """Means over the draws of each figure; `name`: the retriever that is read instead of the features."""
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import GroupKFold

    ranking, queries = PairFeatures(material.corpus), sorted(material.queries)
    features: Any = RetrieverFeatures(material.corpus, name, material.queries.values()) if name else ranking
    ranked = {query: ranking.rank(material.queries[query], len(features.ids)) for query in queries}
    # Reading a pair's features takes longer than anything else here.
    known = {query: features.read(material.queries[query]) for query in queries}
    texts = {material.queries[query]: query for query in queries}
    features.read = lambda text: known[texts[text]]
    fits = {query: np.array([name in material.relevant[query] for name in features.ids]) for query in queries}
    found: dict[str, list[float]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        labels = {
            query: [
                PairLabel(query, name, name in material.relevant[query], weight)
                for name, weight in choose(kind, ranked[query], rng)
            ]
            for query in queries
        }
        told, true, few_told, few_true = [], [], [], []
        for train, test in GroupKFold(5).split(queries, groups=queries):
            rows = [label for place in train for label in labels[queries[place]]]
            model = PairClassifier.train(features, material.queries, rows)
            for query in (queries[place] for place in test):
                told.append(model.predict(features, material.queries[query], features.ids))
                true.append(fits[query])
                relevant = np.flatnonzero(fits[query])
                others = rng.choice(np.flatnonzero(~fits[query]), 3 * len(relevant), replace=False)
                few_told.append(told[-1][np.concatenate([relevant, others])])
                few_true.append(np.repeat([True, False], [len(relevant), 3 * len(relevant)]))
        for name, chances, wanted in (("all pairs", told, true), ("one to three", few_told, few_true)):
            chance, right = np.concatenate(chances), np.concatenate(wanted)
            found.setdefault(f"{name}: average precision", []).append(average_precision_score(right, chance))
            found.setdefault(f"{name}: accuracy", []).append(((chance >= 0.5) == right).mean())
            found.setdefault(f"{name}: blind", []).append(right.mean())
        found.setdefault("mean chance of all pairs", []).append(np.concatenate(told).mean())
    return {name: float(np.mean(values)) for name, values in found.items()}


def measure_model(material: Material, model: ChatModel, seed: int = 0) -> TrainingReport | None:
    """How a chat model's chances agree with what people say, over all pairs and the paper's way."""
    features, rng = PairFeatures(material.corpus), np.random.default_rng(seed)
    labels: list[PairLabel] = []
    for query, text in sorted(material.queries.items()):
        ranked, wanted = features.rank(text, len(features.ids)), material.relevant[query]
        labels += [PairLabel(query, name, True) for name in ranked if name in wanted]
        labels += [PairLabel(query, name, False) for name in ranked[:CANDIDATES] if name not in wanted]
        below = [name for name in ranked[CANDIDATES:] if name not in wanted]
        drawn = rng.choice(below, min(SAMPLED, len(below)), replace=False).tolist()
        labels += [PairLabel(query, name, False, len(below) / len(drawn)) for name in drawn]
    reading = PairReadings(material.corpus, material.queries, seed, None)
    return finish(hold_against(reading.rate, FaultStoppedModel(model), labels, "people", seed))


def tell(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in figures.items())


def write_reranker() -> None:
    """Train the reranker on what the stand-in writes, and write its file anew below the lines of its head."""
    weights = train_reranker(llm.load("simulated:strong")).model_dump()
    features = weights.pop("features")
    head = itertools.takewhile(lambda line: line.startswith("#"), FILE.read_text(encoding="utf-8").splitlines())
    rows = [f"{name}: {value}" for name, value in weights.items()]
    rows += ["features:", *(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in features.items())]
    FILE.write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", action="store_true", help="the real dialogues")
    parser.add_argument("--model", help="a chat model, or retriever:NAME, in their place")
    parser.add_argument("--train-reranker", action="store_true")
    given = parser.parse_args()
    if given.train_reranker:
        write_reranker()
        return
    material = load_real() if given.real else load_by_hand()
    if given.model and is_retriever(given.model):
        features = RetrieverFeatures(material.corpus, given.model, material.queries.values())
        print(f"{given.model} as the reranker: {tell(measure_order(material, features.score, features.ids))}")
        print(f"as the classifier, trained on sampled: {tell(measure(material, 'sampled', given.model))}")
        return
    if given.model:
        found = measure_model(material, llm.load(given.model))
        print("\n".join(tell_model(found, "classifier")) if found else f"{given.model} told of no pair")
        return
    for name, figures in measure_rerankers(material):
        print(f"{name}: {tell(figures)}", flush=True)
    for kind in KINDS:
        print(f"classifier trained on {kind}: {tell(measure(material, kind))}", flush=True)


if __name__ == "__main__":
    main()
