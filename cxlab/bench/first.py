"""`python -m cxlab bench first [--times 5]`: how long the first visitor of a server that has just started looks at
nothing.

Each time a server and a browser of their own; what is measured is the time from asking for the address to the first
heading and to the first figures of Overview, of the store in CXLAB_HOME, or of `--store`.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cxlab.bench.sessions import OURS, serving
from cxlab.errors import BadOption
from cxlab.store import layout

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TARGET_S = 1.5
# What there is to see, in the order in which it comes.
HEADING = "h1, h2, h3"
FIGURE = '[data-testid="stMetric"], [data-testid="stPlotlyChart"] svg, [data-testid="stDataFrame"], table'
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_MOST_MS = 60_000.0


def main(arguments: Sequence[str]) -> int:
    """Print a line a time and the medians; 1 when the median to the first heading is over the target."""
    parser = argparse.ArgumentParser(prog="python -m cxlab bench first")
    parser.add_argument("--times", type=int, default=5, help="servers that are started, one after the other (5)")
    parser.add_argument("--store", type=Path, help="the store that is shown (that in CXLAB_HOME)")
    asked = parser.parse_args(arguments)
    if asked.times < 1:
        raise BadOption(f"--times {asked.times}; it is at least 1")
    print(f"{'':<8}{'heading s':>10}{'figures s':>11}   target {TARGET_S} s to the heading")
    found = []
    for number in range(1, asked.times + 1):
        found.append(measure(asked.store or layout.home()))
        print(f"{number:<8}{found[-1][0]:>10.2f}{found[-1][1]:>11.2f}", flush=True)
    heading, figures = (statistics.median(each) for each in zip(*found, strict=True))
    over = "   over the target" if heading > TARGET_S else ""
    print(f"{'median':<8}{heading:>10.2f}{figures:>11.2f}{over}")
    return 1 if over else 0


def measure(store: Path) -> tuple[float, float]:
    """Seconds until the first heading and until the first figures of Overview, of a server and a browser of their own,
    both of which have started but not been asked for anything."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as missing:
        raise BadOption("bench first drives a browser; pip install playwright") from missing
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        raise BadOption(f"bench first drives a browser; install one of {', '.join(_BROWSERS)}")
    with (
        tempfile.TemporaryDirectory(prefix="cxlab-bench-") as folder,
        serving(store, Path(folder), OURS) as (url, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            return _visit(browser, url)
        finally:
            browser.close()


def _visit(browser: "Browser", url: str) -> tuple[float, float]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    began = time.perf_counter()
    page.goto(url, wait_until="commit", timeout=_MOST_MS)
    _shown(page, HEADING)
    heading = time.perf_counter() - began
    _shown(page, FIGURE)
    return heading, time.perf_counter() - began


def _shown(page: "Page", what: str) -> None:
    """Wait for the first that can be seen; what stands on a tab that is not open is in the page, too."""
    page.locator(what).filter(visible=True).first.wait_for(timeout=_MOST_MS)
