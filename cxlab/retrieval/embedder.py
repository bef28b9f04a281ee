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
