"""Numbers from outside: each is refused in one line with its name, its value and what is allowed."""

import sys
from pathlib import Path
from typing import Any

import pytest

from cxlab import cli
from cxlab.errors import BadOption
from cxlab.records import bounds

HUGE = "99999999999999999999"
RUN = ["run", "sage", "--model", "simulated:weak", "--judge", "simulated:judge-fair"]
MADE = ["generate", "cxmarena"]
WRONG = [
    ([*RUN, "--limit", "1"], "seed", HUGE),
    ([*RUN, "--plan"], "seed", "-1"),
    ([*RUN, "--plan"], "trials", "7000000"),
    ([*RUN], "trials", str(2**62)),
    ([*RUN], "trials", "0"),
    ([*RUN], "limit", HUGE),
    ([*RUN], "limit", "-5"),
    ([*RUN], "turns", "0"),
    ([*RUN], "turns", HUGE),
    ([*RUN], "concurrency", "-1"),
    ([*RUN], "concurrency", HUGE),
    ([*RUN], "workers", "-1"),
    ([*RUN], "workers", HUGE),
    ([*RUN], "budget", "nan"),
    ([*RUN], "budget", "inf"),
    ([*RUN], "budget", "-1"),
    ([*RUN], "budget", "1e30"),
    (["run", "--resume", "r"], "workers", "-1"),
    (["score", "r", "--judge", "simulated:judge-fair"], "concurrency", "0"),
    (["score", "r", "--judge", "simulated:judge-fair"], "budget", "nan"),
    (["patch", "r"], "workers", "0"),
    (["demo"], "workers", "-1"),
    (["generate", "sage"], "seed", HUGE),
    (MADE, "seed", "-1"),
    (MADE, "workers", "-1"),
    (MADE, "budget", "nan"),
    (MADE, "wer", "nan"),
    (MADE, "wer", "1.5"),
    ([*MADE, "--plan"], "budget", "-inf"),
]


@pytest.mark.parametrize(("words", "name", "value"), WRONG, ids=lambda each: str(each)[:24])
def test_a_number_out_of_range_is_one_line(
    words: list[str], name: str, value: str, empty_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["cxlab", *words, f"--{name}={value}"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    (said,) = capsys.readouterr().err.splitlines()
    # A benchmark's own switches are told as they are recorded.
    assert said.startswith((f"cxlab: --{name} ", f"cxlab: {name}={value[:20]}"))
    assert "must be" in said or "at most" in said or "give a" in said
    assert not list((empty_home / "runs").glob("run-*"))


def test_what_runs_and_files_may_hold_passes() -> None:
    for name, value in (("seed", 0), ("seed", 2**53 - 1), ("trials", 1), ("limit", 1), ("workers", 1), ("limit", None)):
        bounds.check_whole(name, value)
    bounds.check_budget(0.001)
    bounds.check_budget(None)


@pytest.mark.parametrize("value", [True, 1.0, "1", "", [], {}])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(BadOption, match="--trials"):
        bounds.check_whole("trials", value)


def test_trials_count_with_the_samples() -> None:
    with pytest.raises(BadOption, match="2,000,000 at most"):
        bounds.check_attempts(357 * 10_000, 10_000)
