"""The samples of the six tasks, from what was generated: conversations, labels, queries, tools, refinement corpus.

    samples = make(dataset_id, corpus, conversations, labels, queries, tools, seed, noisy={id: NoisyConversation})

Transcripts are the served ones: where a conversation has noise, lines, histories and evidence are those of the noisy
messages. Each conversation gives at most one multi-turn sample and one choice of tools, drawn at random.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.cxmarena.brand.ledger import rng_for
from cxlab.benchmarks.cxmarena.conversations.noise import NoisyConversation
from cxlab.benchmarks.cxmarena.conversations.transcripts import carry, number, served, transcript
from cxlab.benchmarks.cxmarena.knowledge.refinement_corpus import RefinementCorpus
from cxlab.benchmarks.cxmarena.tasks.search_queries import Query
from cxlab.records import Conversation, Sample, ToolCall, content_id

# Table 8: conversations in each task, of 1,994; and how many at least, so that a small set says something.
SHARES = {"intent": 979 / 1994, "quality": 1987 / 1994, "multi_turn": 566 / 1994, "tools": 456 / 1994}
FEWEST = 40
# Table 7: tools to choose from.
SIZES = (16, 32, 64, 96, 128)
# A row asks three or four questions (5,199 rows for 1,987 conversations), and evidence names five lines at most.
ROW, MOST_EVIDENCE = (3, 4), 5
# A fact that more articles state than the first cutoff looks at cannot be found whole, so no turn asks for it.
MOST_ARTICLES = 10
SAMPLERS = ("popular", "random")
SampleDraft = tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]


def make(
    dataset_id: str,
    corpus: RefinementCorpus | None,
    conversations: Sequence[Conversation],
    labels: Mapping[str, Mapping[str, str]],
    queries: Sequence[Query],
    tools: Sequence[Mapping[str, Any]],
    seed: int,
    noisy: Mapping[str, NoisyConversation] | None = None,
    language: str = "en",
    shares: Mapping[str, float] | None = None,
) -> list[Sample]:
    """All samples; `shares` of the conversations by task replace the published ones."""
    part = {**SHARES, **(shares or {})}
    shown = {c.id: served(c, (noisy or {}).get(c.id)) for c in conversations}
    drafts: list[SampleDraft] = []
    if corpus is not None and (corpus.similar or corpus.contradictory):
        drafts.append(refine(corpus))
    for task, derive in (
        ("intent", lambda c: _intents(c, shown[c.id], labels.get(c.id, {}))),
        ("quality", lambda c: _quality(c, shown[c.id], seed)),
        ("multi_turn", lambda c: _multi_turn(c, shown[c.id], seed)),
        ("tools", _tool_task(conversations, shown, tools, seed)),
    ):
        wanted = max(round(part[task] * len(conversations)), min(FEWEST, len(conversations)))
        drafts += _take(conversations, derive, wanted, task, seed)
    for query in queries:
        inputs = {"query": query["query"], "corpus": "search"}
        expected = {"article_id": query["article_id"], "answer": query["answer"]}
        drafts.append(("article_search", inputs, expected, {}))
    return [_sample(dataset_id, language, *one) for one in drafts]


def place(samples: Sequence[Sample], dataset_id: str) -> list[Sample]:
    """The samples in a dataset whose id is known only after them."""
    return [sample.model_copy(update={"dataset_id": dataset_id}) for sample in samples]


def _take(
    conversations: Sequence[Conversation], derive: Any, wanted: int, task: str, seed: int
) -> Iterable[SampleDraft]:
    """Samples of the first `wanted` conversations that give any, in a drawn order; given in the data's order."""
    taken: dict[int, list[SampleDraft]] = {}
    for n in rng_for("task", task, seed).permutation(len(conversations)).tolist():
        if len(taken) >= wanted:
            break
        if made := derive(conversations[n]):
            taken[n] = made
    return [one for n in sorted(taken) for one in taken[n]]


def _sample(
    dataset_id: str, language: str, task: str, inputs: dict[str, Any], expected: dict[str, Any], facets: dict[str, Any]
) -> Sample:
    return Sample(
        id=content_id(task, inputs, expected),
        dataset_id=dataset_id,
        benchmark="cxmarena",
        task=task,
        inputs=inputs,
        expected=expected,
        facets={"scenario": task, "language": language, **facets},
    )


def refine(corpus: RefinementCorpus) -> SampleDraft:
    """The one sample of a refinement corpus."""
    gold = {"similar": [list(p) for p in corpus.similar], "contradictory": [list(p) for p in corpus.contradictory]}
    return "kb_refinement", {"corpus": "refinement"}, gold, {}


def _facets(conversation: Conversation, **more: Any) -> dict[str, Any]:
    issue = conversation.labels.get("issue")
    return {"intent": str(issue) if issue else None, "modality": conversation.channel, **more}


def _intents(conversation: Conversation, shown: NoisyConversation, labels: Mapping[str, str]) -> list[SampleDraft]:
    """One sample a taxonomy; the candidates are read from the taxonomies' table."""
    said = transcript(shown.messages)
    return [
        (
            "intent",
            {"transcript": said, "taxonomy": taxonomy, "conversation_id": conversation.id},
            {"label": label},
            _facets(conversation, level=taxonomy, intent=label),
        )
        for taxonomy, label in sorted(labels.items())
    ]


def _quality(conversation: Conversation, shown: NoisyConversation, seed: int) -> list[SampleDraft]:
    """Rows of three or four questions in a drawn order; evidence of a Yes as numbers of the served lines."""
    asked = list(conversation.labels.get("quality") or ())
    rng = rng_for("quality", seed, conversation.id)
    asked = [asked[n] for n in rng.permutation(len(asked)).tolist()]
    rows, places = number(shown.messages)
    found: list[SampleDraft] = []
    while asked:
        row, asked = _cut(asked, int(rng.choice(ROW)))
        evidence = [
            carry(shown, places, one.get("evidence") or ())[:MOST_EVIDENCE] if one["answer"] == "Yes" else []
            for one in row
        ]
        inputs = {"lines": rows, "questions": [one["question"] for one in row], "conversation_id": conversation.id}
        expected = {"answers": [one["answer"] for one in row], "evidence": evidence}
        found.append(("quality", inputs, expected, _facets(conversation)))
    return found


def _cut(asked: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    """The next row and what remains."""
    return asked[:count], asked[count:]


def _multi_turn(conversation: Conversation, shown: NoisyConversation, seed: int) -> list[SampleDraft]:
    """The history up to what the customer said before one grounded answer, its articles, and the answer."""
    turns = []
    for index, message in enumerate(conversation.messages):
        sources = message.data.get("sources") or conversation.grounding.get(index, ())
        grounded = message.role == "agent" and message.data.get("class") == "knowledge_base" and message.text.strip()
        before = _asked_at(conversation, index)
        if grounded and 0 < len(sources) <= MOST_ARTICLES and before is not None:
            turns.append((message.text, list(dict.fromkeys(sources)), before))
    said = conversation.messages
    if any("asks" in message.data for message in said):
        # Only where the customer wants to know something is there something to look up; "Fine." asks for nothing.
        turns = [turn for turn in turns if said[turn[2]].data.get("asks")]
    turns = [turn for turn in turns if "?" in said[turn[2]].text] or turns
    if not turns:
        return []
    text, sources, before = turns[int(rng_for("multi_turn", seed, conversation.id).integers(len(turns)))]
    history = transcript(shown.messages[: shown.places(before)[-1] + 1])
    inputs = {"transcript": history, "corpus": "multi_turn", "conversation_id": conversation.id}
    return [("multi_turn", inputs, {"article_ids": sources, "answer": text}, _facets(conversation))]


def _asked_at(conversation: Conversation, index: int) -> int | None:
    """The place of the customer's message right before clean message `index`; None if the agent spoke since."""
    before = index - 1
    while before >= 0 and conversation.messages[before].role in ("tool", "system"):
        before -= 1
    return before if before >= 0 and conversation.messages[before].role == "customer" else None


def _tool_task(
    conversations: Sequence[Conversation],
    shown: Mapping[str, NoisyConversation],
    tools: Sequence[Mapping[str, Any]],
    seed: int,
) -> Any:
    """A function that gives a conversation's choice of tools, once for each sampler of the other candidates."""
    catalogue = [str(tool["function"]["name"]) for tool in tools]
    known = set(catalogue)
    used = Counter(call.name for c in conversations for m in c.messages for call in m.tool_calls if call.name in known)
    popular = sorted(catalogue, key=lambda name: (-used[name], name))

    def derive(conversation: Conversation) -> list[SampleDraft]:
        rng = rng_for("tools", seed, conversation.id)
        moments = [
            (calls, history)
            for index, message in enumerate(conversation.messages)
            if message.role == "agent"
            and (calls := _calls(message.tool_calls, known))
            and (history := _before_call(conversation, shown[conversation.id], index))
        ]
        if not moments:
            return []
        calls, history = moments[int(rng.integers(len(moments)))]
        right = [call["name"] for call in calls]
        shuffled = [catalogue[n] for n in rng.permutation(len(catalogue)).tolist()]
        return [
            (
                "tools",
                {
                    "transcript": history,
                    "articles": _articles(conversation),
                    "candidates": candidates(right, order, catalogue),
                    "sampler": sampler,
                    "mode": "auto",
                    "conversation_id": conversation.id,
                },
                {"tools": [_mark(call, history) for call in calls]},
                _facets(conversation, sampler=sampler),
            )
            for sampler, order in zip(SAMPLERS, (popular, shuffled), strict=True)
        ]

    return derive


def _calls(made: Sequence[ToolCall], known: set[str]) -> list[dict[str, Any]]:
    """The calls with their arguments; none when a tool is not in the catalogue or its arguments are no object."""
    found = []
    for call in made:
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError:
            return []
        if call.name not in known or not isinstance(arguments, dict):
            return []
        found.append({"name": call.name, "arguments": arguments})
    return found


def _mark(call: dict[str, Any], history: str) -> dict[str, Any]:
    """The call with the names of the arguments that the history does not tell: the agent knew them from elsewhere, or
    they were misheard. Any value of theirs is right."""
    heard = " ".join(line.partition(": ")[2] for line in history.splitlines()).casefold()
    free = [name for name, value in call["arguments"].items() if str(value).casefold() not in heard]
    return {**call, "free": free} if free else call


def _before_call(conversation: Conversation, shown: NoisyConversation, index: int) -> str:
    """The history up to the customer's last message before a call; "" when another call came in between."""
    for before in range(index - 1, -1, -1):
        message = conversation.messages[before]
        if message.role == "customer":
            return transcript(shown.messages[: shown.places(before)[-1] + 1])
        if message.tool_calls:
            return ""
    return ""


def _articles(conversation: Conversation) -> list[str]:
    """The issue's article first, then what the agent had at hand."""
    agent = (conversation.persona or {}).get("agent") or {}
    issue = conversation.labels.get("issue_article")
    return list(dict.fromkeys([*([issue] if issue else []), *(agent.get("articles") or ())]))


def candidates(right: Sequence[str], order: Sequence[str], catalogue: Sequence[str]) -> dict[str, list[str]]:
    """The right tools and the first of the order for each size, every list within the next; in the catalogue's order.

    Sizes beyond the catalogue are left out; a catalogue smaller than all of them is one list.
    """
    line = [*dict.fromkeys(right), *(name for name in order if name not in set(right))]
    sizes = [n for n in SIZES if n <= len(line)] or [SIZES[0]]
    place = {name: n for n, name in enumerate(catalogue)}
    return {str(n): sorted(line[:n], key=lambda name: place[name]) for n in sizes}


__all__ = ["SAMPLERS", "SHARES", "SIZES", "candidates", "make", "place", "refine"]
