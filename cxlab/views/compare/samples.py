"""Samples on which two sides differ: by score and by verdict, each with both attempts."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.names import name_each, shorten
from cxlab.charts.numbers import format_count, format_p, format_points
from cxlab.read import View
from cxlab.read.comparison.sets import Unit
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link, set_view
from cxlab.ui.choices import choose_id, is_new
from cxlab.ui.labels import empty, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.compare import queries
from cxlab.views.compare.queries_verdicts import flip_counts, flips, only, typical_pairs

_MOST_SAMPLES = 200
_MOST_LETTERS = 60


def show_samples(
    about: Declaration,
    view: View,
    place: View,
    unit: Unit,
    sides: Sequence[str],
    baseline: str,
    title: str,
    named: Mapping[str, str],
) -> str:
    """The samples on which two sides differ most, the other side being chosen here; a row opens both attempts."""
    others = [side for side in sides if side != baseline]
    other = choose_id("other", "Other side", others, named.__getitem__, style="segments")
    flipped = cached(flips, view, other, baseline, unit)
    fixed, broken, p = cached(flip_counts, view, other, baseline, unit)
    # One model in two versions is mended or broken; two models only pass different samples.
    board = cached(queries.sides, view, unit)
    by = dict(zip(board["side"], board["model"], strict=True))
    same = unit == "run_id" and by.get(other) == by.get(baseline)
    titles = ("Fixed", "Broken") if same else (f"Only {named[other]} passes", f"Only {named[baseline]} passes")
    # The page says further up who is simulated: in cells and heads of columns the words would hide columns.
    brief = {side: named[side].removesuffix(" · simulated") for side in (other, baseline)}
    flip_words = {"fixed": "✓ fixed" if same else f"✓ only {brief[other]}", "same": "same",
                  "broken": "✕ broken" if same else f"✕ only {brief[baseline]}"}  # fmt: skip
    words = {"": "All samples", "fixed": f"{titles[0]}: {fixed:,}", "broken": f"{titles[1]}: {broken:,}"}
    show = choose_id("show", "Show", list(words), words.__getitem__, style="segments",
                     help="By verdict, of the samples that both were tried on.") if fixed or broken else ""  # fmt: skip
    samples = tuple(only(flipped, show)) if show else None
    frame = cached(queries.sample_pairs, view, other, baseline, unit, _MOST_SAMPLES, samples)
    if frame.is_empty():
        empty("These two have no sample in common." if samples is None else "No sample is of this kind.")
        return other
    frame = frame.join(flipped.select("sample_id", "flip", "first_passed", "second_passed", "trials"), on="sample_id",
                       how="left", maintain_order="left")  # fmt: skip
    top, identity = frame.row(0, named=True), about.identifying
    own = top.get(identity.id) if identity else None
    name = about.value(identity.id, str(own)) if identity and own else top["sample_id"]
    if fixed or broken:
        paired = f"paired by sample{f', clustered by {about.cluster.name}' if about.cluster else ''}"
        st.markdown(plain(
            f"{named[other]} passes {fixed:,} of the samples that {named[baseline]} fails, and fails {broken:,} that "
            f"it passes (p {format_p(p)}, {paired}; {flipped.height:,} samples with a verdict on both sides)."
        ))  # fmt: skip
        _show_typical(view, place, unit, (other, baseline), dict(zip(("broken", "fixed"), titles[::-1], strict=True)))
    count = f"{format_count(frame.height)} sample{'' if frame.height == 1 else 's'}"
    section(
        f"They are furthest apart on {plain(name)}: {plain(named[other])} {format_points(top['first'])}, "
        f"{plain(named[baseline])} {format_points(top['second'])}"
        if top["difference"]
        else "They have the same score on every sample here",
        f"{count} that both have, largest difference first (at most {_MOST_SAMPLES}). "
        "Select a row to see both side by side.",
    )
    frame, columns = _tell_situations(about, frame)
    columns |= {
        "first": column(brief[other], "points", f"{title} of {named[other]}, mean over the sample."),
        "second": column(brief[baseline], "points", f"{title} of {named[baseline]}, mean over the sample."),
        "difference": column("Difference", "points"),
    }
    if fixed or broken:
        frame = frame.with_columns(flip=pl.col("flip").replace_strict(flip_words, default="–"))
        columns["flip"] = column("Passed by", help="Of the one chosen above and the one compared with.")
        if (flipped["trials"] > 1).any():
            frame = frame.with_columns(passed=pl.format("{} and {} of {}", "first_passed", "second_passed", "trials"))
            columns["passed"] = column("Trials passed", help="Trials that each side passed.")
    if frame["opening"].drop_nulls().len():
        # So much stands in three lines beside all other columns at 1024; the dialogue is a click away.
        frame = frame.with_columns(said=name_each(frame["opening"], _begin))
        columns["said"] = column("The customer's first words", width="medium")
    key = f"compare-samples-{other}-{baseline}"
    height = 300 if frame.height > 6 else None
    picked = show_table(frame, columns, key=key, alt="Samples by difference.", select="single", search=True,
                        height=height)  # fmt: skip
    opened = f"{picked[0]['first_run']}/{picked[0]['first_attempt']}" if picked else ""
    if is_new(key, opened) and place.attempt != opened:
        set_view(place.change(attempt=opened))
        st.rerun()
    return other


def _tell_situations(about: Declaration, frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The samples with their facets in words, and the columns that name them and tell their situations apart."""
    columns: dict[str, Any] = {}
    # Those that tell situations apart and that people compare by; what is the same for all samples says nothing.
    telling = [facet for facet in about.facets if facet.identifies or facet.spread or facet.order]
    told = []
    for facet in sorted(telling, key=lambda each: not each.identifies):
        if facet.id in frame.columns and frame[facet.id].drop_nulls().n_unique() > (0 if facet.identifies else 1):
            if facet.identifies:
                columns[facet.id] = column(facet.title, help=facet.meaning or None)
            else:
                told.append(facet)
            frame = frame.with_columns(name_each(frame[facet.id], partial(about.value, facet.id)))
    if told:
        # In one column: several would hide what the customer said.
        situation = pl.concat_str([each.id for each in told], separator=", ", ignore_nulls=True)
        frame = frame.with_columns(situation=situation)
        columns["situation"] = column("Situation", help=", ".join(each.title for each in told))
    identity = about.identifying
    if identity is None or identity.id not in columns:
        columns = {"sample_id": column("Sample", "id", width="small"), **columns}
    return frame, columns


def _begin(words: str) -> str:
    return shorten(words, _MOST_LETTERS)


def _show_typical(view: View, place: View, unit: Unit, pair: tuple[str, str], titles: Mapping[str, str]) -> None:
    """The way to a typical sample of those that only one side passes, with the rule by which it is one."""
    for row in cached(typical_pairs, view, *pair, unit).iter_rows(named=True):
        with st.container(gap=None):
            link(
                f"Read a typical one side by side: {titles[row['flip']]}",
                "compare",
                place.change(attempt=f"{row['run_id']}/{row['attempt_id']}"),
            )
            scores = f"{format_points(row['first'])} and {format_points(row['second'])}"
            middle = f"{format_points(row['mid_first'])} and {format_points(row['mid_second'])}"
            st.caption(
                f"Typical: scores of {scores}; the medians of these {format_count(row['n'])} samples are {middle}, and "
                "no other one is nearer to them."
            )
