"""What Overview shows is asked before anybody comes, and not again when somebody does."""

from pathlib import Path

import pytest

from cxlab.store import connect, layout
from cxlab.views.benchmarks import declared
from cxlab.views.overview import ahead
from cxlab.views.overview.since import find_changes
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

pytestmark = pytest.mark.xdist_group("overview-ahead")


def make_runs(home: Path) -> None:
    for number, model in enumerate(("a", "b"), 1):
        write_run(home, number, model, {("s0", 1): 90.0, ("s1", 1): 10.0 * number}, reasons={"s1": "late"})
    connect.open_store(home).close()
    layout.mark_up_to_date(home)


def follow(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    real = connect.query

    def query(con: object, sql: str, *rest: object) -> object:
        asked.append(f"{' '.join(sql.split())} {rest[:1]}")
        return real(con, sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(connect, "query", query)
    return asked


def test_what_was_read_ahead_is_not_asked_again(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_runs(empty_home)
    asked = follow(monkeypatch)
    ahead.read_ahead(lambda: False)
    before = set(asked)
    assert any("FROM scores s WHERE s.metric = $metric" in sql for sql in before)
    asked.clear()
    app = open_page()
    assert not app.exception
    assert "2 models" in words(app)
    assert not before & set(asked)


@pytest.mark.parametrize("case", ["ended", "no database", "of an older version"])
def test_nothing_is_read_ahead_of_its_time(case: str, empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_runs(empty_home)
    if case == "no database":
        (empty_home / connect.DATABASE).unlink()
    if case == "of an older version":
        layout.mark_up_to_date(empty_home, False)
    asked = follow(monkeypatch)
    ahead.read_ahead(lambda: case == "ended")
    assert not any("scores" in sql for sql in asked)
    assert (empty_home / connect.DATABASE).exists() == (case != "no database")


def test_what_cannot_be_read_is_left_to_the_page(empty_home: Path) -> None:
    make_runs(empty_home)
    (empty_home / connect.DATABASE).write_bytes(b"no database")
    for part in empty_home.glob("runs/*/parts/*/*.parquet"):
        part.write_bytes(b"no parquet")
    ahead.read_ahead(lambda: False)


def test_what_changed_since_the_last_run_is_read_ahead_too(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 3):
        write_run(empty_home, number, "a", {("s0", 1): 90.0, ("s1", 1): 10.0 * number}, reasons={"s1": "late"})
    connect.open_store(empty_home).close()
    layout.mark_up_to_date(empty_home)
    asked = follow(monkeypatch)
    ahead.read_ahead(lambda: False)
    asked.clear()
    assert len(list(find_changes([declared("sage")]))) == 1
    assert not any("scores" in sql for sql in asked)
