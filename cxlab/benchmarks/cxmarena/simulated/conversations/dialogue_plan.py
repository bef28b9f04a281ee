"""The course of a conversation before a word is said: who does what in which message, and on what grounds.

    outline = DialoguePlan(persona, article_index, tools, rng)
    outline.moves          # [DialogueMove], see dialogue_script.py
    quality(outline)       # what is true of the agent by construction: answers and their evidence

Opening, questions about what the customer left out, the steps of the issue article, the close; in between what
customers ask, and how they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Step
from cxlab.benchmarks.cxmarena.brand.ledger import TemplateVars
from cxlab.benchmarks.cxmarena.conversations import personas, step_phrasing, tool_results
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex, SourcePassage
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.knowledge.article_writer import tool_name
from cxlab.benchmarks.cxmarena.simulated.conversations.dialogue_script import MOST_TEMPERS, DialogueScript
from cxlab.files import grammar

# What a thing that is asked for is known by.
_LONG_WORD = re.compile(r"\w{4,}")
# What a customer left out at first that an agent asks for, beside which thing it is about.
MOST_DETAILS = 3
# What a customer does where a step asks for something.
ANSWERS = {"ask_step": "answer_step", "ask_open": "answer_open", "request": "send", "later": "will_do"}
# How a customer gives what only they know, and takes what the agent tells or offers.
OWN = {
    "email": "give_own",
    "address": "give_home",
    "new_address": "give_home",
    "house_number": "give_number",
    "shop": "give_own",
    "past_date": "give_day",
}
TAKEN = {"tell_step": "noted", "warn": "noted"}


class DialoguePlan(DialogueScript):
    """Plans the moves of one conversation; see the module's head."""

    def __init__(
        self, person: Persona, article_index: ArticleIndex, tools: Mapping[str, Any], rng: np.random.Generator
    ) -> None:
        super().__init__(person, article_index, rng)
        self.tools = tools
        self.given: set[str] = set()
        self.pending = False  # whether something that a tool set going is still to come
        self.later = False  # whether the customer was left with something that takes time
        self.verified = False
        self._opening()
        self._clarify()
        self._resolve()
        self._close()

    def _opening(self) -> None:
        agent_first = self.chance(0.55)
        if agent_first:
            self._greet()
            self.agent("offer_help")
            if self.person.keeps["wellbeing"]:
                self.customer("well")
        elif self.chance(0.35):
            self.customer("hello")
            self._greet()
            self.agent("offer_help")
            if self.person.keeps["wellbeing"]:
                self.customer("well")
        elif self.chance(0.6):
            self.customer("hello")
        move = self.customer("open", {"problem": self.person.problem})
        move.facts += self.person.used
        if not self.person.vague:
            move.details.append("model")
        if self.chance(0.3):
            self.customer("help_me")
        if not any(m.role == "agent" for m in self.moves):
            # Who has said the problem already is not asked how things are.
            self._greet(asks=False)
        # Who wants to leave for a reason of its own has had no trouble that anybody could be sorry for.
        if not self.person.issue.own_reason:
            self.standard("empathy", "empathy")
            self.standard("apology", "apology")

    def _greet(self, asks: bool = True) -> None:
        self.standard("greeting", "greet")
        self.standard("introduction", "introduce")
        if asks:
            self.standard("wellbeing", "wellbeing")
        else:
            self.occasions.add("wellbeing")

    def _clarify(self) -> None:
        person = self.person
        wanted = list(person.masked)
        while wanted:
            if len(person.masked) - len(wanted) >= MOST_DETAILS and wanted[0] != "model":
                for name in wanted:
                    del person.masked[name]
                break
            names = wanted[: 2 if len(wanted) > 1 and self.chance(0.4) else 1]
            wanted = wanted[len(names) :]
            for name in names:
                self.agent(f"ask_{name}")
            for name in names:
                said = person.masked[name]
                said = person.ledger.in_text(said) if name == "model" else said
                self.customer(f"tell_{name}", {"detail": said}).details.append(name)
            self._heard()
        self.standard("restate", "restate", {"summary": self._summary()})
        if person.keeps["restate"]:
            self.customer("confirm")
        self._verify()
        self._name()
        if self.chance(0.55):
            cause = self.cause()
            if cause:
                self.customer("plausible")
        if self.chance(0.5):
            self.agent("plan")
            self.customer("agree")

    def _summary(self) -> str:
        """The matter in a sentence: an article's "<subject>: parcel is late" is a heading, not speech."""
        person = self.person
        head, colon, tail = person.article.title.partition(": ")
        if not colon:
            return step_phrasing.inside(person.ledger, head)
        words = {"head": person.ledger.in_text(head.rstrip()), "tail": step_phrasing.inside(person.ledger, tail)}
        return person.brand.language.polish(grammar.piece(person.talk.summary, self.rng, words))

    def _heard(self) -> None:
        """What may come between two questions."""
        if self.person.has("impatient") and self.tempers < MOST_TEMPERS and self.chance(0.25):
            self.temper()
        elif self.chance(0.6):
            self.agent("thank_answer")

    def _name(self) -> None:
        self.occasions.add("name")
        if self.person.keeps["name"]:
            if not self.verified and self.chance(0.7):
                self.agent("ask_name")
                full = f"{self.person.first_name} {self.person.surname}"
                self.customer("tell_name", {"full": full}).details.append("full_name")
            self.agent("name").shows.add("name")

    def _verify(self) -> None:
        """Data of an account are opened only for its owner; who opens none need not ask."""
        person = self.person
        used = [s.tool for s in person.issue.steps if s.tool]
        if not any(self._account(tool) or "identi" in tool for tool in used):
            return
        self.occasions.add("verify")
        if any("identi" in tool for tool in used):
            person.keeps["verify"] = True  # the procedure itself has a step for it, which the agent will take
            if "identi" in used[0]:
                return  # before anything is opened: nobody is asked twice
        if not person.keeps["verify"]:
            return
        self.agent("verify", cls="tool_information_gathering").shows.add("verify")
        full = f"{person.first_name} {person.surname}"
        second = personas.house_number(person)
        self.person.details.setdefault("full_name", full)
        self.customer("identity", {"full": full, "second": second}).details.append("full_name")
        self.agent("verified").shows.add("verify")
        self.verified = True

    def _account(self, tool: str) -> bool:
        return bool(re.search(self.person.talk.account_tools, tool))

    def _resolve(self) -> None:
        """The steps of the issue article, with what comes between."""
        issue = self.person.issue
        for number, step in enumerate(issue.steps):
            slots = TemplateVars(self.person.ledger, self.person.subject, self.rng)
            if any(name not in slots for name in grammar.slot_names(step.say)):
                continue
            text = self.person.brand.language.polish(grammar.say(step.say, self.rng, slots))
            passage = self.article_index.step(self.person.article, number, text)
            tool = self._tool(step.tool)
            if tool is not None:
                self._use(tool, text, passage, slots.used)
            elif step.tool is None and not self._asked_by_tool(text, issue.steps[number + 1 :]):
                self._step(text, passage, slots.used, self._reply(step, slots))
            if number < len(issue.steps) - 1:
                self.between()

    def _reply(self, step: Step, slots: TemplateVars) -> str:
        """What a customer answers to this step, where the pack says it."""
        if not step.reply:
            return ""
        said = grammar.piece(step.reply[int(self.rng.random() * len(step.reply))], self.rng, slots)
        return self.person.brand.language.polish(said).strip()

    def _asked_by_tool(self, text: str, after: Sequence[Step]) -> bool:
        """Whether a step asks for what a tool after it needs, so that it is asked for there."""
        spoken = step_phrasing.step_act(self.person.talk, text)
        if spoken.act != "request":
            return False
        words = set(_LONG_WORD.findall(spoken.step.lower()))
        needed = {
            name
            for step in after
            if (tool := self._tool(step.tool)) is not None
            for name in tool["function"]["parameters"]["required"]
            if personas.given_by_customer(self.person, name)
        }
        named = [self.person.brand.parameters[name].description.lower() for name in needed]
        return bool(words) and any(words <= set(_LONG_WORD.findall(each)) for each in named)

    def _tool(self, key: str | None) -> Any:
        if key is None:
            return None
        family = self.person.ledger.subjects[self.person.subject].family
        return self.tools.get(tool_name(self.person.brand, key, family))

    def _step(self, text: str, passage: SourcePassage, used: list[str], reply: str = "") -> None:
        spoken = step_phrasing.step_act(self.person.talk, text)
        if not spoken.act:
            return
        if spoken.act == "instruct" and self.later:
            # What comes after something that takes days cannot be done before it.
            spoken = spoken._replace(act="later")
        self.later = self.later or spoken.act == "later"
        move = self.agent(spoken.act, {"step": spoken.step}, "knowledge_base")
        move.sources.append(passage)
        move.facts += used
        if spoken.act in ANSWERS:
            if reply:
                self.customer("answer_own", {"answer": reply})
            else:
                self.customer(spoken.reply or ANSWERS[spoken.act])
            if spoken.act != "later" and self.chance(0.45):
                self.agent("thank_answer")
            return
        if spoken.act != "instruct":
            if self.chance(0.5):
                self.customer(TAKEN.get(spoken.act, "agree"))
            return
        self.occasions.add("understanding")
        if self.person.keeps["understanding"] and self.chance(0.5):
            self.agent("understanding").shows.add("understanding")
        draw = self.rng.random()
        confused, expert = self.person.has("confused"), self.person.has("technical")
        if draw < (0.4 if confused else 0.14):
            self.customer("misunderstand" if self.chance(0.5) else "ask_how", {"step": spoken.step})
            self.occasions.add("repeat")
            kept = self.person.keeps["repeat"]
            again = self.agent("explain_how" if kept else "brush_off", {"step": spoken.step}, "knowledge_base")
            again.sources.append(passage)
            (again.shows if kept else again.breaks).add("repeat")
            if self.chance(0.5):
                self.customer("now_clear")
        elif draw < 0.52:
            self.customer("ask_why", {"step": spoken.step})
            if not self.cause("why"):
                self.agent("reason", cls="knowledge_base").sources.append(passage)
        elif draw < (0.56 if expert else 0.64):
            self.customer("cannot", {"step": spoken.step})
            self.occasions.add("alternative")
            kept = self.person.keeps["alternative"]
            again = self.agent("alternative" if kept else "insist", {"step": spoken.step})
            (again.shows if kept else again.breaks).add("alternative")
            self.customer("accept" if kept else "resigned")
            return
        self.customer("done", {"step": spoken.step})

    def _use(self, tool: Any, text: str, passage: SourcePassage, used: list[str]) -> None:
        person, rng = self.person, self.rng
        function = tool["function"]
        required = list(function["parameters"]["required"])
        self._name_part(required, text)
        missing = [n for n in required if n not in self.given and personas.given_by_customer(person, n)]
        while missing:
            count = 2 if len(missing) > 1 and self.chance(0.6) else 1
            self._gather(missing[:count], passage)
            missing = missing[count:]
        # A fee that the step names is what is given back, not any sum.
        for fact in (person.ledger.facts[one] for one in used):
            if person.brand.properties[fact.property].kind == "price" and not isinstance(fact.value, str):
                person.give_back(fact.value)
        arguments = {name: person.value(name, rng) for name in required}
        self.standard("hold", "hold")
        # Only where it is asked about, so that none stands there unmarked.
        if "jargon" in person.asked and not person.keeps["jargon"] and self.chance(0.6):
            self.agent("jargon").breaks.add("jargon")
        move = self.agent("call", {"step": step_phrasing.step_act(person.talk, text, tool=True).step}, "tool_call")
        move.sources.append(passage)
        move.facts += used
        returns = function["description"].partition("→")[2]
        result, told = tool_results.results(person, returns, rng)
        self.pending = self.pending or any(personas.ahead(person, value) for value in result.values())
        move.call = {"tool": function["name"], "arguments": arguments, "result": result}
        if "identi" in function["name"]:
            move.shows.add("verify")
        if self.chance(0.55):
            self.customer("wait")
        self.standard("hold_thanks", "hold_thanks")
        self.agent("report", {"result": person.talk.also[int(rng.random() * len(person.talk.also))].join(told[:2])})
        # That somebody is who they are is no news to them.
        if self.chance(0.6) and "identi" not in function["name"]:
            self.customer("react_report")

    def _name_part(self, names: Sequence[str], text: str) -> None:
        """A part that the step itself names need not be asked for."""
        person = self.person
        said = next((p for p in person.talk.part_names if p.lower() in text.lower()), None)
        for name in names:
            if said is not None and person.brand.parameters[name].sample == "part" and name not in self.given:
                person.details[name] = said
                self.given.add(name)

    def _gather(self, names: list[str], passage: SourcePassage) -> None:
        """Ask for values that a tool needs, one or two at a time."""
        person = self.person
        what = person.talk.both.join(personas.named(person, n) for n in names)
        specs = [person.brand.parameters[n] for n in names]
        codes = all(spec.sample.count("#") > 3 for spec in specs)
        ask = self.agent("ask_detail" if codes else "ask_wish", {"what": what}, "tool_information_gathering")
        ask.sources.append(passage)
        if codes and self.chance(0.2):
            self.customer("search", {"what": what})
            self.agent("no_rush")
        for name, spec in zip(names, specs, strict=True):
            value = person.value(name, self.rng)
            if spec.sample in personas.DATES:
                value = person.details[f"{name} as said"] = personas.spoken_day(value, person.brand)
                value = person.talk.on_day.replace("<value>", value) if spec.sample != "past_date" else value
            wish = spec.sample in ("date", "last_date") or bool(spec.options)
            value = person.talk.spoken.get(value, value)
            kind = OWN.get(spec.sample) or (("prefer" if personas.timed(spec) else "choose") if wish else "give")
            self.customer(kind, {"what": what, "value": value}).details.append(name)
            self.given.add(name)

    def _close(self) -> None:
        person = self.person
        self.standard("next_steps", "next_steps")
        # Only who is asked says that it is not settled.
        good = not person.keeps["settled"] or self.chance(0.78)
        # Who has said that this was all, or heard that it is passed on, asks for nothing new.
        settled = good and (person.keeps["settled"] or person.keeps["next_steps"])
        self.occasions.add("settled")
        if person.keeps["settled"]:
            self.agent("settled").shows.add("settled")
            # What is still on its way cannot work already.
            works = person.in_use and not self.pending and not self.later
            self.customer(("solved" if works else "sorted") if good else "unsolved")
        else:
            if not person.keeps["next_steps"]:
                self.agent("wrap")
            self.customer("take_note")
        if not good:
            self.agent("not_settled")
            self.customer("accept")
        self.occasions.add("further_help")
        if person.keeps["further_help"]:
            self.agent("further_help").shows.add("further_help")
            if self.questions and settled and self.chance(0.3):
                self.customer("one_more")
                self.question(late=True)
            self.customer("no_more")
        self.occasions.add("closing")
        if self.chance(0.6):
            self.customer("thanks")
        if person.keeps["closing"]:
            self.agent("closing").shows.add("closing")
            if self.chance(0.7):
                self.customer("bye")
        else:
            self.agent("end").breaks.add("closing")


def quality(outline: DialoguePlan) -> list[dict[str, Any]]:
    """What is true of the agent for each standard asked about; evidence as indices of moves."""
    person, found = outline.person, []
    for name in person.asked:
        shown = [i for i, m in enumerate(outline.moves) if name in m.shows]
        broken = [i for i, m in enumerate(outline.moves) if name in m.breaks]
        if name == "jargon":
            answer = "No" if broken else "Yes"
        elif name not in outline.occasions:
            answer = "NA"
        else:
            answer = "Yes" if shown else "No"
        evidence = shown if answer == "Yes" else broken
        found.append({"id": name, "question": person.questions[name], "answer": answer, "evidence": evidence})
    return found
