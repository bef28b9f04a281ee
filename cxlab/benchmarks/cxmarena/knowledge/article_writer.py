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
from pathlib import Path
from typing import Any, Literal

from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions, missing, stated
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.cxmarena.knowledge.article_inputs import information_inputs, issue_inputs
from cxlab.benchmarks.cxmarena.knowledge.issue_plans import (
    IssuePlan,
    define_tool,
    define_tools,
    plan_issues,
    tool_name,
)
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.benchmarks.cxmarena.text import foreign
from cxlab.benchmarks.generation import stages
from cxlab.errors import CxError
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import Article, Failure

# How often a writer is asked for one article, and after how many that say next to nothing it is asked no more.
TRIES, MOST_HOLLOW = 3, 5
# What sets the seed of a second try apart.
AGAIN = 7919
# What is shorter is a heading, whatever it had to state.
FEWEST_WORDS = 12


class HollowArticles(CxError):
    """A writer that leaves out most of what its first articles have to state: its texts would prove nothing."""

    def __init__(self, writer: str, title: str, body: str) -> None:
        said = " ".join(body.split())[:120]
        super().__init__(
            f"{writer} left out most facts of its first {MOST_HOLLOW} articles, each asked for {TRIES} times; for "
            f"{title!r} it wrote {said!r}. It was asked no more; choose another writer"
        )


def sections(body: str) -> list[tuple[str, str]]:
    """(heading, text) of each section of a clean body; the title line is left out."""
    found: list[tuple[str, list[str]]] = []
    for block in body.split("\n\n")[1:]:
        if "\n" not in block and len(block) < 60 and block[-1:] not in ".?!:" and not block.startswith(("- ", "1. ")):
            found.append((block, []))
        elif found:
            found[-1][1].append(block)
    return [(heading, "\n\n".join(blocks)) for heading, blocks in found]


def write_information(
    ledger: Ledger, topics: Sequence[Topic], model: ChatModel, seed: int, folder: Path | None = None
) -> Generator[stages.Progress, None, list[Article]]:
    """One article a topic; those that lack most of their facts are left out."""
    children: dict[str, list[Topic]] = {}
    for topic in topics:
        children.setdefault(topic.parent or "", []).append(topic)

    guard = _HollowGuard(model.name)

    async def write(topic: Topic) -> stages.Row:
        inputs, facts = information_inputs(ledger, topic, children.get(topic.id, []), seed)
        row = await _write(ledger, model, article_prompts.INFORMATION, inputs, facts, topic.subject, seed)
        return {**guard.check(row, inputs.title), "title": inputs.title}

    rows = yield from stages.run("information", topics, lambda t: t.id, write, folder)
    sound = [(topic, row) for topic, row in zip(topics, rows, strict=True) if not row["hollow"]]
    ids = {topic.id: f"KB_{number}" for number, (topic, _) in enumerate(sound, 1)}
    found = []
    for topic, row in sound:
        near = [ids[t.id] for t in children.get(topic.parent or "", []) if t.id != topic.id and t.id in ids]
        relations = {
            "parent": (ids[topic.parent],) if topic.parent in ids else (),
            "children": tuple(ids[t.id] for t in children.get(topic.id, []) if t.id in ids),
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
    """One article an issue, numbered from `first`; `about` maps a subject to its information article. Those that lack
    most of their facts are left out."""
    brand, guard = ledger.brand, _HollowGuard(model.name)

    async def write(plan: IssuePlan) -> stages.Row:
        inputs, facts = issue_inputs(ledger, plan, seed)
        row = await _write(ledger, model, article_prompts.ISSUE, inputs, facts, plan.subject, seed)
        return guard.check(row, plan.title)

    rows = yield from stages.run("issues", plans, lambda p: p.id, write, folder)
    definitions = {name: define_tool(brand, name) for plan in plans for name in plan.tools}
    found = []
    sound = [(plan, row) for plan, row in zip(plans, rows, strict=True) if not row["hollow"]]
    for number, (plan, row) in enumerate(sound, first):
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


async def _write(
    ledger: Ledger, model: ChatModel, prompt: Any, inputs: Any, facts: Sequence[str], subject: str | None, seed: int
) -> stages.Row:
    """The text and the facts that it states. Where it states what the ledger does not hold, or leaves out facts of the
    prompt, it is asked for again; in the end wrong sentences go, and so do the ids of facts that the text lacks."""
    wanted = [fact.id for fact in inputs.facts]
    tries: list[tuple[int, str]] = []
    language = ledger.brand.language
    for number in range(TRIES):
        # What could not be used is not kept; asked with the same seed, a server may send it again.
        reply = await ask(model, prompt, inputs, seed=seed + number * AGAIN)
        if reply.output is None:
            if not can_be_asked_again(reply.failure):
                raise missing_text_error(prompt.name, reply.failure)
            tries.append((len(wanted) + 1, ""))
            continue
        body = str(reply.output.text).strip()
        wrong, absent = contradictions(body, ledger, subject), missing(body, ledger, wanted, subject)
        other = foreign(body, language.language)
        tries.append((len(wrong) + len(absent), "" if other else body))
        # A stand-in says what it can the first time; a word that was read as a cue it would only say again.
        if not (wrong or absent or other) or model.simulated:
            break
        complaints = [f"It has to be in {language.name}, all of it."] if other else []
        complaints += [f"It says what is not so: {' '.join(map(str, t))}." for t in sorted(wrong, key=str)]
        lacking = {fact.id: fact.plain for fact in inputs.facts}
        complaints += [f"It does not state this: {lacking[fact]}" for fact in absent]
        inputs = inputs.model_copy(update={"complaints": tuple(complaints)})
    # What came in another language, or not at all, is no text of this brand's.
    body = drop_contradictions(min(tries, key=lambda one: (not one[1], one[0]))[1], ledger, subject)
    lost = set(missing(body, ledger, facts, subject))
    short = not model.simulated and len(body.split()) < FEWEST_WORDS
    hollow = short or 2 * len(lost & set(wanted)) > len(wanted)
    return {"body": body, "facts": [fact for fact in facts if fact not in lost], "tries": len(tries), "hollow": hollow}


def can_be_asked_again(failure: Failure | None) -> bool:
    """Whether a second try may bring what a first one did not: the writer's doing, not the provider's."""
    return failure is not None and (failure.where == "format" or failure.type in ("refused", "bad_reply"))


class _HollowGuard:
    """Gives up on a writer whose first articles all lack most of their facts, before more is paid for."""

    def __init__(self, writer: str) -> None:
        self.writer, self.hollow, self.sound = writer, 0, 0

    def check(self, row: stages.Row, title: str) -> stages.Row:
        self.hollow += row["hollow"]
        self.sound += not row["hollow"]
        if not self.sound and self.hollow >= MOST_HOLLOW:
            raise HollowArticles(self.writer, title, row["body"])
        return row


def missing_text_error(name: str, failure: Any) -> Exception:
    return CxError(
        f"{name}: the model gave no text ({failure.type}: {failure.message}); run the same command again to go on"
    )


def drop_contradictions(body: str, ledger: Ledger, subject: str | None) -> str:
    """The body without the sentences that contradict the ledger."""
    if not contradictions(body, ledger, subject):
        return body
    blocks = []
    for block in body.split("\n\n"):
        lines = []
        for line in block.split("\n"):  # a numbered step is one line, whatever goes from it
            kept = " ".join(s for s in SENTENCE.split(line) if not contradictions(s, ledger, subject))
            if not re.fullmatch(r"(?:\d+\.)?", kept):
                lines.append(kept)
        if lines:
            blocks.append("\n".join(lines))
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
