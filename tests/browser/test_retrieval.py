"""From the board of indexes to one query in two rankings, clicked through in a browser."""

import re

import pytest
from playwright.sync_api import Page

from tests.stores.searches import HOSTILE, make_searched_store

from .conftest import Lab
from .steps import click_mark, click_row, go, keyed, main, see, wait_for

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.usefixtures("as_before")
def test_from_an_index_to_what_it_missed_to_one_query_beside_another_ranking(page: Page, lab: Lab) -> None:
    make_searched_store(lab.home)
    go(page, lab.url, "retrieval")
    see(page, re.compile("Hybrid with MiniLM 500/50: hit"))
    click_mark(page, "retrieval-board-article_search", ["run-fair"])
    assert wait_for(page, "retrieval", "field")["field"] == ["run-fair"]
    see(page, re.compile(r"BM25 1000/100 leaves the right article out of the first 10 on 1 of 4 queries"))
    click_mark(page, "retrieval-kinds-article_search", ["late", "elsewhere", "run-fair"])
    assert wait_for(page, "retrieval", "alike")["alike"] == ["late|elsewhere"]
    see(page, re.compile("1 queries: right one at 2 to 10, one of another area"))
    click_row(page, "retrieval-rows-article_search")
    assert wait_for(page, "retrieval", "attempt")["attempt"] == ["run-fair/run-fair-s3"]
    see(page, "✓ right at 2")
    # What the customer asked is shown as it was written; `page` fails by itself when a request leaves this machine.
    main(page).get_by_text(HOSTILE).first.wait_for()
    assert page.locator("img[src*=evil], a[href*=evil]").count() == 0
    page.locator("summary").filter(has_text="2. Returns Refunds").click()
    see(page, re.compile("^Retu$"))  # the piece, as long as the index says it was
    keyed(page, "retrieval-up").get_by_role("button").click()
    see(page, "On which queries do the indexes part?")
