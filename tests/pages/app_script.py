"""Pages as a script sees them, without the browser."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cxlab import jobs

ROOT = Path(__file__).parents[2]


def open_page(stem: str = "overview", /, *, state: dict[str, Any] | None = None, **query: Any) -> AppTest:
    """The page as it opens by its address, its files named like it; `state` stands in for what was clicked before."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    if stem != "overview":
        # At once: to draw the Overview first, and only then what the test is about, would take twice as long.
        app.switch_page(f"pages/{stem}.py")
    for key, value in query.items():
        app.query_params[key] = value
    for key, value in (state or {}).items():
        app.session_state[key] = value
    return app.run()


def catch_orders(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that a page starts from now on; a harmless one runs instead, so that there is a job to look at."""
    started: list[list[str]] = []
    real = jobs.start

    def start(args: list[str]) -> jobs.Job:
        started.append(list(args))
        # Nothing but its words is wanted of it: to list the models costs five times as much.
        return real(["models", "--help"])

    monkeypatch.setattr(jobs, "start", start)
    return started


def picked(*rows: int) -> dict[str, Any]:
    """What a table of which these rows are ticked leaves in the session: AppTest cannot tick them."""
    return {"selection": {"rows": list(rows), "columns": [], "cells": []}}


def words(app: AppTest) -> str:
    """All words on the page, without the strokes that keep them from being Markdown."""
    parts = [*app.title, *app.subheader, *app.caption, *app.markdown, *app.info, *app.success, *app.warning]
    return "\n".join(str(part.value) for part in [*parts, *app.error, *app.text]).replace("\\", "")


def codes(app: AppTest) -> list[str]:
    """What stands on the page to be copied: ids, commands, what was sent."""
    bodies = "\n".join(str(each.proto.body) for each in app.get("html"))
    return [html.unescape(text) for text in re.findall(r'class="cx-code"><pre[^>]*>(.*?)</pre>', bodies, re.S)]


def card_of(app: AppTest) -> str:
    """The words of the decision card on Compare; "" where there is none."""
    bodies = [str(each.proto.body) for each in app.get("html")]
    card = next((body for body in bodies if "cx-decision" in body), "")
    return html.unescape(re.sub(r"<style.*?</style>|<[^>]*>", " ", card, flags=re.S))
