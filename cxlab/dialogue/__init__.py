"""The turn loops of benchmarks which converse: `converse` for talk, `DualControlLoop` where both sides also act."""

from cxlab.dialogue.dual_control import Delivery, DualControlLoop, Limits, Move, ToolResult, seen_by
from cxlab.dialogue.loop import Dialogue, Utterance, converse

__all__ = [
    "Delivery",
    "Dialogue",
    "DualControlLoop",
    "Limits",
    "Move",
    "ToolResult",
    "Utterance",
    "converse",
    "seen_by",
]
