"""What can be found out about anybody's conversations without labels: how the agent served, why customers called.

QUALITY      questions of one's own about the agent, answered with the lines that show it
INTENT       contact reasons of one's own, or found by clustering and named by a model; one for each conversation
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from cxlab import llm
from cxlab.benchmarks.cxmarena.conversations.transcripts import customer_words, number, transcript
from cxlab.benchmarks.cxmarena.evaluation.intent_discovery import discover
from cxlab.benchmarks.cxmarena.tasks.task_prompts import NAME_REASON, ReasonInputs
from cxlab.benchmarks.cxmarena.text import STOP, words
from cxlab.benchmarks.generation import GenerationContext, stages
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.unlabelled import ConversationAnswer, ConversationTask, UnlabelledDataset, UnlabelledSample
from cxlab.errors import BadOption
from cxlab.llm import ask
from cxlab.records import Attempt, Conversation, Judgement, Sample
from cxlab.records.progress import Progress
from cxlab.records.settings import Settings

QUESTIONS = (
    "Did the agent greet the customer?",
    "Did the agent show understanding where the customer was unhappy?",
    "Did the agent make sure what the customer wanted before acting on it?",
    "Did the agent answer what the customer asked?",
    "Did the agent say what the next steps are and by when?",
    "Did the agent ask whether there was anything else?",
)
OWN = "own"
"""What the taxonomy of such a dataset is called."""
MOST_QUESTIONS, LONGEST_QUESTION = 20, 300
# Conversations that are clustered; of more a sample is drawn, and all are labelled all the same.
MOST_CLUSTERED = 3_000
TERMS, OPENINGS, LONGEST_OPENING = 8, 5, 300
# Tokens of naming one reason: the prompt with its openings, and a name with a sentence.
NAMING_TOKENS, NAME_TOKENS = 700, 60


class QualitySettings(Settings):
    """What is asked about each conversation."""

    questions: str = Field(
        " ".join(QUESTIONS),
        description="Questions that yes or no answers, each with its question mark; at most 20.",
        json_schema_extra={"long": True},
    )


class IntentSettings(Settings):
    """Between which reasons a model chooses."""

    reasons: str = Field(
        "",
        description="Your own contact reasons, with semicolons between them; a hyphen with spaces sets off what one "
        "covers: Refund - money back for an order; Delivery. Empty: they are found by clustering.",
        json_schema_extra={"long": True},
    )
    count: int | None = Field(
        None, ge=2, le=60, title="How many to find", description="Reasons to find; else by how many conversations."
    )
    model: str = Field(
        "simulated:strong",
        title="Named by",
        description="Who names the reasons that are found. Simulated ones cost nothing and name a group by its words.",
        json_schema_extra={"offers": "models"},
    )


def split_questions(text: str) -> list[str]:
    """The questions of a text; BadOption for none, too many or one that is too long."""
    found = list(dict.fromkeys(" ".join(each.split()) for each in re.findall(r"[^?]*[^?\s][^?]*\?", text)))
    if not found:
        raise BadOption("questions: give one or more, each with its question mark")
    if len(found) > MOST_QUESTIONS:
        raise BadOption(f"questions: {len(found)} are too many for one reading; give at most {MOST_QUESTIONS}")
    if long := [each for each in found if len(each) > LONGEST_QUESTION]:
        raise BadOption(f"questions: {long[0][:60]!r}… has {len(long[0])} characters; at most {LONGEST_QUESTION}")
    return found


def split_reasons(text: str) -> list[tuple[str, str]]:
    """(reason, what it covers) of a text with semicolons; BadOption for a single one."""
    parts = [" ".join(each.split()).partition(" - ") for each in text.split(";") if each.strip()]
    # A colon parts the levels of a label.
    found = {name.replace(":", ",").strip(): about.strip() for name, _, about in parts}
    if len(found) < 2:
        raise BadOption("reasons: give two or more, with semicolons between them, or none to have them found")
    return list(found.items())


def make_quality(
    corpus: Mapping[str, Conversation], settings: QualitySettings, context: GenerationContext
) -> Generator[Progress, None, UnlabelledDataset]:
    """A sample for each conversation in which an agent speaks, with all questions."""
    del context
    questions, count = split_questions(settings.questions), len(corpus)
    yield Progress("samples", 0, count)
    samples, silent = [], 0
    for id, talk in corpus.items():
        rows, places = number(talk.messages)
        if all(row["who"] != "Agent" for row in rows):
            silent += 1
            continue
        inputs = {"lines": rows, "places": list(places), "questions": questions}
        samples.append(UnlabelledSample(id, inputs, {"scenario": "quality"}))
    yield Progress("samples", count, count)
    return UnlabelledDataset(samples, config={"questions": questions, "left_out": silent})


def make_intent(
    corpus: Mapping[str, Conversation], settings: IntentSettings, context: GenerationContext
) -> Generator[Progress, None, UnlabelledDataset]:
    """A sample for each conversation in which a customer speaks; the taxonomy is given or found."""
    said = {id: first for id, talk in corpus.items() if (first := customer_words(talk))}
    if not said:
        return UnlabelledDataset([])
    given = bool(settings.reasons.strip())
    if given:
        reasons = split_reasons(settings.reasons)
        yield Progress("reasons", len(reasons), len(reasons))
    else:
        reasons = yield from find_reasons(said, settings, context)
    rows = [{"taxonomy": OWN, "l1": name, "l2": None, "description": about} for name, about in reasons]
    schema = dict.fromkeys(("taxonomy", "l1", "l2", "description"), pl.String)
    inputs = {id: {"transcript": transcript(corpus[id].messages), "taxonomy": OWN} for id in said}
    facets = {"scenario": "intent", "level": OWN}
    return UnlabelledDataset(
        [UnlabelledSample(id, each, facets) for id, each in inputs.items()],
        {"taxonomies": pl.DataFrame(rows, schema=schema)},
        {
            "reasons": [name for name, _ in reasons],
            "found_by": None if given else settings.model,
            "clustered": None if given else min(len(said), MOST_CLUSTERED),
            "left_out": len(corpus) - len(said),
        },
    )


def find_reasons(
    said: Mapping[str, Sequence[str]], settings: IntentSettings, context: GenerationContext
) -> Generator[Progress, None, list[tuple[str, str]]]:
    """Reasons for contact: customers' first messages in clusters, the largest first, each named by a model.

    `said`: conversation → the customer's first messages. A cluster whose name was taken already joins that one.
    """
    ids = list(said)
    if len(ids) > MOST_CLUSTERED:
        drawn = np.random.default_rng(context.seed).choice(len(ids), MOST_CLUSTERED, replace=False)
        ids = [ids[place] for place in sorted(drawn.tolist())]
    count = min(settings.count or count_reasons(len(ids)), len(ids))
    yield Progress("clusters", 0, 1)
    clusters = discover([" ".join(said[id]) for id in ids], context.seed, k=count)
    yield Progress("clusters", 1, 1)
    members = [
        [id for id, cluster in zip(ids, clusters, strict=True) if cluster == n] for n in range(max(clusters) + 1)
    ]
    terms = list_terms([[" ".join(said[id]) for id in each] for each in members])
    writer = stages.FaultStoppedModel(context.budget.meter(context.writer or llm.load(settings.model)))

    async def name(place: int) -> stages.Row:
        inputs = ReasonInputs(
            conversations=len(members[place]),
            terms=tuple(terms[place]),
            openings=tuple(_cut(said[id][0]) for id in members[place][:OPENINGS]),
            others=tuple(" ".join(each[:3]) for at, each in enumerate(terms) if at != place),
        )
        reply = await ask(writer, NAME_REASON, inputs, seed=context.seed)
        found = reply.output
        # What nobody named is told by its words.
        named = (found.name, found.description) if found else (" ".join(terms[place][:4]) or f"Group {place + 1}", "")
        return {"name": " ".join(named[0].replace(":", ",").split()).rstrip("."), "about": " ".join(named[1].split())}

    rows = yield from stages.run("reasons", range(len(members)), str, name)
    found: dict[str, str] = {}
    for row in rows:
        found.setdefault(row["name"], row["about"])
    return list(found.items())


def count_reasons(conversations: int) -> int:
    """How many reasons are looked for: the square root of half the conversations, from 2 to 30."""
    return max(2, min(30, round(math.sqrt(conversations / 2))))


def list_terms(clusters: Sequence[Sequence[str]]) -> list[list[str]]:
    """The words that mark each cluster: those of which its texts have a larger part than the others' texts, by
    how many texts have them; at most eight, the best first."""
    counted = [
        Counter(word for text in texts for word in {*words(text)} - STOP if len(word) > 2 and not word.isdigit())
        for texts in clusters
    ]
    everywhere = sum(counted, Counter[str]())
    total = sum(map(len, clusters))
    found = []
    for counts, texts in zip(counted, clusters, strict=True):
        others = max(total - len(texts), 1)
        lift = {
            word: count / len(texts) - (everywhere[word] - count) / others
            for word, count in counts.items()
            if count > 1 or len(texts) < 3
        }
        found.append([word for word in sorted(lift, key=lambda word: (-lift[word], word)) if lift[word] > 0][:TERMS])
    return found


def plan_intent(conversations: int, settings: IntentSettings) -> CostEstimate | None:
    """Naming takes a call for each reason that is to be found."""
    if settings.reasons.strip() or settings.model.startswith("simulated:"):
        return None
    calls = settings.count or count_reasons(min(conversations, MOST_CLUSTERED))
    return CostEstimate.of(settings.model, calls, calls * NAMING_TOKENS, calls * NAME_TOKENS)


def read_quality(sample: Sample, attempt: Attempt, judgements: Sequence[Judgement]) -> list[ConversationAnswer]:
    """An answer for each question, with the messages that show it."""
    del judgements
    output, places = attempt.output, list(sample.inputs["places"])
    found = []
    for place, question in enumerate(sample.inputs["questions"]):
        said, reason, shown = (_at(output.get(name), place) for name in ("answers", "reasons", "evidence"))
        at = tuple(places[line - 1] for line in shown or () if 0 < line <= len(places))
        found.append(ConversationAnswer(question, said, reason or "", at))
    return found


def read_intent(sample: Sample, attempt: Attempt, judgements: Sequence[Judgement]) -> list[ConversationAnswer]:
    """The reason that was chosen, as it was said; and whether judges accept it, where any were asked."""
    del sample
    said = attempt.output.get("label")
    found = [ConversationAnswer("Why the customer got in touch", said, str(attempt.output.get("reason") or ""))]
    ballots = [one.verdict for one in judgements if one.status == "ok"]
    if judgements:
        yes, no = ballots.count(str(True)), ballots.count(str(False))
        verdict = None if not ballots else "yes" if yes > no else "no" if no > yes else "split"
        told = f"{yes} of {len(judgements)} judges accept it"
        found.append(ConversationAnswer("Judges accept that reason", verdict, told))
    return found


def _at(listed: Any, place: int) -> Any:
    """What a reply has of one question; None where it has nothing."""
    return listed[place] if listed and place < len(listed) else None


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_OPENING else line[:LONGEST_OPENING].rsplit(" ", 1)[0] + " …"


QUALITY = ConversationTask(
    "quality",
    "Quality of service",
    "Answers your questions about the agent in each conversation, with the messages that show it.",
    QualitySettings,
    make_quality,
    read_quality,
)
INTENT = ConversationTask(
    "intent",
    "Reasons for contact",
    "Finds why customers got in touch, or takes your own list of reasons, and puts one to each conversation.",
    IntentSettings,
    make_intent,
    read_intent,
    plan_intent,
)
TASKS = (QUALITY, INTENT)
