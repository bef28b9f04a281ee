"""What a presenter shows: a map that fits the window, and pages on paper."""

import re

import pytest
from playwright.sync_api import Page

from .conftest import SIZE, Lab
from .steps import go, keyed, settle

pytestmark = pytest.mark.xdist_group("browser")
_SEEN = """() => {
  const main = document.querySelector('[data-testid=stMain]'), chart = document.querySelector('.js-plotly-plot');
  const texts = [...chart.querySelectorAll('.annotation-text')];
  const sizes = texts.map(each => parseFloat(getComputedStyle(each).fontSize));
  return {over: main.scrollHeight - innerHeight, below: chart.getBoundingClientRect().bottom - innerHeight,
          least: Math.min(...sizes)};
}"""
_RANGE = "() => document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.join()"
_CUT = """() => [...document.querySelectorAll('.js-plotly-plot .svg-container .main-svg')]
  .filter(each => !each.getAttribute('viewBox')).length"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_a_map_for_an_audience_is_seen_whole_and_lets_the_wheel_scroll(
    page: Page, lab: Lab, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    go(page, lab.url, "sop_paths", scenario="telecom_package", show="large")
    # The window is told once the page is there, and the map drawn anew for it.
    page.wait_for_function("() => document.querySelector('.js-plotly-plot .annotation-text')")
    settle(page)
    seen = page.evaluate(_SEEN)
    assert seen["below"] <= 1
    assert seen["over"] <= 4
    assert seen["least"] >= 12
    # Whatever its headline says, in as many lines as that takes.
    page.evaluate("() => { document.querySelector('[data-testid=stMain] h3').textContent += ' and more'.repeat(20); }")
    page.wait_for_function(f"() => {{ const seen = ({_SEEN})(); return seen.below <= 1 && seen.over <= 4; }}")
    before = page.evaluate(_RANGE)
    keyed(page, "sop-map").hover()
    page.mouse.wheel(0, 240)
    settle(page)
    assert page.evaluate(_RANGE) == before


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_all_procedures_beside_each_other_fit_the_window_with_their_axis(
    page: Page, lab: Lab, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    go(page, lab.url, "sop_paths", tab="procedures", show="large")
    page.wait_for_function("() => document.querySelector('.js-plotly-plot .xtitle')")
    settle(page)
    seen = page.evaluate(_SEEN)
    assert seen["below"] <= 1
    assert seen["over"] <= 4
    assert page.locator(".js-plotly-plot .xtitle").evaluate("each => each.getBoundingClientRect().bottom") <= height


def test_every_page_copies_its_address_but_what_an_audience_sees(page: Page, lab: Lab) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("#cx-copy")
    for stem in ("failures", "judges"):
        go(page, lab.url, stem, benchmark="sage")
        button.click()
        button.get_by_text("Link copied; it opens on this machine alone").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        button.get_by_text("Copy link").wait_for()
    # It goes away with the page's upper edge: nothing that is read lies under it.
    page.get_by_test_id("stMain").evaluate("each => each.scrollTo(0, 300)")
    page.wait_for_function("document.querySelector('#cx-copy').getBoundingClientRect().bottom < 0")
    go(page, lab.url, "sop_paths", show="large")
    settle(page)
    assert not button.is_visible()


def test_a_page_is_printed_whole_without_what_one_works_it_with(page: Page, lab: Lab) -> None:
    page.set_viewport_size(SIZE)
    go(page, lab.url, "sop_paths", scenario="telecom_package")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .main-svg').length")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4", landscape=True))) > 2
    page.emulate_media(media="print")
    try:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(_CUT) == 0
        assert not page.get_by_test_id("stSidebar").is_visible()
        assert not page.get_by_text("Presentation", exact=True).is_visible()
        assert page.get_by_text("Where do agents leave the procedure?").is_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("each => getComputedStyle(each).overflowY") == "visible"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(_CUT) > 0
    finally:
        page.emulate_media(media="screen")
