"""Cosines of texts with each other, by their words or by an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cxmarena.evaluation.corpus import embedder
from cxlab.benchmarks.cxmarena.text import content


def cosine_rows(texts: Sequence[str], similarity: str) -> Callable[[int, int], NDArray[np.float32]]:
    """A function from a range of texts to their cosines with all texts, one row a text.

    `similarity`: "words" (TF-IDF of stems), or an embedder by name.
    """
    if similarity == "words":
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not any(content(text) for text in texts):
            return lambda start, end: np.zeros((end - start, len(texts)), dtype=np.float32)
        vectorizer = TfidfVectorizer(analyzer=content, sublinear_tf=True, dtype=np.float32)
        matrix = vectorizer.fit_transform(texts)
        turned = matrix.T.tocsr()
        return lambda start, end: np.asarray((matrix[start:end] @ turned).toarray(), dtype=np.float32)
    vectors: NDArray[np.float32] = embedder(similarity).embed(list(texts))
    return lambda start, end: vectors[start:end] @ vectors.T
