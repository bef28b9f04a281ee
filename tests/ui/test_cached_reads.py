"""What is remembered of reads: a note leaves all that has read no note."""

from pathlib import Path

import polars as pl
import pytest

from cxlab import read
from cxlab.read import View, annotations
from cxlab.read.comparison.ranking import Rankings
from cxlab.read.comparison.ranking import rank as rankings_of
from cxlab.read.comparison.score_sums import of_attempts
from cxlab.store import connect
from cxlab.ui.address import cached
from cxlab.ui.annotations import annotate
from cxlab.views.benchmarks import declared
from tests.stores.judged import make_judged_store

AT = ("run-0", "run-0-a1")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A store with runs, and the queries that were sent to it, as they are sent."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_judged_store(tmp_path)
    sent: list[str] = []
    real = connect.query

    def send(con: object, sql: str, *rest: object) -> object:
        sent.append(sql)
        return real(con, sql, *rest)

    monkeypatch.setattr(connect, "query", send)
    return sent


def count_attempts() -> int:
    return int(read.ask("SELECT count(*) AS n FROM attempts")["n"][0])


def count_both() -> tuple[int, int]:
    """A read made of two that are remembered themselves."""
    return cached(count_attempts), len(cached(annotations.notes, *AT).log)


def test_a_note_leaves_what_read_no_annotation(asked: list[str]) -> None:
    cached(count_attempts)
    cached(annotations.notes, *AT)
    first = len(asked)
    cached(count_attempts)
    cached(annotations.notes, *AT)
    assert (first, len(asked)) == (2, 2)
    for more in (1, 2, 3):
        annotate("note", *AT, f"look {more}")
        before = len(asked)
        cached(count_attempts)
        assert len(asked) == before
        assert len(cached(annotations.notes, *AT).log) == more
        assert ["annotations" in sql for sql in asked[before:]] == [True]


def test_a_read_made_of_others_goes_with_any_of_them(asked: list[str]) -> None:
    known, _ = count_both()
    assert cached(count_both) == (known, 0)  # both parts are remembered by now, so that nothing is asked
    annotate("note", *AT, "look")
    before = len(asked)
    assert cached(count_both) == (known, 1)
    assert len(asked) == before + 1


def test_what_is_narrowed_by_tags_goes_with_a_tag(asked: list[str]) -> None:
    """Also where a memory of its own, keyed by the store's version, answers in the place of a query."""
    tagged = View(tags=("escalate",), metric="overall")
    of_attempts(tagged)
    assert cached(of_attempts, tagged).is_empty()
    annotate("tag", *AT, "escalate")
    assert cached(of_attempts, tagged)["attempt_id"].unique().to_list() == [AT[1]]


def test_a_new_run_makes_all_be_read_anew(asked: list[str], tmp_path: Path) -> None:
    known = cached(count_attempts)
    make_judged_store(tmp_path / "other")
    (tmp_path / "runs" / "run-0").rename(tmp_path / "gone")
    assert cached(count_attempts) < known


def rank() -> Rankings:
    return rankings_of(declared("sage"), View(benchmark="sage"))


def list_models() -> tuple[pl.DataFrame, list[str]]:
    frame = read.known_models()
    return frame, frame["model"].to_list()


def test_what_is_frozen_is_the_same_and_all_else_a_copy_of_ones_own(asked: list[str]) -> None:
    assert cached(rank) is cached(rank)
    (frame, names), (other, _) = cached(list_models), cached(list_models)
    names.append("mine")
    frame.insert_column(0, pl.Series("mine", range(frame.height)))
    assert frame is not other
    assert "mine" not in cached(list_models)[0].columns
    assert "mine" not in cached(list_models)[1]


def test_a_ranking_is_kept_until_a_run_comes_or_goes(asked: list[str], tmp_path: Path) -> None:
    before = cached(rank)
    assert before.tasks[0].runs
    made = len(asked)
    cached(rank)
    assert len(asked) == made
    (tmp_path / "runs" / "run-0").rename(tmp_path / "gone")
    assert cached(rank).tasks[0].runs == before.tasks[0].runs - {"run-0"}
    (tmp_path / "gone").rename(tmp_path / "runs" / "run-0")
    assert cached(rank).tasks[0].runs == before.tasks[0].runs
