"""The page Judges: the verdicts of a judge, one by one, with the way to each dialogue."""

from collections import Counter
from typing import get_args

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.charts.matrix import name_item, name_judge
from cxlab.charts.names import begin, name_each, name_id
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.ui.address import cached, go, here, open_page, set_view
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.judges import queries_agreement
from cxlab.views.judges.judge_columns import filled, judge_names, pick, show_no_votes, two
from cxlab.views.judges.slices import Slices
from cxlab.views.judges.verdicts.queries import MOST, Kept, Verdicts, list_verdicts

_SHOWN = {
    "all": "All",
    "known": "Truth known",
    "wrong": "Not the truth",
    "alone": "Alone against the others",
    "unused": "Could not be used",
}


def show_verdicts(view: View, filters: View, slices: Slices) -> None:
    """The verdicts of the judge that the address names, the first one else; of two, those on what both have judged."""
    judges = cached(queries_agreement.panel, filters, slices.facets)["judge"].to_list()
    if not judges:
        show_no_votes()
        return
    asked = [judge for judge in view.judges if judge in judges]
    judge = _choose_judge(judges, asked)
    kept = _read_kept(pick("Shown", _SHOWN, "verdicts-shown"))
    other = asked[1] if len(asked) == 2 and judge == asked[0] else ""
    if view.field or other:
        _show_limits(judge, other, view.field)
    both_ways = REGISTRY[filters.benchmark].judged if filters.benchmark in REGISTRY else None
    opinions = sorted(both_ways.opinions) if both_ways else []
    found = cached(list_verdicts, filters, judge, other, view.field, kept, opinions, slices.facets)
    section(plain(say_verdicts(judge, found)), _say_rows(found, kept))
    if found.rows.is_empty():
        st.info("None of its verdicts is of that kind.")
        return
    rows = name_rows(found.rows)
    chosen = show_table(
        rows,
        filled(
            rows,
            {
                "name": column("Field or grade"),
                "said": column(f"{name_judge(judge)} says"),
                **({"beside": column(f"{name_judge(other)} says")} if other else {}),
                "others_": column("Others say", help="How many of the other judges said what."),
                "truth": column("Truth", help="What the customer was made from, on last turns, or the log."),
                "status": column("Why not used"),
                "turn": column("Turn", "count"),
                "model": column("Model"),
                "attempt_id": column("Dialogue", "id"),
            },
        ),
        key=f"judges-verdicts-{kept}",
        alt=f"Verdicts of {name_judge(judge)}.",
        select="single",
        search=True,
    )
    if chosen:
        row = chosen[0]
        open_page("failures", View(attempt=f"{row['run_id']}/{row['attempt_id']}", turn=int(row["turn"])))


def open_verdicts(judges: tuple[str, ...], field: str = "", kept: Kept = "all") -> None:
    """Go to the verdicts of a judge, or to those on which two have judged the same."""
    st.query_params["verdicts-shown"] = kept
    go(here().change(tab="verdicts", judges=judges, field=field, attempt="", turn=None))


def say_verdicts(judge: str, found: Verdicts) -> str:
    """How many verdicts there are and how far they hold, in a sentence."""
    counts, who = found.counts, name_judge(judge)
    said = begin(f"{who} gave {_count(counts['all'], 'verdict')}")
    if counts["known"]:
        right = counts["known"] - counts["wrong"]
        said += (
            f"; the truth of {format_count(counts['known'])} is known, on which another judge gave a verdict, too: "
            f"{format_share(right / counts['known'])} of them are right"
        )
    return said


def name_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with labels as every page writes them, and what the others said in words."""
    reasons = {"oov": "outside the options", "missing": "missing", "failed": "the reply failed"}
    return rows.with_columns(
        name_each(rows["name"], name_item),
        *(name_each(rows[name], name_id) for name in ("said", "beside", "truth")),
        # Which are simulated stands beside the page's name; here it would push the dialogue out of sight.
        name_each(rows["model"], short_model),
        status=pl.when(pl.col("status") != "ok").then(pl.col("status").replace(reasons)),
        others_=pl.Series([_say_others(each) for each in rows["others"].to_list()], dtype=pl.String),
    ).drop("others")


def _say_others(verdicts: list[str]) -> str | None:
    counts = Counter(verdicts).most_common()
    return ", ".join(f"{name_id(said)}{f' ({n})' if n > 1 else ''}" for said, n in counts) or None


def _choose_judge(judges: list[str], asked: list[str]) -> str:
    st.session_state["verdicts-judge"] = asked[0] if asked else judges[0]
    names = judge_names(pl.Series(judges))
    return str(
        st.selectbox(
            "Judge", judges, format_func=names.__getitem__, key="verdicts-judge", width=320,
            on_change=lambda: set_view(here().change(judges=(st.session_state["verdicts-judge"],))),
        )
    )  # fmt: skip


def _show_limits(judge: str, other: str, field: str) -> None:
    """What a link has narrowed the list to, and the way back to all."""
    on = f"on {name_item(field)}" if field else "on every field and grade"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"Only {on}" + (f", where {two(judge, other)} have both judged" if other else "")))
        if st.button("Show all of its verdicts", key="verdicts-widen", type="tertiary"):
            set_view(here().change(judges=(judge,), field=""))
            st.rerun()


def _say_rows(found: Verdicts, kept: Kept) -> str:
    many = found.counts[kept]
    shown = f"The first {MOST} of {format_count(many)} are listed" if many > MOST else f"{format_count(many)} listed"
    return f"{shown}, in the order of the dialogues; click a row to open its dialogue at that turn."


def _read_kept(word: str) -> Kept:
    return next(each for each in get_args(Kept) if each == word)


def _count(n: int, word: str) -> str:
    return f"{format_count(n)} {word}{'' if n == 1 else 's'}"
