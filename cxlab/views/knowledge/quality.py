"""Knowledge, fourth tab: how agents served, by question, and where the run's answers are wrong."""

from collections.abc import Callable

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share
from cxlab.metrics.intervals import proportion_interval
from cxlab.ui.address import cached, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import is_new
from cxlab.ui.labels import empty, figures, plain, section
from cxlab.ui.place import go
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.knowledge import queries_intents, queries_pairs
from cxlab.views.knowledge.charts_intents import draw_standards
from cxlab.views.knowledge.labelled_conversation import show_conversation
from cxlab.views.knowledge.place import KnowledgePlace

_MOST_DOTS, _MOST_ROWS = 20, 500


def show_quality(place: KnowledgePlace, start_run: Callable[[], None]) -> None:
    """The run's figures, accuracy by question, and the answers it got wrong."""
    if place.sample:
        show_conversation(place)
        return
    found = cached(queries_intents.answers, place.dataset, place.run) if place.run else pl.DataFrame()
    if found.is_empty():
        empty(
            "Here you would see how often a run answers each quality question right, beside what always giving the "
            "commonest answer would get, and whether it names the lines that prove it. No run has answered any yet.",
            "Run the task",
            start_run,
            f"python -m cxlab run cxmarena --dataset {place.dataset} --model simulated:strong",
        )
        return
    show_figures(found)
    table = queries_intents.standards(found)
    show_standards(place, table)
    show_wrong(place, found)


def show_figures(found: pl.DataFrame) -> None:
    """Question, row and case accuracy, and evidence."""
    whole = queries_intents.quality(found)
    n, rows, cases = int(whole["questions"] or 0), int(whole["rows"] or 0), int(whole["cases"] or 0)
    told = proportion_interval(int(whole["right"] or 0), n)
    lists = proportion_interval(int(whole["rows_right"] or 0), rows)
    figures(
        [
            (
                "Questions right",
                format_share(whole["question_accuracy"]),
                f"{format_share(told.low)} to {format_share(told.high)} (Wilson), n {format_count(n)}. "
                "A missing answer is wrong.",
            ),
            (
                "Majority floor",
                format_share(whole["floor"]),
                "The floor: what giving the gold's commonest answer to every question would get.",
            ),
            (
                "Lists right in full",
                format_share(whole["row_exact"]),
                f"Every answer of a list right: {format_share(lists.low)} to {format_share(lists.high)}, n "
                f"{format_count(rows)} lists. By conversation: {format_share(whole['case_accuracy'])} of "
                f"{format_count(cases)}.",
            ),
            (
                "Evidence, P / R",
                _both(whole["evidence_precision"], whole["evidence_recall"]),
                "Precision / recall of the lines named as evidence, summed over the questions whose gold names any.",
            ),
        ]
    )


def _both(precision: float | None, recall: float | None) -> str:
    """ "89 / 45 %": both have to fit where one figure does."""
    return "–" if precision is None or recall is None else f"{100 * precision:.0f} / {100 * recall:.0f} %"


def show_standards(place: KnowledgePlace, table: pl.DataFrame) -> None:
    """Each question with its interval and its floor; a click narrows the table below."""
    worst = table.row(0, named=True)
    below = table.filter(pl.col("share") < pl.col("floor")).height
    section(
        plain(f"Hardest: “{worst['question']}”, {format_share(worst['share'])} right"),
        f"{format_count(table.height)} questions, the {min(_MOST_DOTS, table.height)} with fewest right answers drawn; "
        f"{format_count(below)} below what the commonest answer would get. Wilson's 95 % intervals. Click one to see "
        "where it goes wrong.",
    )
    model = _model(place)
    picked = show_chart(
        draw_standards(table.head(_MOST_DOTS), model, marks(), dark()),
        table,
        key="knowledge-standards",
        alt="Share of right answers by question, with intervals and the floor.",
        columns={
            "question": column("Question", width="large"),
            "n": column("n", "count"),
            "share": column("Right", "share"),
            "low": column("Low", "share"),
            "high": column("High", "share"),
            "floor": column("Commonest answer", "share"),
            "precision": column("Evidence precision", "share"),
            "recall": column("Evidence recall", "share"),
        },
        select=True,
    )
    if is_new("knowledge-standards", picked) and picked[0]:
        go(place.change(question=str(picked[0][0])))


def show_wrong(place: KnowledgePlace, found: pl.DataFrame) -> None:
    """The wrong answers, of one question when one is picked; a row opens the conversation."""
    known = set(found["question"])
    rows = found.filter(~pl.col("right"))
    if place.question in known:
        rows = rows.filter(pl.col("question") == place.question)
    title = f"{format_count(rows.height)} wrong answers" + (
        f" to “{place.question}”" if place.question in known else ""
    )
    section(plain(title), "Select one to read the conversation with its evidence marked.")
    if place.question in known and st.button("All questions", key="knowledge-all-questions", type="tertiary"):
        go(place.change(question=""))
    if rows.is_empty():
        return
    if rows.height > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS} are listed; pick a question above to narrow them.")
    picked = show_table(
        rows.head(_MOST_ROWS).with_columns(
            said=pl.col("said").fill_null("no answer"),
            evidence=pl.when(pl.col("wanted").is_not_null()).then(pl.format("{} of {}", "hits", "wanted")),
            id=pl.concat_str("sample_id", pl.lit("|"), pl.col("place").cast(pl.String)),
        ),
        {
            "question": column("Question", width="large"),
            "gold": column("Gold", width="small"),
            "said": column("Run"),
            "evidence": column("Evidence", help="Lines of the gold that the run named."),
            "conversation_id": column("Conversation", "id"),
        },
        key="knowledge-wrong",
        alt="Wrong answers; select one to read its conversation.",
        select="single",
        search=True,
    )
    if picked:
        go(place.change(sample=picked[0]["sample_id"], question=picked[0]["question"]))


def _model(place: KnowledgePlace) -> str:
    rows = cached(queries_pairs.runs, place.dataset).filter(pl.col("run_id") == place.run)
    return str(rows["model"][0]) if rows.height else ""
