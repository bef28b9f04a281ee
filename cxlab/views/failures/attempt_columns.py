"""What tells the attempts of a list apart: the question that each was asked, what was due, and which columns differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.charts.names import shorten
from cxlab.charts.numbers import format_points
from cxlab.errors import CxError
from cxlab.read.attempts import samples_of_rows
from cxlab.read.failure_kinds import name_kind
from cxlab.records.benchmark_card import Declaration, Search
from cxlab.ui.address import cached
from cxlab.ui.tables import column
from cxlab.views.benchmarks import declared, ranking_tasks
from cxlab.views.retrieval.queries_errors import titles_of

# As much as three lines of a cell hold.
_OPENING, _DUE = 84, 44
# Of these every row is told whatever it holds: what was said is what one reads.
_ALWAYS = ("opening", "disputed", "latency_s", "cost_usd")


def document_titles(dataset_id: str, search: Search) -> Mapping[str, str]:
    """What is ranked by its title; nothing of a dataset that is gone or damaged."""
    try:
        return cached(titles_of, dataset_id, search)
    except (CxError, pl.exceptions.PolarsError, OSError):
        return {}


def add_asked(rows: pl.DataFrame, answers: Sequence[str]) -> pl.DataFrame:
    """Attempts with `opening` shortened, and with `due_`: of those of benchmarks that are asked for one answer the
    question or the customer's words stand for a first message, and the title of what was to be found is what was due.
    """
    asked = rows.filter(pl.col("benchmark").is_in(answers))
    samples = samples_of_rows(asked) if asked.height else {}
    opening, due = [], []
    for row in rows.iter_rows(named=True):
        sample = samples.get(row["sample_id"]) if row["benchmark"] in answers else None
        said = row["opening"] or (ask_of(sample["inputs"]) if sample else None)
        opening.append(shorten(said, _OPENING) if said else None)
        search = ranking_tasks(str(row["benchmark"])).get(str(row["task"])) if sample else None
        due.append(_say_due(sample, search) if sample and search else None)
    return rows.with_columns(
        opening=pl.Series(opening, dtype=pl.String), due_=pl.Series(due, dtype=pl.String)
    )  # fmt: skip


def ask_of(inputs: Mapping[str, Any]) -> str | None:
    """The question of a sample, or the last that its customer said; None where there is neither."""
    if inputs.get("query"):
        return str(inputs["query"])
    lines = [(str(each.get("who")), str(each.get("text"))) for each in inputs.get("lines") or () if each]
    for line in str(inputs.get("transcript") or "").splitlines():
        who, _, words = line.partition(": ")
        lines.append((who, words))
    return next((words for who, words in reversed(lines) if who == "Customer" and words), None)


def _say_due(sample: Mapping[str, Any], search: Search) -> str | None:
    found = sample["expected"].get(search.relevant)
    right = [str(each) for each in (found if isinstance(found, list) else [found]) if each is not None]
    titles = document_titles(str(sample["dataset_id"]), search)
    return shorten("; ".join(titles.get(each, each) for each in right), _DUE) if right else None


def opening_column(about: Declaration) -> Any:
    """The column that tells what was said or asked first, of one benchmark or of several."""
    if about.attempt_view == "answer":
        return column("Question", help="What was asked, or what the customer said last.", width="medium")
    return column("First message", help=None if about.card.id else "The customer's, or what was asked.", width="medium")


def leave_out_alike(rows: pl.DataFrame, columns: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The columns in which the rows differ, and in a sentence what is the same in all of them; of fewer than two rows
    all columns, and no sentence."""
    if rows.height < 2:
        return dict(columns), ""
    alike = {
        name: rows[name][0]
        for name in columns
        if name in rows.columns and name not in _ALWAYS and rows[name].n_unique() == 1 and rows[name][0] is not None
    }
    told = "; ".join(f"{columns[name]['label'].lower()}: {_say(value)}" for name, value in alike.items())
    kept = {name: shape for name, shape in columns.items() if name not in alike}
    return kept, f"The same in all rows below: {told}." if told else ""


def _say(value: Any) -> str:
    return format_points(value) if isinstance(value, float) else str(value)


def answering(benchmarks: Sequence[str]) -> list[str]:
    """Those of the benchmarks whose samples are asked for one answer."""
    return [name for name in benchmarks if declared(name).attempt_view == "answer"]


def say_kinds(kinds: list[str] | None) -> str:
    """ "2 × misread field, 1 unreadable reply" of ["field:2", "format:1"]."""
    parts = (each.rpartition(":") for each in kinds or ())
    return ", ".join(f"{n}{' ×' if n != '1' else ''} {name_kind(kind)}" for kind, _, n in parts)
