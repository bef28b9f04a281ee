"""Every page opened by its address in a browser that was never here."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from streamlit.testing.v1 import AppTest

from .conftest import ROOT, Lab, Window
from .steps import main, settle

pytestmark = pytest.mark.xdist_group("browser")

TITLES = {
    "sop_paths": "SOP paths",
    "": "Overview",
    "compare": "Compare",
    "failures": "Failures",
    "judges": "Judges",
    "run": "Run",
    "models": "Models",
}
# What a page says to whoever comes before there is anything to see.
FIRST_STEPS = {
    "": "python -m cxlab demo",
    "compare": "python -m cxlab demo",
    "failures": "python -m cxlab demo",
    "sop_paths": "python -m cxlab demo",
    "judges": "python -m cxlab demo",
    "run": "Run evaluation",
    "models": "Test connection",
}


def open_all(window: Window, url: str) -> dict[str, Page]:
    """Every page in a tab of its own, all at once: together they take as long as the slowest two."""
    tabs = {}
    for stem in TITLES:
        tabs[stem] = window.context.new_page()
        tabs[stem].goto(f"{url}/{stem}", wait_until="commit")
    return tabs


def faults(page: Page) -> list[str]:
    """What stands in boxes that tell of a fault."""
    return page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all_inner_texts()


def overflow(page: Page) -> list[int]:
    """By how many pixels the window, and the page in it, are too narrow for what they hold."""
    scrolled = ["document.documentElement", "document.querySelector('[data-testid=stMain]')"]
    return [int(page.evaluate(f"{part}.scrollWidth - {part}.clientWidth")) for part in scrolled]


@pytest.mark.parametrize(("theme", "width", "height"), [("light", 1440, 900), ("dark", 1024, 768)])
def test_every_page_opens_cold(
    browser: Browser, lab: Lab, theme: Literal["light", "dark"], width: int, height: int
) -> None:
    # What is too wide is so in either theme, so each width is looked at in one of them.
    window = Window(browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme))
    for stem, page in open_all(window, lab.url).items():
        page.bring_to_front()
        settle(page)
        assert main(page).locator("h1").first.inner_text() == TITLES[stem]
        assert faults(page) == [], stem
        # Of all colours on a page, the ground is what tells the themes apart.
        ground = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
        assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 23, 42)"}[theme]
        assert overflow(page) == [0, 0], f"{stem} at {width}"
    window.context.close()
    assert window.wrong == []


@pytest.mark.parametrize("stem", FIRST_STEPS)
def test_every_page_of_an_empty_store_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stem: str
) -> None:
    # Words only, so no browser: a second server and seven more pages would cost ten seconds.
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    if stem:
        app.switch_page(f"pages/{stem}.py").run()
    assert not app.exception
    assert not app.error
    assert app.title[0].value == TITLES[stem]
    offered = [*(each.value for each in app.code), *(each.label for each in app.button)]
    assert FIRST_STEPS[stem] in offered
