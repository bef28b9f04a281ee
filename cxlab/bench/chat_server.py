"""A server that speaks the chat-completions protocol and answers every call after a fixed time.

`python -m cxlab.bench.chat_server MILLISECONDS` prints its port on the first line and serves until
its standard input is closed, so that it cannot outlive whoever started it. `GET /stats` tells how many
calls it had and the most that were in flight at once, and sets both to zero.
"""

import asyncio
import json
import sys
from typing import Any

REPLY = {
    "id": "bench",
    "object": "chat.completion",
    "created": 0,
    "model": "bench",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "word"}}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13},
}


def _respond(body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(data), data)


_ANSWER = _respond(REPLY)


class Counts:
    """Calls so far, in flight now, and the most in flight at once."""

    def __init__(self) -> None:
        self.calls = self.in_flight = self.peak = 0


class Connection(asyncio.Protocol):
    """One kept-alive connection; requests are told apart by their content length."""

    def __init__(self, counts: Counts, delay_s: float) -> None:
        self._counts, self._delay_s, self._received = counts, delay_s, b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            if head.startswith(b"post"):
                counts = self._counts
                counts.calls += 1
                counts.in_flight += 1
                counts.peak = max(counts.peak, counts.in_flight)
                self._loop.call_later(self._delay_s, self._answer)
            else:
                self._transport.write(_respond({"calls": self._counts.calls, "peak": self._counts.peak}))
                self._counts.calls = self._counts.peak = 0

    def _answer(self) -> None:
        self._counts.in_flight -= 1
        if not self._transport.is_closing():
            self._transport.write(_ANSWER)


async def serve(delay_s: float) -> None:
    """Serve on a free port of this machine until standard input ends."""
    counts, loop = Counts(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(counts, delay_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]) / 1000))
