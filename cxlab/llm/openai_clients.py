"""Clients of the `openai` SDK: one to a server, key and loop, shared by the models that use it."""

import asyncio
import weakref
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cxlab.errors import BadOption

if TYPE_CHECKING:
    import ssl

    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
# Servers close an idle connection after 5 s as a rule (uvicorn does); reusing one later breaks the call.
_KEEP_IDLE_S = 4.0


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """Settings of an endpoint, as data/models.toml has them."""

    connect_timeout_s: float = 5.0
    read_timeout_s: float = 60.0
    """Longest silence while waiting for the reply."""
    answer_timeout_s: float = 300.0
    """Longest time for one whole reply, for servers that trickle."""
    attempts: int = 4
    longest_wait_s: float = 120.0
    """Longest wait between attempts. Where a server asks for a longer one, the call fails at once and says so."""
    first_wait_s: float = 0.5
    max_connections: int = 200
    temperature: bool = True
    """False: never send a temperature."""
    context_tokens: int | None = None
    """What prompt and answer may hold together; None: left to the server."""
    max_output_tokens: int | None = None
    """What one answer may hold, reasoning included; None: left to the server."""
    reasoning_effort: str | None = None
    """Sent as it is, to servers that take it."""
    extra_body: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise BadOption(f"attempts = {self.attempts}; give 1 or more")
        for name in ("connect_timeout_s", "read_timeout_s", "answer_timeout_s"):
            if not getattr(self, name) > 0:
                raise BadOption(f"{name} = {getattr(self, name)!r}; give seconds above 0")


class _Shared:
    """One SDK client and the models that use it."""

    def __init__(self, client: "AsyncOpenAI") -> None:
        self.client = client
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()


# A client per call costs 15 times the CPU (a TLS context each time). A client belongs to one event loop.
_CLIENTS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[object, ...], _Shared]] = (
    weakref.WeakKeyDictionary()
)


@cache
def _certificates() -> "ssl.SSLContext":
    """Who is believed over TLS, read once a process; each client would read it anew, which takes 20 ms."""
    import httpx2

    return httpx2.create_ssl_context()


def take(user: object, base_url: str, key: str | None, options: EndpointOptions) -> "AsyncOpenAI":
    """The client of this loop for a server and key; `user` holds it until `give_back`."""
    shared = _CLIENTS.setdefault(asyncio.get_running_loop(), {})
    # Without a key of its own the SDK would take OPENAI_API_KEY and hand it to a stranger's server.
    key = key or "none"
    identity = (base_url, key, options.connect_timeout_s, options.read_timeout_s, options.max_connections)
    if identity not in shared:
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        timeout = httpx2.Timeout(
            connect=options.connect_timeout_s, read=options.read_timeout_s, write=options.read_timeout_s, pool=None
        )
        limits = httpx2.Limits(
            max_connections=options.max_connections,
            max_keepalive_connections=options.max_connections,
            keepalive_expiry=_KEEP_IDLE_S,
        )
        client = AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            timeout=timeout,
            max_retries=0,
            http_client=DefaultAioHttpClient(timeout=timeout, limits=limits, verify=_certificates()),
        )
        if base_url != OPENAI_URL:
            # Also read from the environment by the SDK, and also nobody else's business.
            client.organization = client.project = None
        shared[identity] = _Shared(client)
    shared[identity].users.add(user)
    return shared[identity].client


async def give_back(user: object) -> None:
    """Leave this loop's clients; the last user of one closes it."""
    shared = _CLIENTS.get(asyncio.get_running_loop(), {})
    for identity, entry in list(shared.items()):
        if user in entry.users:
            entry.users.discard(user)
            if not entry.users:
                del shared[identity]
                await entry.client.close()
