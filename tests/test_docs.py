"""The documents say what is there: commands, rooms, scenario ids, and CI runs the README's test command."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> set[str]:
    out = subprocess.run(
        [sys.executable, "-m", "cxlab", "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(re.findall(r"^  (\w+)  +\S", out.stdout, re.MULTILINE))


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    named = set(re.findall(r"python -m cxlab (\w+)", README))
    assert commands() - {"cxlab"} == named


def test_ci_calls_the_readmes_test_command_word_for_word() -> None:
    blocks = re.findall(r"```bash\n(.+?)\n```", README, re.DOTALL)
    assert blocks[0].endswith("-m cxlab app")
    assert blocks[1].endswith("-m pytest")
    assert blocks[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_requirement_says_why() -> None:
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            assert "#" in line, line


def test_the_rooms_of_the_readme_exist() -> None:
    for path in re.findall(r"`(cxlab/[\w/.]+|pages)`", README):
        assert (ROOT / path).exists(), path


def test_nothing_else_lies_at_the_top() -> None:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False).stdout.split(
        "\n"
    )
    allowed = {"app.py", "pages", "cxlab", "data", "tests", "requirements.txt", ".streamlit", "README.md"}
    allowed |= {".ci", ".gitignore", "pyproject.toml", ""}
    assert {name.split("/")[0] for name in tracked} <= allowed


def test_the_files_that_a_benchmarks_readme_names_exist() -> None:
    for page in (ROOT / "cxlab/benchmarks").glob("*/README.md"):
        for name in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", page.read_text(encoding="utf-8")):
            assert any((root / name).exists() for root in (page.parent, page.parent.parent, ROOT)), f"{page}: {name}"
