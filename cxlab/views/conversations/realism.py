"""The realism study: people judge conversations real or fake, blind; what it comes to, beside the paper's."""

import math

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.read import View
from cxlab.records import Dataset
from cxlab.ui.address import cached, go
from cxlab.ui.annotations import rate, withdraw
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import LARGEST, choose_number
from cxlab.ui.labels import figures, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.conversations import queries, queries_realism
from cxlab.views.conversations.conversation import draw_heard
from cxlab.views.conversations.queries import ServedLine
from cxlab.views.conversations.queries_realism import StudyItem
from cxlab.views.datasets.charts import draw_shares

NAMES = {"real": "Real", "fake": "Fake"}
REASONS = {
    "real": ["hesitates like a person", "details fit together", "mistakes that people make",
             "feelings change with events"],
    "fake": ["placeholder instead of a detail", "does not follow from what was said", "repeats itself",
             "too polite or even", "contradicts itself", "wording no customer uses"],
}  # fmt: skip
_LONGEST = 500


def show_study(dataset: Dataset) -> None:
    """Rating or results, by the switch."""
    parts = ["Rate", "Results"]
    part = st.segmented_control(
        "Part", parts, default="Rate", required=True, key="study", label_visibility="collapsed", bind="query-params"
    )
    known = [each for each in cached(queries_realism.real_datasets) if each != dataset.id]
    seed, mixed = _set_up(known)
    ids = (dataset.id, *mixed)
    rated = queries_realism.ratings(ids)
    if part == "Results":
        _show_results(dataset, rated, bool(mixed) or queries_realism.kind_of(dataset.id) == queries_realism.REAL)
        return
    study = cached(queries_realism.items, dataset.id, seed, mixed)
    _rate(study, rated)


def _set_up(known: list[str]) -> tuple[int, tuple[str, ...]]:
    """Who sets the study up chooses the order's seed and what real conversations are mixed in."""
    with st.sidebar:
        tip = "The same seed gives every rater the same order, so that they meet on the same conversations."
        seed = choose_number("order-seed", "Seed of the order", 0, LARGEST, 0, help=tip) or 0
        mixed: tuple[str, ...] = ()
        if known:
            tip = "Imported conversations between people; raters are not told which ones they are."
            mixed = tuple(
                st.multiselect("Mix in real conversations", known, known, key="mix", help=tip, bind="query-params")
            )
    return seed, mixed


def _rate(study: list[StudyItem], rated: pl.DataFrame) -> None:
    left, right = st.columns([3, 2], gap="large")
    with right:
        tip = "So that several people's ratings can be told apart and compared."
        rater = st.text_input(
            "Your name or initials",
            key="rater",
            max_chars=40,
            help=tip,
            bind="query-params",
            placeholder="for example AB",
        ).strip()
    if not rater:
        left.info("Type your name or initials to begin. Your ratings are kept under it.")
        return
    mine = rated.filter(pl.col("rater") == rater)
    item = queries_realism.next_item(study, rated, rater)
    if item is None:
        left.success(f"You have rated all {format_count(len(study))} conversations.")
        with right:
            _undo(mine)
        return
    talk = queries.conversation(item.dataset_id, item.conversation_id)
    with left:
        section("Is this conversation real or generated?", "Judge it by itself, as a whole.")
        # Keys count places, so that nothing on the page tells where a conversation comes from.
        with st.container(height=640, key=f"cx-study-{mine.height}", autoscroll=False):
            _draw(queries.served_lines(talk))
    with right:
        st.progress(
            mine.height / len(study), text=f"{format_count(mine.height)} of {format_count(len(study))} rated by you"
        )
        with st.container(border=True):
            said = _ask(f"study-{len(study)}-{mine.height}")
        if said:
            keep(item, rater, *said)
            st.rerun()
        _undo(mine)
        st.caption("What the conversations are, and what others said of them, is told with the results only.")


def _ask(key: str) -> tuple[str, list[str]] | None:
    """The verdict and its reasons, once they are saved."""
    verdict = st.segmented_control("This conversation is", list(NAMES), key=f"{key}-is", format_func=NAMES.__getitem__)
    reasons: list[str] = []
    if verdict:
        title = "Why? Pick what fits, or write it below"
        reasons = list(st.pills(title, REASONS[verdict], selection_mode="multi", key=f"{key}-{verdict}", wrap=True))
        note = st.text_area("In your own words", key=f"{key}-note", max_chars=_LONGEST, height=90)
        reasons += filter(None, [" ".join(note.split())])
    off = not (verdict and reasons)
    pressed = st.button("Save and go on", type="primary", key=f"{key}-save", disabled=off, width="stretch")
    if verdict and not reasons:
        st.caption("Give at least one reason.")
    return (verdict, reasons) if pressed and verdict else None


def keep(item: StudyItem, rater: str, verdict: str, reasons: list[str]) -> None:
    """Store one rating; a later one of the same rater takes its place."""
    rate(rater, item.dataset_id, item.conversation_id, verdict, "\n".join(reasons))


def _undo(mine: pl.DataFrame) -> None:
    if mine.is_empty():
        return
    last = mine.row(-1, named=True)
    tip = f"You said {last['verdict']}. The store keeps both, the rating and its withdrawal."
    if st.button("Undo my last rating", key="study-undo", type="tertiary", help=tip):
        withdraw(str(last["id"]), str(last["dataset_id"]), str(last["conversation_id"]), str(last["rater"]))
        st.rerun()


def _draw(lines: list[ServedLine]) -> None:
    names = {"customer": "Customer", "agent": "Agent", "ivr": "Phone menu"}
    for place, line in enumerate(lines):
        if line.role in names and line.text:
            avatar = {"customer": "user", "agent": "assistant"}.get(line.role)
            bubble = st.chat_message(avatar) if avatar else st.container()
            with bubble, st.container(key=f"cx-say-{line.role}-study-{place}", gap="xsmall"):
                st.caption(names[line.role])
                draw_heard(line, said=False)


def _show_results(dataset: Dataset, rated: pl.DataFrame, with_real: bool) -> None:
    if not with_real:
        st.info(
            "No real conversations are in this study: all that raters saw were generated, as in the paper. So the "
            "share judged real cannot be compared with how real ones would fare."
        )
    if rated.is_empty():
        st.info("Here stands how many were taken for real, by whom and why. Nothing has been rated yet.")
        st.button("Rate conversations", type="primary", key="study-begin", on_click=_begin)
        return
    shares, alike = queries_realism.shares(rated), queries_realism.agreement(rated)
    made = rated.filter(pl.col("kind") == queries_realism.GENERATED)
    judged = (made["verdict"] == "real").mean() if made.height else None
    share = float(judged) if isinstance(judged, int | float) else None
    figures(
        [
            (
                "Ratings",
                format_count(rated.height),
                "In force: a later one of the same rater takes the place of an earlier.",
            ),
            ("Raters", format_count(rated["rater"].n_unique()), "People, by the name that they typed."),
            ("Generated, judged real", format_share(share), "Of all ratings of generated conversations."),
            (
                "Krippendorff's alpha",
                format_ratio(alike[1]),
                "1: raters agree on all, 0: as by chance. Over what at least two rated.",
            ),
        ]
    )
    _show_shares(shares)
    _show_agreement(*alike)
    _show_reasons(dataset, rated)


def _begin() -> None:
    st.session_state["study"] = "Rate"


def _show_shares(shares: pl.DataFrame) -> None:
    generated = shares.filter(pl.col("kind") == queries_realism.GENERATED)
    words = "How many were taken for real?"
    if generated.height:
        whole = generated.row(-1, named=True)
        words = f"{format_share(whole['share'])} of the generated conversations were taken for real"
    section(
        words,
        "Share judged real per rater and kind, with its 95 % interval (Wilson). The paper's three people judged "
        "generated ones only (appendix D); their intervals are worked out here.",
        ["own", "published"],
    )
    rows = [{**row, "own": True} for row in shares.iter_rows(named=True)]
    rows += [{**row, "own": False} for row in queries_realism.published_shares().iter_rows(named=True)]
    for row in rows:
        row["label"] = f"{row['rater']}: {row['kind']}"
    twin = pl.DataFrame(
        {
            "rater": [row["rater"] for row in rows],
            "kind": [row["kind"] for row in rows],
            "n": [row["n"] for row in rows],
            "real": [row["real"] for row in rows],
            "share": [row["share"] for row in rows],
            "interval": [f"{format_share(row['low'])} to {format_share(row['high'])}" for row in rows],
            "from": ["this store" if row["own"] else "published" for row in rows],
        }
    )
    columns = {
        "rater": column("Rater"),
        "kind": column("Conversations"),
        "n": column("Rated", "count"),
        "real": column("Judged real", "count"),
        "share": column("Share", "share"),
        "interval": column("95 % interval"),
        "from": column("From"),
    }
    show_chart(draw_shares(rows, dark()), twin, key="realism", alt=words, columns=columns)


def _show_agreement(pairs: pl.DataFrame, alpha: float) -> None:
    words = "No two raters have judged the same conversation yet"
    if pairs.height:
        both = int(pairs["n"].sum())
        same = float((pairs["agree"] * pairs["n"]).sum()) / both
        words = f"Two raters say the same of {format_share(same)} of what both judged"
    section(words, "Cohen's kappa takes out what chance alone would give; it is empty where both said the same of all.")
    if pairs.is_empty():
        return
    columns = {
        "rater": column("Rater"),
        "other": column("and"),
        "n": column("Both judged", "count"),
        "agree": column("Agree", "share"),
        "kappa": column("Kappa", "ratio"),
    }
    show_table(pairs, columns, key="realism-pairs", alt="Agreement of each two raters.", downloads=False)
    if not math.isnan(alpha):
        st.caption(f"Krippendorff's alpha over all raters: {format_ratio(alpha)}")


def _show_reasons(dataset: Dataset, rated: pl.DataFrame) -> None:
    found = queries_realism.reasons(rated)
    most = found.filter(pl.col("verdict") == "fake")
    words = f"Most often taken for fake because: {most['reason'][0]}" if most.height else "Why they were judged so"
    section(plain(words), "Each reason counts once a rating. Pick one to read a conversation that it was given for.")
    columns = {
        "reason": column("Reason", width="large"),
        "verdict": column("Judged", width="small"),
        "n": column("Times", "count"),
        "raters": column("Raters", "count"),
    }
    picked = show_table(found, columns, key="realism-reasons", alt="Reasons, counted.", select="single", search=True)
    if picked and picked[0]["dataset"] == dataset.id:
        go(View(dataset=dataset.id, tab="conversations", conversation=picked[0]["example"]))
