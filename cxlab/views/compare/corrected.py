"""The ranking of Compare with people's decisions in the place of judges' verdicts, beside the one as judged."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.read import View, decisions
from cxlab.read.comparison.attempt_facts import join_facts
from cxlab.read.comparison.ranking import Ranking, rank_task
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import Name, say_leader
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, here, link, set_view
from cxlab.ui.labels import PASSED_COMPARED, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.compare import queries
from cxlab.views.judges.corrected_scores import Effect, correct

_KEYS = ["run_id", "attempt_id"]
# Sums of the same floats in another order differ by their last digit.
_LEAST = 1e-9


class CorrectedRanking(NamedTuple):
    """`ranking`: as corrected, on the same samples. `passed`: side, judged, corrected (success rates on them, 0 to 1).
    `decided`: how many decisions that settle something are on attempts of it; of how many attempts they change the
    value (`values`) and the verdict (`verdicts`); `left_out`: run → why it cannot be corrected."""

    ranking: Ranking
    passed: pl.DataFrame
    decided: int
    values: int
    verdicts: int
    left_out: Mapping[str, str]


def count_decisions(view: View, unit: Unit) -> int:
    """How many decisions that settle something are on attempts of the view's ranking."""
    found = queries.ranked(view, unit)
    return 0 if found is None else _decisions(found).height


def correct_ranking(view: View, unit: Unit) -> CorrectedRanking | None:
    """The view's ranking with its decisions; None where nothing is compared."""
    found = queries.ranked(view, unit)
    if found is None:
        return None
    settled = _decisions(found)
    made = correct(settled)
    results, metric = found.compared.results, found.task.metric
    moved = pl.DataFrame(
        [(*key, _change(each, metric), each.verdict, each.corrected) for key, each in made.effects.items()],
        schema={**dict.fromkeys(_KEYS, pl.String), "change": pl.Float64, "judged": pl.String, "corrected": pl.String},
        orient="row",
    ).join(results, on=_KEYS, how="semi")
    turned = moved.filter(pl.col("judged") != pl.col("corrected"))
    about = declared(view.benchmark, view.lead)
    return CorrectedRanking(
        rank_task(about, view, found.compared, metric, moved.select(*_KEYS, "change")),
        _passed(results.filter(pl.col("side").is_in(found.compared.sides)), turned),
        settled.height,
        moved.filter(pl.col("change").abs() > _LEAST).height,
        turned.height,
        made.left_out,
    )


def _decisions(found: Ranking) -> pl.DataFrame:
    """The items of `decisions.outcomes` that are settled, of a ranking's attempts."""
    states = decisions.outcomes(decisions.decisions())
    settled = states.join(decisions.settled(states), on=decisions.ITEM, how="semi")
    return settled.join(found.compared.results, on=_KEYS, how="semi")


def _change(effect: Effect, metric: str) -> float | None:
    """Corrected minus judged of an attempt's value: of its turns' mean where the metric is scored by turn; None where
    either is unknown."""
    whole = (metric, False) not in effect.before and (metric, False) not in effect.after
    (n, total), (m, other) = (side.get((metric, whole), (0, 0.0)) for side in (effect.before, effect.after))
    return other / m - total / n if n and m else None


def _passed(results: pl.DataFrame, turned: pl.DataFrame) -> pl.DataFrame:
    """The success rates of sides as judged, and with the verdicts that decisions turn."""
    known = join_facts(results).join(turned.select(*_KEYS, "corrected"), on=_KEYS, how="left")
    verdicts = {"judged": pl.col("verdict"), "corrected": pl.coalesce("corrected", "verdict")}
    return known.group_by("side").agg(
        ((verdict == "passed").sum() / verdict.is_in(["passed", "failed"]).sum()).alias(name)
        for name, verdict in verdicts.items()
    )


def choose_corrected(view: View, unit: Unit) -> CorrectedRanking | None:
    """The switch that sets corrected means beside those as judged; drawn where there are decisions. What it asks for,
    None while it is off."""
    if cached(decisions.decisions).is_empty() or not (many := cached(count_decisions, view, unit)):
        return None
    st.session_state["compare-reviewed"] = here().reviewed == "yes"

    def changed() -> None:
        set_view(here().change(reviewed="yes" if st.session_state["compare-reviewed"] else ""))

    st.toggle(
        f"With reviewers' corrections: {format_count(many)} decision{'' if many == 1 else 's'}",
        key="compare-reviewed",
        on_change=changed,
        help="A decision takes the place of every judge's verdict, and the benchmark's own rules score the attempt "
        "anew. All else stays as judged: the card and the charts, too.",
    )
    return cached(correct_ranking, view, unit) if here().reviewed == "yes" else None


def show_corrected(about: Declaration, judged: Ranking, found: CorrectedRanking, title: str, name: Name) -> None:
    """Who leads by the corrected means, how much was changed, and both beside those as judged."""
    one, many = found.decided == 1, about.card.unit[1]
    told = (
        f"{format_count(found.decided)} decision{'' if one else 's'} change{'s' if one else ''} the value of "
        f"{format_count(found.values)} and the verdict of {format_count(found.verdicts)} of these {many}"
    )
    section(
        f"With reviewers' corrections: {plain(say_leader(found.ranking, name))}",
        f"{told}. Change: corrected minus judged. Decided splits are no random choice, so a corrected mean is not what "
        "it would be had all been decided.",
    )
    for run, why in found.left_out.items():
        st.caption(plain(f"⚠ Run {run} is not corrected: {why}."))
    rows = judged.table.join(
        found.ranking.table.select("side", corrected="value", corrected_low="low", corrected_high="high"), on="side",
        how="left", maintain_order="left",
    ).join(found.passed.rename({"judged": "passed", "corrected": "passed_corrected"}), on="side", how="left",
           maintain_order="left")  # fmt: skip
    shown = rows.with_columns(
        name=pl.col("side").map_elements(name, return_dtype=pl.String),
        change=(pl.col("corrected") - pl.col("value")).round(3) + 0.0,
        interval=pl.format("{} to {}", pl.col("corrected_low").round(1), pl.col("corrected_high").round(1)),
    )
    columns = {
        "name": column("Model"),
        "value": column(f"{title[:1].upper()}{title[1:]}", "points", about.card.metrics.get(judged.task.metric)),
        "corrected": column("Corrected", "points", "With decisions in the place of judges' verdicts."),
        "interval": column("95 % interval"),
        "change": column("Change", "ratio"),
        "passed": column(PASSED_COMPARED, "share", "By the verdicts as judged, on the same samples."),
        "passed_corrected": column("Passed, corrected", "share", "By the verdicts that decisions make."),
    }
    show_table(shown, columns, key="compare-corrected", alt="Means and success rates as judged and as corrected.")
    link("See the decisions", "judges", View(benchmark=about.card.id))
