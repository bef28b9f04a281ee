"""One split of a review: what was said, the decision, and once it is made who judged what and what the truth is."""

import json
from collections.abc import Mapping

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.charts.matrix import name_judge
from cxlab.charts.names import begin, name_id
from cxlab.charts.numbers import format_points
from cxlab.read import StoredAttempt, View, decisions, procedures
from cxlab.records.evaluation import MEASURED
from cxlab.records.metric_names import name_metric
from cxlab.ui.address import cached, here, link, set_view
from cxlab.ui.annotations import annotate, ask_author, withdraw
from cxlab.ui.app_frame import is_large
from cxlab.ui.labels import label, plain, say, section, show_code
from cxlab.ui.path_strips import grid, strip
from cxlab.ui.transcript import transcript
from cxlab.views.benchmarks import questions_of
from cxlab.views.failures.attempt_answer import show_given
from cxlab.views.judges import corrections, queries_review
from cxlab.views.judges.judge_columns import name_labels

Step = tuple[str, str, int, str]
"""One item: run, attempt, turn, field."""
_KEYS = "123456789"
_HEIGHT = 480
# So that on a screen of 768 px the question and the beginning of what the judges said stand beside and below it.
_LARGE_HEIGHT = 400
_VOTES_A_ROW = 3
_NO_VERDICT = {"oov": "none of the options", "missing": "nothing of this", "failed": "nothing readable"}


def show_item(
    at: Step,
    steps: tuple[Step | None, Step | None],
    blind: bool,
    me: str,
    decided: pl.DataFrame,
    states: pl.DataFrame,
) -> None:
    """What was said up to the turn beside the decision; the rest is shown when it is made, or at once if not blind."""
    run_id, attempt_id, turn, field = at
    _show_decided(at, me)
    whole = read.attempt(run_id, attempt_id)
    said = queries_review.said_of(whole, turn, field)
    if said.is_empty():
        st.info(plain(f"No judge was asked about “{field}” on turn {turn} of this attempt; go to the next one."))
        _show_steps(steps)
        return
    rows = decided.filter(
        (pl.col("run_id") == run_id) & (pl.col("attempt_id") == attempt_id)
        & (pl.col("turn") == turn) & (pl.col("field") == field)
    )  # fmt: skip
    mine = rows.filter((pl.col("rater") == me) & (pl.col("kind") == "adjudication"))
    shown = not blind or not mine.is_empty()
    left, right = st.columns([6, 5], gap="large")
    with left, st.container(height=_LARGE_HEIGHT if is_large() else _HEIGHT, key="cx-review-talk", autoscroll=True):
        _show_said(whole, turn)
    with right:
        graded = "How would you grade " if said["kind"][0] == "dimension" else ""
        section(plain(begin(f"{graded}{name_id(field)}, turn {turn}?")), _say_task(whole))
        _show_question(whole, field)
        options = _list_options(whole, said, field)
        _show_decision(at, options, mine, me, steps[1])
        _show_steps(steps)
        if shown:
            _show_others(at, rows, states, options, me)
            settled = decisions.settled(states).filter(
                (pl.col("run_id") == run_id) & (pl.col("attempt_id") == attempt_id)
                & (pl.col("turn") == turn) & (pl.col("field") == field)
            )  # fmt: skip
            own = str(settled["value"][0]) if settled.height else ""
            corrections.show_effect(whole, at, states, own, _read_panel(whole, turn, field, said))
            _show_truth(whole, turn, field, said)
        else:
            st.caption("Verdicts, model, truth and other raters are shown once you have decided.")
    if shown:
        with st.container(key="review-votes"):
            _show_votes(whole, said)
        _lead_to_votes()


def _say_task(whole: StoredAttempt) -> str:
    if whole.messages.height and not whole.traces.is_empty():
        return "Read up to this turn; the customer's last word on a thing counts."
    return "Judge what is shown, as the judges had to."


def _show_question(whole: StoredAttempt, field: str) -> None:
    """What judges of this attempt were asked of the field, an option a line; nothing where that is not declared."""
    benchmark = str(whole.attempt["benchmark"])
    known = REGISTRY[benchmark].facets if benchmark in REGISTRY else ()
    facets = {each.id: str(value) for each in known if (value := whole.attempt.get(each.id))}
    options = dict(whole.run["setup"].get("options") or {})
    text = cached(questions_of, benchmark, facets, options).get(field, "")
    if not text:
        return
    first, *options_of = name_labels(text).splitlines()
    with st.container(border=True, gap="small"):
        st.markdown("**What the judges were asked**")
        st.markdown(plain(first))
        if options_of:
            st.caption("\n".join(f"- {plain(line.strip().removeprefix('* '))}" for line in options_of))
        if cached(_has_other_prompts, benchmark, whole.run["prompts"]):
            st.caption("Some prompts have changed since this run; these are today's words.")


def _has_other_prompts(benchmark: str, kept: Mapping[str, str]) -> bool:
    """Whether a prompt of a run is another today."""
    now = REGISTRY[benchmark].prompts()
    return any(now[name] != hash for name, hash in kept.items() if name in now)


def _show_said(whole: StoredAttempt, turn: int) -> None:
    """The dialogue up to the turn; of a task without one what the model was given and what it said."""
    if whole.messages.height:
        transcript(whole.messages.filter(pl.col("turn") <= turn), key="review", turn=turn)
        return
    show_given(whole)
    output = whole.attempt["output"] or {}
    st.markdown("**What the model answered**")
    for name in ("label", "response", "reason"):
        if output.get(name):
            st.caption(label(name).capitalize())
            say(str(output[name]))
    with st.expander("What was expected (may tell the answer)", type="compact"):
        expected = whole.sample.get("expected") or {}
        grid(("", "Expected"), [[(label(name), "quiet"), (str(value), "")] for name, value in expected.items()])


def _list_options(whole: StoredAttempt, said: pl.DataFrame, field: str) -> list[str]:
    """What can be decided: the options that the procedure declares, else all that judges ever said of this field."""
    known = procedures.find(str(whole.attempt.get(procedures.facet_of(str(whole.attempt["benchmark"]))) or ""))
    if known and known.fields.get(field):
        return list(known.fields[field])
    return cached(queries_review.verdicts_of, str(whole.attempt["benchmark"]), str(said["kind"][0]), field)


_LOOK = "review-look-at-votes"
_DECIDED = "review-decided"
"""In the session: (item, its annotation, value) of what was decided last, to be taken back or looked at further on."""


def _show_decided(at: Step, me: str) -> None:
    """What was decided a step before, which one has left for the next."""
    kept = st.session_state.get(_DECIDED)
    if not kept or kept[0] == at:
        return
    before, id, value = kept
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"✓ {begin(name_id(before[3]))}, turn {before[2]}: {name_id(value)}"), width="content")
        # By callbacks: an address that is written within a run which is then begun anew comes a click late.
        st.button("Take it back", key="review-back", type="tertiary", shortcut="z",
                  on_click=_take_back, args=(before, id, me))  # fmt: skip
        st.button("See what the judges said", key="review-look", type="tertiary", shortcut="l",
                  on_click=_look_at, args=(before,))  # fmt: skip


def _look_at(at: Step) -> None:
    st.session_state[_LOOK] = True
    _go_to(at)


def _lead_to_votes() -> None:
    """Bring what the judges said into view, once, for who asked to see it."""
    if st.session_state.pop(_LOOK, False):
        # Our own constant script: nothing from the store can get here.
        st.html(
            "<script>setTimeout(() => document.querySelector('.st-key-review-votes')?.scrollIntoView({block: 'end'}), "
            "500)</script>",
            unsafe_allow_javascript=True,
        )


def _take_back(at: Step, id: str, me: str) -> None:
    withdraw(id, at[0], at[1], me)
    del st.session_state[_DECIDED]
    _go_to(at)


def _decide(at: Step, option: str, why_key: str, following: Step | None) -> None:
    """Keep the decision, and why where that was written, and go on to the next item."""
    run_id, attempt_id, turn, field = at
    st.session_state[_DECIDED] = (at, annotate("adjudication", run_id, attempt_id, option, turn, field), option)
    annotate("note", run_id, attempt_id, st.session_state.get(why_key, ""), turn, field)
    _go_to(following)


def _show_decision(at: Step, options: list[str], mine: pl.DataFrame, me: str, following: Step | None) -> None:
    """A button and a key for each verdict, which lead to the next item; what was decided can be taken back."""
    run_id, attempt_id, *_ = at
    if mine.height:
        row = mine.row(0, named=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"✓ You decided: **{plain(name_id(row['value']))}**")
            if st.button("Undo", key="review-undo", type="tertiary", shortcut="z", help="The store keeps both."):
                withdraw(row["id"], run_id, attempt_id, me)
                st.rerun()
        return
    if not me:
        # Right above what waits for it.
        ask_author(empty=True)
        st.caption(
            "The verdicts below wait for your name: it goes with each decision, so that two raters can be compared. "
            "Type it and press Enter."
        )
    why_key = f"review-why-{'/'.join(map(str, at))}"
    st.text_input(
        "Why", key=why_key, placeholder="why, if you like to say so, then your verdict",
        label_visibility="collapsed", max_chars=2000, disabled=not me,
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        keys: list[str | None] = [*_KEYS[: len(options)], *[None] * (len(options) - len(_KEYS)), "0"]
        for key, option in zip(keys, [*options, decisions.CANNOT_TELL], strict=True):
            st.button(
                plain(name_id(option)), key=f"review-say-{option}", shortcut=key, disabled=not me,
                on_click=_decide, args=(at, option, why_key, following),
            )  # fmt: skip


def _show_steps(steps: tuple[Step | None, Step | None]) -> None:
    with st.container(horizontal=True, gap="small"):
        for words, key, target in (("Previous", "p", steps[0]), ("Next", "n", steps[1])):
            st.button(
                words, key=f"review-{key}", shortcut=key, disabled=target is None,
                type="primary" if key == "n" else "secondary", on_click=_go_to, args=(target,),
            )  # fmt: skip


def _go_to(target: Step | None) -> None:
    if target is not None:
        run_id, attempt_id, turn, field = target
        set_view(here().change(attempt=f"{run_id}/{attempt_id}", turn=turn, field=field))


def _show_others(at: Step, rows: pl.DataFrame, states: pl.DataFrame, options: list[str], me: str) -> None:
    """What other raters decided; where they differ, how that was settled, or the buttons that settle it."""
    run_id, attempt_id, turn, field = at
    others = rows.filter((pl.col("rater") != me) & (pl.col("kind") == "adjudication")).sort("rater")
    for rater, value in others.select("rater", "value").iter_rows():
        st.markdown(f"{plain(rater)} decided: **{plain(name_id(value))}**")
    found = states.filter(
        (pl.col("run_id") == run_id) & (pl.col("attempt_id") == attempt_id)
        & (pl.col("turn") == turn) & (pl.col("field") == field)
    )  # fmt: skip
    state = found.row(0, named=True) if found.height else {}
    if state.get("state") == "resolved":
        entry = rows.filter(pl.col("kind") == "resolution").row(0, named=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Settled by {plain(state['by'])}: **{plain(name_id(state['value']))}**")
            if st.button("Reopen", key="review-reopen", type="tertiary"):
                withdraw(entry["id"], run_id, attempt_id, me)
                st.rerun()
    elif state.get("state") == "conflict":
        with st.container(border=True):
            st.markdown("**! Raters differ.** The score stays as the judges have it until this is settled.")
            with st.container(horizontal=True, gap="small"):
                said = list(dict.fromkeys(state["values"]))
                for option in [*said, *(each for each in options if each not in said)]:
                    if st.button(
                        f"Settle as {plain(name_id(option))}",
                        key=f"review-settle-{option}",
                        type="tertiary",
                        disabled=not me,
                    ):
                        annotate("resolution", run_id, attempt_id, option, turn, field)
                        st.rerun()


def _show_truth(whole: StoredAttempt, turn: int, field: str, said: pl.DataFrame) -> None:
    """What is known of the field: what the customer was made from, or the world's log; and who the model is."""
    lines = [[("The model", "quiet"), (label(str(whole.attempt["model"])), "")]]
    trace = whole.traces.filter(pl.col("turn") == turn)
    names = {"predicted": "The agent read", "panel": "The panel", "gold": "The customer was made with"}
    if trace.height:
        values = {name: trace[f"{name}_fields"][0] for name in names}
        lines += [[(words, "quiet"), (_value(values[name], field), "")] for name, words in names.items()]
    log = said.filter(pl.col("judge") == MEASURED)
    if log.height:
        lines.append([(_name_log(whole, field), "quiet"), (name_id(log["verdict"][0]), "")])
    grid(("", name_id(field)), lines)


def _read_panel(whole: StoredAttempt, turn: int, field: str, said: pl.DataFrame) -> str:
    """What the panel came to: as it was kept with the turn, else what more judges said than anything else; else ""."""
    trace = whole.traces.filter(pl.col("turn") == turn)
    if trace.height and (value := json.loads(trace["panel_fields"][0] or "{}").get(field)) is not None:
        return str(value)
    judges = said.filter((pl.col("judge") != MEASURED) & (pl.col("status") == "ok"))
    counted = judges.group_by("verdict").len().sort("len", descending=True)
    if counted.is_empty() or (counted.height > 1 and counted["len"][0] == counted["len"][1]):
        return ""
    return str(counted["verdict"][0])


def _name_log(whole: StoredAttempt, field: str) -> str:
    """What the log's word on a field is: a fact, or a rule's reading."""
    both_ways = REGISTRY[name].judged if (name := str(whole.attempt["benchmark"])) in REGISTRY else None
    return "A rule reads" if both_ways and field in both_ways.opinions else "The log has"


def _value(fields: str | None, name: str) -> str:
    value = json.loads(fields or "{}").get(name)
    return "–" if value is None else name_id(value)


def _show_votes(whole: StoredAttempt, said: pl.DataFrame) -> None:
    """Every judge's verdict, the way that it would lead alone, and its reasons."""
    procedure = str(whole.attempt.get(procedures.facet_of(str(whole.attempt["benchmark"]))) or "")
    judges = said.filter(pl.col("judge") != MEASURED)
    for start in range(0, judges.height, _VOTES_A_ROW):
        rows = judges.slice(start, _VOTES_A_ROW).iter_rows(named=True)
        for place, row in zip(st.columns(min(judges.height, _VOTES_A_ROW)), rows, strict=False):
            with place, st.container(border=True, height="stretch"):
                verdict = _NO_VERDICT.get(row["status"], row["verdict"])
                st.markdown(f"**{plain(name_judge(row['judge']))}** says **{plain(name_id(verdict))}**")
                if row["path"]:
                    strip([("", stage) for stage in (*row["path"], row["action"])], procedure=procedure)
                if row["points"] is not None:
                    st.caption(plain(f"Alone: {name_metric(row['metric'])} {format_points(row['points'])}"))
                say(row["rationale"] or "No rationale was given.")
                with st.popover("Raw reply", type="tertiary", key=f"review-raw-{row['judge']}"):
                    show_code(row["raw"] or "")
    link(
        "Open the whole dialogue",
        "failures",
        View(attempt=f"{whole.attempt['run_id']}/{whole.attempt['attempt_id']}"),
    )
