"""What a writer is told of each case, and the script that a simulated one copies: the case's talk in fresh words."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation import correspondence, latent, prompts, records
from cxlab.benchmarks.crmarena.generation.casework import CasePlan
from cxlab.benchmarks.crmarena.generation.records import CaseEntities
from cxlab.benchmarks.crmarena.generation.similar_texts import list_runs
from cxlab.benchmarks.crmarena.organisation.notes import load_notes
from cxlab.benchmarks.crmarena.organisation.talks import Talk, TalkWording, fill_slots

# Of so many wordings the one that is least like the latest ones of the same talk is taken; one that shares less than
# this with each of them is fresh enough.
TRIES, LATEST, FRESH = 12, 60, 0.3


class Wordings:
    """Words talks, each time as little as can be like the times before."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.told: dict[str, deque[set[tuple[str, ...]]]] = defaultdict(lambda: deque(maxlen=LATEST))

    def word(self, talk: Talk) -> TalkWording:
        """A wording that shares the smallest part of its runs of words with any of the earlier ones."""
        earlier = self.told[talk.id]
        tried: list[tuple[float, TalkWording, set[tuple[str, ...]]]] = []
        while len(tried) < TRIES:
            worded = talk.word(self.rng)
            runs = list_runs("\n".join(text for _, text in worded.lines))
            shared = max((len(runs & each) for each in earlier), default=0) / max(len(runs), 1)
            tried.append((shared, worded, runs))
            if shared < FRESH:
                break
        _, best, runs = min(tried, key=lambda one: one[0])
        earlier.append(runs)
        return best


def describe_cases(
    entities: CaseEntities, plans: Sequence[CasePlan], tables: Mapping[str, pl.DataFrame], seed: int
) -> list[prompts.CaseFacts]:
    """What a writer is told of each case, and the script of the simulated one."""
    rng = latent.rng_for(seed, "handovers")
    wordings = Wordings(latent.rng_for(seed, "wordings"))
    notes = load_notes()
    profile = entities.company.profile
    order_of = entities.items["OrderId"].to_list()
    ordered = dict(tables["Order"].select("Id", "EffectiveDate").iter_rows())
    policies = {policy.id: policy for policy in profile.conduct_policies}
    found = []
    for plan in plans:
        issue, talk = profile.issues[plan.issue], plan.talk
        customer, order = entities.customers[plan.customer], order_of[plan.item]
        colleague = entities.agents[plan.second] if plan.second is not None else None
        subject, spoken = wordings.word(talk)
        lines = correspondence.add_handover(plan, spoken, notes, rng)
        slots = {
            "customer": customer.first,
            "product": entities.name_product(entities.products[plan.product]),
            "order": order,
            "email": customer.email,
            "colleague": colleague.first if colleague else "",
            "case": records.case_id(plan.number),
        }
        script = []
        for who, text in lines:
            agent = colleague if who == "colleague" and colleague else entities.agents[plan.first]
            script.append(prompts.Line(speaker=who, text=fill_slots(text, {**slots, "agent": agent.first})))
        rule = policies.get(plan.breach or "")
        found.append(
            prompts.CaseFacts(
                number=plan.number,
                form=talk.form,
                customer=customer.first,
                agent=entities.agents[plan.first].first,
                colleague=slots["colleague"] or None,
                told=not talk.is_silent,
                product=slots["product"],
                days=(plan.opened.date() - ordered[order]).days,
                issue=issue.name,
                description=issue.description,
                identified=talk.identifies,
                order=order,
                email=customer.email,
                rule=rule.rule if rule else None,
                breach=rule.breach if rule else None,
                rules=tuple(p.rule for p in profile.conduct_policies if issue.name in p.issues),
                subject=fill_slots(subject, slots),
                script=tuple(script),
            )
        )
    return found
