"""Stages of the generation: each a generator of Progress that can be resumed where it stopped.

    rows = yield from run("articles", items, key=lambda i: i["id"], work=write, folder=tmp)

`work(item)` is a coroutine that gives one JSON-able row. Rows are appended to FOLDER/STAGE.jsonl as they come;
what is there already is picked up, a torn last line dropped. Without a folder nothing is kept. When an item fails,
the others of its chunk are kept before the failure is raised. `FaultStoppedModel(model)` makes a provider's fault such
a failure, so that no stage takes an answer that never came for an empty one. The generator's return
value (`yield from`, or `finish(generator)`) is the list of rows in the order of the items.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from cxlab.errors import CxError
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Request
from cxlab.records.fault_words import name_fault_type
from cxlab.records.progress import Progress as Progress
from cxlab.records.progress import finish as finish

Item = TypeVar("Item")
Out = TypeVar("Out")
Row = dict[str, Any]
# Calls that run at once, and how often progress is told.
CHUNK = 32
# What was asked in an event loop, and holds connections that only that loop can close.
_ASKED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, ChatModel]] = WeakKeyDictionary()


def run(
    stage: str,
    items: Sequence[Item],
    key: Callable[[Item], str],
    work: Callable[[Item], Awaitable[Row]],
    folder: Path | None = None,
    keep: Callable[[Row], bool] = lambda row: True,
) -> Generator[Progress, None, list[Row]]:
    """Work through the items in chunks; see the module's head. A row that is not to `keep` is made again next time."""
    path = folder / f"{stage}.jsonl" if folder is not None else None
    found = load(path) if path is not None else {}
    todo = [item for item in items if key(item) not in found]
    yield Progress(stage, len(items) - len(todo), len(items))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    with asyncio.Runner() as runner:
        try:
            for start in range(0, len(todo), CHUNK):
                chunk = todo[start : start + CHUNK]
                rows = runner.run(_together([work(item) for item in chunk]))
                faults = [row for row in rows if isinstance(row, BaseException)]
                fresh = {key(i): row for i, row in zip(chunk, rows, strict=True) if not isinstance(row, BaseException)}
                if path is not None:
                    with path.open("a", encoding="utf-8") as file:
                        file.writelines(
                            json.dumps({"key": k, "row": r}, ensure_ascii=False) + "\n"
                            for k, r in fresh.items()
                            if keep(r)
                        )
                if faults:
                    raise faults[0]
                found.update(fresh)
                yield Progress(stage, len(items) - len(todo) + start + len(chunk), len(items))
        finally:
            runner.run(_close_asked())
    return [found[key(item)] for item in items]


def load(path: Path) -> dict[str, Row]:
    """The rows that an earlier try left; a line that was torn by a kill is cut off, so that appending goes on."""
    found: dict[str, Row] = {}
    if not path.is_file():
        return found
    kept = 0
    with path.open("rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry["row"]
            except (ValueError, KeyError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            kept += len(line)
    if kept < path.stat().st_size:
        with path.open("r+b") as file:
            file.truncate(kept)
    return found


async def _close_asked() -> None:
    for model in _ASKED.pop(asyncio.get_running_loop(), {}).values():
        await model.aclose()


async def _together(work: Sequence[Awaitable[Row]]) -> list[Row | BaseException]:
    return list(await asyncio.gather(*work, return_exceptions=True))


class GenerationStopped(CxError):
    """The provider did not deliver; what was made so far is kept."""


class FaultStoppedModel:
    """A model whose provider faults end the stage, where `ask` would hand them on as a reply without output."""

    # Those are about one question and would come again; the stage decides what to do without its answer.
    LEFT = ("refused", "bad_reply")

    def __init__(self, model: ChatModel) -> None:
        self.model, self.name, self.simulated = model, model.name, model.simulated

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def complete(self, request: Request) -> Completion:
        _ASKED.setdefault(asyncio.get_running_loop(), {})[id(self.model)] = self.model
        try:
            return await self.model.complete(request)
        except ProviderFault as fault:
            if fault.failure.type in self.LEFT:
                raise
            kind, told = name_fault_type(fault.failure.type), fault.failure.message
            what = told if told.startswith(kind.partition(" in time")[0]) else f"{kind}: {told}"
            raise GenerationStopped(
                f"{self.name} did not deliver ({what}); what was made so far is kept: run the same command again to go "
                "on"
            ) from None
