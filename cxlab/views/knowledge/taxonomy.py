"""Knowledge, the taxonomy: rename, merge, split and describe its labels, and freeze a version that runs can name."""

from collections.abc import Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks.cxmarena.tasks import taxonomy_drafts
from cxlab.benchmarks.cxmarena.tasks.taxonomy_drafts import Draft
from cxlab.benchmarks.cxmarena.tasks.taxonomy_versions import (
    Action,
    Change,
    Label,
    Version,
    change,
    freeze,
    read_labels,
)
from cxlab.charts.numbers import format_count, format_time
from cxlab.errors import BadOption, BadStore
from cxlab.records import Dataset
from cxlab.store import write
from cxlab.ui.address import cached, has_page
from cxlab.ui.annotations import author
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import plain, section, show_code
from cxlab.ui.place import go, pick
from cxlab.ui.tables import column, show_table
from cxlab.ui.trash import delete, show_trash
from cxlab.views.knowledge import queries_intents
from cxlab.views.knowledge.place import KnowledgePlace

_ACTIONS: dict[Action, str] = {
    "rename": "Rename a label",
    "merge": "Merge labels into one",
    "split": "Split a label",
    "describe": "Describe a label anew",
}


def show_taxonomy(place: KnowledgePlace) -> None:
    """The labels of one taxonomy as they would be, what changes them, and the versions that were frozen."""
    known = cached(queries_intents.taxonomies, place.dataset)
    names = known["taxonomy"].drop_nulls().unique().sort().to_list()
    if not names:
        st.info("This dataset has no taxonomy of intents.")
        return
    taxonomy = str(pick(place, "taxonomy", "Taxonomy", names, style="segments"))
    try:
        labels = read_labels(place.dataset, taxonomy)
    except BadOption as without:
        st.info(plain(without))
        return
    draft, version = _read_draft(place, taxonomy, labels)
    changes = draft.changes
    counts = dict(known.filter(pl.col("taxonomy") == taxonomy).select("label", "n").iter_rows())
    held = {label.name: 0 for label in version.labels}
    unknown = 0
    for old, went in version.moved.items():
        if len(went) == 1:
            held[went[0]] += counts.get(old, 0)
        else:
            unknown += counts.get(old, 0)
    many = f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
    section(
        f"{format_count(len(version.labels))} labels" + (f", {many} not frozen yet" if changes else ""),
        "Changes are a draft, kept in the store for everybody who opens it, until they are frozen as a version: a "
        "dataset of its own, with the same conversations, that a run names. What was evaluated before stays as it is.",
    )
    rows = pl.DataFrame(
        [(each.name, held[each.name], each.description) for each in version.labels],
        schema={"label": pl.String, "n": pl.Int64, "description": pl.String},
        orient="row",
    )
    columns = {
        "label": column("Label", width="medium"),
        "n": column("Conversations", "count", "Of which it is the right one."),
        "description": column("What it stands for", width="large"),
    }
    show_table(rows, columns, key="knowledge-taxonomy", alt="The labels of the taxonomy as they would be.", search=True)
    if unknown:
        st.warning(
            f"{format_count(unknown)} conversations had a label that is split: nobody knows yet which part is right, "
            "so the version leaves them out of the task."
        )
    _ask_change(place, taxonomy, [label.name for label in version.labels])
    if changes or draft.discarded:
        _show_draft(place, taxonomy, draft)
    _show_versions(place)


def _read_draft(place: KnowledgePlace, taxonomy: str, labels: Sequence[Label]) -> tuple[Draft, Version]:
    """The draft and what it comes to; the labels as they are where it is damaged or fits them no more."""
    try:
        draft = taxonomy_drafts.read_draft(place.dataset, taxonomy)
        return draft, change(labels, draft.list_changes())
    except (BadStore, BadOption) as fault:
        st.warning(plain(f"The draft cannot be read: {fault}"))
        if st.button("Discard the draft", key="knowledge-taxonomy-drop-damaged"):
            with guarded():
                taxonomy_drafts.discard(place.dataset, taxonomy)
                st.rerun()
        return Draft(), change(labels, [])


def _ask_change(place: KnowledgePlace, taxonomy: str, names: list[str]) -> None:
    with st.form("knowledge-taxonomy-change", clear_on_submit=True):
        action = st.selectbox("What to do", list(_ACTIONS), format_func=lambda each: _ACTIONS[each])
        chosen = st.multiselect("Labels", names, placeholder="one; two or more to merge")
        given = st.text_area("New name", height=80, max_chars=2000, help="To split: two or more, one a line.")
        text = st.text_input("What it stands for", max_chars=400, placeholder="empty keeps what there is")
        if st.form_submit_button("Change", type="primary"):
            lines = tuple(line for line in given.splitlines() if line.strip())
            wanted = Change(action, tuple(chosen), lines, text.strip())
            with guarded():
                taxonomy_drafts.add_change(place.dataset, taxonomy, wanted, author())
                st.rerun()


def _show_draft(place: KnowledgePlace, taxonomy: str, draft: Draft) -> None:
    if not draft.changes:
        with st.container(horizontal=True, vertical_alignment="center"):
            count = len(draft.discarded)
            st.caption(f"{format_count(count)} change{' was' if count == 1 else 's were'} discarded.", width="content")
            if st.button("Bring back", key="knowledge-taxonomy-back", type="tertiary"):
                with guarded():
                    taxonomy_drafts.bring_back(place.dataset, taxonomy)
                    st.rerun()
        return
    with st.container(border=True):
        st.markdown("**Changes**")
        for number, each in enumerate(draft.changes, 1):
            st.caption(plain(f"{number}. {each.change.describe()} · {each.by}, {format_time(each.made, zone())}"))
        with st.container(horizontal=True, gap="small"):
            if st.button("Undo the last", key="knowledge-taxonomy-undo", type="tertiary"):
                with guarded():
                    taxonomy_drafts.undo_last(place.dataset, taxonomy, len(draft.changes))
                    st.rerun()
            if st.button("Discard all", key="knowledge-taxonomy-discard", type="tertiary"):
                with guarded():
                    taxonomy_drafts.discard(place.dataset, taxonomy)
                    st.rerun()
        with st.form("knowledge-taxonomy-freeze", border=False):
            usual = f"{write.load_dataset(place.dataset).name}, taxonomy {taxonomy} changed"
            name = st.text_input("Name of the version", usual[:120], max_chars=120)
            if st.form_submit_button("Freeze as a version", type="primary") and name.strip():
                with guarded():
                    freeze(place.dataset, taxonomy, name, draft.list_changes())
                    taxonomy_drafts.end(place.dataset, taxonomy)
                    # Named in the address: the newest dataset is the version now.
                    go(place)


def _show_versions(place: KnowledgePlace) -> None:
    made = write.list_derived(place.dataset, "taxonomy")
    if made:
        section(f"{format_count(len(made))} {'version' if len(made) == 1 else 'versions'} of this dataset's taxonomies")
    for each in made:
        _show_version(place, each)
    show_trash("dataset")


def _show_version(place: KnowledgePlace, each: Dataset) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(each.name)}**")
        told = "; ".join(str(one) for one in each.config.get("changes") or ())
        left = int(each.config.get("left_out") or 0)
        words = f"Taxonomy {each.config.get('taxonomy')}: {told}"
        st.caption(plain(words + (f". {format_count(left)} conversations are left out" if left else "") + "."))
        show_code(f"python -m cxlab run {each.benchmark} --dataset {each.id}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if has_page("run"):
                query = {"bench": each.benchmark, "dataset": each.id}
                st.page_link("pages/run.py", label="Evaluate a model on it", query_params=query)
            if st.button("Look at it", key=f"knowledge-version-{each.id}", type="tertiary"):
                go(place.change(dataset=each.id))
            if st.button("Delete", key=f"knowledge-version-drop-{each.id}", type="tertiary", help="Into the trash."):
                with guarded():
                    delete("dataset", each.id)
                    st.rerun()
