"""A real HTTP server that plays a strong model in every role of SAGE, from the messages alone.

It has read the procedures (as a strong model has read much): a customer's words are matched with what each option means
for a customer, and the rule engine says where that leads. None of the stand-ins' parts is used.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.conditions import Kind, to_step
from cxlab.benchmarks.sage.procedures.sop_text import show_known, show_variable
from cxlab.benchmarks.sage.rules import Scenario
from tests.llm.local_server import RoleServer

GRADES = ("linguistic_quality", "anthropomorphism_emotion", "content_utility", "user_satisfaction")
GRADES = (*GRADES, "instruction_compliance")
QUOTE = re.compile(r'(?:believe this|take you to mean this): "(.+?)"')


class ScriptedModel(RoleServer):
    """`endpoint:strong` on a free port, as long as the context lasts; `bodies` are all requests that it got."""

    roles = ("strong",)

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.tokens = 0

    async def reply(self, role: str, body: dict[str, Any]) -> dict[str, Any]:
        text = self.answer([str(message["content"]) for message in body["messages"]])
        usage = {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": len(text) // 4}
        self.tokens += sum(usage.values())
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": usage}

    def answer(self, messages: Sequence[str]) -> str:
        """What it says to these messages, told apart by how the instructions begin."""
        system, user = messages[0], messages[-1]
        roles: dict[str, Callable[[str, str], Any]] = {
            "You work at a service desk.": agent,
            "You review replies of a service desk.": judge,
            "You turn a service desk's written procedure": convert,
        }
        for begin, play in roles.items():
            if system.startswith(begin):
                self.asked[play.__name__] += 1
                said = play(system, user)
                return said if isinstance(said, str) else json.dumps(said)
        if "write to the service desk" in system[:200]:
            self.asked["customer"] += 1
            return json.dumps(customer(system, user))
        return "ready"


def customer(system: str, user: str) -> dict[str, Any]:
    """One thing a message, wrongly where it is to be wrong at first; goodbye when all is told and answered."""
    facts = dict(re.findall(r"^(\d+)\. (.+)$", system, re.MULTILINE))
    hows = dict(re.findall(r"^(\d+)\. .+\n   (.+)$", system, re.MULTILINE))
    untold = _numbers("Not told yet", user)
    mistaken = _numbers("Said by mistake and not yet put right", user)
    said: dict[str, Any] = {"reasoning": "I go on.", "message": "", "told": [], "withheld": [], "taken_back": []}
    fresh = [n for n in untold if n not in mistaken]
    if fresh:
        quoted = QUOTE.search(hows.get(str(fresh[0]), ""))
        said |= {"message": as_i(quoted[1] if quoted else facts[str(fresh[0])]), "told": fresh[:1]}
    elif mistaken:
        told = f"I had that wrong. {as_i(facts[str(mistaken[0])])}"
        said |= {"message": told, "told": mistaken[:1], "taken_back": mistaken[:1]}
    else:
        said["message"] = "Thank you, goodbye."
    return said | {"done": not untold}


def agent(system: str, user: str) -> dict[str, Any]:
    """Reads, walks, asks for what is missing, else says what will be done."""
    s = scenario_of(system)
    heard = read(s, user)
    fields = {**s.defaults(), **heard}
    trace = s.trace(fields, back_end(s, user))
    missing = next((name for name in trace.read if name in s.fields and name not in heard), None)
    known = s.actions[trace.action["Action"]].description
    lead = ("Please tell me", "One more question", "And this I need to know", "Thank you. Then")[
        user.count("Agent: ") % 4
    ]
    told = f"{lead}: {s.fields[missing].description}" if missing else f"{lead}, I will do this: {known}"
    reply = {"reasoning": f"Told: {sorted(heard)}.", "fields": fields, "path": trace.path}
    reply["action"] = trace.action["Action"]
    if s.plan:
        reply["plan"] = trace.action[s.plan.name]
    return reply | {"chat": " ".join(told.split()[:40])}


def judge(system: str, user: str) -> dict[str, Any]:
    s = scenario_of(system)
    fields = {**s.defaults(), **read(s, user)}
    return {
        "fields_reasoning": "As the customer said.",
        "fields": fields,
        "grades_reasoning": "One clear step.",
        "grades": dict.fromkeys(GRADES, 9),
    }


def convert(system: str, user: str) -> str:
    """A chain of the numbered steps: what a step asks for is a field, what is not given is asked for again.

    At first it forgets the last action, as models do; told so, it sends the whole.
    """
    prose = user.partition("The procedure:\n")[2].partition("Your last file:")[0]
    title, *lines = [line for line in prose.splitlines() if line.strip()]
    steps: list[tuple[str, list[str]]] = []
    for line in lines:
        if found := re.match(r"(\d+)\. (.+)", line):
            steps.append((found[2], []))
        elif found := re.match(r"\s+- (.+)", line):
            steps[-1][1].append(found[1])
    fields: dict[str, Any] = {}
    stages: dict[str, Any] = {}
    for number, (text, choices) in enumerate(steps, 1):
        on = {"to": f"stage{number + 1}"} if number < len(steps) else {"action": "Finish"}
        name = f"Step{number}"
        given = choices[:5] if len(choices) > 1 else ["given"]
        options = {
            f"Choice{n}": {"description": choice, "customer": f"Here you go for option {n} of step {number}."}
            for n, choice in enumerate(given, 1)
        }
        options["Missing"] = {"description": "not given yet", "customer": f"You leave step {number} open."}
        fields[name] = {"description": text, "default": "Missing", "options": options}
        branches = [{"when": {name: [key for key in options if key != "Missing"]}, **on}]
        branches.append({"when": {name: "Missing"}, "action": "AskAgain"})
        stages[f"stage{number}"] = {"title": f"Step {number}", "branches": branches}
    actions = {"AskAgain": {"description": "Ask for it again."}, "Finish": {"description": "Wrap up."}}
    if "had these faults" not in user:
        del actions["Finish"]
    draft = {
        "id": re.sub(r"\W+", "_", title.lower()).strip("_"),
        "short": "AB",
        "title": title,
        "business": f"A shop's desk for {title}.",
        "role": "a customer of a shop",
        "fields": fields,
        "system": {},
        "actions": actions,
        "stages": stages,
        "intents": {"help": {"title": title, "level": "zero", "background": ["It came up today."], "goal": "Be done."}},
        "personalities": {"plain": {"description": "says what matters"}},
    }
    return f"```yaml\n{yaml.safe_dump(draft, sort_keys=False)}```"


def scenario_of(system: str) -> Scenario:
    return next(s for s in map(rules.load, rules.files_by_id()) if s.business in system)


def read(s: Scenario, user: str) -> dict[str, Any]:
    """Field → value by what each sentence of the customer means; the last word counts."""
    meanings = [
        (name, value, words(as_i(option.customer or option.description)))
        for name, spec in s.fields.items()
        for value, option in spec.options.items()
    ]
    found: dict[str, Any] = {}
    for said in re.findall(r"^Customer: (.+)$", user, re.MULTILINE):
        heard = words(said)
        likeness = [len(heard & meant) / len(meant) for _, _, meant in meanings]
        best = max(range(len(meanings)), key=lambda at: (likeness[at], len(meanings[at][2])))
        if likeness[best] > 0.6:
            found[meanings[best][0]] = meanings[best][1]
    return found


def back_end(s: Scenario, user: str) -> dict[str, Any]:
    shown = dict(re.findall(r"^- (.+?): (.+)$", user, re.MULTILINE))
    found: dict[str, Any] = {}
    for name, variable in s.system.items():
        text = shown[show_variable(name, variable)]
        kind: Kind | None = variable.kind
        found[name] = (
            (int(text) if to_step(text, "integer") is not None else text)
            if kind
            else next(value for value in variable.values if show_known(value) == text)
        )
    return found


def as_i(text: str) -> str:
    """The second person in the first: "You have your code" → "I have my code"."""
    text = re.sub(r"\byou are\b", "I am", text, flags=re.IGNORECASE)
    text = re.sub(r"\byour\b", "my", text, flags=re.IGNORECASE)
    return re.sub(r"\byou\b", "I", text, flags=re.IGNORECASE)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"<\w+>", " ", text.lower())))


def _numbers(label: str, user: str) -> list[int]:
    found = re.search(rf"^{label}: ([\d, ]+)", user, re.MULTILINE)
    return [int(number) for number in re.findall(r"\d+", found[1])] if found else []
