"""What the two models of the labelling say: the reranker of the order in which is read on, the classifier of each pair.

Each is one that is trained here, or a chat model, or a retriever (an embedding endpoint, for example) by its name.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from cxlab.benchmarks.cdr.relevance.classifier import (
    LOCAL,
    Features,
    PairClassifier,
    PairFeatures,
    PairLabel,
    TrainingReport,
)
from cxlab.benchmarks.cdr.relevance.model_classifier import Pair, Rates, hold_against, hold_scores, read_on
from cxlab.benchmarks.cdr.relevance.reranker import load_reranker, order_by
from cxlab.benchmarks.cdr.relevance.retriever_features import RetrieverFeatures
from cxlab.benchmarks.generation.stages import Progress
from cxlab.errors import BadOption
from cxlab.llm import ChatModel

# More are read than a query may have, or no query could turn out to be too general.
DEPTH = 100
# Of the best by retrieval so many are read by a chat model in the reranker's place.
RERANKED = 20
UNSURE = 0.5


class RerankingResult(NamedTuple):
    """`order`: query → conversations, best first; `scores` of those of them that were scored; `held`: how the scores
    agree with the labels, None where all of these are alike."""

    order: dict[str, list[str]]
    scores: dict[Pair, float | None]
    held: TrainingReport | None


class RatingResult(NamedTuple):
    """`chances`: query → conversation → its chance, None for an unreadable reply; `note`: why there are none."""

    chances: dict[str, dict[str, float | None]]
    held: TrainingReport | None
    note: str = ""


def rerank(
    features: PairFeatures,
    queries: Mapping[str, str],
    labels: Sequence[PairLabel],
    by: str,
    seed: int,
    retriever: RetrieverFeatures | None = None,
    name: str = LOCAL,
) -> RerankingResult:
    """Order the whole corpus for each query, by the reranker that ships or by a retriever called `name`."""
    local = load_reranker()
    order: dict[str, list[str]] = {}
    scores: dict[Pair, float | None] = {}
    labelled: dict[str, list[str]] = {}
    for label in labels:
        labelled.setdefault(label.query_id, []).append(label.conversation_id)
    for query, text in queries.items():
        told = local.score(features.read(text)) if retriever is None else retriever.score(text)
        order[query] = order_by(told, features.ids, DEPTH)
        for each in (*order[query], *labelled.get(query, ())):
            scores[query, each] = float(told[features.place[each]])
    return RerankingResult(order, scores, hold_scores(scores, labels, name, by, seed))


def rerank_by_chat(
    rate: Rates, model: ChatModel, best: Mapping[str, Sequence[str]], labels: Sequence[PairLabel], by: str, seed: int
) -> Generator[Progress, None, RerankingResult]:
    """The first of the `best` in the order of the chances that a chat model gives them, the rest behind them."""
    held = yield from hold_against(rate, model, labels, by, seed, "reranker-labels")
    pairs = [(query, name) for query, names in best.items() for name in names[:RERANKED]]
    scores = yield from rate("reranker", model, pairs)
    order: dict[str, list[str]] = {}
    for query, names in best.items():
        chances = {name: scores[query, name] or 0.0 for name in names[:RERANKED]}
        order[query] = [*sorted(chances, key=chances.__getitem__, reverse=True), *names[RERANKED:]]
    return RerankingResult(order, scores, held)


def tell_chances(
    features: Features,
    queries: Mapping[str, str],
    unread: Mapping[str, Sequence[str]],
    labels: Sequence[PairLabel],
    seed: int,
    name: str = LOCAL,
) -> RatingResult:
    """The chances by a classifier trained on the labels; none where these are too few."""
    try:
        classifier = PairClassifier.train(features, queries, labels, seed)
    except BadOption as few:
        return RatingResult({}, None, str(few))
    chances: dict[str, dict[str, float | None]] = {
        query: dict(zip(names, classifier.predict(features, queries[query], names).tolist(), strict=True))
        for query, names in unread.items()
        if names
    }
    return RatingResult(chances, classifier.held_out._replace(by=name))


def tell_chances_by_chat(
    rate: Rates, model: ChatModel, unread: Mapping[str, Sequence[str]], labels: Sequence[PairLabel], by: str, seed: int
) -> Generator[Progress, None, RatingResult]:
    """The chances by a chat model, as far as it reads on."""
    held = yield from hold_against(rate, model, labels, by, seed)
    return RatingResult((yield from read_on(rate, model, unread, UNSURE)), held)
