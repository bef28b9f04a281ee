"""What the sections of the page Judges share."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.theme import short_model
from cxlab.ui.tables import column

KINDS = {"field": "Fields", "dimension": "Grades"}


def pick(title: str, options: Mapping[str, str], key: str) -> str:
    """A choice between a few ways of looking, kept in the address; its value."""
    return str(
        st.segmented_control(
            title,
            list(options),
            default=next(iter(options)),
            format_func=options.__getitem__,
            required=True,
            key=key,
            bind="query-params",
        )
    )


def two(a: str, b: str) -> str:
    """Two judges in words."""
    return f"{name_judge(a)} and {name_judge(b)}"


def judge_names(found: pl.Series) -> dict[str, str]:
    """Judges as people read them, with the mark of simulated ones."""
    return {judge: name_judge(judge) + (" · simulated" if short_model(judge) != judge else "") for judge in found}


def pair_columns() -> dict[str, Any]:
    """Columns of a table of pairs of judges."""
    return {
        "a": column("Judge"),
        "b": column("and"),
        "n": column("Verdicts", "count"),
        "agree": column("Agreement", "share"),
        "kappa": column("Kappa", "ratio"),
    }


def mean_columns(name: str, title: str, share: bool = False) -> dict[str, Any]:
    """Columns of a table of means with intervals; `name` is the first one."""
    kind: Literal["share", "ratio"] = "share" if share else "ratio"
    return {
        name: column(title),
        "n": column("n", "count"),
        "clusters": column("Samples", "count"),
        "mean": column("Mean", kind),
        "low": column("Low", kind),
        "high": column("High", kind),
    }
