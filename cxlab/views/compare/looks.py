"""What Compare shows below its scores: one look at a time."""

import polars as pl

from cxlab.read import View
from cxlab.records.benchmark_card import Card
from cxlab.ui.choices import choose

LOOKS = {
    "": "Samples",
    "owners": "Whose doing",
    "labels": "Labels to check",
    "profile": "Profile",
    "front": "Quality and price",
    "trials": "Repeated trials",
    "history": "History",
}


def choose_look(card: Card, board: pl.DataFrame, view: View) -> str:
    """The look that is picked, of those that have something to show; "" is the samples."""
    # A profile sets the parts of a headline side by side, where the benchmark names them.
    looks = [name for name in LOOKS if name != "profile" or card.parts]
    # What stand-ins cost and take says nothing; a link to it still says so.
    if view.tab != "front" and not any(board[price].drop_nulls().len() for price in ("cost_usd", "latency_s")):
        looks.remove("front")
    return choose(view, "tab", "Look closer", looks, names=LOOKS, style="segments")
