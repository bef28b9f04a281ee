"""A classifier of (query, conversation) pairs, trained on the labels at hand.

The paper fine-tunes two models on 300,000 conversations; here a logistic regression weighs what three retrievers say
of a pair, which a few hundred labels are enough for. It is held against the paper's figures by what it does to queries
that it was not trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab import retrieval
from cxlab.benchmarks.cdr.failure_analysis import read_words
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.errors import BadOption
from cxlab.records import Conversation

RETRIEVERS = ("bm25", "lexical", "conversation")
FEATURES = (
    *(f"{name}, as a part of the query's best" for name in RETRIEVERS),
    *(f"1 / rank by {name}" for name in RETRIEVERS),
    "share of the query's words that the user says",
    "share that the assistant says",
)
_FOLDS = 5
Array = NDArray[np.float64]


class PairFeatures:
    """What is known of each pair of a query and a conversation of the corpus; the retrievers are fitted once."""

    def __init__(self, corpus: Mapping[str, Conversation]) -> None:
        self.ids = sorted(corpus)
        self.place = {name: place for place, name in enumerate(self.ids)}
        text = UnitText()
        texts = [text.write(corpus[name].messages) for name in self.ids]
        self._retrievers: list[Any] = [retrieval.load(name) for name in RETRIEVERS]
        for each in self._retrievers:
            each.fit(texts)
        self._said = [
            [
                read_words(" ".join(message.text for message in corpus[name].messages if message.role == role))
                for name in self.ids
            ]
            for role in ("customer", "agent")
        ]

    def read(self, query: str) -> Array:
        """One row a conversation, in the order of `ids`; one column a feature."""
        columns: list[Array] = []
        ranks: list[Array] = []
        for each in self._retrievers:
            scores = np.asarray(each.scores(query), dtype=np.float64)
            best = scores.max(initial=0.0)
            columns.append(np.maximum(scores, 0) / best if best > 0 else np.zeros(len(scores)))
            order = np.empty(len(scores))
            order[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
            ranks.append(1 / order)
        asked = read_words(query)
        most = max(len(asked), 1)
        words = [np.array([len(asked & said) / most for said in side]) for side in self._said]
        return np.column_stack([*columns, *ranks, *words])

    def rank(self, query: str, depth: int) -> list[str]:
        """The best conversations by the sum of the three reciprocal ranks."""
        read = self.read(query)
        scores = read[:, len(RETRIEVERS) : 2 * len(RETRIEVERS)].sum(axis=1)
        return [self.ids[place] for place in np.argsort(-scores, kind="stable")[:depth].tolist()]


@dataclass(frozen=True)
class TrainedOn:
    """What it was trained on and how it does on queries that it was not trained on (five folds by query).

    `average_precision` and `accuracy` (at 0.5) from 0 to 1; `base` is the share of relevant pairs, which is what a
    blind order has as its average precision.
    """

    pairs: int
    relevant: int
    queries: int
    average_precision: float
    accuracy: float

    @property
    def base(self) -> float:
        """The share of relevant pairs."""
        return self.relevant / self.pairs


class PairClassifier:
    """The chance that a conversation answers a query; `held_out` says how far it can be relied on."""

    def __init__(self, model: Any, held_out: TrainedOn) -> None:
        self._model, self.held_out = model, held_out

    @classmethod
    def train(
        cls, features: PairFeatures, queries: Mapping[str, str], labels: Iterable[tuple[str, str, bool]]
    ) -> PairClassifier:
        """Train on (query id, conversation id, whether it fits); BadOption where there are too few of either."""
        rows = list(labels)
        asked = sorted({query for query, _, _ in rows})
        wanted = np.array([fits for _, _, fits in rows], dtype=bool)
        if len(asked) < _FOLDS or wanted.sum() < _FOLDS or (~wanted).sum() < _FOLDS:
            raise BadOption(
                f"a classifier needs {_FOLDS} queries, relevant and irrelevant pairs or more; there are {len(asked)}, "
                f"{int(wanted.sum())} and {int((~wanted).sum())}"
            )
        from sklearn.metrics import average_precision_score  # late: 0.5 s
        from sklearn.model_selection import GroupKFold

        read = {query: features.read(queries[query]) for query in asked}
        known = np.stack([read[query][features.place[name]] for query, name, _ in rows])
        groups = np.array([asked.index(query) for query, _, _ in rows])
        told = np.zeros(len(rows))
        for train, test in GroupKFold(_FOLDS).split(known, wanted, groups):
            if wanted[train].all() or not wanted[train].any():
                told[test] = wanted[train].mean()
            else:
                told[test] = _fit(known[train], wanted[train]).predict_proba(known[test])[:, 1]
        held_out = TrainedOn(
            len(rows),
            int(wanted.sum()),
            len(asked),
            float(average_precision_score(wanted, told)),
            float(((told >= 0.5) == wanted).mean()),
        )
        return cls(_fit(known, wanted), held_out)

    def predict(self, features: PairFeatures, query: str, names: Sequence[str]) -> Array:
        """A chance for each of the conversations."""
        read = features.read(query)[[features.place[name] for name in names]]
        found: Array = self._model.predict_proba(read)[:, 1]
        return found


def _fit(rows: Array, wanted: NDArray[np.bool_]) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows, wanted)
