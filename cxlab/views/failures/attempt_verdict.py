"""What became of one attempt, by its stored verdict: passed, failed or none, why, whose doing, and where."""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import describe_group, spell_programs
from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_seconds, format_time, format_usd
from cxlab.charts.theme import short_model
from cxlab.read import StoredAttempt, View, failure_kinds, failures, procedures
from cxlab.read.attempts import read_object
from cxlab.read.failure_kinds import kind_of, name_kind
from cxlab.read.results.headlines import say_rule
from cxlab.records.benchmark_card import Declaration
from cxlab.ui import address
from cxlab.ui.address import cached
from cxlab.ui.app_frame import zone
from cxlab.ui.labels import chip, plain, say
from cxlab.ui.path_strips import grid
from cxlab.views.failures.dispute import OWNERS, show_dispute

SIGNS = {"passed": ("✓ passed", "green"), "failed": ("✕ failed", "red"), "unscored": ("? no verdict", "orange")}
_NOTHING = {"passed": "Nothing: it passed.", "failed": "It failed.", "unscored": "It could not be scored."}


def verdict_of(whole: StoredAttempt) -> str:
    """passed, failed or unscored."""
    return str(whole.attempt.get("verdict") or "unscored")


def show_chip(whole: StoredAttempt) -> None:
    """The verdict as a coloured mark with a word; beside it, where it passed, how many fields were misread."""
    words, colour = SIGNS[verdict_of(whole)]
    chip(words, colour, "By the benchmark's own rule, as it was stored when the attempt was scored.")
    if misread := misread_fields(whole):
        chip(_count_misread(misread), "orange", "Path and action were right all the same, and they decide the verdict.")


def show_took(whole: StoredAttempt, *more: str) -> None:
    """In one line what the attempt took, as far as it is known, and when it began."""
    row = whole.attempt
    told = [*_list_took(row), f"{format_count(row['calls'])} calls, {format_count(row['retries'])} retries", *more]
    st.caption(plain(" · ".join(filter(None, [*told, format_time(row["started"], zone())]))))


def _list_took(row: Mapping[str, Any]) -> list[str]:
    """Time, tokens and cost as far as they are known; of an attempt with replies that an earlier try paid for, that
    they are of the others alone."""
    calls, kept = row["calls"] or 0, row["cached_calls"] or 0
    # What was taken over whole keeps what it took; a kept reply has no tokens of its own (`read.query.measured`).
    if kept and not calls and not row["prompt_tokens"]:
        return [f"time, tokens and cost unknown: its {format_count(kept)} replies were kept from before"]
    told = [format_seconds(row["latency_s"])] if row["latency_s"] is not None else []
    if row["prompt_tokens"] is not None:
        told.append(f"{format_count(row['prompt_tokens'] + (row['completion_tokens'] or 0))} tokens")
    # What a stand-in costs says nothing.
    if row["cost_usd"] is not None and not row["simulated"]:
        told.append(format_usd(row["cost_usd"]))
    if kept and calls:
        told.append(f"without the {format_count(kept)} replies that were kept from before, which an earlier try paid")
    return told


def show_verdict(view: View, whole: StoredAttempt, about: Declaration, *, on_the_way: bool = False) -> None:
    """What went wrong, whose doing it was, where, and what counts at all; below it what failed on the way, if asked."""
    row, verdict = whole.attempt, verdict_of(whole)
    with st.container(border=True):
        st.markdown("**What went wrong**")
        say_verdict(whole)
        show_rule(whole, about)
        show_owner(whole)
        show_dispute(whole)
        said = [f"{name}: {value}" for name, value in _places(row) if value not in (None, "")]
        if said:
            st.caption(plain(" · ".join(said)))
        link_turn(view, whole)
        link_group(view, whole, {row["verdict_turn"]})
        if on_the_way:
            _show_way(whole, mended=verdict == "passed")


def link_turn(view: View, whole: StoredAttempt) -> None:
    """The way to the turn on which the verdict stands, if it stands on one."""
    turn = whole.attempt.get("verdict_turn")
    alike = " ◀ the failure you came for" if turn in group_turns(view, whole) else ""
    words = f"Go to turn {turn}, on which the verdict stands{alike}"
    if turn is not None and st.button(words, key="verdict-turn", type="tertiary"):
        address.go(view.change(turn=int(turn), page=view.page))


def group_turns(view: View, whole: StoredAttempt) -> list[int]:
    """The turns on which something failed as in the view's group, in their order; none without a group."""
    if not view.alike:
        return []
    row = whole.attempt
    return cached(failures.turns_alike, str(row["run_id"]), str(row["attempt_id"]), view.alike)


def link_group(view: View, whole: StoredAttempt, shown: Collection[int]) -> None:
    """Where the turns of the view's group are, those that are not `shown` with a mark: what one came for."""
    found = [turn for turn in group_turns(view, whole) if turn not in shown]
    if not found:
        return
    group = cached(failures.group, View(alike=view.alike))
    what = describe_group(group, {})[0] if group else "what one came for"
    st.markdown(plain(f"◀ The failure you came for: {what}."))
    decides = whole.attempt.get("verdict_turn") in found
    st.caption("The verdict stands on it." if decides else "It failed on the way: the verdict does not stand on it.")
    with st.container(horizontal=True, gap="small"):
        for turn in found:
            if st.button(f"Turn {turn}", key=f"group-turn-{turn}", type="tertiary"):
                address.go(view.change(turn=turn, page=view.page))


def show_rule(whole: StoredAttempt, about: Declaration) -> None:
    """What counts for the verdict, and whether a single turn of the dialogue stands for it."""
    said = say_rule(about.card.task(str(whole.attempt["task"])))
    turns = whole.messages["turn"].n_unique() if whole.messages.height else 0
    if verdict_of(whole) == "failed" and whole.attempt.get("verdict_turn") is None and turns > 1:
        said = f"{said} No single turn stands for it.".strip()
    if said:
        st.caption(plain(f"What counts: {said}"))


def mark_turn(whole: StoredAttempt, turn: int) -> None:
    """Below the turn on which the verdict stands, that it does, and what was wrong there."""
    if turn == whole.attempt.get("verdict_turn"):
        words, colour = SIGNS[verdict_of(whole)]
        reason = spell_programs(str(whole.attempt.get("verdict_reason") or ""))
        chip(f"{words[:1]} The verdict stands on this turn{reason and f': {reason}'}", colour)


def show_owner(whole: StoredAttempt) -> None:
    """Whose doing the verdict was, and by which rule; nothing of what passed."""
    owner = str(whole.attempt.get("verdict_owner") or "")
    if owner:
        why = OWNERS.get(owner, "")
        st.caption(
            plain(f"Whose doing: the {owner}'s" + (f" ({why}). " if why else ". ") + _say_evidence(whole, owner))
        )


# Where a failure is stored → whose slip that is.
_SIDES = {"customer": "the customer", "provider": "a provider", "judge": "a judge", "scorer": "the scorer"}


def _say_evidence(whole: StoredAttempt, owner: str) -> str:
    """What is stored against anybody but the owner: failures, turns that others spoilt, judges without a vote."""
    others = [_SIDES[where] for where in whole.failures["where_"].to_list() if where in _SIDES and where != owner]
    found = [f"{who} {others.count(who)} ×" for who in dict.fromkeys(others)]
    spoilt: dict[str, list[int | None]] = {}
    for turn, kind in whole.traces.select("turn", "error").iter_rows() if whole.traces.height else ():
        if kind in failure_kinds.others() and turn != whole.attempt.get("verdict_turn"):
            spoilt.setdefault(name_kind(kind), []).append(turn)
    found += [f"{words} (turn {_turns(turns)})" for words, turns in spoilt.items()]
    for judge, turns in _silent(whole).items():
        found.append(f"{judge} without a usable verdict" + (f" (turn {_turns(turns)})" if any(turns) else ""))
    return f"Stored against others here: {', '.join(found)}." if found else "Nothing is stored against others."


def _silent(whole: StoredAttempt) -> dict[str, list[int | None]]:
    """Judge → the turns on which it gave no usable vote."""
    found: dict[str, list[int | None]] = {}
    if whole.votes.height:
        for judge, turn in whole.votes.filter(~pl.col("valid")).select("judge", "turn").iter_rows():
            found.setdefault(short_model(judge), []).append(turn)
    return found


def say_judges(whole: StoredAttempt, turn: int, field: str) -> str:
    """What a misread field is compared with: how many judges read it as the panel does, and what the customer's card
    holds; "" where no judge was asked."""
    trace = whole.traces.filter(pl.col("turn") == turn)
    told = whole.judgements.filter((pl.col("turn") == turn) & (pl.col("field") == field) & (pl.col("status") == "ok"))
    if trace.is_empty() or told.is_empty():
        return ""
    panel, card = (read_object(trace.row(0, named=True)[f"{who}_fields"]).get(field) for who in ("panel", "gold"))
    if panel is None:
        return ""
    alike = sum(name_id(verdict) == name_id(panel) for verdict in told["verdict"].to_list())
    words = f"{alike} of {told.height} judges read {name_id(field)} as {name_id(panel)}"
    if card is None:
        return f"{words}."
    return f"{words}; the customer's card holds {name_id(card)}{', too' if card == panel else ''}."


def say_verdict(whole: StoredAttempt) -> None:
    """The reason in a sentence, or that there is none."""
    told = spell_programs(str(whole.attempt.get("verdict_reason") or "")) or _NOTHING[verdict_of(whole)]
    say(told[:1].upper() + told[1:] + ("" if told.endswith(".") else "."))
    say_misread(whole)


def say_misread(whole: StoredAttempt) -> None:
    """Which fields of a passed attempt were misread, a line each."""
    for field, (turn, read, due) in misread_fields(whole).items():
        name = name_id(field)
        words = f"{name[:1].upper()}{name[1:]} was misread on turn {turn} as {name_id(read)}; to the panel it was"
        say(f"{words} {name_id(due)}. Path and action were right all the same.")


def misread_fields(whole: StoredAttempt) -> dict[str, tuple[int, object, object]]:
    """Fields of a passed attempt that were read otherwise than by the panel → (first turn, as read, as by the panel).

    {} for an attempt that did not pass: its verdict says what went wrong.
    """
    found: dict[str, tuple[int, object, object]] = {}
    if verdict_of(whole) != "passed" or "panel_fields" not in whole.traces.columns:
        return found
    for row in whole.traces.sort("turn").iter_rows(named=True):
        read = read_object(row["predicted_fields"])
        for field, due in read_object(row["panel_fields"]).items():
            if read and due is not None and read.get(field) != due:
                found.setdefault(field, (int(row["turn"]), read.get(field), due))
    return found


def _count_misread(misread: dict[str, tuple[int, object, object]]) -> str:
    return "one field misread" if len(misread) == 1 else f"{len(misread)} fields misread"


def _places(row: dict[str, object]) -> list[tuple[str, object]]:
    found = {name: row.get(f"verdict_{name}") for name in ("stage", "field", "tool")}
    known = procedures.find(str(row.get(procedures.facet_of(str(row["benchmark"]))) or ""))
    if known and found["stage"]:
        found["stage"] = known.name(str(found["stage"]))
    if found["field"]:
        found["field"] = name_id(found["field"])
    return [(name.capitalize(), value) for name, value in found.items()]


def _show_way(whole: StoredAttempt, mended: bool) -> None:
    found: dict[str, list[int | None]] = {}
    for where, kind, turn in whole.failures.select("where_", "type", "turn").iter_rows():
        found.setdefault(kind_of(where, kind), []).append(turn)
    if not found:
        return
    st.caption("On the way" + (", and mended:" if mended else ":"))
    rows = [[(name_kind(kind), ""), (f"{len(turns)} ×", ""), (_turns(turns), "quiet")] for kind, turns in found.items()]
    grid(("What", "Times", "On turns"), rows)


def _turns(turns: list[int | None]) -> str:
    known = dict.fromkeys(str(turn) for turn in turns if turn is not None)
    return ", ".join(known) or "–"
