"""BM25 over pieces, with bm25s: the default that needs no model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.retrieval.documents import readable
from cxlab.retrieval.top_k import Ranked, best, rows_a_block
from cxlab.word_forms import split, split_to_stems

# 1.5 and 0.75: bm25s's defaults, Lucene's are 1.2 and 0.75. Results agree only where these do.
K1, B = 1.5, 0.75
TOKENIZER = r"casefolded \w+ (letters, digits, underscore of any script); no stop words, no stemming"


def tokenize(text: str, language: str = "") -> list[str]:
    """The words of a text, casefolded; their stems where a `language` joins forms (word_forms)."""
    return split_to_stems(text, language) if language else split(text)


class BM25Ranker:
    """Lucene's BM25: sum over query words of idf x tf / (tf + k1 x (1 - b + b x length / mean length)).

    idf = ln(1 + (N - n + 0.5) / (n + 0.5)), never negative. A word that stands twice in the query counts
    twice. Only pieces that hold a word of the query are returned. `language`: whose forms of a word are joined.
    """

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B, language: str = "") -> None:
        if not k1 >= 0 or not 0 <= b <= 1:
            raise BadOption(f"BM25 with k1 = {k1}, b = {b}; give k1 of 0 or more and b between 0 and 1")
        import bm25s  # late: only who builds an index needs it

        self.vocabulary: dict[str, int] = {}
        number = self.vocabulary.setdefault
        ids = [[number(word, len(self.vocabulary)) for word in tokenize(text, language)] for text in readable(texts)]
        self.language, self.count = language, len(ids)
        self.index = bm25s.BM25(k1=k1, b=b, method="lucene")
        if self.vocabulary:
            self.index.index((ids, dict(self.vocabulary)), show_progress=False)
        self.description = {"k1": k1, "b": b, "tokenizer": TOKENIZER, "bm25s": bm25s.__version__}
        if language:
            self.description["stemmer"] = language

    def encode(self, queries: Sequence[str]) -> list[list[int]]:
        """The known words of each query as numbers."""
        known = self.vocabulary
        return [[known[word] for word in tokenize(query, self.language) if word in known] for query in queries]

    def rank(self, encoded: Any, rows: NDArray[np.int64], n: int) -> Ranked:
        """The best n pieces with a score above 0."""
        step = rows_a_block(self.count)
        found: Ranked = []
        for start in range(0, len(rows), step):
            block = rows[start : start + step].tolist()
            scores = np.zeros((len(block), self.count), dtype=np.float32)
            for place, row in enumerate(block):
                if encoded[row]:
                    scores[place] = self.index.get_scores_from_ids(encoded[row])
            found += best(scores, n, above=0.0)
        return found

    def score(self, encoded: Any, row: int) -> NDArray[np.float32]:
        """The scores of all pieces for one of the encoded queries; 0 without a word of it."""
        if not encoded[row]:
            return np.zeros(self.count, dtype=np.float32)
        scores: NDArray[np.float32] = self.index.get_scores_from_ids(encoded[row])
        return scores
