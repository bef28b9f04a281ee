"""The turn loops of benchmarks which converse: `converse` for talk alone, `Duet` where both sides also act."""

from cxlab.dialogue.dual import Carried, Done, Duet, Limits, Move, seen_by
from cxlab.dialogue.loop import Dialogue, Said, converse

__all__ = ["Carried", "Dialogue", "Done", "Duet", "Limits", "Move", "Said", "converse", "seen_by"]
