"""The page CRM desk: what it shows of an organisation whose every record is known, and where its clicks lead."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from cxlab.store import write
from cxlab.ui.tables import table_key
from cxlab.views.crm import organisation
from cxlab.views.crm.place import Place
from cxlab.views.crm.traces.page import say_departure
from tests.conftest import use
from tests.pages import app_script
from tests.pages.app_script import codes, picked, words
from tests.pages.test_pages_addresses import GARBAGE
from tests.stores.crm import (
    CALLING,
    CASE,
    CUSTOMER,
    DATASET,
    HOSTILE,
    ITEM,
    ORDER,
    PERIOD,
    REACT,
    make_runs,
)  # fmt: skip
from tests.stores.runs import write_run

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


@pytest.fixture
def home(crm_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(crm_store, monkeypatch)
    return crm_store


def test_without_an_organisation_it_says_what_would_be_here(empty_home: Path) -> None:
    app = open_page()
    assert "This store holds no organisation yet" in words(app)
    assert [each.label for each in app.button] == ["Generate one"]
    assert codes(app)[0] == "python -m cxlab generate crmarena"


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
@pytest.mark.parametrize("tab", ["", "console", "tasks", "traces", "board", "rating"])
def test_no_address_breaks_it(home: Path, garbage: str, tab: str) -> None:
    app = open_page(tab=tab, **dict.fromkeys(Place.own(), garbage), page=garbage)
    assert "<img" not in made_html(app)
    for part in [*app.markdown, *app.caption, *app.error]:
        assert "<img" not in part.value.replace("\\<", "")


def test_tasks_lead_to_their_questions_and_those_to_how_they_are_answered(home: Path) -> None:
    tasks = open_page(tab="tasks").dataframe[0].value.set_index("title")
    assert len(tasks) == 9
    assert tasks["questions"]["Handle time understanding"] == 2
    assert tasks["unanswerable"]["Handle time understanding"] == 1
    assert tasks["share"]["Handle time understanding"] == 50
    questions = open_page(tab="tasks", kind="handle_time")
    assert "The policy: be exact." in words(questions)
    assert questions.dataframe[0].value["number"].tolist() == [0, 1]
    app = open_page(tab="tasks", sample="s-crm-0")
    told = words(app)
    assert "**1. get_period**" in told
    assert "agent_handled_cases = what step 2 returned" in told
    assert "FROM CaseHistory__c" in "\n".join(codes(app))
    assert f"Answer: {organisation.load(DATASET).title(str(gold('s-crm-0')))}" in told
    assert "The dataset says otherwise" not in told
    none = words(open_page(tab="tasks", sample="s-crm-1"))
    assert none.count("None: the question has no answer") == 2
    assert "There is no question" in words(open_page(tab="tasks", sample="s-nothing"))


def gold(sample: str) -> object:
    return next(each.expected["answer"] for each in write.load_samples(DATASET) if each.id == sample)


def test_what_has_no_solver_shows_its_texts(home: Path) -> None:
    asked = open_page(tab="tasks", sample="s-crm-3")
    assert "<mark>within 30 days</mark>" in made_html(asked)
    broken = open_page(tab="tasks", sample="s-crm-4")
    assert "Nobody told the customer of the 30 days." in words(broken)
    assert "Chat of 2 messages ended" in links(broken)


def test_readings_differ_where_the_tools_do(home: Path) -> None:
    original = words(open_page(tab="tasks", sample="s-crm-0", reading="original"))
    assert "**1. get_period**" in original
    assert "The dataset says otherwise" not in original


def test_a_rating_is_kept_shown_and_taken_back(crm_store: Path, empty_home: Path) -> None:
    shutil.copytree(crm_store, empty_home, dirs_exist_ok=True)
    app = open_page(tab="rating")
    assert "How realistic is this organisation as a whole?" in words(app)
    app.text_input(key="cx-author").set_value("AB").run()
    app.radio(key="crm-point-organisation").set_value("4").run()
    assert app.button(key="crm-rate").disabled
    app.text_area(key="crm-why-organisation").set_value(f"as at work {HOSTILE}").run()
    app.button(key="crm-rate").click().run()
    assert not app.exception
    assert "How realistic are the User records?" in words(app)
    results = open_page(tab="rating", kind="results")
    assert "100.0 % find the organisation realistic" in words(results)
    assert results.dataframe[-1].value["rationale"].tolist() == [f"as at work {HOSTILE}"]
    app.button(key="crm-undo").click().run()
    assert "Nobody has rated the organisation yet" in words(open_page(tab="rating", kind="results"))


@pytest.fixture
def run_home(crm_run_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(crm_run_store, monkeypatch)
    return crm_run_store


def test_without_attempts_it_offers_a_run(home: Path) -> None:
    app = open_page(tab="traces")
    assert "No agent has worked this organisation yet" in words(app)
    assert [each.label for each in app.button] == ["Run agents"]


def test_attempts_are_listed_and_lead_to_one(run_home: Path) -> None:
    failed = open_page(tab="traces")
    assert failed.dataframe[0].value["answer"].tolist() == ["TX"]
    assert open_page(tab="traces", verdict="all").dataframe[0].value["number"].tolist() == [2, 2, 3, 3]
    one = open_page(tab="traces", verdict="all", run=CALLING, kind="knowledge_qa").dataframe[0].value
    assert one["answer"].tolist() == ["within 30 days"]


def test_a_failed_trace_shows_the_departure_beside_the_solvers_step(run_home: Path) -> None:
    app = open_page(tab="traces", attempt=f"{REACT}/{REACT}-s-crm-2")
    told, code = words(app), codes(app)
    assert "**Where it first went wrong, in reply 2**" in told
    assert "Window: another period" in told
    assert code[0] == PERIOD
    assert code[1].startswith("get_period(")
    assert "CreatedDate >= 2020-04-01T00:00:00Z" in code[2]
    assert "first departure" in told
    assert "✕ INVALID_FIELD" in told
    assert "**1. get_period** · what the agent missed" in told
    assert "<img" not in made_html(app)
    near = links(open_page(tab="traces", verdict="all", attempt=f"{REACT}/{REACT}-s-crm-2"))
    assert f"{CALLING}-s-crm-2" in near["Previous"]
    assert f"{CALLING}-s-crm-3" in near["Next"]
    assert not {"Previous", "Next"} & set(links(app))
    right = words(open_page(tab="traces", attempt=f"{CALLING}/{CALLING}-s-crm-2"))
    assert "Where it first went wrong" not in right
    assert "**Reply 3**" in right
    assert "The article: Return Policy" in words(open_page(tab="traces", attempt=f"{REACT}/{REACT}-s-crm-3"))


def test_failures_draws_it_the_same_way(run_home: Path) -> None:
    app = app_script.open_page("failures", attempt=f"{REACT}/{REACT}-s-crm-2")
    assert not app.exception
    assert "**Where it first went wrong, in reply 2**" in words(app)
    assert "**Reply 3**" in words(app)


def test_imported_questions_come_without_the_solvers_arguments(crm_store: Path, empty_home: Path) -> None:
    shutil.copytree(crm_store, empty_home, dirs_exist_ok=True)
    path = empty_home / "datasets" / DATASET / "samples.parquet"
    frame = pl.read_parquet(path)
    frame.with_columns(expected=pl.lit('{"answer": "NY"}')).write_parquet(path)
    assert "does not keep what the solver was asked for" in words(open_page(tab="tasks", sample="s-crm-2"))
    assert "The article" not in words(open_page(tab="tasks", sample="s-crm-2"))


def test_what_is_no_attempt_of_it_is_named(run_home: Path) -> None:
    assert "There is no attempt" in words(open_page(tab="traces", attempt="run-gone/a"))


def test_the_board_has_agents_by_tasks_with_floors_and_the_paper_beside(run_home: Path) -> None:
    app = open_page(tab="board")
    board = app.dataframe[0].value
    cells = {(row["agent"], row["task"]): row["mean"] for row in board.to_dict("records")}
    assert cells["scripted, ReAct", "Best region identification"] == 0
    assert cells["scripted, ReAct", "All"] == 50
    assert cells["scripted, Function calling", "All"] == 100
    assert cells["Best constant answer", "All"] == 100
    assert "scripted, Function calling reaches 100.0 over 2 tasks" in words(app)
    published = next(each.value for each in app.dataframe if "ncr" in each.value)
    assert published["agent"][0] == "gpt-4o (Function Calling)"
    assert "◆ published" in words(app)
    picked_cell = {"crm-board": {"selection": {"points": [{"customdata": [REACT, "knowledge_qa"]}]}}}
    clicked = open_page(picked_cell, tab="board")
    assert clicked.query_params["tab"] in ("traces", ["traces"])
    assert clicked.query_params["kind"] in ("knowledge_qa", ["knowledge_qa"])


def test_without_runs_the_board_shows_the_paper(home: Path) -> None:
    app = open_page(tab="board")
    assert [each.label for each in app.button] == ["Run agents"]
    assert "What the paper reports" in words(app)


@pytest.mark.parametrize(("trials", "left"), [(1, 1), (3, 12)])
def test_one_attempt_and_twelve(crm_store: Path, empty_home: Path, trials: int, left: int) -> None:
    shutil.copytree(crm_store, empty_home, dirs_exist_ok=True)
    make_runs(empty_home, trials)
    if left == 1:
        shutil.rmtree(empty_home / "runs" / CALLING)
    one = {"kind": "knowledge_qa"} if left == 1 else {}
    assert len(open_page(tab="traces", verdict="all", **one).dataframe[0].value) == left
    board = open_page(tab="board").dataframe[0].value.set_index(["agent", "task"])
    assert board["n"]["scripted, ReAct", "All"] == 2 * trials
    assert board["mean"]["scripted, ReAct", "All"] == 50


def test_what_came_without_records_or_without_tasks(crm_store: Path, empty_home: Path) -> None:
    shutil.copytree(crm_store, empty_home, dirs_exist_ok=True)
    folder = empty_home / "datasets" / DATASET
    samples = pl.read_parquet(folder / "samples.parquet")
    samples.clear().write_parquet(folder / "samples.parquet")
    assert "This dataset has records and no tasks" in words(open_page(tab="tasks"))
    samples.write_parquet(folder / "samples.parquet")
    (folder / "Case.parquet").write_bytes(b"PAR1 and nothing of that kind")
    assert "Case.parquet" in words(open_page(object="Case"))
    for name in organisation.load_default().objects:
        (folder / f"{name}.parquet").unlink()
    for tab in ("", "console", "rating"):
        assert "This dataset has tasks and no records" in words(open_page(tab=tab))
    assert "which were not imported" in words(open_page(tab="tasks", sample="s-crm-0"))
    assert "There is no question" not in words(open_page(tab="tasks", kind="handle_time"))


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("0001-01-01", "NUMBER_OUTSIDE_VALID_RANGE"),
        ("9999-12-31", "NUMBER_OUTSIDE_VALID_RANGE"),
        ("2024-02-29", "1 record"),
    ],
)
def test_any_day_can_be_today(home: Path, day: str, told: str) -> None:
    query = "SELECT COUNT(Id) n FROM Case WHERE CreatedDate = LAST_N_YEARS:3 OR CreatedDate = NEXT_N_MONTHS:9"
    assert told in words(open_page(tab="console", query=query, today=day))


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        (["window: another period"] * 3 + ["tie"], "Of 4 failed attempts 3 depart first at “window: another period”"),
        (["tie", "window"], "2 failed attempts"),
        ([None, ""], "2 failed attempts"),
        (["tie"], "Of 1 failed attempt 1 departs first at “tie”"),
        ([], "0 failed attempts"),
    ],
)
def test_the_list_of_traces_begins_with_where_most_depart(reasons: list[str | None], told: str) -> None:
    said = say_departure(pl.DataFrame({"reason": reasons}, schema={"reason": pl.String}), "")
    assert said.startswith(told)
    assert said == told or said.endswith("more than anywhere else")


def test_a_benchmark_of_another_page_does_not_stay_in_the_address(
    crm_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(shutil.copytree(crm_store, tmp_path / "own"), monkeypatch)
    write_run(tmp_path / "own", 1, "m", {("s0", 1): 0.0})
    app = open_page({}, benchmark="sage")
    assert "benchmark" not in app.query_params
