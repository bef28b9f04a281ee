"""The page CRM desk in a real browser: a walk through records, two queries typed, a trace to where it went wrong."""

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.stores.crm import CALLING, CASE, CUSTOMER, DATASET, ORDER, REACT, make_crm, make_runs

from .conftest import Lab
from .steps import cells, click_row, go, main, see, settle, table, wait_for

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def organisation(lab: Lab) -> Iterator[None]:
    """In the store for this test alone, so that the pages of the others look as they did."""
    make_crm(lab.home)
    with ThreadPoolExecutor() as aside:
        # The browser keeps a loop running here, and the agents want one of their own.
        aside.submit(make_runs, lab.home).result()
    yield
    for gone in (f"runs/{REACT}", f"runs/{CALLING}", f"datasets/{DATASET}"):
        shutil.rmtree(lab.home / gone)


def follow(page: Page, words: str) -> None:
    main(page).get_by_role("link", name=words).first.click()


def arrive(page: Page, part: str) -> None:
    page.wait_for_url(re.compile(re.escape(part)), wait_until="commit")
    settle(page)


def editor(page: Page) -> Locator:
    return main(page).get_by_role("combobox", name="SOQL or SOSL query")


@pytest.mark.usefixtures("organisation")
def test_from_an_account_to_a_chat_two_queries_and_a_failed_trace(page: Page, lab: Lab) -> None:
    go(page, lab.url, "crm_desk", dataset=DATASET, record=CUSTOMER)
    follow(page, "Order of 2020-04-20")
    arrive(page, f"record={ORDER}")
    follow(page, "1 × Trail Running Shoe")
    see(page, "OrderItem")
    follow(page, "Case opened: Too narrow")
    arrive(page, f"record={CASE}")
    see(page, "They are too narrow.")
    assert page.locator("img[src=x]").count() == 0
    follow(page, "Chat of 2 messages ended")
    see(page, "(this record)")

    go(page, lab.url, "crm_desk", dataset=DATASET, tab="console")
    editor(page).click()
    page.keyboard.type("SELECT Id, EffectiveDate FROM Order WHERE Acc")
    expect(page.get_by_role("option").first).to_contain_text("AccountId")
    page.keyboard.press("Tab")
    page.keyboard.type(" IN (SELECT AccountId FROM Case WHERE Subject LIKE 'Too narrow%')")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    assert "AccountId IN (SELECT" in wait_for(page, "crm_desk", "query")["query"][0]
    main(page).get_by_text("Explain: how it is worked through").click()
    see(
        page, "Keep those where AccountId is one of the AccountId of Case records, where Subject is like 'Too narrow%'."
    )
    assert cells(table(page, "crm-answer"), "Id") == [ORDER]
    editor(page).fill("SELECT Id,\n  Subjct\nFROM Case")
    main(page).get_by_role("button", name="Run query").click()
    see(page, "row 2, column 3")
    see(page, re.compile("No such column 'Subjct' on entity 'Case'"))
    follow(page, "Subject")
    arrive(page, "Subject")
    see(page, "121 records")
    expect(editor(page)).to_have_value("SELECT Id,\n  Subject\nFROM Case")

    go(page, lab.url, "crm_desk", dataset=DATASET, tab="traces")
    click_row(page, "crm-attempts")
    assert wait_for(page, "crm_desk", "attempt")["attempt"] == [f"{REACT}/{REACT}-s-crm-2"]
    settle(page)
    see(page, "Where it first went wrong, in reply 2")
    see(page, "Window: another period")
    see(page, "✕ first departure")
    see(page, re.compile("what the agent missed"))
