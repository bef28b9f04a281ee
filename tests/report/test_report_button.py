"""The pages hand their report over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from tests.pages.app_script import open_page


@pytest.mark.parametrize("stem", ["overview", "compare"])
def test_a_page_offers_the_report_of_what_it_shows(
    judged_home: Path, stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[Callable[[], bytes]] = []
    real = st.download_button

    def offer(label: str, data: Callable[[], bytes], *rest: Any, **settings: Any) -> bool:
        if label in ("Download report", "Short report"):
            offered.append(data)
        return real(label, data, *rest, **settings)

    monkeypatch.setattr(st, "download_button", offer)
    app = open_page(stem)
    assert not app.exception
    # As the server asks for it: with no page around it.
    whole, short = (make() for make in offered)
    assert b"eloquent" in whole
    assert b"eloquent" in short
    assert len(short) < len(whole)
