"""Do one sample of CXMArena: the six tasks, each one function from inputs to what was answered.

Nothing here looks at what is expected, except which articles a tool task and its judge are given, and the constant
agent that is a floor. Options are listed in `benchmark.py`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from weakref import WeakSet

from pydantic import BaseModel

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.cxmarena.evaluation import (
    constant_answers,
    contradiction_candidates,
    corpus,
    duplicate_detection,
    evaluation_prompts,
)
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.benchmarks.single_answer import make_attempt
from cxlab.errors import UnknownName
from cxlab.llm import ChatModel, Prompt, ask, call, refuses_tools
from cxlab.llm.ask import explain_cut
from cxlab.llm.base import Completion, Reply, Request
from cxlab.llm.parsing import parse_text
from cxlab.records import Attempt, Failure, Sample, Usage, content_id

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
# Servers that refused native tools: for the rest of this process they get them as text.
_TOOLLESS: WeakSet[ChatModel] = WeakSet()
_MOST_FAILURES = 50


@dataclass
class AttemptContext:
    """One attempt under way: who is asked, with which options, and what it has taken so far."""

    setup: Setup
    sample: Sample
    seed: int
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    cost_usd: float | None = 0.0
    failures: list[Failure] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, Any]:
        return self.sample.inputs

    @property
    def options(self) -> CxmOptions:
        return CxmOptions.of(self.setup.options)

    async def ask(self, step: str, prompt: Prompt[In, Out], inputs: In, keep: bool = False) -> Reply[Out]:
        """Ask the model under test and note what it took; `keep`: one of very many, not to be asked again."""
        replies = self.setup.open_replies() if keep and self.setup.open_replies is not None else None
        reply = await ask(self.setup.model, prompt, inputs, seed=self.seed, cache=replies)
        self.note(step, reply.usage, reply.latency_s, reply.cost_usd, reply.failure)
        return reply

    def note(self, step: str, usage: Usage, latency_s: float, cost_usd: float | None, failure: Failure | None) -> None:
        """Add one answer to the attempt's and the step's sums."""
        self.usage = self.usage + usage
        self.latency_s += latency_s
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd
        # One sample may ask thousands of questions; alike failures say no more the fiftieth time.
        if failure is not None and (len(self.failures) < _MOST_FAILURES or failure.type == "budget"):
            self.failures.append(failure)
        had = self.steps.setdefault(step, {"calls": 0, "completion_tokens": None, "latency_s": 0.0, "cost_usd": 0.0})
        had["calls"] += 1
        had["latency_s"] += latency_s
        if usage.completion_tokens is not None:
            had["completion_tokens"] = (had["completion_tokens"] or 0) + usage.completion_tokens
        had["cost_usd"] = None if had["cost_usd"] is None or cost_usd is None else had["cost_usd"] + cost_usd

    async def search(self, query: str, name: str) -> dict[str, Any]:
        """What the query finds by the run's retrieval options: `ranked` articles best first with their `scores` and
        the `spans` of their best pieces, the documents of the first ten `chunks`, and the `index` that was asked.
        """
        found = await corpus.search(
            self.sample.dataset_id,
            name,
            query,
            max(20, self.options.k),
            kind=self.options.retrieval,
            size=self.options.chunk,
            overlap=self.options.overlap,
        )
        self.latency_s += found.seconds
        costs = [one.cost_usd for one in found.spent]
        paid = None if None in costs else sum(cost for cost in costs if cost is not None)
        self.usage = sum((one.usage for one in found.spent), self.usage)
        self.cost_usd = None if self.cost_usd is None or paid is None else self.cost_usd + paid
        if found.spent and (budget := getattr(self.setup.model, "budget", None)) is not None:
            budget.charge(paid)
        self.steps["search"] = {
            # Calls to a server for vectors; an index over words needs none.
            "calls": sum(one.usage.calls for one in found.spent),
            "prompt_tokens": sum((one.usage for one in found.spent), Usage()).prompt_tokens,
            "completion_tokens": None,
            "latency_s": found.seconds,
            "cost_usd": paid,
            "build_s": found.built.seconds,
        }
        return {
            "ranked": [hit.id for hit in found.hits],
            "scores": [round(hit.score, 6) for hit in found.hits],
            "spans": [[hit.chunk.start, hit.chunk.end] for hit in found.hits],
            "chunks": found.chunks,
            "index": found.built.about,
        }


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One attempt at one sample; faults of the provider and unreadable replies are recorded, not raised."""
    if sample.task not in TASKS:
        raise UnknownName("task of cxmarena", sample.task, TASKS)
    started = datetime.now(UTC)
    seed = int(content_id("seed", sample.id, trial, setup.seed), 16) % 2**31
    work = AttemptContext(setup, sample, seed)
    constant = setup.model.name == constant_answers.MODEL
    output = constant_answers.answer(sample) if constant else await TASKS[sample.task](work)
    return make_attempt(
        sample,
        setup,
        trial,
        output={**output, "steps": work.steps},
        failures=work.failures,
        usage=work.usage,
        latency_s=work.latency_s,
        cost_usd=work.cost_usd,
        started=started,
        ended_by=sample.task,
    )


async def kb_refinement(work: AttemptContext) -> dict[str, Any]:
    """Similar and contradictory pairs, the public evaluator's list, and how many pairs each threshold would give."""
    options = work.options
    similarity, threshold = options.similarity, options.threshold
    if threshold is None:
        threshold = duplicate_detection.THRESHOLDS.get(similarity, duplicate_detection.DEFAULT_THRESHOLD)
    method, by, by_model = options.contradictions, options.candidates, options.similar == "model"
    articles = corpus.load(work.sample.dataset_id, work.inputs["corpus"])
    # Seconds of pure computing at the published size, which must not hold up the other attempts.
    contrasts = await asyncio.to_thread(
        contradiction_candidates.propose, articles.texts, similarity, options.neighbours, articles.topics
    )
    asked = [contrast[:2] for contrast in contrasts]
    found = await asyncio.to_thread(duplicate_detection.compare, articles, similarity, options.neighbours, asked=asked)
    candidates = duplicate_detection.choose(found, contrasts, by, options.most)

    async def ask_model(inputs: evaluation_prompts.PairInputs) -> Reply[evaluation_prompts.PairReply]:
        return await work.ask("contradiction", evaluation_prompts.CONTRADICTION, inputs, keep=True)

    async def ask_similar(inputs: evaluation_prompts.PairInputs) -> Reply[evaluation_prompts.SimilarReply]:
        return await work.ask("similar", evaluation_prompts.SIMILAR, inputs, keep=True)

    checked = await duplicate_detection.contradictions(articles, candidates, method, ask_model)
    similar, unread = [list(pair[:2]) for pair in found.pairs if pair.similarity >= threshold], 0
    proposed = {"contradictory": [list(one.pair[:2]) for one in candidates]}
    if by_model:
        wide = threshold - duplicate_detection.WIDER
        near = [pair for pair in found.pairs if pair.similarity >= wide][: options.most]
        proposed["similar"] = [list(pair[:2]) for pair in near]
        similar, unread = await duplicate_detection.repetitions(articles, near, ask_similar)
    cuts = [round(0.3 + 0.05 * step, 2) for step in range(14)]
    return {
        "similar": similar,
        "contradictory": [one["pair"] for one in checked.found],
        "public": [list(pair[:2]) for pair in found.public],
        "pairs": [list(pair) for pair in found.pairs],
        "sweep": [{"threshold": c, "predicted": sum(p.similarity >= c for p in found.pairs)} for c in cuts],
        "shown": checked.found,
        "candidates": len(candidates),
        "proposed": proposed,
        "unread": checked.unread + unread,
        "settings": {
            "similarity": similarity,
            "threshold": threshold,
            "similar": "model" if by_model else "embedding",
            "contradictions": method,
            "candidates": by,
        },
    }


async def intent(work: AttemptContext) -> dict[str, Any]:
    """The label that was said, as it was said; None when the reply could not be read."""
    labels = corpus.candidates(work.sample.dataset_id, work.inputs)
    inputs = evaluation_prompts.IntentInputs(transcript=work.inputs["transcript"], candidates=labels)
    reply = await work.ask("intent", evaluation_prompts.INTENT, inputs)
    said = reply.output
    return {"label": said.intent if said else None, "reason": said.reason if said else "", "raw": reply.raw}


async def quality(work: AttemptContext) -> dict[str, Any]:
    """An answer with evidence for each question, None where there is none."""
    questions = tuple(work.inputs["questions"])
    options = evaluation_prompts.ANSWERS if work.options.na else ("Yes", "No")
    inputs = evaluation_prompts.QualityInputs(
        lines=tuple(evaluation_prompts.NumberedMessage(**line) for line in work.inputs["lines"]),
        questions=questions,
        options=options,
    )
    reply = await work.ask("quality", evaluation_prompts.QUALITY, inputs)
    given = {one.question: one for one in reply.output.answers} if reply.output else {}
    rows = [given.get(number) for number in range(1, len(questions) + 1)]
    return {
        "answers": [row.answer if row else None for row in rows],
        "evidence": [row.evidence if row else [] for row in rows],
        "reasons": [row.reason if row else "" for row in rows],
        "read": reply.output is not None,
        "raw": reply.raw,
    }


async def article_search(work: AttemptContext) -> dict[str, Any]:
    """The articles that the query finds; with `answer=true` an answer from the first of them."""
    name = work.inputs.get("corpus", "search")
    output = await work.search(work.inputs["query"], name)
    if work.options.answer:
        output |= await _respond(work, f"Customer: {work.inputs['query']}", name, output["ranked"])
    return output


async def multi_turn(work: AttemptContext) -> dict[str, Any]:
    """A query for what the customer said last, the articles it finds, and the agent's answer from them."""
    transcript, name = work.inputs["transcript"], work.inputs.get("corpus", "multi_turn")
    style = work.options.query
    if style == "last":
        query = transcript.rpartition("\nCustomer:")[2].removeprefix("Customer:").strip()
    else:
        asked = evaluation_prompts.QueryInputs(transcript=transcript, style=style)
        reply = await work.ask("query", evaluation_prompts.QUERY, asked)
        query = reply.output.text if reply.output else ""
    output: dict[str, Any] = {"query": query, "ranked": [], "chunks": []}
    if query:
        output |= await work.search(query, name)
    if query and work.options.respond:
        output |= await _respond(work, transcript, name, output["ranked"])
    return output


async def _respond(work: AttemptContext, transcript: str, name: str, ranked: list[str]) -> dict[str, Any]:
    articles = corpus.load(work.sample.dataset_id, name)
    shown = [one for one in map(articles.passage, ranked[: work.options.passages]) if one]
    reply = await work.ask(
        "response",
        evaluation_prompts.ANSWER,
        evaluation_prompts.AnswerInputs(transcript=transcript, passages=tuple(shown)),
    )
    return {"response": reply.output.text if reply.output else None, "shown": [passage.id for passage in shown]}


async def tools(work: AttemptContext) -> dict[str, Any]:
    """The calls made for each size of the list of candidates, and what was said where none was made."""
    defined = corpus.tool_definitions(work.sample.dataset_id)
    sizes = list(map(str, work.options.sizes)) or list(work.inputs["candidates"])
    calls: dict[str, list[dict[str, Any]] | None] = {}
    said: dict[str, str] = {}
    name = work.inputs.get("corpus", "multi_turn")
    articles = corpus.load(work.sample.dataset_id, name) if work.inputs["articles"] else None
    given = [articles.passage(one) for one in work.inputs["articles"]] if articles else []
    for size in sizes:
        if size not in work.inputs["candidates"]:
            raise UnknownName("size of the list of tools", size, work.inputs["candidates"])
        inputs = evaluation_prompts.ToolInputs(
            transcript=work.inputs["transcript"],
            articles=tuple(one for one in given if one),
            tools=tuple(defined[tool] for tool in work.inputs["candidates"][size]),
            forced=(work.options.mode or work.inputs.get("mode", "auto")) == "forced",
        )
        calls[size], said[size] = await _call_tools(work, inputs)
    return {"calls": calls, "said": said}


async def _call_tools(
    work: AttemptContext, inputs: evaluation_prompts.ToolInputs
) -> tuple[list[dict[str, Any]] | None, str]:
    """Natively where the server can, else as JSON; None when nothing readable came."""
    model, way = work.setup.model, work.options.tool_calls
    if way == "native" or (way == "auto" and model not in _TOOLLESS):
        request = Request(
            messages=evaluation_prompts.TOOLS.render(inputs),
            tools=list(inputs.tools),
            require_tool=inputs.forced,
            temperature=evaluation_prompts.TOOLS.temperature,
            seed=work.seed,
            prompt=evaluation_prompts.TOOLS,
            inputs=inputs,
        )
        done = await call(model, request)
        if done.completion is not None or not refuses_tools(done.failure) or way == "native":
            failure = done.failure if done.completion is None else _find_unread(done.completion, model)
            work.note("tools", done.usage, done.latency_s, done.cost_usd, failure)
            if done.completion is None:
                return None, ""
            made = [{"name": one.name, "arguments": one.arguments} for one in done.completion.tool_calls]
            return made if made or failure is None else None, done.completion.text
        _TOOLLESS.add(model)
    reply = await work.ask("tools", evaluation_prompts.TOOLS_JSON, inputs.model_copy(update={"as_text": True}))
    if reply.output is None:
        return None, reply.raw
    return [one.model_dump() for one in reply.output.calls], reply.output.message


def _find_unread(said: Completion, model: ChatModel) -> Failure | None:
    """Why a reply to tools is none: it says nothing, was cut off or declined, or gives arguments that are no JSON
    object. Words alone, where a call was due, can be read."""
    if not said.tool_calls:
        return explain_cut(parse_text(said.text, said.finish_reason)[1], model, said)
    broken = next((one for one in said.tool_calls if not _is_object(one.arguments)), None)
    if broken is None:
        return None
    told = f"the arguments of {broken.name[:60]!r} are no JSON object: {broken.arguments[:120]!r}"
    kind = "truncated" if said.finish_reason == "length" else "bad_arguments"
    return explain_cut(Failure(where="format", type=kind, message=told), model, said)


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except ValueError:
        return False


TASKS: Mapping[str, Callable[[AttemptContext], Awaitable[dict[str, Any]]]] = {
    "kb_refinement": kb_refinement,
    "intent": intent,
    "quality": quality,
    "article_search": article_search,
    "multi_turn": multi_turn,
    "tools": tools,
}
