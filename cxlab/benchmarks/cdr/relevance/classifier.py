"""A classifier of (query, conversation) pairs, trained on the labels at hand.

The paper fine-tunes two language models, a reranker (`reranker.py`) and this one; here a logistic regression weighs
what three retrievers, the readings of the one for conversations and the cues of `cues.py` say of a pair; a few hundred
labels are enough. It learns from all labels alike; then its chances are calibrated to all pairs, as those that rank
first are labelled oftener than the rest. It is compared with the paper's figures by what it does to queries that it was
not trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cxlab import retrieval
from cxlab.benchmarks.cdr.failure_analysis import read_words
from cxlab.benchmarks.cdr.relevance.cues import CueReader
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.errors import BadOption
from cxlab.records import Conversation

RETRIEVERS = ("bm25", "lexical", "conversation")
_PARTS = ("topic", "topic of the side that is meant", "state", "order of states")
_CUES = ("cues of the side that is meant", "cues of anybody", "cues late rather than early")
FEATURES = (
    *(f"{name}, as a part of the query's best" for name in RETRIEVERS),
    *(f"1 / rank by {name}" for name in RETRIEVERS),
    "share of the query's words that the user says",
    "share that the assistant says",
    *_PARTS,
    *(f"{name}, in standard deviations of the query" for name in (*_PARTS, *RETRIEVERS)),
    *_CUES,
    *(f"{name}, in standard deviations of the query" for name in _CUES),
)
_FOLDS = 5
# Irrelevant pairs beside each relevant one where it is measured the way of the paper.
NEGATIVES = 3
# Many features, few labels.
_STRENGTH = 0.05
Array = NDArray[np.float64]


class PairLabel(NamedTuple):
    """Whether a conversation fits a query, and how many pairs it stands for: 1, or of a sample more."""

    query_id: str
    conversation_id: str
    fits: bool
    stands_for: float = 1.0


class Features(Protocol):
    """What is known of pairs: `place` tells the row of a conversation in what `read` gives of a query."""

    ids: list[str]
    place: dict[str, int]

    def read(self, query: str) -> Array: ...


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
        self._cues = CueReader([corpus[name] for name in self.ids])
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
        scored = [np.asarray(each.scores(query), dtype=np.float64) for each in self._retrievers]
        for scores in scored:
            best = scores.max(initial=0.0)
            columns.append(np.maximum(scores, 0) / best if best > 0 else np.zeros(len(scores)))
            order = np.empty(len(scores))
            order[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
            ranks.append(1 / order)
        asked = read_words(query)
        most = max(len(asked), 1)
        words = [np.array([len(asked & said) / most for said in side]) for side in self._said]
        parts = self._retrievers[RETRIEVERS.index("conversation")].parts(query)
        cues = self._cues.read(query)
        raw = np.column_stack([parts, *scored])
        return np.column_stack([*columns, *ranks, *words, parts, spread(raw), cues, spread(cues)])

    def rank(self, query: str, depth: int) -> list[str]:
        """The best conversations by the sum of the three reciprocal ranks."""
        read = self.read(query)
        scores = read[:, len(RETRIEVERS) : 2 * len(RETRIEVERS)].sum(axis=1)
        return [self.ids[place] for place in np.argsort(-scores, kind="stable")[:depth].tolist()]


def spread(columns: Array) -> Array:
    """Each column in its standard deviations from its mean."""
    found: Array = (columns - columns.mean(axis=0)) / (columns.std(axis=0) + 1e-9)
    return found


LOCAL = "local"
"""What the models that are trained here are called; any other name is a chat model's or a retriever's."""


class TrainingReport(NamedTuple):
    """What it was trained on and how it does on queries that it was not trained on (five folds by query), from 0 to 1.

    `against`: of what learnt nothing from these labels, a chat model or the reranker, whose labels it is compared with;
    "" where it was trained on them. `by`: the chat model or the retriever that it is.

    `average_precision` and `accuracy` (at 0.5) are over all pairs that the labels stand for; `base` is the share of
    relevant ones, which is what a blind order has as its average precision. `paired_precision` and `paired_accuracy`
    are the way of the paper: each relevant pair beside three irrelevant ones, drawn by chance from the labels of its
    query, so that a blind order has 0.25 and a blind guess 0.75; None where no query has labels of both kinds.
    """

    pairs: int
    relevant: int
    queries: int
    average_precision: float
    accuracy: float
    base: float
    paired_precision: float | None = None
    paired_accuracy: float | None = None
    paired: int = 0
    by: str = LOCAL
    against: str = ""


class PairClassifier:
    """The chance that a conversation answers a query; `held_out` says how far it can be relied on."""

    def __init__(self, model: Any, calibration: Any, held_out: TrainingReport) -> None:
        self._model, self._calibration, self.held_out = model, calibration, held_out

    @classmethod
    def train(
        cls,
        features: Features,
        queries: Mapping[str, str],
        labels: Iterable[PairLabel | tuple[str, str, bool]],
        seed: int = 0,
    ) -> PairClassifier:
        """Train on labels; BadOption where there are too few of either kind."""
        rows = [PairLabel(*each) for each in labels]
        asked = sorted({row.query_id for row in rows})
        wanted = np.array([row.fits for row in rows], dtype=bool)
        if len(asked) < _FOLDS or wanted.sum() < _FOLDS or (~wanted).sum() < _FOLDS:
            raise BadOption(
                f"a classifier needs {_FOLDS} queries, relevant and irrelevant pairs or more; there are {len(asked)}, "
                f"{int(wanted.sum())} and {int((~wanted).sum())}"
            )
        from threadpoolctl import threadpool_limits

        read = {query: features.read(queries[query]) for query in asked}
        known = np.stack([read[row.query_id][features.place[row.conversation_id]] for row in rows])
        weights = np.array([row.stands_for for row in rows])
        groups = np.array([asked.index(row.query_id) for row in rows])
        folds = _split(known, groups)
        told = np.zeros(len(rows))
        # Small fits: on a busy machine more threads wait for each other.
        with threadpool_limits(1):
            for train, test in folds:
                model, calibration = _fit(known[train], wanted[train], weights[train], groups[train])
                told[test] = _predict(model, calibration, known[test])
            held_out = measure_chances(told, wanted, weights, groups, seed)
            return cls(*_fit(known, wanted, weights, groups), held_out)

    def predict(self, features: Features, query: str, names: Sequence[str]) -> Array:
        """A chance for each of the conversations."""
        read = features.read(query)[[features.place[name] for name in names]]
        return _predict(self._model, self._calibration, read)


def _split(rows: Array, groups: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    from sklearn.model_selection import GroupKFold  # late: 0.5 s

    return list(GroupKFold(min(_FOLDS, len(set(groups.tolist())))).split(rows, groups=groups))


def _fit(rows: Array, wanted: NDArray[np.bool_], weights: Array, groups: NDArray[np.int64]) -> tuple[Any, Any]:
    """A model, and what turns its decisions into chances over all pairs: fitted, weighed by what labels stand for, to
    the decisions on queries that the model was not trained on (Platt's scaling)."""
    from sklearn.linear_model import LogisticRegression

    if wanted.all() or not wanted.any():
        return None, float(wanted.mean())
    decisions = np.zeros(len(rows))
    for train, test in _split(rows, groups) if len(set(groups.tolist())) > 1 else ():
        if not wanted[train].all() and wanted[train].any():
            decisions[test] = fit_weights(rows[train], wanted[train]).decision_function(rows[test])
    calibration = LogisticRegression(C=1e3, max_iter=1000).fit(decisions[:, None], wanted, sample_weight=weights)
    return fit_weights(rows, wanted), calibration


def fit_weights(rows: Array, wanted: NDArray[np.bool_]) -> Any:
    """A logistic regression of standardised features, as a pipeline of the two."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=_STRENGTH, max_iter=1000)).fit(rows, wanted)


def _predict(model: Any, calibration: Any, rows: Array) -> Array:
    if model is None:  # all its labels were alike
        return np.full(len(rows), calibration)
    found: Array = calibration.predict_proba(model.decision_function(rows)[:, None])[:, 1]
    return found


def measure_chances(
    told: Array, wanted: NDArray[np.bool_], weights: Array, groups: NDArray[np.int64], seed: int
) -> TrainingReport:
    """Average precision and accuracy of chances in both ways; `groups`: the query of each pair, by number."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(seed)
    drawn: list[int] = []
    paired = 0
    for group in sorted(set(groups.tolist())):
        fits, others = np.flatnonzero((groups == group) & wanted), np.flatnonzero((groups == group) & ~wanted)
        few = min(len(fits), len(others) // NEGATIVES)
        drawn += rng.choice(fits, few, replace=False).tolist() if few else []
        drawn += rng.choice(others, NEGATIVES * few, replace=False).tolist() if few else []
        paired += few
    right = (told >= 0.5) == wanted
    return TrainingReport(
        len(wanted),
        int(wanted.sum()),
        len(set(groups.tolist())),
        float(average_precision_score(wanted, told, sample_weight=weights)),
        float(np.average(right, weights=weights)),
        float(np.average(wanted, weights=weights)),
        float(average_precision_score(wanted[drawn], told[drawn])) if drawn else None,
        float(right[drawn].mean()) if drawn else None,
        paired,
    )
