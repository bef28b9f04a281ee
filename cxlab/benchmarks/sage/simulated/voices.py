"""How stand-ins talk, whatever the scenario: lines by occasion, and by level or tone."""

from __future__ import annotations

import functools

from cxlab import files, resources

FOLDER = resources.data("simulated", "sage")


@functools.cache
def voice(name: str) -> dict[str, dict[str, list[str]]]:
    """The lines of a voice file: customer_voice by kind and level, agent_voice by tone and occasion."""
    found: dict[str, dict[str, list[str]]] = files.read_yaml(FOLDER / f"{name}.yaml")
    return found
