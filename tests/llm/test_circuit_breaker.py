"""When calls of a role are no longer let through."""

import asyncio

import pytest

from cxlab.llm import CircuitBreaker, ProviderFault
from cxlab.records import Failure


def fault(kind: str) -> Failure:
    return Failure(where="provider", type=kind, message=f"told of {kind}", retryable=False)


def fail(breaker: CircuitBreaker, kind: str, times: int) -> bool:
    for _ in range(times):
        breaker.end(fault(kind), False)
    return breaker.failed


def test_ten_alike_before_any_answer_end_it() -> None:
    breaker = CircuitBreaker("agent")
    assert not fail(breaker, "too_long", 9)
    assert fail(breaker, "too_long", 1)
    assert breaker.describe() == "the first 10 calls of the agent all failed alike: told of too_long"
    with pytest.raises(ProviderFault, match="the first 10 calls"):
        asyncio.run(breaker.begin())


@pytest.mark.parametrize("first", ["answered", "tools refused", "different"])
def test_once_a_server_has_answered_only_faults_that_last_end_it(first: str) -> None:
    breaker = CircuitBreaker("judge j")
    if first == "answered":
        breaker.end(None, True)
    else:
        fail(breaker, "no_tools" if first == "tools refused" else "timeout", 1)
        fail(breaker, "auth", int(first == "different"))
    for kind in ("bad_request", "too_long", "refused"):
        assert not fail(breaker, kind, 200), "each is a matter of what was asked"
    assert not fail(breaker, "server_error", 99), "what passes within minutes"
    assert not fail(breaker, "auth", 9)
    breaker.end(None, True)
    assert not fail(breaker, "auth", 9), "one answer in between, and they are not in a row"
    assert fail(breaker, "auth", 1)
    assert breaker.describe() == "the last 10 calls of the judge j all failed alike: told of auth"


def test_a_server_that_is_gone_ends_it_in_the_end() -> None:
    breaker = CircuitBreaker("agent")
    breaker.end(None, True)
    assert not fail(breaker, "connection", 99)
    assert fail(breaker, "connection", 1)


def test_a_call_that_was_cancelled_makes_room_for_another() -> None:
    async def go() -> None:
        breaker = CircuitBreaker("agent", most=1)
        await breaker.begin()
        waiting = asyncio.create_task(breaker.begin())
        await asyncio.sleep(0)
        assert not waiting.done()
        breaker.end(None, False)
        await waiting

    asyncio.run(go())
