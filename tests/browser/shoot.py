"""Take pictures of a running app: python tests/browser/shoot.py URL FOLDER [PAGE ...].

Each page at 1440x900 and 1024x768, light and dark; "full" pictures show the whole page. Prints every request that
leaves this machine, every error on the console, and what is wider than the window; exits with 1 if there was any.
"""

import sys
import time
from pathlib import Path
from typing import Literal
from urllib.parse import urlparse

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

SIZES = ((1440, 900), (1024, 768))
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOCAL = {"127.0.0.1", "localhost", ""}
# Streamlit asks for these beside each page of a deep link and takes the 404 as an answer.
EXPECTED = ("/_stcore/health", "/_stcore/host-config")


def shoot(browser: Browser, url: str, page_name: str, folder: Path) -> list[str]:
    """Pictures of one page in all sizes and themes; what was wrong."""
    wrong: list[str] = []
    for width, height in SIZES:
        for theme in THEMES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            page = context.new_page()
            where = f"{page_name} {width} {theme}"

            def on_request(request: Request, where: str = where) -> None:
                address = urlparse(request.url)
                if address.scheme not in ("data", "blob") and address.hostname not in LOCAL:
                    wrong.append(f"{where}: request to {request.url}")

            def on_console(message: ConsoleMessage, where: str = where) -> None:
                source = message.location.get("url", "")
                if message.type == "error" and not source.endswith(EXPECTED):
                    wrong.append(f"{where}: console: {message.text}")

            page.on("request", on_request)
            page.on("console", on_console)
            page.on("pageerror", lambda fault, where=where: wrong.append(f"{where}: page error: {fault}"))
            page.goto(f"{url}/{page_name}", wait_until="load")
            page.wait_for_selector("[data-testid='stMainBlockContainer'] h1", timeout=60_000)
            settle(page)
            stem = f"{page_name.partition('?')[0] or 'overview'}-{width}-{theme}"
            page.screenshot(path=folder / f"{stem}.png")
            extra = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if extra > 0:
                wrong.append(f"{where}: {extra} px wider than the window")
            if page.locator("[data-testid='stException']").count():
                wrong.append(f"{where}: exception on the page")
            if theme == "light":
                tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
                page.set_viewport_size({"width": width, "height": min(int(tall) + 60, 6000)})
                settle(page)
                page.screenshot(path=folder / f"{stem}-full.png")
            context.close()
    return wrong


def settle(page: Page) -> None:
    """Wait until the script has ended and charts have been drawn."""
    deadline = time.monotonic() + 30
    page.wait_for_timeout(800)
    while time.monotonic() < deadline:
        if not page.locator("[data-testid='stStatusWidget'], [data-testid='stSkeleton'], [data-stale='true']").count():
            break
        page.wait_for_timeout(200)
    page.wait_for_timeout(900)


def main(url: str, folder: Path, pages: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        wrong = [line for name in pages for line in shoot(browser, url, name, folder)]
        browser.close()
    print("\n".join(dict.fromkeys(wrong)) or "nothing left this machine, no error on any page")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1].rstrip("/"), Path(sys.argv[2]), sys.argv[3:] or [""]))
