"""Take the README's pictures from a running app with the demo: python tests/browser/readme_pictures.py URL.

Light, 1440x900, written to data/screenshots/.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parents[2] / "data" / "screenshots"
LAB = "persona_lab?variant=hard-0-text&variant=hard-1-text&variant=hard-2-voice-15&beats=30"
PAGES = {
    "overview": "",
    "sop_paths": "sop_paths?scenario=telecom_package",
    "compare": "compare",
    "judges": "judges",
    "persona_lab": LAB,
    "crm_desk": "crm_desk",
}

_SETTLED = """() => document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
  && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')"""


def main(url: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        for name, path in PAGES.items():
            page.goto(f"{url}/{path}")
            page.wait_for_timeout(1500)
            page.wait_for_function(_SETTLED, timeout=60_000)
            page.wait_for_selector("[data-testid='stStatusWidget']", state="detached", timeout=60_000)
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
