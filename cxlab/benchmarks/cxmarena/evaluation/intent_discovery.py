"""Intents that nobody has named yet: utterances into clusters, and clusters compared with known intents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadFile, BadOption
from cxlab.files import read_json_lines
from cxlab.metrics.labels import check_equal_length


def discover(utterances: Sequence[str], seed: int, k: int | None = None, threshold: float | None = None) -> list[int]:
    """A cluster number for each utterance, 0 for the largest cluster; the same for a seed.

    With `k`, k-means on TF-IDF vectors reduced to 100 directions. With `threshold` (a cosine distance, 0.9
    when neither is given), agglomeration of nearest averages on the full vectors, which needs no number of
    clusters and memory in the square of the utterances (at most 10,000). Words and pairs of words count.
    """
    if k is not None and threshold is not None:
        raise BadOption("give k or threshold, not both")
    if k is not None and not 1 <= k <= max(1, len(utterances)):
        raise BadOption(f"k={k} for {len(utterances)} utterances; give 1 to {max(1, len(utterances))}")
    if len(utterances) < 2:
        return [0] * len(utterances)
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits

    # Words of one letter stay: with them no utterance that has a word is empty.
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+", min_df=1)
    try:
        matrix = vectorizer.fit_transform(utterances)
    except ValueError:
        return [0] * len(utterances)  # not one word in all of them
    if k is not None:
        width = min(100, min(matrix.shape) - 1)
        vectors = matrix
        if width >= 2:
            vectors = normalize(TruncatedSVD(width, random_state=seed).fit_transform(matrix))
        # k-means complains where fewer different utterances than clusters exist; the clusters stay right.
        different = len({tuple(row) for row in np.round(_dense(vectors), 9).tolist()})
        # On a busy machine its threads wait for each other: one alone was ten times as fast as four.
        with threadpool_limits(1):
            labels = KMeans(min(k, different), random_state=seed, n_init=10).fit_predict(vectors)
    else:
        if len(utterances) > 10_000:
            raise BadOption(f"{len(utterances)} utterances are too many for a threshold (at most 10,000); give k")
        if threshold is not None and not 0 < threshold < 1:
            raise BadOption(f"threshold={threshold}; give a cosine distance between 0 and 1")
        distances = np.clip(1 - (matrix @ matrix.T).toarray(), 0, None)
        labels = AgglomerativeClustering(
            n_clusters=None, metric="precomputed", linkage="average", distance_threshold=threshold or 0.9
        ).fit_predict(distances)
    return _by_size(labels)


def _dense(vectors: Any) -> NDArray[np.float64]:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


def _by_size(labels: NDArray[Any]) -> list[int]:
    """The clusters numbered from the largest, equal ones by first occurrence."""
    values, first, counts = np.unique(labels, return_index=True, return_counts=True)
    order = sorted(range(len(values)), key=lambda i: (-int(counts[i]), int(first[i])))
    number = {values[i]: n for n, i in enumerate(order)}
    return [number[label] for label in labels]


def score_clusters(clusters: Sequence[Any], gold: Sequence[Any]) -> dict[str, float]:
    """V-measure (with homogeneity and completeness) and adjusted Rand index of clusters against gold intents.

    V-measure rises with the number of clusters even by chance; the adjusted Rand index is 0 by chance and may
    be negative. `clusters` and `intents` count both sides.
    """
    check_equal_length(gold, clusters)
    if not len(gold):
        raise BadOption("no items to score")
    from sklearn import metrics

    homogeneity, completeness, v_measure = metrics.homogeneity_completeness_v_measure(gold, clusters)
    return {
        "v_measure": float(v_measure),
        "homogeneity": float(homogeneity),
        "completeness": float(completeness),
        "adjusted_rand": float(metrics.adjusted_rand_score(gold, clusters)),
        "clusters": float(len(set(clusters))),
        "intents": float(len(set(gold))),
    }


def read_utterances(path: Path | str) -> list[tuple[str, str]]:
    """(utterance, intent) of each line of a JSONL file such as NatCS' test utterances; BadFile names the line."""
    found = []
    for number, row in read_json_lines(Path(path)):
        if isinstance(row, BadFile):
            raise row
        if not isinstance(row, dict) or not {"utterance", "intent"} <= row.keys():
            raise BadFile(path, number, "no JSON object with utterance and intent", "one object a line")
        found.append((str(row["utterance"]), str(row["intent"])))
    if not found:
        raise BadFile(path, None, "holds no utterance")
    return found
