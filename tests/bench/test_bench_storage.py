"""The storage benchmark runs, small."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cxlab.bench import storage
from cxlab.errors import BadOption

ROOT = Path(__file__).resolve().parents[2]


def test_a_small_benchmark_loses_and_doubles_nothing() -> None:
    # A process of its own, as a person runs it: what it forks and measures is then its own.
    command = [sys.executable, "-m", "cxlab", "bench", "storage", "--", "--attempts", "1000", "--shards", "2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    lines = {line[:34].strip(): line[34:].split() for line in done.stdout.splitlines()}
    assert "nothing lost, nothing doubled" in lines, done.stderr
    verdict = " ".join(lines["nothing lost, nothing doubled"])
    assert verdict == "yes 1,000 attempts, 1,000 apart, 6,000 messages, 12,000 scores"
    assert float(lines["peak memory, all processes"][0]) > 20  # how much it is belongs to the machine
    assert float(lines["one attempt with its messages"][0]) > 0


def test_too_small_a_benchmark_is_refused() -> None:
    with pytest.raises(BadOption, match="1000"):
        storage.main(["--attempts", "10"])


class Writer:
    """A process that has ended with this code, or is still at work."""

    pid = None

    def __init__(self, exitcode: int | None) -> None:
        self.exitcode = exitcode

    def kill(self) -> None:
        pass

    def join(self) -> None:
        pass


class Growing:
    """Twenty more each time that somebody looks."""

    def __init__(self) -> None:
        self._value = 0

    @property
    def value(self) -> int:
        self._value += 20
        return self._value


@pytest.mark.parametrize(("exitcode", "goes_on"), [(0, True), (1, False)])
def test_one_that_has_written_its_share_already_stops_nothing(
    exitcode: int, goes_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [(Writer(exitcode), SimpleNamespace(value=250)), (Writer(None), Growing())]
    monkeypatch.setattr(storage, "_start", lambda *_: writers)
    monkeypatch.setattr(storage.write, "finished", lambda *_: range(400))
    if goes_on:
        kept, lost = storage._write_and_kill(1000, 2, tmp_path, storage._Memory())
        assert (kept, lost) == (400, 250 + writers[1][1]._value - 400)
    else:
        with pytest.raises(RuntimeError, match="ended before"):
            storage._write_and_kill(1000, 2, tmp_path, storage._Memory())
