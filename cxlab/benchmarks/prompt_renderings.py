"""What a benchmark's prompts look like to a real model: recorded from an attempt at a sample, as they are sent.

An attempt is made and scored by simulated models, which answer the same prompts as real ones; each request is noted
before it is answered. Nothing is rendered a second way, so what is shown cannot differ from what is sent.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark, Role, Setup
from cxlab.errors import BadOption, NotConfigured, UnknownName
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Request
from cxlab.llm.ladder import response_format
from cxlab.llm.metering import FREE
from cxlab.records import Attempt, Sample
from cxlab.store import layout, write

AGENT, CUSTOMER = "simulated:strong", "simulated:customer"
# Far more than a talk takes; a task that asks about thousands of pairs shows no more by the fiftieth.
MOST = 50
# Of one prompt in making a small dataset, which must not be cut short.
MOST_OF_A_WRITER = 2000
# The third time a prompt is asked there is a dialogue to be seen, and it is still short.
SHOWN = 2


@dataclass(frozen=True)
class Rendering:
    """One prompt as a model gets it for one sample. `schema` is the JSON schema as it is sent, None for plain text;
    `tools` are those offered with it."""

    benchmark: str
    name: str
    role: Role
    sample: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None
    tools: tuple[Mapping[str, Any], ...] = ()

    def to_record(self) -> dict[str, Any]:
        """As `python -m cxlab prompts --json` prints it."""
        record = {
            "benchmark": self.benchmark,
            "name": self.name,
            "role": self.role,
            "messages": [dict(message) for message in self.messages],
            "schema": self.schema,
        }
        return record | ({"tools": list(self.tools)} if self.tools else {})

    def to_text(self) -> str:
        """As a person reads it: Markdown, a heading a message, the schema in a fence."""
        parts = [f"# {self.name} ({self.role})"]
        for message in self.messages:
            parts += [f"## {message['role']}", message["content"]]
        if self.tools:
            parts += ["## tools", f"```json\n{_indent(self.tools)}\n```"]
        if self.schema is not None:
            parts += ["## schema", f"```json\n{_indent(self.schema)}\n```"]
        return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class RecordedRequest:
    """A request with who was asked, in the order of the attempt that it belongs to."""

    role: Role
    request: Request


@dataclass(frozen=True)
class Recording:
    """Everything that models were asked for one sample, and the attempt; None where only a writer was asked."""

    requests: tuple[RecordedRequest, ...]
    attempt: Attempt | None = None


@dataclass
class RecordingModel:
    """A model that notes each request, and delivers nothing once a prompt was asked `most` times."""

    inner: ChatModel
    role: Role
    noted: list[RecordedRequest]
    most: int = MOST
    simulated: bool = True
    prices: Any = FREE
    name: str = ""
    _counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.name = self.inner.name

    # A model is told apart from others by what it is, as every model is.
    __hash__ = object.__hash__

    async def complete(self, request: Request) -> Completion:
        name = name_of(request)
        self._counts[name] += 1
        if self._counts[name] > self.most:
            raise ProviderFault("budget", f"{name} was asked {self.most} times, which is enough to read it")
        self.noted.append(RecordedRequest(self.role, request))
        return await self.inner.complete(request)

    async def aclose(self) -> None:
        await self.inner.aclose()


def name_of(request: Request) -> str:
    """The name of the prompt that a request was rendered from; "" for one without a prompt."""
    return str(request.prompt.name) if request.prompt is not None else ""


def record(
    benchmark: Benchmark,
    sample: Sample,
    *,
    most: int = MOST,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    scripted: bool = True,
) -> Recording:
    """All that models are asked in one attempt at the sample and in scoring it.

    `scripted`: stand-ins say what is theirs beside the prompt. Without it they have the prompt alone, as real models,
    and keep nobody from a switch that stand-ins refuse.
    """
    noted: list[RecordedRequest] = []

    def load(name: str, role: Role) -> RecordingModel:
        return RecordingModel(llm.load(name), role, noted, most, simulated=scripted)

    settings = benchmark.Options.read(dict(options or {}))
    setup = Setup(
        model=load(AGENT, "agent"),
        customer=load(benchmark.default_customer, "customer") if benchmark.with_customer else None,
        judges=tuple(load(name, "judge") for name in benchmark.default_judges[:1]),
        run_id="prompts",
        seed=seed,
        options=settings,
    )
    if benchmark.prepare is not None:
        for _ in benchmark.prepare([sample], settings, AGENT):
            pass

    async def attempt() -> Attempt:
        made = await benchmark.run(sample, setup, 0)
        await benchmark.score(sample, made, setup)
        return made

    made = asyncio.run(attempt())
    return Recording(tuple(noted), made)


def record_writer(benchmark: Benchmark) -> Recording:
    """All that a writer is asked by the benchmark's own account; nothing where it declares none."""
    noted: list[RecordedRequest] = []
    if benchmark.ask_writer is not None:
        # Where generating goes another way for stand-ins, the way of real writers is what is to be read.
        benchmark.ask_writer(RecordingModel(llm.load(AGENT), "writer", noted, most=MOST_OF_A_WRITER, simulated=False))
    return Recording(tuple(noted))


def render(
    benchmark: Benchmark, sample_id: str = "", *, make: bool = True, options: Mapping[str, Any] | None = None
) -> list[Rendering]:
    """Each prompt once, for a sample by id or for one of each task; `options` are switches of the run.

    `make`: where no dataset is stored and making one takes time, one is made in a store of its own. That changes this
    process's environment for a while, so a process that does other things beside says False and gets NotConfigured.
    """
    found: dict[str, Rendering] = {}
    with _samples(benchmark, sample_id, make) as (usual, others):
        for usual_options, sample in itertools.product(benchmark.prompt_options, usual):
            switches = {**usual_options, **(options or {})}
            fitting = find_fitting(benchmark, sample, switches, others)
            if fitting is None:
                continue
            recording = record(benchmark, fitting, options=switches, scripted=not options)
            for one in _choose(benchmark, fitting.id, recording):
                found.setdefault(one.name, one)
    for one in _choose_of_writer(benchmark, record_writer(benchmark)):
        found.setdefault(one.name, one)
    return list(found.values())


def find_fitting(
    benchmark: Benchmark, sample: Sample, options: Mapping[str, Any], others: Iterable[Sample]
) -> Sample | None:
    """The sample, or the first other one of its task that can be played under these switches; None without one.

    A sample that settles a switch otherwise is refused before anything is made (`prepare`).
    """
    settings = benchmark.Options.read(dict(options))
    for one in (sample, *(each for each in others if each.task == sample.task)):
        try:
            if benchmark.prepare is not None:
                next(iter(benchmark.prepare([one], settings, AGENT)), None)
        except BadOption:
            continue
        return one
    return None


def pick(renderings: Sequence[Rendering], name: str) -> list[Rendering]:
    """Those of a name, of a name without the benchmark before it, or of a role; raises UnknownName."""
    found = [one for one in renderings if name in (one.name, one.name.partition("_")[2], one.role)]
    if name and not found:
        raise UnknownName("prompt", name, [one.name for one in renderings])
    return found if name else list(renderings)


def to_rendering(benchmark: str, sample: str, recorded: RecordedRequest) -> Rendering:
    """A request as it goes to a server."""
    request = recorded.request
    form = response_format(request.schema, "json_schema") if request.schema is not None else None
    return Rendering(
        benchmark=benchmark,
        name=name_of(request),
        role=recorded.role,
        sample=sample,
        messages=tuple(_message(message) for message in request.messages),
        schema=form["json_schema"]["schema"] if form else None,
        tools=tuple(request.tools or ()),
    )


def _choose(benchmark: Benchmark, sample: str, recording: Recording) -> Iterator[Rendering]:
    by_name: dict[str, list[RecordedRequest]] = {}
    for one in recording.requests:
        by_name.setdefault(name_of(one.request), []).append(one)
    for asked in by_name.values():
        shown = asked[min(SHOWN, len(asked) - 1)]
        rendering = to_rendering(benchmark.card.id, sample, shown)
        # Versions of one prompt that are used beside each other are told apart as the benchmark lists them.
        version = f"{rendering.name}_v{getattr(shown.request.prompt, 'version', '')}"
        yield replace(rendering, name=version) if version in benchmark.prompts() else rendering


def _choose_of_writer(benchmark: Benchmark, recording: Recording) -> Iterator[Rendering]:
    """The one of middle length of each prompt: what a writer is asked at once comes in no order."""
    by_name: dict[str, list[Rendering]] = {}
    for one in recording.requests:
        by_name.setdefault(name_of(one.request), []).append(to_rendering(benchmark.card.id, "", one))
    for name in sorted(by_name):
        ordered = sorted(by_name[name], key=lambda one: (len(one.to_text()), one.to_text()))
        yield ordered[len(ordered) // 2]


def _message(message: Mapping[str, Any]) -> dict[str, str]:
    """A message with its content as text; calls of tools are written as the JSON that is sent."""
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else json.dumps(content, ensure_ascii=False)
    if calls := message.get("tool_calls"):
        text = "\n".join(filter(None, [text, json.dumps(calls, ensure_ascii=False)]))
    return {"role": str(message["role"]), "content": text}


@contextmanager
def _samples(benchmark: Benchmark, sample_id: str, make: bool) -> Iterator[tuple[list[Sample], list[Sample]]]:
    """The sample of that id, or a usual one of each task: from a stored dataset, else from one made for the purpose.

    With them the whole dataset, to look for others; without others where one was asked for.
    """
    if benchmark.own_data and not sample_id:
        # The same for everybody, whatever was imported here.
        made = benchmark.generate_now({})[1]
        yield _usual(made), list(made)
        return
    stored = [each.id for each in write.list_datasets() if each.benchmark == benchmark.card.id]
    if sample_id:
        yield [_find(benchmark, sample_id, stored)], []
        return
    if stored and (kept := list(write.load_samples(stored[0]))):
        yield _usual(kept), kept
        return
    if not make:
        raise NotConfigured(
            f"no dataset of {benchmark.card.id} is stored; python -m cxlab generate {benchmark.card.id}"
        )
    with _home_of_its_own():
        made = benchmark.generate_now(benchmark.demo.generate if benchmark.demo else {})[1]
        yield _usual(made), list(made)


def _find(benchmark: Benchmark, sample_id: str, stored: Sequence[str]) -> Sample:
    """The sample of that id in the stored datasets, else in the benchmark's own data; raises UnknownName."""
    places: list[Callable[[], Iterable[Sample]]] = [partial(write.load_samples, dataset) for dataset in stored]
    if benchmark.own_data:
        places.append(lambda: benchmark.generate_now({})[1])
    for place in places:
        for sample in place():
            if sample.id == sample_id:
                return sample
    raise UnknownName("sample", sample_id, (), f"look for its id in {len(stored)} stored datasets: cxlab export")


def _usual(samples: Sequence[Sample]) -> list[Sample]:
    """One sample of each task, from the middle of the dataset."""
    by_task: dict[str, list[Sample]] = {}
    for sample in samples:
        by_task.setdefault(sample.task, []).append(sample)
    return [group[len(group) // 2] for group in by_task.values()]


@contextmanager
def _home_of_its_own() -> Iterator[None]:
    """A store that is gone afterwards: to read prompts must leave nothing behind. For a process of its own only."""
    with tempfile.TemporaryDirectory(prefix="cxlab-prompts-") as folder, layout.at(folder):
        yield


def _indent(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
