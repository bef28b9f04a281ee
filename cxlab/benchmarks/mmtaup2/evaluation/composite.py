"""The composite score, MM-tap: its parts, their bounds and weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxlab.errors import BadOption

WEIGHTS = (0.35, 0.35, 0.2, 0.1)


def mm_tap(
    cfa: float,
    pass1: float,
    mrs: float,
    arga: float,
    err: float,
    te: float,
    ues: float,
    to: float,
    ias: float,
    weights: Sequence[float] = WEIGHTS,
) -> float:
    """a CFA pass1 + b (MRS + ARGA + ERR) / 3 + g (TE + 1/(1 + UES) + 1/(1 + TO)) / 3 + d IAS, equation 1 of the paper.

    1 for a perfect agent that does as well by voice as by text, and above 0 always. Not bounded by 1: MRS has no upper
    bound, and a TO below 0 gives more than 1 (without limit as it nears -1, which is refused: no turns at all by
    voice). UES may be the share or the count. The weights must not be negative and must add up to 1. An undefined part
    (None, nan) is refused rather than guessed: `composite` says what is missing and what the rest comes to.
    """
    parts = {
        "cfa": cfa,
        "pass1": pass1,
        "mrs": mrs,
        "arga": arga,
        "err": err,
        "te": te,
        "ues": ues,
        "to": to,
        "ias": ias,
    }
    a, b, g, d = _weights(weights)
    for name, value in parts.items():
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise BadOption(
                f"mm_tap: {name} = {value}; every part must be a number, see composite for what is undefined"
            )
        low, high = _BOUNDS[name]
        if not (low < value if name == "to" else low <= value <= high):
            raise BadOption(
                f"mm_tap: {name} = {value}; give a value {'above' if name == 'to' else 'from'} {low:g}"
                + ("" if high == math.inf else f" to {high:g}")
            )
    recovery = (mrs + arga + err) / 3
    effort = (te + 1 / (1 + ues) + 1 / (1 + to)) / 3
    return a * cfa * pass1 + b * recovery + g * effort + d * ias


_BOUNDS = {
    "cfa": (0.0, 1.0),
    "pass1": (0.0, 1.0),
    "mrs": (0.0, math.inf),
    "arga": (0.0, 1.0),
    "err": (0.0, 1.0),
    "te": (0.0, 1.0),
    "ues": (0.0, math.inf),
    "to": (-1.0, math.inf),
    "ias": (0.0, 1.0),
}
PARTS = {
    "cfa": "critical_field_accuracy",
    "pass1": "pass",
    "mrs": "modality_robustness",
    "arga": "arga",
    "err": "error_recovery_rate",
    "te": "turn_efficiency",
    "ues": "user_effort",
    "to": "turn_overhead",
    "ias": "irreversible_action_safety",
}
# The terms of the formula: means of their parts, but for the first, which is a product.
TERMS = (("cfa", "pass1"), ("mrs", "arga", "err"), ("te", "ues", "to"), ("ias",))


@dataclass(frozen=True)
class Composite:
    """mm-tap from what is there: `value` None unless all is, `missing` metrics, and `partial`.

    `partial` leaves undefined parts out of the mean they belong to, and an empty term out of the weights, which are
    scaled up to 1 again; it is not comparable between systems that miss different things. None without any term.
    """

    value: float | None
    missing: tuple[str, ...]
    partial: float | None


def composite(values: Mapping[str, float | None], weights: Sequence[float] = WEIGHTS) -> Composite:
    """mm-tap from figures named as in METRICS (and "pass")."""
    given = {part: values.get(metric) for part, metric in PARTS.items()}
    missing = tuple(PARTS[part] for part, value in given.items() if value is None)
    known = {part: value for part, value in given.items() if value is not None}
    if not missing:
        whole = mm_tap(**known, weights=weights)
        return Composite(whole, (), whole)
    total = scale = 0.0
    for weight, term in zip(_weights(weights), TERMS, strict=True):
        there = [part for part in term if part in known]
        if not there or (term[0] == "cfa" and len(there) < 2):
            continue
        shown = [_worth(part, known[part]) for part in there]
        total += weight * (math.prod(shown) if term[0] == "cfa" else sum(shown) / len(shown))
        scale += weight
    return Composite(None, missing, total / scale if scale else None)


def _worth(part: str, value: float) -> float:
    return 1 / (1 + value) if part in ("ues", "to") else value


def _weights(weights: Sequence[float]) -> tuple[float, float, float, float]:
    if len(weights) != 4 or any(not 0 <= w <= 1 for w in weights) or not math.isclose(sum(weights), 1, abs_tol=1e-9):
        raise BadOption(f"weights {tuple(weights)}; give four numbers from 0 to 1 that add up to 1, such as {WEIGHTS}")
    a, b, g, d = weights
    return a, b, g, d
