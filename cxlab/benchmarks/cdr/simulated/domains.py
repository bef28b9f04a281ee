"""A stand-in that sorts conversations by domain: it counts words of a list, and understands none of them."""

from __future__ import annotations

import functools
import json
import random
import re

from cxlab import files, resources
from cxlab.benchmarks.cdr.corpus.written import DOMAINS
from cxlab.benchmarks.cdr.prompts.domains import DomainInputs
from cxlab.llm.simulated import Profile

FILE = resources.data("simulated", "cdr", "domains.yaml")


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Title → its words."""
    listed = files.read_yaml(FILE)
    return {
        DOMAINS[id]: re.compile(r"\b(?:" + "|".join(re.escape(w).replace(r"\*", r"\w*") for w in words) + r")\b")
        for id, words in listed.items()
    }


def domain(inputs: DomainInputs, profile: Profile, rng: random.Random) -> str:
    """The domain of which most different words are said; of none, none of them. It may forget the form."""
    text = inputs.conversation.casefold()
    found = {title: set(pattern.findall(text)) for title, pattern in _patterns().items()}
    best = max(found, key=lambda title: len(found[title]))
    said = best if found[best] else inputs.other
    if rng.random() > profile.format_reliability:
        return f"It is about {said}."
    words = ", ".join(sorted(found[best])[:6]) or "none that it knows"
    return json.dumps({"reason": f"words: {words}", "domain": said})
