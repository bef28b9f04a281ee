"""An organisation opens from a dataset, a folder and a SQLite copy alike; one that does not says what is wrong."""

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.crmarena.organisation.ids import make_id
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox, _Asking
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.records import Dataset
from cxlab.store import write
from tests.benchmarks.crmarena.mirror_files import write_mirror
from tests.benchmarks.crmarena.small_organisation import Rows

SCHEMA = load_default()


def store(rows: Rows, home: Path, **config: str) -> Path:
    dataset = Dataset(
        id="crm-test",
        benchmark="crmarena",
        name="test",
        source="generated",
        config=config,
        seed=0,
        licence="own work",
        created=datetime.now(UTC),
    )
    return write.save_dataset(dataset, [], home, tables=to_tables(rows, SCHEMA))


def everything(sandbox: Sandbox) -> dict[str, list[dict[str, object]]]:
    return {
        name: sandbox.soql(f"SELECT {', '.join(n for n, f in info.fields.items() if f.listed)} FROM {name}")
        for name, info in SCHEMA.objects.items()
    }


def test_all_three_forms_hold_the_same(rows: Rows, sandbox: Sandbox, tmp_path: Path) -> None:
    folder = store(rows, tmp_path)
    mirror = write_mirror(tmp_path / "org.db", rows)
    wanted = everything(sandbox)
    assert sum(map(len, wanted.values())) > 150
    assert everything(Sandbox.open("crm-test", home=tmp_path)) == wanted
    assert everything(Sandbox.open(folder)) == wanted
    assert everything(Sandbox.open(mirror)) == wanted
    assert everything(Sandbox.open(str(mirror))) == wanted


def test_today_is_what_is_said_or_named_or_the_last_day_of_the_rows(rows: Rows, tmp_path: Path) -> None:
    folder = store(rows, tmp_path, today="2024-02-29")
    assert Sandbox.open("crm-test", home=tmp_path).today == date(2024, 2, 29)
    assert Sandbox.open("crm-test", today="2020-01-31T00:00:00Z", home=tmp_path).today == date(2020, 1, 31)
    assert Sandbox.open(folder).today == date(2022, 1, 28), "the last case was closed then"
    one = Sandbox.open(folder, today=date(2021, 5, 5))
    assert (one.today, one.at("2019-01-01").today, one.compat) == (date(2021, 5, 5), date(2019, 1, 1), "original")
    assert Sandbox.open(folder, compat="policy").compat == "policy"
    with pytest.raises(BadOption, match="is no day"):
        Sandbox.open(folder, today="soon")
    with pytest.raises(BadOption, match="take original or policy"):
        Sandbox.open(folder, compat="other")


def test_what_is_no_organisation_is_said(tmp_path: Path, rows: Rows) -> None:
    with pytest.raises(UnknownName, match="nothing-here"):
        Sandbox.open("nothing-here", home=tmp_path)
    with pytest.raises(BadFile, match="does not exist"):
        Sandbox.open(tmp_path / "org.db")
    with pytest.raises(BadFile, match="holds no organisation"):
        Sandbox.open(tmp_path)
    text = tmp_path / "notes.txt"
    text.write_text("no database")
    with pytest.raises(BadFile, match="neither a folder of tables nor a SQLite database"):
        Sandbox.open(text)
    text.rename(tmp_path / "notes.db")
    with pytest.raises(BadFile, match="cannot be read as a SQLite database"):
        Sandbox.open(tmp_path / "notes.db")
    whole = write_mirror(tmp_path / "org.db", rows).read_bytes()
    garbled = whole[:2000] + b"\xff" * (len(whole) - 2000)
    for name, data in (("half.db", whole[: len(whole) // 2]), ("garbled.db", garbled)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadFile, match=f"{name}: cannot be read as a SQLite database"):
            Sandbox.open(tmp_path / name)


def test_a_folder_that_changes_is_read_again(tmp_path: Path) -> None:
    for number in range(2):
        for name, frame in to_tables({"Issue__c": [{"Id": make_id("a1M", number)}]}, SCHEMA).items():
            frame.write_parquet(tmp_path / f"{name}.parquet")
        assert Sandbox.open(tmp_path).soql("SELECT Id FROM Issue__c") == [{"Id": make_id("a1M", number)}]


def test_other_peoples_short_ids_are_ids(tmp_path: Path) -> None:
    tables = to_tables({"Case": [{"Id": "500x1", "OwnerId": "a1"}], "User": [{"Id": "a1", "FirstName": "Ann"}]}, SCHEMA)
    sandbox = Sandbox.of_tables(tables, today="2020-01-01")
    assert sandbox.soql("SELECT Owner.FirstName FROM Case WHERE Id = '500x1'") == [{"Owner": {"FirstName": "Ann"}}]


def test_threads_share_one(sandbox: Sandbox) -> None:
    wanted = sandbox.soql("SELECT Id, Account.Name FROM Case ORDER BY CreatedDate")
    found: list[bool] = []

    def ask() -> None:
        for _ in range(10):
            found.append(sandbox.soql("SELECT Id, Account.Name FROM Case ORDER BY CreatedDate") == wanted)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 40


def test_a_typical_query_is_one_statement(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many records it goes through; what it takes over the whole organisation is told by `bench crm`."""
    queries = (
        "SELECT Id, OwnerId, CreatedDate FROM Case WHERE Status = 'Closed' AND CreatedDate = LAST_N_MONTHS:12",
        "SELECT OwnerId, COUNT(Id) FROM Case GROUP BY OwnerId ORDER BY COUNT(Id) DESC LIMIT 3",
        "SELECT Product2Id FROM OrderItem WHERE Order.Account.FirstName = 'Cust1'",
    )
    asked: list[str] = []
    ask = _Asking.__call__

    def note(asking: _Asking, sql: str, params: Sequence[Any]) -> Sequence[Sequence[Any]]:
        asked.append(sql)
        return ask(asking, sql, params)

    monkeypatch.setattr(_Asking, "__call__", note)
    for count, query in enumerate(queries, 1):
        assert sandbox.soql(query)
        assert len(asked) == count
