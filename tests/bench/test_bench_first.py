"""What a first visitor waits for is seen in a browser, and told as it was."""

import shutil
from pathlib import Path

import pytest

from cxlab.bench import first
from cxlab.errors import BadOption


@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium on this machine: apt-get install chromium")
def test_the_heading_comes_before_the_figures(made_up: Path, tmp_path: Path) -> None:
    heading, figures = first.measure(shutil.copytree(made_up, tmp_path / "home"))
    assert 0 < heading < figures


def test_the_medians_are_told_and_the_heading_is_held_against_the_target(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([(1.0, 2.0), (9.0, 10.0), (1.2, 5.0)])
    monkeypatch.setattr(first, "measure", lambda store: next(times))
    assert first.main(["--times", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["median", "1.20", "5.00"]
    monkeypatch.setattr(first, "measure", lambda store: (first.TARGET_S + 0.1, 3.0))
    assert first.main(["--times", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("over the target")


def test_no_time_at_all_and_a_missing_browser_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="--times 0"):
        first.main(["--times", "0"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadOption, match="install one of chromium"):
        first.measure(tmp_path)
