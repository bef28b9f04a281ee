"""With the rooms of stand-ins deleted, real models are evaluated as before, and a stand-in is refused in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cxlab import resources
from tests.benchmarks.sage.scripted_model import ScriptedModel

# What Python says of folders that are not there, for each room of stand-ins of a benchmark.
DELETED = """
import sys

class Deleted:
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[:2] == ["cxlab", "benchmarks"] and parts[3:4] == ["simulated"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Deleted())
from cxlab.cli import main
main()
"""


def call(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DELETED, *words],
        env={**os.environ, "CXLAB_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_real_models_need_no_stand_ins(tmp_path: Path) -> None:
    with ScriptedModel() as server:
        (tmp_path / "models.toml").write_text(server.settings())
        strong = "endpoint:strong"
        said = call(tmp_path, "run", "sage", "--model", strong, "--customer", strong, "--judge", strong, "--limit", "2")
        assert said.returncode == 0, said.stderr
        assert "2 of 2 (2 ok, 0 format, 0 provider)" in said.stdout + said.stderr
        # Nobody can rehearse it, so what it takes is assumed, and said to be.
        assert "assumed: " in said.stdout + said.stderr
        refused = call(
            tmp_path, "run", "sage", "--model", "simulated:strong", "--customer", strong, "--judge", strong,
            "--limit", "2", "--quiet",
        )  # fmt: skip
    assert refused.returncode == 2
    assert refused.stderr.startswith("cxlab: no simulated model answers the prompt 'sage_agent' here (")
    assert "Traceback" not in refused.stderr
    listed = call(tmp_path, "models")
    assert listed.returncode == 0, listed.stderr
    assert "simulated:floor-constant" not in listed.stdout
    assert "endpoint:strong" in listed.stdout


def test_what_is_broken_is_not_taken_for_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "broken.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert resources.find_object("room.gone:x") is None
    assert resources.find_object("no_room.gone:x") is None
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        resources.find_object("room.broken:x")
    with pytest.raises(AttributeError):
        resources.find_object("room:x")
