"""How a simulated agent does SAGE's task: from the printed prompt and its own phrase bank, by plain means.

It reads the fields from what the customer wrote (signal_reader.py), walks the printed procedure, and talks. It goes
wrong where its profile is weak: on indirect wordings, negations, changes of mind and heated messages; on stages that
read two things at once, on jumps against the printed order, on early facts in a long dialogue. Each of these stands in
the text, so that a failure can be understood.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.sage.procedures.sop_text import show
from cxlab.benchmarks.sage.prompts.scenario_prompts import AgentInputs
from cxlab.benchmarks.sage.simulated.phrases import NO_ACTION, NO_FIELD, Phrases, phrases_for, signals
from cxlab.benchmarks.sage.simulated.procedure_reader import (
    PrintedBranch,
    PrintedProcedure,
    PrintedStage,
    meets,
    parse_value,
    read_procedure,
)
from cxlab.benchmarks.sage.simulated.signal_reader import Evidence, FieldSignals, ReaderSkill, heat, read
from cxlab.benchmarks.sage.simulated.voices import voice
from cxlab.files import grammar
from cxlab.llm.simulated import knows
from cxlab.llm.simulated.profiles import Profile

FAREWELL = re.compile(
    r"\b(?:bye|goodbye|over and out|good day to you|take care|all the best|end of chat|many thanks$|"
    # "I'm off." ends the talk; "I'm off to Rome" does not.
    r"i(?:'?m| am) (?:off(?= now\b|\W*$|[.!])|gone|hanging up|closing)|"
    r"have a (?:really )?(?:good|nice|lovely|pleasant) (?:day|one|rest|evening|afternoon|weekend)|"
    r"let you go now|close the chat now|end this here|you(?:'?ll| will) hear from me|see you|"
    r"not keep you any longer|(?:i'?ll|i will|let'?s) leave it there|"
    r"(?:warm regards|best wishes|greetings) (?:to|from)|"
    r"(?:saved|kept|printed) (?:this conversation|a copy|our chat)|see how it goes|(?:comes|turns) up, i|"
    r"i (?:trust|hope|assume) it (?:will happen|goes|works out) as|we(?:'?re| are) (?:done|finished)|"
    r"(?:all i have|nothing more) to say|better things to do|enjoy your (?:break|coffee|evening)|"
    r"(?:send me a|with a) survey|"
    r"(?:boss|manager|supervisor)(?: of yours)? (?:i said hello|i'?ll be in touch|we'?re not finished|to learn))\b|"
    # Only where a sentence begins with it: "so long" and "a good day" stand inside others.
    r"(?:^|[.!?] )(?:so long|(?:and )?good day|i'?m out(?=[.!])|"
    r"that(?:'?s| is| was| would be| will be) (?:all|everything)(?= from| for| i wanted|[.!]|$))"
)
# What a customer asks who comes back on what was announced.
ASKS = {
    "against": re.compile(
        r"\b(?:told (?:me )?(?:something|the opposite|otherwise)|sa(?:id|ys) something|told something|the opposite"
        r"|which (?:is|one is) right|who is right|which (?:one )?(?:counts|holds))\b"
    ),
    "away": re.compile(r"\bi(?:'m| am) (?:away|abroad)\b"),
    "suppose": re.compile(
        r"\b(?:suppose|let's say|what if|what then|if nothing|if (?:that|it) doesn't|if i hear nothing)\b"
    ),
    "number": re.compile(r"\b(?:shall i (?:keep|quote)|does it still run under|(?:does|will) my number)\b"),
    "ring": re.compile(r"\b(?:can|may|could) i (?:ring|call|write again)\b"),
    "pass_on": re.compile(r"\b(?:can|may) i (?:tell|pass|show)\b"),
    "needed": re.compile(
        r"\b(?:(?:do|will|would) i have to|(?:something|anything) (?:i (?:have|should|can)|you need|to sign|else i)"
        r"|need (?:anything )?from me|anybody need to|(?:should|shall) i (?:tell|send|bring|prepare|change)"
        r"|do i (?:send|change|need to))\b"
    ),
    "rule": re.compile(
        r"(?<!\bas )\ba rule\b|\b(?:fixed rule|leeway|always done|go another way|have a choice|that rule"
        r"|your (?:own )?(?:decision|idea|guess))\b"
    ),
    "proof": re.compile(r"\bhow (?:will|do|can) i (?:see|know|tell)\b(?! that sum)"),
    "works": re.compile(r"\b(?:other cases|with others|guinea pig|am i the first|makes you think)\b"),
    "affects": re.compile(r"\b(?:affects?|affected|change anything)\b"),
    "next": re.compile(
        r"\b(?:next step|what (?:exactly |precisely )?happens|what comes next|happens (?:first|then|next))\b"
    ),
    "time": re.compile(r"\b(?:when|how (?:soon|long|fast)|which day|what day|by what date|a date|take effect|start)\b"),
    "confirm": re.compile(r"\b(?:in writing|confirm\w*|note|receipt|message|e-?mail|letter|text|copy|reference)\b"),
    "person": re.compile(r"\b(?:who|whom|your name|in charge|boss|manager|supervisor|ask for|turn to)\b"),
    "reason": re.compile(r"\b(?:why|how come|reason|what for|else which|something else|differently)\b"),
    "certain": re.compile(r"\b(?:certain|guarantee\w*|promise|sure|last word)\b"),
}
FEELINGS = re.compile(r"emotion|mood|feeling", re.IGNORECASE)


def agent(inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One reply of a simulated service agent, as the text that a model would send."""
    procedure = read_procedure(inputs.procedure)
    bank = phrases_for(inputs.business, procedure)
    heard = [line.text for line in inputs.history if line.who == "Customer"]
    said = [line.text for line in inputs.history if line.who == "Agent"]
    skill = skill_of(profile, len(heard))
    taken = read(guides(inputs.business, procedure), heard, skill)
    fields = {name: value for name, (value, _) in taken.items()}
    system = {name: parse_value(text) for name, text in inputs.system.items()}
    path, action, plan, looked = walk(procedure, {**fields, **system}, inputs.first_stage, profile, heard)
    action = _soften(procedure, action, profile, heard)
    missing = _to_ask(bank, looked, taken, said)
    news = any(evidence is not None and evidence.message == len(heard) - 1 for _, evidence in taken.values())
    chat = _talk(bank, missing, action, profile, heard, said, news, rng)
    reply: dict[str, Any] = {"reasoning": _reasons(taken, path), "fields": fields, "path": path, "action": action}
    if procedure.plan:
        reply["plan"] = plan if action == procedure.plan[1] else procedure.plan[2]
    reply["chat"] = chat
    return _write(reply, profile, heard, rng)


@functools.lru_cache(maxsize=64)
def guides(business: str, procedure: PrintedProcedure) -> tuple[FieldSignals, ...]:
    """The fields with the wordings by which this reader knows them; feelings are told by what they are called."""
    bank = phrases_for(business, procedure)
    return signals(bank, procedure, frozenset(f.name for f in procedure.fields if FEELINGS.search(f.name)))


def skill_of(profile: Profile, messages: int) -> ReaderSkill:
    """The profile's abilities as a reader needs them; in a long dialogue the early messages are lost."""
    tired = messages > profile.fatigue
    return ReaderSkill(
        name=profile.name,
        plain=profile.comprehension,
        indirect=profile.subtlety,
        negation=profile.negation,
        revision=profile.revision,
        memory=max(2, profile.fatigue // 2) if tired else 1000,
        hostility=profile.hostility_sensitivity,
    )


def walk(
    procedure: PrintedProcedure, facts: Mapping[str, Any], first: str, profile: Profile, heard: Sequence[str]
) -> tuple[list[str], str, str | None, list[str]]:
    """Walk the printed stages: path, action, plan and what was looked at, slips included."""
    order = list(procedure.steps)
    path: list[str] = []
    looked: list[str] = []
    noted: dict[str, str] = {}
    name = first
    while name in procedure.steps and name not in path:
        step = procedure.steps[name]
        way = _choose(step, facts, profile, heard, looked)
        noted.update(dict(way.note))
        # A stage that only notes something is easily left out of the list of stages.
        notes_only = len(step.ways) == 1 and way.to is not None and name != first
        if not (notes_only and _slips(profile.rule_following, profile, f"{name} notes", heard)):
            path.append(name)
        if way.action is not None:
            return path, way.action, noted.get(procedure.plan[0]) if procedure.plan else None, looked
        following = order[order.index(name) + 1] if order.index(name) + 1 < len(order) else None
        jump = way.to != following
        if jump and following and _slips(profile.rule_following, profile, f"{name} to {way.to}", heard):
            name = following
        else:
            name = str(way.to)
    return path or [first], _any_action(procedure), None, looked


def _choose(
    step: PrintedStage, facts: Mapping[str, Any], profile: Profile, heard: Sequence[str], looked: list[str]
) -> PrintedBranch:
    one_only = step.joint and _slips(profile.joint_conditions, profile, f"{step.name} joint", heard)
    for way in step.ways:
        conditions = way.when[:1] if one_only else way.when
        for name, _ in conditions:
            if name not in looked:
                looked.append(name)
        if all(name in facts and meets(facts[name], values) for name, values in conditions):
            return way
    return step.ways[-1]


def _slips(reliability: float, profile: Profile, place: str, heard: Sequence[str]) -> bool:
    """Whether the profile gets this place wrong in this dialogue: half habit, half the dialogue's load."""
    load = 0.004 * len(heard) + 0.02 * min(3, heat(heard[-1])) * profile.hostility_sensitivity
    habit = not knows(profile.name, place, reliability)
    here = not knows(profile.name, f"{place}\0{heard[0]}", reliability - load)
    return (habit and knows(profile.name, heard[0] + place, 0.6)) or (here and not knows(profile.name, heard[0], 0.5))


def _any_action(procedure: PrintedProcedure) -> str:
    return next(iter(procedure.actions), "")


def _soften(procedure: PrintedProcedure, action: str, profile: Profile, heard: Sequence[str]) -> str:
    """A warm agent shrinks from refusing, and a shaken one hands an attacker on."""
    harsh = re.search(r"reject|refus|declin|negotiate", action, re.IGNORECASE)
    kind = next((a for a in procedure.actions if re.search(r"comfort|compensation", a, re.IGNORECASE)), None)
    if harsh and kind and profile.empathy > 0.9 and knows(profile.name, heard[-1], 0.6):
        return kind
    human = next((a for a in procedure.actions if re.search(r"human", a, re.IGNORECASE)), None)
    if human and heat(heard[-1]) * profile.hostility_sensitivity >= 0.6 and knows(profile.name, heard[-1], 0.5):
        return human
    return action


def _to_ask(
    bank: Phrases,
    looked: Sequence[str],
    taken: Mapping[str, tuple[Any, Evidence | None]],
    said: Sequence[str],
) -> str | None:
    """The first field on the way that the customer has not spoken of; nobody asks a third time."""
    for name in looked:
        asks = bank.fields.get(name, NO_FIELD).ask
        if name in taken and taken[name][1] is None and asks:
            times = sum(any(ask in text for ask in asks) for text in said)
            if times < 2:
                return name
    return None


def _talk(
    bank: Phrases,
    missing: str | None,
    action: str,
    profile: Profile,
    heard: Sequence[str],
    said: Sequence[str],
    news: bool,
    rng: np.random.Generator,
) -> str:
    tone = "warm" if profile.eloquence > 0.9 else "short" if profile.words < 20 else "plain"
    lines = voice("agent_voice")[tone]

    def pick(occasion: str, **slots: str) -> str:
        options = lines[occasion]
        return grammar.say(options[int(rng.integers(len(options)))], rng, slots)

    if said and FAREWELL.search(heard[-1].lower()):
        return pick("part" if heat(heard[-1]) else "close")
    clauses = bank.actions.get(action, NO_ACTION).clause or ("look into it",)
    announced = any(clause in text for clause in clauses for text in said)
    if missing is None and announced and not news:
        return _fresh(said, lambda: _limit(pick(_question(heard[-1])), profile))
    parts = []
    if not said:
        parts.append(pick("hello"))
    elif heat(heard[-1]) and rng.random() < profile.empathy:
        parts.append(pick("soothe"))
    elif rng.random() < 0.25 + 0.6 * profile.empathy:
        parts.append(pick("noted"))
    if missing is not None:
        asks = bank.fields[missing].ask
        fresh = [a for a in asks if not any(a in text for text in said)] or list(asks)
        parts.append(f"{pick('ask')} {fresh[int(rng.integers(len(fresh)))]}")
    else:
        parts.append(pick("act", clause=clauses[int(rng.integers(len(clauses)))]))
    return _limit(grammar.tidy(" ".join(p for p in parts if p)), profile)


def _question(message: str) -> str:
    """What a customer asks about what was announced."""
    low = message.lower()
    return next((kind for kind, pattern in ASKS.items() if pattern.search(low)), "unknown" if "?" in low else "other")


def _fresh(said: Sequence[str], draw: Callable[[], str]) -> str:
    """A line that was not said yet, as far as there is one."""
    text = ""
    for _ in range(8):
        text = draw()
        if text not in said:
            break
    return text


def _limit(text: str, profile: Profile) -> str:
    """Who writes at length goes over the limit of words; who is short never does."""
    return text if profile.words > 60 else _cut(text, 40)


def _cut(text: str, words: int) -> str:
    """At most so many words, whole sentences first."""
    sentences = re.split(r"(?<=[.!?:]) ", text)
    while len(sentences) > 1 and len(" ".join(sentences).split()) > words:
        sentences.pop(0)
    return " ".join(" ".join(sentences).split()[:words])


def _reasons(taken: Mapping[str, tuple[Any, Evidence | None]], path: Sequence[str]) -> str:
    return f"{describe_evidence(taken)} So I went {', '.join(path)}."


def describe_evidence(taken: Mapping[str, tuple[Any, Evidence | None]]) -> str:
    said = [f'{name} is {show(v)} ("{e.wording.rstrip("*")}")' for name, (v, e) in taken.items() if e]
    assumed = [name for name, (_, e) in taken.items() if e is None]
    text = "; ".join(said) + "." if said else "Nothing definite yet."
    return text + (f" Not said so far, so by default: {', '.join(assumed)}." if assumed else "")


def _write(reply: dict[str, Any], profile: Profile, heard: Sequence[str], rng: np.random.Generator) -> str:
    """The reply as text; an unreliable writer breaks the form, sooner when it is under pressure."""
    pressure = 1 + min(heat(heard[-1]), 3) * profile.hostility_sensitivity + 0.02 * len(heard)
    if rng.random() >= (1 - profile.format_reliability) * pressure:
        text = json.dumps(reply, ensure_ascii=False)
        return f"```json\n{text}\n```" if profile.format_reliability < 0.99 and rng.random() < 0.2 else text
    kind = rng.random()
    if kind < 0.4:
        # Answers the person and forgets the form.
        return str(reply["chat"])
    if kind < 0.7:
        # Quotes the customer without escaping the quotation marks.
        quote = heard[-1].split(".")[0]
        return json.dumps(reply, ensure_ascii=False).replace(
            '"reasoning": "', f'"reasoning": "The customer wrote "{quote}". ', 1
        )
    name = next(iter(reply["fields"]))
    wrong = {**reply, "fields": {**reply["fields"], name: f"{show(reply['fields'][name])}Request"}}
    return json.dumps(wrong, ensure_ascii=False)
