"""What a server sends as a completion, whole or in pieces, read leniently: a slip in form must not lose the words."""

import json
from collections.abc import Mapping
from typing import Any

from cxlab.llm.base import Completion
from cxlab.llm.faults import FaultKind, RetryFault, kind_of_status
from cxlab.records import ToolCall, Usage

DONE = "[DONE]"


def read_completion(body: Any, latency_s: float) -> Completion:
    """A completion of a reply's decoded body; raises Interrupted for what is none."""
    if fault := fault_in(body):
        raise fault
    choice = _first(body)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict):
        raise RetryFault(FaultKind("bad_reply", True), "the server's reply holds no message")
    finish_reason = choice.get("finish_reason")
    text = _text(message.get("content"))
    if message.get("refusal"):
        text, finish_reason = str(message["refusal"]), "refusal"
    calls, usage = _tool_calls(message.get("tool_calls")), read_usage(body.get("usage"))
    return Completion(text, calls, usage, latency_s, finish_reason, _reasoning(message))


def read_listed(content: bytes) -> tuple[str, ...]:
    """The names of the models that a server lists; () where it says something else, as some do that take any name."""
    try:
        rows = json.loads(content)["data"]
        return tuple(str(row["id"]) for row in rows)
    except (ValueError, KeyError, TypeError):
        return ()


def fault_in(body: Any) -> RetryFault | None:
    """The fault that some gateways report with HTTP 200, or in the middle of a stream."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    said = f"HTTP 200 with error {code}: {error.get('message')}"
    return RetryFault(kind_of_status(status, str(code), said), said, None, status)


class StreamedCompletion:
    """A completion that comes in pieces: `text` is what there is of it so far."""

    def __init__(self) -> None:
        self.text = ""
        self.finished = False
        self._refusal = self._thought = ""
        self._finish_reason: str | None = None
        self._calls: list[dict[str, str]] = []
        self._places: dict[int, int] = {}
        self._usage: Any = None

    def add_line(self, line: str) -> bool:
        """Take a line of an event stream; True when the text has grown. Raises Interrupted."""
        if not line.startswith("data:"):
            return False  # comments that keep a connection alive, names of events, blank lines
        data = line[len("data:") :].strip()
        if data == DONE:
            self.finished = True
            return False
        try:
            piece = json.loads(data)
        except ValueError:
            raise RetryFault(
                FaultKind("bad_reply", True), f"a piece of the stream is not JSON: {data[:100]!r}"
            ) from None
        return self.add(piece)

    def add(self, piece: Any) -> bool:
        """Take a decoded piece; True when the text has grown. Raises Interrupted for a fault that it reports."""
        if fault := fault_in(piece):
            raise fault
        if isinstance(piece, dict) and isinstance(piece.get("usage"), dict):
            # Some servers count on with every piece, some send the sum at the end: the last one holds.
            self._usage = piece["usage"]
        choice = _first(piece)
        if choice is None:
            return False
        if choice.get("finish_reason"):
            self._finish_reason, self.finished = str(choice["finish_reason"]), True
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return False
        for one in delta.get("tool_calls") or ():
            self._add_call(one)
        self._refusal += delta["refusal"] if isinstance(delta.get("refusal"), str) else ""
        self._thought += _reasoning(delta)
        more = _text(delta.get("content"))
        self.text += more
        return bool(more)

    def _add_call(self, piece: Any) -> None:
        """Calls are told apart by their index; where a server sends none, a new id begins a new call."""
        if not isinstance(piece, Mapping):
            return
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        id, name, arguments = piece.get("id"), function.get("name"), function.get("arguments")
        index = piece.get("index")
        if isinstance(index, int):
            place = self._places.setdefault(index, len(self._calls))
        elif self._calls and (not id or self._calls[-1]["id"] == str(id)):
            place = len(self._calls) - 1
        else:
            place = len(self._calls)
        if place == len(self._calls):
            self._calls.append({"id": "", "name": "", "arguments": ""})
        call = self._calls[place]
        call["id"] = call["id"] or str(id or "")
        # The name comes whole with the first piece; servers that repeat it must not double it.
        call["name"] = call["name"] or str(name or "")
        if arguments is not None:
            call["arguments"] += arguments if isinstance(arguments, str) else json.dumps(arguments)

    def body(self) -> dict[str, Any]:
        """The reply as it would have come whole."""
        calls = [
            {"id": one["id"], "function": {"name": one["name"], "arguments": one["arguments"]}} for one in self._calls
        ]
        message = {
            "content": self.text,
            "refusal": self._refusal or None,
            "tool_calls": calls,
            "reasoning": self._thought,
        }
        return {"choices": [{"message": message, "finish_reason": self._finish_reason}], "usage": self._usage}


def _first(body: Any) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _reasoning(message: Mapping[str, Any]) -> str:
    """What the model thought aloud, by either of the names that servers give it."""
    return _text(message.get("reasoning_content")) or _text(message.get("reasoning"))


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    """Tool calls with their arguments as the text that was emitted; whoever runs them parses it."""
    found = []
    for number, one in enumerate(calls if isinstance(calls, list) else [], 1):
        function = one.get("function") if isinstance(one, dict) else None
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments) if arguments is not None else ""
        found.append(
            ToolCall(
                id=str(one.get("id") or f"call-{number}"), name=str(function.get("name") or ""), arguments=arguments
            )
        )
    return tuple(found)


def read_usage(reported: Any) -> Usage:
    """The tokens of one call as a server counts them.

    Most count reasoning into the completion; those that count it beside, which shows in their total, are set right.
    """

    def count(holder: Any, key: str) -> int | None:
        value = holder.get(key) if isinstance(holder, dict) else None
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def detail(part: str, key: str) -> int | None:
        return count(reported.get(f"{part}_tokens_details") if isinstance(reported, dict) else None, key)

    prompt, completion, total = (count(reported, f"{part}_tokens") for part in ("prompt", "completion", "total"))
    reasoning = detail("completion", "reasoning_tokens")
    if prompt and completion is not None and reasoning and total == prompt + completion + reasoning:
        completion += reasoning
    cached = detail("prompt", "cached_tokens")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        calls=1,
        cached_tokens=count(reported, "prompt_cache_hit_tokens") if cached is None else cached,
        reasoning_tokens=reasoning,
    )
