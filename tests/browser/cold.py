"""A page opened by its address in a session that was never anywhere else, looked at in both themes and widths."""

from contextlib import suppress

from playwright.sync_api import Page, TimeoutError, expect

from .conftest import SIZE
from .steps import go, main, settle

TITLES = {
    "sop_paths": "SOP paths",
    "": "Overview",
    "compare": "Compare",
    "failures": "Failures",
    "conversations": "Conversations",
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


def open_cold(page: Page, url: str, stem: str) -> None:
    """Open a page as a stranger's link does and look at it: dark and narrow first, then light and wide, as it stays."""
    # What is too wide is so in either theme, so each width is looked at in one of them.
    _dress(page, "dark", 1024, 768)
    go(page, url, stem)
    _look(page, stem, "dark")
    _dress(page, "light", SIZE["width"], SIZE["height"])
    _look(page, stem, "light")


def _dress(page: Page, theme: str, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")


def _look(page: Page, stem: str, theme: str) -> None:
    # Of all colours on a page, the ground is what tells the themes apart.
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[theme])
    # The ground changes at once, and the page is drawn anew a moment later: who clicks before that clicks in vain.
    page.wait_for_timeout(1000)
    settle(page)
    assert main(page).locator("h1").first.inner_text() == TITLES[stem]
    faults = page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all_inner_texts()
    assert faults == []
    assert _overflow(page) == [0, 0], theme


_OVERFLOW = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .map(part => part.scrollWidth - part.clientWidth)"""


def _overflow(page: Page) -> list[int]:
    """By how many pixels the window, and the page in it, are too narrow for what they hold when all has its width."""
    # A table takes the window's new width a moment after the script has ended.
    with suppress(TimeoutError):
        page.wait_for_function(f"() => ({_OVERFLOW})().every(each => each === 0)", timeout=60_000)
    return [int(each) for each in page.evaluate(_OVERFLOW)]
