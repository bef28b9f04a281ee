"""How a simulated judge labels the fields and grades a reply: from the printed prompt and its own phrase bank."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from cxlab.benchmarks.sage.procedures.sop_text import show
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS, JudgeInputs
from cxlab.benchmarks.sage.simulated.agent import describe_evidence, guides, skill_of
from cxlab.benchmarks.sage.simulated.procedure_reader import read_procedure
from cxlab.benchmarks.sage.simulated.signal_reader import heat, read
from cxlab.llm.simulated.profiles import Profile

FEELING = re.compile(r"\b(?:sorry|understand|appreciate|glad|happy|thank|thanks|hear you|welcome|pleasure|feel)\b")
SOOTHING = re.compile(r"\b(?:sorry|understand|feel|hear you|see why|fair point|concern|right to ask)\b")
OWN_STYLE = re.compile(r"\b(?:truly|wholeheartedly|warmly|gladly|wonderful\w*|absolutely|so much|greatest|lovely)\b")
WORD = re.compile(r"[a-z]{4,}")


def judge(inputs: JudgeInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One ballot of a simulated judge."""
    procedure = read_procedure(f"{inputs.fields}\n{inputs.policy}")
    heard = [line.text for line in inputs.history if line.who == "Customer"]
    taken = read(guides(inputs.business, procedure), heard, skill_of(profile, len(heard)))
    fields: dict[str, Any] = {name: value for name, (value, _) in taken.items()}
    # Now and then a judge answers with a word of its own in place of a printed value.
    if rng.random() > 0.9 + 0.1 * profile.rule_following:
        name = sorted(fields)[int(rng.integers(len(fields)))]
        fields[name] = f"Rather{show(fields[name]).capitalize()}"
    grades, remark = grade(inputs, profile, rng)
    ballot = {
        "fields_reasoning": describe_evidence(taken),
        "fields": fields,
        "grades_reasoning": remark,
        "grades": grades,
    }
    text = json.dumps(ballot, ensure_ascii=False)
    if rng.random() > profile.format_reliability:
        return f"I would grade this reply {grades['content_utility']} out of 9. {remark}"
    return text


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
        "instruction_compliance": 0.9 - 0.2 * (reply.count("?") > 1) - 0.1 * (words < 4),
    }
    liking = 0.3 * profile.self_preference * min(2, len(OWN_STYLE.findall(low)))
    severity = 0.13 * profile.strictness
    grades = {}
    for name in DIMENSIONS:
        value = quality[name] + liking - severity + 0.07 * (rng.random() - 0.5)
        grades[name] = 9 if value >= 0.7 else 6 if value >= 0.42 else 3
    remarks = [
        f"{words} words",
        "says what happens next" if acts else "asks for a missing fact" if asks else "does not help any further",
        "repeats an earlier reply" if repeated else "",
        ("meets the customer's anger" if soothing else "passes over the customer's anger") if hot else "",
        "a voice I like" if liking > 0.2 else "",
    ]
    return grades, "; ".join(r for r in remarks if r) + "."


def _alike(a: str, b: str) -> bool:
    x, y = set(WORD.findall(a.lower())), set(WORD.findall(b.lower()))
    return bool(x and y) and len(x & y) / len(x | y) > 0.7
