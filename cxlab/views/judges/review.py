"""The page Judges, first: a review of what judges disagree on, one split at a time, blind, and what came of it."""

from collections.abc import Collection, Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.charts.matrix import name_item, name_judge
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count
from cxlab.read import View, decisions
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, here, set_view
from cxlab.ui.annotations import ask_author, rater
from cxlab.ui.app_frame import is_large
from cxlab.ui.choices import choose_id, is_new
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import leave_out_floors, names_of
from cxlab.views.judges import queries_review
from cxlab.views.judges.corrections import show_corrections
from cxlab.views.judges.judge_columns import pick, two
from cxlab.views.judges.queries_agreement import panels
from cxlab.views.judges.raters import show_decisions, show_people
from cxlab.views.judges.review_item import Step, show_item

_SHOWN = {"open": "To decide", "conflicts": "Conflicts", "decided": "Decided", "all": "All"}


def _say_nothing(judges: Collection[str]) -> str:
    """Why nothing is to be decided."""
    if len(judges) != 1:
        return "No two judges differ on anything under these filters: nothing is to be decided."
    alone = name_judge(next(iter(judges)))
    return (
        f"{alone} alone has judged here, so nobody differs and nothing is to be decided. Verdicts lists what it said."
    )


def show_review(view: View, about: Declaration, facets: Sequence[str]) -> None:
    """One split to decide with the way to the next, and below it what the decisions say."""
    filters = leave_out_floors(view.filters().change(metric="", judges=()), about)
    found = queries_review.splits(filters, facets)
    if len(view.judges) == 2:
        found = _keep_pair(found, view.judges)
    if found.is_empty():
        st.info(plain(_say_nothing({each for panel in panels(filters) for each in panel.judges})))
        return
    decided = cached(decisions.decisions)
    states = decisions.outcomes(decided)
    me = rater()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table = queries_review.groups(found)
        large = is_large()
        group = st.query_params.get("group", "") if large else _choose_group(table)
        shown = st.query_params.get("review-show", "open") if large else pick("Show", _SHOWN, "review-show")
        blind = st.toggle(
            "Blind", value=True, key="review-blind", bind="query-params",
            help="Who judged what, the model and the truth are hidden until you have decided.",
        )  # fmt: skip
    part = asked = found.filter((pl.col("group") == group) | (pl.col("name") == group)) if group else found
    mine = _read_mine(decided, me)
    conflicts = _read_items(states.filter(pl.col("state") == "conflict"))
    kept = {"conflicts": conflicts, "decided": set(mine)}.get(shown)
    if kept is not None:
        part = part.join(_to_frame(kept), on=decisions.ITEM, how="semi")
    queue = queries_review.order(part)
    keys = queue.select(decisions.ITEM).rows()
    if not large:
        _show_progress(keys, part.height, mine, len(conflicts), me)
    moved = is_new("review-cut", (filters, group, shown))
    at = _read_place(view)
    # A link opens its item; a filter that is changed afterwards begins anew.
    if at is None or (moved and at == st.session_state.get("review-at") and at not in keys):
        at = next((key for key in keys if key not in mine), keys[0] if keys else None) if shown == "open" else (
            keys[0] if keys else None)  # fmt: skip
    if at is None:
        words = {"conflicts": "No two raters differ on anything here.", "decided": "You have decided nothing here yet."}
        st.info(words.get(shown, "Nothing is left here."))
    else:
        st.session_state["review-at"] = at
        _open(at)
        show_item(at, _read_steps(keys, at, mine, shown), blind, me, decided, states)
    show_corrections(filters, states)
    if large:
        return
    show_people(filters, decided, states)
    show_decisions(decided, states)
    # A link to what two judges differ on shows that alone.
    if view.judges and group:
        table = queries_review.groups(asked)
    _show_groups(table, names_of(table["benchmark"].unique()))


def _keep_pair(found: pl.DataFrame, judges: Sequence[str]) -> pl.DataFrame:
    """What the two judges that a link names differ on, with the way back to all."""
    a, b = judges
    _come_up()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(f"Only what {two(a, b)} differ on"), anchor=False, width="content")
        if st.button("Show all disagreements", key="review-all-judges", type="tertiary"):
            st.query_params.pop("group", None)
            set_view(here().change(judges=(), attempt="", turn=None, field=""))
            st.rerun()
    return queries_review.between(found, a, b)


def _come_up() -> None:
    """Bring the head of the page into view, once, for who came from further down another view."""
    if st.session_state.pop("review-come-up", False):
        # Our own constant script: nothing from the store can get here.
        st.html(
            "<script>setTimeout(() => document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0), 350)</script>",
            unsafe_allow_javascript=True,
        )


def _choose_group(table: pl.DataFrame) -> str:
    """All disagreements in turns, those on one field, or of one kind: "" for all, the field's name, or the group."""
    names = {"": f"All {format_count(int(table['n'].sum()))} disagreements, in turns"}
    for (name,), part in table.group_by("name", maintain_order=True):
        if part.height > 1 or st.query_params.get("group") == name:
            names[str(name)] = f"{name_item(str(name))}: all ({format_count(int(part['n'].sum()))})"
    for row in table.iter_rows(named=True):
        names[row["group"]] = f"{name_item(row['name'])}: {name_sides(row['sides'])} ({format_count(row['n'])})"
    return choose_id("group", "What disagrees", list(names), names.__getitem__)


def name_sides(sides: str) -> str:
    """ "lenient against partial, strict"."""
    return " against ".join(", ".join(map(name_judge, side)) for side in queries_review.read_sides(sides))


def _show_progress(keys: list[Step], total: int, mine: Mapping[Step, str], conflicts: int, me: str) -> None:
    done = sum(key in mine for key in keys)
    left, right = st.columns([9, 3], vertical_alignment="center")
    with left:
        more = f" (the most telling of {format_count(total)})" if total > len(keys) else ""
        told = f"{format_count(done)} of {format_count(len(keys))} decided by you{more}"
        if conflicts:
            told += f" · {format_count(conflicts)} conflict{'' if conflicts == 1 else 's'} between raters"
        st.progress(done / len(keys) if keys else 0.0, text=told)
    # Who has no name yet is asked for it where one decides.
    if me:
        with right, st.popover(f"Deciding as {plain(me)}", type="tertiary"):
            ask_author(empty=True)


def _read_mine(decided: pl.DataFrame, me: str) -> dict[Step, str]:
    own = decided.filter((pl.col("rater") == me) & (pl.col("kind") == "adjudication"))
    return {(run, attempt, int(turn), field): id for run, attempt, turn, field, id in own.select(
        *decisions.ITEM, "id").iter_rows()}  # fmt: skip


def _read_items(frame: pl.DataFrame) -> set[Step]:
    return {(run, attempt, int(turn), field) for run, attempt, turn, field in frame.select(decisions.ITEM).iter_rows()}


def _to_frame(items: set[Step]) -> pl.DataFrame:
    schema = {"run_id": pl.String, "attempt_id": pl.String, "turn": pl.Int32, "field": pl.String}
    return pl.DataFrame(sorted(items), schema=schema, orient="row")


def _read_place(view: View) -> Step | None:
    """The item that the address names."""
    if not view.attempt or view.turn is None or not view.field:
        return None
    run_id, _, attempt_id = view.attempt.partition("/")
    return run_id, attempt_id, view.turn, view.field


def _open(at: Step) -> None:
    """Write the item into the address, so that what is looked at can be linked."""
    run_id, attempt_id, turn, field = at
    set_view(here().change(attempt=f"{run_id}/{attempt_id}", turn=turn, field=field))


def _read_steps(keys: list[Step], at: Step, mine: Mapping[Step, str], shown: str) -> tuple[Step | None, Step | None]:
    """What comes before and after: where one goes through what is to be decided, the next one that still is."""
    place = keys.index(at) if at in keys else -1
    after = keys[place + 1 :]
    following = next((key for key in after if key not in mine), None) if shown == "open" else next(iter(after), None)
    return (keys[place - 1] if place > 0 else None), following


def _show_groups(table: pl.DataFrame, names: Mapping[str, str]) -> None:
    """All kinds of disagreement as a table; a pick reviews that one."""
    section(
        f"{format_count(table.height)} kinds of disagreement",
        "Telling: another verdict would change a score. Stake: points of the turn's score from one judge alone to "
        "another, where procedures say so.",
    )
    chosen = show_table(
        table.with_columns(
            title=name_each(table["name"], name_item),
            who=name_each(table["sides"], name_sides),
            of=pl.col("benchmark").replace(names),
            what=pl.col("kind").replace({"field": "field", "dimension": "grade"}),
        ).drop("sides"),
        {
            "title": column("What"),
            "who": column("Who against whom", width="large"),
            "n": column("Turns", "count"),
            "telling": column("Telling", "count"),
            "stake": column("Stake", "points"),
            "what": column("Kind", width="small"),
            "of": column("Benchmark", width="small"),
        },
        key="review-groups",
        alt="What judges disagree on, and who stands against whom; what changes most scores first.",
        select="single",
        search=True,
        height=320,
    )
    if chosen and is_new("review-groups", chosen):
        st.query_params["group"] = str(chosen[0]["group"])
        st.session_state.pop("review-at", None)
        set_view(here().change(attempt="", turn=None, field=""))
        st.rerun()
