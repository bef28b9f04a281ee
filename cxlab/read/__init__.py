"""What pages read: functions of a `View` that return small polars frames. No page holds SQL, nothing here draws."""

from cxlab.read.attempts import (
    ORDERS,
    Page,
    StoredAttempt,
    attempt,
    attempts,
    benchmarks,
    facets,
    known_models,
    neighbours,
)
from cxlab.read.query import ask, facet_ids, where
from cxlab.read.results.headlines import with_scored_headlines
from cxlab.read.results.published import PublishedTable, published, published_board
from cxlab.read.results.scores import count_scores, leaderboard, metric_names, score_table
from cxlab.read.runs import RunProgress, failure_counts, health, latest_runs, progress, set_aside
from cxlab.read.view import View
from cxlab.store import version

__all__ = [
    "ORDERS",
    "Page",
    "PublishedTable",
    "RunProgress",
    "StoredAttempt",
    "View",
    "ask",
    "attempt",
    "attempts",
    "benchmarks",
    "count_scores",
    "facet_ids",
    "facets",
    "failure_counts",
    "health",
    "known_models",
    "latest_runs",
    "leaderboard",
    "metric_names",
    "neighbours",
    "progress",
    "published",
    "published_board",
    "score_table",
    "set_aside",
    "version",
    "where",
    "with_scored_headlines",
]
