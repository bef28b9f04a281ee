"""Two attempts on one sample side by side, with everything that differs marked."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.failure_names import spell_programs
from cxlab.charts.numbers import format_points
from cxlab.read import StoredAttempt, View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric
from cxlab.ui import transcript_html
from cxlab.ui.address import cached, link
from cxlab.ui.app_frame import colours
from cxlab.ui.labels import label, plain, section
from cxlab.ui.path_strips import style
from cxlab.ui.render import render
from cxlab.ui.tables import column, show_table
from cxlab.views.compare.alignment import Pair, align, differs
from cxlab.views.failures import attempt_answer
from cxlab.views.failures.attempt_verdict import SIGNS, say_verdict, verdict_of


def show_side_by_side(about: Declaration, first: tuple[str, str], second: tuple[str, str]) -> None:
    """Both dialogues line beside line with every difference marked, or both answers beside what was due."""
    leading, headline = about.card.leading, about.card.headline
    sides = [cached(read.attempt, *first), cached(read.attempt, *second)]
    names = [label(side.attempt["model"]) for side in sides]
    if about.attempt_view == "answer" or all(side.messages.is_empty() for side in sides):
        _show_answers(about, sides, names)
        return
    style()
    transcript_html.style()
    pairs = align(*(transcript_html.read_lines(side.messages) for side in sides))
    apart = [pair for pair in pairs if differs(pair)]
    section(f"{plain(names[0])} and {plain(names[1])} on the same customer", _tell(pairs, apart))
    rows = compare_turns(sides[0], sides[1], headline)
    if rows.height:
        columns = {
            "turn": column("Turn", "count", width="small"),
            "differs": column("Differs in", help="What is not the same on both sides."),
            "way_1": column(f"Way: {names[0]}"),
            "way_2": column(f"Way: {names[1]}"),
            "action_1": column(f"Action: {names[0]}"),
            "action_2": column(f"Action: {names[1]}"),
            "score_1": column(f"{head_metric(headline)}: {names[0]}", "points"),
            "score_2": column(f"{head_metric(headline)}: {names[1]}", "points"),
        }
        show_table(rows, columns, key="duel-turns", alt="What differs between the two attempts, turn by turn.")
    for spot, side, name in zip(st.columns(2, gap="medium"), sides, names, strict=True):
        with spot:
            scores = side.own_scores()
            told = ", ".join(f"{head_metric(key)} {format_points(scores[key])}" for key in leading if key in scores)
            st.markdown(f"**{plain(name)}**")
            st.caption(plain(f"{told or 'not scored'} · ended by {about.end_of(side.attempt)}"))
            run_id, attempt_id = side.attempt["run_id"], side.attempt["attempt_id"]
            turn = next((line.turn for pair in apart if (line := pair[sides.index(side)])), None)
            link(
                "Open this dialogue", "failures",
                View(benchmark=side.attempt["benchmark"]).open(run_id, attempt_id, turn or None),
            )  # fmt: skip
            say_verdict(side)
    shown, st.session_state["cx-duel"] = st.session_state.get("cx-duel"), (first, second)
    _draw_pairs(pairs, [verdict_turn(side, name) for side, name in zip(sides, names, strict=True)],
                fresh=shown != (first, second))  # fmt: skip


def verdict_turn(side: StoredAttempt, name: str) -> tuple[int, str, str] | None:
    """The turn on which the verdict of a side stands, where it did not pass; the words that stand there, and those of
    the way to it. None of one whose end alone is judged."""
    turn, verdict = side.attempt.get("verdict_turn"), verdict_of(side)
    if turn is None or verdict == "passed":
        return None
    reason = spell_programs(str(side.attempt.get("verdict_reason") or ""))
    why = f"{SIGNS[verdict][0][:1]} The verdict on {name} stands on this turn{reason and f': {reason}'}"
    return int(turn), why, f"Turn {turn}: where {name} {'failed' if verdict == 'failed' else 'got no verdict'}"


def place_verdicts(pairs: Sequence[Pair], verdicts: Sequence[tuple[int, str, str] | None]) -> list[list[str]]:
    """For each pair and side the words of the verdict that stands there, "" where none does: on the first line of the
    agent in its turn, or of anybody where the agent has none."""
    told = [["", ""] for _ in pairs]
    for side, verdict in enumerate(verdicts):
        lines = [(place, line) for place, pair in enumerate(pairs) if (line := pair[side]) is not None]
        there = [(place, line.role) for place, line in lines if verdict and line.turn == verdict[0]]
        if verdict and there:
            told[next((place for place, role in there if role == "agent"), there[0][0])][side] = verdict[1]
    return told


def _tell(pairs: Sequence[Pair], apart: Sequence[Pair]) -> str:
    """Where they part, and in how much, in a sentence."""
    if not apart:
        return "They say and do the same from beginning to end."
    turn = next(line.turn for line in apart[0] if line)
    alone = [sum(pair[side] is not None and pair[1 - side] is None for pair in apart) for side in (0, 1)]
    return (
        f"They part in {f'turn {turn}' if turn else 'the greeting'}. {len(apart)} of {len(pairs)} lines differ: "
        f"{len(apart) - sum(alone)} are worded or done otherwise, {alone[0]} stand only on the left, {alone[1]} "
        "only on the right. Marked words are not on the other side."
    )


def _draw_pairs(pairs: Sequence[Pair], verdicts: Sequence[tuple[int, str, str] | None], fresh: bool) -> None:
    """Both sides in one list that begins at the first difference; two buttons go from one to the next, and one for each
    side to where its verdict stands (`verdicts`, as `verdict_turn`).

    `fresh`: they were not on the page before, so the page goes to them.
    """
    ink = colours()
    cells, place = [], 0
    marks = place_verdicts(pairs, verdicts)
    jumps = [(side, verdict[2]) for side, verdict in enumerate(verdicts) if verdict and any(row[side] for row in marks)]
    for (one, two), why in zip(pairs, marks, strict=True):
        apart = differs((one, two))
        place += apart
        marked = transcript_html.mark_changes(one.text, two.text) if apart and one and two else (None, None)
        sides = [
            transcript_html.to_html(line, text) if line else "" for line, text in zip((one, two), marked, strict=True)
        ]
        cells.append({"place": place if apart else 0, "sides": list(zip(sides, why, strict=True))})
    st.html(
        f"""<style>
    .cx-duel {{max-height: 74vh; overflow-y: auto; border: 1px solid {ink.hairline}; border-radius: .4rem;
      padding: .6rem .8rem; position: relative;}}
    .cx-duel section {{display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: 0 .4rem;
      border-left: 4px solid transparent;}}
    .cx-duel section.apart {{border-left-color: {ink.warning};}}
    .cx-duel section.now {{background: {ink.raised};}}
    .cx-duel section > div {{min-width: 0;}}
    .cx-duel .verdict {{outline: 2px solid {ink.bad}; outline-offset: -2px; border-radius: .4rem;}}
    .cx-duel .why {{color: {ink.bad}; font-size: .8rem; font-weight: 600; padding: .3rem .7rem 0;
      overflow-wrap: anywhere;}}
    .cx-steps button.jump {{border-color: {ink.bad}; margin-left: .5rem;}}
    .cx-duel .none {{color: {ink.muted}; font-size: .78rem; padding: .3rem .7rem;}}
    .cx-duel .cx-line mark {{background: {ink.warning}40; color: {ink.ink}; border-bottom: 2px solid {ink.warning};
      border-radius: 2px;}}
    .cx-steps {{font-size: .85rem; color: {ink.muted}; margin-bottom: .4rem;}}
    .cx-steps button {{font: inherit; color: {ink.ink}; background: {ink.raised}; border: 1px solid {ink.hairline};
      border-radius: .4rem; padding: .2rem .7rem; margin-right: .5rem; cursor: pointer;}}
    </style>"""
    )
    st.html(render("cxlab.views.compare:pairs", places=place, pairs=cells, jumps=jumps))
    if place or jumps:
        # Our own constant script: it only looks for the marks above, and nothing from the store is in it.
        come = "bar.scrollIntoView({block: 'start'});" if fresh else ""
        st.html(f"<script>{_WALK.replace('/* come */', come)}</script>", unsafe_allow_javascript=True)


_WALK = """
setTimeout(() => {
  const all = [...document.querySelectorAll('.cx-duel section.apart')], list = document.querySelector('.cx-duel');
  const bar = document.querySelector('.cx-steps');
  if (!list || !bar) return;
  for (const each of bar.querySelectorAll('.jump')) {
    const there = document.querySelector(`.cx-duel .verdict[data-side="${each.dataset.side}"]`);
    if (there) each.onclick = () => { list.scrollTop = there.parentElement.offsetTop - list.clientHeight / 4; };
  }
  /* come */
  if (!all.length) return;
  let at = 0;
  const go = (next) => {
    all[at].classList.remove('now');
    at = (next + all.length) % all.length;
    all[at].classList.add('now');
    list.scrollTop = all[at].offsetTop - list.clientHeight / 4;
    bar.querySelector('span').textContent = at + 1;
  };
  bar.querySelector('.back').onclick = () => go(at - 1);
  bar.querySelector('.on').onclick = () => go(at + 1);
  go(0);
}, 350);
"""


def _show_answers(about: Declaration, sides: Sequence[StoredAttempt], names: Sequence[str]) -> None:
    """Two answers to one question: what was given once, then each one's answer beside what was due."""
    st.markdown(f"**{plain(names[0])} and {plain(names[1])} on the same sample**")
    style()
    with st.expander("What both were given"):
        attempt_answer.show_given(sides[0])
    for place, (spot, side, name) in enumerate(zip(st.columns(2, gap="medium"), sides, names, strict=True)):
        with spot:
            st.markdown(f"**{plain(name)}**")
            attempt = side.attempt
            target = View(benchmark=attempt["benchmark"]).open(attempt["run_id"], attempt["attempt_id"], None)
            link(f"Open this {about.card.unit[0]}", "failures", target)
            say_verdict(side)
            attempt_answer.show_due(side, key=f"duel-{place}")


def compare_turns(first: StoredAttempt, second: StoredAttempt, metric: str) -> pl.DataFrame:
    """One row a turn that either side was judged at: turn, differs (words), way, action and score of both."""
    told = [_turns(side, metric) for side in (first, second)]
    rows = []
    for turn in sorted({*told[0], *told[1]}):
        one, two = (side.get(turn) for side in told)
        parts = [name for name in ("labels", "way", "action") if one and two and one[name] != two[name]]
        words = ", ".join(parts) if one and two else f"only {'the first' if one else 'the second'} got here"
        rows.append(
            {"turn": turn, "differs": words}
            | {
                f"{name}_{place}": side[name] if side else None
                for place, side in ((1, one), (2, two))
                for name in ("way", "action", "score")
            }
        )
    schema: dict[str, Any] = {"turn": pl.Int64, "differs": pl.String}
    for place in (1, 2):
        schema |= {f"way_{place}": pl.String, f"action_{place}": pl.String, f"score_{place}": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def _turns(side: StoredAttempt, metric: str) -> dict[int, dict[str, Any]]:
    scores = dict(
        side.scores.filter((pl.col("metric") == metric) & pl.col("turn").is_not_null())
        .select("turn", "value")
        .iter_rows()
    )
    return {
        row["turn"]: {
            "labels": row["predicted_fields"],
            "way": " › ".join(step.removeprefix("stage") for step in row["predicted_path"]),
            "action": row["predicted_action"],
            "score": scores.get(row["turn"]),
        }
        for row in side.traces.iter_rows(named=True)
    }
