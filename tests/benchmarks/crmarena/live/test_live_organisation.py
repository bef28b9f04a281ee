"""A live organisation answers as a sandbox with the same records does, and says whose fault it is when it does not."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.crmarena.live import LiveOrganisation, connection
from cxlab.benchmarks.crmarena.live.uploads import find_file, read_ids
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.run import open_live, open_sandbox, prepare
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.solvers import solve_handle_time
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.tools import TOOLS
from cxlab.errors import BadFile, BadOption, NotConfigured, Unreachable
from cxlab.records import Sample
from tests.benchmarks.crmarena.crm_play import play, values_of
from tests.benchmarks.crmarena.live.salesforce_server import TOKEN, Salesforce
from tests.benchmarks.crmarena.small_organisation import END, START

QUERIES = (
    "SELECT Id, Subject, CreatedDate, Account.Name, Owner.Name FROM Case ORDER BY Id",
    "SELECT Id, (SELECT Id, Subject FROM Cases ORDER BY Id) FROM Account ORDER BY Id",
    "SELECT COUNT() FROM Case WHERE Status = 'Closed'",
    "SELECT OwnerId, COUNT(Id) n, MAX(CreatedDate) FROM Case GROUP BY OwnerId ORDER BY OwnerId",
    "SELECT Id, Quantity, UnitPrice FROM OrderItem WHERE UnitPrice = NULL",
    "SELECT Id FROM Case WHERE Subject = 'nothing has this subject'",
    "SELECT Id FROM Case WHERE Subject = 'for view' OR Subject = 'it\\'s for update'",
)


@pytest.mark.parametrize("query", QUERIES)
def test_it_answers_as_the_sandbox_does(query: str, server: Salesforce, sandbox: Sandbox) -> None:
    assert LiveOrganisation.open().soql(query) == sandbox.soql(query)


def test_searches_tools_and_solvers_do_as_well(server: Salesforce, sandbox: Sandbox) -> None:
    live = LiveOrganisation.open(today="2021-03-17").under(sandbox.compat)
    search = "FIND {shoe for view} IN ALL FIELDS RETURNING Product2(Id, Name)"
    assert live.sosl(search) == sandbox.sosl(search)
    found = TOOLS["search_products"](live, "running shoe")
    assert found == TOOLS["search_products"](sandbox, "running shoe") != []
    theirs = solve_handle_time(live, START, END, 1, "min")
    assert theirs == solve_handle_time(sandbox, START, END, 1, "min")
    assert {method for method, _ in server.asked} == {"GET"}
    assert live.at("2021-04-01").today.isoformat() == "2021-04-01"


def test_what_a_query_gets_wrong_is_told_to_the_agent_with_the_servers_code(server: Salesforce) -> None:
    live = LiveOrganisation.open()
    with pytest.raises(QueryError) as told:
        live.soql("SELECT Nonsense FROM Case")
    assert told.value.code == "INVALID_FIELD"
    assert TOOLS["issue_soql_query"](live, "SELECT Nonsense FROM Case").startswith("Error: INVALID_FIELD: ")
    for query in ("SELECT Id FROM Case LIMIT 1 FOR UPDATE", "SELECT Id FROM Case for  view"):
        with pytest.raises(QueryError, match="only read"):
            live.soql(query)
    server.fault = lambda path: (414, "<html>too long</html>")
    with pytest.raises(QueryError, match="too long"):
        live.soql("SELECT Id FROM Case")


REFUSED: tuple[tuple[int, Any], ...] = (
    (403, [{"errorCode": "REQUEST_LIMIT_EXCEEDED", "message": "TotalRequests Limit exceeded."}]),
    (503, "<html>maintenance</html>"),
    (200, "<html>a login page</html>"),
    (200, {"message": "no records here"}),
)


@pytest.mark.parametrize("reply", REFUSED)
def test_what_the_server_gets_wrong_is_no_ones_answer(reply: tuple[int, Any], server: Salesforce) -> None:
    server.fault = lambda path: reply
    with pytest.raises(Unreachable) as told:
        TOOLS["issue_soql_query"](LiveOrganisation.open(), "SELECT Id FROM Case")
    assert TOKEN not in str(told.value)
    assert "\n" not in str(told.value)


def test_credentials_come_from_the_environment_and_are_never_shown(
    server: Salesforce, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = LiveOrganisation.open()
    assert TOKEN not in repr(live) + repr(live._connection)
    monkeypatch.setenv(connection.TOKEN, "another-secret")
    with pytest.raises(Unreachable, match="INVALID_SESSION_ID") as refused:
        LiveOrganisation.open().soql("SELECT Id FROM Case")
    assert "another-secret" not in str(refused.value)
    for bad in ("http://crm.example.org", "ftp://127.0.0.1", "https://user@crm.example.org", "crm", "https://x:abc"):
        monkeypatch.setenv(connection.URL, bad)
        with pytest.raises(BadOption):
            LiveOrganisation.open()
    monkeypatch.setenv(connection.URL, "http://127.0.0.1:9")
    with pytest.raises(Unreachable, match="does not answer"):
        LiveOrganisation.open().soql("SELECT Id FROM Case")
    monkeypatch.delenv(connection.URL)
    with pytest.raises(NotConfigured, match=connection.URL):
        LiveOrganisation.open()


def test_a_name_and_password_log_in_and_are_not_told_when_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("simple_salesforce.api")
    given: dict[str, Any] = {}

    def log_in(**named: Any) -> tuple[str, str]:
        given.update(named)
        if given["password"] != "right-secret":
            raise faults.pop()
        return TOKEN, "mine.my.salesforce.com"

    monkeypatch.setattr(api, "SalesforceLogin", log_in)
    monkeypatch.delenv(connection.URL, raising=False)
    monkeypatch.setenv(connection.TOKEN, "left over, without an address")
    monkeypatch.setenv(connection.USERNAME, "ann@example.org")
    monkeypatch.setenv(connection.DOMAIN, "test")
    monkeypatch.setenv(connection.PASSWORD, "right-secret")
    assert LiveOrganisation.open().host == "mine.my.salesforce.com"
    assert (given["username"], given["domain"], given["security_token"]) == ("ann@example.org", "test", "")
    monkeypatch.setenv(connection.PASSWORD, "wrong-secret")
    refused = importlib.import_module("simple_salesforce.exceptions").SalesforceAuthenticationFailed
    timed_out = importlib.import_module("requests").exceptions.ReadTimeout
    faults = [refused("INVALID_LOGIN", "Invalid username, password, security token"), timed_out()]
    while faults:
        with pytest.raises(Unreachable, match="log") as told:
            LiveOrganisation.open()
        assert "wrong-secret" not in str(told.value)


def test_a_missing_package_is_one_line_with_its_command(server: Salesforce, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simple_salesforce.api", None)
    with pytest.raises(NotConfigured, match="pip install simple-salesforce"):
        LiveOrganisation.open()


def test_all_pages_share_the_time_of_a_query(server: Salesforce) -> None:
    live = LiveOrganisation.open()
    object.__setattr__(live, "timeout_s", 0.0)
    with pytest.raises(QueryError, match="QUERY_TIMEOUT"):
        live.soql("SELECT Id FROM Case")
    assert server.asked == []


def test_a_run_asks_it_and_notes_which(
    server: Salesforce, small_store: tuple[Path, list[Sample]], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, samples = small_store
    monkeypatch.setenv("CXLAB_HOME", str(home))
    sample = next(each for each in samples if each.task == "handle_time")
    server.sandbox = open_sandbox(sample)
    options = CrmOptions(organisation="live")
    assert list(prepare([sample], options, "simulated:strong")) == [(1, 1, "organisations")]
    assert server.asked == [("GET", "query/")]
    live = play(sample, "simulated:strong", {"organisation": "live"})
    stored = play(sample, "simulated:strong", {})
    assert live.output == {**stored.output, "organisation": open_live(sample.dataset_id, str(home)).host}
    assert [message.text for message in live.messages] == [message.text for message in stored.messages]
    assert values_of(sample, live) == values_of(sample, stored)
    server.fault = lambda path: (403, [{"errorCode": "API_DISABLED_FOR_ORG", "message": "not enabled"}])
    with pytest.raises(Unreachable, match="API_DISABLED_FOR_ORG"):
        list(prepare([sample], options, "simulated:strong"))
    server.fault = lambda path: (200, {"totalSize": 0, "done": True, "records": []})
    with pytest.raises(Unreachable, match="no cases"):
        list(prepare([sample], options, "simulated:strong"))


def test_queries_and_records_have_the_ids_of_the_dataset(server: Salesforce, sandbox: Sandbox) -> None:
    theirs = [each["Id"] for each in sandbox.soql("SELECT Id FROM User ORDER BY Id")]
    ids = {f"STORED{number:012}": each for number, each in enumerate(theirs)}
    live = LiveOrganisation.open(ids=ids)
    assert [each["Id"] for each in live.soql("SELECT Id FROM User ORDER BY Id")] == list(ids)
    first = next(iter(ids))
    mine = live.soql(f"SELECT Id, OwnerId FROM Case WHERE OwnerId = '{first}'")
    assert {each["OwnerId"] for each in mine} == {first}
    assert len(mine) == len(sandbox.soql(f"SELECT Id FROM Case WHERE OwnerId = '{theirs[0]}'")) > 0


def test_pairs_of_ids_are_read_from_the_store(tmp_path: Path) -> None:
    assert read_ids("crm-1", "127.0.0.1:80", tmp_path) == {}
    path = find_file("crm-1", "127.0.0.1:80", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("a\tb\nc\td\ne\tcut sho")
    assert read_ids("crm-1", "127.0.0.1:80", tmp_path) == {"a": "b", "c": "d"}
    path.write_text("a\tb\nc\n")
    with pytest.raises(BadFile, match=":2: is no pair"):
        read_ids("crm-1", "127.0.0.1:80", tmp_path)
