"""Simulated models: profiles and the model that plays them."""

from cxlab.llm.simulated.model import SimulatedModel
from cxlab.llm.simulated.profiles import PROFILES, Profile

__all__ = ["PROFILES", "Profile", "SimulatedModel"]
