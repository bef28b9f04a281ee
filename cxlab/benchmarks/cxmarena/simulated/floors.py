"""The constant agent of CXMArena as a simulated model; its answers are made in `evaluation/constant_answers.py`."""

from dataclasses import replace

from cxlab.llm.simulated import profiles

PROFILES = (
    replace(
        profiles.PROFILES["floor"],
        name="floor-constant",
        title="Best constant",
        explains="Gives each task the one answer that is right most often, whatever is asked: what reading is worth "
        "begins above it.",
        benchmark="cxmarena",
    ),
)
"""It means nothing in another benchmark."""
