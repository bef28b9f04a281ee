"""Sessions as browsers hold them, over real WebSockets: `python -m cxlab.server.visitors URL` with a load in JSON.

    python -m cxlab.server.visitors http://127.0.0.1:8501 '{"sessions": 25, "every_s": 5, "reruns": 1000}'

Prints one line of JSON when all have seen their first page, at every tenth of the reruns, and at the end. A process of
its own, so that the server's CPU is not counted with its visitors'. The messages are Streamlit's protocol buffers, as
streamlit.proto has them.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

STREAM = "_stcore/stream"
SUBPROTOCOLS = (Subprotocol("streamlit"),)
FILTER = "cx-filter-"
# What people look at, the pages with much to count more often.
PAGES = ("", "compare", "failures", "sop_paths", "judges", "failures", "compare", "datasets", "run", "models")
# One click in so many leads to another page, the others change a filter.
PAGE_EVERY = 4
LONGEST_S = 60.0


@dataclass(frozen=True)
class SessionLoad:
    """How many sessions click how often (a mean, in seconds), until there were so many reruns in all."""

    sessions: int = 25
    every_s: float = 5.0
    reruns: int = 1000
    seed: int = 0


@dataclass
class LoadResult:
    """Seconds of each rerun, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Session:
    """One browser tab. `faults` are exceptions that a page showed."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._page = self._query = ""
        self._widgets: dict[str, WidgetState] = {}
        self._filters: dict[str, list[str]] = {}
        self.faults: list[str] = []

    @property
    def filters(self) -> dict[str, list[str]]:
        """The filters that the page offers: the widget's id → its options."""
        return self._filters

    async def open(self, page: str = "", query: str = "") -> None:
        """Go to a page by its address ("" is the Overview), and wait until it is drawn."""
        self._page, self._query = page, query
        self._widgets.clear()
        await self._rerun()

    async def choose(self, widget: str, values: list[str]) -> None:
        """Pick these values of a filter, and wait until the page is drawn."""
        state = WidgetState(id=widget)
        state.string_array_value.data.extend(values)
        self._widgets[widget] = state
        await self._rerun()

    async def _rerun(self) -> None:
        asked = ClientState(query_string=self._query, page_name=self._page)
        asked.widget_states.widgets.extend(self._widgets.values())
        asked.context_info.timezone = "UTC"
        await self._socket.send(BackMsg(rerun_script=asked).SerializeToString())
        async with asyncio.timeout(LONGEST_S):
            await self._wait()

    async def _wait(self) -> None:
        """Take messages until a run has come to its end; a page that sends one on starts another run by itself."""
        async for data in self._socket:
            message = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
            match message.WhichOneof("type"):
                case "new_session":
                    self._filters = {}
                case "delta":
                    self._look(message)
                case "page_info_changed":
                    self._query = message.page_info_changed.query_string
                case "script_finished":
                    if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        return

    def _look(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "multiselect" if FILTER in element.multiselect.id:
                self._filters[element.multiselect.id] = list(element.multiselect.options)
            case "exception":
                self.faults.append(f"{self._page or 'overview'}: {element.exception.message}"[:300])


def address_of(url: str) -> str:
    """The WebSocket's address of an app's."""
    return f"{url.replace('http', 'ws', 1).rstrip('/')}/{STREAM}"


async def click(session: Session, rng: random.Random) -> None:
    """What a person does next: another value of a filter, or another page."""
    if not session.filters or not rng.randrange(PAGE_EVERY):
        await session.open(rng.choice(PAGES))
        return
    widget, options = rng.choice(sorted(session.filters.items()))
    await session.choose(widget, rng.sample(options, k=min(len(options), rng.randint(0, 2))))


async def visit(url: str, load: SessionLoad, number: int, found: LoadResult, ready: asyncio.Barrier) -> None:
    """One session until the load is done; what is counted begins when all sessions have seen their first page."""
    rng = random.Random(f"{load.seed} {number}")
    arrived = False
    try:
        async with connect(address_of(url), origin=Origin(url), subprotocols=SUBPROTOCOLS, max_size=None) as socket:
            session = Session(socket)
            await asyncio.sleep(rng.uniform(0, load.every_s))
            await session.open(PAGES[number % len(PAGES)])
            arrived = True
            if not await ready.wait():
                _tell(0)
            await asyncio.sleep(rng.uniform(0, load.every_s))
            while len(found.seconds) < load.reruns:
                began = time.perf_counter()
                await click(session, rng)
                found.seconds.append(time.perf_counter() - began)
                done = len(found.seconds)
                if done <= load.reruns and done % max(1, load.reruns // 10) == 0:
                    _tell(done)
                await asyncio.sleep(rng.uniform(0.5, 1.5) * load.every_s)
            found.faults += session.faults
    except (WebSocketException, OSError, TimeoutError) as error:
        found.faults.append(f"session {number}: {type(error).__name__}: {error}"[:300])
        if not arrived:
            await ready.wait()


def _tell(reruns: int) -> None:
    print(json.dumps({"reruns": reruns}), flush=True)


async def measure(url: str, load: SessionLoad) -> LoadResult:
    """What all sessions met."""
    found, ready = LoadResult(), asyncio.Barrier(load.sessions)
    await asyncio.gather(*(visit(url, load, number, found, ready) for number in range(load.sessions)))
    return found


def main(url: str, load: dict[str, Any]) -> None:
    """Measure and print."""
    print(json.dumps(asdict(asyncio.run(measure(url, SessionLoad(**load))))))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
