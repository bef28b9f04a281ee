"""The list of datasets and what one of them is: counts, statistics, checks, files, deletion."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.dataset_figures import OWN, CheckTable, FigureTable, ShareTable
from cxlab.charts.numbers import format_count, format_share, format_time
from cxlab.read import View
from cxlab.records import Dataset
from cxlab.records.dataset import Derivation
from cxlab.store.exports.sharing import is_kept_out
from cxlab.ui.address import cached, go, has_page, here, set_view
from cxlab.ui.app_frame import dark, guarded, zone
from cxlab.ui.labels import chip, error, figures, label, plain, section, show_code
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.ui.trash import delete
from cxlab.views.benchmarks import declared, names_of
from cxlab.views.datasets import queries
from cxlab.views.datasets.charts import draw_multiples, draw_shares, format_figure
from cxlab.views.datasets.cost_panel import show_spending

LICENCE = "What may be done with it; imported data keeps the licence it came with."
_DERIVATIONS: Mapping[Derivation, str] = {
    "samples": "Some samples of", "conversations": "Some conversations of", "taxonomy": "Another taxonomy for",
    "task": "A task on the conversations of", "decisions": "With people's decisions, from",
    "labels": "Questions and labels for", "import": "The conversations of",
}  # fmt: skip
_MIME = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv", "jsonl": "application/x-ndjson"}


def show_ways(first: bool) -> None:
    """The two ways to a new dataset; on an empty store the first one stands in the box above."""
    with st.container(horizontal=True):
        if not first and st.button("Generate a dataset", key="go-generate", type="primary"):
            go(View(tab="generate"))
        if st.button("Import a folder", key="go-import"):
            go(View(tab="import"))


def show_list(view: View, frame: pl.DataFrame) -> None:
    """All datasets under the filter in the sidebar; a click on a row opens one."""
    frame = _narrow(view, frame)
    total = frame.select(pl.col("samples", "conversations", "articles").sum()).row(0, named=True)
    figures(
        [
            ("Datasets", format_count(frame.height), "In this store."),
            ("Samples", format_count(total["samples"]), "Questions with a known answer that models are scored on."),
            ("Conversations", format_count(total["conversations"]), "Whole conversations that can be read here."),
            ("Articles", format_count(total["articles"]), "Articles of all knowledge bases."),
        ]
    )
    rows = frame.with_columns(
        benchmark_=pl.col("benchmark").replace(names_of(frame["benchmark"].unique())),
        tasks_=pl.col("tasks").list.eval(pl.element().str.replace_all("_", " ")).list.join(", "),
    )
    columns = {
        # Names that tell themselves apart at their end.
        "name": column("Dataset", width="large"),
        "benchmark_": column("Benchmark"),
        "samples": column("Samples", "count"),
        "runs": column("Runs", "count", "Runs that were made on it."),
        "created": column("Made", "time"),
        "conversations": column("Conversations", "count"),
        "articles": column("Articles", "count"),
        "dataset_id": column("Id", "id"),
        "source": column("Source", help="Generated here, or imported from files."),
        "language": column("Language"),
        "seed": column("Seed", "text", "The same settings and seed give the same dataset."),
        "licence": column("Licence", help=LICENCE),
        "tasks_": column("Tasks"),
    }
    section("Pick one to see what is in it")
    picked = show_table(rows, columns, key="datasets", alt="All datasets.", select="single", search=True)
    if picked:
        go(View(dataset=picked[0]["dataset_id"], tab="statistics"))


def _narrow(view: View, frame: pl.DataFrame) -> pl.DataFrame:
    known = frame["benchmark"].unique(maintain_order=True).to_list()
    if len(known) < 2:
        return frame
    st.session_state["datasets-benchmark"] = view.benchmark if view.benchmark in known else ""
    with st.sidebar:
        picked = st.selectbox(
            "Benchmark", ["", *known], key="datasets-benchmark",
            format_func={"": "all", **names_of(known)}.__getitem__,
            on_change=lambda: set_view(here().change(benchmark=st.session_state["datasets-benchmark"])),
        )  # fmt: skip
    return frame.filter(pl.col("benchmark") == picked) if picked else frame


def show_summary(dataset: Dataset, row: Mapping[str, Any]) -> None:
    """What a dataset is, in a line of marks."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        chip(declared(dataset.benchmark).card.name, "blue")
        chip(dataset.source)
        for name in ("brand", "language", "size"):
            if value := queries.options(dataset).get(name):
                chip(f"{name}: {value}")
        writer = str(queries.options(dataset).get("model") or "")
        if writer:
            chip(f"written by {label(writer)}")
        if dataset.seed is not None:
            chip(f"seed {dataset.seed}")
        chip(f"made {format_time(dataset.created, zone())}")
        chip(f"{format_count(row['runs'])} {'run' if row['runs'] == 1 else 'runs'} on it")
        if dataset.redistributable is False:
            chip("may not be passed on")
    if dataset.derived_from and dataset.derivation:
        st.caption(plain(f"{_DERIVATIONS[dataset.derivation]} {dataset.derived_from}."))
    if note := dataset.config.get("note"):
        st.caption(plain(str(note)))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(f"Licence: {dataset.licence}"), width="content")
        if has_page("run"):
            query = {"bench": dataset.benchmark, "dataset": dataset.id}
            st.page_link("pages/run.py", label="Evaluate models on it", query_params=query)


def show_statistics(dataset: Dataset) -> None:
    """Its tasks, and its figures beside published ones."""
    counts = cached(queries.tasks, dataset.id)
    total = sum(counts.values())
    if not total:
        st.info("Nobody is scored on this dataset: its conversations are for reading and for realism studies.")
    else:
        # What a benchmark scores apart is called otherwise in each: the chips name it.
        section(f"{format_count(total)} {'sample' if total == 1 else 'samples'}")
        with st.container(horizontal=True, gap="small"):
            for task, n in counts.items():
                chip(f"{label(task)}: {format_count(n)}")
    for found in cached(queries.figures, dataset.id):
        if isinstance(found, FigureTable):
            _show_figures(found)
        elif isinstance(found, ShareTable):
            _show_shares(found)
        else:
            _show_checks(found)


def _show_figures(found: FigureTable) -> None:
    rows = found.frame.to_dicts()
    known = any(row[OWN] is not None for row in rows)
    section(found.finding, found.meaning, ["published"])
    if not known:
        st.info(plain(found.lacking))
    columns = {
        **{name: column(words, width="medium") for name, words in found.texts.items()},
        **{f"{name}_": column(words) for name, words in found.columns.items()},
    }
    alt = f"Figures of {', '.join(found.columns.values())}. {found.finding if known else ''}"
    figure = draw_multiples(rows, found.reference, found.columns, dark())
    show_chart(figure, _worded(found.frame, list(found.columns)), key=found.id, alt=alt, columns=columns)


def _show_checks(found: CheckTable) -> None:
    frame = found.frame
    section(found.finding, found.meaning)
    if frame.is_empty():
        st.info(plain(found.lacking))
        return
    rows = [
        {**row, "share": row["rate"], "own": True} for row in frame.iter_rows(named=True) if row["rate"] is not None
    ]
    unknown = {"own": False, "low": None, "high": None, "n": None}
    rows += [{"label": name, "share": share, **unknown} for name, share in found.published]
    twin = frame.with_columns(
        interval=pl.Series([_interval(row) for row in frame.iter_rows(named=True)], dtype=pl.String),
    )
    columns = {
        "label": column("Check", width="medium"),
        "what": column("Of what"),
        "n": column("Looked at", "count"),
        "passed": column("Upheld", "count"),
        "rate": column("Rate", "share"),
        "interval": column("95 % interval"),
        "left_out": column("Left out", "count", "Samples that are not in the dataset because they failed."),
        "relabelled": column("Relabelled", "count", "Samples whose expected answer was mended."),
        "unread": column("Undecided", "count", "The model's reply could not be read; the sample stays."),
    }
    alt = "Share of samples that passed each check."
    show_chart(draw_shares(rows, dark(), zero=False), twin, key=found.id, alt=alt, columns=columns)


def _show_shares(found: ShareTable) -> None:
    section(found.finding, found.meaning)
    if found.frame.is_empty():
        st.info(plain(found.lacking))
        return
    rows = [{**row, "own": True, "n": row["of"]} for row in found.frame.iter_rows(named=True)]
    unknown = {"own": False, "low": None, "high": None, "n": None}
    rows += [{"label": name, "share": share, **unknown} for name, share in found.published]
    columns = {
        "label": column("Kind", width="medium"), "n": column("Count", "count"), "of": column("Of", "count"),
        "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
    }  # fmt: skip
    show_chart(draw_shares(rows, dark()), found.frame, key=found.id, alt="Share of each kind.", columns=columns)


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{format_share(row['low'])} to {format_share(row['high'])}"


def _worded(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    kinds = frame["kind"] if "kind" in frame.columns else ["count"] * frame.height
    return frame.with_columns(
        pl.Series(f"{name}_", [format_figure(x, k) for x, k in zip(frame[name], kinds, strict=True)], dtype=pl.String)
        for name in names
    )


def show_files(dataset: Dataset, runs: int) -> None:
    """Its tables as files, how it was made, and the way to delete it."""
    section("Its tables", "Parquet as stored; CSV guarded against formulas; JSON Lines with nested objects.")
    for name, n in cached(queries.count_rows, dataset.id).items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(name)}** · {format_count(n)} {'row' if n == 1 else 'rows'}", width=260)
            if is_kept_out(dataset, name):
                st.text(f"Not for downloads: what people said may not be passed on ({dataset.licence}).")
                continue
            for form, mime in _MIME.items():
                st.download_button(
                    form.upper() if form != "parquet" else "Parquet",
                    partial(queries.export, dataset.id, name, form),
                    f"{dataset.id}-{name}.{form}",
                    mime,
                    key=f"file-{name}-{form}",
                    on_click="ignore",
                    type="tertiary",
                )
    rejected = cached(queries.rejected, dataset.id)
    if not rejected.is_empty():
        show_rejected(rejected, "stored")
    section("How it was made")
    show_code(dataset.id)
    if spent := dataset.config.get("spending"):
        show_spending(spent)
    with st.expander("Settings as stored", type="compact"):
        show_code(json.dumps(dataset.config, ensure_ascii=False, indent=1, default=str))
    section("Delete it")
    if runs:
        st.caption(
            f"{format_count(runs)} runs rest on it. They stay; their expected answers are gone until it is back."
        )
    if st.button(
        "Delete dataset", key="dataset-delete", help="Moves it to the trash, from where it can be brought back."
    ):
        with guarded():
            delete("dataset", dataset.id)
            go(View())


def show_rejected(rejected: pl.DataFrame, key: str) -> None:
    """What an import did not take, row by row, and which complaints are commonest."""
    files = rejected["file"].n_unique()
    section(
        f"{format_count(rejected.height)} {'complaint' if rejected.height == 1 else 'complaints'} in {files} "
        + ("file" if files == 1 else "files"),
        "Rows count from 1, without the header. A row with one bad cell may be kept without that cell; it says so.",
    )
    columns = {
        "file": column("File", width="medium"),
        "row": column("Row", "count", width="small"),
        "column": column("Column", width="small"),
        "problem": column("Problem", width="large"),
    }
    show_table(rejected, columns, key=f"rejected-{key}", alt="What was rejected, row by row.", search=True,
               height=300 if rejected.height > 8 else None)  # fmt: skip


def say_unknown(problem: str) -> None:
    """A dataset that is not there, and the way out."""
    error(problem)
    if st.button("All datasets", key="dataset-none"):
        go(View())
