"""Whose doing a verdict was, disputed: another owner with a reason, kept beside the verdict."""

import polars as pl
import streamlit as st

from cxlab.read import StoredAttempt, annotations
from cxlab.ui.address import cached
from cxlab.ui.annotations import annotate
from cxlab.ui.labels import plain, say

OWNERS = {
    "agent": "what it read, said or did is not what was due",
    "customer": "the model that plays the customer did not keep to its part",
    "judge": "the judges gave nothing that the attempt could be compared with, or were wrong themselves",
    "provider": "a model's server failed and cut it short",
    "tool": "a tool did not do what it is there for",
    "label": "nothing is stored that it could be compared with",
    "scorer": "the program that scores failed",
}


def show_dispute(whole: StoredAttempt) -> None:
    """Who disputes whose doing the verdict was, and a form to do so; nothing of what passed."""
    row = whole.attempt
    owner, run_id, attempt_id = (str(row.get(name) or "") for name in ("verdict_owner", "run_id", "attempt_id"))
    if not owner:
        return
    log = cached(annotations.notes, run_id, attempt_id).log.filter(pl.col("kind") == "dispute")
    for author, other, why in log.select("author", "field", "value").iter_rows():
        st.caption(plain(f"⚠ {author} disputes this: the {other}'s doing."))
        say(str(why))
    with st.popover("Dispute whose doing it is", type="tertiary"):
        with st.form("cx-dispute", clear_on_submit=True, border=False):
            other = st.selectbox("Whose doing it was", [each for each in OWNERS if each != owner], key="dispute-owner")
            why = st.text_area("Why", placeholder="what in the dialogue shows it", height=80, max_chars=4000)
            if st.form_submit_button("Dispute it"):
                if why.strip():
                    annotate("dispute", run_id, attempt_id, why, row.get("verdict_turn"), other)
                    st.rerun()
                st.warning("A dispute needs a reason: what in the dialogue shows it?")
        st.caption(
            "It stands beside the verdict with your name, in the list and in downloads, is counted as disputed beside "
            "the groups' owners, and can be taken back under Tags and notes. Scores and owners stay as they are."
        )
