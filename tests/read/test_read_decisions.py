"""What people decided: each rater for themselves, conflicts and how they are settled, and how far raters agree."""

import math
import random
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab import read
from cxlab.read import decisions
from cxlab.read.decisions import CANNOT_TELL
from cxlab.records import Annotation, new_id
from cxlab.store import raters, write

AT = ("run-0", "a0", 1, "Intent")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def decide(rater: str, value: str, at: tuple = AT, kind: str = "adjudication", after: int = 0) -> str:
    run_id, attempt_id, turn, field = at
    entry = Annotation(
        id=new_id("note"), created=NOON + timedelta(seconds=after), author=rater, kind=kind, run_id=run_id,
        attempt_id=attempt_id, turn=turn, field=field, value=value,
    )  # fmt: skip
    write.annotate(entry)
    return entry.id


def state() -> tuple[str, str | None]:
    row = decisions.outcomes(decisions.decisions()).row(0, named=True)
    return row["state"], row["value"]


def test_raters_do_not_overwrite_each_other_and_a_conflict_is_told(empty_home: Path) -> None:
    decide("Ann", "Refund")
    assert state() == ("single", "Refund")
    decide("Bob", "Exchange", after=1)
    assert decisions.decisions()["rater"].to_list() == ["Bob", "Ann"]
    assert state() == ("conflict", None)
    assert decisions.settled(decisions.outcomes(decisions.decisions())).is_empty()
    decide("Bob", "Refund", after=2)  # he has changed his mind
    assert state() == ("agreed", "Refund")


def test_a_conflict_is_settled_until_somebody_decides_otherwise(empty_home: Path) -> None:
    decide("Ann", "Refund")
    decide("Bob", "Exchange", after=1)
    settled = decide("Cy", "Exchange", kind="resolution", after=2)
    assert state() == ("resolved", "Exchange")
    decide("Ann", "Complaint", after=3)
    assert state() == ("conflict", None)
    decide("Ann", "Exchange", after=4)
    assert state() == ("agreed", "Exchange")
    write.annotate(
        Annotation(id=new_id("note"), created=NOON, author="Cy", kind="withdrawn", run_id="run-0", attempt_id="a0",
                   value=settled)
    )  # fmt: skip
    assert "resolution" not in decisions.decisions()["kind"].to_list()


def test_what_cannot_be_told_is_a_decision_that_corrects_nothing(empty_home: Path) -> None:
    decide("Ann", CANNOT_TELL)
    found = decisions.outcomes(decisions.decisions())
    assert state() == ("single", CANNOT_TELL)
    assert decisions.settled(found).is_empty()


def test_nothing_decided_is_nothing(empty_home: Path) -> None:
    assert decisions.outcomes(decisions.decisions()).is_empty()
    assert decisions.agreement_of_raters(decisions.decisions()) == []


def test_agreement_as_counted_by_hand(empty_home: Path) -> None:
    # One field, ten items: 4 both yes, 3 both no, 2 yes/no, 1 no/yes. Chance: 6/10 x 5/10 + 4/10 x 5/10 = 1/2.
    said = [("yes", "yes")] * 4 + [("no", "no")] * 3 + [("yes", "no")] * 2 + [("no", "yes")]
    for place, (ann, bob) in enumerate(said):
        decide("Ann", ann, ("run-0", f"a{place}", 1, "Intent"))
        decide("Bob", bob, ("run-0", f"a{place}", 1, "Intent"))
    (found,) = decisions.agreement_of_raters(decisions.decisions())
    assert (found.a, found.b, found.share.n) == ("Ann", "Bob", 10)
    assert found.share.mean == pytest.approx(0.7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / 0.5)
    assert 0 < found.share.low < 0.7 < found.share.high < 1


@given(
    st.lists(st.tuples(st.sampled_from("fgh"), st.sampled_from("xyz"), st.sampled_from("xyz")), min_size=1, max_size=25)
)
def test_kappa_counts_chance_field_by_field(said: list[tuple[str, str, str]]) -> None:
    import polars as pl

    rows = [
        {"id": f"{who}{place}", "created": NOON, "rater": who, "kind": "adjudication", "run_id": "r",
         "attempt_id": f"a{place}", "turn": 1, "field": field, "value": value}
        for place, (field, one, other) in enumerate(said) for who, value in (("Ann", one), ("Bob", other))
    ]  # fmt: skip
    (found,) = decisions.agreement_of_raters(pl.DataFrame(rows))
    observed = sum(one == other for _, one, other in said) / len(said)
    chance = 0.0
    for field in {each[0] for each in said}:
        part = [each for each in said if each[0] == field]
        ours, theirs = Counter(each[1] for each in part), Counter(each[2] for each in part)
        chance += sum(ours[label] * theirs[label] for label in ours) / len(part)
    chance /= len(said)
    assert found.share.mean == pytest.approx(observed)
    if chance < 1 - 1e-12:
        assert found.kappa == pytest.approx((observed - chance) / (1 - chance))
    else:
        assert math.isnan(found.kappa)


def test_raters_at_work_at_the_same_time_all_count(empty_home: Path) -> None:
    def work(rater: str) -> None:
        for place in range(15):
            decide(rater, random.Random(f"{rater}{place}").choice(("x", "y")), ("run-0", f"a{place}", 1, "f"))

    threads = [threading.Thread(target=work, args=(rater,)) for rater in ("Ann", "Bob", "Cy")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = decisions.outcomes(decisions.decisions())
    assert found["raters"].to_list() == [["Ann", "Bob", "Cy"]] * 15


def test_a_damaged_file_of_annotations_hides_no_others(empty_home: Path) -> None:
    decide("Ann", "Refund")
    assert state() == ("single", "Refund")
    (empty_home / "annotations" / "broken.parquet").write_bytes(b"PAR1 this is none")
    decide("Bob", "Refund", after=1)
    assert state() == ("agreed", "Refund")
    assert ("annotations", "broken.parquet") in [each[:2] for each in read.set_aside()]


def test_a_decision_leaves_what_was_read_of_runs_as_it_is(empty_home: Path) -> None:
    from cxlab.store import catalogue

    decide("Ann", "x")
    before = catalogue.version(), catalogue.data_version()
    decide("Ann", "y")
    assert catalogue.version() != before[0]
    assert catalogue.data_version() == before[1]


def test_a_browser_finds_its_name_again_and_no_other_place(empty_home: Path) -> None:
    browser = "0123456789abcdef" * 2
    raters.remember_rater(browser, "  שרה " * 30)
    assert raters.find_rater(browser) == ("  שרה " * 30)[: raters.LONGEST_NAME]
    assert raters.find_rater("f" * 32) == ""
    for foreign in ("", "../../secret", "0123456789ABCDEF" * 2, browser + "0"):
        raters.remember_rater(foreign, "x")
        assert raters.find_rater(foreign) == ""
    assert len(list((empty_home / "raters").iterdir())) == 1
    assert browser not in str(next((empty_home / "raters").iterdir()))
