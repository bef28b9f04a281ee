"""One attempt in full: the dialogue, what was expected beside what was given, and who said so."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import name_step
from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_points
from cxlab.charts.theme import short_model
from cxlab.read import StoredAttempt, failure_kinds, procedures
from cxlab.read.attempts import read_object
from cxlab.read.failure_kinds import name_kind
from cxlab.records.benchmark_card import Declaration
from cxlab.records.fault_words import name_fault_type
from cxlab.records.metric_names import head_metric, name_metric, within_sentence
from cxlab.ui.labels import figures, label, plain, say, show_code
from cxlab.ui.path_strips import grid, strip
from cxlab.ui.transcript import votes
from cxlab.views.benchmarks import declared
from cxlab.views.failures.attempt_answer import list_questions
from cxlab.views.failures.attempt_procedure_words import (
    DELIVERY,
    WORDING,
    define_fields,
    explain_trace,
    list_passing,
    list_unread,
    show_value,
)
from cxlab.views.failures.attempt_verdict import show_took, verdict_of
from cxlab.views.sop.one_turn import offer_map


def headline(whole: StoredAttempt, about: Declaration, leading: Sequence[str]) -> None:
    """The attempt's own figures (`leading`), and in one line what it took."""
    definitions, ended = about.card.metrics, about.end_of(whole.attempt)
    row = whole.attempt
    scores = whole.own_scores()
    figures(
        [
            (head_metric(name), format_points(scores.get(name)), plain(definitions.get(name, "")))
            for name in leading
            if name
        ]
        + [("Turns", format_count(row["turns"]), f"The agent's messages to the customer. Ended by: {ended}.")]
    )
    if told := say_scales(about, leading):
        st.caption(plain(told))
    if said := say_against(verdict_of(whole), str(row.get("verdict_owner") or ""), leading, scores):
        st.caption(plain(said))
    show_took(whole, f"ended by {ended}")


def say_scales(about: Declaration, leading: Sequence[str]) -> str:
    """What 0 and 100 are of those figures that may lie below 0; "" where none may."""
    zeros = about.card.zeros
    told = [f"{head_metric(name)}: 0 is the {zeros[name].lower()}, 100 faultless, less than 0 worse than that agent"
            for name in leading if name in zeros]  # fmt: skip
    return f"{'; '.join(told)}." if told else ""


def say_against(verdict: str, owner: str, leading: Sequence[str], scores: Mapping[str, float | None]) -> str:
    """That a figure and the verdict do not say the same, where they do not; "" where nobody would stumble."""
    full = next((name for name in leading if scores.get(name) == 100), None)
    if verdict == "failed" and full:
        return (
            f"Failed with {within_sentence(name_metric(full))} at 100: the verdict follows its own rule, given under "
            "What counts, and not that figure."
        )
    if verdict == "unscored" and owner != "agent" and any(scores.get(name) is not None for name in leading):
        return "No verdict was possible; the figures above were reckoned all the same, and count in means."
    return ""


def situation(whole: StoredAttempt, about: Declaration) -> None:
    """What was true for the customer: intent, level, leaf, back end, facts and how they were to come out."""
    inputs, expected, row = whole.sample.get("inputs") or {}, whole.sample.get("expected") or {}, whole.attempt
    with st.container(border=True):
        st.markdown("**The situation**")
        lines = [
            ("Scenario", label(row.get("scenario") or "–")),
            ("Case", row.get("leaf") or "–"),
            ("Intent", label(row.get("intent") or "–")),
            ("Customer", _person(row.get("level"), row.get("persona"), about)),
        ]
        lines += [(name_id(name), name_id(show_value(value))) for name, value in (inputs.get("system") or {}).items()]
        action = expected.get("action")
        if action:
            lines.append(
                (
                    "Right action",
                    _name_due(whole, [str(each) for each in action.values()] if isinstance(action, dict) else [action]),
                )
            )
        grid(("What was true", ""), [[(name, "quiet"), (value, "")] for name, value in lines])
        facts = inputs.get("facts") or []
        if facts:
            grid(
                ("Fact", "Value", "How the customer says it"),
                [
                    [
                        (name_id(fact.get("field")), ""),
                        (name_id(fact.get("label", fact.get("value"))), ""),
                        (
                            f"{_named(WORDING, fact.get('wording'))}, {_named(DELIVERY, fact.get('delivery'))}",
                            "quiet",
                        ),
                    ]
                    for fact in facts
                ],
            )


def _name_due(whole: StoredAttempt, actions: Sequence[str]) -> str:
    """What was due, in words: a plan says by itself that one is handed over."""
    scenario = whole.attempt.get(procedures.facet_of(str(whole.attempt["benchmark"])))
    known = procedures.find(scenario)
    handed = [each for each in actions if known and each in known.plans]
    return ", ".join(name_step(scenario, each) for each in handed or actions if each != "none")


def _person(level: str | None, persona: str | None, about: Declaration) -> str:
    """Where the level is the persona itself, it is said once."""
    who = persona or "no persona"
    return who if level == persona else f"{about.value('level', level) if level else 'any level'}, {who}"


def turn_card(whole: StoredAttempt, turn: int, asked: int | None, first_wrong: int | None) -> None:
    """What was expected beside what was given on one evaluated turn; open for the turn that is asked for."""
    found = whole.traces.filter(pl.col("turn") == turn)
    if found.is_empty():
        _unread(whole, turn, asked)
        _verdicts(whole, turn, asked)
        return
    trace = found.row(0, named=True)
    message = agent_data(whole, turn)
    kind = trace["error"]
    scores = dict(
        whole.scores.filter((pl.col("turn") == turn) & pl.col("value").is_not_null())
        .select("metric", "value")
        .iter_rows()
    )
    good = kind == "none"
    sign = "✓" if good else "○" if kind == "unscored" or kind in failure_kinds.others() else "✕"
    unread = list_unread(whole).get(turn, "")
    title = "followed the procedure" if good else f"{name_kind(kind)}: {unread}" if unread else name_kind(kind)
    shown = [f"{name_metric(name)} {scores[name]:.1f}" for name in _turn_scores(whole) if name in scores]
    first = f" · {shown[0]}" if shown else ""
    with (
        st.container(key=f"cx-turn-{'marked' if turn == asked else 'other'}-{turn}"),
        st.expander(
            f"{sign} Turn {turn}: {plain(title)}{plain(first)}",
            expanded=turn == asked if asked is not None else turn == first_wrong,
        ),
    ):
        say(f"{explain_trace(trace, message)}.")
        if trace["parsed"]:
            if kind in failure_kinds.disputed():
                st.caption("Path and action beside those that the panel's labels lead to:")
            _ways(trace, turn == whole.traces["turn"].max())
            offer_map(
                trace, turn, explain_trace(trace, message),
                str(whole.attempt["benchmark"]), bool(whole.attempt["simulated"]),
            )  # fmt: skip
            _fields(whole, trace)
        if shown:
            st.caption(plain(" · ".join(shown)))
            if told := define_path(str(whole.attempt["benchmark"]), trace, scores):
                st.caption(plain(told))
        _panel(whole, trace, turn)
        if message and message.get("reasoning"):
            st.caption("What the agent says it did")
            say(str(message["reasoning"]))
        if message and message.get("raw"):
            with st.popover("Raw reply", type="tertiary", key=f"cx-raw-{turn}"):
                show_code(str(message["raw"]))


def _turn_scores(whole: StoredAttempt) -> tuple[str, ...]:
    known = procedures.of(str(whole.attempt["benchmark"]))
    return known.turn_scores if known else ()


def define_path(benchmark: str, trace: Mapping[str, Any], scores: Mapping[str, float]) -> str:
    """How a path is counted, on a turn whose path is not the one due; "" on any other."""
    known, metrics = procedures.of(benchmark), declared(benchmark).card.metrics
    if known is None or trace["predicted_path"] == trace["reference_path"]:
        return ""
    return ". ".join(f"{head_metric(name)}: {metrics[name]}" for name in known.path_scores if name in scores)


def _unread(whole: StoredAttempt, turn: int, asked: int | None) -> None:
    """A turn that was not evaluated: nothing to show, unless a reply failed on it; what a tool refused is no reply."""
    replies = pl.col("where_").is_in(["format", "provider", "customer"]) & (pl.col("type") != "refused")
    failed = whole.failures.filter((pl.col("turn") == turn) & replies)
    if failed.is_empty():
        return
    what, why = name_kind(failed["where_"][0]), list_unread(whole).get(turn)
    sign = "○" if (passing := turn in list_passing(whole)) else "✕"
    with (
        st.container(key=f"cx-turn-{'marked' if turn == asked else 'other'}-{turn}"),
        st.expander(f"{sign} Turn {turn}: {plain(f'{what}: {why}' if why else what)}", expanded=turn == asked),
    ):
        for text in failed["message"]:
            say(text)
        if passing:
            st.caption("This turn is not evaluated, and the verdict does not stand on it.")
        raw = agent_data(whole, turn).get("raw")
        # What came in an unusable reply stands with the message, field by field.
        if raw and not why:
            show_code(str(raw))


def _verdicts(whole: StoredAttempt, turn: int, asked: int | None) -> None:
    """What judges say of a turn that has no procedure to be compared with: a column each."""
    said = whole.judgements.filter((pl.col("turn") == turn) & (pl.col("kind") == "field"))
    if said.is_empty():
        return
    judges = sorted(set(said["judge"]))
    values = {(field, judge): verdict for field, judge, verdict in said.select("field", "judge", "verdict").iter_rows()}
    rows = []
    for field in dict.fromkeys(said["field"]):
        words = [str(values.get((field, judge)) or "–") for judge in judges]
        common = max(words, key=words.count)
        rows.append([(label(field), ""), *((word, "" if word == common else "bad") for word in words)])
    apart = sum(len({word for word, _ in row[1:]}) > 1 for row in rows)
    told = f"apart on {apart} of {len(rows)}" if apart else "all alike"
    with (
        st.container(key=f"cx-turn-{'marked' if turn == asked else 'other'}-{turn}-judges"),
        st.expander(f"Turn {turn}: judges, {told}", expanded=turn == asked, type="compact"),
    ):
        grid(("Verdict", *(short_model(judge).removeprefix("judge-") for judge in judges)), rows)
        cast = whole.votes.filter(pl.col("turn") == turn)
        votes(cast.with_columns(judge=pl.col("judge").str.replace("judge-", "", literal=True)), key=f"cx-votes-{turn}")


def _ways(trace: Mapping[str, Any], last: bool) -> None:
    moves = trace["moves"] or [{"move": "", "stage": stage} for stage in trace["predicted_path"]]
    strip(moves, "Path", trace.get("procedure"))
    if known := procedures.find(trace.get("procedure")):
        went, due_way = (
            " › ".join(known.name(str(stage)) for stage in trace[f"{who}_path"] or ())
            for who in ("predicted", "reference")
        )
        # Steps that were skipped and steps put in are on no way that anybody went.
        st.caption(plain(f"Went: {went or 'nowhere'}" if due_way and due_way != went else went))
        if due_way and due_way != went:
            st.caption(plain(f"Due: {due_way}"))
    given, due = (_name_action(trace, trace[name] or "none") for name in ("predicted_action", "reference_action"))
    # An agent says on each turn what it would do by now, and goes on asking.
    head = "Action" if last else "Action so far"
    if trace["reference_action"] is None:
        strip([("", given)], head)
    elif given == due:
        strip([("sync", given)], head)
    else:
        strip([("inserted", given), ("skipped", due)], head)


def _name_action(trace: Mapping[str, Any], action: str) -> str:
    return name_step(trace.get("procedure"), action)


def _fields(whole: StoredAttempt, trace: Mapping[str, Any]) -> None:
    said, panel, gold = (read_object(trace[f"{who}_fields"]) for who in ("predicted", "panel", "gold"))
    verdicts = whole.judgements.filter((pl.col("turn") == trace["turn"]) & (pl.col("kind") == "field"))
    split = {
        field: len({value for value, status in part.select("verdict", "status").iter_rows() if status == "ok"}) > 1
        for (field,), part in verdicts.group_by("field")
    }
    # Where the panel itself is off, it is no measure: both stand beside the card.
    disputed = trace["error"] in failure_kinds.disputed()
    due, measure = (gold, "gold") if disputed else (panel, "reference")
    rows = []
    for name in dict.fromkeys((*said, *panel, *gold)):
        given, voted, leaf = (show_value(each.get(name)) for each in (said, panel, gold))
        wrong = "bad" if due.get(name) is not None and said.get(name) != due[name] else ""
        off = "bad" if disputed and panel.get(name) not in (None, gold.get(name)) else ""
        note = " (split)" if split.get(name) else ""
        rows.append([
            (name_id(name), ""), (name_id(given), wrong), (name_id(voted) + note, off),
            (name_id(leaf), "" if leaf == voted else "quiet"),
        ])  # fmt: skip
    rows.append(
        [
            ("Action", ""),
            (
                _name_action(trace, trace["predicted_action"]),
                "bad" if trace[f"{measure}_action"] not in (None, trace["predicted_action"]) else "",
            ),
            (
                _name_action(trace, trace["reference_action"] or "–"),
                "bad" if disputed and trace["reference_action"] not in (None, trace["gold_action"]) else "",
            ),
            (_name_action(trace, trace["gold_action"] or "–"), "quiet"),
        ]
    )
    grid(("Field", "Agent read", "Panel says", "Customer's card"), rows)
    for meant in define_fields(trace, list_questions(whole)):
        st.caption(plain(meant))


def _panel(whole: StoredAttempt, trace: Mapping[str, Any], turn: int) -> None:
    cast = whole.votes.filter(pl.col("turn") == turn)
    if cast.is_empty():
        st.caption("No judge read this turn.")
        return
    metric = procedures.single_judge_metrics("whole").get(str(whole.attempt["benchmark"]))
    alone = {
        one["judge"]: score["value"]
        for one in trace.get("single_judges") or ()
        for score in one["scores"]
        if score["key"] == metric
    }
    words = {judge: f"alone {alone[judge]:.1f}" for judge in cast["judge"] if judge in alone}
    votes(
        cast.with_columns(judge=pl.col("judge").str.replace("judge-", "", literal=True)),
        {judge.replace("judge-", ""): word for judge, word in words.items()},
        key=f"cx-votes-{turn}",
    )
    grades = whole.judgements.filter((pl.col("turn") == turn) & (pl.col("kind") == "dimension"))
    if grades.height:
        judges = sorted(set(grades["judge"]))
        value = {
            (field, judge): verdict for field, judge, verdict in grades.select("field", "judge", "verdict").iter_rows()
        }
        grid(
            ("Grade", *(short_model(judge).removeprefix("judge-") for judge in judges)),
            [
                [(label(field), ""), *((str(value.get((field, judge)) or "–"), "") for judge in judges)]
                for field in dict.fromkeys(grades["field"])
            ],
            numbers=range(1, len(judges) + 1),
        )


def origin(whole: StoredAttempt) -> None:
    """Where this comes from: ids, set-up, prompts, code; and every failure as it was recorded."""
    row, run = whole.attempt, whole.run
    if whole.failures.height:
        with st.container(border=True):
            st.markdown("**Failures**")
            for each in whole.failures.iter_rows(named=True):
                where = f"Turn {each['turn']}: " if each["turn"] else ""
                say(f"{where}{each['where_']} {name_fault_type(each['type'])}. {each['message']}")
    with st.expander("Where this comes from"):
        facts = [
            ("Attempt", row["attempt_id"]),
            ("Run", row["run_id"]),
            ("Sample", row["sample_id"]),
            ("Trial", str(row["trial"])),
        ]
        facts += [
            ("Dataset", str(run.get("dataset_id", "–"))),
            ("Seed", str(run.get("seed", "–"))),
            ("Code", str(run.get("code", "–"))),
            ("Scorer", ", ".join(whole.scores["scorer"].drop_nulls().unique().sort()) or "–"),
        ]
        prompts = run.get("prompts") or {}
        facts += [
            (name, str(value))
            for name, value in prompts.items()
            if "/" not in name or name.endswith(f"/{row.get('scenario')}")
        ]
        grid(("What", "Id"), [[(name, "quiet"), (value, "")] for name, value in facts])


def scroll_to(turn: int) -> None:
    """Bring a turn into view once, when it is newly asked for."""
    if st.session_state.get("cx-scrolled") == (st.query_params.get("attempt"), turn):
        return
    st.session_state["cx-scrolled"] = (st.query_params.get("attempt"), turn)
    # Our own constant script with a number in it: nothing from the store can get here.
    st.html(
        "<script>setTimeout(() => {"
        f"const n = {int(turn)}, pick = (which) => document.querySelector(which);"
        # What was looked for, else what was said, else the tables below it.
        "const found = pick(`[class*=cx-said-marked-${n}-] .cx-sought, [class*=cx-turn-marked-${n}-said] .cx-sought`)"
        "?? pick(`[class*=cx-said-marked-${n}-], [class*=cx-turn-marked-${n}-said]`)"
        "?? pick(`.st-key-cx-turn-marked-${n}, .st-key-cx-turn-marked-${n}-judges, .st-key-cx-reply-marked-${n}`);"
        "found?.scrollIntoView({block: found.offsetHeight > innerHeight ? 'start' : 'center'}); }, 350)</script>",
        unsafe_allow_javascript=True,
    )


def agent_data(whole: StoredAttempt, turn: int) -> dict[str, Any]:
    """What the agent's reply on a turn held beside its text: fields, path, action, reasoning, raw."""
    part = whole.messages.filter((pl.col("turn") == turn) & (pl.col("role") == "agent"))
    return read_object(part["data"][0]) if part.height else {}


def _named(words: Mapping[str, str], value: object) -> str:
    return words.get(str(value), str(value))
