"""Labels to check, of all benchmarks on one list: what all leading models fail, and where panel and truth part."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import spell_programs
from cxlab.charts.names import begin
from cxlab.charts.numbers import format_count
from cxlab.read import View, failures
from cxlab.read.annotations import RIGHT_LABEL, WRONG_LABEL
from cxlab.read.attempts import facets, tasks_tried
from cxlab.read.comparison.other_metrics import count_passed
from cxlab.read.failure_kinds import disputed, name_kind
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link
from cxlab.ui.annotations import annotate
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared, leave_out_floors
from cxlab.views.compare import queries
from cxlab.views.compare.queries_verdicts import audit
from cxlab.views.failures.queries_label_answers import NOTHING, read_answers

# Letters of an answer in the list, and what stands in no name.
_MOST, _APART = 60, chr(31)
_MARKS = {WRONG_LABEL: "✕ label is wrong", RIGHT_LABEL: "✓ label is right"}
_SHOWN = pl.Schema({
    "benchmark": pl.String, "task": pl.String, "sample": pl.String, "why": pl.String, "reason": pl.String,
    "chance": pl.Float64, "strong": pl.String, "passed": pl.String, "mark": pl.String, "run_id": pl.String,
    "attempt_id": pl.String, "due": pl.String, "given": pl.String,
})  # fmt: skip
# Why a label is in doubt, the strongest reason first.
SAME_ANSWER, SAME_REASON, EACH_ANOTHER = "the same other answer", "the same reason", "each another"
_REASONS = (SAME_ANSWER, SAME_REASON, EACH_ANOTHER)


def show_labels(view: View, about: Declaration) -> None:
    """What speaks for a wrong label, the strongest first; a row is decided on where it stands, or read."""
    scope = View(view.benchmark, tasks=view.tasks, facets=view.facets, runs=view.runs)
    with st.spinner("Looking for samples that all leading models fail"):
        found = cached(suspects, scope)
    # Another answer that all agree on is evidence; that all have none, or miss the same, is a fault of theirs.
    doubted = found.filter((pl.col("why") == SAME_ANSWER) & (pl.col("passed") == ""))
    sure = doubted.height
    section(
        f"{format_count(sure)} label{'' if sure == 1 else 's'} in doubt: all leading models gave the same other "
        "answer, and nobody passes"
        if sure
        else "No label stands out: nowhere did all leading models give the same other answer",
        f"They come first. {format_count(found.height)} sample{'' if found.height == 1 else 's'} in all that every "
        "leading model fails: where each fails in its own way, or makes the same mistake, it is hard rather than "
        "wrongly labelled. Leading is the better half of a task's ranking, and where only two models tried it both. "
        "Select one to decide on it."
        if found.height
        else "Where two models or more tried the same samples, those that all leading ones fail would stand here.",
    )
    if found.height:
        columns = {
            "benchmark": column("Benchmark", width="small"),
            "task": column("Task", width="small"),
            "why": column("Why doubt it", width="small", help="What all leading models have in common here."),
            "due": column("Due"),
            "given": column("Given instead"),
            "reason": column("Reason", help="The commonest one, where no answers can be set beside each other."),
            "chance": column(
                "Expected", "share", "How often all of them would fail, if each failed by itself as often as it does "
                "on the other samples of the task: the less, the more speaks for the label being wrong."
            ),
            "strong": column("Failed by", width="medium"),
            "passed": column("Passed by", help="Weaker models that passed it: then the label is likely right."),
            "mark": column("Mark", width="small"),
            "sample": column("Sample", width="small"),
        }  # fmt: skip
        for name in ("benchmark", "task", "passed", "mark", "due", "given"):
            if not any(found[name]) or (name in ("benchmark", "task") and found[name].n_unique() == 1):
                del columns[name]
        picked = show_table(
            found, columns, key="labels-to-check", alt="Samples whose label may be wrong.",
            select="single", search=True,
        )  # fmt: skip
        if picked:
            _decide(view, found.filter(sample=picked[0]["sample"], task=picked[0]["task"]).row(0, named=True))
    _show_panel(scope, about)
    _show_marked(view)


def _decide(view: View, row: Mapping[str, Any]) -> None:
    """What is due beside what was given, and whether the label is right: a tag that Compare and this list read."""
    with st.container(border=True, key="labels-decide"):
        st.markdown(f"**{plain(row['sample'])}**: {plain(row['task'])}")
        if row["due"] or row["given"]:
            st.markdown(f"Due: {plain(row['due'])}  \nGiven: {plain(row['given'])}")
        else:
            st.markdown(plain(begin(row["reason"])))
        with st.container(horizontal=True, vertical_alignment="center"):
            for tag, words in ((WRONG_LABEL, "Label is wrong"), (RIGHT_LABEL, "Label is right")):
                if row["mark"] == _MARKS[tag]:
                    if st.button(f"Undo “{tag}”", key=f"labels-undo-{tag}"):
                        annotate("untag", row["run_id"], row["attempt_id"], tag)
                        st.rerun()
                elif st.button(words, key=f"labels-{tag}"):
                    _mark(row, tag)
            link("Read what the best model did", "failures", view.open(row["run_id"], row["attempt_id"]))
        st.caption(f"Compare leaves samples tagged “{WRONG_LABEL}” out if asked to.")


def _mark(row: Mapping[str, Any], tag: str) -> None:
    other = RIGHT_LABEL if tag == WRONG_LABEL else WRONG_LABEL
    if row["mark"] == _MARKS[other]:
        annotate("untag", row["run_id"], row["attempt_id"], other)
    annotate("tag", row["run_id"], row["attempt_id"], tag)
    st.rerun()


def suspects(scope: View) -> pl.DataFrame:
    """Samples that all leading models of a task fail, over the benchmarks and tasks of a view: benchmark, task and
    sample in words, why (of _REASONS), reason, chance (of all failing a sample, if each failed by itself), strong and
    passed (models), mark, the attempt of the first of the leading, and what was due and what they gave, in words."""
    # A filter by what one benchmark has leaves nothing of the others: there is nothing to rank.
    tried = tasks_tried(scope)
    parts = [pl.DataFrame(schema=_SHOWN)]
    for name in sorted({benchmark for benchmark, _ in tried}):
        about = declared(name)
        several = len(about.card.tasks) > 1
        for task in about.card.tasks:
            if (scope.tasks and task.id not in scope.tasks) or (several and (name, task.id) not in tried):
                continue
            of_task = scope.change(benchmark=about.card.id, tasks=(task.id,) if several else ())
            strong, found = audit(of_task)
            if found.height:
                parts.append(_describe(about, task.title, strong, found).with_columns(chance=_expect(of_task, strong)))
    # Where the strong fail every other sample, that all of them fail one says nothing of its label.
    return pl.concat([part.select(_SHOWN.keys()).cast(_SHOWN) for part in parts]).sort(
        pl.col("passed") != "", pl.col("why").replace_strict({each: at for at, each in enumerate(_REASONS)}), "chance",
        "benchmark", "task", "reason", "sample", nulls_last=True,
    )  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else text[:_MOST].rsplit(" ", 1)[0] + " …"


def _expect(of_task: View, strong: tuple[str, ...]) -> float | None:
    """The share of samples that all of these would fail if each failed by itself; None where a rate is not known."""
    found = queries.ranked(of_task)
    rates = [] if found is None else [each.share for each in count_passed(found, strong).values()]
    return math.prod(1 - rate for rate in rates if rate is not None) if rates and None not in rates else None


def _describe(about: Declaration, task: str, strong: tuple[str, ...], found: pl.DataFrame) -> pl.DataFrame:
    """The rows of `suspects` for those that `audit` has of a task, without their chance; by columns, for there may be
    thousands."""
    opened = found.select("sample_id", "opened").explode("opened").select(
        "sample_id", run_id=pl.col("opened").list.get(1), attempt_id=pl.col("opened").list.get(2)
    )  # fmt: skip
    said = opened.join(read_answers(opened), on=["run_id", "attempt_id"], how="left", maintain_order="left")
    said = said.with_columns(pl.col("due", "given").fill_null(""))
    # Compared whole, and cut for the list alone.
    given = said.unique(["sample_id", "given"], keep="first", maintain_order=True)
    answers = (
        given.with_columns(short=_say_each(given["given"], _cut))
        .group_by("sample_id", maintain_order=True)
        .agg(pl.col("given").first(), pl.col("short").str.join(" / "), answers=pl.len())
    )
    first = said.unique("sample_id", keep="first", maintain_order=True).drop("given")
    rows = found.drop("opened").join(first, on="sample_id", maintain_order="left")
    rows = rows.join(answers, on="sample_id", maintain_order="left")
    rows = rows.with_columns(
        sample=pl.col("sample_id"), due=_say_each(rows["due"], _cut),
        reason=_say_each(rows["reason"], lambda text: spell_programs(text or "no reason is stored")),
        passed=_say_each(rows["passed_by"].list.join(_APART), lambda names: ", ".join(map(label, names.split(_APART)))),
    )  # fmt: skip
    if (identity := about.identifying) and identity.id in rows.columns:
        told = _say_each(rows[identity.id], lambda value: about.value(identity.id, value) if value else "")
        rows = rows.with_columns(sample=pl.when(told != "").then(told + " · " + pl.col("sample")).otherwise("sample"))
    alone = pl.col("answers") == 1
    return rows.select(
        "sample", "run_id", "attempt_id", "due", "passed",
        benchmark=pl.lit(about.card.name), task=pl.lit(task), given="short",
        why=pl.when(alone & ~pl.col("given").is_in(["", NOTHING])).then(pl.lit(SAME_ANSWER))
        .when("alike").then(pl.lit(SAME_REASON)).otherwise(pl.lit(EACH_ANOTHER)),
        reason=pl.when(alone & (pl.col("given") == "")).then("reason").otherwise(pl.lit("")),
        strong=pl.lit(", ".join(map(label, strong))),
        mark=pl.when("marked").then(pl.lit(_MARKS[WRONG_LABEL]))
        .when("confirmed").then(pl.lit(_MARKS[RIGHT_LABEL])).otherwise(pl.lit("")),
    )  # fmt: skip


def _say_each(values: pl.Series, say: Callable[[str], str]) -> pl.Series:
    """What is said of each value, once each: there are far fewer than rows."""
    told = {value: say(value) for value in values.unique()}
    return pl.Series([told[value] for value in values], dtype=pl.String)


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
