"""Datasets in a real browser: from the list to a conversation with its noise, and a rating that is taken back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.stores.cxmarena_dataset import DATASET, make_dataset
from tests.stores.judged import HOSTILE

from .conftest import Lab
from .steps import click_row, go, keyed, main, see, settle, wait_for

pytestmark = pytest.mark.xdist_group("browser")


def test_a_dataset_is_opened_read_and_rated(page: Page, lab: Lab) -> None:
    make_dataset(lab.home)
    go(page, lab.url, "datasets", dataset=DATASET, tab="conversations", intent="delivery")
    see(page, "2 conversations")
    click_row(page, "conversations")
    wait_for(page, "datasets", "conversation")
    # The page fails by itself if what the customer wrote makes the browser fetch something.
    keyed(page, "speech").get_by_text("Misheard words").click()
    wait_for(page, "datasets", "speech")
    keyed(page, "fragments").get_by_text("Fragments").click()
    wait_for(page, "datasets", "fragments", "speech")
    expect(main(page).get_by_text(HOSTILE).first).to_be_visible()
    assert main(page).locator("mark").count() == 0
    # While the switched text is drawn, the message may stand there twice for a moment.
    settle(page)
    main(page).get_by_role("button", name=re.compile("^2 sources")).last.click()
    see_passage = page.get_by_test_id("stPopoverBody").get_by_text("A yellow dot: the sensor has lost its base.")
    expect(see_passage).to_be_visible()
    page.keyboard.press("Escape")
    # A link that was kept shows the same, and going on keeps the switches.
    page.reload(wait_until="commit")
    settle(page)
    assert main(page).locator("mark").count() == 0
    keyed(page, "talk-n").get_by_role("button").click()
    page.wait_for_url(lambda url: "conversation=C_5" in url and "speech=" in url, wait_until="commit")

    go(page, lab.url, "datasets", dataset=DATASET, tab="realism", rater="AB")
    see(page, "0 of 6 rated by you")
    main(page).get_by_text("Fake", exact=True).click()
    main(page).get_by_text("repeats itself", exact=True).click()
    save = main(page).get_by_role("button", name="Save and go on")
    expect(save).to_be_enabled()
    save.click()
    see(page, "1 of 6 rated by you")
    keyed(page, "study-undo").get_by_role("button").click()
    see(page, "0 of 6 rated by you")
