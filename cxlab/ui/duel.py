"""Two attempts on one sample side by side, with what differs marked."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.read import View, Whole
from cxlab.ui import answer
from cxlab.ui.address import cached, link
from cxlab.ui.strips import style
from cxlab.ui.tables import column, show_table
from cxlab.ui.talk import transcript
from cxlab.ui.words import label, plain


def show_duel(first: tuple[str, str], second: tuple[str, str], leading: Sequence[str]) -> None:
    """Both dialogues in full, and above them a table of what differs turn by turn; `leading`: figures of each."""
    sides = [cached(read.attempt, *first), cached(read.attempt, *second)]
    names = [label(side.attempt["model"]) for side in sides]
    if all(answer.is_answer(side) for side in sides):
        _show_answers(sides, names)
        return
    rows = compare_turns(*sides)
    differing = rows.filter(pl.col("differs") != "")
    start = int(differing["turn"][0]) if differing.height else None
    alike = "Every turn that both reached was judged alike." if rows.height else ""
    words = f"They part in turn {start}." if start else alike
    st.markdown(f"**{plain(names[0])} and {plain(names[1])} on the same customer.** {words}")
    if rows.height:
        columns = {
            "turn": column("Turn", "count", width="small"),
            "differs": column("Differs in", help="What is not the same on both sides."),
            "way_1": column(f"Way: {names[0]}"),
            "way_2": column(f"Way: {names[1]}"),
            "action_1": column(f"Action: {names[0]}"),
            "action_2": column(f"Action: {names[1]}"),
            "score_1": column(f"Overall: {names[0]}", "points"),
            "score_2": column(f"Overall: {names[1]}", "points"),
        }
        show_table(rows, columns, key="duel-turns", alt="What differs between the two attempts, turn by turn.")
    for place, (spot, side, name) in enumerate(zip(st.columns(2, gap="medium"), sides, names, strict=True)):
        with spot:
            scores = _own_scores(side)
            told = ", ".join(f"{label(key).capitalize()} {scores[key]:.1f}" for key in leading if key in scores)
            st.markdown(f"**{plain(name)}**")
            st.caption(plain(f"{told or 'not scored'} · ended by {side.attempt['ended_by'] or 'nothing noted'}"))
            run_id, attempt_id = side.attempt["run_id"], side.attempt["attempt_id"]
            link(
                "Open this dialogue",
                "failures",
                View(benchmark=side.attempt["benchmark"]).open(run_id, attempt_id, start),
            )
            answer.show_wrong(side)
            transcript(side.messages, key=f"duel-{place}", turn=start)


def _show_answers(sides: Sequence[Whole], names: Sequence[str]) -> None:
    """Two answers to one question: what was given once, then each one's answer beside what was due."""
    st.markdown(f"**{plain(names[0])} and {plain(names[1])} on the same sample**")
    style()
    with st.expander("What both were given"):
        answer.show_given(sides[0])
    for place, (spot, side, name) in enumerate(zip(st.columns(2, gap="medium"), sides, names, strict=True)):
        with spot:
            st.markdown(f"**{plain(name)}**")
            attempt = side.attempt
            target = View(benchmark=attempt["benchmark"]).open(attempt["run_id"], attempt["attempt_id"], None)
            link("Open this answer", "failures", target)
            answer.show_wrong(side)
            answer.show_due(side, key=f"duel-{place}")


def compare_turns(first: Whole, second: Whole) -> pl.DataFrame:
    """One row a turn that either side was judged at: turn, differs (words), way, action and score of both."""
    told = [_turns(side) for side in (first, second)]
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


def _turns(side: Whole) -> dict[int, dict[str, Any]]:
    scores = dict(
        side.scores.filter((pl.col("metric") == "overall") & pl.col("turn").is_not_null())
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


def _own_scores(side: Whole) -> dict[str, float]:
    own = side.scores.filter(pl.col("turn").is_null() & pl.col("value").is_not_null())
    return dict(own.select("metric", "value").iter_rows())
