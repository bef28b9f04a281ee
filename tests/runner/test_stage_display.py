"""What a generation says on the error output beside its stages."""

import io
import re
from collections.abc import Generator

import pytest

from cxlab import jobs
from cxlab.llm import waits
from cxlab.records.progress import Progress
from cxlab.runner.display.stages import StageDisplay


def wait_for_a_server() -> Generator[Progress, None, str]:
    yield Progress("articles", 0, 1)
    with waits.noted("endpoint:writer", "HTTP 429: slow down", 42), waits.noted("endpoint:writer", "the same", 42):
        pass
    yield Progress("articles", 1, 1)
    with waits.noted("endpoint:writer", "HTTP 503: back soon", 7):
        pass
    return "made"


def test_each_wait_for_a_server_is_told_once() -> None:
    said = io.StringIO()
    assert StageDisplay(stream=said).follow(wait_for_a_server()) == "made"
    first, stage, second = said.getvalue().splitlines()
    assert first in {f"waiting for endpoint:writer, {left} s (1 call): HTTP 429: slow down" for left in (41, 42)}
    assert stage.startswith("articles")
    assert second in {f"waiting for endpoint:writer, {left} s (1 call): HTTP 503: back soon" for left in (6, 7)}
    with waits.noted("endpoint:writer", "HTTP 429: slow down", 42):
        assert len(said.getvalue().splitlines()) == 3, "nobody follows any more"


def test_nothing_is_told_where_quiet_is_asked_for() -> None:
    said = io.StringIO()
    StageDisplay(quiet=True, stream=said).follow(wait_for_a_server())
    assert said.getvalue() == ""


def test_the_page_that_started_it_reads_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_JOB", "job-w")

    def work() -> Generator[Progress, None, tuple[str, str]]:
        yield Progress("articles", 0, 2)
        with waits.noted("endpoint:writer", "HTTP 429: slow down", 600):
            # Pages start jobs without bars of progress.
            alone = jobs.waiting("job-w")
            with waits.noted("endpoint:writer", "HTTP 503: back soon", 900):
                return alone, jobs.waiting("job-w")

    alone, both = StageDisplay(quiet=True).follow(work())
    assert re.fullmatch(r"waiting for endpoint:writer, [56]\d\d s \(1 call\): HTTP 429: slow down", alone)
    assert re.fullmatch(r"waiting for endpoint:writer, [89]\d\d s \(2 calls\): HTTP 503: back soon", both)
    assert [one.name for one in jobs.stages("job-w")[0]] == ["articles"]
    assert not jobs.waiting("job-w"), "it is over"
    assert not jobs.waiting("job-of-before")


def test_a_page_counts_down_by_the_clock_that_it_shares_with_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    with waits.noted("", "HTTP 503", 600):
        waiting = waits.find()
    assert waiting is not None
    monkeypatch.setattr(waits.time, "time", lambda: waiting.until - 42)
    assert waiting.describe() == "waiting for a server, 42 s (1 call): HTTP 503"
    monkeypatch.setattr(waits.time, "time", lambda: waiting.until + 5)
    assert waiting.describe() == "waiting for a server, 0 s (1 call): HTTP 503"
