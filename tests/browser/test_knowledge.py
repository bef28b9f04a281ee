"""The page Knowledge in a real browser: from the topic tree to an article whose text is somebody else's."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.stores.knowledge_base import DATASET, make_knowledge

from .conftest import Lab
from .steps import cells, click_mark, click_row, go, main, see, settle, table, wait_for

pytestmark = pytest.mark.xdist_group("browser")


def test_from_the_topic_tree_to_an_article_with_its_noise(page: Page, lab: Lab) -> None:
    # Without runs, so that the pages of the other tests look as they did.
    make_knowledge(lab.home, runs=False)
    go(page, lab.url, "knowledge", dataset=DATASET, tab="articles")
    see(page, "5 articles under 2 roots, up to 2 levels deep")
    click_mark(page, "knowledge-tree", ["Heat"])
    assert wait_for(page, "knowledge", "topic")["topic"] == ["Heat"]
    see(page, "3 articles under Heat")
    assert cells(table(page, "knowledge-articles"), "Article") == ["Heat", "Stove", "Fan"]
    click_row(page, "knowledge-articles")
    assert wait_for(page, "knowledge", "article")["article"] == ["K_3"]
    # HTML with scripts, pictures and handlers in it: only its words are left.
    see(page, re.compile(r"\*\*bold\*\* \[l\]\(http://evil"))
    for made in ("img[src*=evil]", "a[href*=evil]", "script[src*=evil]"):
        assert page.locator(made).count() == 0, made
    main(page).get_by_text("Source", exact=True).click()
    settle(page)
    see(page, re.compile("onclick"))
    go(page, lab.url, "knowledge", dataset=DATASET, article="K_1", text="served")
    expect(main(page).locator("abbr[title='Aero Lamp']")).to_have_text("AL")
    go(page, lab.url, "knowledge", dataset=DATASET, tab="pairs")
    main(page).get_by_role("button", name="Run the task").click()
    wait_for(page, "run", "bench")
    see(page, re.compile(r"CXMArena: operations\."))
