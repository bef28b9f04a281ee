"""How simulated agents and judges do SAGE's tasks: from the printed prompt alone, by plain means.

An agent reads the fields from what the customer wrote (reading.py), walks the printed procedure, and
talks. It goes wrong where its profile is weak: on indirect wordings, negations, changes of mind and
heated messages; on stages that read two things at once, on jumps against the printed order, on early
facts in a long dialogue. Each of these stands in the text, so that a failure can be understood.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cxlab import files, resources
from cxlab.benchmarks.sage.procedures.signal_reader import Evidence, ReaderSkill, heat, known, read
from cxlab.benchmarks.sage.procedures.sop_text import (
    PrintedBranch,
    PrintedProcedure,
    PrintedStage,
    read_procedure,
    show,
)
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS, AgentInputs, JudgeInputs
from cxlab.files import grammar
from cxlab.llm.simulated.profiles import Profile

VOICES = resources.data("simulated", "sage")
FAREWELL = re.compile(
    r"\b(?:bye|goodbye|thanks? for|thank you|many thanks|that('s| is) all|that will do|we are done|cheers|all the best|"
    r"take care|closing this|close (?:this|my)|i'm (?:off|leaving|done)|so long|enough for today)\b"
)
FEELING = re.compile(r"\b(?:sorry|understand|appreciate|glad|happy|thank|thanks|hear you|welcome|pleasure|feel)\b")
SOOTHING = re.compile(r"\b(?:sorry|understand|feel|hear you|see why|fair point|concern|right to ask)\b")
OWN_STYLE = re.compile(r"\b(?:truly|wholeheartedly|warmly|gladly|wonderful\w*|absolutely|so much|greatest|lovely)\b")
WORD = re.compile(r"[a-z]{4,}")


@functools.cache
def voice(name: str) -> dict[str, dict[str, list[str]]]:
    """The lines of a voice file in `data/personas/`."""
    return files.read_yaml(VOICES / f"{name}.yaml")  # type: ignore[no-any-return]


def agent(inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One reply of a simulated service agent, as the text that a model would send."""
    procedure = read_procedure(inputs.procedure)
    heard = [line.text for line in inputs.history if line.who == "Customer"]
    said = [line.text for line in inputs.history if line.who == "Agent"]
    skill = skill_of(profile, len(heard))
    taken = read(procedure.guides, heard, skill)
    fields = {name: value for name, (value, _) in taken.items()}
    system = {name: _value(text) for name, text in inputs.system.items()}
    path, action, plan, looked = walk(procedure, {**fields, **system}, inputs.first_stage, profile, heard)
    action = _soften(procedure, action, profile, heard)
    missing = _to_ask(procedure, looked, taken, said)
    chat = _talk(procedure, missing, action, profile, heard, said, rng)
    reply: dict[str, Any] = {"fields": fields, "path": path, "action": action}
    if procedure.plan:
        reply["plan"] = plan if action == procedure.plan[1] else procedure.plan[2]
    reply["reasoning"] = _reasons(taken, path)
    reply["chat"] = chat
    return _write(reply, profile, heard, rng)


def judge(inputs: JudgeInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One ballot of a simulated judge."""
    procedure = read_procedure(inputs.fields)
    heard = [line.text for line in inputs.history if line.who == "Customer"]
    taken = read(procedure.guides, heard, skill_of(profile, len(heard)))
    fields: dict[str, Any] = {name: value for name, (value, _) in taken.items()}
    # Now and then a judge answers with a word of its own in place of a printed value.
    if rng.random() > 0.9 + 0.1 * profile.rule_following:
        name = sorted(fields)[int(rng.integers(len(fields)))]
        fields[name] = f"Rather{show(fields[name]).capitalize()}"
    grades, remark = grade(inputs, profile, rng)
    ballot = {
        "fields": fields,
        "grades": grades,
        "fields_reason": _evidence(taken),
        "grades_reason": remark,
    }
    text = json.dumps(ballot, ensure_ascii=False)
    if rng.random() > profile.format_reliability:
        return f"I would grade this reply {grades['content_utility']} out of 9. {remark}"
    return text


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
    joint = any(len(way.when) > 1 for way in step.ways)
    one_only = joint and _slips(profile.joint_conditions, profile, f"{step.name} joint", heard)
    for way in step.ways:
        conditions = way.when[:1] if one_only else way.when
        for name, _ in conditions:
            if name not in looked:
                looked.append(name)
        if all(_meets(facts.get(name), values) for name, values in conditions):
            return way
    return step.ways[-1]


def _slips(reliability: float, profile: Profile, place: str, heard: Sequence[str]) -> bool:
    """Whether the profile gets this place wrong in this dialogue: half habit, half the dialogue's load."""
    load = 0.004 * len(heard) + 0.02 * min(3, heat(heard[-1])) * profile.hostility_sensitivity
    habit = not known(profile.name, place, reliability)
    here = not known(profile.name, f"{place}\0{heard[0]}", reliability - load)
    return (habit and known(profile.name, heard[0] + place, 0.6)) or (here and not known(profile.name, heard[0], 0.5))


def _meets(value: Any, wanted: Sequence[Any]) -> bool:
    for one in wanted:
        if isinstance(one, str) and one.startswith(">"):
            if isinstance(value, int) and not isinstance(value, bool) and value > int(one[1:]):
                return True
        elif value == one and isinstance(value, bool) == isinstance(one, bool):
            return True
    return False


def _value(text: str) -> Any:
    from cxlab.benchmarks.sage.procedures.sop_text import parse_value

    return parse_value(text)


def _any_action(procedure: PrintedProcedure) -> str:
    return next(iter(procedure.clauses))


def _soften(procedure: PrintedProcedure, action: str, profile: Profile, heard: Sequence[str]) -> str:
    """A warm agent shrinks from refusing, and a shaken one hands an attacker on."""
    harsh = re.search(r"reject|refus|declin|negotiate", action, re.IGNORECASE)
    kind = next((a for a in procedure.clauses if re.search(r"comfort|compensation", a, re.IGNORECASE)), None)
    if harsh and kind and profile.empathy > 0.9 and known(profile.name, heard[-1], 0.6):
        return kind
    human = next((a for a in procedure.clauses if re.search(r"human", a, re.IGNORECASE)), None)
    if human and heat(heard[-1]) * profile.hostility_sensitivity >= 0.6 and known(profile.name, heard[-1], 0.5):
        return human
    return action


def _to_ask(
    procedure: PrintedProcedure,
    looked: Sequence[str],
    taken: Mapping[str, tuple[Any, Evidence | None]],
    said: Sequence[str],
) -> str | None:
    """The first field on the way that the customer has not spoken of; nobody asks a third time."""
    for name in looked:
        if name in taken and taken[name][1] is None and procedure.asks.get(name):
            times = sum(any(ask in text for ask in procedure.asks[name]) for text in said)
            if times < 2:
                return name
    return None


def _talk(
    procedure: PrintedProcedure,
    missing: str | None,
    action: str,
    profile: Profile,
    heard: Sequence[str],
    said: Sequence[str],
    rng: np.random.Generator,
) -> str:
    tone = "warm" if profile.eloquence > 0.9 else "short" if profile.words < 20 else "plain"
    lines = voice("agent_voice")[tone]

    def pick(occasion: str, **slots: str) -> str:
        options = lines[occasion]
        return grammar.say(options[int(rng.integers(len(options)))], rng, slots)

    if FAREWELL.search(heard[-1].lower()) and said and missing is None:
        return pick("close")
    parts = []
    if not said:
        parts.append(pick("hello"))
    elif heat(heard[-1]) and rng.random() < profile.empathy:
        parts.append(pick("soothe"))
    elif rng.random() < 0.25 + 0.6 * profile.empathy:
        parts.append(pick("noted"))
    if missing is not None:
        asks = procedure.asks[missing]
        fresh = [a for a in asks if not any(a in text for text in said)] or list(asks)
        ask = fresh[int(rng.integers(len(fresh)))]
        parts.append(f"{pick('ask')} {ask}")
    else:
        clauses = procedure.clauses.get(action, ("look into it",))
        clause = clauses[int(rng.integers(len(clauses)))]
        announced = any(c in text for c in clauses for text in said)
        parts.append(pick("again" if announced else "act", clause=clause))
    text = grammar.tidy(" ".join(p for p in parts if p))
    # Who writes at length goes over the limit of words; who is short never does.
    return text if profile.words > 60 else _cut(text, 40)


def _cut(text: str, words: int) -> str:
    """At most so many words, whole sentences first."""
    sentences = re.split(r"(?<=[.!?:]) ", text)
    while len(sentences) > 1 and len(" ".join(sentences).split()) > words:
        sentences.pop(0)
    return " ".join(" ".join(sentences).split()[:words])


def _reasons(taken: Mapping[str, tuple[Any, Evidence | None]], path: Sequence[str]) -> str:
    return f"{_evidence(taken)} So I went {', '.join(path)}."


def _evidence(taken: Mapping[str, tuple[Any, Evidence | None]]) -> str:
    said = [f'{name} is {show(v)} ("{e.wording.rstrip("*")}")' for name, (v, e) in taken.items() if e]
    assumed = [name for name, (_, e) in taken.items() if e is None]
    text = "; ".join(said) + "." if said else "Nothing definite yet."
    return text + (f" Not said, so taken as printed: {', '.join(assumed)}." if assumed else "")


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


def grade(inputs: JudgeInputs, profile: Profile, rng: np.random.Generator) -> tuple[dict[str, int], str]:
    """The five grades for the last reply, from what can be seen in the text, and a remark."""
    reply = inputs.history[-1].text
    before = [line.text for line in inputs.history[:-1] if line.who == "Agent"]
    customer = next((line.text for line in reversed(inputs.history) if line.who == "Customer"), "")
    low, words = reply.lower(), len(reply.split())
    hot = heat(customer)
    soothing = bool(SOOTHING.search(low))
    repeated = any(_alike(reply, earlier) for earlier in before)
    acts, asks = "i will" in low, "?" in reply
    shared = len(set(WORD.findall(low)) & set(WORD.findall(customer.lower())))
    quality = {
        "linguistic_quality": 0.82 - 0.3 * (words < 6) - 0.12 * (words < 10) - 0.2 * (words > 45) - 0.3 * repeated,
        "anthropomorphism_emotion": 0.42
        + 0.27 * bool(FEELING.search(low))
        + 0.12 * (words > 14)
        - 0.14 * (words < 8)
        + (0.14 if soothing else -0.3) * bool(hot),
        "content_utility": 0.52 + 0.06 * min(shared, 3) + 0.14 * acts + 0.1 * (asks and not repeated) - 0.28 * repeated,
        "user_satisfaction": 0.54
        + 0.14 * acts
        + 0.1 * soothing
        - 0.22 * (bool(hot) and not soothing)
        - 0.2 * repeated
        - 0.1 * (words < 7),
        "instruction_compliance": 0.9 - 0.42 * (words > 40) - 0.2 * (reply.count("?") > 1) - 0.1 * (words < 4),
    }
    liking = 0.3 * profile.self_preference * min(2, len(OWN_STYLE.findall(low)))
    severity = 0.13 * profile.strictness
    grades = {}
    for name in DIMENSIONS:
        value = quality[name] + liking - severity + 0.07 * (rng.random() - 0.5)
        grades[name] = 9 if value >= 0.7 else 6 if value >= 0.42 else 3
    remarks = [
        f"{words} words" + (", over the limit" if words > 40 else ""),
        "says what happens next" if acts else "asks for a missing fact" if asks else "moves nothing forward",
        "repeats an earlier reply" if repeated else "",
        ("meets the customer's anger" if soothing else "passes over the customer's anger") if hot else "",
        "a voice I like" if liking > 0.2 else "",
    ]
    return grades, "; ".join(r for r in remarks if r) + "."


def _alike(a: str, b: str) -> bool:
    x, y = set(WORD.findall(a.lower())), set(WORD.findall(b.lower()))
    return bool(x and y) and len(x & y) / len(x | y) > 0.7
