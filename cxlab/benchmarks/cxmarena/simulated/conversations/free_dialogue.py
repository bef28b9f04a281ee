"""How a stand-in plays both sides of a conversation without a script: plainly, from what the prompt says.

The agent answers with the sentence of its articles that shares most words with the question, asks for what a tool
needs, calls it, tells what came back, and closes. The customer says its problem, tells what it is asked for, asks its
questions, and leaves when there is nothing more. Enough to go through a conversation and read its prompts; nothing to
learn from about conversations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.conversations.written_dialogue_prompts import AgentMessageInputs, CustomerMessageInputs
from cxlab.benchmarks.cxmarena.text import content, sentences
from cxlab.llm.simulated import Profile

# Language → what is said beside the matter; "{}" is filled in.
WORDS = {
    "English": {
        "hello": "Good morning.",
        "help": "I am sorry to hear that. I will see what I can do.",
        "ask": "Could you tell me: {}?",
        "wait": "I am looking that up now.",
        "found": "This is what I see: {}.",
        "close": "That is all from my side. Goodbye.",
        "farewell": "All the best.",
        "problem": "Hello, {}.",
        "unknown": "I do not know that.",
        "go_on": "All right.",
        "bye": "Thank you, goodbye.",
    },
    "French": {
        "hello": "Bonjour.",
        "help": "Je le regrette. Je vais voir ce que je peux faire.",
        "ask": "Pouvez-vous me dire : {} ?",
        "wait": "Je regarde tout de suite.",
        "found": "Voici ce que je vois : {}.",
        "close": "C'est tout de mon côté. Au revoir.",
        "farewell": "Bonne journée.",
        "problem": "Bonjour, {}.",
        "unknown": "Je ne le sais pas.",
        "go_on": "D'accord.",
        "bye": "Merci, au revoir.",
    },
    "German": {
        "hello": "Guten Tag.",
        "help": "Das tut mir leid. Ich sehe, was ich tun kann.",
        "ask": "Können Sie mir sagen: {}?",
        "wait": "Ich sehe gleich nach.",
        "found": "Das sehe ich hier: {}.",
        "close": "Das war von meiner Seite alles. Auf Wiedersehen.",
        "farewell": "Alles Gute.",
        "problem": "Guten Tag, {}.",
        "unknown": "Das weiß ich nicht.",
        "go_on": "Gut.",
        "bye": "Danke, auf Wiedersehen.",
    },
}
_BEGUN = re.compile(r"^(?:D(?:er|ie|as)|Ein|Eine|Mein|Meine|Ich|Wir)\b")
_NEED = re.compile(r"^(\w+) \((.*)\)$", re.DOTALL)


def agent(inputs: AgentMessageInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The agent's next message, as JSON."""
    del profile, rng
    words = WORDS.get(inputs.language, WORDS["English"])
    lines = inputs.history.splitlines()
    last = lines[-1] if lines else ""
    called = [line for line in lines if line.startswith("(")]
    said: dict[str, object] = {"reason": "It is next.", "kind": "general", "sources": [], "call": None}
    if last.startswith("("):
        found = json.loads(last.partition(": ")[2][:-1])
        return _dump(said, words["found"].format("; ".join(map(str, found.values())) or "✓"))
    known = _closest(last, inputs)
    hello = f"{words['hello']} " if len(lines) <= 1 else ""
    if known is not None and "?" in last:
        name, sentence = known
        more = {"kind": "knowledge_base", "sources": [{"article": name, "words": sentence}]}
        return _dump({**said, **more}, hello + sentence)
    if hello:
        # A trouble that was told asks nothing that a sentence of an article would answer.
        return _dump(said, hello + words["help"])
    if inputs.tools and not called:
        tool = inputs.tools[0]
        needs = {m[1]: m[2] for need in tool.needs if (m := _NEED.match(need))}
        asked = words["ask"].format("; ".join(needs.values()))
        if not any(asked in line for line in lines):
            return _dump({**said, "kind": "tool_information_gathering"}, asked)
        told = "\n".join(line for line in lines if line.startswith("Customer: "))
        values = {name: _value(told, about) for name, about in needs.items()}
        return _dump({**said, "kind": "tool_call", "call": {"name": tool.name, "arguments": values}}, words["wait"])
    closed = any(words["close"] in line for line in lines)
    return _dump(said, words["farewell"] if closed else words["close"])


def customer(inputs: CustomerMessageInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The customer's next message, as JSON."""
    del profile, rng
    words = WORDS.get(inputs.language, WORDS["English"])
    if not inputs.history:
        # After a comma no sentence begins: "Guten Tag, das Rad …".
        problem = _BEGUN.sub(lambda first: first[0].lower(), inputs.problem)
        return json.dumps({"message": words["problem"].format(problem), "finished": False}, ensure_ascii=False)
    last = inputs.history.splitlines()[-1]
    open_questions = [question for question in inputs.questions if question not in inputs.history]
    start = words["ask"].partition("{")[0]
    if start in last:
        told = _tell(last.partition(start)[2], inputs.details) or words["unknown"]
    elif words["close"] in last:
        told = words["bye"]
    else:
        told = open_questions[0] if open_questions else words["go_on"]
    return json.dumps({"message": told, "finished": told == words["bye"]}, ensure_ascii=False)


def _tell(asked: str, details: Sequence[str]) -> str:
    """The details that are asked for, each with what it is."""
    return "; ".join(detail for detail in details if detail.partition(": ")[0] in asked)


def _value(told: str, about: str) -> str:
    """What was told of the thing asked for; words of the request where nothing was."""
    return told.partition(f"{about}: ")[2].partition(";")[0].partition("\n")[0].strip() or about


def _closest(question: str, inputs: AgentMessageInputs) -> tuple[str, str] | None:
    """The article and its sentence that shares most words with the question, none that was said before."""
    wanted = set(content(question))
    found = [
        (len(wanted & set(content(sentence))), article.id, sentence)
        for article in inputs.articles
        for sentence in sentences(article.text)[1:]
        if len(sentence.split()) > 4 and sentence not in inputs.history and "[" not in sentence
    ]
    best = max(found, default=(0, "", ""))
    return best[1:] if best[0] else None


def _dump(said: dict[str, object], message: str) -> str:
    return json.dumps({**said, "message": message}, ensure_ascii=False)
