"""The page Conversations in a real browser: one's own file, a question, what fits, a set, what a model says of it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.test_pages_conversations import QUESTION, lines

from .conftest import Lab
from .steps import go, keyed, main, see, settle, wait_for

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.usefixtures("as_before")
def test_from_a_file_to_the_messages_that_fit_a_set_and_what_a_model_says_of_it(page: Page, lab: Lab) -> None:
    go(page, lab.url, "conversations")
    file = {"name": "talks.jsonl", "mimeType": "application/jsonl", "buffer": "\n".join(lines()).encode()}
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files([file])
    see(page, "9 conversations from the first 9 rows")
    main(page).get_by_role("button", name="Import and search").click()
    wait_for(page, "conversations", "dataset")
    see(page, "Imported")
    field = keyed(page, "search-question").get_by_role("textbox")
    field.fill(QUESTION)
    field.press("Enter")
    assert wait_for(page, "conversations", "dataset", "q")["q"] == [QUESTION]
    see(page, re.compile(r"Something speaks for it in \d+ of 9 conversations"))
    see(page, re.compile(r"a worse mood: 0(\.\d\d)? → 0\.\d\d of 1"))
    first = keyed(page, "search-hit-1")
    expect(first.locator(".cx-line.asked").last).to_contain_text("Ridiculous, I am furious.")
    main(page).get_by_role("radio", name="Save", exact=True).click()
    wait_for(page, "conversations", "tab")
    main(page).get_by_role("button", name="Save the set").click()
    see(page, "1 saved of these conversations")
    settle(page)
    main(page).get_by_role("button", name="Search in it").click()
    page.wait_for_url(re.compile("dataset=cdr-set-"), wait_until="commit")
    settle(page)
    kept = wait_for(page, "conversations", "dataset")["dataset"]
    main(page).get_by_role("radio", name="Send", exact=True).click()
    wait_for(page, "conversations", "tab")
    see(page, "Have a model read each of these 3 conversations")
    keyed(page, "send-task").get_by_role("radio", name="Quality of service").click()
    questions = keyed(page, "send-quality-questions").get_by_role("textbox")
    questions.fill("Did the agent greet? Was the customer angry?")
    questions.press("Control+Enter")
    main(page).get_by_role("button", name="Prepare", exact=True).click()
    main(page).get_by_role("link", name="Choose a model and run it").click()
    wait_for(page, "run", "dataset")
    main(page).get_by_role("button", name="Run evaluation").click()
    main(page).get_by_role("link", name="Read what was said of each conversation").click()
    asked = wait_for(page, "conversations", "run")
    assert (asked["dataset"], asked["tab"]) == (kept, ["send"])
    see(page, "What simulated:strong says")
    see(page, re.compile(r"Least often yes: (Did the agent greet|Was the customer angry)\?"))
    see(page, re.compile(r"(Yes|No): [0-3] of 3"))
    # The conversation that the answers are about stands below them, with the way back to where it was found.
    expect(keyed(page, "send-one").locator(".cx-line").first).to_contain_text("My parcel has not come yet.")
    main(page).get_by_role("radio", name="Found", exact=True).click()
    see(page, "Ask a question above")


def test_what_is_picked_in_the_narrow_sidebar_is_read_whole(page: Page, lab: Lab) -> None:
    page.set_viewport_size({"width": 1024, "height": 900})
    go(page, lab.url, "conversations", source="runs", q="refund")
    settle(page)
    sidebar = page.locator("[data-testid=stSidebar]")
    said = sidebar.get_by_role("combobox", name="Said by")
    expect(said).to_have_value("customer or agent")
    assert said.evaluate("each => each.scrollWidth <= each.clientWidth")
    sidebar.get_by_role("combobox", name="Model").click()
    page.get_by_role("option").first.click()
    tag = sidebar.locator(".react-aria-ComboBox [data-tag] > span").first
    expect(tag).to_be_visible()
    assert tag.evaluate("each => each.scrollWidth <= each.clientWidth")
