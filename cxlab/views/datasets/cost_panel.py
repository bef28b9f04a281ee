"""What a real writer's calls took, while a dataset is made and on the dataset: calls, tokens, cost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from cxlab.charts.numbers import format_count, format_usd
from cxlab.ui.labels import figures, label
from cxlab.ui.tables import column, show_table


def draw_spent(spent: Mapping[str, Any]) -> None:
    """What a real model's calls took so far; nothing for simulated ones."""
    if spent:
        figures(_figures(spent))


def _figures(spent: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Calls, tokens and cost as figures; what is not known is said to be unknown."""
    missing, cost = spent["uncounted"], spent["cost_usd"]
    lacks = f" {format_count(missing)} calls came back without a count, and are not in it." if missing else ""
    read = [format_count(spent[name]) for name in ("prompt_tokens", "completion_tokens")]
    if missing:
        read = ["unknown" if missing == spent["calls"] else f"≥ {each}" for each in read]
    return [
        ("Calls", format_count(spent["calls"]), f"Paid calls of all tries; {format_count(spent['retries'])} retries."),
        ("Tokens in", read[0], f"As the server counts them.{lacks}"),
        ("Tokens out", read[1], f"As the server counts them.{lacks}"),
        ("Cost", "unknown" if cost is None else format_usd(cost), "By the noted price; unknown without one."),
    ]


def show_spending(spent: Mapping[str, Any]) -> None:
    """What the writer's calls took, whole and by stage."""
    figures(_figures(spent))
    rows = [
        {
            "stage": label(name),
            "calls": one["calls"],
            # Where the server counted nothing the sums are no zeros, they are not known.
            "prompt_tokens": one["prompt_tokens"] if one["uncounted"] < one["calls"] else None,
            "completion_tokens": one["completion_tokens"] if one["uncounted"] < one["calls"] else None,
            "cost_usd": one["cost_usd"],
        }
        for name, one in spent["stages"].items()
    ]
    kinds = {"stage": pl.String, "calls": pl.Int64, "prompt_tokens": pl.Int64, "completion_tokens": pl.Int64}
    columns = {
        "stage": column("Stage"),
        "calls": column("Calls", "count", "All tries together, each paid call once."),
        "prompt_tokens": column("Tokens in", "count"),
        "completion_tokens": column("Tokens out", "count"),
        "cost_usd": column("Cost", "usd", "Empty: unknown."),
    }
    frame = pl.DataFrame(rows, schema={**kinds, "cost_usd": pl.Float64})
    show_table(frame, columns, key="spending", alt="Calls, tokens and cost of each stage.")
