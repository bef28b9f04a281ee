"""A conversation that real models write, as in the paper's appendix B.2: nobody gets a script.

    row = await WrittenDialogue(ledger, article_index, tools, case, model, seed).write()

The agent has articles, tools and standards and decides what to say, what it rests on and which tool to call; the
customer has a problem, a temper, and details that come out when they are asked for. What a tool gives back is coined by
code. Labels follow from what happened and are verified: a source counts when the sentence that was named stands in
the article, a fact when the message gives its value, a quality answer when a reviewer is sure of it or a second one
agrees. A message that cannot be sent is asked for again with the reason; a conversation that lacks what it has to hold
is written once more, and then left out: its row then holds `dropped`, the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, TemplateVars, rng_for
from cxlab.benchmarks.cxmarena.conversations import personas, phrasebook, tool_results
from cxlab.benchmarks.cxmarena.conversations import written_dialogue_prompts as prompts
from cxlab.benchmarks.cxmarena.conversations.conversation_plan import ConversationPlan, to_row
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex
from cxlab.benchmarks.cxmarena.conversations.message_check import MessageCheck, as_spoken, holds
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import NumberedMessage, Passage
from cxlab.benchmarks.cxmarena.knowledge.article_writer import AGAIN
from cxlab.benchmarks.cxmarena.tasks import task_prompts
from cxlab.benchmarks.cxmarena.text import foreign
from cxlab.benchmarks.generation import stages
from cxlab.files import grammar
from cxlab.llm import ask
from cxlab.llm.base import ChatModel

# Messages of both sides together, and tries of one message and of a whole conversation.
MOST_MESSAGES, FEWEST_MESSAGES, TRIES, DRAFTS = 40, 4, 3, 2
# The messages of a short one, after which it is left as it is.
SHORT = 6
# What the description of an argument says of the form of a day: no business of a customer's.
_FORM = re.compile(r"[\s,(]+(?:(?:in the|in der|sous la) form\w*|as)?[\s(]*(?:YYYY|JJJJ|AAAA)\S*$")
# What a customer would like to know beside the matter, and how sure a reviewer must be (of 5) to be believed alone.
QUESTIONS, SURE = 2, 3


class _Unusable(Exception):
    """A draft that cannot be kept; the text says why."""


class WrittenDialogue:
    """One conversation while two models write it."""

    def __init__(
        self,
        ledger: Ledger,
        article_index: ArticleIndex,
        tools: Mapping[str, Any],
        case: ConversationPlan,
        model: ChatModel,
        seed: int,
        short: bool = False,
    ) -> None:
        self.ledger, self.article_index, self.case, self.model, self.seed = ledger, article_index, case, model, seed
        self.tools = {name: tools[name] for name in case.tools if name in tools}
        self.words = phrasebook.load(ledger.brand.language_id)
        self.short = short

    async def write(self) -> stages.Row:
        """The conversation as a row, or why there is none."""
        why = ""
        for draft in range(DRAFTS):
            self._begin(draft)
            try:
                await self._talk()
                self._check()
                return to_row(self.case, self.person, self.messages, self.grounding, await self._quality())
            except _Unusable as problem:
                why = str(problem)
        return {"id": self.case.id, "dropped": why}

    def _begin(self, draft: int) -> None:
        brand, case = self.ledger.brand, self.case
        self.rng = rng_for("written", brand.id, self.seed, case.id, draft)
        self.person: Persona = personas.make(
            self.ledger, self.words, self.article_index.articles[case.article], self.rng
        )
        self.person.articles = case.articles
        # The same question asked twice gives the same reply; a second draft has to ask another one.
        self.asked = self.seed + draft
        self.messages: list[dict[str, Any]] = []
        self.turn = 0
        self.grounding: dict[int, tuple[str, ...]] = {}
        self.check = MessageCheck(
            self.ledger, self.article_index, case.articles, self.tools, self.person, self.messages
        )
        self.card = self._customer_card()
        self.desk = self._agent_desk()

    # What each side knows

    def _customer_card(self) -> dict[str, Any]:
        person = self.person
        known = {prompts.DETAILS[name]: value for name, value in person.masked.items()}
        known |= {"Your full name": f"{person.first_name} {person.surname}", "Your address on file": person.home}
        wanted = {name for tool in self.tools.values() for name in tool["function"]["parameters"]["required"]}
        for name in sorted(wanted):
            if personas.given_by_customer(person, name):
                # Of which signs a number is made is a system's business.
                about = _FORM.sub("", person.brand.parameters[name].description.rstrip(".")).partition(",")[0]
                value = as_spoken(person.value(name, self.rng), person)
                if value not in known.values():
                    known[about] = value
        asks = []
        for fact, _ in self.article_index.facts(person, self.rng)[:QUESTIONS]:
            lines = self.ledger.brand.properties[fact.property].asks
            line = lines[int(self.rng.random() * len(lines))]
            slots = TemplateVars(self.ledger, fact.subject, self.rng)
            asks.append(self.ledger.brand.language.polish(grammar.say(line, self.rng, slots)))
        return {
            "customer": f"{person.first_name} {person.surname}",
            "manner": tuple(phrasebook.load("en").traits[trait] for trait in person.traits),
            "casual": person.casual,
            "problem": person.problem,
            "details": tuple(f"{what}: {value}" for what, value in known.items()),
            "questions": tuple(asks),
        }

    def _agent_desk(self) -> dict[str, Any]:
        person = self.person
        offers = []
        for name, tool in self.tools.items():
            spec = tool["function"]
            about = spec["parameters"]["properties"]
            needs = tuple(f"{key} ({about[key]['description'].rstrip('.')})" for key in spec["parameters"]["required"])
            offers.append(
                prompts.ToolOffer(name=name, description=spec["description"].partition(" → ")[0], needs=needs)
            )
        articles = self.article_index.articles
        return {
            "agent": person.agent,
            "rules": tuple(prompts.SERVICE_RULES[s][0 if person.keeps[s] else 1] for s in person.asked),
            "tools": tuple(offers),
            "articles": tuple(Passage(id=i, text=articles[i].body) for i in self.case.articles),
        }

    # The conversation

    async def _talk(self) -> None:
        finished = False
        while len(self.messages) < (SHORT if self.short else MOST_MESSAGES):
            self.turn += 1
            said = await self._customer()
            finished = said.finished
            self._add("customer", said.message, {"facts": [], "details": [], "asks": "?" in said.message})
            await self._answer()
            if finished:
                return
        if not self.short:
            raise _Unusable(f"it did not end within {MOST_MESSAGES} messages")

    async def _customer(self) -> Any:
        """The customer's next message, in the language of the brand."""
        for number in range(TRIES):
            said = await self._ask(
                prompts.CUSTOMER_MESSAGE, prompts.CustomerMessageInputs, self.card, self._history(False), number
            )
            if not foreign(said.message, self.ledger.brand.language_id):
                return said
        raise _Unusable("the customer wrote in another language")

    async def _answer(self) -> None:
        """The agent's part of a turn: calls as long as it makes any, then the message that waits for the customer."""
        for _ in range(len(self.tools) + 2):
            if not await self._agent():
                return
        raise _Unusable("the agent called one tool after another")

    async def _agent(self) -> bool:
        """One message of the agent; True when it called a tool and goes on."""
        complaints: tuple[str, ...] = ()
        for _ in range(TRIES):
            more = {**self.desk, "complaints": complaints}
            said = await self._ask(prompts.AGENT_MESSAGE, prompts.AgentMessageInputs, more, self._history(True))
            passages = [p for p in map(self.check.find, said.sources) if p is not None]
            if not (wrong := self.check.complain(said, passages)):
                break
            complaints = tuple(wrong)
        else:
            raise _Unusable(f"no message of the agent could be sent: {complaints[0]}")
        facts = self.check.stated(said.message, passages)
        ranked = self.article_index.rank(said.message, passages, self.case.articles, facts)
        data = {"class": said.kind, "sources": list(ranked), "passages": [p.text for p in passages], "facts": facts}
        if ranked:
            self.grounding[len(self.messages)] = ranked
        if said.call is None:
            self._add("agent", said.message, data)
            return False
        number = sum(bool(m["tool_calls"]) for m in self.messages) + 1
        arguments = json.dumps(said.call.arguments, ensure_ascii=False)
        call = {"id": f"call_{number}", "name": said.call.name, "arguments": arguments}
        self._add("agent", said.message, data, [call])
        returns = self.tools[said.call.name]["function"]["description"].partition("→")[2]
        result, _ = tool_results.results(self.person, returns, self.rng)
        self._add("tool", json.dumps(result, ensure_ascii=False), {"tool": said.call.name, "result": result})
        return True

    async def _ask(self, prompt: Any, inputs: Any, given: Mapping[str, Any], history: str, number: int = 0) -> Any:
        brand, language = self.ledger.brand, self.ledger.brand.language
        you = language.formal_you
        filled = inputs(**given, language=language.name, formal_you=you, brand=brand.name, history=history)
        reply = await ask(self.model, prompt, filled, seed=self.asked + number * AGAIN)
        if reply.output is None:
            raise _Unusable(f"a reply could not be read ({reply.failure.type if reply.failure else 'empty'})")
        return reply.output

    def _history(self, agent: bool) -> str:
        """What was said, one message a line; what a tool gave back is the agent's alone."""
        lines = []
        for message in self.messages:
            if message["role"] == "tool":
                if agent:
                    lines.append(f"({message['data']['tool']} gave back: {message['text']})")
            else:
                lines.append(f"{'Customer' if message['role'] == 'customer' else 'Agent'}: {message['text']}")
        return "\n".join(lines)

    def _add(self, role: str, text: str, data: dict[str, Any], calls: Sequence[Mapping[str, Any]] = ()) -> None:
        if role == "customer":
            data["details"] = [name for name, value in self.person.masked.items() if holds(text, value)]
        self.messages.append(
            {"role": role, "text": text.strip(), "turn": self.turn, "tool_calls": [*calls], "data": data}
        )

    def _check(self) -> None:
        """What each conversation has to hold; _Unusable says what is lacking."""
        if len(self.messages) < FEWEST_MESSAGES:
            raise _Unusable(f"it ended after {len(self.messages)} messages")
        if not self.grounding:
            raise _Unusable("no message of the agent rests on an article")
        called = {call["name"] for m in self.messages for call in m["tool_calls"]}
        if self.tools and not called and not self.short:
            raise _Unusable("its issue is solved with tools, and none was called")

    # Quality

    async def _quality(self) -> list[dict[str, Any]]:
        """The standards that were asked about, each answered by a reviewer, and by a second one where that one is not
        sure or says otherwise than the agent was told; what stays unclear is left out."""
        person = self.person
        spoken = [place for place, m in enumerate(self.messages) if m["role"] != "tool"]
        lines = tuple(
            NumberedMessage(id=n, who=self.messages[place]["role"].title(), text=self.messages[place]["text"])
            for n, place in enumerate(spoken, 1)
        )
        questions = tuple(person.questions[name] for name in person.asked)
        reply = await ask(
            self.model,
            task_prompts.REVIEW,
            task_prompts.ReviewInputs(lines=lines, questions=questions),
            seed=self.asked,
        )
        if reply.output is None:
            raise _Unusable("the review of its quality could not be read")
        found = []
        for name, question, one in zip(
            person.asked, questions, sorted(reply.output.answers, key=lambda a: a.question), strict=True
        ):
            answer, evidence = one.answer, one.evidence
            if one.confidence <= SURE or answer not in ("Yes" if person.keeps[name] else "No", "NA"):
                if self.short:
                    continue
                doubt = task_prompts.AdjudicateInputs(
                    lines=lines, question=question, answer=answer, reason=one.reason, confidence=one.confidence
                )
                second = (await ask(self.model, task_prompts.ADJUDICATE, doubt, seed=self.asked)).output
                if second is None or second.answer != answer:
                    continue
                evidence = [line for line in evidence if line in second.evidence] or second.evidence
            places = [spoken[line - 1] for line in evidence if 1 <= line <= len(spoken)] if answer == "Yes" else []
            found.append({"id": name, "question": question, "answer": answer, "evidence": places})
        return found


__all__ = ["WrittenDialogue"]
