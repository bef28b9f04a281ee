"""The base of all HTTP servers of the tests: an aiohttp app in a thread of its own, on a free port of 127.0.0.1."""

import asyncio
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Self

from aiohttp import web

PATIENCE_S = 60


class LocalServer:
    """Serves `routes()` as long as the context lasts; `port` is known within it."""

    def __init__(self) -> None:
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(PATIENCE_S):
            raise TimeoutError(f"{type(self).__name__} did not start within {PATIENCE_S} s")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """What is served; asked in the server's thread, before anybody can call."""
        raise NotImplementedError

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_routes(self.routes())
        # Hanging calls must not hold up the end of a test session.
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()


class RoleServer(LocalServer):
    """`endpoint:ROLE` for each of its roles; `bodies` is what each was sent, `reply` what each says to it."""

    roles: Sequence[str] = ()

    def __init__(self) -> None:
        super().__init__()
        self.bodies: dict[str, list[dict[str, Any]]] = {role: [] for role in self.roles}

    def settings(self) -> str:
        """models.toml for its endpoints, a dollar per million tokens each."""
        return "\n".join(
            f'[endpoints.{role}]\nbase_url = "http://127.0.0.1:{self.port}/{role}/v1"\nmodel = "{role}"\n'
            "key_required = false\nprompt_usd = 1.0\ncompletion_usd = 1.0\n"
            for role in self.roles
        )

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/{role}/v1/chat/completions", self._complete),
            web.get("/{role}/v1/models", self._list),
        ]

    async def reply(self, role: str, body: dict[str, Any]) -> dict[str, Any]:
        """The body of its answer; one with an `error` goes out as what was asked wrongly."""
        raise NotImplementedError

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": request.match_info["role"]}]})

    async def _complete(self, request: web.Request) -> web.Response:
        role, body = request.match_info["role"], await request.json()
        self.bodies[role].append(body)
        said = await self.reply(role, body)
        return web.json_response(said, status=400 if "error" in said else 200)
