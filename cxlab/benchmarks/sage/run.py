"""Play one sample: the customer and the service agent talk, the attempt keeps all of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.sage.generate import rng_for
from cxlab.benchmarks.sage.options import SageOptions
from cxlab.benchmarks.sage.procedures.sop_text import show_procedure
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.rules import Scenario, load
from cxlab.dialogue import Utterance, converse
from cxlab.errors import BadOption
from cxlab.files import grammar
from cxlab.llm import ask
from cxlab.llm.base import Reply
from cxlab.records import Attempt, Message, Sample, content_id

SAMPLE_WORDINGS = 4


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One dialogue; a provider fault ends it and is recorded, a reply that cannot be read does not."""
    if setup.customer is None:
        raise BadOption("sage needs a customer; give --customer, for instance simulated:customer")
    s = load(sample.inputs["scenario"])
    started = datetime.now(UTC)
    shown = scenario_prompts.shown(sample.inputs["system"], s)
    options = SageOptions.of(setup.options)
    hidden = not options.system_info
    # Wordings differ between models and trials, facts do not: the same situation, another day.
    rng = rng_for("words", sample.id, setup.model.name, trial, setup.seed)
    seed = int(rng.integers(2**31))
    card = _customer_card(s, sample.inputs, {} if hidden else shown, rng)
    agent_prompt = scenario_prompts.agent_prompt(s.id)
    procedure = show_procedure(s.id, options.glossary)

    async def customer(messages: Sequence[Message], turn: int) -> Utterance:
        inputs = card.model_copy(
            update={"history": scenario_prompts.lines(messages), "may_leave": may_leave(card, messages, turn)}
        )
        reply = await ask(setup.customer, scenario_prompts.CUSTOMER, inputs, seed=seed + turn)  # type: ignore[arg-type]
        if reply.output is None:
            return _said(reply, "")
        return _said(reply, reply.output.message.strip(), done=reply.output.done and inputs.may_leave)

    async def agent(messages: Sequence[Message], turn: int) -> Utterance:
        inputs = scenario_prompts.AgentInputs(
            business=s.business,
            procedure=procedure,
            first_stage=s.start,
            plan=s.plan.name if s.plan else "",
            system={} if hidden else shown,
            history=scenario_prompts.lines(messages),
        )
        reply = await ask(setup.model, agent_prompt, inputs, seed=seed + turn)
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
        output={},
        outcome=dialogue.outcome,
        ended_by=dialogue.ended_by,
        failures=tuple(dialogue.failures),
        usage=dialogue.agent.usage,
        latency_s=dialogue.agent.latency_s,
        cost_usd=dialogue.agent.cost_usd,
        started=started,
    )


def may_leave(card: scenario_prompts.CustomerInputs, messages: Sequence[Message], turn: int) -> bool:
    """Whether the customer may say goodbye: there was time to tell all facts and to come back on them."""
    return turn >= 2 + len(card.facts) // 2 + card.patience // 2


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


def _customer_card(
    s: Scenario, inputs: dict[str, Any], system: dict[str, str], rng: np.random.Generator
) -> scenario_prompts.CustomerInputs:
    slots = {**inputs["slots"], **{k: str(v) for k, v in inputs["system"].items()}}
    intent = s.intents[inputs["intent"]]
    person = s.personalities[inputs["personality"]]

    def some(lines: Sequence[str], count: int) -> tuple[str, ...]:
        """Up to `count` different wordings, from different lines as long as there are some."""
        # A line that can be said in few ways is drawn less often, or its wordings would be heard again and again.
        weights = np.array([min(grammar.variants(line), 36) for line in lines], dtype=float)
        order = rng.choice(len(lines), size=len(lines), replace=False, p=weights / weights.sum())
        found: dict[str, None] = {}
        for index in range(count):
            found[grammar.say(lines[order[index % len(lines)]], rng, slots)] = None
        return tuple(found)

    facts = []
    for fact in inputs["facts"]:
        spec = s.fields[fact["field"]]
        option = spec.options[fact["value"]]
        wrong = spec.options[fact["wrong"]] if fact["wrong"] is not None else None
        denied = fact["delivery"] == "contrast" and wrong is not None
        corrected = fact["delivery"] == "corrected" and wrong is not None
        facts.append(
            scenario_prompts.Fact(
                field=fact["field"],
                value=fact["label"],
                meaning=option.description,
                topic=spec.topic,
                delivery=fact["delivery"],
                wordings=some(getattr(option, fact["wording"]), SAMPLE_WORDINGS),
                denial=some(wrong.denies, 1)[0] if denied and wrong else "",
                wrong=some(wrong.says, 2) if corrected and wrong else (),
            )
        )
    return scenario_prompts.CustomerInputs(
        role=s.role,
        intent=intent.title,
        background=" ".join(grammar.say(line, rng, slots) for line in intent.background),
        goal=intent.goal,
        personality=person.description,
        style=person.style,
        attitude=scenario_prompts.attitude(inputs["level"]),
        system=system,
        facts=tuple(facts),
        openings=some(intent.openings, 3),
        small_talk=some(s.talk.small_talk, 3),
        objections=some(s.talk.objections[inputs["level"]], inputs["patience"] + 2),
        patience=inputs["patience"],
        history=[],
        may_leave=False,
    )
