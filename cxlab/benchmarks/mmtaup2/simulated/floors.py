"""The profiles of the floors: agents that understand nothing."""

from dataclasses import replace

from cxlab.llm.simulated import profiles

PROFILES = (
    replace(
        profiles.PROFILES["floor"],
        name="floor-transfer",
        title="Floor: always hands over",
        explains="Hands the customer to a person before anything else: right only where a task calls for one.",
        benchmark="mmtaup2",
    ),
    replace(
        profiles.PROFILES["floor"],
        name="floor-nothing",
        title="Floor: does nothing",
        explains="Thanks and does nothing: right only where the first state is already the wanted one.",
        benchmark="mmtaup2",
    ),
)
"""The simulated models of that name; they mean nothing in another benchmark."""
