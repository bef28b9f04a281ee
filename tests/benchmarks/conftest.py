"""Generated datasets that more than one file runs models on."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from runner.shell import Shell

from tests.conftest import MakeOnce

GENERATED = {
    "sage": (),
    "cxmarena": ("--brand", "hearthwise", "--size", "40"),
    "mmtaup2": ("--count", "8"),
    "crmarena": ("--size", "tiny"),
    "cdr": (),
}
"""Benchmark → the settings of its dataset."""


@pytest.fixture
def generated(make_once: MakeOnce) -> Callable[[str, Path], str]:
    """Puts a benchmark's dataset, generated once for all, into a home that is not there yet; its id."""

    def put(benchmark: str, home: Path) -> str:
        def fill(folder: Path) -> None:
            said = Shell(folder).call("generate", benchmark, *GENERATED[benchmark], "--json", "--quiet")
            assert said.returncode == 0, said.stderr
            (folder / "generated.json").write_text(said.stdout.splitlines()[-1])

        made = make_once(f"generated-{benchmark}", fill)
        shutil.copytree(made, home)
        return str(json.loads((home / "generated.json").read_text())["dataset"])

    return put
