"""Labels as small whole numbers, the same way for every metric that counts them."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption


def is_missing(value: Any) -> bool:
    """True for None and for NaN, Python's or numpy's."""
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def order_labels(values: Iterable[Any], labels: Sequence[Hashable] | None = None) -> list[Any]:
    """The labels in order: those given, else the distinct ones present, numbers before texts, each sorted.

    BadOption where a given label is missing or stands twice.
    """
    if labels is not None:
        if len(set(labels)) != len(labels) or any(map(is_missing, labels)):
            raise BadOption(f"labels {list(labels)!r} name one twice or name none (None, NaN); name each label once")
        return list(labels)
    return sorted(
        {value for value in values if not is_missing(value)}, key=lambda value: (isinstance(value, str), value)
    )


def encode_labels(values: Iterable[Any], labels: Sequence[Any]) -> NDArray[np.int64]:
    """Position of each value in `labels`, -1 where missing; BadOption for a value that is not among them."""
    position = {label: index for index, label in enumerate(labels)}
    codes = []
    for value in values:
        if is_missing(value):
            codes.append(-1)
        elif value in position:
            codes.append(position[value])
        else:
            raise BadOption(f"label {value!r} is not among the labels {list(labels)!r}; add it or leave the value out")
    return np.asarray(codes, dtype=np.int64)


def check_equal_length(a: Sequence[Any] | NDArray[Any], b: Sequence[Any] | NDArray[Any]) -> None:
    """BadOption unless both have one value an item."""
    if len(a) != len(b):
        raise BadOption(
            f"{len(a)} values against {len(b)}; both need one value for each item, None where there is none"
        )
