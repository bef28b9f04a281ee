"""Function calling: one call of a tool in each reply, natively or in words (`Action`, `Action Input`).

Natively the first call of a reply counts and the others are left out. A server that refuses tools is asked in words
from then on, where that was left open. A reply without a call is sent back, and counts.
"""

from __future__ import annotations

import json
import re
import weakref
from typing import Any

from cxlab.benchmarks.crmarena.agents.conversation import AgentConversation
from cxlab.benchmarks.crmarena.agents.episode import Episode, read_arguments
from cxlab.benchmarks.crmarena.agents.tagged import show
from cxlab.benchmarks.crmarena.prompts import agent_prompts
from cxlab.benchmarks.crmarena.prompts.agent_prompts import ToolInputs
from cxlab.llm import ChatModel, ModelCall, call, refuses_tools
from cxlab.llm.ask import explain_cut
from cxlab.llm.base import Completion
from cxlab.llm.parsing import parse_text, without_thinking
from cxlab.records import CallTotals, Failure, ToolCall

# In bold, in quotes, with brackets behind the name or the namespace that some put before it.
_ACTION = re.compile(
    r"^[\s*_#>-]*Action\s*[*_]*\s*:[\s*_`\"']*(?:functions?\.)?([A-Za-z_]\w*?)(?:\(\))?[*_`\"'.]*\s*$",
    re.MULTILINE | re.IGNORECASE,
)
_INPUT = re.compile(r"Action\s+Input\s*[*_]*\s*:[\s*_]*", re.IGNORECASE)
# What models that were taught to reason and act write instead of calling submit.
_FINAL = re.compile(r"^[\s*_#>-]*Final answer\s*[*_]*\s*:[\s*_]*(\S.*?)[*_]*\s*\Z", re.MULTILINE | re.IGNORECASE)
# Models whose server refused tools.
_TOOLLESS: weakref.WeakSet[Any] = weakref.WeakSet()


async def play(episode: Episode, model: ChatModel, inputs: ToolInputs, seed: int, way: str) -> None:
    """Ask, carry out and show, until there is an answer or no reply is left. `way`: auto, native or text."""
    if way == "text" or (way == "auto" and model in _TOOLLESS):
        await _play_in_words(episode, model, inputs, seed)
        return
    talk = AgentConversation(model, agent_prompts.TOOLS, inputs, seed, inputs.tools)
    while not episode.ended:
        done = await call(model, talk.request(episode))
        if way == "auto" and episode.turn == 0 and refuses_tools(done.failure):
            _TOOLLESS.add(model)
            episode.totals = episode.totals + CallTotals(
                usage=done.usage, latency_s=done.latency_s, cost_usd=done.cost_usd
            )
            await _play_in_words(episode, model, inputs, seed)
            return
        await take_native(episode, talk, done)


async def take_native(episode: Episode, talk: AgentConversation, done: ModelCall) -> None:
    """Take up one reply to tools offered natively."""
    took = episode.count(done)
    if done.completion is None:
        return
    said = done.completion
    text = without_thinking(said.text).strip()
    if not said.tool_calls:
        send_back(episode, talk.model, said, text, took, agent_prompts.WRONG_FORM_TOOLS)
        talk.add(text, agent_prompts.WRONG_FORM_TOOLS)
        return
    first = said.tool_calls[0]
    action = first if first.id else first.model_copy(update={"id": f"call_{episode.turn}"})
    episode.say(text, took, action, reasoning=said.reasoning, ignored=len(said.tool_calls) - 1)
    cut = Failure(where="format", type="truncated", message="a call was cut off at the token limit")
    seen = await episode.act(action, explain_cut(cut, talk.model, said) if said.finish_reason == "length" else None)
    talk.messages.append(
        {
            "role": "assistant",
            "content": text or None,
            "tool_calls": [
                {
                    "id": action.id,
                    "type": "function",
                    "function": {"name": action.name, "arguments": _sendable(action.arguments)},
                }
            ],
        }
    )
    talk.messages.append({"role": "tool", "tool_call_id": action.id, "content": seen.text})


def send_back(episode: Episode, model: ChatModel, said: Completion, text: str, took: CallTotals, reminder: str) -> None:
    """Note a reply without a call, and remind of the form."""
    _, failure = parse_text(said.text, said.finish_reason)
    if failure is None:
        failure = Failure(where="format", type="no_action", message="no call of a tool")
    episode.say(text, took, reasoning=said.reasoning)
    episode.remind(reminder, explain_cut(failure, model, said) or failure)


async def _play_in_words(episode: Episode, model: ChatModel, inputs: ToolInputs, seed: int) -> None:
    talk = AgentConversation(model, agent_prompts.TOOLS_TEXT, inputs.model_copy(update={"as_text": True}), seed)
    while not episode.ended:
        done = await call(model, talk.request(episode))
        took = episode.count(done)
        if done.completion is None:
            return
        text = without_thinking(done.completion.text).strip()
        thought, action = read_written_call(text, episode.turn)
        if action is None:
            send_back(episode, model, done.completion, text, took, agent_prompts.WRONG_FORM_TEXT)
            talk.add(text, agent_prompts.WRONG_FORM_TEXT)
            continue
        raw = text if text != write_call(thought, action) else None
        more = len(_ACTION.findall(text)) - 1
        episode.say(thought, took, action, raw=raw, reasoning=done.completion.reasoning, ignored=max(0, more))
        talk.add(text, show((await episode.act(action)).text))


def read_written_call(text: str, turn: int) -> tuple[str, ToolCall | None]:
    """(thought, the first call) of a reply in words; the arguments are taken up to where their JSON object ends.

    A reply without a call whose last line is "Final answer: …" submits that.
    """
    found = _ACTION.search(text)
    if found is None:
        if (answer := _FINAL.search(text)) is None:
            return text, None
        said = answer[1] if " " in answer[1] else answer[1].rstrip(".")
        content = json.dumps({"content": said.strip("`\"'")}, ensure_ascii=False)
        return text[: answer.start()].strip(), ToolCall(id=f"call_{turn}", name="submit", arguments=content)
    thought = text[: found.start()].strip()
    given = _INPUT.search(text, found.end())
    arguments = "{}"
    if given is not None:
        rest = text[given.end() :].strip().removeprefix("```json").removeprefix("```").strip()
        try:
            _, end = json.JSONDecoder().raw_decode(rest)
            arguments = rest[:end]
        except ValueError:
            arguments = rest
    return thought, ToolCall(id=f"call_{turn}", name=found[1], arguments=arguments)


def write_call(thought: str, call: ToolCall) -> str:
    """The reply in words that says just this."""
    before = f"{thought}\n" if thought else ""
    return f"{before}Action: {call.name}\nAction Input: {call.arguments}"


def _sendable(arguments: str) -> str:
    """Servers refuse a history whose arguments are no JSON object; what was wrong stands in the result."""
    return "{}" if read_arguments(arguments)[1] is not None else arguments
