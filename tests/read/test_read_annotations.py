"""Notes, tags and decisions: only added, taken back by one more entry, the latest in force."""

from pathlib import Path

import pytest

from cxlab import read
from cxlab.read import View, annotations
from cxlab.ui.annotations import annotate, withdraw
from cxlab.views.judges import queries_adjudication
from tests.stores.judged import make_judged_store

AT = ("run-0", "run-0-a1")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_judged_store(tmp_path)
    return tmp_path


def test_notes_and_tags(home: Path) -> None:
    before = read.version()
    annotate("note", *AT, "  look at this  ", 1)
    annotate("tag", *AT, "escalate")
    annotate("tag", *AT, "tone")
    annotate("untag", *AT, "tone")
    assert annotate("note", *AT, "   ") == ""
    found = annotations.notes(*AT)
    assert found.tags == ("escalate",)
    assert found.log["value"].to_list() == ["look at this", "escalate", "tone", "tone"]
    assert found.log["author"][0]
    assert read.version() != before
    assert set(annotations.known_tags()) == {"escalate", "tone"}
    assert annotations.notes("run-1", "run-1-a2").tags == ()


def test_what_is_withdrawn_is_no_longer_in_force_and_still_stored(home: Path) -> None:
    note = annotate("note", *AT, "wrong")
    withdraw(note, *AT)
    assert annotations.notes(*AT).log.is_empty()
    assert read.ask("SELECT count(*) AS n FROM annotations")["n"][0] == 2


def test_the_latest_decision_counts_and_can_be_taken_back(home: Path) -> None:
    assert queries_adjudication.with_people(View()).is_empty()
    annotate("adjudication", *AT, "Exchange", 1, "CoreIntention")
    second = annotate("adjudication", *AT, "ReturnOrRefund", 1, "CoreIntention")
    found = annotations.adjudications(*AT, 1)
    assert found["value"].to_list() == ["ReturnOrRefund"]
    agree = {
        judge.rpartition("-")[2]: share for judge, n, share in queries_adjudication.with_people(View()).iter_rows()
    }
    assert agree == {"lenient": 0.0, "partial": 1.0, "strict": 1.0}
    assert queries_adjudication.queue(View()).frame["decided"].to_list() == ["ReturnOrRefund", None]
    assert queries_adjudication.queue(View(), undecided=True).total == 1
    withdraw(second, *AT)
    assert annotations.adjudications(*AT, 1)["value"].to_list() == ["Exchange"]
