"""What an article may say: the notes, facts, steps and length that go into its prompt, and which facts those state.

inputs, facts = information_inputs(ledger, topic, children, seed)    # writing.InformationInputs, [fact id]
inputs, facts = issue_inputs(ledger, plan, seed)                     # writing.IssueInputs, [fact id]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Issue
from cxlab.benchmarks.cxmarena.brand.ledger import Fact, Ledger, TemplateVars, rng_for, say
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.cxmarena.knowledge.issue_plans import IssuePlan, tool_name
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.files import grammar

# The paper's mean length in tokens, and how much lengths scatter around it (log-normal).
MEAN_TOKENS, SPREAD = 1290, 0.28
# Hints on use and care in an issue article.
NOTES = 3
FACT_KINDS: dict[str, Literal["price", "period", "size", "percent", "worded"]] = {
    "price": "price",
    "period": "period",
    "date": "period",
    "time": "period",
    "size": "size",
    "count": "size",
    "percent": "percent",
    "material": "worded",
    "compatibility": "worded",
    "choice": "worded",
}


def fill(line: str, slots: TemplateVars) -> str | None:
    """One wording of the line, None where the subject lacks something that it names."""
    if any(name not in slots for name in grammar.slot_names(line)):
        return None
    return slots.ledger.brand.language.polish(grammar.say(line, slots.rng, slots))


def fact_line(ledger: Ledger, fact: Fact, rng: np.random.Generator) -> article_prompts.FactLine:
    spec = ledger.brand.properties[fact.property]
    question = ""
    if spec.asks:
        line = spec.asks[int(rng.random() * len(spec.asks))]
        question = ledger.brand.language.polish(grammar.say(line, rng, TemplateVars(ledger, fact.subject, rng)))
    return article_prompts.FactLine(
        id=fact.id,
        kind=FACT_KINDS[spec.kind],
        plain=plain(ledger, fact),
        text=say(ledger, fact, rng) + ".",
        again=say(ledger, fact, rng) + ".",
        question=question,
        remark=_remark(ledger, fact),
    )


def plain(ledger: Ledger, fact: Fact) -> str:
    """The fact as a note: what of which thing, and the value as it is written."""
    return f"{fact.subject}, {ledger.brand.properties[fact.property].name}: {ledger.show(fact)}"


def _remark(ledger: Ledger, fact: Fact) -> str:
    """What the value means in use, where the pack says so; drawn apart, so that no other draw depends on it."""
    lines = ledger.brand.properties[fact.property].remarks
    rng = rng_for("remark", ledger.brand.id, ledger.seed, fact.id)
    for i in rng.permutation(len(lines)):
        if text := fill(lines[int(i)], TemplateVars(ledger, fact.subject, rng)):
            return text + "."
    return ""


def length(seed: int, key: str) -> int:
    """The length drawn for an article, in tokens; the mean over many is the paper's."""
    rng = rng_for("length", seed, key)
    return int(np.clip(np.exp(rng.normal(np.log(MEAN_TOKENS) - SPREAD**2 / 2, SPREAD)), 450, 2900))


def _room(tokens: int, points: int) -> int:
    """The words that an article may have: the drawn length, and no more than its points carry."""
    return min(int(tokens * 0.75), 80 + 30 * points)


def information_inputs(
    ledger: Ledger, topic: Topic, children: Sequence[Topic], seed: int
) -> tuple[article_prompts.InformationInputs, list[str]]:
    """What the prompt gets for a topic, and the ids of the facts in it."""
    brand, language = ledger.brand, ledger.brand.language
    rng = rng_for("information", brand.id, seed, topic.id)
    used: list[str] = []
    notes: list[article_prompts.Note] = []
    names: list[str] = [brand.name]
    subjects = [topic.subject] if topic.subject else _examples(ledger, topic, rng)
    family = brand.families[topic.family] if topic.family else None
    aspect = brand.aspects[topic.aspect] if topic.aspect else None
    subject = topic.subject or (subjects[0] if subjects else None)

    def add(kind: Literal["about", "aspect", "use", "care"], lines: Sequence[str], share: float) -> None:
        for line in lines:
            if rng.random() < share and subject is not None:
                slots = TemplateVars(ledger, subject, rng)
                if text := fill(line, slots):
                    notes.append(article_prompts.Note(kind=kind, text=text + "."))
                    used.extend(slots.used)

    if aspect is not None:
        add("aspect", aspect.lines, 0.92)
    if family is not None:
        share = 0.5 if aspect is not None else 0.95
        add("about", family.about, share)
        add("use", family.use, share)
        add("care", family.care, share)
    told: set[str] = set()
    for child in children[:12]:
        about = child.description.removeprefix(f"{child.subject}: ") if child.subject else child.description
        if about in told:
            continue  # variants of one thing share what is said of it
        told.add(about)
        line = language.pointers[int(rng.random() * len(language.pointers))]
        text = grammar.say(line, rng, TemplateVars(ledger, "", rng, child=child.title, about=about))
        notes.append(article_prompts.Note(kind="aspect", text=language.polish(text)))
        names.append(child.title)
    facts: list[Fact] = []
    if topic.subject is not None:
        own = ledger.of(topic.subject)
        wanted = set(aspect.facts) if aspect is not None else set()
        first = [f for f in own if f.property in wanted]
        rest = [f for f in own if f.property not in wanted]
        more = int(rng.integers(1, 4)) if aspect is not None else int(rng.integers(5, 10))
        facts = first + [rest[int(i)] for i in rng.permutation(len(rest))[:more]]
    others: list[Fact] = []
    pool = ledger.siblings(topic.subject) if topic.subject else [ledger.subjects[s] for s in subjects]
    if pool:
        wanted_names = [f.property for f in facts] or list(family.properties if family else brand.properties)
        for _ in range(int(rng.integers(2, 6)) + (0 if topic.subject else 6)):
            near = pool[int(rng.random() * len(pool))]
            other = ledger.get(near.name, wanted_names[int(rng.random() * len(wanted_names))])
            if other is not None and other not in others:
                others.append(other)
    used += [f.id for f in (*facts, *others)]
    names += sorted({*(f.subject for f in (*facts, *others)), *(([subject]) if subject else [])})
    the = (
        aspect.the
        if aspect is not None
        else topic.title
        if family is None
        else topic.subject or topic.model or family.title
    )
    title = (
        language.polish(f"{topic.subject}: {topic.title}")
        if aspect is not None or (topic.subject and topic.title != topic.subject)
        else topic.title
    )
    inputs = article_prompts.InformationInputs(
        language=language.name,
        formal_you=language.formal_you,
        language_id=language.language,
        brand=brand.name,
        path=" → ".join(topic.path),
        title=title,
        topic=the,
        names=tuple(dict.fromkeys(names)),
        tokens=length(seed, topic.id),
        words=_room(length(seed, topic.id), 2 * len(facts) + len(notes) + len(others)),
        notes=tuple(notes),
        facts=tuple(fact_line(ledger, f, rng) for f in facts),
        related=tuple(plain(ledger, f) for f in others),
        others=tuple(say(ledger, f, rng) + "." for f in others),
        root=topic.root,
    )
    return inputs, list(dict.fromkeys(used))


def _examples(ledger: Ledger, topic: Topic, rng: np.random.Generator) -> list[str]:
    """Some subjects below a topic that is none itself."""
    below = [
        s.name
        for s in ledger.subjects.values()
        if s.root == topic.root
        and (topic.family is None or s.family == topic.family)
        and (topic.model is None or s.model == topic.model)
    ]
    return [below[int(i)] for i in rng.permutation(len(below))[:6]]


def issue_inputs(ledger: Ledger, plan: IssuePlan, seed: int) -> tuple[article_prompts.IssueInputs, list[str]]:
    """What the prompt gets for an issue, and the ids of the facts in it."""
    brand, language = ledger.brand, ledger.brand.language
    issue: Issue = brand.issues[plan.issue]
    rng = rng_for("issue", brand.id, seed, plan.id)
    used: list[str] = []

    def told(lines: Sequence[str], most: int) -> list[str]:
        found: list[str] = []
        for i in rng.permutation(len(lines)):
            slots = TemplateVars(ledger, plan.subject, rng)
            if len(found) < most and (text := fill(lines[int(i)], slots)):
                found.append(text + ".")
                used.extend(slots.used)
        return found

    family = ledger.subjects[plan.subject].family
    steps = []
    for step in issue.steps:
        slots = TemplateVars(ledger, plan.subject, rng)
        if text := fill(step.say, slots):
            steps.append(
                article_prompts.StepLine(text=text, tool=tool_name(brand, step.tool, family) if step.tool else "")
            )
            used.extend(slots.used)
    symptoms, causes = told(issue.symptom, 2), told(issue.causes, 3)
    notes, more = _family_notes(ledger, plan, seed)
    used += more
    own = ledger.of(plan.subject)
    facts = [own[int(i)] for i in rng.permutation(len(own))[: int(rng.integers(2, 5))]]
    used += [f.id for f in facts]
    inputs = article_prompts.IssueInputs(
        language=language.name,
        formal_you=language.formal_you,
        language_id=language.language,
        brand=brand.name,
        title=plan.title,
        topic=plan.subject,
        names=(brand.name, plan.subject),
        tokens=length(seed, plan.id),
        words=_room(length(seed, plan.id), 2 * len(facts) + len(steps) + len(symptoms) + len(causes) + len(notes)),
        symptoms=tuple(symptoms),
        causes=tuple(causes),
        needs=issue.needs,
        steps=tuple(steps),
        facts=tuple(fact_line(ledger, f, rng) for f in facts),
        notes=notes,
        root=brand.families[family].root,
    )
    return inputs, list(dict.fromkeys(used))


def _family_notes(ledger: Ledger, plan: IssuePlan, seed: int) -> tuple[tuple[article_prompts.Note, ...], list[str]]:
    """What the pack says of using and caring for such a thing: better than general advice."""
    family = ledger.brand.families[ledger.subjects[plan.subject].family]
    rng = rng_for("issue notes", ledger.brand.id, seed, plan.id)
    lines: list[tuple[Literal["use", "care"], str]] = [*(("use", x) for x in family.use)]
    lines += [("care", x) for x in family.care]
    found, used = [], []
    for i in rng.permutation(len(lines))[:NOTES]:
        slots = TemplateVars(ledger, plan.subject, rng)
        if text := fill(lines[int(i)][1], slots):
            found.append(article_prompts.Note(kind=lines[int(i)][0], text=text + "."))
            used += slots.used
    return tuple(found), used
