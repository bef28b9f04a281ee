"""Character TF-IDF over pieces, with scikit-learn: forgives spelling and inflection, in any language."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.retrieval.documents import readable
from cxlab.retrieval.top_k import Ranked, best, rows_a_block

# Inside words and across their edges; 3 to 4 characters hold most word stems and keep the matrix small.
_GRAMS = (3, 4)
_MOST_GRAMS = 200_000
ANALYZER = "character 3- and 4-grams within words and their edges, casefolded, 1 + ln(tf), smooth idf, unit length"


class LexicalRanker:
    """Cosine of TF-IDF vectors of character n-grams, at most the 200,000 most frequent; only pieces above 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn import __version__  # late: 0.5 s
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=_GRAMS,
            lowercase=False,
            sublinear_tf=True,
            max_features=_MOST_GRAMS,
            dtype=np.float32,
        )
        self.count = self.total = len(texts)
        texts = [text.casefold() for text in readable(texts)]
        if any(text.strip() for text in texts):
            # Columns are pieces: a block of queries times this is a block of scores.
            self.matrix = self.vectorizer.fit_transform(texts).T.tocsr()
        else:
            self.count = 0
        self.description = {"analyzer": ANALYZER, "scikit-learn": __version__}

    def encode(self, queries: Sequence[str]) -> Any:
        """The queries as a sparse matrix."""
        return self.vectorizer.transform([query.casefold() for query in queries]) if self.count else None

    def rank(self, encoded: Any, rows: NDArray[np.int64], n: int) -> Ranked:
        """The best n pieces with a score above 0."""
        step = rows_a_block(self.count)
        found: Ranked = []
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            if encoded is None:
                scores = np.zeros((len(block), 0), dtype=np.float32)
            else:
                scores = (encoded[block] @ self.matrix).toarray()
            found += best(scores, n, above=0.0)
        return found

    def score(self, encoded: Any, row: int) -> NDArray[np.float32]:
        """The cosines of all pieces for one of the encoded queries; 0 where nothing is shared."""
        if encoded is None:
            return np.zeros(self.total, dtype=np.float32)
        scores: NDArray[np.float32] = (encoded[row] @ self.matrix).toarray()[0]
        return scores
