"""The documents say what is there: commands, rooms, scenario ids, and CI runs the README's test command."""

import functools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from cxlab import cli
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.import_sources import list_sources

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


TRACKED = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False).stdout.split()
PAGES = sorted(ROOT / name for name in TRACKED if name.endswith("README.md"))
# Places in a user's store or in an example, where a README may lead without a file here.
ELSEWHERE = (
    ".venv/",
    "data/local/",
    "refunds/",
    "companies/",
    "datasets/",
    "rules/",
    "sounds/",
    "uploads/",
    "work/",
    "/",
)
PATH = re.compile(r"[\w.*/-]+\.(?:py|md|yaml|toml|json|sql)|[\w.*-]*(?:/[\w.*-]*)+")
NAME = re.compile(r"(?:[A-Za-z_]\w*)(?:\.\w+)*(?:\(\))?")
# What a README names of the world: a header, a program, a function of Salesforce, an id.
OF_OTHERS = {"Host", "Upgrade", "chromium", "convertCurrency", "RKB_n"}


@functools.cache
def words() -> set[str]:
    """Every word of our code, its settings and its prompts."""
    ours = [name for name in TRACKED if name.startswith(("cxlab", "pages", "app.py", "pyproject"))]
    files = [name for name in ours if name.endswith((".py", ".sql", ".toml", ".yaml", ".md")) and "README" not in name]
    return set(re.findall(r"\w+", "\n".join((ROOT / name).read_text(encoding="utf-8") for name in files)))


def missing(text: str) -> list[str]:
    """What stands in backticks and is not there: a path that ends no tracked file's, a name that no code has."""
    found = []
    for token in sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))):
        if PATH.fullmatch(token):
            # A word in capitals stands for any.
            parts = re.sub(r"\b[A-Z]{2,}\b", "*", token).strip("/")
            place = re.compile(r"(?:^|/)" + re.escape(parts).replace(r"\*", "[^/]*") + r"(?:/|$)")
            # A file that is made has its name in the code that makes it.
            made = "/" not in token and set(token.rsplit(".", 1)) - {"*"} <= words()
            if not (token.startswith(ELSEWHERE) or made or any(map(place.search, TRACKED))):
                found.append(token)
        elif NAME.fullmatch(token) and not {*re.findall(r"\w+", token)} <= words() | OF_OTHERS:
            found.append(token)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_readme_names_exists(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


def test_the_test_sees_what_is_not_there() -> None:
    text = (
        "`cxlab/store/gone.py`, `cxlab/store/write.py`, `no_such_name`, `BENCHMARK`, `data/brands/trades/`, `write.py`"
    )
    assert missing(text) == ["cxlab/store/gone.py", "data/brands/trades/", "no_such_name"]


def written_commands() -> list[tuple[str, list[str]]]:
    """(README, the words of one `python -m cxlab …` in it)."""
    return [
        (str(page.relative_to(ROOT)), shlex.split(line.rstrip("\\ ").split("   ")[0]))
        for page in PAGES
        for line in re.findall(r"python -m cxlab ([^`#\n]+)", page.read_text(encoding="utf-8"))
    ]


def test_commands_in_readmes_are_spelt_as_the_command_line_takes_them() -> None:
    """Command, benchmark or program, and each flag; flags that a benchmark declares are words of its code."""
    known = typer.main.get_command(cli.app).commands
    named = {"run": {*REGISTRY, "refunds"}, "generate": {*REGISTRY}, "import": {*list_sources()}}
    named |= {"prompts": {*REGISTRY}, "bench": {path.stem for path in (ROOT / "cxlab/bench").glob("*.py")}}
    wrong = []
    for page, (name, *rest) in written_commands():
        command = known.get(name)
        first = rest[0] if rest and rest[0].isidentifier() and not rest[0].isupper() else None
        if command is None or (first and first not in named.get(name, {first})):
            wrong.append(f"{page}: {name} {first or ''}")
            continue
        flags = {flag.strip("[]").split("=")[0] for flag in rest if flag.strip("[").startswith("--")}
        parts = getattr(command, "commands", {"": command}).values()
        params = [each for part in parts for each in part.params]
        own = {flag for each in params for flag in (*each.opts, *each.secondary_opts)} | {"--help"}
        free = command.context_settings.get("ignore_unknown_options")
        wrong += [
            f"{page}: {name} {flag}"
            for flag in flags - own
            if not free or flag.removeprefix("--").replace("-", "_") not in words()
        ]
    assert wrong == []
    assert len(written_commands()) > 50
