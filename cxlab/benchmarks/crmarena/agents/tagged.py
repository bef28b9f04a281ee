"""Act and ReAct: replies with tags, `<thought>`, `<execute>` with a query, `<submit>` with the answer.

A query is looked for first, so a reply with both asks its query; the first tag of a kind counts. `<respond>` is
another name of `<submit>`. A last tag that is not closed goes to the end of the reply, as where a server stops at the
closing one. A reply with neither is sent back, and counts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from cxlab.benchmarks.crmarena.agents.conversation import AgentConversation
from cxlab.benchmarks.crmarena.agents.episode import Episode
from cxlab.benchmarks.crmarena.prompts import agent_prompts
from cxlab.benchmarks.crmarena.soql.search_parser import is_search
from cxlab.llm import call
from cxlab.llm.ask import explain_cut
from cxlab.llm.parsing import parse_text, without_thinking
from cxlab.records import Failure, ToolCall

_EXECUTE = re.compile(r"<execute>(.*?)(?:</execute>|\Z)", re.DOTALL | re.IGNORECASE)
_SUBMIT = re.compile(r"<(submit|respond)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"<thought>(.*?)</thought>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^```\w*\s*|\s*```$")


@dataclass(frozen=True)
class TaggedReply:
    """What a reply says; neither `query` nor `answer` where it has no action. `actions` it names in all."""

    thought: str
    query: str | None = None
    answer: str | None = None
    actions: int = 0


def read_reply(text: str) -> TaggedReply:
    """The thought and the one action of a reply."""
    found = _THOUGHT.search(text)
    thought = found[1].strip() if found else ""
    queries, answers = _EXECUTE.findall(text), _SUBMIT.findall(text)
    count = len(queries) + len(answers)
    if queries and (query := _FENCE.sub("", queries[0].strip()).strip()):
        return TaggedReply(thought, query=query, actions=count)
    if answers and not queries:
        return TaggedReply(thought, answer=_FENCE.sub("", answers[0][1].strip()).strip(), actions=count)
    return TaggedReply(thought)


def write_reply(said: TaggedReply) -> str:
    """The reply that says just this."""
    thought = f"<thought>{said.thought}</thought>\n" if said.thought else ""
    action = f"<execute>{said.query}</execute>" if said.query is not None else f"<submit>{said.answer}</submit>"
    return thought + action


async def play(episode: Episode, talk: AgentConversation) -> None:
    """Ask, carry out and show, until there is an answer or no reply is left."""
    while not episode.ended:
        done = await call(talk.model, talk.request(episode))
        took = episode.count(done)
        if done.completion is None:
            return
        text = without_thinking(done.completion.text)
        # What was cut off at a limit is no tag left open.
        cut = done.completion.finish_reason == "length" and not text.rstrip().endswith(">")
        said, reasoning = TaggedReply("") if cut else read_reply(text), done.completion.reasoning
        if said.query is None and said.answer is None:
            _, failure = parse_text(done.completion.text, done.completion.finish_reason)
            if failure is None:
                failure = Failure(where="format", type="no_action", message="neither a query nor an answer in tags")
            episode.say(text, took, reasoning=reasoning)
            episode.remind(
                agent_prompts.WRONG_FORM_QUERIES,
                explain_cut(failure, talk.model, done.completion) or failure,
            )
            talk.add(text, agent_prompts.WRONG_FORM_QUERIES)
            continue
        raw = text if text.strip() != write_reply(said) else None
        action = _to_call(said, episode.turn)
        episode.say(said.thought, took, action, raw=raw, reasoning=reasoning, ignored=max(0, said.actions - 1))
        if said.answer is not None and said.query is None:
            episode.submit(said.answer)
            return
        talk.add(text, show((await episode.act(action)).text))


def show(observation: str) -> str:
    """An observation as the agent reads it."""
    return f"<observation>\n{observation}\n</observation>"


def _to_call(said: TaggedReply, turn: int) -> ToolCall:
    if said.query is None:
        return ToolCall(
            id=f"call_{turn}", name="submit", arguments=json.dumps({"content": said.answer}, ensure_ascii=False)
        )
    name = "issue_sosl_query" if is_search(said.query) else "issue_soql_query"
    return ToolCall(id=f"call_{turn}", name=name, arguments=json.dumps({"query": said.query}, ensure_ascii=False))
