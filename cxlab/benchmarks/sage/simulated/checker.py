"""How a simulated model reads a conversation that took place elsewhere: by words, as simulated judges do."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from cxlab.benchmarks.sage.prompts.scenario_prompts import UNTOLD, CheckInputs
from cxlab.benchmarks.sage.simulated.agent import describe_evidence, guides, skill_of
from cxlab.benchmarks.sage.simulated.back_end_reader import read_back_end, read_things
from cxlab.benchmarks.sage.simulated.phrases import SMALL
from cxlab.benchmarks.sage.simulated.procedure_reader import read_procedure
from cxlab.benchmarks.sage.simulated.signal_reader import read
from cxlab.llm.simulated.profiles import Profile

# Words that an agent's line and an action's description must share for the line to show it.
FEWEST = 2


def check(inputs: CheckInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Fields by the wordings that it knows, the action by words of its description, the back end by the words that the
    procedure explains its values by; what it does not find it says is untold."""
    procedure = read_procedure(f"{inputs.fields}\n{inputs.policy}")
    heard = [line.text for line in inputs.lines if line.who == "Customer"]
    taken = read(guides(inputs.business, procedure), heard, skill_of(profile, len(heard)))
    found: dict[str, Any] = {
        "reasoning": describe_evidence(taken),
        "fields": {name: value for name, (value, _) in taken.items()},
    }
    if inputs.back_end:
        things = read_things(inputs.policy, inputs.back_end)
        found["back_end"] = read_back_end(things, [line.text for line in inputs.lines])
    action, line = UNTOLD, 0
    most = FEWEST - 1
    for name, description in procedure.actions.items():
        wanted = _words(description)
        for each in inputs.lines:
            shared = len(wanted & _words(each.text)) if each.who == "Agent" else 0
            if shared > most:
                action, line, most = name, each.id, shared
    text = json.dumps({**found, "action": action, "lines": [line] if line else []}, ensure_ascii=False)
    return text if rng.random() <= profile.format_reliability else f"The agent did {action}."


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in SMALL)
