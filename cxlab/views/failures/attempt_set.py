"""The attempts that are listed, to be kept: as a link, as a file, or as a dataset to run again."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import describe_group
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import short_model
from cxlab.errors import CxError, UnknownName
from cxlab.read import View, failures
from cxlab.read.files import to_csv, to_parquet
from cxlab.records import Dataset
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.store import sample_set, write
from cxlab.store.exports.chat_export import ChatFilter, render_chat
from cxlab.ui.address import go, has_page
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import plain, show_code
from cxlab.ui.trash import delete
from cxlab.views.benchmarks import names_of
from cxlab.views.failures.groups import ordered_by, titles_of

_MADE = "failures-datasets-made"
_LONGEST_NAME = 80
_ALL_GROUPS = 1_000_000


def save_set(view: View, about: Declaration, total: int) -> None:
    """The filtered set as a link and as files."""
    kept = view.change(attempt="", turn=None)
    less = view.metric in about.card.lower_is_better
    (one, many), metrics = (
        about.card.unit,
        tuple(dict.fromkeys([*about.card.leading, view.metric]) if view.metric else ()),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Save these {many}:", width="content")
        with st.popover("Link", type="tertiary"):
            st.caption("This address shows exactly this set.")
            show_code(address := write_address(kept))
            if is_local(address):
                st.caption(
                    "It opens on this machine alone. Start the app with --host-name NAME for others to reach it, or "
                    "send a file: whoever has it needs no address."
                )
        most = f"; the first {format_count(failures.MOST_EXPORTED)}" if total > failures.MOST_EXPORTED else ""
        files: list[tuple[str, str, str, Callable[[], bytes], str]] = [
            (
                "CSV",
                "csv",
                "text/csv",
                lambda: to_csv(name_columns(write_dialogues(read_set(kept, about, True, metrics, less)), metrics)),
                f"One row a {one} with what was said in it, named as on this page, without empty columns, guarded "
                "against formulas",
            ),
            (
                "Parquet",
                "parquet",
                "application/vnd.apache.parquet",
                lambda: to_parquet(read_set(kept, about, True, metrics, less)),
                f"One row a {one}, with its messages",
            ),
            (
                "JSONL",
                "jsonl",
                "application/x-ndjson",
                lambda: failures.to_jsonl(read_set(kept, about, True, metrics, less)),
                f"One line a {one}, with its messages",
            ),
        ]
        files.append(
            (
                "Chat JSONL",
                "chat.jsonl",
                "application/x-ndjson",
                lambda: render_chat(ChatFilter(attempts=_list_ids(kept))),
                "One dialogue a line in OpenAI's chat format, for training; as metadata its attempt_id, as other files "
                "have it, its model and its verdict. What may not be passed on and own data stay out. More filters: "
                "python -m cxlab export --format chat",
            )
        )
        _offer_dataset(kept, many)
        for name, ending, mime, make, meaning in files:
            st.download_button(
                name,
                make,
                f"{_name_file(about, view, many)}.{ending}",
                mime,
                key=f"set-{ending}",
                on_click="ignore",
                type="tertiary",
                help=f"{meaning}{most}.",
            )


def read_set(
    view: View, about: Declaration, messages: bool = False, metrics: Sequence[str] = (), less_is_better: bool = False
) -> pl.DataFrame:
    """The chosen set as files have it: as `failures.chosen_set`, with the `groups` of each attempt in the words of the
    page (what happened, and where)."""
    chosen = failures.chosen_set(view, messages, metrics, less_is_better, ordered_by(about, view.order))
    titles = titles_of(about)
    every = failures.groups(view, _ALL_GROUPS).iter_rows(named=True)
    words = {row["alike"]: " · ".join(filter(None, describe_group(row, titles))) for row in every}
    told = [None if keys is None else [words.get(key, key) for key in keys] for keys in chosen["alike"].to_list()]
    named = chosen.with_columns(pl.Series("alike", told, dtype=pl.List(pl.String)))
    return named.rename({"alike": "groups"})


def write_dialogues(frame: pl.DataFrame) -> pl.DataFrame:
    """The set with the messages of each attempt as one text, `dialogue`, a message a line; of one without any null."""
    said = pl.element().struct
    line = pl.format("{}: {}", said.field("role"), said.field("text").fill_null("").str.strip_chars())
    text = pl.col("messages").list.eval(line).list.join("\n")
    return frame.with_columns(dialogue=pl.when(text != "").then(text)).drop("messages")


def name_columns(frame: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """The set as people read it: figures called as on the page, columns without any value left out."""
    kept = [name for name in frame.columns if frame[name].null_count() < frame.height]
    # A column of attempts may be called as a metric is: it keeps its name, and the metric the longer one.
    names = {name: name_metric(name) for name in kept if name in metrics and f"{name}_scored" not in kept}
    return frame.select(kept).rename({name: words for name, words in names.items() if words not in kept})


def _name_file(about: Declaration, view: View, many: str) -> str:
    """ "cxlab-sage-failed-dialogues-2026-11-24": of what the set is, as far as a name holds it."""
    shown = {"wrong": "failed", "all": ""}.get(view.verdict or "wrong", view.verdict)
    models, today = (short_model(each) for each in view.models[:2]), f"{datetime.now(UTC):%Y-%m-%d}"
    parts = filter(None, ["cxlab", about.card.id, *models, shown, many, today])
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def is_local(address: str) -> bool:
    """Whether an address is one that no other machine reaches."""
    from urllib.parse import urlsplit

    host = urlsplit(address).hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"


def _list_ids(kept: View) -> frozenset[tuple[str, str]]:
    return frozenset(failures.chosen_set(kept, False, ()).select("run_id", "attempt_id").iter_rows())


def _offer_dataset(kept: View, many: str) -> None:
    """The samples of these attempts as a dataset, and what was made of them here."""
    with st.popover("Dataset to run again", type="tertiary"):
        st.caption(
            f"The samples of these {many}, once each however many models and runs tried them, with all that their "
            "dataset holds beside them. What you run on it is compared with what was run before: it is the same "
            "samples."
        )
        with st.form("failures-dataset", border=False):
            usual = f"Chosen on Failures, {datetime.now(UTC):%Y-%m-%d}"
            name = st.text_input("Name", usual, max_chars=_LONGEST_NAME)
            if st.form_submit_button("Make the dataset", type="primary") and name.strip():
                with guarded():
                    made, lost = make_datasets(kept, name.strip())
                    st.session_state[_MADE] = {each.id: attempts for each, attempts in made}
                    for each in lost:
                        st.warning(plain(each))
        _show_made(st.session_state.get(_MADE, {}), many)


def make_datasets(view: View, name: str) -> tuple[list[tuple[Dataset, int]], list[str]]:
    """A dataset of the view's samples for each dataset that they come from, with how many attempts these were, and what
    of them could not be taken."""
    made, lost = [], []
    asked = {key: value for key, value in view.to_query().items() if key not in ("page", "order")}
    found = failures.samples_of(view)
    for (origin,), rows in found.group_by("dataset_id", maintain_order=True):
        try:
            dataset = sample_set.save_samples(str(origin), name, set(rows["sample_id"]), asked)
            made.append((dataset, int(rows["attempts"].sum())))
        except CxError as fault:
            lost.append(f"{format_count(rows.height)} samples of {origin} are left out: {fault}")
    return made, lost


def say_samples(samples: int, attempts: int, many: str) -> str:
    """How many samples a dataset of these attempts holds; why they are fewer, where they are."""
    told = f"{format_count(samples)} sample{'' if samples == 1 else 's'}"
    if attempts <= samples:
        return told
    each = f", {format_count(attempts // samples)} of each" if attempts % samples == 0 else ""
    tried = "it" if samples == 1 else f"the same ones{each}"
    return f"{told}: the {format_count(attempts)} {many} are tries at {tried}"


def _show_made(made: Mapping[str, int], many: str) -> None:
    for id, attempts in made.items():
        try:
            dataset = write.load_dataset(id)
        except UnknownName:
            continue
        count = len(write.load_samples(id, only_facets=True))
        st.markdown(f"**{plain(dataset.name)}**")
        benchmark = names_of([dataset.benchmark])[dataset.benchmark]
        st.caption(plain(f"{benchmark}, {say_samples(count, attempts, many)}."))
        show_code(f"python -m cxlab run {dataset.benchmark} --dataset {id}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if has_page("run"):
                query = {"bench": dataset.benchmark, "dataset": id}
                st.page_link("pages/run.py", label="Evaluate a model on it", query_params=query)
            if st.button("Undo", key=f"failures-dataset-drop-{id}", type="tertiary"):
                with guarded():
                    delete("dataset", id)
                    st.session_state[_MADE] = {each: n for each, n in made.items() if each != id}
                    st.rerun()


def write_address(view: View) -> str:
    """The address that shows this set."""
    from urllib.parse import urlencode

    base = (st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(view.to_query(), doseq=True)}"


def tell_shared(view: View) -> None:
    """That only what all sides of a comparison tried stands here, and the way to all that their runs tried."""
    if not view.shared or not view.runs:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        sides = "models" if view.shared == "model" else "runs"
        st.caption(f"Only what all {sides} of the comparison tried, as Compare counts it.", width="content")
        if st.button("Show all that these runs tried", key="failures-shared", type="tertiary"):
            go(view.change(shared=""))
