"""Which runs are picked and taken for one, and what a factor is said to change for sure."""

import re
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks.mmtaup2.evaluation.results import METRICS
from cxlab.views.persona.results.labels import define, say_sure
from cxlab.views.persona.results.runs import pick_usual, put_together


def row(model: str, *modalities: str, n: int = 10, dataset: str = "d", again: bool = False) -> dict[str, Any]:
    return {
        "model": model, "modalities": list(modalities), "conversations": n, "dataset_id": dataset, "again": again,
    }  # fmt: skip


ABOUT = {
    "text": row("strong", "text", n=108),
    "voice": row("strong", "voice", n=12),
    "both": row("strong", "text", "voice", n=20),
    "weak": row("weak", "text", n=108),
    "elsewhere": row("weak", "voice", dataset="other"),
    "judged": row("weak", "voice", again=True),
}


def test_voice_is_picked_beside_text_and_the_two_are_one_side() -> None:
    picked = pick_usual(list(ABOUT), ABOUT)
    assert picked == ["text", "voice", "weak"]
    assert put_together(picked, ABOUT) == [["text", "voice"], ["weak"]]


@pytest.mark.parametrize("pair", [("text", "both"), ("text", "weak"), ("weak", "elsewhere"), ("weak", "judged")])
def test_runs_that_overlap_or_differ_otherwise_stay_apart(pair: tuple[str, str]) -> None:
    assert put_together(pair, ABOUT) == [[each] for each in pair]


def gaps(*rows: tuple[str, str, str, float, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["level", "base", "metric", "difference", "verdict"], orient="row")


def test_a_definition_calls_other_figures_by_their_titles() -> None:
    assert "“turn efficiency of what passed”" in define("turn_efficiency")
    assert not any(re.search(r"[a-z]_[a-z]", define(metric)) for metric in METRICS)


def test_what_is_sure_comes_first_and_of_the_pair_that_shows_most() -> None:
    told = gaps(
        ("easy", "none", "pass", 0.0, "cannot tell"), ("easy", "none", "turns", -1.4, "better"),
        ("easy", "none", "adaptation", 0.01, "cannot tell"),
        ("hard", "none", "pass", -0.03, "cannot tell"), ("hard", "none", "turns", 6.2, "worse"),
        ("hard", "none", "adaptation", 0.287, "better"),
    )  # fmt: skip
    assert say_sure("persona", told) == (
        "Hard persona against no persona: 6.2 more turns, 28.7 points more messages that adapt; "
        "goals reached: cannot tell"
    )
    # The dialogues are held against no persona; what is surer against an easy one stands in the chart.
    more = gaps(("hard", "easy", "pass", -0.2, "worse"), ("hard", "easy", "turns", 6.8, "worse"),
                ("hard", "easy", "adaptation", 0.4, "better"))  # fmt: skip
    assert say_sure("persona", pl.concat([told, more])) == say_sure("persona", told)
    assert say_sure("persona", more).startswith("Hard persona against easy persona: 20.0 points fewer")
    nothing = told.with_columns(verdict=pl.lit("cannot tell"))
    assert say_sure("persona", nothing) == (
        "Persona: no sure difference in turns, messages that adapt or goals reached"
    )
    many = told.with_columns(verdict=pl.lit("cannot tell"), difference=pl.col("difference") * 10)
    assert say_sure("persona", many) == (
        "Hard persona against no persona: 30.0 points fewer goals reached, not sure; no sure difference in turns or "
        "messages that adapt"
    )
    assert say_sure("persona", told.clear()) == ""
