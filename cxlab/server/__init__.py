"""Who may speak to the server, what its answers forbid a browser, and how its memory is looked after.

app.py hands both to the application: `st.App(script, middleware=server.MIDDLEWARE, lifespan=server.lifespan)`, so that
`streamlit run app.py` is as closed as `python -m cxlab app`.
"""

import asyncio
import gc
import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

# No page of anybody else may frame ours, read what we serve, guess another type for it, or learn our addresses, which
# hold names of runs and words that were searched for.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_AHEAD = "cxlab.views.overview.ahead"
# What every page loads and nothing unloads: loaded before the first session comes, it needs no looking through again.
_LOADED = (
    "pandas", "plotly.graph_objects", "plotly.io", "streamlit.emojis", "duckdb", "cxlab.ui", "cxlab.llm",
    "cxlab.report.write", "cxlab.views.overview.board", "cxlab.views.overview.summary", _AHEAD,
)  # fmt: skip
# With that set aside a full collection takes some milliseconds; sessions leave little behind that is a circle.
_COLLECT_EVERY_S = 30.0
BROWSER_COOKIE = "cx_browser"
_YEAR_S = 365 * 24 * 3600


class SafeHeaders:
    """Adds HEADERS to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_safely)


class BrowserId:
    """Gives each browser that asks for a page a random id of its own, by which it finds the name again under which its
    person decides (store/raters.py). It says nothing of the person, and no script of a page can read it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = scope["type"] != "http" or BROWSER_COOKIE in cookie_parser(Headers(scope=scope).get("cookie", ""))

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start" and not known:
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    cookie = f"{BROWSER_COOKIE}={secrets.token_hex(16)}; Path=/; Max-Age={_YEAR_S}; HttpOnly"
                    headers.append("set-cookie", f"{cookie}; SameSite=Strict")
            await send(message)

        await self._app(scope, receive, send_named)


class SameOrigin:
    """Refuses what a page of another origin asks for; Streamlit lets every port of this machine connect.

    Programs that are no browsers send no origin, and navigation sends none: whoever follows a link comes in.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "").lower()
            if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
                await PlainTextResponse("Foreign origin", status_code=403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def trust_hosts(app: ASGIApp) -> TrustedHostMiddleware:
    """Refuses a Host that nobody allowed, so that a foreign name that points at this machine reaches nothing.

    Streamlit holds `server.allowedHosts` against WebSockets only, and lets everybody in where none is set; here they
    stand for all that is asked, and without any nobody comes in.
    """
    names = [str(name).lower() for name in config.get_option("server.allowedHosts")]
    # A Host has an address of version 6 in brackets, Streamlit's option has none.
    hosts = [f"[{name}]" if ":" in name else name for name in names]
    return TrustedHostMiddleware(app, allowed_hosts=hosts, www_redirect=False)


MIDDLEWARE = (Middleware(SafeHeaders), Middleware(trust_hosts), Middleware(SameOrigin), Middleware(BrowserId))


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Load what all pages need; set it aside, and collect on a timer where Streamlit does not do so after every run.
    What Overview shows is read meanwhile."""
    for module in _LOADED:
        import_module(module)
    # Each is imported when it is first asked for, which the first page does for all of them.
    list(import_module("cxlab.benchmarks").REGISTRY.values())
    collecting = None
    if not config.get_option("runner.postScriptGC"):
        gc.collect()
        gc.freeze()
        collecting = asyncio.create_task(_collect())
    ended = threading.Event()
    reading = threading.Thread(target=import_module(_AHEAD).read_ahead, args=(ended.is_set,), name="read ahead")
    reading.start()
    try:
        yield
    finally:
        ended.set()
        if collecting is not None:
            collecting.cancel()
        await asyncio.to_thread(reading.join)


async def _collect() -> None:
    while True:
        await asyncio.sleep(_COLLECT_EVERY_S)
        gc.collect()
