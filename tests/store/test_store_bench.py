"""The storage benchmark runs, small."""

import pytest

from cxlab.errors import BadOption
from cxlab.runner import bench_storage


def test_a_small_benchmark_loses_and_doubles_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bench_storage.main(["--attempts", "1500", "--shards", "2"])  # its times are no matter here
    lines = {line[:34].strip(): line[34:].split() for line in capsys.readouterr().out.splitlines()}
    verdict = " ".join(lines["nothing lost, nothing doubled"])
    assert verdict == "yes 1,500 attempts, 1,500 apart, 9,000 messages, 18,000 scores"
    assert float(lines["peak memory, all processes"][0]) > 20  # how much it is belongs to the machine
    assert float(lines["one attempt with its messages"][0]) > 0


def test_too_small_a_benchmark_is_refused() -> None:
    with pytest.raises(BadOption, match="1000"):
        bench_storage.main(["--attempts", "10"])
