"""Simulated models: profiles and the model that plays them."""

from cxlab.llm.simulated.model import SimulatedModel
from cxlab.llm.simulated.profiles import PROFILES, Profile, add_source, find_profile, knows, list_profiles

__all__ = ["PROFILES", "Profile", "SimulatedModel", "add_source", "find_profile", "knows", "list_profiles"]
