"""The Persona lab in a real browser: a presenter plays, takes over, and shares the address."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from .cold import open_cold
from .conftest import Lab
from .steps import click_row, go, keyed, main, see, settle, wait_for

pytestmark = pytest.mark.xdist_group("browser")
EXPOSURES = ["hard-0-text", "hard-1-text", "hard-2-voice-15"]


@pytest.mark.parametrize("width", [1440, 1024])
def test_on_a_beamer_the_figures_fit_beside_the_dialogues(page: Page, lab: Lab, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    go(page, lab.url, "persona_lab", variant=["none-0-text", "easy-0-text", "hard-0-text"], show="large")
    table = page.locator("table.cx-twelve").last
    expect(table.locator("thead th")).to_have_count(3)
    settle(page)
    assert table.evaluate("each => each.getBoundingClientRect().right") <= width


@pytest.mark.parametrize("beats", [6, 60])
def test_on_a_small_beamer_the_exchange_that_goes_on_is_seen_whole(page: Page, lab: Lab, beats: int) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    go(page, lab.url, "persona_lab", variant=["none-0-text", "hard-0-text"], show="large", beats=str(beats))
    board = page.get_by_role("log")
    expect(board).to_have_count(1)
    settle(page)
    top = board.evaluate("each => each.getBoundingClientRect().top")
    for column in range(2):
        # What was said last, and what it answers.
        pair = board.locator(f".cells:last-child .v{column} p")
        expect(pair).to_have_count(2)
        assert pair.first.evaluate("each => each.getBoundingClientRect().top") >= top
    main_block = page.get_by_test_id("stMain")
    assert main_block.evaluate("each => each.scrollHeight <= each.clientHeight")


def test_a_presenter_plays_takes_over_and_shares(page: Page, lab: Lab) -> None:
    go(page, lab.url, "persona_lab", variant=EXPOSURES, pace="once")
    log = page.get_by_role("log")
    expect(log).to_have_count(1)

    def told() -> list[str]:
        return [re.sub(r"\s+", " ", " ".join(log.locator(f".v{n}").all_inner_texts()))[-40:] for n in range(3)]

    main(page).get_by_role("button", name="Play").click()
    wait_for(page, "persona_lab", "beats")
    see(page, re.compile("reach the goal"))
    see(page, "How far each had come, turn by turn")
    # While it plays, the address follows turn by turn: what is shared is where it ends.
    expect(main(page).get_by_role("button", name="Pause")).to_have_count(0)
    played = wait_for(page, "persona_lab", "beats")
    expect(log.locator(".v2 del").nth(3)).to_be_attached()
    expect(log.locator(".v1 .adapts").first).to_be_attached()
    metrics = page.locator("table.cx-twelve").last
    expect(page.locator(".cx-quiet", has_text="Nothing to count here").last).to_contain_text("Modality robustness")
    expect(metrics.locator("tr", has_text="ASR-robust goal achievement").locator("td").last).to_contain_text("100 %")
    shown = told()
    # The analyst finds the same three under Failures, and from there the way back.
    main(page).get_by_role("button", name="Keep as a run").click()
    main(page).get_by_role("link", name="Open the conversations under Failures").click()
    wait_for(page, "failures", "run", "verdict")
    see(page, "3 dialogues")
    click_row(page, "attempts")
    wait_for(page, "failures", "attempt")
    main(page).get_by_role("link", name="Open in the Persona lab").click()
    assert wait_for(page, "persona_lab", "beats") == played
    expect(log).to_have_count(1)
    # On a beamer: one screen, and nothing but the same conversations.
    main(page).get_by_text("Presentation").click()
    wait_for(page, "persona_lab", "show")
    assert told() == shown
    main_block = page.get_by_test_id("stMain")
    assert main_block.evaluate("each => each.scrollHeight <= each.clientHeight")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    # From the start again, and the presenter answers for the third customer.
    main(page).get_by_role("button", name="Restart").click()
    settle(page)
    hands = main(page).get_by_text("Answer as the customer", exact=True)
    expect(hands).to_have_count(3)
    hands.nth(2).click()
    box = page.get_by_placeholder("Type here")
    expect(box).to_be_visible()
    settle(page)
    for _ in range(4):
        # What is typed while the page draws itself anew is lost, in Streamlit as everywhere: a person types it again.
        box.fill("<img src=x onerror=alert(1)> **My phone** is dead.")
        box.press("Enter")
        with suppress(TimeoutError):
            log.locator(".v2 p.person").first.wait_for(state="attached", timeout=60_000)
            break
    expect(log.locator(".v2 p.person")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(log.locator(".v2 p.agent")).to_have_count(2)
    assert page.locator("img[src=x]").count() == 0
    main(page).get_by_role("button", name="Phone").click()
    keyed(page, "persona-do-2").get_by_role("button").click()
    see(page, "airplane mode: yes")


def test_a_list_that_was_open_once_does_not_bring_its_old_choice_back(page: Page, lab: Lab) -> None:
    open_cold(page, lab.url, "persona_lab")
    main(page).get_by_role("button", name="No persona").click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Remove").click()
    settle(page)
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    main(page).get_by_role("button", name="Easy persona").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text("The agent is")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("stSidebar").get_by_role("button", name="What the agent knows").click()
    expect(page).to_have_url(re.compile("variant=hard-0-text&variant=hard-1-text&variant=hard-2-text"))
    settle(page)
    main(page).get_by_text("Presentation").click()
    expect(page).to_have_url(re.compile("show=large"))
    expect(page).to_have_url(re.compile("variant=hard-0-text&variant=hard-1-text&variant=hard-2-text"))
