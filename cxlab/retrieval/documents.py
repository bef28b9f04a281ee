"""From pieces to documents: what is cut, found as pieces, and handed back as distinct documents."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.records import Article
from cxlab.retrieval.chunking import check_sizes, spans
from cxlab.retrieval.top_k import Ranked

# Pieces first asked for per wanted document; where they are of too few documents, four times as many, and so on.
_OVERFETCH, _MORE = 3, 4


class Chunk(NamedTuple):
    """A piece of a document; `start` and `end` count characters of the text that was indexed."""

    document: str
    start: int
    end: int
    text: str


class Hit(NamedTuple):
    """A document that was found: its id, the score of its best piece, and that piece."""

    id: str
    score: float
    chunk: Chunk


class Index(Protocol):
    """Anything that can be searched; `description` names every setting that decides a ranking."""

    description: dict[str, Any]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """For each query at most k distinct documents, best first."""
        ...


class Ranker(Protocol):
    """Ranks pieces, which it knows by their position."""

    def encode(self, queries: Sequence[str]) -> Any:
        """The queries in the form that `rank` reads, made once however often it is asked."""
        ...

    def rank(self, encoded: Any, rows: NDArray[np.int64], n: int) -> Ranked:
        """For those rows of the encoded queries the best n pieces, best first; fewer when no others match."""
        ...


class Scorer(Protocol):
    """Scores all pieces, which it knows by their position; `description` names its settings."""

    description: dict[str, Any]

    def encode(self, queries: Sequence[str]) -> Any:
        """The queries in the form that `score` reads."""
        ...

    def score(self, encoded: Any, row: int) -> NDArray[np.float32]:
        """The scores of all pieces, in their order, for one of the encoded queries."""
        ...


def article_text(article: Article) -> str:
    """What of an article is indexed: title, a blank line, body."""
    return f"{article.title}\n\n{article.body}" if article.title else article.body


def cut(documents: Iterable[tuple[str, str]], size: int, overlap: int) -> list[Chunk]:
    """The pieces of all (id, text), ordered by id and place; blank pieces are left out, as nothing can match them.

    A piece's position thus sorts as its document's id does, which is what makes ties go by id. BadOption where an id
    comes twice.
    """
    check_sizes(size, overlap)
    held: dict[str, str] = {}
    for name, text in documents:
        if name in held:
            raise BadOption(f"document {name!r} comes twice; give each an id of its own")
        held[name] = text
    return [
        Chunk(name, start, end, held[name][start:end])
        for name in sorted(held)
        for start, end in spans(held[name], size, overlap)
        if not held[name][start:end].isspace()
    ]


def readable(texts: Iterable[str]) -> list[str]:
    """The texts with lone surrogates, which no encoder takes, replaced by U+FFFD."""
    return [
        text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
    ]


class DocumentIndex:
    """An `Index` over a ranker of pieces.

    A document's score is that of its best piece. When the best pieces are of fewer than k documents, more
    pieces are asked for, until there are k documents or no piece is left. Equal scores (rounded to 6
    places) are ordered by id. Lexical rankers return only what shares something with the query, so a
    query may get fewer than k documents, or none. A blank query gets none.
    """

    def __init__(self, chunks: Sequence[Chunk], ranker: Ranker, description: dict[str, Any]) -> None:
        self.chunks = chunks
        self.ranker = ranker
        self.description = {
            **description,
            "chunks": len(chunks),
            "documents": len({chunk.document for chunk in chunks}),
        }

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """For each query at most k distinct documents, best first."""
        check_search(queries, k)
        found: list[list[Hit]] = [[] for _ in queries]
        total = len(self.chunks)
        rows = np.array([row for row, query in enumerate(queries) if query.strip()], dtype=np.int64)
        if not total or not rows.size:
            return found
        encoded = self.ranker.encode(readable(queries))
        n = min(_OVERFETCH * k, total)
        while rows.size:
            short = []
            for row, (places, scores) in zip(rows.tolist(), self.ranker.rank(encoded, rows, n), strict=True):
                found[row] = self._documents(places.tolist(), scores.tolist(), k)
                if len(found[row]) < k and len(places) == n < total:
                    short.append(row)
            rows = np.array(short, dtype=np.int64)
            n = min(_MORE * n, total)
        return found

    def _documents(self, places: list[int], scores: list[float], k: int) -> list[Hit]:
        best: dict[str, Hit] = {}
        for place, score in zip(places, scores, strict=True):
            chunk = self.chunks[place]
            if chunk.document not in best:
                best[chunk.document] = Hit(chunk.document, score, chunk)
                if len(best) == k:
                    break
        return list(best.values())


def check_search(queries: Sequence[str], k: int) -> None:
    """BadOption unless a list of texts and a k of at least 1 are given."""
    if isinstance(queries, str):
        raise BadOption("search takes a list of queries; put the one query into a list")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise BadOption(f"k = {k!r}; give a whole number of at least 1")
