"""What a customer is told of itself, in plain words: no key of a record, nothing that only the company knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import CustomerInputs
from cxlab.benchmarks.mmtaup2.tasks import CustomerKnowledge

# What a fact is in a sentence; facts that are told with what the customer wants stand in no list of their own.
_SENTENCES: dict[str, Callable[[Any], str]] = {
    "known": str,
    "name": lambda value: f"Your name is {value}.",
    "phone_number": lambda value: f"The number of your line is {value}.",
    "date_of_birth": lambda value: f"Your date of birth, as the company has it, is {value}.",
    "location": lambda value: f"You are {value}.",
    "zip": lambda value: f"The post code of your address is {value}.",
    "email": lambda value: f"The e-mail address of your account is {value}.",
}
_NAMES = {
    "customer_id": "Your customer number.",
    "line_id": "The number under which the company keeps your line.",
    "bill_id": "The number of any bill.",
    "cause": "What causes the trouble.",
    "email": "The e-mail address of your account: you are not sure which one it was.",
}


def make_card(
    known: CustomerKnowledge,
    about: str,
    manner: dict[str, str],
    tools: Sequence[Mapping[str, Any]],
    voice: bool,
) -> CustomerInputs:
    """What a customer of a task knows and is, before the first message."""
    return CustomerInputs(
        about=about,
        manner=manner,
        wants=known.matters or ((known.reason,) if known.reason else ()),
        knows=tuple(facts_in_words(known.facts)),
        unknown=tuple(_NAMES.get(name, name) for name in known.unknown),
        wishes=known.wishes,
        instructions=known.instructions,
        device=bool(tools),
        tools=[dict(tool) for tool in tools],
        history=[],
        voice=voice,
        reason=known.reason,
        facts=dict(known.facts),
    )


def facts_in_words(facts: Mapping[str, Any]) -> list[str]:
    """The facts that a customer is asked for, each a sentence; running text of an imported task says them itself."""
    said = {name: facts[name] for name in _SENTENCES if facts.get(name) not in (None, "")}
    if "known" in said:
        return [str(said["known"])]
    if "name" not in said and facts.get("first_name"):
        said = {"name": f"{facts['first_name']} {facts.get('last_name', '')}".strip(), **said}
    return [_SENTENCES[name](value) for name, value in said.items()]
