"""Where and when what was found occurs: shares by label, over time, before and after a day."""

from __future__ import annotations

import json
from datetime import date, timedelta

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share
from cxlab.metrics.intervals import proportion_interval
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import label, plain, section, title
from cxlab.ui.place import move
from cxlab.ui.tables import column, show_chart
from cxlab.views.datasets.charts import draw_shares
from cxlab.views.search import charts, finding
from cxlab.views.search.finding import Findings
from cxlab.views.search.place import SearchPlace

# Values of a label that a figure shows; the table below it has all.
_SHOWN = 12
_SCHEMA = {
    "value": pl.String, "found": pl.Int64, "n": pl.Int64, "share": pl.Float64, "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


def show_counts(place: SearchPlace, found: Findings) -> None:
    """The figures for what was found; nothing where conversations have neither labels nor days."""
    frame = finding.under_filters(place)
    hits = set(finding.ids(found.hits))
    frame = frame.with_columns(found=pl.col("conversation_id").is_in(hits))
    _show_labels(place, frame)
    _show_time(frame)


def _show_labels(place: SearchPlace, frame: pl.DataFrame) -> None:
    known = cached(finding.labels, place.dataset)
    if not known:
        st.caption(
            "These conversations carry no labels to count by. Columns beside the messages of an imported file, such as "
            "a product or a channel, become labels."
        )
        return
    names = list(known)
    chosen = st.selectbox("Count by", names, format_func=title, key="search-count-by")
    rows = count_values(frame, chosen or names[0])
    if rows.is_empty():
        st.caption("None of these conversations has this label.")
        return
    top, low = rows.row(0, named=True), rows.sort("share").row(0, named=True)
    told = (
        f"Among those found are from {format_share(low['share'])} ({label(low['value'])}) to "
        f"{format_share(top['share'])} ({label(top['value'])})"
    )
    if rows["share"].n_unique() == 1:
        told = f"Found as often whatever the value: {format_share(top['share'])}"
    section(
        plain(told),
        f"Of the conversations with each value, the share that is among the {frame['found'].sum()} best, with its 95 % "
        "interval (Wilson). How many count as best is set in the sidebar: compare the values with each other. "
        "An order of what was counted, not a test.",
    )  # fmt: skip
    shown = [
        {**row, "label": f"{label(row['value'])} ({row['found']} of {row['n']})", "own": True}
        for row in rows.head(_SHOWN).iter_rows(named=True)
    ]
    columns = {
        "value": column(title(chosen or names[0])), "found": column("Found", "count"), "n": column("Of", "count"),
        "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
    }  # fmt: skip
    show_chart(draw_shares(shown, dark()), rows, key="search-labels", alt="Share found by label.", columns=columns)


def count_values(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Per value of a label: found, n with it, share, low, high (Wilson); the highest share first."""
    counted: dict[str, list[int]] = {}
    for told, found in frame.select("labels", "found").iter_rows():
        value = json.loads(told).get(name)
        if value is not None:
            held = counted.setdefault(value, [0, 0])
            held[0] += found
            held[1] += 1
    rows = [(value, found, n, *proportion_interval(found, n)[:3]) for value, (found, n) in counted.items()]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort("share", "n", "value", descending=[True, True, False])


def _show_time(frame: pl.DataFrame) -> None:
    known = frame.drop_nulls("day")
    if known["day"].n_unique() < 2:
        return
    rows, step = charts.over_time(known)
    section(f"Found and all conversations by {step}", f"{format_count(known.height)} of them have a day.")
    columns = {
        "start": column(step.capitalize()), "found": column("Found", "count"), "among": column("All", "count"),
    }  # fmt: skip
    show_chart(
        charts.draw_time(rows, step, dark()), rows, key="search-time", alt=f"Conversations found by {step}.",
        columns=columns,
    )  # fmt: skip
    first, last = known["day"].min(), known["day"].max()
    if not (isinstance(first, date) and isinstance(last, date)):
        return
    middle = first + (last - first) // 2
    day = st.date_input(
        "Compare before and after", value=middle, min_value=first + timedelta(days=1), max_value=last,
        key="search-split",
    )  # fmt: skip
    if isinstance(day, date):
        compared = split_at(known, day)
        shown = [{**row, "label": f"{row['value']} ({row['found']} of {row['n']})", "own": True}
                 for row in compared.iter_rows(named=True)]  # fmt: skip
        columns = {
            "value": column("When"), "found": column("Found", "count"), "n": column("Of", "count"),
            "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
        }  # fmt: skip
        show_chart(
            draw_shares(shown, dark()), compared, key="search-before-after", alt="Share found before and after.",
            columns=columns,
        )  # fmt: skip


def split_at(frame: pl.DataFrame, day: date) -> pl.DataFrame:
    """The shares before a day and from it on, in the shape of `count_values`."""
    rows = []
    for name, part in (
        (f"before {day}", frame.filter(pl.col("day") < day)),
        (f"from {day} on", frame.filter(pl.col("day") >= day)),
    ):
        if part.height:
            found = int(part["found"].sum())
            rows.append((name, found, part.height, *proportion_interval(found, part.height)[:3]))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def choose_filters(place: SearchPlace) -> None:
    """In the sidebar: values of labels, and days, where the conversations have any."""
    known = cached(finding.labels, place.dataset)
    options = [f"{name}={value}" for name, values in known.items() for value in values]

    def changed() -> None:
        move(place.now().change(only=tuple(st.session_state["search-only"])))

    if options:
        st.session_state["search-only"] = [each for each in place.only if each in options]
        st.multiselect(
            "Only conversations with", options, key="search-only", on_change=changed, placeholder="any",
            format_func=lambda each: f"{label(each.partition('=')[0])}: {label(each.partition('=')[2])}",
        )  # fmt: skip
    days = cached(finding.describe, place.dataset)["day"].drop_nulls()
    if days.n_unique() > 1:
        for name, words in (("since", "From"), ("until", "Before")):
            key = f"search-{name}"
            given: str = getattr(place, name)
            st.session_state[key] = date.fromisoformat(given) if given else None

            def moved(name: str = name, key: str = key) -> None:
                value = st.session_state[key]
                move(place.now().change(**{name: value.isoformat() if value else ""}))

            st.date_input(words, key=key, on_change=moved, min_value=date(1, 1, 1), max_value=date(9999, 12, 31))
