"""Each page opens on stores with next to nothing in them: no attempt, one, twelve, and a run in which all failed."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from runner.shell import Shell

from tests.conftest import use
from tests.pages.app_script import ROOT, open_page, words
from tests.pages.test_pages import FIRST_STEPS
from tests.stores.small import KINDS

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
WAYS = ("", "branches", "variants", "actions", "coverage", "turns", "levels", "parts")


# Some pages of an empty store are opened in test_pages.py, with what they must say.
CASES = [
    pytest.param(kind, stem, id=f"{kind}-{stem}", marks=pytest.mark.xdist_group(f"small-{kind}"))
    for kind in KINDS
    for stem in PAGES
    if kind != "none" or stem not in FIRST_STEPS
]


@pytest.mark.parametrize(("kind", "stem"), CASES)
def test_every_page_opens(
    small_stores: Callable[[str], Path], kind: str, stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(small_stores(kind), monkeypatch)
    app = open_page(stem)
    assert not app.exception
    assert not app.error
    assert app.title


@pytest.mark.xdist_group("small-failed")
def test_a_server_that_turns_everybody_away_is_named_where_one_looks_first(
    small_stores: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(small_stores("failed"), monkeypatch)
    overview = words(open_page("overview"))
    assert "Nobody can be ranked: none of 10 dialogues got a verdict" in overview
    assert "Provider fault: " in overview
    assert "HTTP 401" in overview
    assert "No dialogue failed." not in overview
    assert "none of 10 dialogues got a verdict" in words(open_page("compare", benchmark="sage"))
    failures = words(open_page("failures", benchmark="sage"))
    assert "Most often: provider fault: " in failures
    assert "Shown: the 1 groups" not in failures
    history = next(table.value for table in open_page("run").dataframe if "why" in table.value.columns)
    assert any("all failed alike: HTTP 401" in each for each in history["why"])


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[Path, pl.DataFrame]]]:
    """A store of one dialogue, and its traces, to be written anew."""
    home = tmp_path_factory.mktemp("walked")
    said = Shell(home).call("run", "sage", "--model", "simulated:strong", "--limit", "1", "--quiet")
    assert said.returncode == 0, said.stderr
    paths = home.glob("runs/run-*/parts/*/traces.parquet")
    return home, [(path, pl.read_parquet(path)) for path in paths]


NOWHERE = pl.lit([], dtype=pl.List(pl.String))
NOBODY = pl.lit(None, dtype=pl.String)
TRACES = {
    "the ways part at once": {"predicted_path": pl.lit(["stage9"]), "error": pl.lit("execution")},
    "no way was taken": {"predicted_path": NOWHERE, "error": pl.lit("execution")},
    "the panel gave no way": {"reference_path": NOWHERE, "reference_action": NOBODY},
    "there is no way at all": {"reference_path": NOWHERE, "predicted_path": NOWHERE, "reference_action": NOBODY},
    "a way of one step": {"reference_path": pl.lit(["stage1"]), "predicted_path": pl.lit(["stage1"])},
}


@pytest.mark.xdist_group("small-one")
@pytest.mark.parametrize("name", TRACES)
def test_sop_paths_opens_whatever_way_was_taken(
    walked: tuple[Path, list[tuple[Path, pl.DataFrame]]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, traces = walked
    use(home, monkeypatch)
    for path, frame in traces:
        frame.with_columns(**TRACES[name]).write_parquet(path)
        path.parent.touch()
    for tab in WAYS if name == "there is no way at all" else ("", "variants", "actions"):
        app = open_page("sop_paths", tab=tab)
        assert not app.exception, tab
        assert "turns by 1 model." in words(app)
