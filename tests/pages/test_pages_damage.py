"""Every page of a store in which several things are damaged, some of them while the app has it open."""

from pathlib import Path

import pytest

from cxlab import read
from tests.conftest import use
from tests.pages.app_script import ROOT, open_page, words
from tests.store.damage import DAMAGES, make_two_runs
from tests.stores.knowledge_base import make_knowledge

pytestmark = pytest.mark.xdist_group("pages")
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
# What is damaged together; each touches another file, and the last of each says what Overview must name.
STORES = {
    "records": ["folder copied", "seed of 20 digits", "samples cut short", "annotation cut short", "jobs are text",
                "views are text"],
    "parts": ["folder copied", "footer lost", "dataset of a newer version", "status with odd numbers", "swaps are text",
              "empty parts lost"],
}  # fmt: skip


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    homes = {}
    for name, kinds in STORES.items():
        home = homes[name] = make_two_runs(tmp_path_factory.mktemp(name) / "store")
        make_knowledge(home, runs=False)
        with pytest.MonkeyPatch.context() as patch:
            use(home, patch)
            assert read.health()["attempts"] == 16
        for kind in kinds:
            DAMAGES[kind].do(home)
    return homes


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", STORES)
def test_every_page_works_on_what_is_sound(
    name: str, page: str, damaged: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(damaged[name], monkeypatch)
    app = open_page(page)
    assert not app.exception
    assert not app.error
    if page == "overview":
        said = words(app)
        named = [damage for kind in STORES[name] if (damage := DAMAGES[kind]).name]
        assert f"{len(named)} set aside" in said
        for damage in named:
            assert damage.said in said
        assert next(metric.value for metric in app.metric) == "8"
