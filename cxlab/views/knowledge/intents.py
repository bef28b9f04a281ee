"""Knowledge, third tab: why customers called, which intents a run confuses, and what clustering would discover."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.errors import CxError
from cxlab.ui.address import cached, marks
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import is_new
from cxlab.ui.labels import empty, error, label, plain, section
from cxlab.ui.place import go, pick
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.knowledge import queries_intents
from cxlab.views.knowledge.charts import draw_tree
from cxlab.views.knowledge.charts_intents import draw_confused, draw_labels, draw_ways
from cxlab.views.knowledge.labelled_conversation import show_conversation
from cxlab.views.knowledge.place import KnowledgePlace

Discover = Callable[..., list[int]]
LabelScore = Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]
Read = Callable[[str], Sequence[tuple[str, str]]]
_MOST_BARS, _MOST_CLUSTERS = 20, 400
_WAYS = {
    "raw": "equal to the letter",
    "fuzzy": "mapped to the nearest label first, as the public evaluator does",
    "verified": "accepted by the run's judges, whatever was expected",
    "level one": "first level of the label right",
}


def show_intents(
    place: KnowledgePlace, discover: Discover, score: LabelScore, read: Read, start_run: Callable[[], None]
) -> None:
    """One taxonomy: its labels, how well runs tell them, what they confuse, and what discovery finds."""
    known = cached(queries_intents.taxonomies, place.dataset)
    names = known["taxonomy"].drop_nulls().unique().sort().to_list()
    if not names:
        st.info("This dataset has no taxonomy of intents, and no conversation with one.")
        return
    sizes = {name: known.filter(pl.col("taxonomy") == name) for name in names}
    deep = {name: "two levels" if part["l2"].is_not_null().any() else "flat" for name, part in sizes.items()}
    titles = {name: f"{name} · {format_count(part.height)} labels, {deep[name]}" for name, part in sizes.items()}
    taxonomy = pick(place, "taxonomy", "Taxonomy", names, titles, style="segments", clears=("gold", "said", "sample"))
    place = replace(place, taxonomy=taxonomy)
    if place.sample:
        show_conversation(place)
        return
    found = cached(queries_intents.confusions, place.dataset, place.run, taxonomy) if place.run else pl.DataFrame()
    if place.gold:
        show_cell(place)
        return
    if found.is_empty():
        show_labels(place, sizes[taxonomy], None)
        empty(
            "Here you would see how many intents a run tells right, by three ways of counting, and which it confuses. "
            "No run has told the intents of this dataset yet.",
            "Run the task",
            start_run,
            f"python -m cxlab run cxmarena --dataset {place.dataset} --model simulated:strong",
        )
    else:
        show_ways(place)
        show_confused(place, found, sizes[taxonomy]["label"].to_list())
        show_labels(place, sizes[taxonomy], found)
    show_discovery(place, discover, score)
    show_real_discovery(discover, score, read)


def show_ways(place: KnowledgePlace) -> None:
    """Raw, fuzzy and verified accuracy of every model, side by side."""
    rows = cached(queries_intents.accuracies, place.dataset, place.taxonomy)
    if rows.is_empty():
        return
    best = {
        row["way"]: row
        for row in rows.sort("share", descending=True)
        .unique("way", keep="first", maintain_order=True)
        .iter_rows(named=True)
    }
    lead = best.get("raw")
    others = ", ".join(f"{format_share(best[way]['share'])} {way}" for way in ("fuzzy", "verified") if way in best)
    title = (
        f"At best {format_share(lead['share'])} of intents told right" + (f"; {others}" if others else "")
        if lead
        else others
    )
    section(plain(title), "; ".join(f"{way}: {words}" for way, words in _WAYS.items() if way in best) + ".")
    show_chart(
        draw_ways(rows, marks(), dark()),
        rows.with_columns(name=name_each(rows["model"], label)),
        key=f"knowledge-ways-{place.taxonomy}",
        alt=f"Accuracy by way of counting and model. {title}.",
        columns={
            "name": column("Model"),
            "way": column("Counted"),
            "share": column("Right", "share"),
            "low": column("Low", "share", "Wilson's 95 % interval."),
            "high": column("High", "share"),
            "n": column("Conversations", "count"),
        },
    )


def show_confused(place: KnowledgePlace, found: pl.DataFrame, taxonomy: Sequence[str]) -> None:
    """The most confused labels as a matrix, and all confusions as a table; either leads to the conversations."""
    found = found.with_columns(outside=~pl.col("said").is_in(taxonomy))
    wrong = found.filter(pl.col("gold") != pl.col("said"))
    total, n = int(wrong["n"].sum()), int(found["n"].sum())
    if wrong.is_empty():
        section(
            "No intent is confused with another", f"All {format_count(n)} conversations have their label to the letter."
        )
        return
    inside = wrong.filter(~pl.col("outside"))
    strange = total - int(inside["n"].sum())
    worst = inside.row(0, named=True) if inside.height else None
    section(
        plain(
            f"Most often confused: “{worst['gold']}” is called “{worst['said']}”"
            if worst
            else "No intent is confused with another; the wrong labels are outside the taxonomy"
        ),
        f"{format_count(total)} of {format_count(n)} conversations have another label than the gold; "
        f"{format_count(strange)} of these labels are not in the taxonomy. Down: what it is; across: what the run "
        "called it, by the same numbers. Click a cell, or select a row, to see the conversations.",
    )
    labels = queries_intents.most_confused(found.filter(~pl.col("outside")))
    picked: list[list[Any]] = []
    if labels:
        picked = show_chart(
            draw_confused(found, labels, dark()),
            found.filter(pl.col("gold").is_in(labels) & pl.col("said").is_in(labels)),
            key=f"knowledge-confused-{place.taxonomy}",
            alt=f"The {len(labels)} most confused intents: what they are against what they were called.",
            columns={"gold": column("Is"), "said": column("Called"), "n": column("Conversations", "count")},
            select=True,
        )
    rows = show_table(
        wrong.with_columns(
            share=pl.col("n") / pl.col("of"),
            known=pl.when(pl.col("outside")).then(pl.lit("! not a label")).otherwise(pl.lit("")),
            id=pl.concat_str("gold", pl.lit("|"), "said"),
        ),
        {
            "gold": column("Is", width="large"),
            "said": column("Called", width="large"),
            **({"known": column("In the taxonomy", width="small")} if strange else {}),
            "n": column("Conversations", "count", width="small"),
            "share": column("Of its own", "share", "Share of the conversations that have this intent.", width="small"),
        },
        key=f"knowledge-confusions-{place.taxonomy}",
        alt="All confusions, commonest first; select one to see its conversations.",
        select="single",
        search=True,
        height=320,
    )
    if is_new("knowledge-confused", picked) and len(picked[0]) == 2:
        go(place.change(gold=str(picked[0][0]), said=str(picked[0][1])))
    if rows:
        go(place.change(gold=rows[0]["gold"], said=rows[0]["said"]))


def show_labels(place: KnowledgePlace, known: pl.DataFrame, found: pl.DataFrame | None) -> None:
    """The taxonomy with its counts; a click leads to the conversations of a label."""
    judged = queries_intents.by_label(found) if found is not None and found.height else None
    rows = known.select("label", "l1", "l2", "description", "n")
    right: dict[str, int] = dict(judged.select("gold", "right").iter_rows()) if judged is not None else {}
    wrong: dict[str, int] = dict(judged.select("gold", "wrong").iter_rows()) if judged is not None else {}
    rows = rows.with_columns(
        pl.col("label").replace_strict(right, default=None, return_dtype=pl.Int64).alias("right"),
        pl.col("label").replace_strict(wrong, default=None, return_dtype=pl.Int64).alias("wrong"),
    )
    used = rows.filter(pl.col("n") > 0)
    top = used.row(0, named=True) if used.height else None
    section(
        f"{format_count(used.height)} of {format_count(known.height)} labels occur"
        + (plain(f"; most often “{top['label']}”") if top else ""),
        "Conversations by label" + (", split by what the run made of them" if judged is not None else "")
        + f". The {min(_MOST_BARS, used.height)} commonest are drawn, all are in the table. Click one to read.",
    )  # fmt: skip
    columns = {
        "label": column("Label", width="large"),
        "n": column("Conversations", "count"),
        **(
            {"right": column("Told right", "count"), "wrong": column("Told wrong", "count")}
            if judged is not None
            else {}
        ),
        "description": column("What it means"),
    }
    if known["l2"].is_not_null().any():
        figure = draw_tree(
            _as_tree(rows), (), "All", dark(), noun="conversations", wrong="told wrong" if judged is not None else ""
        )
    else:
        figure = draw_labels(used.head(_MOST_BARS), dark())
    picked = show_chart(
        figure,
        rows,
        key=f"knowledge-labels-{place.taxonomy}",
        alt="Conversations by intent.",
        columns=columns,
        select=True,
    )
    if is_new("knowledge-labels", picked) and picked[0][0]:
        go(place.change(gold=":".join(str(part) for part in picked[0]), said=""))


def _as_tree(rows: pl.DataFrame) -> pl.DataFrame:
    """Labels of two levels as a tree whose blocks are conversations."""
    leaves = rows.filter(pl.col("n") > 0).with_columns(pl.col("wrong").fill_null(0))
    made: list[dict[str, Any]] = []
    for (first,), part in leaves.group_by("l1", maintain_order=True):
        made.append({"path": [first], "title": first, "n": int(part["n"].sum()), "wrong": int(part["wrong"].sum())})
        made += [
            {"path": [first, row["l2"]], "title": row["l2"], "n": row["n"], "wrong": row["wrong"]}
            for row in part.iter_rows(named=True)
            if row["l2"]
        ]
    schema: dict[str, Any] = {"path": pl.List(pl.String), "title": pl.String, "n": pl.Int64, "wrong": pl.Int64}
    return pl.DataFrame(made, schema=schema)


def show_cell(place: KnowledgePlace) -> None:
    """The conversations of one label, or of one confusion."""
    if st.button("← All intents", key="knowledge-intents-up", type="tertiary", shortcut="u"):
        go(place.change(gold="", said=""))
    if place.said and place.run:
        rows = cached(queries_intents.conversations, place.dataset, place.run, place.taxonomy, place.gold, place.said)
        right = place.said == place.gold
        title = f"“{place.gold}”, told right" if right else f"“{place.gold}” called “{place.said}”"
    else:
        rows = cached(queries_intents.of_label, place.dataset, place.taxonomy, place.gold)
        title = f"Conversations about “{place.gold}”"
    section(plain(title), f"{format_count(rows.height)} conversations. Select one to read it.")
    if rows.is_empty():
        st.info("There is no such conversation.")
        return
    picked = show_table(
        rows.with_columns(id=pl.col("sample_id"), opening=pl.col("opening").str.replace_all("\n", " · ")),
        {
            "conversation_id": column("Conversation", "id", width="small"),
            "opening": column("How it begins", width="large"),
        },
        key="knowledge-cell",
        alt="Conversations; select one to read it.",
        select="single",
        search=True,
    )
    if picked:
        go(place.change(sample=picked[0]["sample_id"]))


# Discovery --------------------------------------------------------------------------------------------


def show_discovery(place: KnowledgePlace, discover: Discover, score: LabelScore) -> None:
    """What clustering the customers' words finds without the labels, scored against them."""
    rows = cached(queries_intents.utterances, place.dataset, place.taxonomy)
    labels = rows["gold"].n_unique()
    if rows.height < 3 or labels < 2:
        return
    section(
        "Would these intents be discovered?",
        "Conversations are clustered by what the customer says, without looking at the labels; then the clusters are "
        "compared with them. V-measure rises with the number of clusters even by chance; adjusted Rand is 0 by chance.",
    )
    most = min(rows.height, _MOST_CLUSTERS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        count = st.number_input(
            "Clusters", 2, most, min(labels, most), key=f"knowledge-clusters-{place.taxonomy}",
            help="As many as the taxonomy has labels, unless you choose otherwise.", width=160,
        )  # fmt: skip
        started = st.button("Cluster the conversations", key="knowledge-discover")
    key = ("knowledge-discovered", place.dataset, place.taxonomy, int(count))
    done: set[Any] = st.session_state.setdefault("knowledge-discovered", set())
    if started:
        done.add(key)
    if key not in done:
        st.caption(f"{format_count(rows.height)} conversations; it takes seconds and is remembered.")
        return
    with st.spinner(f"Clustering {format_count(rows.height)} conversations"):
        try:
            found = cached(_cluster, place.dataset, place.taxonomy, int(count), discover, score)
        except CxError as fault:
            error(str(fault))
            return
    _show_clusters(found, "conversations")


def show_real_discovery(discover: Discover, score: LabelScore, read: Read) -> None:
    """The same on what real customers said, from a file with their intents."""
    with st.expander("The same on utterances of real customers", type="compact"):
        path = st.text_input(
            "File with one JSON object a line: utterance, intent", key="knowledge-utterances",
            placeholder="/data/natcs/development.test-utterances.jsonl",
            help="On the machine that runs this app; for example the test utterances of NatCS (DSTC 11, "
            "CDLA-Permissive-2.0). They are clustered into as many groups as the file has intents.",
        ).strip()  # fmt: skip
        if not path:
            return
        with st.spinner("Clustering the utterances"):
            try:
                found = cached(_cluster_file, path, discover, score, read)
            except CxError as fault:
                error(str(fault))
                return
        _show_clusters(found, "utterances")


def _cluster_file(path: str, discover: Discover, score: LabelScore, read: Read) -> Mapping[str, Any]:
    rows = pl.DataFrame(read(path), schema={"text": pl.String, "gold": pl.String}, orient="row")
    return _hold_against(rows, discover(rows["text"].to_list(), 0, k=rows["gold"].n_unique()), score)


def _cluster(dataset: str, taxonomy: str, count: int, discover: Discover, score: LabelScore) -> Mapping[str, Any]:
    rows = queries_intents.utterances(dataset, taxonomy)
    return _hold_against(rows, discover(rows["text"].to_list(), 0, k=count), score)


def _hold_against(rows: pl.DataFrame, clusters: Sequence[int], score: LabelScore) -> Mapping[str, Any]:
    return {
        "figures": score(clusters, rows["gold"].to_list()),
        "table": queries_intents.describe_clusters(rows.with_columns(pl.Series("cluster", clusters, dtype=pl.Int64))),
        "n": rows.height,
    }


def _show_clusters(found: Mapping[str, Any], what: str) -> None:
    figures, table = found["figures"], found["table"]
    columns = st.columns(4)
    shown = (
        ("V-measure", "v_measure", "Harmonic mean of homogeneity and completeness; 1 is perfect."),
        ("Adjusted Rand", "adjusted_rand", "Agreement of pairs beyond chance; 0 is chance, 1 is perfect."),
        ("Homogeneity", "homogeneity", "Each cluster holds one intent only."),
        ("Completeness", "completeness", "Each intent lies in one cluster only."),
    )
    for place, (title, name, meaning) in zip(columns, shown, strict=True):
        place.metric(title, format_ratio(figures[name]), help=f"{meaning} n {format_count(found['n'])} {what}.")
    mixed = table.filter(pl.col("share") < 0.5).height
    st.caption(
        f"{format_count(figures['clusters'])} clusters against {format_count(figures['intents'])} intents; in "
        f"{format_count(mixed)} clusters no intent has half of the {what}."
    )
    show_table(
        table,
        {
            "cluster": column("Cluster", "count"),
            "n": column(what.capitalize(), "count"),
            "gold": column("Mostly", width="medium"),
            "share": column("Of the cluster", "progress", "Share of its commonest intent."),
            "intents": column("Intents in it", "count"),
            "example": column("Example", width="large"),
        },
        key=f"knowledge-clusters-{what}",
        alt="The clusters, largest first, with the intent that most of each has.",
        search=True,
    )
