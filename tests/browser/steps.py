"""What a person does on a page of the app, in a real browser."""

import re
from contextlib import suppress
from urllib.parse import parse_qs, urlencode, urlparse

from playwright.sync_api import Locator, Page, TimeoutError, expect

# The script has ended, and nothing on the page is a placeholder or of a run before.
_SETTLED = """() => document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
  && document.querySelector('[data-testid=stMainBlockContainer] h1')
  && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')"""

# Where the mark with this customdata is in the window, once the chart has come to rest in its middle.
_FIND_MARK = """async ([key, wanted]) => {
  const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const frame = () => new Promise(requestAnimationFrame);
  const place = () => {
    for (const [t, trace] of chart._fullData.entries()) {
      const data = Array.from(trace.customdata ?? []);
      const i = data.findIndex(each => JSON.stringify(Object.values(each)) === JSON.stringify(wanted));
      if (i < 0) continue;
      const mark = chart.calcdata[t][i], box = chart.getBoundingClientRect();
      const {xaxis, yaxis} = chart._fullLayout;
      return [box.left + xaxis._offset + xaxis.c2p(mark.x), box.top + yaxis._offset + yaxis.c2p(mark.y)];
    }
    return null;
  };
  if (!place()) return null;
  let still = 0, before = [0, 0];
  while (still < 4) {
    await frame();
    const [x, y] = place();
    still = x === before[0] && y === before[1] && Math.abs(y - innerHeight / 2) < innerHeight / 4 ? still + 1 : 0;
    before = [x, y];
    const main = document.querySelector('[data-testid=stMain]'), top = main.scrollTop;
    if (!still) main.scrollTop += y - innerHeight / 2;
    if (main.scrollTop === top) still = Math.max(still, 1);
  }
  return before;
}"""

_READ_COLUMN = """(grid, column) => {
  const place = Array.from(grid.querySelectorAll('th')).findIndex(each => each.textContent === column);
  return Array.from(grid.querySelectorAll('tbody tr')).map(row => row.querySelectorAll('td')[place]?.textContent ?? '');
}"""


def go(page: Page, url: str, stem: str = "", **query: object) -> None:
    """Open a page by its address and wait until all of it is there."""
    asked = urlencode({name: value for name, value in query.items() if value}, doseq=True)
    page.goto(f"{url}/{stem}" + (f"?{asked}" if asked else ""), wait_until="commit")
    settle(page)


def settle(page: Page) -> None:
    """Wait until the page has been drawn."""
    # Twenty times a second: a look at each frame, as is usual, takes the time that the page needs.
    page.wait_for_function(_SETTLED, polling=50)


def wait_for(page: Page, stem: str, *parts: str) -> dict[str, list[str]]:
    """Wait until the address is of that page and has these parameters; all that it has."""

    def arrived(url: str) -> bool:
        address = urlparse(url)
        return address.path.strip("/") == stem and set(parts) <= set(parse_qs(address.query))

    page.wait_for_url(arrived, wait_until="commit")
    settle(page)
    return parse_qs(urlparse(page.url).query)


def main(page: Page) -> Locator:
    """The page without its sidebar."""
    return page.get_by_test_id("stMainBlockContainer")


def keyed(page: Page, key: str) -> Locator:
    """The element with this key."""
    return page.locator(f".st-key-{key}")


def click_mark(page: Page, key: str, wanted: list[str]) -> None:
    """Click the mark of a chart that stands for these values until the address says so.

    A chart that is drawn anew between the two halves of a click loses it; a person would click again.
    """
    keyed(page, key).locator(".js-plotly-plot .main-svg").first.wait_for()
    before = page.url
    for _ in range(3):
        settle(page)
        found = page.evaluate(_FIND_MARK, [key, wanted])
        assert found, f"chart {key} has no mark for {wanted}"
        page.mouse.move(*found)
        page.mouse.click(*found)
        with suppress(TimeoutError):
            page.wait_for_url(lambda url: url != before, wait_until="commit", timeout=30_000)
            return
    raise AssertionError(f"a click on {wanted} of chart {key} leads nowhere")


def table(page: Page, key: str) -> Locator:
    """The table to pick from whose key begins so; the rest of the key tells its rows."""
    return page.locator(f"[class*='st-key-{key}-'] [data-testid='stDataFrame']").first


def click_row(page: Page, key: str) -> None:
    """Tick the first row of a table, again where a table that was just drawn anew did not take the click."""
    before = page.url
    for _ in range(4):
        settle(page)
        grid = table(page, key)
        grid.evaluate("element => element.scrollIntoView({block: 'center'})")
        grid.locator("td").first.wait_for(state="attached")
        # Rows and the heading are of one height, and the box to tick stands at the left.
        grid.locator(".dvn-scroller").click(position={"x": 16, "y": 52})
        # A click that is lost is one in thousands, a slow machine is not: a second click would untick the row.
        for _ in range(400):
            if page.url != before or grid.locator("tr[aria-selected=true]").count():
                return
            page.wait_for_timeout(50)
    raise AssertionError(f"the first row of {key} cannot be ticked")


def add_choice(page: Page, field: Locator, words: str) -> None:
    """Type a value into a field of many and take it from the list that opens.

    The list is drawn anew while one types, and once more where a rerun of the page ends in between, which also takes
    what was typed: a click may miss it, and so may Enter on a slow machine; a person would type it again.
    """
    added = field.locator("[data-tag]", has_text=words).first
    for _ in range(6):
        field.get_by_role("combobox").click()
        field.get_by_role("combobox").fill(words)
        with suppress(AssertionError):
            expect(page.get_by_role("option", name=words).first).to_be_visible(timeout=15_000)
            page.keyboard.press("Enter")
            page.keyboard.press("Escape")
            expect(added).to_be_visible(timeout=20_000)
            return
    expect(added).to_be_visible()


def cells(grid: Locator, column: str) -> list[str]:
    """What stands in one column of a table, of the rows that are drawn."""
    # A table that is drawn anew while it is looked at is another element: nothing here waits for one to rest.
    grid.evaluate("element => element.scrollIntoView({block: 'center'})")
    grid.locator("td").first.wait_for(state="attached")
    found: list[str] = grid.evaluate(_READ_COLUMN, column)
    return found


def wait_for_cell(page: Page, key: str, column: str, words: str) -> None:
    """Wait until this stands in the first row of a table."""
    for _ in range(400):
        if cells(table(page, key), column)[:1] == [words]:
            return
        page.wait_for_timeout(250)
    raise AssertionError(f"{column} of {key}: {cells(table(page, key), column)[:1]}, not {words}")


def text_of(page: Page) -> str:
    """All words in the body of the page, in their order, those in charts as well."""
    return re.sub(r"\s+", " ", main(page).inner_text())


def see(page: Page, words: str | re.Pattern[str]) -> Locator:
    """Words that stand visibly on the page."""
    found = main(page).get_by_text(words).filter(visible=True).first
    expect(found).to_be_visible()
    return found
