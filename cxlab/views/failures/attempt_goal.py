"""A dialogue with a goal, in full: what it was about and under which terms, how it came out, and by what measure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.contract import JudgedMetrics
from cxlab.charts.numbers import format_count, format_points, format_ratio
from cxlab.read import StoredAttempt
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.ui import transcript_html
from cxlab.ui.labels import chip, label, plain, say
from cxlab.ui.path_strips import grid
from cxlab.views.failures.sounds import find_sound
from cxlab.word_forms import Sought

# Shares are in points from 0 to 100, these are counts and ratios.
_COUNTS = ("turns", "user_effort_count", "recovery_turn_count")
_PARTS = {
    "db": "both sides' rows are as after the gold actions",
    "communicate": "the customer was told what was asked for",
    "bystanders": "nothing of another customer was changed",
    "nl_assertions": "what was to hold in words",
}
_SPELLED = {"env_assertions": "ENV_ASSERTION", "actions": "ACTION", "db": "DB"}
Cells = list[tuple[str, str]]


def show_terms(whole: StoredAttempt, about: Declaration) -> None:
    """Under which terms it was played, as chips: the facets that do not name the situation."""
    row, output = whole.attempt, whole.attempt["output"] or {}
    for facet in about.facets:
        value = row.get(facet.id)
        if value is None or facet.identifies or facet.spread or not facet.order:
            continue
        rate = f", {100 * float(output['wer']):.0f} % misheard" if facet.id == "modality" and output.get("wer") else ""
        chip(f"{facet.title}: {about.value(facet.id, value)}{rate}", "gray", facet.meaning or None)


def show_dialogue(whole: StoredAttempt, asked: int | None, after: Callable[[int], None], sought: Sought) -> None:
    """All that was said and done, turn by turn; `after(turn)` draws what belongs below a turn, what is `sought` is
    marked."""
    transcript_html.style()
    found = transcript_html.read_lines(whole.messages)
    spoken = [line for line in found if line.meant is not None]
    transcripts = False
    if spoken:
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            transcripts = st.toggle(
                "All three transcripts", key="cx-transcripts",
                help="Meant: as it was written. Ideal: what a faultless recogniser would have noted. Heard: what the "
                "other side got; struck out is what was not heard, underlined what was heard instead.",
            )  # fmt: skip
            st.caption(f"{format_count(sum(line.wer > 0 for line in spoken))} of {len(spoken)} messages were misheard.")
    run_id, setup = str(whole.attempt["run_id"]), whole.run.get("setup") or {}
    sounds = {line.sound: path for line in spoken if (path := find_sound(run_id, setup, line.sound))}
    listen = bool(sounds) and st.toggle("Listen to what was spoken", key="cx-sounds")
    turns = dict.fromkeys(line.turn for line in found)
    for turn in turns:
        with st.container(key=f"cx-turn-{'marked' if turn == asked else 'other'}-{turn}-said", gap="xsmall"):
            lines = [line for line in found if line.turn == turn]
            transcript_html.draw(lines, asked=asked, transcripts=transcripts, sought=sought)
            for line in found if listen else ():
                if line.turn == turn and line.sound in sounds:
                    st.audio(str(sounds[line.sound]))
        after(turn)


def show_goal(whole: StoredAttempt) -> None:
    """What the customer wanted and knew, and what the task asks of the agent."""
    inputs, expected, row = whole.sample.get("inputs") or {}, whole.sample.get("expected") or {}, whole.attempt
    known: Mapping[str, Any] = inputs.get("known") or {}
    with st.container(border=True):
        st.markdown("**Goal and terms**")
        say(str(known.get("reason") or "The task does not say why the customer gets in touch."))
        for each in known.get("wishes") or ():
            say(f"· {each}")
        if known.get("instructions"):
            with st.expander("Instructions to the customer", type="compact"):
                say(str(known["instructions"]))
        about: list[tuple[str, str]] = [("Domain", label(row["task"] or "–"))]
        about += [("What is the matter", ", ".join(label(str(each)) for each in inputs.get("issues") or ()))]
        about += [(label(str(name)).capitalize(), _text(value)) for name, value in (known.get("facts") or {}).items()]
        about += [("Not known to the customer", ", ".join(label(str(each)) for each in known.get("unknown") or ()))]
        fields = expected.get("critical_fields") or {}
        about += [("To be got right", ", ".join(f"{label(name)} {_text(each)}" for name, each in fields.items()))]
        about += [("Cannot be undone", ", ".join(map(str, expected.get("irreversible") or ())))]
        about += [("Turns at best", str(expected["optimal_turns"]) if expected.get("optimal_turns") else "")]
        if "transfer_right" in expected:
            about += [("To be handed over", "yes" if expected["transfer_right"] else "no")]
        grid(("What was true", ""), [[(name, "quiet"), (text, "")] for name, text in about if text])


def show_due(whole: StoredAttempt) -> None:
    """The gold actions and what must hold in the end, each with whether it came to be, and what of it counts."""
    expected, output = whole.sample.get("expected") or {}, whole.attempt["output"] or {}
    reward = output.get("reward") or {}
    checks = reward.get("checks") or {}
    basis = reward.get("basis") or expected.get("reward_basis") or ()
    with st.container(border=True):
        st.markdown("**What had to hold in the end**")
        ends = [
            _check(_assertion(each), None if mark is None else bool(mark.get("met")))
            for each, mark in _paired(expected.get("assertions"), checks.get("env_assertions"))
        ]
        parts = [
            _check(words, reward[part] == 1)
            for part, words in _PARTS.items()
            if isinstance(reward.get(part), int | float) and _counts(part, basis)
        ]
        whole_part = reward.get("env_assertions")
        if ends and not checks and isinstance(whole_part, int | float):
            # A result file marks them together.
            ends.append(_check("all of these, taken together", whole_part == 1))
        if ends or parts:
            grid(("", "In the end"), [*ends, *parts])
        for each in expected.get("nl_assertions") or ():
            say(f"In words: {each}")
        # fmt: off
        steps: list[Cells] = [
            [*_check(_action(each), None if mark is None else bool(mark.get("matched"))),
             (str(each.get("side", "")), "quiet")]
            for each, mark in _paired(expected.get("gold"), checks.get("actions"))
        ]
        # fmt: on
        if steps:
            st.caption("The gold actions" + ("" if _counts("actions", basis) else ", one way to get there; not marked"))
            grid(("", "Action", "Whose"), steps)
        if not (ends or parts or steps):
            st.caption("The file that this came from does not say.")


def show_profiles(whole: StoredAttempt) -> None:
    """The versions of the profile that the agent inferred, side by side, each with the turn from which it held."""
    versions = (whole.attempt["output"] or {}).get("profiles") or ()
    versions = [each for each in versions if isinstance(each, dict) and isinstance(each.get("profile"), dict)]
    if not versions:
        return
    with st.container(border=True):
        count = f"{len(versions)} {'version' if len(versions) == 1 else 'versions'}"
        st.markdown(f"**The inferred profile, {count}**")
        names = list(dict.fromkeys(name for each in versions for name in each["profile"]))
        telling = [name for name in names if not isinstance(versions[-1]["profile"].get(name), str)]
        rows: list[Cells] = [
            [(label(name), "quiet"), *((_text(each["profile"].get(name)), "") for each in versions)] for name in telling
        ]
        if rows:
            grid(("From turn", *(str(each.get("turn", "?")) for each in versions)), rows, range(1, len(versions) + 1))
        told = [
            (each.get("turn", "?"), "; ".join(str(v) for k, v in each["profile"].items() if k not in telling and v))
            for each in versions
        ]
        if any(words for _, words in told):
            last = [words for _, words in told if words][-1]
            with st.expander(plain(f"In words, at last: {last}"), type="compact"):
                why = [str(each.get("reasoning") or "") for each in versions]
                rows = [
                    [(str(turn), ""), (words, ""), (each, "quiet")]
                    for (turn, words), each in zip(told, why, strict=True)
                ]
                grid(("From turn", "What the agent took it for", "Why"), rows)


def show_figures(whole: StoredAttempt, definitions: Mapping[str, str], both_ways: JudgedMetrics | None) -> None:
    """Every figure, as it was measured beside as it was judged; what could not be scored with its reason. `both_ways`
    says of which ones judges were asked something else."""
    otherwise = both_ways.otherwise if both_ways else frozenset()
    part = whole.scores.filter(pl.col("turn").is_null())
    values = {metric: (value, reason) for metric, value, reason in part.select("metric", "value", "reason").iter_rows()}
    own = [name for name in values if not name.startswith("judged_")]
    order = {name: place for place, name in enumerate(definitions)}
    both = sorted((name for name in own if f"judged_{name}" in values), key=lambda name: order.get(name, 99))
    alone = sorted((name for name in own if name not in both), key=lambda name: order.get(name, 99))
    with st.expander("Measured and judged" if both else f"All {part.height} figures", expanded=bool(both)):
        rows: list[Cells] = []
        asked_otherwise = False
        for name in both:
            (mine, why), (theirs, _) = values[name], values[f"judged_{name}"]
            if mine is None and theirs is None:
                continue
            apart = mine is not None and theirs is not None and abs(mine - theirs) > 1e-6
            differs = "judges were asked another thing" if name in otherwise else "apart"
            note = str(why or "") if mine is None else differs if apart else ""
            asked_otherwise = asked_otherwise or (apart and name in otherwise)
            rows.append(
                [(name_metric(name), ""), (_points(name, mine), ""), (_points(name, theirs), ""), (note, "quiet")]
            )
        if rows:
            grid(("Figure", "Measured", "Judged", ""), rows, [1, 2])
        if both_ways and asked_otherwise:
            st.caption(plain(both_ways.note))
        rest: list[Cells] = [
            [(name_metric(name), ""), (_points(name, values[name][0]), ""), (str(values[name][1] or ""), "quiet")]
            for name in alone
            if name != "right"
        ]
        if rest:
            grid(("Figure", "Measured" if both else "", ""), rest, [1])
        neither = [name for name in both if values[name][0] is None and values[f"judged_{name}"][0] is None]
        if neither:
            st.caption(plain("Neither measured nor judged: " + ", ".join(
                f"{name_metric(name)} ({values[name][1]})" if values[name][1] else name_metric(name) for name in neither
            )))  # fmt: skip


def _paired(due: Any, marks: Any) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """What was due, each with its mark; without marks None."""
    listed = [each for each in due or () if isinstance(each, dict)]
    found: Sequence[Any] = marks if isinstance(marks, list) and len(marks) == len(listed) else [None] * len(listed)
    return list(zip(listed, found, strict=True))


def _check(words: str, done: bool | None) -> Cells:
    return [("–" if done is None else "✓" if done else "", "bad" if done is False else ""), (words, "")]


def _assertion(each: Mapping[str, Any]) -> str:
    """ "internet speed: expected speed 200, expected desc excellent" of a function of the world and its arguments."""
    name = label(str(each.get("func_name") or "?").removeprefix("assert_"))
    must = "" if each.get("assert_value", True) else "not: "
    told = ", ".join(f"{label(str(key))} {_text(value)}" for key, value in (each.get("arguments") or {}).items())
    return f"{must}{name}" + (f": {told}" if told else "")


def _action(each: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key} {_text(value)}" for key, value in (each.get("arguments") or {}).items())
    return f"{each.get('tool') or each.get('name') or '?'}" + (f" ({given})" if given else "")


def _counts(part: str, basis: Sequence[str]) -> bool:
    return not basis or _SPELLED.get(part, part.upper()) in basis


def _points(name: str, value: float | None) -> str:
    return format_ratio(value) if value is not None and name.endswith(_COUNTS) and value % 1 else format_points(value)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
