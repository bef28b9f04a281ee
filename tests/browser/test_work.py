"""What people come for, from the first click to what they wanted to see: the pages that do something."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from .cold import open_cold
from .conftest import Lab
from .steps import (
    add_choice,
    cells,
    click_mark,
    click_row,
    go,
    keyed,
    main,
    see,
    settle,
    table,
    wait_for,
    wait_for_cell,
)

pytestmark = pytest.mark.xdist_group("browser")


def test_disagreements_are_decided_by_keys_and_taken_back(page: Page, lab: Lab) -> None:
    page.context.clear_cookies(name="cx_browser")  # nobody has typed a name here
    open_cold(page, lab.url, "judges")
    see(page, re.compile(r"turn \d+\?"))
    # While a page is drawn anew, what it showed before may still stand below.
    choice = main(page).get_by_role("button", name="cannot tell").first
    expect(choice).to_be_disabled()
    name = main(page).get_by_label("Your name")
    name.fill("Ann Example")
    name.press("Enter")
    expect(choice).to_be_enabled()
    first = wait_for(page, "judges", "attempt")
    page.keyboard.press("0")
    # The decision leads on to the next item, at an address of its own, and can be taken back there.
    see(page, re.compile(r", turn \d+: cannot tell"))
    expect(page).not_to_have_url(re.compile(re.escape(quote(first["attempt"][0], safe=""))))
    see(page, "Decided by Ann Example alone")
    page.keyboard.press("z")
    expect(page).to_have_url(re.compile(re.escape(quote(first["attempt"][0], safe=""))))
    expect(choice).to_be_enabled()
    expect(main(page).get_by_text("Decided by Ann Example alone")).to_have_count(0)
    page.keyboard.press("n")
    expect(page).not_to_have_url(re.compile(re.escape(quote(first["attempt"][0], safe=""))))
    # The name is this browser's from now on, also in another session.
    page.reload()
    see(page, re.compile("Deciding as Ann Example"))


def test_a_cell_of_the_agreement_matrix_tells_of_two_judges(page: Page, lab: Lab) -> None:
    go(page, lab.url, "judges", tab="agreement")
    pair = ["simulated:judge-lenient", "simulated:judge-strict"]
    click_mark(page, "judges-matrix-field-agree", pair)
    assert wait_for(page, "judges", "judge")["judge"] == pair
    see(page, re.compile(r"lenient and strict agree on \d+"))
    see(page, "Where they part")


@pytest.mark.usefixtures("as_before")
def test_a_run_is_ordered_followed_deleted_and_brought_back(page: Page, lab: Lab) -> None:
    open_cold(page, lab.url, "run")
    models = main(page).get_by_test_id("stMultiSelect").filter(has=page.get_by_text("Models to evaluate"))
    models.get_by_label(re.compile("Remove strong")).click()
    expect(models.locator("[data-tag]")).to_have_count(0)
    add_choice(page, models, "curt · simulated")
    main(page).get_by_text("Limits and set-up").click()
    limit = main(page).get_by_role("spinbutton", name="Samples at most")
    limit.fill("6")
    limit.press("Enter")
    metric = main(page).get_by_test_id("stMetric").filter(has=page.get_by_text("Dialogues", exact=True))
    expect(metric.get_by_test_id("stMetricValue")).to_have_text("6")
    main(page).get_by_role("button", name="Run evaluation").click()
    expect(main(page).get_by_test_id("stProgress").first).to_be_visible()
    wait_for(page, "run", "job")
    see(page, "See the result on Overview")
    settle(page)
    wait_for_cell(page, "history", "State", "✓ done")
    history = table(page, "history")
    assert cells(history, "Model")[0] == "curt · simulated"
    run = cells(history, "Run")[0]
    click_row(page, "history")
    delete = keyed(page, "delete").get_by_role("button")
    expect(delete).to_be_enabled()
    delete.click()
    see(page, re.compile("Trash: 1 deleted"))
    settle(page)
    assert run not in cells(history, "Run")
    main(page).get_by_role("button", name="Undo").click()
    expect(main(page).get_by_text(re.compile("Trash: "))).to_have_count(0)
    settle(page)
    assert cells(history, "Run")[0] == run


def test_models_are_tested_and_explained(page: Page, lab: Lab) -> None:
    open_cold(page, lab.url, "models")
    main(page).get_by_role("button", name="Test connection").click()
    see(page, re.compile(r"simulated:strong answers in "))
    see(page, "Simulated models, in words and numbers")
    main(page).get_by_role("radio", name="judge").or_(main(page).get_by_role("button", name="judge")).first.click()
    wait_for(page, "models", "role")
    see(page, re.compile("^Strict judge"))
