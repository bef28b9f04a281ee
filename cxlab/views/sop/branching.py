"""The ways out of one stage: expected against taken, and why turns took another."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_share
from cxlab.read import View, failure_kinds
from cxlab.records.procedure import Procedure
from cxlab.ui.address import cached, set_view, view
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import is_new
from cxlab.ui.labels import plain
from cxlab.ui.tables import column, show_chart
from cxlab.views.sop import charts, queries, queries_turns


def show_confusion(current: View, procedure: Procedure, stage: str, where: str) -> None:
    """Expected against taken ways out of one stage."""
    frame = cached(queries.confusion, current).filter(pl.col("stage") == stage)
    if frame.is_empty():
        st.caption("Nobody arrived here together with the reference.")
        return
    right = int(frame.filter(pl.col("expected") == pl.col("taken"))["n"].sum())
    arrived = int(frame["n"].sum())
    st.markdown(
        f"**{plain(procedure.name(stage))}**: {format_share(right / arrived)} of {format_count(arrived)} "
        "turns took the expected way out. Rows: expected, columns: taken."
    )
    if right < arrived:
        classes = {id: name for id, (name, _) in failure_kinds.classes(current.benchmark).items()}
        st.markdown(plain(say_causes(cached(queries_turns.causes, current, stage), classes)))
    figure = charts.draw_confusion(frame, procedure, stage, dark())
    columns = {"expected": column("Expected"), "taken": column("Taken"), "n": column("n turns", "count")}
    key = f"sop-confusion-{where}-{stage}"
    picked = show_chart(
        figure, frame, key=key, alt=f"Ways out of {procedure.name(stage)}.", select=True, columns=columns
    )
    follow(key, f"cell={stage}>{'>'.join(picked[0])}" if picked else "")


def say_causes(found: pl.DataFrame, classes: Mapping[str, str]) -> str:
    """ "Why 41 turns took another: 30 misread field (most often core demand read as inquiry, it was complaint: 22);
    11 left the procedure." of `queries_turns.causes`."""
    told = []
    for row in found.iter_rows(named=True):
        words = f"{format_count(row['n'])} {classes.get(row['error'], row['error'])}"
        if row["field"] and row["due"]:
            read = f"{name_id(row['field'])} read as {name_id(row['given'] or 'nothing')}, it was {name_id(row['due'])}"
            words += f" (most often {read}: {format_count(row['times'])})"
        told.append(words)
    n = int(found["n"].sum())
    return f"Why {format_count(n)} turn{'' if n == 1 else 's'} took another: {'; '.join(told)}."


def follow(key: str, pick: str) -> None:
    """Put a new click into the address and draw the page with it."""
    if is_new(key, pick) and view().stage != pick:
        set_view(view().change(stage=pick))
        st.rerun()
