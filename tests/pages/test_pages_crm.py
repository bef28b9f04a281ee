"""The page CRM desk: what it shows of an organisation whose every record is known, and where its clicks lead."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.ui.tables import table_key
from cxlab.views.crm import organisation
from cxlab.views.crm.place import OWN
from tests.conftest import use
from tests.pages import app_script
from tests.pages.app_script import picked, words
from tests.pages.test_pages_addresses import GARBAGE
from tests.stores.crm import CASE, CUSTOMER, DATASET, HOSTILE, ITEM, ORDER, make_crm

pytestmark = pytest.mark.xdist_group("pages")


def open_page(state: dict[str, Any] | None = None, **query: Any) -> AppTest:
    app = app_script.open_page("crm_desk", state=state, **query)
    assert not app.exception
    return app


def links(app: AppTest) -> dict[str, str]:
    """Label of each link on the page → the query of its address."""
    return {each.proto.label.replace("\\", ""): each.proto.query_string for each in app.get("page_link")}


def made_html(app: AppTest) -> str:
    return "\n".join(each.proto.body for each in app.get("html"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crm-pages")
    make_crm(home)
    return home


@pytest.fixture
def home(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(store, monkeypatch)
    return store


def test_without_an_organisation_it_says_what_would_be_here(empty_home: Path) -> None:
    app = open_page()
    assert "This store holds no organisation yet" in words(app)
    assert [each.label for each in app.button] == ["Generate one"]
    assert app.code[0].value == "python -m cxlab generate crmarena"


def test_objects_lead_to_their_records_and_those_to_one(home: Path) -> None:
    app = open_page()
    objects = app.dataframe[0].value.set_index("name")
    assert len(objects) == 16
    assert objects["records"]["Case"] == 121
    assert objects["leads_to"]["OrderItem"] == "Order, Product2, PricebookEntry"
    app = open_page(object="Case", find="pinch narrow")
    assert app.dataframe[0].value["Id"].tolist() == [CASE]
    assert "Case has" not in words(app)
    assert links(app)["AccountId → Account"] == f"dataset={DATASET}&object=Account"
    assert "No record has all of these words" in words(open_page(object="Case", find="no such words"))


def test_a_record_is_a_form_with_its_timeline_and_the_ways_on(home: Path) -> None:
    app = open_page(record=CUSTOMER)
    assert "Dana" in made_html(app)
    found = links(app)
    assert found["Order of 2020-04-20"] == f"dataset={DATASET}&record={ORDER}"
    assert f"record={CASE}" in next(query for label, query in found.items() if label.startswith("Case opened: Too"))
    order = links(open_page(record=ORDER))
    assert f"record={ITEM}" in order["1 × Trail Running Shoe"]
    case = open_page(record=CASE)
    html = made_html(case)
    assert "They are too narrow." in html
    assert "I am sorry &amp; will help." in html
    assert "&lt;img src=x onerror" in html
    assert "<img" not in html
    assert "Handed over from Ann0 O'Neil to Ann1 Lee" in links(case)
    assert "null" in html  # the channel is not known


def test_a_record_that_is_not_there_is_named(home: Path) -> None:
    for wrong in ("500x", HOSTILE, "../../etc/passwd", "0" * 18):
        assert "There is no record" in words(open_page(record=wrong))
    assert "There is no object Nothing" in words(open_page(object="Nothing"))


def test_the_console_answers_and_explains(home: Path) -> None:
    query = "SELECT Id FROM Order WHERE AccountId IN (SELECT AccountId FROM Case WHERE Priority = 'High')"
    app = open_page(tab="console", query=query)
    assert ORDER in app.dataframe[0].value["Id"].tolist()
    assert "Keep those where AccountId is one of the AccountId of Case records, where Priority is 'High'." in words(app)
    assert [each.label for each in app.get("download_button")][-1] == "All records as JSON"
    assert app.session_state["crm-history"][0].came == app.subheader[0].value
    app = open_page(tab="console", query="SELECT Subjct FROM Case")
    assert "INVALID_FIELD" in words(app)
    assert "row 1, column 8" in words(app)
    assert "caret" in made_html(app)
    assert "query=SELECT+Subject+FROM+Case" in links(app)["Subject"]
    none = open_page(tab="console", query="SELECT Id FROM Case WHERE Subject = 'nothing of that kind'")
    assert "No record is like that" in words(none)


def test_relative_dates_are_seen_from_the_day_that_is_chosen(home: Path) -> None:
    query = "SELECT COUNT(Id) n FROM Case WHERE CreatedDate < TODAY"
    early = open_page(tab="console", query=query, today="2020-01-01").dataframe[0].value["n"][0]
    late = open_page(tab="console", query=query, today="2030-01-01").dataframe[0].value["n"][0]
    assert (early, late) == (0, 121)
    assert "is no day" in words(open_page(tab="console", query=query, today="soon"))


def test_a_click_in_a_table_opens_the_record(home: Path) -> None:
    accounts = organisation.load(DATASET)
    rows = accounts.readable(accounts.search("Account", ""), "Account")
    app = open_page({table_key("crm-rows-Account", rows): picked(2)}, object="Account")
    assert app.query_params["record"] in (rows["Id"][2], [rows["Id"][2]])


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("tab", ["", "console"])
def test_no_address_breaks_it(home: Path, garbage: str, tab: str) -> None:
    app = open_page(tab=tab, **dict.fromkeys(OWN, garbage), page=garbage)
    assert "<img" not in made_html(app)
    for part in [*app.markdown, *app.caption, *app.error]:
        assert "<img" not in part.value.replace("\\<", "")
