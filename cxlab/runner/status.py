"""The small status file of a run or of one of its shards, and how shards add up."""

import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

State = Literal["running", "done", "cancelled", "failed", "budget"]


def now() -> str:
    """The time in UTC as ISO text with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Status:
    """How far a run, or one shard of it, has come; counts include what earlier sessions finished.

    `rate_per_s` counts attempts over the last seconds. `peak` is the most attempts in flight at once.
    `cost_usd` is None when no price is known. ok + format + provider = done.
    """

    state: State
    planned: int
    done: int = 0
    ok: int = 0
    format: int = 0
    provider: int = 0
    cost_usd: float | None = None
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
    """Replace the file at once, so that a reader sees the old status or the new one and nothing between."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(asdict(status)))
    fresh.replace(path)


def read(path: Path) -> Status | None:
    """The status in that file; None when there is none."""
    try:
        return Status(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None


def read_shards(folder: Path, led: bool = False) -> list[Status]:
    """The statuses of all shards that have begun."""
    found = (read(path) for path in sorted(folder.glob(f"{'.' * led}status-*-of-*.json")))
    return [status for status in found if status is not None]


def shards_of(folder: Path) -> int:
    """Into how many shards the run is split; 0 when no shard has begun."""
    return max((int(path.stem.rpartition("-")[2]) for path in folder.glob("status-*-of-*.json")), default=0)


def drop_shards(folder: Path) -> None:
    """Forget the statuses of shards, once their sum is in status.json or before another split begins."""
    for pattern in ("status-*-of-*.json", ".status-*-of-*.json"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def merge(parts: Sequence[Status], shards: int, planned: int) -> Status:
    """What the shards amount to together; `running` until every one of them has come to an end."""
    states = {part.state for part in parts}
    state: State = "done"
    if "running" in states or len(parts) < shards:
        state = "running"
    elif "failed" in states:
        state = "failed"
    elif "cancelled" in states:
        state = "cancelled"
    elif "budget" in states:
        state = "budget"
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    tokens = [part.tokens for part in parts if part.tokens is not None]
    rate = sum(part.rate_per_s for part in parts if part.state == "running")
    done = sum(part.done for part in parts)
    return Status(
        state=state,
        planned=planned,
        done=done,
        ok=sum(part.ok for part in parts),
        format=sum(part.format for part in parts),
        provider=sum(part.provider for part in parts),
        cost_usd=sum(costs) if costs else None,
        tokens=sum(tokens) if tokens else None,
        rate_per_s=rate,
        eta_s=(planned - done) / rate if rate > 0 else None,
        peak=sum(part.peak for part in parts),
        started=min((part.started for part in parts), default=now()),
        updated=max((part.updated for part in parts), default=now()),
        message="; ".join(sorted({part.message for part in parts if part.message})),
    )


def read_run(folder: Path, planned: int) -> Status | None:
    """The status of a whole run: the sum over shards while there are any, else status.json."""
    whole = read(folder / "status.json")
    parts = read_shards(folder)
    if not parts:
        return whole
    merged = merge(parts, shards_of(folder), planned)
    return replace(merged, pid=whole.pid, host=whole.host) if whole else merged


def is_stale(status: Status, silent_s: float = 10.0) -> bool:
    """Whether work that says `running` has been silent so long that its process must be gone."""
    if status.state != "running":
        return False
    return time.time() - datetime.fromisoformat(status.updated).timestamp() > silent_s
