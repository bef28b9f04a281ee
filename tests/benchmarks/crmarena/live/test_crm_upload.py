"""An upload makes a live organisation that answers as the stored one does, goes on where it stopped, and is undone."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cxlab import llm
from cxlab.benchmarks.crmarena.generation import added_records
from cxlab.benchmarks.crmarena.live import upload_job
from cxlab.benchmarks.crmarena.live.organisation import LiveOrganisation
from cxlab.benchmarks.crmarena.live.upload import UploadOptions, preview, undo, upload
from cxlab.benchmarks.crmarena.live.uploads import find_file, hold, read_ids
from cxlab.benchmarks.crmarena.organisation import schema_changes
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.prompts.agent_prompts import list_objects as list_told
from cxlab.benchmarks.crmarena.run import open_live, open_organisation
from cxlab.benchmarks.crmarena.solvers import solve_handle_time
from cxlab.benchmarks.generation.stages import finish
from cxlab.benchmarks.upload import UploadReport
from cxlab.cli import app
from cxlab.errors import Busy, CxError, NotConfigured, Unreachable
from cxlab.store import write
from tests.benchmarks.crmarena.live.fillable_server import Fillable
from tests.benchmarks.crmarena.small_organisation import END, START, Rows, ident
from tests.benchmarks.crmarena.small_tasks import DATASET, make_small_rows, save_small

QUERIES = (
    "SELECT Id, Subject, Status, CreatedDate, ClosedDate, Account.FirstName, OwnerId, IssueId__c FROM Case ORDER BY Id",
    "SELECT Id, UnitPrice, Product2Id, PricebookEntry.UnitPrice, Order.Status FROM OrderItem ORDER BY Id",
    "SELECT Id, AccountId, OwnerId, FirstName FROM Contact ORDER BY Id",
    "SELECT Id, CaseId__c, OldValue__c, NewValue__c, CreatedDate, Field__c FROM CaseHistory__c ORDER BY Id",
    "SELECT Id, ToIds, FromAddress, TextBody, MessageDate FROM EmailMessage ORDER BY Id",
    "SELECT Id, Body, CaseId FROM LiveChatTranscript ORDER BY Id",
    "SELECT Id, IsActive, Name FROM Product2 ORDER BY Id",
    "SELECT Id, Title FROM Knowledge__kav WHERE PublishStatus = 'Online' ORDER BY Id",
    "SELECT Id, Name, CatalogId FROM ProductCategory ORDER BY Id",
)


def make_rows() -> Rows:
    """The small organisation with prices, a category, visitors, and texts that name records."""
    rows = make_small_rows()
    books = [{"Id": ident("01s", n), "Name": f"Prices {n}", "IsActive": True} for n in range(2)]
    entries = [
        {
            "Id": ident("01u", n),
            "Pricebook2Id": ident("01s", n // 4),
            "Product2Id": ident("01t", n % 4),
            "UnitPrice": 10.0 + n,
        }
        for n in range(8)
    ]
    for number, item in enumerate(rows["OrderItem"]):
        item |= {"PricebookEntryId": ident("01u", number % 4), "UnitPrice": 10.0 + number % 4}
    for order in rows["Order"]:
        order["Pricebook2Id"] = ident("01s", 0)
    for number, chat in enumerate(rows["LiveChatTranscript"]):
        chat |= {"LiveChatVisitorId": ident("5LV", number), "Body": f"{chat['Body']}\nIt was {ident('801', number)}."}
    return {
        **rows,
        "Knowledge__kav": rows["Knowledge__kav"][:2],  # what is archived is not uploaded as such
        "Pricebook2": books,
        "PricebookEntry": entries,
        "ProductCategory": [{"Id": ident("0ZG", 0), "Name": "Shoes", "CatalogId": ident("0ZS", 1)}],
        "ProductCategoryProduct": [
            {"Id": ident("0ZP", 0), "ProductCategoryId": ident("0ZG", 0), "ProductId": ident("01t", 0)}
        ],
    }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("upload")
    samples = save_small(home)
    dataset = write.load_dataset(DATASET, home)
    fresh = dataset.model_copy(update={"id": "crmarena-priced"})
    rows = [each.model_copy(update={"dataset_id": fresh.id}) for each in samples]
    write.save_dataset(fresh, rows, home, tables=to_tables(make_rows(), load_default()))
    return home


@pytest.fixture
def dataset(stored: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the dataset; nothing of it is uploaded yet, batches are small."""
    monkeypatch.setenv("CXLAB_HOME", str(stored))
    monkeypatch.setattr(upload_job, "BATCH", 50)
    open_live.cache_clear()
    return "crmarena-priced"


def fill(dataset: str, **options: Any) -> UploadReport:
    return finish(upload(dataset, UploadOptions(**options)))


def changes(server: Fillable) -> list[str]:
    return [method for method, _ in server.asked if method != "GET"]


def test_a_filled_organisation_answers_as_the_stored_one(dataset: str, empty_server: Fillable, stored: Path) -> None:
    told = preview(dataset, UploadOptions(), undo=False)
    assert told.whole, told.complaints
    assert changes(empty_server) == []
    assert told.record["to_make"]["Case"] == 240
    assert told.record["to_make"]["PricebookEntry"] == 8 + 4
    report = fill(dataset)
    assert report.whole
    assert report.record["made"] == told.record["to_make"]
    live, sandbox = open_live(dataset, str(stored)), open_organisation(dataset)
    for query in QUERIES:
        assert live.soql(query) == sandbox.soql(query), query
    window = (START, END, 1, "min")
    mine = solve_handle_time(live.under(sandbox.compat), *window)
    assert mine == solve_handle_time(sandbox, *window)
    # A second upload has nothing to make.
    made = empty_server.made
    assert fill(dataset).record["made"] == {}
    assert empty_server.made == made
    gone = finish(undo(dataset, UploadOptions()))
    assert gone.whole
    left = {name: len(rows) for name, rows in empty_server.records.items() if rows}
    assert left == {"User": 5}  # which the product never deletes
    assert not any(row["IsActive"] for row in empty_server.rows("User").values())
    assert set(read_ids(dataset, live.host, stored)) == {ident("005", n) for n in range(5)}
    # And back again, with the users of the first time.
    assert fill(dataset).record["made"] == {k: n for k, n in report.record["made"].items() if k != "User"}
    assert all(row["IsActive"] for row in empty_server.rows("User").values())
    assert finish(undo(dataset, UploadOptions())).whole


CLUBS = """
[Club__c]
prefix = "a5K"
about = "A club of customers"
rows = 6
fields.Founder__c = { type = "reference", to = "Account", children = "Clubs__r", about = "Who founded it" }
fields.Sports__c = { type = "multipicklist", values = ["Running", "Tennis"], about = "What it does" }
fields.Place__c = { type = "location", about = "Where it meets" }
[Order]
fields.Club__c = { type = "reference", to = "Club__c", about = "Through which club" }
"""


def test_objects_of_ones_own_are_uploaded_and_taken_away(
    dataset: str, stored: Path, empty_server: Fillable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = write.load_dataset(dataset, stored)
    config = {**plain.config, schema_changes.CONFIG: CLUBS}
    own = plain.model_copy(update={"id": "crmarena-clubs", "config": config})
    writer = llm.load("simulated:strong")
    tables = to_tables(make_rows(), load_default())
    filled, _ = finish(added_records.fill(writer, "", tables, CLUBS, {}, 1, None))
    write.save_dataset(own, [], tmp_path, tables=filled)
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    lacking = preview(own.id, UploadOptions(), undo=False).complaints
    assert {"Club__c: the organisation has no such object", "Order.Club__c: the organisation has no such field"} == {
        *lacking
    }
    empty_server.schema = schema_changes.extend(CLUBS)
    assert fill(own.id).record["made"]["Club__c"] == 6
    live, sandbox = open_live(own.id, str(tmp_path)), open_organisation(own.id)
    for query in (
        "SELECT Id, Name, Founder__r.FirstName, Sports__c, Place__Latitude__s FROM Club__c ORDER BY Name",
        "SELECT Club__r.Name, COUNT(Id) FROM Order GROUP BY Club__r.Name",
    ):
        assert live.soql(query) == sandbox.soql(query)
    assert "Club__c" in {each.name for each in list_told(live.schema)}
    assert finish(undo(own.id, UploadOptions())).whole
    assert not empty_server.rows("Club__c")


def test_an_upload_that_breaks_off_goes_on_and_makes_nothing_twice(
    dataset: str, empty_server: Fillable, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [0]

    def lose(path: str) -> tuple[int, Any] | None:
        batches[0] += path == "composite/sobjects"
        limit = {"errorCode": "REQUEST_LIMIT_EXCEEDED", "message": "TotalRequests Limit exceeded."}
        return (403, [limit]) if batches[0] == 6 else None

    empty_server.fault = lose
    with pytest.raises(Unreachable, match="REQUEST_LIMIT_EXCEEDED"):
        fill(dataset)
    empty_server.fault = lambda path: None
    # The next answer is lost after its records were made.
    real, lost = Fillable.answer, []

    def drop(self: Fillable, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        found = real(self, method, address, body)
        if method == "POST" and len(lost) < 2:
            lost.append(len(found[1]))
            if len(lost) == 2:
                return 502, "<html>bad gateway</html>"
        return found

    monkeypatch.setattr(Fillable, "answer", drop)
    with pytest.raises(Unreachable):
        fill(dataset)
    monkeypatch.setattr(Fillable, "answer", real)
    host = LiveOrganisation.open().host
    path = find_file(dataset, host, stored)
    assert path.with_suffix(".sending").is_file()
    with path.open("a") as file:
        file.write("cut sho")  # as a process that was killed leaves it
    assert fill(dataset).whole
    tables = make_rows()
    counts = {name: len(rows) for name, rows in empty_server.records.items() if name in tables}
    assert counts == {name: len(rows) + (4 if name == "PricebookEntry" else 0) for name, rows in tables.items()}
    live = open_live(dataset, str(stored))
    assert live.soql(QUERIES[0]) == open_organisation(dataset).soql(QUERIES[0])
    assert finish(undo(dataset, UploadOptions())).whole


def test_what_is_refused_is_told_and_what_names_it_waits(dataset: str, empty_server: Fillable) -> None:
    empty_server.refuse = lambda name, given: (
        ("STRING_TOO_LONG", "First Name: data value too large") if given.get("FirstName") == "Ann1" else None
    )
    report = fill(dataset)
    assert not report.whole
    assert "User: 1 refused (STRING_TOO_LONG: First Name: data value too large)" in report.complaints
    assert any(line.startswith("Case: ") and "not there" in line for line in report.complaints)
    assert {row["Status"] for row in empty_server.rows("Order").values()} == {"Draft"}
    empty_server.refuse = lambda name, given: None
    assert fill(dataset).whole
    assert len(empty_server.rows("Case")) == 240
    assert finish(undo(dataset, UploadOptions())).whole


def test_what_an_organisation_lacks_is_found_before_anything_is_made(dataset: str, empty_server: Fillable) -> None:
    empty_server.lacks = frozenset({"Case.CreatedDate", "Case.IssueId__c"})
    empty_server.seats = 3
    told = preview(dataset, UploadOptions(profile="Nobody's"), undo=False)
    text = "\n".join(told.complaints)
    for word in ("Set Audit Fields", "Case.IssueId__c", "no such profile"):
        assert word in text
    assert "2 short" in "\n".join(preview(dataset, UploadOptions(), undo=False).complaints)
    with pytest.raises(CxError, match="--incomplete"):
        fill(dataset)
    assert changes(empty_server) == []
    empty_server.seats = 50
    assert fill(dataset, incomplete=True).whole
    assert all("CreatedDate" not in row for row in empty_server.rows("Case").values())
    assert finish(undo(dataset, UploadOptions())).whole


def test_one_process_at_a_time_and_others_pairs_are_left_alone(
    dataset: str, empty_server: Fillable, stored: Path
) -> None:
    host = LiveOrganisation.open().host
    path = find_file(dataset, host, stored)
    with hold(dataset, host), pytest.raises(Busy):
        fill(dataset)
    mine = f"{ident('500', 3)}\tsomebodys-own-record\n"
    path.write_text(mine)
    assert "240 to take away" not in "\n".join(preview(dataset, UploadOptions(), undo=True).lines)
    assert finish(undo(dataset, UploadOptions())).record["taken away"] == {}
    assert path.read_text() == mine
    path.unlink()


def test_the_command_changes_nothing_unless_told(
    dataset: str, empty_server: Fillable, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = CliRunner()
    shown = runner.invoke(app, ["upload", dataset])
    assert "240 records" in shown.stdout
    assert f"python -m cxlab upload {dataset} --go" in shown.stdout
    assert changes(empty_server) == []
    done = runner.invoke(app, ["upload", dataset, "--go", "--json", "--quiet"])
    assert json.loads(done.stdout.splitlines()[-1])["made"]["Case"] == 240
    assert "240 to take away" in runner.invoke(app, ["upload", dataset, "--undo"]).stdout
    assert runner.invoke(app, ["upload", dataset, "--undo", "--go", "--quiet"]).exit_code == 0
    monkeypatch.delenv("SALESFORCE_INSTANCE_URL")
    offline = runner.invoke(app, ["upload", dataset])
    assert "240 records" in offline.stdout
    assert "SALESFORCE_INSTANCE_URL" in offline.stderr
    refused = runner.invoke(app, ["upload", dataset, "--go"])
    assert isinstance(refused.exception, NotConfigured)
    assert "--profile" in runner.invoke(app, ["upload", dataset, "--help"]).stdout
