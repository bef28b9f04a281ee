"""The form of the page Retrieval that tries other indexes: methods and chunk sizes as a grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st

from cxlab.charts.numbers import format_count, format_seconds, format_usd
from cxlab.ui.choices import LARGEST, choose_number
from cxlab.ui.labels import section

METHODS = {
    "bm25": "BM25: words, weighted by how rare they are",
    "lexical": "Lexical: TF-IDF cosine of words and spelling",
    "hashing": "Hashing: vectors of spelling, installed everywhere",
    "minilm": "MiniLM: vectors of meaning, on this machine",
    "chroma": "Chroma: the best vectors there are, in an approximate index (HNSW) kept on disk",
    "hybrid": "Hybrid: BM25 and the best vectors there are, fused",
}
SIZES = (250, 500, 1000, 2000)
STYLES = {
    "keywords": "keywords that a model writes",
    "question": "a question that a model writes",
    "last": "the customer's last message as it is",
}

_STYLES_TIP = "; ".join(f"{name}: {meaning}" for name, meaning in STYLES.items())


@dataclass(frozen=True)
class IndexRequest:
    """What was filled in; `judges` are asked only where answers are written."""

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    overlap: int
    tasks: tuple[str, ...]
    model: str
    judges: tuple[str, ...]
    limit: int | None
    query: str
    respond: bool


def fill_in(
    tasks: dict[str, str], models: Sequence[str], judges: Sequence[str], lacking: dict[str, str]
) -> IndexRequest:
    """The fields, in the address like those of the page Run. `lacking`: method → what must be installed first."""
    section("Try another index on this dataset", "Each method with each chunk size becomes a run of its own.")
    many: dict[str, Any] = {"bind": "query-params", "wrap": True}
    left, right = st.columns(2)
    usable = [name for name in METHODS if name not in lacking]
    tip = "Or type openai:MODEL, endpoint:NAME/MODEL, or hybrid: or chroma: before either. "
    tip += " ".join(METHODS.values())
    methods = left.multiselect("Methods", usable, [usable[0]], key="methods", accept_new_options=True, help=tip, **many)
    sizes = right.multiselect(
        "Characters a chunk", [str(size) for size in SIZES], ["500"], key="sizes", accept_new_options=True, **many
    )
    for name, needs in lacking.items():
        st.caption(f"{name} is not installed here: `{needs}`")
    # What stands in the address is what is shown, so a task is chosen by its title.
    titles = {title: task for task, title in tasks.items()}
    shown = left.multiselect("Tasks", list(titles), list(titles), key="on", **many)
    picked = [titles[title] for title in shown]
    with right:
        tip = "What neighbouring chunks share, so that nothing is cut in two."
        overlap = choose_number("overlap", "Overlap, % of the chunk", 0, 90, 10, help=tip) or 0
    query, respond, model, panel = "keywords", False, models[0], tuple(judges)
    if "multi_turn" in picked:
        query = left.selectbox("Query in multi-turn", list(STYLES), key="query", bind="query-params", help=_STYLES_TIP)
        model = right.selectbox(
            "Model", models, key="writer", bind="query-params", help="Writes the queries, and the answers if wanted."
        )
        respond = st.checkbox(
            "Write and judge answers", key="respond", bind="query-params",
            help="Takes a call for each answer and one for each judge; finding alone takes neither.",
        )  # fmt: skip
    limit = choose_number("most", "Queries at most", 1, LARGEST, None, placeholder="all", help="Spread over the tasks.")
    asked = panel if respond else ()
    numbers = tuple(int(size) for size in sizes if size.isascii() and size.isdigit() and len(size) < 7)
    return IndexRequest(tuple(methods), numbers, overlap, tuple(picked), model, asked, limit, query, respond)


class GridEstimate(Protocol):
    """What a grid would take; `cxlab.runner.index_grid.GridEstimate` is one."""

    @property
    def runs(self) -> int: ...
    @property
    def searches(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def seconds(self) -> float | None: ...


def show_foreseen(seen: GridEstimate) -> None:
    """The estimate in four figures."""
    left, right = st.columns(2)
    left.metric("Runs", format_count(seen.runs), help="Methods × chunk sizes.")
    right.metric("Searches", format_count(seen.searches), help="Queries × runs.")
    left.metric("Cost", "unknown" if seen.cost_usd is None else format_usd(seen.cost_usd))
    right.metric("Time", "unknown" if seen.seconds is None else format_seconds(seen.seconds))
    tokens = f", about {format_count(seen.tokens)} tokens" if seen.tokens else ""
    st.caption(
        f"{format_count(seen.calls)} calls of models{tokens}. Time: as the method took here before, unknown for a "
        "new one. A server's embeddings are not in this estimate; what they cost stands with the results."
    )
