"""A dataset made by a writer on a server that has a bad day: what is lost is told, and what was made is kept."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runner.shell import Shell, make_shell

from tests.benchmarks.estimates.counting_writer import CountingWriter, find_conversations
from tests.benchmarks.servers.difficult_server import KEY, Difficulties

SIZE = 100
MAKE = ("generate", "cdr", "--size", str(SIZE), "--model", "endpoint:writer", "--json", "--quiet")


class DifficultWriter(Difficulties, CountingWriter):
    """The writer of the estimates on a bad day."""


@pytest.fixture
def server() -> Iterator[DifficultWriter]:
    with DifficultWriter(find_conversations) as running:
        yield running


@pytest.fixture
def make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: DifficultWriter
) -> Callable[[int], tuple[dict[str, Any], str]]:
    """Make the dataset; (what is told as JSON, with its record, what is said beside it)."""
    shell: Shell = make_shell(tmp_path / "home", monkeypatch)
    shell.home.mkdir()
    (shell.home / "models.toml").write_text(server.settings())

    def call(code: int) -> tuple[dict[str, Any], str]:
        said = shell.call(*MAKE)
        assert said.returncode == code, said.stderr
        assert KEY not in said.stdout + said.stderr
        told = json.loads(said.stdout.splitlines()[-1])
        if code:
            assert (told["dataset"], told["state"]) == (None, "failed")
            assert f"cxlab: {told['reason']}\n" in said.stderr
            assert told["spending"]["calls"] == server.calls["writer"], "what came to nothing was paid for as well"
            return told, said.stderr
        record = json.loads((shell.home / "datasets" / told["dataset"] / "dataset.json").read_text())
        shutil.rmtree(shell.home / "datasets")
        return {**told, "config": record["config"]}, said.stderr

    return call


def test_a_writer_of_whom_nothing_can_be_read_is_asked_no_more(
    make: Callable[[int], tuple[dict[str, Any], str]], server: DifficultWriter
) -> None:
    server.begin(lambda role, number: "thought_ate_the_limit", again=True)
    _, said = make(2)
    assert "endpoint:writer wrote nothing that can be read, 10 times: the reply was cut off at the limit of" in said
    assert sum(server.met.values()) <= 64, "one chunk, each asked twice"
    # With more room the same command goes on, and asks again for what could not be read.
    server.begin()
    told, _ = make(0)
    assert told["config"]["corpus"] == SIZE
    assert "note" not in told


def test_what_cannot_be_read_is_asked_once_more_then_left_out_and_told(
    make: Callable[[int], tuple[dict[str, Any], str]], server: DifficultWriter
) -> None:
    spoil = {0: "null", 1: "refusal", 2: "cut_off"}
    server.begin(lambda role, number: spoil[number % 3] if number % 5 == 0 else None)
    told, _ = make(0)
    assert "note" not in told
    assert told["spending"]["calls"] > SIZE
    server.begin(lambda role, number: spoil[number % 3] if number % 5 == 0 else None, again=True)
    told, _ = make(0)
    lost = sum(server.met.values()) // 2
    assert told["note"] == f"{lost} of {SIZE} conversations could not be read and are left out"
    assert told["config"]["corpus"] == SIZE - lost > 0


def test_a_key_that_is_revoked_costs_no_conversation(
    make: Callable[[int], tuple[dict[str, Any], str]], server: DifficultWriter
) -> None:
    server.begin(lambda role, number: "key_revoked" if number > 40 else None, again=True)
    _, said = make(2)
    assert "did not deliver (key refused: HTTP 401: Incorrect API key provided: [key])" in said
    assert "run the same command again to go on" in said
    made = server.calls["writer"]
    server.begin()
    told, _ = make(0)
    assert told["config"]["corpus"] == SIZE
    assert server.calls["writer"] - made < SIZE, "what was made is not asked again"
    assert told["spending"]["calls"] == server.calls["writer"], "and what it took is told of both tries"
