"""What the program computes and shows is what was recorded, but for the differences listed with their reasons.

The recording runs in a process of its own, which stops the clock and draws steady ids; see tests/goldens/record.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.goldens import compare

ROOT = Path(__file__).parents[1]
FILES = ("cxmarena", "exports", "mmtaup2", "pages", "sage")
SHOWN = 60

pytestmark = [pytest.mark.xdist_group("goldens"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, compare.Items]:
    """Everything recorded anew: file → items."""
    folder = tmp_path_factory.mktemp("goldens")
    command = [sys.executable, "-m", "tests.goldens.record", "--to", str(folder)]
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return compare.read_items(folder)


@pytest.fixture(scope="module")
def recorded() -> dict[str, compare.Items]:
    return compare.read_items(compare.HERE)


@pytest.mark.parametrize("file", FILES)
def test_nothing_differs_that_is_not_listed(
    recorded: dict[str, compare.Items], now: dict[str, compare.Items], file: str
) -> None:
    left, _ = compare.split(compare.compare(recorded[file], now[file]), compare.read_changes())
    assert not left, f"{len(left):,} items differ (recorded -> now):\n{compare.describe(left, SHOWN)}"


def test_every_listed_difference_is_one(recorded: dict[str, compare.Items], now: dict[str, compare.Items]) -> None:
    assert set(recorded) == set(now) == set(FILES)
    differing = {item: sides for file in FILES for item, sides in compare.compare(recorded[file], now[file]).items()}
    _, unused = compare.split(differing, compare.read_changes())
    assert not unused, f"listed in {compare.CHANGES.name}, but nothing differs: {unused}"


def test_a_difference_is_named_listed_and_missed(tmp_path: Path) -> None:
    before, after = {"k/1": {"a": "1", "b": "x=y"}, "k/2": {"a": "2"}}, {"k/1": {"a": "1", "b": "z"}, "k/3": {"a": "3"}}
    sides = []
    for name, rows in (("before", before), ("after", after)):
        (tmp_path / name).mkdir()
        compare.write_rows(rows, tmp_path / name / "f.txt")
        sides.append(compare.read_items(tmp_path / name)["f"])
    differing = compare.compare(*sides)
    assert differing == {
        "f/k/1#b": ("x=y", "z"),
        "f/k/2#a": ("2", compare.ABSENT),
        "f/k/3#a": (compare.ABSENT, "3"),
    }
    assert compare.describe(differing, 1).splitlines() == ["f/k/1#b: x=y -> z", "and 2 more"]
    listed = [compare.Change(("f/k/[23]#a", "f/*#c"), "it had to be")]
    assert compare.split(differing, listed) == ({"f/k/1#b": ("x=y", "z")}, ["f/*#c"])


@pytest.mark.parametrize("entry", ['items = "a"', 'reason = "why"', 'items = "a"\nreason = " "'])
def test_a_listed_difference_needs_items_and_a_reason(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "changes.toml"
    path.write_text(f"[[change]]\n{entry}\n")
    with pytest.raises(ValueError, match="change 1 needs"):
        compare.read_changes(path)
