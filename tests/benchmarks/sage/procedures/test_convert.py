"""Prose with numbered steps becomes a scenario that the checker passes and that keeps the logic."""

import pytest
import yaml

from cxlab.benchmarks.sage.procedures.convert import Unconvertible, check_text, convert
from cxlab.benchmarks.sage.rules import Scenario
from cxlab.errors import BadFile
from cxlab.llm import load

PROSE = """Gym membership freeze
1. Find out what the customer wants. If the customer wants a freeze then go to step 2. If the customer wants to
   leave the gym then go to step 3.
2. Look at the medical note. If the customer has a doctor's note then freeze the membership and
   stop. Otherwise go to step 4.
3. Check the term. If the minimum term is over then end the membership and stop. If the minimum
   term still runs then go to step 4.
4. Offer a smaller plan. If the customer accepts the smaller plan then book the smaller plan and stop.
   Otherwise hand over to the manager and stop.
"""


def test_numbered_prose_keeps_its_logic() -> None:
    text = convert(PROSE, load("simulated:strong"))
    assert check_text(text) == []
    s = Scenario.model_validate(yaml.safe_load(text))
    # Freeze: note, or no note and offer taken or not; leave: term over, or term runs and offer taken or not.
    assert len(s.leaves()) == 6
    (system,) = s.system
    wish, note, offer = s.fields
    options = {name: list(s.fields[name].options) for name in s.fields}
    over, runs = s.system[system].values

    def path(**facts):
        trace = s.trace(facts, facts)
        return trace.path, trace.action["Action"]

    assert path(**{wish: options[wish][0], note: options[note][0]}) == (("stage1", "stage2"), "FreezeMembership")
    assert path(**{wish: options[wish][1], system: over}) == (("stage1", "stage3"), "Membership")
    refused = {wish: options[wish][1], system: runs, offer: options[offer][1]}
    assert path(**refused) == (("stage1", "stage3", "stage4"), "HandOverManager")


def test_prose_without_steps_is_refused_with_the_reason() -> None:
    with pytest.raises(Unconvertible, match="steps that decide something"):
        convert("Be nice to everybody.", load("simulated:strong"))


def test_empty_text_is_refused() -> None:
    with pytest.raises(BadFile, match="empty"):
        convert("  \n", load("simulated:strong"))


def test_a_step_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(Unconvertible, match="stage9"):
        convert(
            "1. If the customer wants a refund then go to step 9. Otherwise refuse and stop.", load("simulated:strong")
        )
