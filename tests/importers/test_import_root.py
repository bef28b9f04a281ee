"""What a page may read from disk."""

from pathlib import Path

import pytest

from cxlab.errors import BadOption
from cxlab.importers.import_root import VARIABLE, find_below_root, import_root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "root"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "rows.csv").write_text("a\n1\n")
    (tmp_path / "root-two").mkdir()
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


@pytest.mark.parametrize("given", ["data", "./data", "data/../data", "data/rows.csv", "."])
def test_what_lies_below_the_root_is_found(root: Path, given: str) -> None:
    assert find_below_root(given) == (root / given).resolve()
    assert find_below_root(str(root / given)) == (root / given).resolve()


def test_links_within_are_followed(root: Path) -> None:
    (root / "alias").symlink_to(root / "data")
    assert find_below_root("alias") == root / "data"


def test_a_root_that_is_a_link_is_where_it_leads(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "alias").symlink_to(root)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "alias"))
    assert find_below_root("data") == root / "data"


@pytest.mark.parametrize(
    "given",
    ["..", "/", "/etc/passwd", "../root-two", "data/../../root-two", "nul\0", "x" * 5000, "loop", "out", "data2"],
)
def test_what_lies_elsewhere_is_refused(root: Path, given: str) -> None:
    (root / "loop").symlink_to(root / "loop")
    (root / "out").symlink_to(root.parent)
    (root / "data2").mkdir()
    (root / "data2" / "rows.csv").symlink_to("/etc/passwd")
    with pytest.raises(BadOption):
        find_below_root(given)


def test_without_a_word_of_the_owner_it_is_a_folder_of_the_store(empty_home: Path) -> None:
    assert import_root() == (empty_home / "imports").resolve()
