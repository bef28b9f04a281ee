"""Which wordings and rules a stand-in of a profile knows, of whatever domain."""

from __future__ import annotations

from cxlab.llm import simulated
from cxlab.llm.simulated import Profile


def knows(profile: Profile, what: str, share: float) -> bool:
    """Whether this profile knows a wording: fixed for ever, so that what it misses is systematic."""
    return simulated.knows(profile.name, what, share)
