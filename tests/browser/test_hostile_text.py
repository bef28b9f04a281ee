"""What customers, models and judges wrote is shown as text, whatever they wrote."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.judged import HOSTILE, make_judged_store

from .conftest import serving
from .steps import settle

pytestmark = pytest.mark.xdist_group("browser")
PAGES = ["failures?attempt=run-1/run-1-a3&turn=1", "judges?tab=queue"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("hostile")
    make_judged_store(home)
    with serving(home) as url:
        yield url


@pytest.mark.parametrize("page_name", PAGES)
def test_nothing_is_rendered_and_nothing_is_fetched(page: Page, address: str, page_name: str) -> None:
    # `page` fails by itself when a request leaves this machine.
    alarms: list[str] = []
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.goto(f"{address}/{page_name}", wait_until="commit")
    settle(page)
    if "attempt" in page_name:
        page.get_by_text(HOSTILE).first.wait_for()
        # Customer and agent said it, and it is the raw reply of the turn: each time as it was written.
        assert page.get_by_text(HOSTILE).count() == 2
        page.get_by_role("button", name="Raw reply").click()
        page.get_by_text(HOSTILE).nth(2).wait_for()
    assert alarms == []
    for trace in ("img[src*=evil]", "a[href*=evil]", "script[src*=evil]", ".katex"):
        assert page.locator(trace).count() == 0, trace
    assert page.locator("strong", has_text="bold").count() == 0
    assert page.locator("[data-testid='stException']").count() == 0
