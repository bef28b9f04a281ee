"""Articles written from the ledger: information articles of the topic tree, issue articles with steps and tools.

    issues = plan_issues(ledger, topics, count=1425, seed=1)       # [IssuePlan(id, issue, subject, title, tools)]
    articles = stages.finish(write_information(ledger, topics, model, seed))      # [records.Article]
    articles += stages.finish(write_issues(ledger, issues, model, seed))
    tools = define_tools(ledger.brand, issues, most=150)           # [OpenAI function definition, ...]
    check(articles, ledger) -> complaints                          # [] proves: no two clean articles contradict

Article.id is "KB_<n>", `topic` the path (an issue: ("Issues", family title, issue title)), `properties` holds
{"topic_id" | "issue", "subject", "family", "facts": [fact ids stated]}, `tools` the full definitions of an issue's
steps, `relations` {"parent", "children", "siblings", "after", "issue_of": article ids}. The body is clean text:
the title, then heading lines and paragraphs divided by blank lines; `sections(body)` takes it apart.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cxlab.benchmarks.cxmarena import stages, writing
from cxlab.benchmarks.cxmarena.brand import Brand, Issue
from cxlab.benchmarks.cxmarena.ledger import (
    SENTENCE,
    Fact,
    Ledger,
    Slots,
    contradictions,
    rng_for,
    say,
    stated,
)
from cxlab.benchmarks.cxmarena.tree import Topic
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.llm.simulated import grammar
from cxlab.records import Article, content_id

# The paper's mean length in tokens, and how much lengths scatter around it (log-normal).
MEAN_TOKENS, SPREAD = 1290, 0.28
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


@dataclass(frozen=True)
class IssuePlan:
    """One issue of one subject, to become an article."""

    id: str
    issue: str
    subject: str
    title: str
    tools: tuple[str, ...]


def sections(body: str) -> list[tuple[str, str]]:
    """(heading, text) of each section of a clean body; the title line is left out."""
    found: list[tuple[str, list[str]]] = []
    for block in body.split("\n\n")[1:]:
        if "\n" not in block and len(block) < 60 and block[-1:] not in ".?!:" and not block.startswith(("- ", "1. ")):
            found.append((block, []))
        elif found:
            found[-1][1].append(block)
    return [(heading, "\n\n".join(blocks)) for heading, blocks in found]


def plan_issues(ledger: Ledger, topics: Sequence[Topic], count: int, seed: int) -> list[IssuePlan]:
    """`count` issues of subjects with a topic, spread evenly over issues and families; all when there are fewer."""
    brand = ledger.brand
    rng = rng_for("issues", seed)
    present = sorted({t.subject for t in topics if t.subject is not None and t.aspect is None} or set(ledger.subjects))
    piles = []
    for key, issue in brand.issues.items():
        for family in issue.families:
            pile = [(key, s) for s in present if ledger.subjects[s].family == family]
            if pile:
                piles.append([pile[int(i)] for i in rng.permutation(len(pile))])
    piles = [piles[int(i)] for i in rng.permutation(len(piles))]
    found: list[IssuePlan] = []
    depth = 0
    while len(found) < count and any(depth < len(pile) for pile in piles):
        for pile in piles:
            if depth < len(pile) and len(found) < count:
                key, subject = pile[depth]
                issue = brand.issues[key]
                tools = tuple(tool_name(brand, s.tool, ledger.subjects[subject].family) for s in issue.steps if s.tool)
                found.append(
                    IssuePlan(
                        f"{key}.{content_id(subject, length=8)}",
                        key,
                        subject,
                        f"{subject} {issue.title}",
                        tuple(dict.fromkeys(tools)),
                    )
                )
        depth += 1
    return found


# Tools


def tool_name(brand: Brand, tool: str, family: str) -> str:
    """The tool's name for a family: templates with families give one tool each."""
    return f"{tool}_{family}" if family in brand.tools[tool].families else tool


def define_tools(brand: Brand, issues: Sequence[IssuePlan], most: int = 150) -> list[dict[str, Any]]:
    """Tool definitions in OpenAI's form, those that issues use most first; without doubles, `most` at most."""
    use: dict[str, int] = {}
    for plan in issues:
        for name in plan.tools:
            use[name] = use.get(name, 0) + 1
    for key, tool in brand.tools.items():
        for name in [f"{key}_{f}" for f in tool.families] or [key]:
            use.setdefault(name, 0)
    found: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for name in sorted(use, key=lambda n: (-use[n], n)):
        definition = define_tool(brand, name)
        told = definition["function"]["description"].lower()
        if told not in seen and len(found) < most:
            seen.add(told)
            found[name] = definition
    return list(found.values())


def define_tool(brand: Brand, name: str) -> dict[str, Any]:
    """One definition; `name` is a template's key, or a key and a family."""
    key = max((k for k in brand.tools if name == k or name.startswith(f"{k}_")), key=len)
    spec, family = brand.tools[key], name[len(key) + 1 :]
    noun = brand.families[family].one if family else ""
    parameters = {}
    for p in spec.parameters:
        about = brand.parameters[p]
        parameters[p] = {"type": "string", "description": about.description}
        if about.options:
            parameters[p]["enum"] = list(about.options)  # type: ignore[assignment]
    told = spec.description.replace("{family}", noun)
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{brand.language.polish(told)}. → {spec.returns}",
            "parameters": {
                "type": "object",
                "properties": parameters,
                "required": list(parameters),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


# Material: what an article may say


def fill(line: str, slots: Slots) -> str | None:
    """One wording of the line, None where the subject lacks something that it names."""
    if any(name not in slots for name in grammar.slot_names(line)):
        return None
    return slots.ledger.brand.language.polish(grammar.say(line, slots.rng, slots))


def fact_line(ledger: Ledger, fact: Fact, rng: np.random.Generator) -> writing.FactLine:
    spec = ledger.brand.properties[fact.property]
    question = ""
    if spec.asks:
        line = spec.asks[int(rng.random() * len(spec.asks))]
        question = ledger.brand.language.polish(grammar.say(line, rng, Slots(ledger, fact.subject, rng)))
    return writing.FactLine(
        kind=FACT_KINDS[spec.kind],
        text=say(ledger, fact, rng) + ".",
        again=say(ledger, fact, rng) + ".",
        question=question,
    )


def length(seed: int, key: str) -> int:
    """The length drawn for an article, in tokens; the mean over many is the paper's."""
    rng = rng_for("length", seed, key)
    return int(np.clip(np.exp(rng.normal(np.log(MEAN_TOKENS) - SPREAD**2 / 2, SPREAD)), 450, 2900))


def information_inputs(
    ledger: Ledger, topic: Topic, children: Sequence[Topic], seed: int
) -> tuple[writing.InformationInputs, list[str]]:
    """What the prompt gets for a topic, and the ids of the facts in it."""
    brand, language = ledger.brand, ledger.brand.language
    rng = rng_for("information", brand.id, seed, topic.id)
    used: list[str] = []
    notes: list[writing.Note] = []
    names: list[str] = [brand.name]
    subjects = [topic.subject] if topic.subject else _examples(ledger, topic, rng)
    family = brand.families[topic.family] if topic.family else None
    aspect = brand.aspects[topic.aspect] if topic.aspect else None
    subject = topic.subject or (subjects[0] if subjects else None)

    def add(kind: Literal["about", "aspect", "use", "care"], lines: Sequence[str], share: float) -> None:
        for line in lines:
            if rng.random() < share and subject is not None:
                slots = Slots(ledger, subject, rng)
                if text := fill(line, slots):
                    notes.append(writing.Note(kind=kind, text=text + "."))
                    used.extend(slots.used)

    if aspect is not None:
        add("aspect", aspect.lines, 0.92)
    if family is not None:
        share = 0.5 if aspect is not None else 0.95
        add("about", family.about, share)
        add("use", family.use, share)
        add("care", family.care, share)
    for child in children[:12]:
        about = child.description.removeprefix(f"{child.subject}: ") if child.subject else child.description
        line = language.pointers[int(rng.random() * len(language.pointers))]
        text = grammar.say(line, rng, Slots(ledger, "", rng, child=child.title, about=about))
        notes.append(writing.Note(kind="aspect", text=language.polish(text)))
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
        f"{topic.subject}: {topic.title}"
        if aspect is not None or (topic.subject and topic.title != topic.subject)
        else topic.title
    )
    inputs = writing.InformationInputs(
        language=language.name,
        language_id=language.language,
        brand=brand.name,
        path=" → ".join(topic.path),
        title=title,
        topic=the,
        names=tuple(dict.fromkeys(names)),
        tokens=length(seed, topic.id),
        notes=tuple(notes),
        facts=tuple(fact_line(ledger, f, rng) for f in facts),
        others=tuple(say(ledger, f, rng) + "." for f in others),
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


def issue_inputs(ledger: Ledger, plan: IssuePlan, seed: int) -> tuple[writing.IssueInputs, list[str]]:
    """What the prompt gets for an issue, and the ids of the facts in it."""
    brand, language = ledger.brand, ledger.brand.language
    issue: Issue = brand.issues[plan.issue]
    rng = rng_for("issue", brand.id, seed, plan.id)
    used: list[str] = []

    def told(lines: Sequence[str], most: int) -> list[str]:
        found: list[str] = []
        for i in rng.permutation(len(lines)):
            slots = Slots(ledger, plan.subject, rng)
            if len(found) < most and (text := fill(lines[int(i)], slots)):
                found.append(text + ".")
                used.extend(slots.used)
        return found

    family = ledger.subjects[plan.subject].family
    steps = []
    for step in issue.steps:
        slots = Slots(ledger, plan.subject, rng)
        if text := fill(step.say, slots):
            steps.append(writing.StepLine(text=text, tool=tool_name(brand, step.tool, family) if step.tool else ""))
            used.extend(slots.used)
    symptoms, causes = told(issue.symptom, 2), told(issue.causes, 3)
    own = ledger.of(plan.subject)
    facts = [own[int(i)] for i in rng.permutation(len(own))[: int(rng.integers(2, 5))]]
    used += [f.id for f in facts]
    inputs = writing.IssueInputs(
        language=language.name,
        language_id=language.language,
        brand=brand.name,
        title=plan.title,
        topic=plan.title,
        names=(brand.name, plan.subject),
        tokens=length(seed, plan.id),
        symptoms=tuple(symptoms),
        causes=tuple(causes),
        needs=issue.needs,
        steps=tuple(steps),
        facts=tuple(fact_line(ledger, f, rng) for f in facts),
    )
    return inputs, list(dict.fromkeys(used))


# Stages


def write_information(
    ledger: Ledger, topics: Sequence[Topic], model: ChatModel, seed: int, folder: Path | None = None
) -> Generator[stages.Progress, None, list[Article]]:
    """One article a topic."""
    children: dict[str, list[Topic]] = {}
    for topic in topics:
        children.setdefault(topic.parent or "", []).append(topic)

    async def write(topic: Topic) -> stages.Row:
        inputs, facts = information_inputs(ledger, topic, children.get(topic.id, []), seed)
        body = await _write(ledger, model, writing.INFORMATION, inputs, topic.subject, seed)
        return {"body": body, "facts": facts, "title": inputs.title}

    rows = yield from stages.run("information", topics, lambda t: t.id, write, folder)
    ids = {topic.id: f"KB_{number}" for number, topic in enumerate(topics, 1)}
    found = []
    for topic, row in zip(topics, rows, strict=True):
        near = [ids[t.id] for t in children.get(topic.parent or "", []) if t.id != topic.id]
        relations = {
            "parent": (ids[topic.parent],) if topic.parent in ids else (),
            "children": tuple(ids[t.id] for t in children.get(topic.id, [])),
            "siblings": tuple(near),
            "after": tuple(ids[a] for a in topic.after if a in ids),
        }
        properties = {"topic_id": topic.id, "subject": topic.subject, "family": topic.family, "facts": row["facts"]}
        kind: Literal["information", "policy"] = (
            "policy" if topic.root in ("returns", "privacy", "legal") else "information"
        )
        found.append(
            Article(
                id=ids[topic.id],
                kind=kind,
                topic=topic.path,
                title=row["title"],
                body=row["body"],
                properties=properties,
                relations=relations,
            )
        )
    return found


def write_issues(
    ledger: Ledger,
    plans: Sequence[IssuePlan],
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    first: int = 1,
    about: dict[str, str] | None = None,
) -> Generator[stages.Progress, None, list[Article]]:
    """One article an issue, numbered from `first`; `about` maps a subject to its information article."""
    brand = ledger.brand

    async def write(plan: IssuePlan) -> stages.Row:
        inputs, facts = issue_inputs(ledger, plan, seed)
        return {"body": await _write(ledger, model, writing.ISSUE, inputs, plan.subject, seed), "facts": facts}

    rows = yield from stages.run("issues", plans, lambda p: p.id, write, folder)
    definitions = {name: define_tool(brand, name) for plan in plans for name in plan.tools}
    found = []
    for number, (plan, row) in enumerate(zip(plans, rows, strict=True), first):
        family = ledger.subjects[plan.subject].family
        parent = (about or {}).get(plan.subject)
        found.append(
            Article(
                id=f"KB_{number}",
                kind="issue",
                topic=("Issues", brand.families[family].title, plan.title),
                title=plan.title,
                body=row["body"],
                properties={"issue": plan.issue, "subject": plan.subject, "family": family, "facts": row["facts"]},
                tools=tuple(definitions[name] for name in plan.tools),
                relations={"issue_of": (parent,)} if parent else {},
            )
        )
    return found


async def _write(ledger: Ledger, model: ChatModel, prompt: Any, inputs: Any, subject: str | None, seed: int) -> str:
    """The text; where it states what the ledger does not hold it is asked for once more, then the sentences go."""
    body = ""
    for _ in range(2):
        reply = await ask(model, prompt, inputs, seed=seed)
        if reply.output is None:
            raise stages_fault(prompt.name, reply.failure)
        body = str(reply.output.text).strip()
        wrong = contradictions(body, ledger, subject)
        if not wrong:
            return body
        if model.simulated:
            break  # a word of the language was read as a cue: the sentence goes, asking again would say it again
        inputs = inputs.model_copy(update={"complaints": tuple(" ".join(map(str, t)) for t in sorted(wrong, key=str))})
    return mend(body, ledger, subject)


def stages_fault(name: str, failure: Any) -> Exception:
    from cxlab.errors import CxError

    return CxError(
        f"{name}: the model gave no text ({failure.type}: {failure.message}); run the same command again to go on"
    )


def mend(body: str, ledger: Ledger, subject: str | None) -> str:
    """The body without the sentences that contradict the ledger."""
    if not contradictions(body, ledger, subject):
        return body
    blocks = []
    for block in body.split("\n\n"):
        kept = [s for s in SENTENCE.split(block) if not contradictions(s, ledger, subject)]
        if kept:
            blocks.append(("\n" if "\n" in block else " ").join(kept))
    return "\n\n".join(blocks)


def check(articles: Sequence[Article], ledger: Ledger) -> list[str]:
    """Complaints about statements that the ledger does not hold.

    A ledger holds one value a property, so articles that state only what it holds cannot contradict each other.
    """
    found = []
    for article in articles:
        for triple in sorted(contradictions(article.body, ledger, article.properties.get("subject")), key=str):
            found.append(f"{article.id} ({article.title}): states {triple}")
    return found


def statements(article: Article, ledger: Ledger) -> list[tuple[str, str]]:
    """(fact id, sentence) for each sentence of a clean article that states a fact of the ledger."""
    found = []
    for sentence in SENTENCE.split(article.body):
        for subject, name, value in stated(sentence, ledger, article.properties.get("subject")):
            fact = ledger.get(subject, name)
            if fact is not None and fact.value == value:
                found.append((fact.id, re.sub(r"^\d+\. ", "", sentence)))
    return found


__all__ = [
    "IssuePlan",
    "check",
    "define_tool",
    "define_tools",
    "plan_issues",
    "sections",
    "statements",
    "tool_name",
    "write_information",
    "write_issues",
]
