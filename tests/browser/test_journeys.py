"""What people come for, from the first click to what they wanted to see: the pages that explain."""

import re

import pytest
from playwright.sync_api import Dialog, Page, expect

from cxlab.benchmarks.sage.procedures import graph

from .cold import open_cold
from .conftest import Lab
from .hostile import SAID
from .steps import add_choice, cells, click_mark, click_row, go, keyed, main, see, settle, table, text_of, wait_for

pytestmark = pytest.mark.xdist_group("browser")


def test_from_the_leaderboard_to_a_models_failures(page: Page, lab: Lab) -> None:
    open_cold(page, lab.url, "")
    see(page, re.compile(r"SAGE: strong leads"))
    main(page).locator("summary", has_text="What the papers report").click()
    expect(main(page).locator(".ytick text", has_text="Claude-Sonnet-4.5")).to_be_visible()
    click_mark(page, "board-sage", ["simulated:weak"])
    assert wait_for(page, "failures", "model")["model"] == ["simulated:weak"]
    see(page, "What goes wrong, and why?")
    # All rows are of the one model that was chosen, so that no column says it; the first one's page does.
    click_row(page, "attempts")
    wait_for(page, "failures", "attempt")
    see(page, re.compile("weak · simulated"))


def test_from_a_bad_stage_to_the_dialogue_and_its_votes(page: Page, lab: Lab) -> None:
    go(page, lab.url, "sop_paths", scenario="telecom_package")
    worst = main(page).get_by_role("heading", name=re.compile("^Turns leave most often at ")).inner_text()
    procedure = graph.load("telecom_package")
    stage = next(
        each for each in procedure.stages if worst.startswith(f"Turns leave most often at “{procedure.name(each)}”:")
    )
    click_mark(page, "sop-map", ["stage", stage])
    assert wait_for(page, "sop_paths", "stage")["stage"] == [stage]
    see(page, re.compile("Select a row to open its dialogue"))
    assert cells(table(page, "sop-turns-stage"), "Here")[0] == "✕ wrong"
    click_row(page, "sop-turns-stage")
    turn = wait_for(page, "failures", "attempt", "turn")["turn"][0]
    # The page comes to what was said, before anybody scrolls to the tables below it.
    expect(page.locator(f"[class*='cx-said-marked-{turn}']").first).to_be_in_viewport()
    marked = keyed(page, f"cx-turn-marked-{turn}")
    expect(marked.locator("summary")).to_contain_text(f"✕ Turn {turn}")
    for judge in ("strict", "lenient", "partial"):
        expect(marked.get_by_role("button", name=re.compile(rf"{judge}: "))).to_be_visible()
    marked.get_by_role("button", name=re.compile("strict: ")).click()
    expect(page.get_by_test_id("stPopoverBody")).not_to_be_empty()
    # What was said on that turn stands above it.
    expect(main(page).get_by_text(f"Customer · turn {turn} · the turn in question")).to_have_count(1)


def test_a_dialogue_opens_by_its_address_and_leads_to_its_neighbours(page: Page, lab: Lab) -> None:
    go(page, lab.url, "failures", model="simulated:weak")
    click_row(page, "attempts")
    first = wait_for(page, "failures", "attempt", "model")
    expect(keyed(page, "dialogue-n")).to_be_visible()
    see(page, "Where this comes from")
    settle(page)
    before = text_of(page)
    keyed(page, "dialogue-n").get_by_role("button").click()
    page.wait_for_url(lambda url: first["attempt"][0] not in url.replace("%2F", "/"), wait_until="commit")
    settle(page)
    second = wait_for(page, "failures", "attempt")["attempt"][0]
    expect(main(page).get_by_text(second.partition("/")[2]).first).to_be_visible()
    keyed(page, "dialogue-p").get_by_role("button").click()
    page.wait_for_url(lambda url: first["attempt"][0] in url.replace("%2F", "/"), wait_until="commit")
    settle(page)
    # The same by its address alone, in a session that was never anywhere else.
    go(page, lab.url, "failures", **first)
    expect(main(page)).to_have_text(before, use_inner_text=True)
    # The menu leads to the page as from anywhere else, and back from there to the dialogue.
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Failures").click()
    page.wait_for_url(lambda url: "attempt=" not in url, wait_until="commit")
    see(page, "What goes wrong, and why?")
    assert wait_for(page, "failures")["model"] == ["simulated:weak"]
    page.go_back(wait_until="commit")
    assert wait_for(page, "failures", "attempt")["attempt"] == first["attempt"]


def test_a_tag_and_a_note_are_kept_and_taken_back(page: Page, lab: Lab) -> None:
    go(page, lab.url, "failures", model="simulated:strong")
    click_row(page, "attempts")
    wait_for(page, "failures", "attempt")
    tags = main(page).get_by_test_id("stMultiSelect").filter(has=page.get_by_text("Tags", exact=True))
    add_choice(page, tags, "rude")
    main(page).get_by_placeholder(re.compile("what you saw")).fill("asks **twice**")
    main(page).get_by_role("button", name="Add note").click()
    note = main(page).get_by_text("asks **twice**", exact=True)
    expect(note).to_be_visible()
    page.reload(wait_until="commit")
    settle(page)
    expect(note).to_be_visible()
    main(page).get_by_role("button", name="Undo").click()
    expect(note).to_have_count(0)
    tags.get_by_label("Remove rude").click()
    expect(tags.locator("[data-tag]")).to_have_count(0)


def test_a_hostile_dialogue_is_shown_as_it_was_said(page: Page, lab: Lab) -> None:
    # `page` fails by itself when a request leaves this machine.
    alarms: list[str] = []

    def refuse(dialog: Dialog) -> None:
        alarms.append(dialog.message)
        dialog.dismiss()

    def check_nothing_was_made() -> None:
        assert page.evaluate("window.hacked") is None
        for made in ("img[src*=invalid]", "a[href*=invalid]", "script[src*=invalid]", ".katex"):
            assert page.locator(made).count() == 0, made
        assert page.locator("b, strong").filter(has_text=re.compile("^b(old)?$")).count() == 0
        assert alarms == []

    page.on("dialog", refuse)
    go(page, lab.url, "failures", attempt=lab.hostile, turn=1)
    for role in ("customer", "agent", "tool"):
        said = page.locator(f"[class*='st-key-cx-say-{role}']").get_by_test_id("stText").first
        assert said.inner_text() == SAID
    check_nothing_was_made()
    for opener in ("strict", "Raw reply"):
        page.get_by_role("button", name=re.compile(opener)).first.click()
        expect(page.get_by_test_id("stPopoverBody").get_by_text(SAID).first).to_be_visible()
        check_nothing_was_made()
        page.keyboard.press("Escape")
    go(page, lab.url, "compare", attempt=lab.hostile)
    expect(page.locator(".cx-duel .cx-line.customer p").filter(has_text=SAID[:12]).first).to_be_visible()
    check_nothing_was_made()
    go(page, lab.url, "judges", tab="queue", run=lab.hostile.partition("/")[0])
    see(page, SAID)
    check_nothing_was_made()
    page.remove_listener("dialog", refuse)


def test_two_models_are_compared_down_to_their_dialogues(page: Page, lab: Lab) -> None:
    go(page, lab.url, "compare", model=["simulated:strong", "simulated:weak"])
    see(page, re.compile("Strong · simulated leads for sure"))
    ranking = page.get_by_role("region", name="strong · simulated leads for sure.")
    assert cells(ranking, "Against the first") == ["leads", "✕ behind"]
    click_row(page, "compare-samples")
    wait_for(page, "compare", "attempt")
    see(page, re.compile("on the same customer"))
    expect(main(page).get_by_role("link", name="Open this dialogue")).to_have_count(2)
    duel = page.locator(".cx-duel")
    first = duel.locator("section.apart").first
    expect(first).to_have_class(re.compile("now"))
    expect(first).to_be_in_viewport()
    left, right = (side.bounding_box() or {} for side in first.locator("> div").all())
    assert left["x"] + left["width"] <= right["x"]
    assert abs(left["y"] - right["y"]) < 2
    expect(duel.locator("mark").first).to_be_visible()
    page.locator(".cx-steps .on").click()
    expect(duel.locator("section.apart").nth(1)).to_have_class(re.compile("now"))
    expect(duel.locator("section.apart").nth(1)).to_be_in_viewport()


def test_an_address_shows_others_what_was_clicked(page: Page, lab: Lab) -> None:
    go(page, lab.url, "sop_paths", scenario="online_education")
    stage = list(graph.load("online_education").stages)[1]
    click_mark(page, "sop-map", ["stage", stage])
    wait_for(page, "sop_paths", "stage")
    see(page, re.compile("Select a row to open its dialogue"))
    settle(page)
    shown = text_of(page)
    ways = cells(table(page, "sop-turns-stage"), "Way taken")
    assert ways
    # Opened anew by its address, the page is in a session that knows of no click.
    page.goto(page.url, wait_until="commit")
    settle(page)
    expect(main(page)).to_have_text(shown, use_inner_text=True)
    assert cells(table(page, "sop-turns-stage"), "Way taken") == ways


_MAP = "document.querySelector('.st-key-sop-map .js-plotly-plot')"
_RANGES = f"() => ['xaxis', 'yaxis'].map(name => {_MAP}._fullLayout[name].range.map(Number))"
_SIZES = f"() => [...{_MAP}.querySelectorAll('text')].map(each => parseFloat(getComputedStyle(each).fontSize))"


def _come_to_rest(page: Page) -> list[list[float]]:
    """The ranges of the axes once nothing moves them any more: a wheel's turn comes in several steps."""
    last: list[list[float]] = []
    for _ in range(200):
        now: list[list[float]] = page.evaluate(_RANGES)
        if now == last:
            return now
        last = now
        page.wait_for_timeout(400)
    raise AssertionError("the map does not come to rest")


def test_the_map_is_zoomed_by_its_buttons_and_moved_by_dragging(page: Page, lab: Lab) -> None:
    go(page, lab.url, "sop_paths", scenario="telecom_package")
    box = keyed(page, "sop-map").locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.evaluate(_RANGES)
    page.mouse.move(*middle)
    keyed(page, "sop-map").locator('.modebar-btn[data-title="Zoom in"]').click()
    page.wait_for_function(
        f"was => ({_RANGES})()[0][1] - ({_RANGES})()[0][0] < 0.95 * was", arg=before[0][1] - before[0][0]
    )
    near = _come_to_rest(page)
    # What is written keeps its size: it can be read at any zoom.
    assert min(page.evaluate(_SIZES)) >= 12
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 90, middle[1] - 40, steps=4)
    page.mouse.up()
    page.wait_for_function(f"was => ({_RANGES})()[0][0] > was", arg=near[0][0])
    moved = _come_to_rest(page)
    for was, now in zip(near, moved, strict=True):
        assert now[1] - now[0] == pytest.approx(was[1] - was[0])
    assert moved[0][0] > near[0][0]
