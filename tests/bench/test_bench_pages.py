"""Which views of which pages are measured, and on which store."""

from pathlib import Path
from typing import Any

import pytest

from cxlab.bench import pages
from cxlab.errors import UnknownName


def test_views_are_measured_on_a_store_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[Path] = []
    measured: list[tuple[str, str, Path]] = []

    def make_store(home: Path, attempts: int) -> int:
        (home / "runs").mkdir(parents=True)
        made.append(home)
        return 37 * attempts

    def measure(stem: str, address: str, home: Path) -> dict[str, Any]:
        measured.append((stem, address, home))
        return {"first": 9.0, "again": 1.0, "changed": [1.0, 2.0, 900.0], "faults": []}

    monkeypatch.setattr(pages, "make_store", make_store)
    monkeypatch.setattr(pages, "_measure", measure)
    store = tmp_path / "kept"
    assert pages.main(["failures?tab=labels", "glossary", "--store", str(store)]) == 0
    assert measured == [("failures", "tab=labels", store), ("glossary", "", store)]
    assert "1,000,110 score rows" in capsys.readouterr().out
    assert pages.main(["glossary", "--store", str(store)]) == 0
    assert made == [store]
    with pytest.raises(UnknownName, match="nowhere"):
        pages.main(["nowhere?tab=labels"])
