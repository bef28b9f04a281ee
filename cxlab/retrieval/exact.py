"""Exact nearest neighbours: every query against every vector, as one blocked matrix product."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadFile, BadOption
from cxlab.retrieval.top_k import Ranked, best, rows_a_block

_VERSION = 1


class ExactIndex:
    """Vectors by id, searched by inner product; with unit vectors that is the cosine.

    Equal scores (rounded to 6 places) are ordered by id, so the same vectors give the same ranking whatever
    the number of threads or the order in which they came. Vectors are float32, one row an id, finite;
    ids are texts, each once.
    """

    def __init__(self, ids: Sequence[str], vectors: NDArray[Any]) -> None:
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(ids):
            raise BadOption(f"{len(ids)} ids for vectors of shape {matrix.shape}; give one row an id")
        check_finite(matrix)
        order = sorted(range(len(ids)), key=ids.__getitem__)
        self.ids = [ids[place] for place in order]
        twice = next((one for one, other in zip(self.ids, self.ids[1:], strict=False) if one == other), None)
        if twice is not None:
            raise BadOption(f"id {twice!r} comes twice; give each vector an id of its own")
        straight = order == list(range(len(ids)))
        self.vectors: NDArray[np.float32] = np.ascontiguousarray(matrix if straight else matrix[order])

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def rank(self, queries: NDArray[Any], k: int) -> Ranked:
        """For each query vector the positions (in `ids`) and scores of the best k, or of all if there are fewer."""
        asked = np.ascontiguousarray(queries, dtype=np.float32)
        if asked.ndim != 2 or asked.shape[1] != self.dim:
            raise BadOption(f"query vectors of shape {asked.shape} against vectors of {self.dim} numbers")
        if k < 1:
            raise BadOption(f"k = {k}; give 1 or more")
        check_finite(asked)
        if not len(self):
            return best(np.zeros((len(asked), 0), dtype=np.float32), k)
        step = rows_a_block(len(self))
        scores = np.empty((min(step, len(asked)), len(self)), dtype=np.float32)
        found: Ranked = []
        for start in range(0, len(asked), step):
            block = asked[start : start + step]
            found += best(np.matmul(block, self.vectors.T, out=scores[: len(block)]), k)
        return found

    def search(self, queries: NDArray[Any], k: int) -> list[list[tuple[str, float]]]:
        """For each query vector the best k as (id, score), best first; scores rounded to 6 places."""
        return [
            [(self.ids[place], score) for place, score in zip(places.tolist(), scores.tolist(), strict=True)]
            for places, scores in self.rank(queries, k)
        ]

    def save(self, folder: Path | str) -> None:
        """Write the index as a folder; it appears whole or not at all, and replaces an older one."""
        target = Path(folder)
        fresh = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        np.save(fresh / "vectors.npy", self.vectors, allow_pickle=False)
        about = {"version": _VERSION, "ids": self.ids, "dim": self.dim}
        (fresh / "index.json").write_text(json.dumps(about), encoding="utf-8")
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        if target.exists():
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path | str) -> "ExactIndex":
        """Read an index that `save` wrote; BadFile when it is not one or is damaged."""
        source = Path(folder)
        fix = "build the index again"
        try:
            about = json.loads((source / "index.json").read_text(encoding="utf-8"))
            vectors = np.load(source / "vectors.npy", allow_pickle=False)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise BadFile(source, None, f"no index here ({Path(str(error.filename)).name} is missing)", fix) from None
        except (ValueError, EOFError) as error:
            raise BadFile(source, None, f"the index is damaged: {str(error)[:120]}", fix) from None
        if not isinstance(about, dict) or about.get("version") != _VERSION:
            raise BadFile(source / "index.json", None, f"not an index of version {_VERSION}", fix)
        ids, dim = about.get("ids"), about.get("dim")
        if not isinstance(ids, list) or vectors.shape != (len(ids), dim) or vectors.dtype != np.float32:
            raise BadFile(source, None, f"the ids do not fit the vectors of shape {vectors.shape}", fix)
        return cls(ids, vectors)


def check_finite(vectors: NDArray[np.float32]) -> None:
    """BadOption naming the first row that holds nan or infinity: it would come first or never, for every query."""
    # A sum is finite unless a part is not (or all is so large that it overflows, which is refused too).
    with np.errstate(over="ignore", invalid="ignore"):
        wrong = ~np.isfinite(np.einsum("ij->i", vectors))
    if wrong.any():
        raise BadOption(f"vector {int(np.argmax(wrong))} holds a number that is not finite; leave that text out")
