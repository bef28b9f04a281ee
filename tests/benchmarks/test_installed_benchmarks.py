"""Benchmarks of other installed packages: found by their entry points, a broken one left out and named."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cxlab import benchmarks
from cxlab.benchmarks import Registry
from cxlab.benchmarks.installed import find_installed

NAMED = re.compile(r"^`(refunds/[\w.]+)`\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def install(site: Path, package: str, points: dict[str, str]) -> None:
    """What an installer leaves of a package beside its modules."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {place}\n" for name, place in points.items())
    (info / "entry_points.txt").write_text(f"[cxlab.benchmarks]\n{lines}")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The README's benchmark as a package, and packages that bring a broken one, no benchmark and another's names."""
    folder = tmp_path / "site"
    page = Path(benchmarks.__file__).with_name("README.md")
    for name, text in NAMED.findall(page.read_text(encoding="utf-8")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "spoilt.py").write_text("raise OSError('its licence\\nhas ended')\n")
    (folder / "empty.py").write_text("")
    (folder / "asking.py").write_text("from cxlab.benchmarks import REGISTRY\nlist(REGISTRY)\n")
    install(folder, "refund-kit", {"refunds": "refunds.benchmark"})
    install(folder, "spoilt-kit", {"spoilt": "spoilt"})
    install(folder, "thief", {"sage": "refunds.benchmark:BENCHMARK", "refunds": "refunds.benchmark"})
    install(folder, "vague", {"asking": "asking", "empty": "empty", "returns": "refunds.benchmark:BENCHMARK"})
    return folder


def cxlab(site: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path]), "CXLAB_HOME": str(home)}
    command = [sys.executable, "-m", "cxlab", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


WHY = [
    "'asking' of the package 'vague' is left out: asking is no Benchmark and has no BENCHMARK",
    "'empty' of the package 'vague' is left out: empty is no Benchmark and has no BENCHMARK",
    "'refunds' of the package 'thief' is left out: another benchmark has that name",
    "'returns' of the package 'vague' is left out: its card calls it 'refunds'",
    "'sage' of the package 'thief' is left out: another benchmark has that name",
    "'spoilt' of the package 'spoilt-kit' is left out: OSError: its licence has ended",
]


def test_it_runs_like_one_of_ours_and_what_is_broken_is_named(site: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ran = cxlab(site, home, "run", "refunds", "--model", "simulated:strong", "--json", "--quiet", "--workers", "1")
    assert ran.returncode == 0, ran.stderr
    (made,) = json.loads(ran.stdout.splitlines()[-1])["runs"]
    assert (made["done"], made["state"]) == (12, "done")
    assert [line for line in ran.stderr.splitlines() if "left out" in line] == [
        f"cxlab: benchmark {why}" for why in WHY
    ]
    found = cxlab(site, home, "doctor", "--json")
    assert found.returncode == 1
    said = json.loads(found.stdout.splitlines()[-1])["found"]
    assert [each["problem"] for each in said] == [f"benchmark {why}" for why in WHY]
    assert not any(each["repairable"] for each in said)


def test_help_imports_none_of_them(site: Path, tmp_path: Path) -> None:
    told = cxlab(site, tmp_path / "home", "--help")
    assert (told.returncode, told.stderr) == (0, "")


def test_a_registry_without_other_packages_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    known = Registry({"sage": "cxlab.benchmarks.sage.benchmark"}, find_installed)
    assert (list(known), len(known), known.left_out) == (["sage"], 1, ())
    assert "refunds" not in known
    with pytest.raises(KeyError):
        known["refunds"]
    assert capsys.readouterr().err == ""
