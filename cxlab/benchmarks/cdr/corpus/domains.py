"""Which of the paper's twelve domains each conversation is from: by its labels, else read by a model.

The task `domain` takes anybody's conversations; its answers stand beside figure 3 of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from cxlab.benchmarks.cdr.corpus.written import DOMAINS
from cxlab.benchmarks.cdr.prompts.domains import DOMAIN, OTHER, Domain, DomainInputs
from cxlab.benchmarks.cdr.units import UnitText, cut_middle
from cxlab.benchmarks.contract import Scored, Setup, name_fault, name_unread
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.single_answer import of_reply
from cxlab.benchmarks.unlabelled import (
    NO_GOLD,
    ConversationAnswer,
    ConversationTask,
    UnlabelledDataset,
    UnlabelledSample,
)
from cxlab.errors import BadOption, UnknownName
from cxlab.llm import ask, role_of
from cxlab.records import Attempt, Conversation, Judgement, Sample, Score, Verdict, content_id
from cxlab.records.progress import Progress
from cxlab.records.settings import Settings
from cxlab.store import load, write

TASK = "domain"
RIGHT = "domain_right"
"""The headline, which needs a person's label."""
COVERS = {
    "arts_entertainment": "films, music, books, games, shows, celebrities, making art",
    "business_industrial": "running a firm, marketing, management, trade, manufacturing, agriculture, logistics",
    "computers_electronics": "software, programming, devices, networks, accounts and their faults",
    "finance": "banking, cards, loans, insurance, investing, taxes of a person",
    "food_drink": "cooking, recipes, groceries, restaurants and orders of food",
    "health": "illness, medicine, fitness, sleep, diets for health, the mind",
    "jobs_education": "applying for work, careers, school, studying, exams, teaching",
    "law_government": "laws, rights, courts, authorities, permits, politics",
    "people_society": "family, friends, relations, religion, customs, advice on living with others",
    "science": "mathematics, physics, biology, chemistry, nature, research",
    "shopping": "choosing, ordering, delivery, returning and repairing of goods",
    "travel_transportation": "trips, hotels, flights, trains, cars, getting around",
}
ASKED = "Domain"
_IDS = {title.casefold(): id for id, title in DOMAINS.items()}
_TEXT = UnitText()


class DomainSettings(Settings):
    """Nothing to set: the domains are the paper's."""


class DomainShares(NamedTuple):
    """Conversations by domain id. `by`: "labels", or the model that read them; `others`: of no domain of the twelve;
    `unread`: without an answer."""

    counts: Mapping[str, int]
    by: str
    others: int = 0
    unread: int = 0


def make(
    corpus: Mapping[str, Conversation], settings: DomainSettings, context: GenerationContext
) -> Generator[Progress, None, UnlabelledDataset]:
    """A sample for each conversation that has any text."""
    del settings, context
    count = len(corpus)
    yield Progress("samples", 0, count)
    texts = {id: text for id, talk in corpus.items() if (text := cut_middle(_TEXT.write(talk.messages)))}
    samples = [UnlabelledSample(id, {"conversation": text}) for id, text in texts.items()]
    yield Progress("samples", count, count)
    return UnlabelledDataset(samples, config={"left_out": count - len(samples)})


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One conversation read; BadOption for a retriever, which reads none."""
    if role_of(setup.model.name) == "retriever":
        raise BadOption(f"{setup.model.name} orders conversations and does not read them; name a chat model")
    started = datetime.now(UTC)
    seed = int(content_id("domain", sample.id, trial, setup.seed), 16) % 2**31
    reply = await ask(setup.model, DOMAIN, write_inputs(sample.inputs["conversation"]), seed=seed)
    said = reply.output
    domain = None if said is None else _IDS.get(said.domain.strip().casefold(), OTHER)
    output = {"domain": domain, "reason": said.reason if said else "", "raw": reply.raw}
    return of_reply(reply, sample, setup, trial, output=output, started=started, ended_by=TASK)


def write_inputs(conversation: str) -> DomainInputs:
    """What is asked of one conversation."""
    domains = tuple(Domain(title=title, covers=COVERS[id]) for id, title in DOMAINS.items())
    return DomainInputs(conversation=conversation, domains=domains)


def score(attempt: Attempt) -> Scored:
    """Nothing can be said without a label but whether the reply could be read."""
    if attempt.outcome == "provider":
        verdict = Verdict(attempt_id=attempt.id, value="unscored", reason=name_fault(attempt), owner="provider")
    elif attempt.output.get("domain") is None:
        reason = name_unread(attempt.failures[0] if attempt.failures else None)
        verdict = Verdict(attempt_id=attempt.id, value="failed", reason=reason, owner="agent")
    else:
        verdict = Verdict(attempt_id=attempt.id, value="unscored", reason=NO_GOLD, owner="label")
    mine = Score(attempt_id=attempt.id, turn=None, metric=RIGHT, value=None, reason=NO_GOLD)
    return Scored(scores=(mine,), verdict=verdict)


def read(sample: Sample, attempt: Attempt, judgements: Sequence[Judgement]) -> list[ConversationAnswer]:
    """The domain by its title."""
    del sample, judgements
    domain = attempt.output.get("domain")
    said = None if domain is None else DOMAINS.get(domain, domain)
    return [ConversationAnswer(ASKED, said, str(attempt.output.get("reason") or ""))]


def count_domains(dataset_id: str, corpus: Mapping[str, Conversation]) -> DomainShares | None:
    """How many conversations of a dataset are from each domain: by their labels, else as the newest run of the task on
    them has read; None where neither is known."""
    labelled = Counter(str(talk.labels["domain"]) for talk in corpus.values() if talk.labels.get("domain") in DOMAINS)
    if labelled:
        return DomainShares(labelled, "labels", unread=len(corpus) - labelled.total())
    sent = write.list_derived(dataset_id, "task")
    wanted = {each.id for each in sent if each.config.get("sent_to") == TASK}
    runs = sorted((run for run in write.list_runs() if run.dataset_id in wanted), key=lambda run: run.id, reverse=True)
    for run in runs:
        try:
            said = [attempt.output.get("domain") for attempt, _ in load.load_attempts(run.id) if attempt.trial == 1]
        except UnknownName:  # taken away meanwhile
            continue
        counts, others = Counter(each for each in said if each in DOMAINS), said.count(OTHER)
        if counts or others:
            by = run.model + (" (simulated)" if run.simulated else "")
            return DomainShares(counts, by, others, len(corpus) - counts.total() - others)
    return None


DOMAIN_TASK = ConversationTask(
    TASK,
    "Domains",
    "Tells which of twelve domains each conversation is from, beside the shares of the published corpus.",
    DomainSettings,
    make,
    read,
)
