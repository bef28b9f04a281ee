"""What a generation says on the error output beside its stages."""

import io
from collections.abc import Generator

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
