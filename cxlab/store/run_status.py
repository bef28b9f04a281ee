"""How far a run has come: the small status file of it or of one of its shards, how shards add up, and in what state
it is, in the words that the command line and every page use.

running   somebody is at work on it
done      every attempt was made and delivered
partly    every attempt was made, and some were lost to a provider's fault: those can be tried again
failed    a fault ended it, or nothing was delivered at all
stopped   cancelled, or its budget is spent; the rest can be resumed
stalled   it says that it is running and its process is gone; the rest can be resumed
planned   created, and nothing begun
"""

import json
import math
import os
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

State = Literal["running", "done", "partly", "failed", "stopped"]
"""What a status file says."""
Known = Literal["running", "done", "partly", "failed", "stopped", "stalled", "planned"]
"""What is told of a run."""
OPEN: tuple[Known, ...] = ("failed", "stopped", "stalled", "planned")
"""States of runs in which something may be left to do."""
# What these were called before, in files that are still read.
_OLDER = {"cancelled": "stopped", "budget": "stopped"}
SILENT_S = 10.0
"""A run that says nothing for so long has lost its process; the runner writes twice a second."""

CANCEL = "CANCEL"
"""The file in a run's folder that asks whoever is at work on it to stop in good order."""


def now() -> str:
    """The time in UTC as ISO text with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Status:
    """How far a run, or one shard of it, has come; counts include what earlier sessions finished.

    `too_long` are those of `provider` whose very first question is longer than the model can read, which no second try
    mends. `faulted` are attempts that were made and that a provider's fault kept a judge from voting on. `rate_per_s`
    counts attempts over the last seconds. `peak` is the most attempts in flight at once.
    `cost_usd` and `tokens` are those of all roles: the agent, the customer, the judges. `cost_usd` is None as soon as
    a part of it is unknown; `known_usd` is the sum of the parts that are known, which a budget goes by. `tokens` are
    those that were reported. ok + format + provider = done.
    `unstored_usd`: what went besides into attempts that a stop cut short, which are not stored and not in any other
    sum; None where that is unknown. `unanswered`: requests whose answer did not come, or not to its end, which a server
    may bill; then `cost_usd` is unknown, and at most `unanswered_usd` more than what is known (None: nobody can say).
    `spent_usd` is what all calls of all sessions are known to have cost, and `under_way` how many requests are out: by
    them a session after a kill knows what it took.
    """

    state: State
    planned: int
    done: int = 0
    ok: int = 0
    format: int = 0
    provider: int = 0
    too_long: int = 0
    faulted: int = 0
    cost_usd: float | None = None
    known_usd: float = 0.0
    unstored_usd: float | None = 0.0
    unanswered: int = 0
    unanswered_usd: float | None = 0.0
    spent_usd: float = 0.0
    under_way: int = 0
    tokens: int | None = None
    rate_per_s: float = 0.0
    eta_s: float | None = None
    peak: int = 0
    started: str = ""
    updated: str = ""
    pid: int = 0
    host: str = ""
    message: str = ""


def begin(planned: int) -> Status:
    """The status of work that starts now in this process."""
    return Status("running", planned, started=now(), updated=now(), pid=os.getpid(), host=socket.gethostname())


def path_of(folder: Path, shard: tuple[int, int], led: bool = False) -> Path:
    """Where the status of a shard lies in the folder of its run.

    Where a coordinator leads the shards, theirs are hidden files for it alone: everybody else reads the
    sum that it writes to status.json. Shards without one lie open and are added up by the reader.
    """
    index, shards = shard
    if shards == 1 and not led:
        return folder / "status.json"
    return folder / f"{'.' * led}status-{index}-of-{shards}.json"


def write(path: Path, status: Status) -> None:
    """Replace the file at once, so that a reader sees the old status or the new one and nothing between.

    On a full disk there is no room for a second file: then the old one is written over, which needs none, so that a
    run that the disk has ended does not say `running` for ever.
    """
    text = json.dumps(asdict(status)).encode()
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text)
        fresh.replace(path)
    except OSError:
        try:
            fresh.unlink(missing_ok=True)
            with path.open("r+b") as file:
                # Blanks up to the old length and no truncation: blocks that are given back may be taken by others.
                file.write(text.ljust(path.stat().st_size))
        except OSError:
            if status.state == "running":
                raise
            # The old status stays, and tells by its age that nobody is at work (`is_stale`).


def read(path: Path) -> Status | None:
    """The status in that file; None when there is none or it is damaged (it is written anew twice a second)."""
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    # One of a newer version may say more than we know.
    kept = (
        {each.name: told[each.name] for each in fields(Status) if each.name in told} if isinstance(told, dict) else {}
    )
    if isinstance(kept.get("state"), str):
        kept["state"] = _OLDER.get(kept["state"], kept["state"])
    if not _is_sound(kept):
        return None
    found = Status(**kept)
    # Before partly and failed were told apart from done, whatever had been tried was done.
    return replace(found, state=find_end(found)) if found.state == "done" else found


def _is_sound(told: dict[str, Any]) -> bool:
    """Whether what a file says of a status can be counted with."""
    counts = (
        told.get(name, 0)
        for name in (
            "planned",
            "done",
            "ok",
            "format",
            "provider",
            "too_long",
            "faulted",
            "unanswered",
            "under_way",
            "peak",
            "pid",
        )
    )
    amounts = (told.get(name) for name in ("cost_usd", "unstored_usd", "unanswered_usd", "tokens", "eta_s"))
    texts = (told.get(name, "") for name in ("started", "updated", "host", "message"))
    return (
        told.get("state") in get_args(State)
        and "planned" in told
        and all(type(count) is int and 0 <= count < 2**63 for count in counts)
        and all(
            amount is None or _is_amount(amount)
            for amount in (*amounts, told.get("rate_per_s", 0.0), told.get("spent_usd", 0.0))
        )
        and all(isinstance(text, str) for text in texts)
        and all(_is_time(told[name]) for name in ("started", "updated") if told.get(name))
    )


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def read_shards(folder: Path, led: bool = False) -> list[Status]:
    """The statuses of all shards that have begun."""
    found = (read(path) for path in sorted(folder.glob(f"{'.' * led}status-*-of-*.json")))
    return [status for status in found if status is not None]


def shards_of(folder: Path) -> int:
    """Into how many shards the run is split; 0 when no shard has begun."""
    ends = (path.stem.rpartition("-")[2] for path in folder.glob("status-*-of-*.json"))
    return max((int(end) for end in ends if end.isascii() and end.isdigit() and len(end) < 4), default=0)


def drop_shards(folder: Path) -> None:
    """Forget the statuses of shards, once their sum is in status.json or before another split begins."""
    for pattern in ("status-*-of-*.json", ".status-*-of-*.json"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def add_known(costs: Sequence[float | None]) -> float | None:
    """Their sum; None where there are none, or one of them is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def merge(parts: Sequence[Status], shards: int, planned: int) -> Status:
    """What the shards amount to together; `running` until every one of them has come to an end."""
    states = {part.state for part in parts}
    state: State = "done"
    if "running" in states or len(parts) < shards:
        state = "running"
    elif any(part.state == "failed" and (part.done < part.planned or find_end(part) != "failed") for part in parts):
        state = "failed"
    elif "stopped" in states:
        state = "stopped"
    costs = [part.cost_usd for part in parts if part.done]
    tokens = [part.tokens for part in parts if part.tokens is not None]
    rate = sum(part.rate_per_s for part in parts if part.state == "running")
    done = sum(part.done for part in parts)
    merged = Status(
        state=state,
        planned=planned,
        done=done,
        ok=sum(part.ok for part in parts),
        format=sum(part.format for part in parts),
        provider=sum(part.provider for part in parts),
        too_long=sum(part.too_long for part in parts),
        faulted=sum(part.faulted for part in parts),
        cost_usd=add_known(costs),
        known_usd=sum(part.known_usd for part in parts),
        unstored_usd=add_known([part.unstored_usd for part in parts]) if parts else 0.0,
        unanswered=sum(part.unanswered for part in parts),
        unanswered_usd=add_known([part.unanswered_usd for part in parts]) if parts else 0.0,
        spent_usd=sum(part.spent_usd for part in parts),
        under_way=sum(part.under_way for part in parts),
        tokens=sum(tokens) if tokens else None,
        rate_per_s=rate,
        eta_s=(planned - done) / rate if rate > 0 else None,
        peak=sum(part.peak for part in parts),
        started=min((part.started for part in parts), default=now()),
        updated=max((part.updated for part in parts), default=now()),
        message="; ".join(sorted({part.message for part in parts if part.message})),
    )
    return replace(merged, state=find_end(merged)) if state == "done" else merged


def find_end(status: Status) -> State:
    """How work that came to its end ended: done, partly, or failed where nothing at all was delivered."""
    if status.provider and status.provider >= status.done:
        return "failed"
    return "partly" if status.provider or status.faulted else "done"


def worst(states: Iterable[Known]) -> Known:
    """The state of several runs as one: the one that asks most for a look."""
    ranked: tuple[Known, ...] = ("running", "stalled", "failed", "stopped", "planned", "partly", "done")
    return min(states, key=ranked.index, default="done")


def read_run(folder: Path, planned: int) -> Status | None:
    """The status of a whole run: the sum over shards while there are any, else status.json."""
    whole = read(folder / "status.json")
    parts = read_shards(folder)
    if not parts:
        return whole
    merged = merge(parts, shards_of(folder), planned)
    return replace(merged, pid=whole.pid, host=whole.host) if whole else merged


def find_state(folder: Path, planned: int) -> tuple[Known, Status | None]:
    """In what state a run is, and its status; None where it has none yet, or a damaged one."""
    status = read_run(folder, planned)
    return ("planned", None) if status is None else (name_state(status), status)


def name_state(status: Status) -> Known:
    """The state of a run in the words of all pages and commands: what it says of itself, or that it is stalled."""
    return "stalled" if is_stale(status) else status.state


def is_stale(status: Status, silent_s: float = SILENT_S) -> bool:
    """Whether work that says `running` has lost its process: that is gone, or was silent for too long."""
    if status.state != "running":
        return False
    if not status.updated or (status.host == socket.gethostname() and status.pid and not _lives(status.pid)):
        return True
    return time.time() - datetime.fromisoformat(status.updated).timestamp() > silent_s


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
