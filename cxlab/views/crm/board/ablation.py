"""Which tools help: what agents score without one, less what they score with it, by the paper's 16 pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import streamlit as st

from cxlab.benchmarks.crmarena.ablation import KINDS, PAIRS, TITLES, Kind, Pair, measures
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.charts.numbers import format_interval
from cxlab.metrics.paired import Paired, paired_difference
from cxlab.ui.labels import section
from cxlab.ui.tables import column, show_table
from cxlab.views.crm.board.figures import Agent

_BOUNDS = (-100.0, 100.0)


@dataclass(frozen=True)
class PairEffect:
    """What taking one function away does to an agent on one task, by question; `agent` is the one with all tools."""

    agent: Agent
    pair: Pair
    effect: Paired
    questions: pl.DataFrame
    """sample_id, difference (points)."""


@dataclass(frozen=True)
class KindEffect:
    """The mean over the pairs of a kind that were measured; `pairs` of four."""

    agent: Agent
    kind: Kind
    pairs: int
    effect: Paired


def compare_pairs(attempts: pl.DataFrame, agents: Mapping[Agent, tuple[str, ...]], seed: int = 0) -> list[PairEffect]:
    """Agent by agent, the effect of each pair that its runs measure: those that take away just that function.

    Compared by question, on questions that both tried. `attempts`: run_id, sample_id, task, score.
    """
    found = []
    known = attempts.filter(pl.col("score").is_not_null())
    for base in (agent for agent in agents if not agent.removed):
        for pair in PAIRS:
            runs = [run for agent, ids in agents.items() if _is_without(agent, base, pair) for run in ids]
            without, with_all = (
                known.filter(pl.col("run_id").is_in(ids) & (pl.col("task") == pair.task))
                .group_by("sample_id")
                .agg(pl.col("score").mean())
                for ids in (runs, agents[base])
            )
            both = without.join(with_all, on="sample_id", suffix="_all").sort("sample_id")
            if both.height:
                effect = paired_difference(both["score"], both["score_all"], seed=seed, bounds=_BOUNDS)
                differences = both.select("sample_id", difference=pl.col("score") - pl.col("score_all"))
                found.append(PairEffect(base, pair, effect, differences))
    return found


def _is_without(agent: Agent, base: Agent, pair: Pair) -> bool:
    same = (agent.model, agent.framework, agent.aided) == (base.model, base.framework, base.aided)
    return same and bool(agent.removed) and measures(agent.removed, pair)


def sum_up_kinds(pairs: Sequence[PairEffect], seed: int = 0) -> list[KindEffect]:
    """Agent by agent, the mean over the pairs of each kind; a question of two pairs counts as one in the interval."""
    found = []
    for agent in dict.fromkeys(each.agent for each in pairs):
        for kind in KINDS:
            mine = [each for each in pairs if each.agent == agent and each.pair.kind == kind]
            if not mine:
                continue
            shares = pl.concat(
                each.questions.select("sample_id", share=pl.col("difference") / (each.questions.height * len(mine)))
                for each in mine
            )
            whole = shares.group_by("sample_id").agg(pl.col("share").sum()).sort("sample_id")
            values = whole["share"] * whole.height
            effect = paired_difference(values, pl.zeros(whole.height, eager=True), seed=seed, bounds=_BOUNDS)
            found.append(KindEffect(agent, kind, len(mine), effect))
    return found


def show_ablation(attempts: pl.DataFrame, agents: Mapping[Agent, tuple[str, ...]]) -> None:
    """Both tables, or how to get them."""
    pairs = compare_pairs(attempts, agents)
    section(
        "Which tools help: the score without one, less that with it",
        "In each of the paper's 16 pairs one function is taken away from one task, and the two tools that ask any "
        "query take its place; below 0 the function helps. Four pairs make a kind. By question, with the interval of a "
        "paired permutation test.",
        ["own"],
    )
    if not pairs:
        st.caption(
            "No run has taken a tool away yet: on the page Run set Toolset to ablation and Removed to a function."
        )
        return
    kinds = [
        {
            "agent": each.agent.name, "does": TITLES[each.kind][0], "needs": TITLES[each.kind][1],
            "pairs": f"{each.pairs} of 4", **_tell(each.effect),
        }
        for each in sum_up_kinds(pairs)
    ]  # fmt: skip
    told = [
        {
            "agent": each.agent.name, "function": each.pair.function, "task": TASKS[each.pair.task].short,
            "kind": ", ".join(TITLES[each.pair.kind]).capitalize(), **_tell(each.effect),
        }
        for each in pairs
    ]  # fmt: skip
    figures = {
        "difference": column("Difference", "points"), "interval": column("95 % interval"), "verdict": column("It is"),
        "p": column("p", "p"), "n": column("Questions", "count"),
    }  # fmt: skip
    columns = {
        "agent": column("Agent"), "does": column("What the function does"),
        "needs": column("Needs what others return"), "pairs": column("Pairs"), **figures,
    }  # fmt: skip
    show_table(pl.DataFrame(kinds), columns, key="crm-ablation", alt="Scores without kinds of functions.")
    columns = {
        "agent": column("Agent"), "function": column("Taken away"), "task": column("Task"), "kind": column("Kind"),
        **{name: each for name, each in figures.items() if name != "p"},
    }  # fmt: skip
    show_table(pl.DataFrame(told), columns, key="crm-ablation-pairs", alt="Scores without one function, by pair.")
    if missing := _list_missing(pairs):
        st.caption(f"Not measured yet: {', '.join(missing)}.")


def _list_missing(pairs: Iterable[PairEffect]) -> list[str]:
    there = {each.pair for each in pairs}
    return [f"{pair.function} of {TASKS[pair.task].short}" for pair in PAIRS if pair not in there]


def _tell(effect: Paired) -> dict[str, object]:
    return {
        "difference": effect.difference,
        "interval": format_interval(effect.low, effect.high),
        "p": effect.p,
        "n": effect.n,
        "verdict": _say_verdict(effect),
    }


def _say_verdict(effect: Paired) -> str:
    if math.isnan(effect.p) or effect.p >= 0.05:
        return "cannot tell"
    return "✕ worse without" if effect.difference < 0 else "✓ better without"
