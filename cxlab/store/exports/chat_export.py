"""Dialogues as training data: chat messages with tool calls, one dialogue a line, and beside each where it is from."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.errors import BadOption
from cxlab.records.offer import Offer
from cxlab.store import catalogue, layout, write
from cxlab.store.connect import open_store, query
from cxlab.store.exports import export
from cxlab.store.exports.sharing import may_pass_on
from cxlab.store.offers import load_offers

if TYPE_CHECKING:
    import duckdb

CHAT, SOURCES = "chat.jsonl", "sources.jsonl"
# What joins a line with the same attempt in other files, and tells what one would train on.
_METADATA = ("run_id", "attempt_id", "sample_id", "model", "verdict")
_ROLES = {"system": "system", "customer": "user", "agent": "assistant", "tool": "tool"}
_TYPES: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null",
}  # fmt: skip


@dataclass(frozen=True)
class ChatFilter:
    """Which dialogues are written; what is empty lets all through.

    `passed`: only those whose verdict says so. `min_score`: only those whose headline is at least so good. `left_out`:
    models that are left out (constant agents). `own_data`: also dialogues of datasets whose licence names no terms
    known here, such as one's own customers' data. `attempts`: only these, as (run, attempt). `headlines`: (benchmark,
    task) → (metric, whether higher is better).
    """

    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    passed: bool = False
    min_score: float | None = None
    left_out: tuple[str, ...] = ()
    simulated: bool = True
    own_data: bool = False
    attempts: frozenset[tuple[str, str]] | None = None
    headlines: Mapping[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)


@dataclass
class ChatExport:
    """What was written: how many dialogues, and how many stayed out for which reason; `licences`: what the written
    ones are under, with how many; `guessed`: of how many the tools are those that were called."""

    written: int = 0
    guessed: int = 0
    stayed_out: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)

    def describe(self) -> list[str]:
        """Lines for a terminal or a page."""
        told = [f"{self.written:,} dialogues written"]
        told += [f"{n:,} stayed out: {reason}" for reason, n in self.stayed_out.most_common()]
        if self.guessed:
            told.append(f"{self.guessed:,} with tools as they were called: their runs kept none that were offered")
        return told + [f"{n:,} under: {licence}" for licence, n in self.licences.most_common()]


def export_chat(wanted: ChatFilter, to: Path | str, home: Path | str | None = None) -> tuple[list[Path], ChatExport]:
    """Write chat.jsonl and sources.jsonl into the folder `to`; the files, and what came of it.

    A line of chat.jsonl has `messages` (OpenAI's chat format: roles system, user, assistant and tool), `metadata` (of
    which attempt it is, by which other exports name it, of which model and with which verdict) and `tools`: what the
    agent was offered, as the run kept it (store/offers.py). The system prompt comes first where all its calls had
    the same one and asked for plain replies; else messages are as stored. Where a run kept no offers, as before
    November 2026, `tools` are those that are called, with the arguments that all dialogues of the benchmark gave them.
    Line n of sources.jsonl says where line n is from, and under which licence, and whether its tools are `offered` or
    `called`. Raises BadOption where `to` is a file.
    """
    folder = Path(to).expanduser().resolve()
    if folder.exists() and not folder.is_dir():
        raise BadOption(f"--to {folder}: is a file; for chat name a folder")
    with export.aside(folder / CHAT) as chat, export.aside(folder / SOURCES) as sources:
        found = ChatExport()
        with chat.open("w", encoding="utf-8") as lines, sources.open("w", encoding="utf-8") as origins:
            for row, line in list_dialogues(wanted, found, home):
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
                origins.write(json.dumps({"line": found.written, **row}, ensure_ascii=False) + "\n")
        chat.replace(folder / CHAT)
        sources.replace(folder / SOURCES)
    return [folder / CHAT, folder / SOURCES], found


def render_chat(wanted: ChatFilter, home: Path | str | None = None) -> bytes:
    """chat.jsonl as `export_chat` writes it."""
    lines = (json.dumps(line, ensure_ascii=False) for _, line in list_dialogues(wanted, ChatExport(), home))
    return "".join(f"{line}\n" for line in lines).encode()


def list_dialogues(
    wanted: ChatFilter, found: ChatExport, home: Path | str | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(where it is from, the line) of each dialogue, by run and attempt; `found` counts what was written and not."""
    base = layout.resolve_home(home)
    runs = list(catalogue.read(base).runs if not wanted.runs else wanted.runs)
    for run_id in runs:
        catalogue.find_run(run_id, base)
    datasets = {dataset.id: dataset for dataset in write.list_datasets(base)}
    con = open_store(base)
    try:
        chosen = []
        for row in _list_attempts(con, runs, wanted).iter_rows(named=True):
            if wanted.attempts is not None and (row["run_id"], row["attempt_id"]) not in wanted.attempts:
                continue
            dataset = datasets.get(row["dataset_id"] or "")
            row["licence"] = dataset.licence if dataset else "not known: its dataset is not stored"
            if reason := _why_not(row, wanted, may_pass_on(dataset) if dataset else None):
                found.stayed_out[reason] += 1
            else:
                chosen.append(row)
        tools = _list_tools(con, runs)
        for run_id in dict.fromkeys(row["run_id"] for row in chosen):
            own = {row["attempt_id"]: row for row in chosen if row["run_id"] == run_id}
            kept = load_offers(run_id, base)
            for attempt_id, messages in _read_messages(con, run_id, own):
                ids = own[attempt_id].pop("offers") or ()
                offers = [kept[id] for id in ids if id in kept] if all(id in kept for id in ids) else []
                line = _to_line(messages, tools.get(own[attempt_id]["benchmark"], {}), offers)
                if line is None:
                    found.stayed_out["nobody answers a customer in it"] += 1
                    continue
                found.written += 1
                if "tools" in line:
                    own[attempt_id]["tools"] = "offered" if offers else "called"
                    found.guessed += not offers
                found.licences[own[attempt_id]["licence"]] += 1
                yield own[attempt_id], line | {"metadata": {name: own[attempt_id][name] for name in _METADATA}}
    finally:
        con.close()


def _why_not(row: Mapping[str, Any], wanted: ChatFilter, open_to_all: bool | None) -> str:
    if wanted.models and row["model"] not in wanted.models:
        return "of another model"
    if row["model"] in wanted.left_out:
        return "of a constant agent"
    if row["simulated"] and not wanted.simulated:
        return "of a simulated model"
    if wanted.passed and row["verdict"] != "passed":
        return "not passed"
    if wanted.min_score is not None:
        higher = wanted.headlines.get((row["benchmark"], row["task"]), ("", True))[1]
        score = row["score"]
        if score is None or (score < wanted.min_score if higher else score > wanted.min_score):
            return "no score, or a worse one"
    if open_to_all is False:
        return "it may not be passed on"
    if open_to_all is None and not wanted.own_data:
        return "own data, which was not asked for, or of no stated licence"
    return ""


def _list_attempts(con: "duckdb.DuckDBPyConnection", runs: list[str], wanted: ChatFilter) -> pl.DataFrame:
    names = [(benchmark, task, metric) for (benchmark, task), (metric, _) in wanted.headlines.items()]
    benchmarks, tasks, metrics = map(list, zip(*names, strict=True)) if names else ([], [], [])
    return query(
        con,
        """
        WITH headlines AS (SELECT unnest($benchmarks::VARCHAR[]) AS benchmark, unnest($tasks::VARCHAR[]) AS task,
            unnest($metrics::VARCHAR[]) AS metric),
        scored AS (
            SELECT s.run_id, s.attempt_id, avg(s.value) AS score
            FROM scores s JOIN headlines h ON s.metric = h.metric JOIN attempts a
                ON a.run_id = s.run_id AND a.attempt_id = s.attempt_id AND a.benchmark = h.benchmark AND a.task = h.task
            WHERE s.turn IS NULL GROUP BY ALL
        )
        SELECT a.run_id, a.attempt_id, a.sample_id, a.benchmark, a.task, a.model, a.simulated, a.verdict, c.score,
            r.dataset_id, a.offers
        FROM attempts a JOIN runs r ON r.run_id = a.run_id
            LEFT JOIN scored c ON c.run_id = a.run_id AND c.attempt_id = a.attempt_id
        WHERE a.run_id IN (SELECT unnest($runs)) ORDER BY a.run_id, a.attempt_id
        """,
        {"runs": runs, "benchmarks": benchmarks, "tasks": tasks, "metrics": metrics},
    )


def _list_tools(con: "duckdb.DuckDBPyConnection", runs: list[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Benchmark → tool → its description, from the calls of agents in these runs."""
    rows = query(
        con,
        "SELECT DISTINCT a.benchmark, m.tool_calls FROM messages m JOIN attempts a USING (run_id, attempt_id) "
        "WHERE m.role = 'agent' AND m.tool_calls IS NOT NULL AND m.run_id IN (SELECT unnest($runs)) ORDER BY ALL",
        {"runs": runs},
    )
    called: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for benchmark, calls in rows.iter_rows():
        for call in json.loads(calls):
            given = _read_arguments(call["arguments"])
            called.setdefault(benchmark, {}).setdefault(call["name"], []).append(given)
    return {
        benchmark: {name: _describe_tool(name, given) for name, given in tools.items()}
        for benchmark, tools in called.items()
    }


def _describe_tool(name: str, calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    kinds: dict[str, set[str]] = {}
    for call in calls:
        for argument, value in call.items():
            kinds.setdefault(argument, set()).add(_TYPES.get(type(value), "string"))
    properties = {
        argument: {"type": next(iter(found)) if len(found) == 1 else sorted(found)}
        for argument, found in sorted(kinds.items())
    }
    required = [argument for argument in properties if all(argument in call for call in calls)]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _read_arguments(arguments: str) -> dict[str, Any]:
    """The arguments of a call; {} where a model wrote something else than an object."""
    try:
        found = json.loads(arguments)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_messages(
    con: "duckdb.DuckDBPyConnection", run_id: str, wanted: Mapping[str, Any]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    frame = query(
        con,
        "SELECT attempt_id, role, text, tool_calls, data FROM messages WHERE run_id = $run AND attempt_id IN "
        "(SELECT unnest($attempts)) ORDER BY attempt_id, seq",
        {"run": run_id, "attempts": list(wanted)},
    )
    for (attempt_id,), part in frame.group_by("attempt_id", maintain_order=True):
        yield str(attempt_id), part.to_dicts()


def _to_line(
    stored: Sequence[Mapping[str, Any]], tools: Mapping[str, Any], offers: Sequence[Offer] = ()
) -> dict[str, Any] | None:
    """A dialogue as a line; None where no agent answers a customer. What customers did with tools of theirs is not in
    it, nor a call that nothing came back for: the format has no place for either."""
    messages: list[dict[str, Any]] = []
    waiting: dict[str, dict[str, Any]] = {}
    for row in stored:
        calls = json.loads(row["tool_calls"]) if row["tool_calls"] else []
        data = json.loads(row["data"]) if row["data"] else {}
        if row["role"] == "tool":
            call = data.get("call") or next(iter(waiting), "")
            if call in waiting and data.get("side") != "customer":
                waiting.pop(call)
                messages.append({"role": "tool", "tool_call_id": call, "content": row["text"]})
            continue
        _drop_unanswered(messages, waiting)
        message: dict[str, Any] = {"role": _ROLES[row["role"]], "content": row["text"] or None}
        if row["role"] == "agent" and calls:
            asked = [
                {"id": call["id"], "type": "function",
                 "function": {"name": call["name"], "arguments": call["arguments"]}}
                for call in calls
            ]  # fmt: skip
            message["tool_calls"] = asked
            waiting = {call["id"]: message for call in asked}
        if message["content"] is not None or "tool_calls" in message:
            messages.append(message)
    _drop_unanswered(messages, waiting)
    answered = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    asked_by = [at for at, message in enumerate(messages) if message["role"] == "user"]
    if not answered or not asked_by or answered[-1] < asked_by[0]:
        return None
    if offers:
        offered = {name: tool for offer in offers for name, tool in zip(offer.tool_names, offer.tools, strict=True)}
        given = list(offered.values())
        prompts = {offer.system for offer in offers}
        if len(prompts) == 1 and all(prompts) and all(offer.chat for offer in offers):
            messages = [{"role": "system", "content": prompts.pop()}, *messages]
    else:
        named = {call["function"]["name"] for message in messages for call in message.get("tool_calls", ())}
        given = [tools[name] for name in sorted(named)]
    return {"messages": messages, **({"tools": given} if given else {})}


def _drop_unanswered(messages: list[dict[str, Any]], waiting: dict[str, dict[str, Any]]) -> None:
    for call, message in waiting.items():
        message["tool_calls"] = [each for each in message["tool_calls"] if each["id"] != call]
        if not message["tool_calls"]:
            del message["tool_calls"]
            if message["content"] is None:
                messages.remove(message)
    waiting.clear()
