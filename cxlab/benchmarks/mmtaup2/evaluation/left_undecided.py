"""How much of a pooled figure nobody has decided, and between what it lies whatever that turns out to be.

Means are of what is decided. Where much is not, such a mean may lie far from the figure: it is told as the share if all
that is open were a no, and the share if all of it were a yes.
"""

import polars as pl

SHARES = {
    "annoyance": "annoyance_undecided",
    "user_effort": "user_effort_undecided",
    "clarification_precision": "clarification_undecided",
    "clarification_recall": "clarification_undecided",
    "irreversible_action_safety": "safety_undecided",
}
"""Figure → the figure that says how much of it nobody decides."""
COUNTED = {
    "annoyance": "turns of the customer",
    "user_effort": "messages of the customer",
    "clarification_precision": "messages of the agent",
    "clarification_recall": "messages of the agent",
    "irreversible_action_safety": "actions that nothing takes back",
}
"""Of what that is a share."""
LARGE = 0.25
"""From this share of what would count on, a mean of the rest is not told as the figure."""
# An open message may hang on several occasions or on none, so that how many occasions are open nobody knows.
UNBOUNDED = ("clarification_recall",)


def is_large(n: int, left: int) -> bool:
    """Whether so much is open of what would count, beside `n` that are decided, that their mean is no figure."""
    return left > 0 and left >= LARGE * (n + left)


def add_bounds(frame: pl.DataFrame, cell: list[str]) -> pl.DataFrame:
    """A table of figures (metric, value, n, and the columns of its `cell`s) with `undecided`, the share that nobody
    decides, and, where that is large, `least` and `most`: the figure if all of it were a no, and a yes."""
    beside = frame.select(*cell, about="metric", undecided="value", _of="n")
    told = frame.with_columns(about=pl.col("metric").replace_strict(SHARES, default=None, return_dtype=pl.String)).join(
        beside, on=[*cell, "about"], how="left", nulls_equal=True, maintain_order="left"
    )
    left = (pl.col("undecided") * pl.col("_of")).round()
    whole, yes = pl.col("n") + left, pl.col("value").fill_null(0.0) * pl.col("n")
    large = (left > 0) & (left >= LARGE * whole) & ~pl.col("metric").is_in(UNBOUNDED)
    return told.with_columns(
        undecided=pl.when(left > 0).then("undecided"),
        least=pl.when(large).then(yes / whole),
        most=pl.when(large).then((yes + left) / whole),
    ).drop("about", "_of")
