"""Each prompt of a writer once, on the default company, so that `python -m cxlab prompts crmarena` can show it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pydantic import BaseModel

from cxlab.benchmarks.crmarena.generation import prompts
from cxlab.benchmarks.crmarena.generation.correspondence import fill_slots
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import talks
from cxlab.benchmarks.crmarena.organisation.notes import load_notes
from cxlab.errors import CxError
from cxlab.llm import ChatModel, Prompt, ask

_SLOTS = {
    "customer": "Ada",
    "agent": "Tariq",
    "colleague": "Mei",
    "product": "Marsh Runner running shoes",
    "order": "801Ws0000000001AAA",
    "email": "ada.voss@postbox.example",
}


def ask_writer(model: ChatModel) -> None:
    """Asks for names, two cases (one that breaks a rule), a reader's opinion, a purchase and other words."""

    async def ask_all() -> None:
        for prompt, inputs in list_examples():
            # A simulated writer is not asked for a second opinion: its texts are written by hand.
            with suppress(CxError):
                await ask(model, prompt, inputs)

    asyncio.run(ask_all())


def list_examples() -> list[tuple[Prompt[BaseModel, BaseModel], BaseModel]]:
    """(prompt, inputs) of each."""
    company = companies.load_default()
    profile = company.profile
    kept, broken = (_describe(company, breaks) for breaks in (False, True))
    rules = tuple(prompts.Rule(id=policy.id, text=policy.rule) for policy in profile.conduct_policies)
    bought = (
        prompts.Purchase(id="01tWs0000000001AAA", name="Marsh Runner Men's Slate (running shoe)", day="2021-03-02"),
        prompts.Purchase(id="01tWs0000000002AAA", name="Fern Low Men's Olive (hiking shoe)", day="2021-03-02"),
    )
    asked = prompts.Asked(number=0, text="What is the most common issue with the Marsh Runner in the past 3 months?")
    lines = tuple(f"{line.speaker}: {line.text}" for line in broken.script)
    found: list[tuple[Prompt[BaseModel, BaseModel], BaseModel]] = []
    pairs = (
        (
            prompts.PEOPLE,
            prompts.PeopleInputs(description=profile.description, role="customers", count=10, known=("Ada Voss",)),
        ),
        (prompts.CASES, prompts.CasesInputs(description=profile.description, cases=(kept, broken))),
        (prompts.BREACH, prompts.BreachInputs(lines=lines, days=broken.days, rules=rules)),
        (
            prompts.PRODUCT,
            prompts.ProductInputs(company=profile.name, words="running shoes", day="2021-03-02", purchases=bought),
        ),
        (prompts.PARAPHRASE, prompts.ParaphraseInputs(role="a Service Analyst", questions=(asked,))),
    )
    for prompt, inputs in pairs:
        found.append((prompt, inputs))  # type: ignore[arg-type]  # each prompt has inputs of its own
    return found


def _describe(company: companies.Company, breaks: bool) -> prompts.CaseFacts:
    """The facts of a hand-written talk."""
    profile = company.profile
    talk = next(each for each in talks.load_default() if bool(each.breaches) == breaks and not each.hands_over)
    rule = next((policy for policy in profile.conduct_policies if policy.id == talk.breaches), None)
    issue = next(each for each in profile.issues if each.name == talk.issue)
    lines = talk.spoken()
    if not breaks:
        lines.insert(1, ("agent", load_notes().handover_chat[0]))
    return prompts.CaseFacts(
        number=2 if breaks else 1,
        form=talk.form,
        customer=_SLOTS["customer"],
        agent=_SLOTS["agent"],
        colleague=None if breaks else _SLOTS["colleague"],
        told=True,
        product=_SLOTS["product"],
        days=talk.age[0],
        issue=issue.name,
        description=issue.description,
        identified=True,
        order=_SLOTS["order"],
        email=_SLOTS["email"],
        rule=rule.rule if rule else None,
        breach=rule.breach if rule else None,
        rules=tuple(policy.rule for policy in profile.conduct_policies if issue.name in policy.issues),
        subject=talk.subject or "Chat",
        script=tuple(prompts.Line(speaker=who, text=fill_slots(text, _SLOTS)) for who, text in lines),
    )
