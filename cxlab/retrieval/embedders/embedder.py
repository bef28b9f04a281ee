"""What an embedder is: texts in, vectors out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """`name` decides the vectors: two embedders of one name give the same ones."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One float32 row of `dim` numbers a text, of length 1, or all zeros where there is nothing to embed."""
        ...


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors of questions: of an embedder that tells them from passages its own, else as for passages."""
    own = getattr(embedder, "embed_queries", None)
    vectors: Vectors = embedder.embed(texts) if own is None else own(texts)
    return vectors
