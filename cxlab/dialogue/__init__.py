"""The one turn loop that every benchmark which converses uses."""

from cxlab.dialogue.loop import Dialogue, Said, converse

__all__ = ["Dialogue", "Said", "converse"]
