"""Labels against gold.

Everywhere: an item without gold (None, NaN) is left out; a prediction that is missing counts as wrong,
because an agent that gives no label has not found it.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cxlab.errors import BadOption
from cxlab.metrics.labels import check_equal_length, encode_labels, is_missing, order_labels


class Confusion(NamedTuple):
    """`table[i, j]`: items of gold label i that were given label j; the label None = no prediction."""

    labels: tuple[Any, ...]
    table: NDArray[np.int64]


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one label; `support` = its gold items."""

    precision: float
    recall: float
    f1: float
    support: int


def accuracy(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Share of items whose label is the gold one; no item: nan."""
    pairs = _with_gold(gold, predicted)
    return sum(truth == given for truth, given in pairs) / len(pairs) if pairs else math.nan


def confusion_matrix(
    gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[Hashable] | None = None
) -> Confusion:
    """Counts by gold label (rows) and predicted label (columns).

    Labels: those given (a value outside them is an error), else all that occur, sorted. Where a
    prediction is missing, a last row and column None are added; its row is always empty.
    """
    pairs = _with_gold(gold, predicted)
    known = order_labels((value for pair in pairs for value in pair), labels)
    rows = encode_labels((truth for truth, _ in pairs), known)
    columns = encode_labels((given for _, given in pairs), known)
    silent = bool((columns < 0).any())
    size = len(known) + silent
    columns = np.where(columns < 0, len(known), columns)
    table = np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
    return Confusion((*known, None) if silent else tuple(known), table)


def precision_recall_f1(gold: Sequence[Any], predicted: Sequence[Any], positive: Hashable = True) -> ClassScore:
    """Precision, recall and F1 of the label `positive` against the rest.

    Never predicted: precision nan (not 0). Not in gold: recall nan. F1 = 2 TP / (2 TP + FP + FN), nan
    only where the label occurs on neither side.
    """
    pairs = _with_gold(gold, predicted)
    both = sum(truth == positive == given for truth, given in pairs)
    found = sum(given == positive for _, given in pairs)
    wanted = sum(truth == positive for truth, _ in pairs)
    return ClassScore(_ratio(both, found), _ratio(both, wanted), _ratio(2 * both, found + wanted), wanted)


def macro_f1(gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[Hashable] | None = None) -> float:
    """Unweighted mean of F1 over the labels (those given, else all that occur on either side); none: nan.

    A given label that occurs on neither side is left out of the mean.
    """
    table = confusion_matrix(gold, predicted, labels)
    size = len(table.labels) - (None in table.labels)  # no answer is not a class of its own
    occurring = (table.table.sum(axis=1) + table.table.sum(axis=0))[:size]
    scores = 2 * np.diag(table.table)[:size][occurring > 0] / occurring[occurring > 0]
    return float(scores.mean()) if scores.size else math.nan


def majority_floor(gold: Sequence[Any]) -> float:
    """Accuracy of always answering the most frequent gold label: what a model must beat; no item: nan."""
    counts = Counter(value for value in gold if not is_missing(value))
    return _ratio(max(counts.values(), default=0), counts.total())


def matthews(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Matthews' correlation of two labellings, for any number of labels (Gorodkin's R_K): 1 as gold, 0 as chance.

    A missing prediction is a label of its own. nan where one side has a single label, for then nothing correlates
    (scikit-learn says 0.0 there).
    """
    pairs = [(truth, None if is_missing(given) else given) for truth, given in _with_gold(gold, predicted)]
    codes = {label: code for code, label in enumerate(dict.fromkeys(label for pair in pairs for label in pair))}
    table = np.zeros((len(codes), len(codes)))
    for truth, given in pairs:
        table[codes[truth], codes[given]] += 1
    return matthews_of_table(table)


def matthews_of_table(counts: ArrayLike) -> float:
    """`matthews` from counts, gold down and predicted across in the same order of labels."""
    table = np.asarray(counts, dtype=np.float64)
    total, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    spread = (total**2 - rows @ rows) * (total**2 - columns @ columns)
    return float((total * np.trace(table) - rows @ columns) / math.sqrt(spread)) if spread > 0 else math.nan


def rogan_gladen(observed: float, tpr: float, tnr: float) -> float:
    """True rate behind a rate that an imperfect judge reports: (observed + TNR - 1) / (TPR + TNR - 1).

    All in 0..1; the result is clipped to 0..1. nan where TPR + TNR <= 1: a judge no better than chance
    says nothing about the true rate. BadOption for a rate outside 0..1. Rogan and Gladen 1978.
    """
    for name, value in (("observed", observed), ("tpr", tpr), ("tnr", tnr)):
        if value < 0 or value > 1:
            raise BadOption(f"{name} = {value}; rates lie between 0 and 1 (divide a percentage by 100)")
    informed = tpr + tnr - 1
    # 1e-12: rates such as 0.7 and 0.3 do not sum to exactly 1 in floating point.
    if math.isnan(observed) or math.isnan(informed) or informed < 1e-12:
        return math.nan
    return min(1.0, max(0.0, (observed + tnr - 1) / informed))


def _with_gold(gold: Sequence[Any], predicted: Sequence[Any]) -> list[tuple[Any, Any]]:
    check_equal_length(gold, predicted)
    return [(truth, given) for truth, given in zip(gold, predicted, strict=True) if not is_missing(truth)]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
