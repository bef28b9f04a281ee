"""Every page opened by its address, in both themes and widths."""

from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from .conftest import Lab
from .steps import go, main, settle

pytestmark = pytest.mark.xdist_group("browser")

TITLES = {
    "sop_paths": "SOP paths",
    "": "Overview",
    "compare": "Compare",
    "failures": "Failures",
    "judges": "Judges",
    "knowledge": "Knowledge",
    "retrieval": "Retrieval",
    "crm_desk": "CRM desk",
    "persona_lab": "Persona lab",
    "datasets": "Datasets",
    "run": "Run",
    "models": "Models",
    "glossary": "Glossary",
}
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 23, 42)"}


def faults(page: Page) -> list[str]:
    """What stands in boxes that tell of a fault."""
    return page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all_inner_texts()


_OVERFLOW = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .map(part => part.scrollWidth - part.clientWidth)"""


def overflow(page: Page) -> list[int]:
    """By how many pixels the window, and the page in it, are too narrow for what they hold when all has its width."""
    # A table takes the window's new width a moment after the script has ended.
    with suppress(TimeoutError):
        page.wait_for_function(f"() => ({_OVERFLOW})().every(each => each === 0)", timeout=60_000)
    return [int(each) for each in page.evaluate(_OVERFLOW)]


def wait_for_theme(page: Page, theme: str) -> None:
    """Of all colours on a page, the ground is what tells the themes apart."""
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[theme])


@pytest.mark.parametrize("stem", TITLES)
def test_every_page_opens_by_its_address(page: Page, lab: Lab, stem: str) -> None:
    go(page, lab.url, stem)
    # What is too wide is so in either theme, so each width is looked at in one of them.
    for theme, width, height in (("light", 1440, 900), ("dark", 1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        wait_for_theme(page, theme)
        settle(page)
        assert main(page).locator("h1").first.inner_text() == TITLES[stem]
        assert faults(page) == []
        assert overflow(page) == [0, 0], f"at {width}"
