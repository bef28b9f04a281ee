"""The storage benchmark runs, small."""

import subprocess
import sys
from pathlib import Path

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
