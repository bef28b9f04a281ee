"""Labels to check, of all benchmarks on one list: what every strong model fails, and where panel and truth part."""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.names import begin
from cxlab.charts.numbers import format_count
from cxlab.read import View, failures
from cxlab.read.annotations import WRONG_LABEL
from cxlab.read.attempts import benchmarks, facets
from cxlab.read.comparison.other_metrics import count_passed
from cxlab.read.failure_kinds import disputed, name_kind
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, go, link
from cxlab.ui.labels import label, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared, leave_out_floors
from cxlab.views.compare import queries
from cxlab.views.compare.queries_verdicts import audit
from cxlab.views.failures.charts import spell_programs

# Who fails more than every other sample alike with all others says nothing of a label.
_EXPECTED = 0.5
_SHOWN: dict[str, Any] = {
    "benchmark": pl.String, "task": pl.String, "sample": pl.String, "why": pl.String, "reason": pl.String,
    "chance": pl.Float64, "strong": pl.String, "passed": pl.String, "mark": pl.String, "run_id": pl.String,
    "attempt_id": pl.String,
}  # fmt: skip


def show_labels(view: View, about: Declaration) -> None:
    """What speaks for a wrong label, the strongest first; a row opens what the strongest model did there."""
    scope = View(view.benchmark, tasks=view.tasks, facets=view.facets, runs=view.runs)
    with st.spinner("Looking for samples that every strong model fails"):
        found = cached(suspects, scope)
    alike = found.filter((pl.col("why") == "the same") & (pl.col("passed") == ""))
    sure = alike.filter(pl.col("chance").fill_null(0) < _EXPECTED).height
    one = sure == 1
    section(
        f"{format_count(sure)} sample{'' if one else 's'} to check: every strong model fails {'it' if one else 'them'} "
        "for the same reason, and nobody passes"
        if sure
        else "No label stands out: where all strong models fail alike, it was to be expected"
        if alike.height
        else "No sample is failed by every strong model for the same reason",
        f"{format_count(found.height)} sample{'' if found.height == 1 else 's'} that all strong models fail: hard, or "
        "with a wrong label; those where it is least expected first. Strong is the better half of a task's ranking, "
        f"two models at least. Select one to read it; its tag “{WRONG_LABEL}” marks it, and Compare leaves marked "
        "samples out if asked to."
        if found.height
        else "Where two models or more tried the same samples, those that all strong ones fail would stand here.",
    )
    if found.height:
        columns = {
            "benchmark": column("Benchmark", width="small"),
            "task": column("Task", width="small"),
            "reason": column("Reason", width="medium", help="The commonest one."),
            "why": column("Reasons", width="small", help="Whether all strong models fail for the same reason."),
            "chance": column(
                "Expected", "share", "How often all of them would fail, if each failed by itself as often as it does "
                "on the other samples of the task: the less, the more speaks for the label being wrong."
            ),
            "strong": column("Failed by", width="medium"),
            "passed": column("Passed by", help="Weaker models that passed it: then the label is likely right."),
            "mark": column("Mark", width="small"),
            "sample": column("Sample", width="small"),
        }  # fmt: skip
        for name in ("benchmark", "task", "passed", "mark"):
            if not any(found[name]) or (name in ("benchmark", "task") and found[name].n_unique() == 1):
                del columns[name]
        picked = show_table(
            found.drop("run_id", "attempt_id"), columns, key="labels-to-check", alt="Samples whose label may be wrong.",
            select="single", search=True,
        )  # fmt: skip
        if picked:
            row = found.filter(sample=picked[0]["sample"], task=picked[0]["task"]).row(0, named=True)
            go(view.open(row["run_id"], row["attempt_id"]))
    _show_panel(scope, about)
    _show_marked(view)


def suspects(scope: View) -> pl.DataFrame:
    """Samples that all strong models of a task fail, over the benchmarks and tasks of a view: benchmark, task and
    sample in words, why (the same, each another), reason, chance (of all failing a sample, if each failed by itself),
    strong and passed (models), mark, and the attempt of the first of the strong."""
    names = [scope.benchmark] if scope.benchmark else sorted(benchmarks()["benchmark"])
    rows: list[dict[str, Any]] = []
    for name in names:
        about = declared(str(name))
        for task in about.card.tasks:
            if scope.tasks and task.id not in scope.tasks:
                continue
            of_task = scope.change(benchmark=about.card.id, tasks=(task.id,) if len(about.card.tasks) > 1 else ())
            strong, found = audit(of_task)
            if found.is_empty():
                continue
            chance = _expect(of_task, strong)
            rows += [
                {**_describe(about, task.title, strong, row), "chance": chance} for row in found.iter_rows(named=True)
            ]
    frame = pl.DataFrame(rows, schema=_SHOWN, orient="row")
    # Where the strong fail every other sample, that all of them fail one says nothing of its label.
    return frame.sort(
        pl.col("passed") != "", pl.col("why") == "the same", "chance", "benchmark", "task", "reason", "sample",
        descending=[False, True, False, False, False, False, False], nulls_last=True,
    )  # fmt: skip


def _expect(of_task: View, strong: tuple[str, ...]) -> float | None:
    """The share of samples that all of these would fail if each failed by itself; None where a rate is not known."""
    found = queries.ranked(of_task)
    rates = [] if found is None else [each.share for each in count_passed(found, strong).values()]
    return math.prod(1 - rate for rate in rates if rate is not None) if rates and None not in rates else None


def _describe(about: Declaration, task: str, strong: tuple[str, ...], row: Mapping[str, Any]) -> dict[str, Any]:
    identity = about.identifying
    told = about.value(identity.id, row[identity.id]) if identity and row.get(identity.id) else ""
    sample, first = str(row["sample_id"]), row["opened"][0]
    return {
        "benchmark": about.card.name, "task": task, "sample": f"{told} · {sample}" if told else sample,
        "why": "the same" if row["alike"] else "each another",
        "reason": spell_programs(row["reason"] or "no reason is stored"),
        "strong": ", ".join(map(label, strong)), "passed": ", ".join(map(label, row["passed_by"])),
        "mark": "✕ label is wrong" if row["marked"] else "", "run_id": first[1], "attempt_id": first[2],
    }  # fmt: skip


def _show_panel(scope: View, about: Declaration) -> None:
    """Where judges' labels and what is known to be true part: the ways to those attempts."""
    known = cached(facets, leave_out_floors(scope, about), ("errors",))
    counts = {value: n for value, n in known.select("value", "n").iter_rows() if value in disputed()}
    if not counts:
        return
    section(
        "Where the judges' labels are not what the customer told",
        "What is due on a turn is read by a panel of judges; of a customer made from a card it is known what it has "
        "told by then. Where the two part, one of them is wrong.",
    )
    with st.container(gap="small"):
        for kind, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            target = scope.change(errors=(kind,), verdict="all")
            link(f"{begin(name_kind(kind))}: {_count(n)}", "failures", target)


def _show_marked(view: View) -> None:
    marked = View(view.benchmark, tags=(WRONG_LABEL,), verdict="all")
    count = cached(failures.counts, marked)["attempts"]
    if count:
        link(f"Marked “{WRONG_LABEL}” so far: {_count(count)}", "failures", marked)


def _count(attempts: int) -> str:
    return f"{format_count(attempts)} attempt{'' if attempts == 1 else 's'}"
