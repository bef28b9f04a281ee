"""Play one sample: the customer and the service agent talk, the attempt keeps all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.generation import rng_for
from cxlab.benchmarks.sage import conversation_check
from cxlab.benchmarks.sage.customer_card import ToldFacts, make_card, told_until
from cxlab.benchmarks.sage.options import SageOptions
from cxlab.benchmarks.sage.procedures.sop_text import (
    known_to_customer,
    show_procedure,
    shown_system,
    told_to_customer,
)
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.rules import Scenario, load
from cxlab.dialogue import Utterance, converse
from cxlab.errors import BadOption
from cxlab.llm import ask
from cxlab.llm.base import Reply
from cxlab.records import Attempt, Message, Sample, content_id


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One dialogue; a provider fault ends it and is recorded, a reply that cannot be read does not."""
    if sample.task == conversation_check.TASK:
        return await conversation_check.run(sample, setup, trial)
    if setup.customer is None:
        raise BadOption("sage needs a customer; give --customer, for instance simulated:customer")
    customer_model = setup.customer
    s = load(sample.inputs["scenario"])
    started = datetime.now(UTC)
    options = SageOptions.of(setup.options)
    system = shown_system(sample.inputs["system"], s) if options.system_info else {}
    told = told_to_customer(known_to_customer(sample.inputs["system"], s), s) if options.system_info else {}
    played = play_card(sample, setup, trial, told)
    seed, card = played.seed, played.card
    facts = sample.inputs["facts"]
    agent_prompt = scenario_prompts.agent_prompt(s)
    procedure = show_procedure(s, options.glossary)

    async def customer(messages: Sequence[Message], turn: int) -> Utterance:
        known = told_until(facts, messages) or ToldFacts()
        untold = known.untold(len(facts))
        inputs = card.model_copy(
            update={
                "history": scenario_prompts.lines(messages),
                "told": tuple(sorted(known.told - known.mistaken)),
                "mistaken": tuple(sorted(known.mistaken)),
                "untold": untold,
                "may_leave": not untold and bool(messages),
            }
        )
        reply = await ask(customer_model, scenario_prompts.CUSTOMER, inputs, seed=seed + turn, draw=sample.id)
        if reply.output is None:
            # What stands in for a message that could not be read tells nothing.
            return _said(reply, "", data={"told": []})
        said = reply.output
        report = {"told": said.told, "withheld": said.withheld, "taken_back": said.taken_back}
        return _said(reply, said.message.strip(), done=said.done and inputs.may_leave, data=report)

    async def agent(messages: Sequence[Message], turn: int) -> Utterance:
        inputs = scenario_prompts.AgentInputs(
            business=s.business,
            procedure=procedure,
            first_stage=s.start,
            plan=s.plan.name if s.plan else "",
            system=system,
            history=scenario_prompts.lines(messages),
        )
        reply = await ask(setup.model, agent_prompt, inputs, seed=seed + turn, draw=sample.id)
        if reply.output is None:
            return _said(reply, "", data={"raw": reply.raw})
        data = reply.output.model_dump(mode="json")
        data["raw"] = reply.raw
        return _said(reply, data.pop("chat"), data=data)

    dialogue = await converse(customer, agent, options.turns)
    return Attempt(
        id=content_id(setup.run_id, sample.id, trial),
        run_id=setup.run_id,
        sample_id=sample.id,
        trial=trial,
        messages=tuple(dialogue.messages),
        # Attempts of one sample and trial met the same customer where this is the same.
        output={"script": played.id},
        outcome=dialogue.outcome,
        ended_by=dialogue.ended_by,
        failures=tuple(dialogue.failures),
        usage=dialogue.agent.usage,
        latency_s=dialogue.agent.latency_s,
        cost_usd=dialogue.agent.cost_usd,
        started=started,
    )


@dataclass(frozen=True)
class PlayedCard:
    """The customer of one sample and trial, the seed of what it says, and an id of both."""

    seed: int
    card: scenario_prompts.CustomerInputs
    id: str


# (sample, seed, trial, ...) → what it was made from, and the card.
_cards: dict[tuple[Any, ...], tuple[Scenario, dict[str, Any], PlayedCard]] = {}
_MOST_CARDS = 1_000


def play_card(sample: Sample, setup: Setup, trial: int, system: dict[str, str]) -> PlayedCard:
    """The seed and the customer of a sample and trial: neither depends on the model under test.

    Kept, because several models are run on the same samples, one after the other.
    """
    s = load(sample.inputs["scenario"])
    language = SageOptions.of(setup.options).language
    simulated = setup.customer is not None and setup.customer.simulated
    if simulated and language != "en":
        raise BadOption(f"option language={language}: simulated customers write English; take a real one")
    key = (sample.id, trial, setup.seed, language, simulated, *system.items())
    known = _cards.get(key)
    if known is not None and known[0] is s and known[1] == sample.inputs:
        return known[2]
    rng = rng_for("words", sample.id, trial, setup.seed)
    seed = int(rng.integers(2**31))
    card = make_card(s, sample.inputs, system, rng, language)
    if simulated:
        draw_script = scenario_prompts.CUSTOMER.draw_script
        card._script = draw_script(s, sample.inputs, rng) if draw_script else None
    made = PlayedCard(seed, card, content_id(card.model_dump(mode="json"), seed))
    if len(_cards) >= _MOST_CARDS:
        _cards.clear()
    _cards[key] = (s, sample.inputs, made)
    return made


def _said(reply: Reply[Any], text: str, done: bool = False, data: dict[str, Any] | None = None) -> Utterance:
    return Utterance(
        text=text,
        done=done,
        data=data or {},
        usage=reply.usage,
        latency_s=reply.latency_s,
        cost_usd=reply.cost_usd,
        failure=reply.failure,
    )
