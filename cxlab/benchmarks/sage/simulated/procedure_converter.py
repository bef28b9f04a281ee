"""The simulated reader of numbered procedures: "2. If … then go to step 4. Otherwise refuse and stop."

It understands that one form. A condition about the customer becomes a field, any other one a system
variable; what is neither a condition nor a jump is an action.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cxlab import files
from cxlab.llm.simulated.profiles import Profile

STEP = re.compile(r"^\s*(?:step\s+)?(\d+)\s*[.):]\s*(.*)$", re.IGNORECASE)
RULE = re.compile(r"^if\s+(.+?)(?:,\s*then\s+|,\s*|\s+then\s+)(.+)$", re.IGNORECASE)
ELSE = re.compile(r"^(?:otherwise|else|in all other cases)[, ]+(.+)$", re.IGNORECASE)
JUMP = re.compile(r"\b(?:go|continue|proceed|move|jump)(?: on)? to step (\d+)\b|\bstep (\d+)$", re.IGNORECASE)
PERSON = re.compile(r"\b(?:the |a )?(?:customer|caller|client|guest|user|passenger|patient|tenant)\b", re.IGNORECASE)
SMALL = frozenset(
    re.findall(
        r"\w+",
        "the a an is are was were has have had of to and or not no with for on in at by that this it its they their "
        "be been then customer caller client guest user passenger patient tenant step stop end wants want does do",
    )
)
FIRST_PERSON = [
    (r"\bdoes not\b", "do not"),
    (r"\bwants\b", "want"),
    (r"\bhas\b", "have"),
    (r"\bis\b", "am"),
    (r"\bagrees\b", "agree"),
    (r"\baccepts\b", "accept"),
    (r"\brefuses\b", "refuse"),
    (r"\basks\b", "ask"),
    (r"\bneeds\b", "need"),
    (r"\bcan not\b|\bcannot\b", "cannot"),
    (r"\b(?:his|her|their)\b", "my"),
    (r"^(\w+[^s\W])s\b", r"\1"),
]


@dataclass
class StepRule:
    condition: str | None
    to: str | None
    action: str | None


@dataclass
class ProcedureStep:
    number: str
    title: str
    rules: list[StepRule] = field(default_factory=list)


def convert(inputs: Any, profile: Profile, rng: np.random.Generator) -> str:
    """The YAML text of the scenario, or a plain sentence when the prose has no numbered steps."""
    parts = read_steps(inputs.text)
    if not parts:
        return "I can only read numbered steps of the form: 1. If ... then go to step 2. Otherwise ... and stop."
    return files.dump_yaml(_scenario(inputs.text, parts))


def read_steps(text: str) -> list[ProcedureStep]:
    """The numbered steps with their rules, in the order of the text."""
    blocks: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if found := STEP.match(line):
            blocks.append((found[1], [found[2]]))
        elif blocks and line.strip():
            blocks[-1][1].append(line.strip())
    parts = []
    for number, lines in blocks:
        part = ProcedureStep(number, "")
        for sentence in re.split(r"(?<=[.;])\s+", " ".join(lines)):
            said = sentence.strip().rstrip(".;")
            if not said:
                continue
            if found := RULE.match(said):
                part.rules.append(_rule(found[1], found[2]))
            elif found := ELSE.match(said):
                part.rules.append(_rule(None, found[1]))
            elif JUMP.search(said) or re.search(r"\b(?:stop|end)\b", said, re.IGNORECASE):
                part.rules.append(_rule(None, said))
            else:
                part.title = part.title or said
        parts.append(part)
    return parts


def _rule(condition: str | None, outcome: str) -> StepRule:
    if found := JUMP.search(outcome):
        return StepRule(condition, f"stage{found[1] or found[2]}", None)
    said = re.sub(
        r"\s*(?:,\s*)?(?:and |then )?(?:stop|end)(?: here| there)?$", "", outcome.strip(), flags=re.IGNORECASE
    )
    return StepRule(condition, None, said or "close the conversation")


def _scenario(text: str, parts: list[ProcedureStep]) -> dict[str, Any]:
    heading = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), "Procedure")
    title = "Procedure" if STEP.match(heading) else heading.rstrip(".:")
    name = re.sub(r"\W+", "_", title.lower()).strip("_")[:40] or "procedure"
    fields: dict[str, Any] = {}
    system: dict[str, Any] = {}
    actions: dict[str, Any] = {}
    stages: dict[str, Any] = {}
    for part in parts:
        stages[f"stage{part.number}"] = _stage(part, fields, system, actions)
    return {
        "id": name,
        "short": "".join(w[0] for w in title.split())[:2].upper() or "P",
        "title": title,
        "business": f"A service desk that works by this procedure: {title}.",
        "role": "a customer of this business",
        "slots": {"name": ["Alex", "Robin", "Kim", "Jo", "Chris", "Pat"]},
        "fields": fields,
        "system": system,
        "actions": actions,
        "stages": stages,
        "intents": {
            "concern": {
                "title": title,
                "level": "zero",
                "background": [f"It is about this matter: {title}."],
                "goal": "Have the matter settled.",
                "openings": [
                    "(hello|good day), (it's about a matter you handle|I have something for your desk)",
                    "(could you help me|can somebody help me) with something (today|now|)?",
                    "my name is <name> and I (would like some help|have a matter for you)",
                ],
            }
        },
        "personalities": {
            "plain": {"description": "says what matters", "style": ["terse"]},
            "talkative": {"description": "likes to talk", "style": ["chatty"]},
        },
        "talk": {
            "small_talk": [
                "(my name is <name>|this is <name>), by the way",
                "(I'm writing from the train|it is a long day)",
            ],
            "objections": {
                "zero": [
                    "(When|How soon) will (that happen|I hear from you)?",
                    "(Do|Will) I get a (note|message) about it?",
                ],
                "weak": ["(Why|How come) is (that|it) so?", "(And what|What) comes (next|after that)?"],
                "strong": [
                    "(That is no answer.|You are wasting my day.) (Who decides there|What now)?",
                    "Do your job (now|at last)!",
                ],
            },
        },
    }


def _stage(
    part: ProcedureStep, fields: dict[str, Any], system: dict[str, Any], actions: dict[str, Any]
) -> dict[str, Any]:
    asked = [rule for rule in part.rules if rule.condition]
    title = (part.title or f"Step {part.number}")[:60]
    options = _option_names([rule.condition or "" for rule in asked])
    variable = ""
    if asked:
        personal = all(PERSON.search(rule.condition or "") for rule in asked)
        variable = f"{_camel(title, 3) or 'Step'}{part.number}"
        others = [r for r in part.rules if not r.condition]
        named = [*options, "Otherwise"] if others else options
        conditions = [r.condition or "" for r in asked]
        if personal:
            fields[variable] = _field(title, named, conditions)
        else:
            told = [*conditions, "none of the above"][: len(named)]
            system[variable] = {"description": f"{title}.", "values": dict(zip(named, told, strict=True))}
    branches = []
    for rule in part.rules:
        branch: dict[str, Any] = {}
        if variable:
            branch["when"] = {variable: options[asked.index(rule)] if rule.condition else "Otherwise"}
        if rule.to:
            branch["to"] = rule.to
        else:
            action = _camel(rule.action or "", 3) or "Close"
            actions.setdefault(action, {"description": f"{rule.action}.", "clause": [_lower(rule.action or "")]})
            branch["action"] = action
        branches.append(branch)
    return {"title": title, "branches": branches}


def _field(title: str, options: list[str], conditions: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, condition in zip(options, [*conditions, ""], strict=False):
        clause = _as_i(condition) if condition else ""
        if not clause:
            key = _lower(" ".join(_content(conditions[0])[-2:]))
            clause = f"see no {key} here"
        found[name] = {
            "description": condition or "none of the other options",
            "signals": [_lower(clause)],
            "says": [
                f"(Well,|To be clear,|In my case,|As it is,|The thing is,|Honestly,) I {clause}( now|, that is all|)",
                f"(Yes:|Right:|So:) I {clause}( this time|, you may note that|, as it happens|)",
            ],
            "heated": [f"(Once more:|For the last time:|Write it down:) I {clause}(!|. Got it?)"],
        }
    words = _content(" ".join([title, *conditions]))
    return {
        "description": f"{title}.",
        "default": options[-1],
        "ask": [f"May I ask about this point: {_lower(title)}?"],
        "topic": [w.lower() for w in dict.fromkeys(["point", *_content(title), *words])][:7],
        "options": found,
    }


def _as_i(condition: str) -> str:
    """ "the customer wants a refund" → "want a refund"."""
    text = PERSON.sub("", condition).strip()
    for pattern, by in FIRST_PERSON:
        text = re.sub(pattern, by, text, count=1)
    return re.sub(r"\s+", " ", text).strip(" ,")


def _option_names(conditions: list[str]) -> list[str]:
    names: list[str] = []
    for condition in conditions:
        others = {w.lower() for c in conditions if c is not condition for w in _content(c)}
        own = [w for w in _content(condition) if w.lower() not in others] or _content(condition)
        negated = "Not" if re.search(r"\bnot\b|\bno\b|n't\b", condition) else ""
        name = negated + "".join(w.capitalize() for w in own[:3]) or f"Option{len(names) + 1}"
        names.append(name if name not in names else f"{name}{len(names) + 1}")
    return names


def _content(text: str) -> list[str]:
    return [w for w in re.findall(r"[A-Za-z]+", text) if w.lower() not in SMALL]


def _camel(text: str, words: int) -> str:
    return "".join(w.capitalize() for w in _content(text)[:words])


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
