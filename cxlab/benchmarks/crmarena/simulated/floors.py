"""Agents that give the same answer to every question of a kind and look nothing up, as floors.

Each is a simulated model like any other: `python -m cxlab run crmarena --model simulated:floor-none`. The best constant
answer of each task, which only the gold answers tell, is `answers.best_constant`.
"""

from dataclasses import replace

from cxlab.benchmarks.crmarena.answers import NO_ANSWER
from cxlab.llm.simulated import profiles

ALWAYS_NONE, GUESSES = "floor-none", "floor-guess"
PROFILES = (
    replace(
        profiles.PROFILES["floor"],
        name=ALWAYS_NONE,
        title="Always None",
        explains="Submits None at once: right where a question has no answer, and nowhere else.",
        benchmark="crmarena",
    ),
    replace(
        profiles.PROFILES["floor"],
        name=GUESSES,
        title="Constant guess",
        explains="Submits the most frequent published answer of a task without looking: December, GA, else None.",
        benchmark="crmarena",
    ),
)
"""The simulated models of these names; they mean nothing in another benchmark."""
# Ids differ between organisations, so where the answer is one it is None.
_GUESSES = {"monthly_trend_analysis": "December", "best_region_identification": "GA"}


def find_answer(profile: str, task: str) -> str:
    """The one answer of a floor to the questions of a task."""
    return _GUESSES.get(task, NO_ANSWER) if profile == GUESSES else NO_ANSWER
