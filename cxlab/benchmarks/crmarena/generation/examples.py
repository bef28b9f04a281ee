"""Each prompt of a writer once, on the default company, so that `python -m cxlab prompts crmarena` can show it."""

from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from typing import Any

import numpy as np
from pydantic import BaseModel

from cxlab.benchmarks.crmarena.generation import company_prompts, prompts
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
_WARRANTIES = prompts.RecordsInputs(
    description="",
    label="Warranty",
    about="A longer warranty that a customer bought",
    fields=(
        prompts.TextField(name="Name", about="What it is called", longest=200),
        prompts.TextField(name="Note__c", about="What the agent noted", longest=2000),
    ),
    records=(
        prompts.RecordFacts(number=11, facts=("Account: Ada Voss", "Level: Gold", "Price: $12.50")),
        prompts.RecordFacts(number=12, facts=("Account: Tariq Bell", "Level: Silver", "Price: $7.00")),
    ),
    known=("Whole-shoe cover", "Sole care"),
)


def ask_writer(model: ChatModel) -> None:
    """Asks for names, two cases (one that breaks a rule), a reader's opinion, a purchase, other words, a company."""

    async def ask_all() -> None:
        for prompt, inputs in list_examples():
            # A simulated writer is not asked for a second opinion: its texts are written by hand. Nor can it make a
            # company, and its reply is of no account here: nothing is asked twice.
            shown = copy.copy(prompt)
            shown.repair = False
            with suppress(CxError):
                await ask(model, shown, inputs)

    asyncio.run(ask_all())


def list_examples() -> list[tuple[Prompt[Any, Any], BaseModel]]:
    """(prompt, inputs) of each."""
    company = companies.load_default()
    profile = company.profile
    kept, broken = (_describe(company, breaks) for breaks in (False, True))
    rules = tuple(prompts.Rule(id=policy.id, text=policy.rule) for policy in profile.conduct_policies)
    bought = (
        prompts.Purchase(id="01tWs0000000001AAA", name="Marsh Runner Men's Slate (running shoe)", day="2021-03-02"),
        prompts.Purchase(id="01tWs0000000002AAA", name="Fern Low Men's Olive (hiking shoe)", day="2021-03-02"),
    )
    asked = prompts.NumberQuestion(
        number=0, text="What is the most common issue with the Marsh Runner in the past 3 months?"
    )
    lines = tuple(f"{line.speaker}: {line.text}" for line in broken.script)
    # Each prompt has inputs of its own.
    return [
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
        (prompts.RECORDS, _WARRANTIES.model_copy(update={"description": profile.description})),
        *_list_company_examples(company),
    ]


def _list_company_examples(company: companies.Company) -> list[tuple[Prompt[Any, Any], BaseModel]]:
    """What is asked to make a company like the default one of its description."""
    profile, catalogue = company.profile, company.catalogue
    policy, issue = profile.conduct_policies[0], profile.issues[0]
    wanted = company_prompts.WantedArticle(slug=policy.article, rule=policy.rule, terms=policy.terms)
    return [
        (
            company_prompts.COMPANY,
            company_prompts.CompanyInputs(brief=profile.description, issues=10, policies=10),
        ),
        (company_prompts.CATALOGUE, company_prompts.CatalogueInputs(profile=profile, models=16)),
        (
            company_prompts.ARTICLES,
            company_prompts.ArticlesInputs(
                profile=profile, catalogue=catalogue, wanted=(wanted,), more=4, titles=("Gift cards",), slugs=()
            ),
        ),
        (
            company_prompts.TALKS,
            company_prompts.TalksInputs(
                profile=profile,
                catalogue=catalogue,
                issue=issue,
                policies=tuple(each for each in profile.conduct_policies if issue.name in each.issues),
                ids=("chat-late",),
            ),
        ),
    ]


def _describe(company: companies.Company, breaks: bool) -> prompts.CaseFacts:
    """The facts of a hand-written talk."""
    profile = company.profile
    talk = next(each for each in talks.load_default() if bool(each.breaches) == breaks and not each.hands_over)
    rule = next((policy for policy in profile.conduct_policies if policy.id == talk.breaches), None)
    issue = next(each for each in profile.issues if each.name == talk.issue)
    subject, spoken = talk.word(np.random.default_rng(0))
    lines = list(spoken)
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
        subject=subject,
        script=tuple(prompts.Line(speaker=who, text=talks.fill_slots(text, _SLOTS)) for who, text in lines),
    )
