"""The page Conversations in a real browser: one's own file, a question, the messages that fit, a set that is kept."""

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.pages.test_pages_conversations import QUESTION, lines

from .conftest import Lab
from .steps import go, keyed, main, see, settle, wait_for

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def as_before(lab: Lab) -> Iterator[None]:
    """Datasets of this test alone, so that the pages of the others look as they did."""
    held = set((lab.home / "datasets").glob("*"))
    yield
    for made in set((lab.home / "datasets").glob("*")) - held:
        shutil.rmtree(made)


@pytest.mark.usefixtures("as_before")
def test_from_a_file_to_the_messages_that_fit_and_a_set(page: Page, lab: Lab) -> None:
    go(page, lab.url, "conversations")
    file = {"name": "talks.jsonl", "mimeType": "application/jsonl", "buffer": "\n".join(lines()).encode()}
    page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files([file])  # type: ignore[list-item]
    see(page, "9 conversations from the first 9 rows")
    main(page).get_by_role("button", name="Import and search").click()
    wait_for(page, "conversations", "dataset")
    see(page, "Imported")
    field = keyed(page, "search-question").get_by_role("textbox")
    field.fill(QUESTION)
    field.press("Enter")
    assert wait_for(page, "conversations", "dataset", "q")["q"] == [QUESTION]
    see(page, "3 best")
    see(page, re.compile(r"a worse mood: \+0.25 → \+0.65"))
    first = keyed(page, "search-hit-1")
    expect(first.locator(".cx-line.asked").last).to_contain_text("Ridiculous, I am furious.")
    main(page).get_by_role("radio", name="Save", exact=True).click()
    wait_for(page, "conversations", "tab")
    main(page).get_by_role("button", name="Save the set").click()
    see(page, "1 saved of these conversations")
    settle(page)
    main(page).get_by_role("button", name="Search in it").click()
    page.wait_for_url(re.compile("dataset=cdr-set-"), wait_until="commit")
