"""One pause and one limit for all calls to a server. No test waits: what would is cancelled."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest

from cxlab.llm import waits
from cxlab.llm.faults import FaultKind, RetryFault
from cxlab.llm.rate_limiter import RateLimiter, of
from cxlab.llm.retries import retrying


def refusal(wait_s: float | None = None) -> RetryFault:
    return RetryFault(FaultKind("rate_limited", True), "HTTP 429: slow down", wait_s)


async def take(limiter: RateLimiter, fault: RetryFault | None = None, until: Awaitable[None] | None = None) -> None:
    async with limiter.turn("endpoint:busy", 4, 900):
        if until is not None:
            await until
        if fault is not None:
            raise fault


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_what_one_call_is_told_holds_all_others_back() -> None:
    asked: list[str] = []

    def call(name: str) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            asked.append(name)
            raise refusal(600)

        return ask

    async def look() -> tuple[str, str]:
        limiter = RateLimiter()
        calls = [
            asyncio.create_task(retrying(call(name), 4, 900, whom="endpoint:busy", limiter=limiter))
            for name in ("first", "second", "third")
        ]
        await settle()
        during = waits.describe()
        for each in calls:
            each.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
        return during, waits.describe()

    during, after = asyncio.run(look())
    assert asked == ["first"], "the others need not be told the same"
    assert re.fullmatch(r"waiting for endpoint:busy, 6\d\d s \(3 calls\): HTTP 429: slow down", during)
    assert after == ""


def test_half_as_many_go_out_after_a_refusal_and_one_more_for_each_round_of_answers() -> None:
    async def go() -> None:
        limiter, open_ = RateLimiter(), asyncio.Event()
        wave = [asyncio.create_task(take(limiter, refusal(), open_.wait())) for _ in range(8)]
        await settle()
        open_.set()
        await asyncio.gather(*wave, return_exceptions=True)
        assert limiter.limit == 4, "eight that went out together are one refusal"
        out = most = 0

        async def busy() -> None:
            nonlocal out, most
            out += 1
            most = max(most, out)
            await asyncio.sleep(0)
            out -= 1

        await asyncio.gather(*(take(limiter, None, busy()) for _ in range(4)))
        assert (most, limiter.limit) == (4, 5)
        await asyncio.gather(*(take(limiter, None, busy()) for _ in range(5 + 6 + 7)))
        assert (most, limiter.limit) == (7, None), "from eight on, as many as it had been, there is no limit"

    asyncio.run(go())


def test_pauses_that_bring_no_answer_come_to_an_end() -> None:
    async def go() -> None:
        limiter = RateLimiter()
        for wait_s in (0, 0, 0, 600):
            with pytest.raises(RetryFault, match="slow down"):
                await take(limiter, refusal(wait_s))
        with pytest.raises(RetryFault, match="4 pauses in a row as long as it asked for brought no answer"):
            await take(limiter)

    asyncio.run(go())


def test_an_answer_between_them_begins_anew() -> None:
    async def go() -> None:
        limiter = RateLimiter()
        for wait_s in (0, 0, 0, None, 600):
            if wait_s is None:
                await take(limiter)
                continue
            with pytest.raises(RetryFault):
                await take(limiter, refusal(wait_s))
        waiting = asyncio.create_task(take(limiter))
        await settle()
        assert waits.describe()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(go())


def test_servers_and_keys_are_told_apart() -> None:
    async def go() -> None:
        assert of(("here", "key")) is of(("here", "key"))
        assert of(("here", "key")) is not of(("here", "another"))
        assert of(("here", "key")) is not of(("there", "key"))

    asyncio.run(go())
