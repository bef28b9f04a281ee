"""Rating: people say how realistic the organisation and its objects are, and why; the shares beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share
from cxlab.ui.annotations import ask_author, author, rate, withdraw
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import plain, section
from cxlab.ui.place import go, pick, show_link
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.crm.organisation import Organisation, count_records
from cxlab.views.crm.place import Place
from cxlab.views.crm.rating import queries
from cxlab.views.crm.rating.queries import POINTS, UNKNOWN, WHOLE
from cxlab.views.datasets.charts import draw_shares

_MEANINGS = {
    "1": "made up; nothing that one would meet at work",
    "2": "some of it is known, most of it does not fit together",
    "3": "as much that convinces as that does not",
    "4": "as at work, but for small things",
    "5": "as at work in every respect",
}
_PARTS = {"": "Rate", "results": "Results"}
_LONGEST = 1_000


def show_rating(place: Place, organisation: Organisation) -> None:
    """Rating or results, by the address."""
    part = pick(place, "kind", "Part", list(_PARTS), _PARTS, style="segments", clears=("object",))
    rated = queries.ratings(place.dataset)
    things = [WHOLE, *(name for name in organisation.schema.objects if organisation.count(name))]
    if part == "results":
        _show_results(rated, things)
    else:
        _show_form(place, organisation, rated, things)


def _show_form(place: Place, organisation: Organisation, rated: pl.DataFrame, things: Sequence[str]) -> None:
    form, beside = st.columns([3, 2], gap="large")
    with beside:
        ask_author()
        mine = rated.filter(pl.col("rater") == author())
        done = dict(mine.select("thing", "point").iter_rows())
        share = sum(each in done for each in things)
        st.progress(share / len(things), text=f"{share} of {len(things)} rated by you")
        _list_done(place, things, done)
        _undo(place, mine)
    with form:
        left = [each for each in things if each not in done]
        thing = place.object if place.object in things else (left or things)[0]
        if not left and not place.object:
            st.success("You have rated everything. A new rating takes the place of the one before.")
        _ask(place, organisation, thing)


def _ask(place: Place, organisation: Organisation, thing: str) -> None:
    whole = thing == WHOLE
    title = "How realistic is this organisation as a whole?" if whole else f"How realistic are the {thing} records?"
    note = "Its structure and what it holds together." if whole else organisation.schema.objects[thing].about
    section(title, f"{note} Compared with systems that you know from work.")
    browse = Place(place.view.change(tab=""), object="" if whole else thing)
    show_link(
        "Look through the records" if whole else f"Look through {count_records(organisation.count(thing))}", browse
    )
    options = [*POINTS, *([] if whole else [UNKNOWN])]
    names = {**POINTS, UNKNOWN: "I do not know this object"}
    point = st.radio(
        "Rating", options, index=None, format_func=names.__getitem__, key=f"crm-point-{thing}",
        captions=[_MEANINGS.get(each, "") for each in options],
    )  # fmt: skip
    why = st.text_area("Why?", key=f"crm-why-{thing}", max_chars=_LONGEST, placeholder="What convinces, what does not?")
    off = point is None or (point != UNKNOWN and not (why or "").strip())
    if st.button("Save and go on", type="primary", disabled=off, key="crm-rate"):
        rate(author(), place.dataset, queries.thing_id(thing), str(point), " ".join((why or "").split()))
        go(place.change(object=""))
    if point is not None and off:
        st.caption("Give a reason in a few words.")


def _list_done(place: Place, things: Sequence[str], done: dict[str, str]) -> None:
    with st.expander("What there is to rate", expanded=False):
        for each in things:
            told = POINTS.get(done[each], "not known") if each in done else "open"
            show_link(f"{each}: {told}", place.change(object=each))


def _undo(place: Place, mine: pl.DataFrame) -> None:
    if mine.is_empty():
        return
    last = mine.row(-1, named=True)
    tip = f"{last['thing']}: {POINTS.get(last['point'], 'not known')}. The store keeps both, rating and withdrawal."
    if st.button("Undo my last rating", type="tertiary", key="crm-undo", help=plain(tip)):
        withdraw(str(last["id"]), place.dataset, queries.thing_id(str(last["thing"])), str(last["rater"]))
        st.rerun()


def _show_results(rated: pl.DataFrame, things: Sequence[str]) -> None:
    study = queries.published_study()
    found = queries.shares(rated, things)
    whole = found.filter((pl.col("thing") == WHOLE) & (pl.col("n") > 0))
    title = "Nobody has rated the organisation yet"
    if whole.height:
        title = f"{format_share(whole['share'][0])} find the organisation realistic or very realistic"
    note = "Share of ratings of 4 or 5 with its 95 % interval (Wilson); who does not know an object is left out."
    section(title, note, ["own", "published"])
    rows = [{**row, "label": row["thing"], "own": True} for row in found.filter(pl.col("n") > 0).iter_rows(named=True)]
    if study is not None:
        st.caption(plain(f"Published: {study.source}. {study.caption}"))
        for what, share, n in study.frame.iter_rows():
            bounds = {"low": None, "high": None}
            rows.append({"label": what, "n": n, "share": share / 100, "own": False, **bounds})
    order = {name: at for at, name in enumerate(dict.fromkeys((WHOLE, "objects", *things)))}
    rows.sort(key=lambda row: order.get(row["label"], len(order)))
    twin = found.with_columns(interval=_say_interval(found)).drop("low", "high")
    columns = {
        "thing": column("What"), "n": column("Ratings", "count"), "realistic": column("Realistic", "count"),
        "share": column("Share", "share"), "interval": column("95 % interval"),
        "mean": column("Mean of five", "points"), "unknown": column("Not known", "count"),
    }  # fmt: skip
    show_chart(draw_shares(rows, dark()), twin, key="crm-rating", alt=title, columns=columns)
    if rated.height:
        _show_reasons(rated)


def _say_interval(found: pl.DataFrame) -> pl.Series:
    spans = found.select("low", "high").iter_rows()
    told = ["–" if low is None else f"{format_share(low)} to {format_share(high)}" for low, high in spans]
    return pl.Series("interval", told, pl.String)


def _show_reasons(rated: pl.DataFrame) -> None:
    section(f"{format_count(rated.height)} reasons", "In the raters' own words.")
    names = {**POINTS, UNKNOWN: "not known"}
    shown = rated.with_columns(pl.col("point").replace(names)).reverse()
    columns = {
        "thing": column("What"), "point": column("Rating"), "rationale": column("Why", width="large"),
        "rater": column("Rater"), "created": column("When", "time"),
    }  # fmt: skip
    show_table(shown, columns, key="crm-reasons", alt="Ratings with their reasons.", search=True)
