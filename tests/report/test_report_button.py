"""The pages hand their report over."""

from pathlib import Path

import pytest

from tests.pages.app_script import open_page


@pytest.mark.parametrize("stem", ["overview", "compare"])
def test_a_page_offers_its_report(judged_home: Path, stem: str) -> None:
    app = open_page(stem)
    assert not app.exception
    assert "Download report" in [each.label for each in app.get("download_button")]
