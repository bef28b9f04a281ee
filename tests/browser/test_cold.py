"""Every page opened by its address, in both themes and widths."""

import pytest
from playwright.sync_api import Page

from .cold import TITLES, open_cold
from .conftest import Lab

pytestmark = pytest.mark.xdist_group("browser")
# Looked at in the same way by journeys that begin there: test_journeys, test_work, test_persona.
JOURNEYS = {"", "judges", "run", "models", "persona_lab"}


@pytest.mark.parametrize("stem", [stem for stem in TITLES if stem not in JOURNEYS])
def test_every_page_opens_by_its_address(page: Page, lab: Lab, stem: str) -> None:
    open_cold(page, lab.url, stem)
