"""How sound the store is: what was set aside, what was spent, what could not be parsed or used."""

from typing import Any

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.charts.numbers import format_count, format_share, format_usd
from cxlab.ui.address import cached
from cxlab.ui.labels import figures, section, show_code
from cxlab.ui.tables import column, show_table

# So many are named one by one; the command names all.
_MOST_SET_ASIDE = 12


def show_set_aside() -> None:
    """What is damaged and does not count, with the reason; nothing on a sound store."""
    found = read.set_aside()
    if not found:
        return
    with st.container(border=True):
        section(
            f"{len(found)} set aside",
            "These are damaged, of a newer version, or copies: they are left out of every figure, all else counts. "
            "The command below says what can be done; with --repair it does so and keeps each original in the trash.",
        )
        for kind, name, reason in found[:_MOST_SET_ASIDE]:
            st.text(f"{kind} {name}: {reason}")
        if len(found) > _MOST_SET_ASIDE:
            st.text(f"and {len(found) - _MOST_SET_ASIDE} more")
        show_code("python -m cxlab doctor")


def show_health(health: dict[str, Any], unit: tuple[str, str]) -> None:
    """What ran, what it cost, and what of it could not be used."""
    names = ("format", "provider", "invalid_votes", "votes")
    broken, cut, invalid, votes = (format_count(health[name]) for name in names)
    attempts = "attempt" if health["format"] == 1 else "attempts"
    judged = f"{invalid} of {votes} replies of judges not usable" if health["votes"] else "no judge asked"
    section(
        "Health of the data",
        f"{broken} {attempts} with a reply that could not be parsed, {cut} cut short by a provider, {judged}. What a "
        "provider cut short and replies of judges that cannot be used are left out and count as no zero; a reply that "
        "could not be parsed can fail its attempt, and what it lacks stands under Failures as points lost.",
    )
    _show_figures(health, unit)
    kinds = cached(read.failure_counts)
    if kinds.height:
        titles = {"where": "Where", "type": "Kind", "n": "Failures", "attempts": "Attempts", "models": "Models"}
        texts = ("where", "type")
        columns = {name: column(title, "text" if name in texts else "count") for name, title in titles.items()}
        kinds = kinds.with_columns(type=pl.col("type").str.replace_all("_", " ", literal=True))
        with st.expander("Failures by kind", type="compact"):
            show_table(kinds, columns, key="failure-kinds", alt="Failures by kind.")


def _show_figures(health: dict[str, Any], unit: tuple[str, str]) -> None:
    attempts, (one, many) = health["attempts"], unit
    sound = f"{many.capitalize()} in which every reply could be parsed and no provider failed; right or wrong alike."
    unpriced = health["unpriced"]
    spent = format_usd(health["spent_usd"])
    if unpriced:
        spent = f"{spent} and more" if health["spent_usd"] else "unknown"
    told = "Of agents, customers and judges together; simulated models cost nothing."
    if unpriced:
        told += f" Of {format_count(unpriced)} {many}, messages and verdicts no price is known, so this is the least."
    figures(
        [
            (many.capitalize(), format_count(attempts), f"Finished, {format_count(health['turns'])} turns in all."),
            ("Models", format_count(health["models"]), f"With at least one finished {one} in this store."),
            ("Ran soundly", format_share(health["ok"] / attempts), sound),
            ("Spent", spent, told),
        ]
    )
