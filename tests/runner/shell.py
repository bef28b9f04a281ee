"""The command line as a person calls it, on a store of its own."""

import contextlib
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from cxlab.cli import main

TESTS = Path(__file__).resolve().parents[1]


class Shell:
    """`python -m cxlab …` on one store."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("CXLAB_", "OPENAI_"))},
            "CXLAB_HOME": str(home),
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
            "CXLAB_TEST_KEY": "none",
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "cxlab", *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`run` without a process of its own: same words, same output, same exit code, 20 times as quick."""
        out, err = io.StringIO(), io.StringIO()
        code = 0
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["cxlab", *words])
            try:
                main()
            except SystemExit as leaving:
                code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words], env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )

    def plan(self, *words: str) -> str:
        """The id of a run that is stored and not started."""
        said = self.call("run", "runner.lamp:BENCHMARK", "--plan", "--quiet", *words)
        assert said.returncode == 0, said.stderr
        return said.stdout.split()[-1]

    def folder(self, run_id: str) -> Path:
        return self.home / "runs" / run_id

    def read(self, run_id: str, table: str = "attempts") -> pl.DataFrame:
        files = sorted((self.folder(run_id) / "parts").glob(f"*/{table}.parquet"))
        return pl.concat([pl.read_parquet(file) for file in files]) if files else pl.DataFrame()

    def pairs(self, run_id: str) -> list[tuple[str, int]]:
        frame = self.read(run_id)
        return sorted(frame.select("sample_id", "trial").iter_rows()) if frame.height else []

    def endpoint(self, url: str, *settings: str) -> None:
        """`endpoint:test` is the server at this URL; prices make a call of the fault server cost $0.01."""
        prices = ("prompt_usd = 50.0", "completion_usd = 250.0")
        lines = ("[endpoints.test]", f'base_url = "{url}"', 'key_variable = "CXLAB_TEST_KEY"', 'model = "tiny"')
        self.home.mkdir(exist_ok=True)
        (self.home / "models.toml").write_text("\n".join((*lines, *prices, *settings)))


def make_shell(home: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell on an empty store, which is this process's store as well."""
    for name in list(os.environ):
        if name.startswith("CXLAB_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CXLAB_HOME", str(home))
    return Shell(home)


def wait_for(what: Callable[[], bool], limit_s: float = 90.0) -> None:
    until = time.monotonic() + limit_s
    while not what():
        if time.monotonic() > until:
            raise TimeoutError("the test waited in vain")
        time.sleep(0.02)
