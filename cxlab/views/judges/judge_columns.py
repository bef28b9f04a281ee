"""What the sections of the page Judges share."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_judge
from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.ui.tables import column

KINDS = {"field": "Fields", "dimension": "Grades"}


def pick(title: str, options: Mapping[str, str], key: str, usual: str = "") -> str:
    """A choice between a few ways of looking; its id, which stands in the address unless it is the usual one (the first
    where none is named). An address with the words that are shown is understood as well."""
    usual = usual if usual in options else next(iter(options))
    given = st.query_params.get(key, "")
    shown = {words: each for each, words in options.items()}
    st.session_state[key] = given if given in options else shown.get(given, usual)

    def changed() -> None:
        picked = st.session_state[key]
        if picked != usual:
            st.query_params[key] = picked
        elif key in st.query_params:
            del st.query_params[key]

    found = st.segmented_control(
        title, list(options), format_func=options.__getitem__, required=True, key=key, on_change=changed
    )
    return str(found)


UNMEASURED = "What stand-ins cost and take says nothing of real models, so it is not shown."


def leave_unmeasured(votes: pl.DataFrame) -> pl.DataFrame:
    """`queries_agreement.panel` without the price and the time of stand-ins, which nobody measured."""
    known = pl.col("judge").str.starts_with(SIMULATED_PREFIX).not_()
    return votes.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in ("cost_usd", "latency_s"))


def filled(frame: pl.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of which the frame has a value, and those that it does not have yet."""
    return {
        name: shape
        for name, shape in columns.items()
        if name not in frame.columns or frame[name].null_count() < frame.height
    }


def say_turns(n: int, judged: int) -> str:
    """Of how many judged turns a share is, and why of no more."""
    if n == judged:
        return f"n {format_count(n)} judged turns"
    rest = "the other one" if judged - n == 1 else f"the other {format_count(judged - n)}"
    return (
        f"n {format_count(n)} of {format_count(judged)} judged turns; on {rest} the fields of fewer than two judges "
        "lead anywhere"
    )


# A label where a question of judges names one: at the head of an option, and as what holds until told.
_LABEL = re.compile(r"(Until told: |^\s*\* )(\w+)(?=[.:])", re.MULTILINE)


def name_labels(question: str) -> str:
    """What judges are asked, with labels as every page writes them."""
    return _LABEL.sub(lambda found: found[1] + name_id(found[2]), question)


def two(a: str, b: str) -> str:
    """Two judges in words."""
    return f"{name_judge(a)} and {name_judge(b)}"


def judge_names(found: pl.Series) -> dict[str, str]:
    """Judges as people read them: one name in sentences, choices, charts and tables."""
    return {judge: name_judge(judge) for judge in found}


PAIR_WORDS: dict[str, Callable[[str], str]] = {"a": name_judge, "b": name_judge}
"""How a table tells the two judges of a pair."""


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
        "clusters": column("Clusters", "count"),
        "mean": column("Mean", kind),
        "low": column("Low", kind),
        "high": column("High", kind),
    }


def show_no_votes() -> None:
    """Said where the filters leave no judge."""
    st.info("No judge has voted under these filters. Clear one of them in the sidebar.")


def show_one_judge() -> None:
    """Said where agreement would need another judge."""
    st.info(
        "There is one judge only; agreement needs two. Add judges with `python -m cxlab score RUN --judge A --judge B`."
    )
