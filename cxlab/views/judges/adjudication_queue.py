"""The queue of disagreements on the page Judges: one at a time, blind if wanted, decided by a person."""

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.matrix import name_item, name_judge
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import short_model
from cxlab.read import View, annotations, procedures
from cxlab.ui.address import cached, go
from cxlab.ui.annotations import annotate, ask_author, author, withdraw
from cxlab.ui.labels import label, plain, say, section
from cxlab.ui.paging import show_pages
from cxlab.ui.path_strips import grid, strip
from cxlab.ui.tables import column, show_table
from cxlab.ui.transcript import transcript
from cxlab.views.judges import queries_adjudication


def show_queue(view: View) -> None:
    """Split verdicts, those that matter most first, and the one that is open."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        open_only = st.toggle("Undecided only", key="docket-open", bind="query-params")
        blind = st.toggle(
            "Blind",
            key="docket-blind",
            bind="query-params",
            help="Hides who said what, and the models' names, until you have decided.",
        )
        with st.popover(f"Deciding as {plain(author())}", type="tertiary"):
            ask_author()
    filters = view.change(attempt="", turn=None, judges=(), tab="")
    page = cached(
        queries_adjudication.queue,
        filters,
        open_only,
        queries_adjudication.ROWS_A_PAGE,
        (view.page - 1) * queries_adjudication.ROWS_A_PAGE,
    )
    where = f" on {name_item(view.field)}" if "." in view.field else ""
    section(
        f"{format_count(page.total)} split verdicts{plain(where)}, those that matter most first",
        "Order: entropy of the votes (bits) × stake. Stake: how many points of logic the turn goes from one "
        "judge alone to "
        "another, where the field is one that the stage asks for at which their ways part; else 0.",
    )
    if where and st.button("All fields", key="docket-all", type="tertiary"):
        go(view.change(field="", page=1))
    if not page.total:
        st.info("No split verdicts are left under these filters.")
        return
    rows = page.frame.with_columns(
        item=pl.Series([name_item(f"{s}.{f}") for s, f in page.frame.select("scenario", "field").iter_rows()]),
        who=pl.lit("hidden") if blind else pl.col("model").map_elements(label, return_dtype=pl.String),
        said=pl.Series(
            [
                "hidden" if blind else ", ".join(f"{name_judge(j)}: {v}" for j, v in zip(judges, values, strict=True))
                for judges, values in page.frame.select("judges", "verdicts").iter_rows()
            ]
        ),
    )
    columns = {
        "item": column("Field"),
        "said": column("Votes"),
        "stake": column("Stake", "points", "Points of logic from one judge alone to another.", "small"),
        "turn": column("Turn", "count", width="small"),
        "decided": column("Decided", width="small"),
        "who": column("Model"),
        "level": column("Level", width="small"),
    }
    if blind:
        columns = {name: columns[name] for name in columns if name not in ("said", "who")}
    chosen = show_table(
        rows.drop("judges", "verdicts") if not blind else rows.drop("judges", "verdicts", "model"),
        columns,
        key="docket",
        alt="Split verdicts, those that matter most first.",
        select="single",
        height=300,
    )
    show_pages(view, page.total, queries_adjudication.ROWS_A_PAGE, "docket-page")
    row = chosen[0] if chosen else rows.row(0, named=True)
    _show_item(row["run_id"], row["attempt_id"], int(row["turn"]), str(row["field"]), blind)
    _show_people(filters)


def _show_item(run_id: str, attempt_id: str, turn: int, field: str, blind: bool) -> None:
    whole = read.attempt(run_id, attempt_id)
    said = queries_adjudication.on_field(run_id, attempt_id, turn, field)
    decided = annotations.adjudications(run_id, attempt_id, turn).filter(pl.col("field") == field)
    hidden = blind and decided.is_empty()
    scenario = str(whole.attempt.get("scenario"))
    section(
        f"{plain(field)} at turn {turn}: what does the customer mean?",
        "Read up to this turn; the customer's last word on a thing counts.",
    )
    left, right = st.columns([6, 6], gap="large")
    with left, st.container(height=620, key="cx-docket-talk", autoscroll=True):
        transcript(whole.messages.filter(pl.col("turn") <= turn), key="docket", turn=turn)
    with right:
        _decide(run_id, attempt_id, turn, field, scenario, said, decided)
        if hidden:
            st.caption("Who said what is shown when you have decided.")
            return
        for row in said.iter_rows(named=True):
            with st.container(border=True):
                st.markdown(
                    f"**{plain(name_judge(row['judge']))}** says "
                    f"{plain(row['verdict'] if row['status'] == 'ok' else row['status'])}"
                )
                if row["path"]:
                    strip([("", stage) for stage in (*row["path"], row["action"])], procedure=scenario)
                    st.caption(f"Alone: logic {row['logic']:.1f}" if row["logic"] is not None else "Alone: not scored")
                else:
                    st.caption("Alone, its fields lead nowhere.")
                say(row["rationale"] or "No rationale was given.")
                with st.popover("Raw reply", type="tertiary", key=f"docket-raw-{row['judge']}"):
                    st.code(row["raw"] or "", language=None, wrap_lines=True)
        trace = whole.traces.filter(pl.col("turn") == turn)
        if trace.height:
            values = {name: _value(trace[f"{name}_fields"][0], field) for name in ("predicted", "panel", "gold")}
            grid(
                ("", field),
                [
                    [("The agent read", "quiet"), (values["predicted"], "")],
                    [("The panel", "quiet"), (values["panel"], "")],
                    [("The customer was made with", "quiet"), (values["gold"], "")],
                ],
            )
        target = View(attempt=f"{run_id}/{attempt_id}", turn=turn)
        if st.button("Open dialogue", key="docket-open-dialogue"):
            st.switch_page("pages/failures.py", query_params=target.to_query())


def _decide(
    run_id: str, attempt_id: str, turn: int, field: str, scenario: str, said: pl.DataFrame, decided: pl.DataFrame
) -> None:
    """One button an option; what was decided can be taken back."""
    known = procedures.find(scenario)
    options = list((known.fields.get(field) if known else None) or dict.fromkeys(said["verdict"].drop_nulls()))
    if decided.height:
        row = decided.row(0, named=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"✓ **{plain(row['author'])}** decided: {plain(row['value'])}")
            if st.button("Undo", key="docket-undo", type="tertiary", help="Takes it back; the store keeps both."):
                withdraw(row["id"], run_id, attempt_id)
                st.rerun()
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.text("It is")
        for option in [*options, "cannot tell"]:
            if st.button(plain(option), key=f"docket-say-{option}", type="secondary"):
                annotate("adjudication", run_id, attempt_id, option, turn, field)
                st.rerun()


def _show_people(view: View) -> None:
    found = cached(queries_adjudication.with_people, view)
    log = cached(annotations.adjudications)
    if log.is_empty():
        return
    section(
        "Judges against people",
        "How often each judge said what a person decided; decisions are few and were chosen for being hard, "
        "so this is no accuracy.",
    )
    rows = found.with_columns(name=pl.col("judge").map_elements(short_model, return_dtype=pl.String))
    show_table(
        rows,
        {"name": column("Judge"), "n": column("Decisions", "count"), "agree": column("Agrees", "share")},
        key="docket-people",
        alt="How often each judge said what a person decided.",
        downloads=False,
    )
    st.caption(f"All {format_count(log.height)} decisions")
    show_table(
        log,
        {
            "created": column("When", "time"),
            "author": column("Who"),
            "field": column("Field"),
            "value": column("Decision"),
            "turn": column("Turn", "count"),
            "attempt_id": column("Attempt", "id"),
        },
        key="docket-log",
        alt="All decisions by people, newest first.",
    )


def _value(fields: str, name: str) -> str:
    import json

    value = json.loads(fields or "{}").get(name)
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
