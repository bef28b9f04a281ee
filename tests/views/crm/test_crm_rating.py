"""Ratings of an organisation: what is in force, and what it comes to, counted by hand."""

from pathlib import Path

import pytest

from cxlab.metrics.intervals import proportion_interval
from cxlab.ui.annotations import rate, withdraw
from cxlab.views.crm.rating import queries as rating


def give(rater: str, thing: str, point: str, dataset: str = "d") -> None:
    rate(rater, dataset, rating.thing_id(thing), point, f"because {point}")


def test_the_latest_rating_of_each_rater_counts(empty_home: Path) -> None:
    for rater, point in (("A", "2"), ("A", "5"), ("B", "4"), ("C", "1")):
        give(rater, rating.WHOLE, point)
    give("A", "Case", "3")
    give("B", "Case", "5")
    give("C", "Case", rating.UNKNOWN)
    give("A", rating.WHOLE, "1", dataset="other")
    rate("A", "d", "a conversation", "real", "no rating of ours")
    rated = rating.ratings("d")
    assert rated.select("rater", "thing", "point").sort("thing", "rater").rows() == [
        ("A", "Case", "3"), ("B", "Case", "5"), ("C", "Case", "unknown"),
        ("A", "organisation", "5"), ("B", "organisation", "4"), ("C", "organisation", "1"),
    ]  # fmt: skip
    found = {row["thing"]: row for row in rating.shares(rated, [rating.WHOLE, "Case", "User"]).iter_rows(named=True)}
    assert list(found) == ["organisation", "objects", "Case"]
    whole, case = found["organisation"], found["Case"]
    assert (whole["n"], whole["realistic"], whole["mean"]) == (3, 2, pytest.approx(10 / 3))
    assert (whole["share"], whole["low"], whole["high"]) == proportion_interval(2, 3)[:3]
    assert (case["n"], case["realistic"], case["unknown"], case["mean"]) == (2, 1, 1, 4.0)
    last = rated.row(-1, named=True)
    withdraw(last["id"], "d", rating.thing_id(last["thing"]), last["rater"])
    assert rating.ratings("d").height == rated.height - 1


def test_nothing_rated_is_no_share(empty_home: Path) -> None:
    assert rating.shares(rating.ratings("d"), [rating.WHOLE, "Case"]).is_empty()


def test_the_published_study(empty_home: Path) -> None:
    study = rating.published_study()
    assert study is not None
    assert study.frame.rows() == [("organisation", 90.0, 10.0), ("objects", 77.0, 10.0)]
