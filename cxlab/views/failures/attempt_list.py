"""Browsing a set of attempts: its groups of alike failures, its table, and the set as a link or a file."""

from dataclasses import replace
from functools import partial

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import spell_programs
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, format_share
from cxlab.read import View, failures
from cxlab.read.attempts import ROWS_A_PAGE, benchmarks, neighbours
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric
from cxlab.ui.address import cached, go, here, link, link_back, marks, set_view
from cxlab.ui.boards import with_labels
from cxlab.ui.choices import choose
from cxlab.ui.labels import PASSED_OF_ALL, figures, plain, say_passed, show_code
from cxlab.ui.paging import show_pages
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared, declared_all, names_of, usable_facets
from cxlab.views.failures.attempt_columns import add_asked, answering, leave_out_alike, opening_column, say_kinds
from cxlab.views.failures.attempt_set import save_set
from cxlab.views.failures.groups import full_scores, ordered_by, titles_of

_ORDERS = {
    "worst": "worst score first",
    "best": "best score first",
    "newest": "newest first",
    "long": "longest first",
    "slow": "slowest first",
    "costly": "costliest first",
    "oldest": "oldest first",
}


_SHOWN = {"": "Failed or no verdict", "failed": "Failed", "unscored": "No verdict", "passed": "Passed", "all": "All"}


def choose_metric(view: View, about: Declaration) -> View:
    """The view with a metric that the benchmark declares: what decides its tasks, else its headline; "" where several
    benchmarks are looked at, whose figures are not of one kind."""
    tasks = [task for task in about.card.tasks if not view.tasks or task.id in view.tasks]
    if tasks and view.metric in about.card.metrics:
        return view
    deciding = {task.decided_by or task.metric for task in tasks}
    metric = deciding.pop() if len(deciding) == 1 else about.card.headline
    return view.change(metric=metric, page=view.page)


def scope_of(view: View) -> View:
    """What is listed under an address that says nothing of it: what failed, and what could not be scored; all of it
    where it is read blind."""
    if view.blind == "yes":
        return replace(view, verdict=view.verdict or "all")
    return view if view.verdict else replace(view, verdict="wrong")


def _picks_failures(view: View) -> bool:
    """Whether the filters let nothing through that passed: then a success rate says nothing."""
    return bool(view.owners or view.reasons)


def _picks_troubles(view: View) -> bool:
    """Whether the filters let only that through in which something went wrong: then its share says nothing."""
    return _picks_failures(view) or bool(view.errors or view.alike)


def show_counts(view: View, about: Declaration, counts: dict[str, int]) -> None:
    """How much goes wrong under the filters, in a few figures."""
    things, all_, turns = about.card.unit[1], counts["attempts"], counts["turns"]
    failed, unscored, wrong = counts["failed"], counts["unscored"], counts["wrong_turns"]
    of_all = f"of {format_count(all_)} {things}"
    rule = "by the benchmark's own rule, as it was stored when they were scored"
    if _picks_failures(view) or (_picks_troubles(view) and not counts["passed"]):
        items = [("Failed", format_count(failed), f"{format_count(failed)} {of_all} under the filters, {rule}.")]
    else:
        # What is picked by some trouble is no fair share of all that was tried.
        runs = "Passed, in these runs" if view.runs else PASSED_OF_ALL
        picked = "Passed all the same" if view.errors or view.alike else runs
        share = format_share(failures.passed_rate(counts["passed"], failed))
        items = [(picked, share, f"{say_passed(about.card)} {format_count(failed)} {of_all} failed, {rule}.")]
    items = [
        (things.capitalize(), format_count(all_), "Finished attempts under the filters."),
        *items,
        ("No verdict", format_count(unscored), f"{format_count(unscored)} {of_all} neither passed nor failed, {rule}."),
    ]
    if turns and not _picks_troubles(view):
        meaning = f"{format_count(wrong)} of {format_count(turns)} evaluated turns of these {things}."
        items.append(("Turns gone wrong", format_share(wrong / turns), meaning))
    elif counts["tool_errors"]:
        meaning = (
            f"{format_count(counts['tool_errors'])} {of_all} had a tool call refused or malformed; "
            f"{format_count(counts['mended'])} of them passed all the same."
        )
        items.append(("With a failed tool call", format_share(counts["tool_errors"] / all_), meaning))
    figures(items)
    with st.container(horizontal=True, vertical_alignment="center"):
        runs = "the runs that are picked" if view.runs else "all runs under these filters, whatever their settings"
        known = counts["passed"] + failed
        scored = f"; the share that passed is of the {format_count(known)} scored" if known and unscored else ""
        st.caption(f"Counted over {runs}{scored if items[1][0] != 'Failed' else ''}.")
        if view.benchmark and not _picks_failures(view):
            same = View(view.benchmark, view.runs, view.models, view.tasks, view.facets)
            link("On the same samples and settings: Compare", "compare", same)


def choose_floors(view: View, about: Declaration) -> View:
    """The switch in the sidebar that brings constant agents in; not drawn where there are none to bring in."""
    stored = set(marks())
    titles = list(dict.fromkeys(floor.title for floor in about.floors if floor.model in stored))
    if not titles or view.models or view.runs:
        return view
    st.session_state["failures-floors"] = view.floors == "shown"
    with st.sidebar:
        st.toggle(
            "With constant agents",
            key="failures-floors",
            on_change=_switch,
            args=("failures-floors", "floors", "shown"),
            help=plain(f"{', '.join(titles)}: they answer without reading, to show what a score is worth."),
        )
    return view


def choose_blind(view: View) -> View:
    """The switch in the sidebar that hides who answered and what became of it."""
    st.session_state["failures-blind"] = view.blind == "yes"
    with st.sidebar:
        st.toggle(
            "Read blind",
            key="failures-blind",
            on_change=_switch,
            args=("failures-blind", "blind", "yes"),
            help="Hides the model, the scores and the verdict until you ask for them, and lists the attempts mixed. "
            "The address still names the run of an attempt that is open.",
        )
    return view


def _switch(key: str, name: str, value: str) -> None:
    set_view(here().change(**{name: value if st.session_state[key] else ""}))


def choose_verdict(view: View, counts: dict[str, int]) -> View:
    """Which attempts are listed: what failed or got no verdict, either alone, what passed, or all; each with its
    number."""
    numbers = {**counts, "": counts["failed"] + counts["unscored"], "all": counts["attempts"]}
    # Where one of the two is missing, the other alone is all of both.
    both = counts["failed"] and counts["unscored"]
    asked = [view.verdict] if numbers.get(view.verdict) != numbers[""] else []
    apart = [name for name in ("failed", "unscored") if both or name in asked]
    options = ["", *apart, "passed", "all"]
    names = {name: f"{_SHOWN[name]} {format_count(numbers[name])}" for name in options}
    if not _picks_failures(view) or view.verdict in options[1:]:
        choose(view, "verdict", "Listed", options, names=names, style="segments")
    return scope_of(view)


def show_attempts(view: View, about: Declaration) -> None:
    """The attempts of the view, a page of rows at a time; a click opens one."""
    (one, many), less = about.card.unit, view.metric in about.card.lower_is_better
    blind = view.blind == "yes"
    listed = view.change(attempt="", turn=None, order=_order_of(view), page=view.page)
    mains = ordered_by(about, listed.order)
    page = cached(failures.rows, listed, ROWS_A_PAGE, (view.page - 1) * ROWS_A_PAGE, less, mains)
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        kind = {
            "wrong": "failed or without a verdict",
            "failed": "failed",
            "unscored": "without a verdict",
            "passed": "passed",
        }
        st.subheader(
            f"{format_count(page.total)} {one if page.total == 1 else many}"
            + (f" {kind[view.verdict]}" if view.verdict in kind and not blind else ""),
            anchor=False,
            width="content",
        )
        if not blind:
            _order(view)
    if blind:
        st.caption("Read blind: who answered and what became of it is hidden, and the order tells nothing.")
    if not page.total:
        _say_none(view, about)
        return
    found = page.frame if about.card.id else _add_main_scores(page.frame, about)
    # Rows of one benchmark alone are shown as that benchmark's own list shows them.
    known = page.frame["benchmark"].unique().sort().to_list()
    own = declared(known[0]) if len(known) == 1 else about
    answers = answering(known)
    rows = with_labels(add_asked(found, answers)).with_columns(
        wrong_=pl.Series([say_kinds(kinds) for kinds in page.frame["wrong"].to_list()], dtype=pl.String),
        way_=pl.Series([say_kinds(kinds) for kinds in page.frame["way"].to_list()], dtype=pl.String),
        task=pl.col("task").replace(titles_of(about)),
        reason=name_each(found["reason"], spell_programs),
        benchmark=pl.col("benchmark").replace(names_of(known)),
        # An answer does not end by anything: what is stored is its task.
        ended_by=pl.when(~pl.col("benchmark").is_in(answers) & (pl.col("ended_by") != pl.col("task"))).then("ended_by"),
    )
    shown = _columns(view, own, rows)
    if blind:
        shown = {name: shape for name, shape in shown.items() if name not in _TELLING}
    rows = rows.with_columns(
        name_each(rows[facet.id], partial(own.value, facet.id)) for facet in own.facets if facet.id in shown
    )
    rows = rows.with_columns(name_each(rows["ended_by"], about.end))
    if not blind:
        shown, alike = leave_out_alike(rows, shown)
        if alike:
            st.caption(plain(alike))
    chosen = show_table(
        rows,
        shown,
        key="attempts",
        alt=f"{page.total} {many}, a page of them.",
        select="single",
        downloads=False,
    )
    show_pages(view, page.total, ROWS_A_PAGE, "failures-page")
    if chosen:
        row = chosen[0]
        go(view.open(row["run_id"], row["attempt_id"], row["first_turn"]))
    save_set(view.change(order=_order_of(view), page=view.page), about, page.total)


def _add_main_scores(frame: pl.DataFrame, about: Declaration) -> pl.DataFrame:
    """A page of attempts of several benchmarks with each one's own main figure as its score."""
    own = failures.main_scores(frame, full_scores(about))
    return frame.drop("score").join(own, on=["run_id", "attempt_id"], how="left", maintain_order="left")


TELLING_FILTERS = (
    "models",
    "runs",
    "errors",
    "owners",
    "reasons",
    "splits",
    "ends",
    "outcomes",
    "failures",
    "verdict",
    "alike",
)
"""Filters that say who answered or what became of it: reading blind their values stay unsaid."""
# Columns that do, or hint at it.
_TELLING = (
    "name",
    "wrong_",
    "reason",
    "score",
    "way_",
    "verdict_owner",
    "disputed",
    "turns",
    "ended_by",
    "latency_s",
    "cost_usd",
)


def _columns(view: View, about: Declaration, rows: pl.DataFrame) -> dict[str, object]:
    """What the table shows; a column without a value in any row says nothing, nor a facet that repeats the task."""
    tasks = set(titles_of(about))
    usable = usable_facets(about)
    facets = [facet for facet in about.facets if facet.id in usable and facet.id in rows.columns]
    # Those that tell the situations on the page apart and that people compare by stand in front, all else at the end.
    shown = {facet.id: column(facet.title, width="small", help=facet.meaning or None) for facet in facets}
    telling = [
        facet.id
        for facet in facets
        if (facet.spread or facet.order or facet.identifies) and (rows[facet.id].n_unique() > 1 or rows.height < 3)
    ]
    # One model that was asked for stands above the table.
    columns: dict[str, object] = {} if len(view.models) == 1 else {"name": column("Model")}
    if not about.card.id:
        columns["benchmark"] = column("Benchmark")
    if len(tasks) > 1 and rows["task"].n_unique() > 1:
        columns["task"] = column("Task", width="small")
    if about.attempt_view == "answer":
        # What an answer was asked tells it from its neighbours, as a dialogue's situation does.
        columns["opening"] = opening_column(about)
    columns |= {
        "wrong_": column("What went wrong", help="On how many turns; a turn can be in two kinds.", width="medium"),
        "reason": column("Reason", help="As the verdict has it.", width="medium"),
        "due_": column("Due", help="What was to be found.", width="medium"),
        "score": column(
            head_metric(view.metric) if view.metric else "Score",
            "points",
            ("" if view.metric else "By the main figure of each one's own task. ")
            + "Mean over the evaluated turns, or of the whole attempt; empty when nothing could be scored.",
        ),
        "way_": column("On the way", help="What failed and did not decide how it ended.", width="medium"),
        **{name: shown[name] for name in telling},
        "verdict_owner": column("Whose doing", width="small"),
        "disputed": column("Disputed", width="small", help="Whose doing it was instead, as people say."),
        "turns": column("Turns", "count", "The agent's messages to the customer."),
        **({} if "opening" in columns else {"opening": opening_column(about)}),
        **shown,
        "ended_by": column("Ended by", width="small"),
        "latency_s": column("Time", "seconds"),
        "cost_usd": column("Cost", "usd"),
    }
    if rows["verdict_owner"].n_unique() < 2:
        del columns["verdict_owner"]
    if rows["simulated"].all():
        # What stand-ins take and cost says nothing of real models.
        del columns["latency_s"], columns["cost_usd"]
    # Where a verdict is all there is, its reason says what a kind would only count; an answer does not end by anything.
    out = {"procedure": (), "answer": ("wrong_", "ended_by")}.get(
        about.attempt_view, ("wrong_",) if about.card.id else ()
    )
    return {
        name: shape
        for name, shape in columns.items()
        if name not in out and (name == "name" or _has_values(rows[name], zeros=name == "score"))
    }


def _say_none(view: View, about: Declaration) -> None:
    one, many = about.card.unit
    if view.verdict in ("", "all") or any(
        getattr(view, name) for name in ("errors", "splits", "ends", "owners", "reasons", "alike")
    ):
        st.info(f"No {one} fits these filters. Clear one of them in the sidebar, or look at all.")
    else:
        st.info(f"None of the {many} under these filters {'passed' if view.verdict == 'passed' else 'failed'}.")


def show_navigation(view: View, attempt_id: str, about: Declaration) -> None:
    """The way up, and to the attempts before and after in the list's order."""
    whole = about if view.benchmark else declared_all(cached(benchmarks)["benchmark"].to_list())
    listed = choose_metric(view, whole)
    order = _order_of(listed)
    less = listed.metric in about.card.lower_is_better
    mains = ordered_by(whole, order)
    before, after = cached(neighbours, scope_of(listed).change(turn=None, order=order), None, less, mains)
    if not (before or after):  # opened by a link from elsewhere, and not among what failed
        before, after = cached(neighbours, listed.change(turn=None, order=order), None, less, mains)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            link_back()
            up = view.change(attempt="", turn=None)
            words = "Back to the group" if view.alike else f"All {about.card.unit[1]}"
            if st.button(words, key="dialogue-up", type="tertiary", shortcut="u"):
                go(up)
            st.text("›")
            # Its id can tell the model.
            st.text("one of them, read blind") if view.blind == "yes" else show_code(attempt_id)
        with st.container(horizontal=True, gap="small", width="content"):
            for words, target, shortcut in (("Previous", before, "p"), ("Next", after, "n")):
                if st.button(words, key=f"dialogue-{shortcut}", shortcut=shortcut, disabled=not target):
                    go(view.change(attempt=target, turn=None))


def _has_values(values: pl.Series, zeros: bool = False) -> bool:
    """Whether any of them says anything: a count or cost of 0 throughout does not, a score does (`zeros`)."""
    said = values.drop_nulls()
    nothing = said.dtype.is_numeric() and said.max() == 0 and not zeros
    return bool(said.len()) and not nothing and set(said.head(9)) != {""}


def _order_of(view: View) -> str:
    """The order of the list: the address's, else the worst first by the metric, else the newest; mixed when blind."""
    if view.blind == "yes":
        return "mixed"
    return view.order if view.order in _ORDERS else "worst" if view.metric else "newest"


def _order(view: View) -> None:
    st.session_state["failures-order"] = _order_of(view)
    st.selectbox(
        "Sort",
        list(_ORDERS),
        key="failures-order",
        format_func=_ORDERS.__getitem__,
        label_visibility="collapsed",
        width=220,
        on_change=_order_changed,
    )


def _order_changed() -> None:
    set_view(here().change(order=st.session_state["failures-order"]))
