"""The paper's formulae: chat, logic, overall, and what an action is worth."""

from collections.abc import Mapping

CHAT_WEIGHTS = {
    "linguistic_quality": 2.0,
    "anthropomorphism_emotion": 2.5,
    "content_utility": 2.5,
    "user_satisfaction": 1.5,
    "instruction_compliance": 1.5,
}


def chat(dimensions: Mapping[str, float]) -> float:
    """Chat quality from the five dimensions on 3–9: weights 2.0, 2.5, 2.5, 1.5, 1.5; 30 to 90, never 100."""
    return sum(weight * dimensions[name] for name, weight in CHAT_WEIGHTS.items())


def logic(classification: float, path: float, action: float) -> float:
    """0.4 classification + 0.4 path + 0.2 action; scale in = scale out."""
    return 0.4 * classification + 0.4 * path + 0.2 * action


def overall(logic: float, chat: float) -> float:
    """0.8 logic + 0.2 chat; scale in = scale out."""
    return 0.8 * logic + 0.2 * chat


def action(predicted: Mapping[str, str], reference: Mapping[str, str]) -> float:
    """1 for the right action; where the reference has a plan, 0.7 for the action and 0.3 for the plan."""
    if predicted.get("Action") != reference["Action"]:
        return 0.0
    plans = [key for key in reference if key != "Action"]
    if not plans or all(reference[key] == "none" for key in plans):
        return 1.0
    return 0.7 + 0.3 * all(predicted.get(key) == reference[key] for key in plans)
