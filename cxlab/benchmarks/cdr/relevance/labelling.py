"""The paper's way to relevance, step by step, with a trail of each decision.

candidates  the five best conversations of each query are read by an annotator
adapt       where none fits, a writer adapts the best of them or declines; a reader checks fidelity and naturalness
sampled     ten more of each query are drawn from the ranks below and read, so that the classifier knows the rest, too
reranker    trained before, on made conversations, it puts what retrieval finds into order and passes the hundred best
            on; it is compared with these labels. A chat model, which reads the twenty best of retrieval, or a retriever
            may stand in its place
classifier  trained on these labels it reads what the reranker passes on: from 0.9 on relevant, below 0.5 not; what lies
            between, or on the other side of both its neighbours, is uncertain and goes to the annotator. A chat model
            may stand in its place: it reads on until ten in a row are below 0.5, and is compared with the same labels;
            or a retriever, which it then reads instead of its own features
general     a query with more than fifty matches is dropped
panel       four judges read each pair: a majority keeps it, a tie is discarded and flagged for a person
negatives   the best-ranked conversation that is not relevant; a paraphrase of the query by the writer
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cxlab.benchmarks.cdr.corpus.generated import to_conversation
from cxlab.benchmarks.cdr.prompts.relevance import (
    ADAPT,
    CHECK,
    PARAPHRASE,
    AdaptInputs,
    CheckInputs,
    ParaphraseInputs,
)
from cxlab.benchmarks.cdr.relevance.classifier import LOCAL, PairFeatures, PairLabel, TrainingReport
from cxlab.benchmarks.cdr.relevance.pair_readings import TEXT, PairReadings, Readings
from cxlab.benchmarks.cdr.relevance.retriever_features import Book, RetrieverFeatures, is_retriever
from cxlab.benchmarks.cdr.relevance.two_models import (
    DEPTH,
    UNSURE,
    RerankingResult,
    rerank,
    rerank_by_chat,
    tell_chances,
    tell_chances_by_chat,
)
from cxlab.benchmarks.cdr.units import cut_middle
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import Progress
from cxlab.errors import BadOption
from cxlab.llm import ChatModel, ask
from cxlab.records import Conversation

CANDIDATES = 5
# Of the ranks below the candidates, down to the lowest, so many are drawn by chance and read.
SAMPLED, LOWEST = 10, 500
SURE = 0.9
MOST_RELEVANT = 50
JUDGES = 4
PUBLISHED = {"average_precision": 0.9622, "classifier_average_precision": 0.952, "accuracy": 0.952, "panel": 0.97}
"""The paper's reranker (average precision) and classifier on their held-out pairs, of which two in five and every other
one are relevant; and the share of pairs that its panel passed."""
TRAIL = "trail"
"""The table of a dataset with every decision on its relevance."""


class LabelDecision(NamedTuple):
    """One line of the trail. `fits` None: nobody could tell, so a person should look at it."""

    query_id: str
    conversation_id: str
    step: str
    by: str
    fits: bool | None
    score: float | None = None
    reason: str = ""


@dataclass
class LabellingResult:
    """What came of it. `relevant`: query → conversations; `added`: what was adapted; `dropped`: query → why.

    `queue`: pairs that a person should look at; `negatives`: query → a conversation that only seems to fit;
    `paraphrases`: query → the same in other words; `rates`: step → (passed, of); `trained` None: too few labels.
    """

    relevant: dict[str, set[str]] = field(default_factory=dict)
    added: dict[str, Conversation] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    queue: list[LabelDecision] = field(default_factory=list)
    negatives: dict[str, str] = field(default_factory=dict)
    paraphrases: dict[str, str] = field(default_factory=dict)
    trail: list[LabelDecision] = field(default_factory=list)
    rates: dict[str, tuple[int, int]] = field(default_factory=dict)
    reranked: TrainingReport | None = None
    trained: TrainingReport | None = None
    note: str = ""

    def note_down(self, decision: LabelDecision) -> None:
        """Keep a decision; one that nobody could make goes to the queue as well."""
        self.trail.append(decision)
        if decision.fits is None:
            self.queue.append(decision)

    def to_frame(self) -> pl.DataFrame:
        """The whole trail."""
        texts = dict.fromkeys(("query_id", "conversation_id", "step", "by"), pl.String)
        schema = {**texts, "fits": pl.Boolean, "score": pl.Float64, "reason": pl.String}
        return pl.DataFrame(self.trail, schema=schema, orient="row")

    def lines(self) -> list[str]:
        """The report for a person, beside the paper's figures."""
        told = [f"{step}: {passed:,} of {of:,} pass" for step, (passed, of) in self.rates.items()]
        if self.reranked is not None:
            told += tell_model(self.reranked, "reranker")
        if self.trained is not None:
            told += tell_model(self.trained, "classifier")
        elif self.note:
            told.append(f"classifier: left out, {self.note}")
        return [*told, f"{len(self.queue):,} pairs for a person to look at, {len(self.dropped):,} queries dropped"]


def tell_model(found: TrainingReport, what: str) -> list[str]:
    """How far the `reranker` or the `classifier` can be relied on, in two ways that are easily mistaken for each other.

    A reranker's scores are an order and no chances: how often they are above a half says nothing.
    """
    name = what if found.by == LOCAL else f"{found.by} as the {what}"
    name += f", against the labels of {found.against}" if found.against else ""
    if found.by == found.against:
        name += " (its own: how steady it is, not how right)"
    scope = "pairs, weighed by what was labelled" if found.against else "pairs of queries it was not trained on"
    order = what == "reranker"
    over_all = f"average precision {found.average_precision:.3f} (blind {found.base:.3f})"
    if not order:
        over_all += f", accuracy {found.accuracy:.3f} (always no: {1 - found.base:.3f})"
    told = [f"{name}, over all {scope}: {over_all}, from {found.pairs:,} labels"]
    if found.paired_precision is not None and found.paired_accuracy is not None:
        published = PUBLISHED["average_precision" if order else "classifier_average_precision"]
        few = f"average precision {found.paired_precision:.3f} (paper {published:.3f}, blind 0.250)"
        if not order:
            few += f", accuracy {found.paired_accuracy:.3f} (paper {PUBLISHED['accuracy']:.3f}, always no 0.750)"
        told.append(f"{name}, one relevant pair with three that are not: {few}, n {found.paired:,} relevant pairs")
    return told


Steps = Generator[Progress, None, Any]


def label(
    corpus: Mapping[str, Conversation],
    queries: Mapping[str, str],
    annotator: ChatModel,
    writer: ChatModel,
    judges: Sequence[ChatModel],
    seed: int = 0,
    folder: Path | None = None,
    rater: ChatModel | None = None,
    reranker: ChatModel | None = None,
    book: Book | None = None,
) -> Generator[Progress, None, LabellingResult]:
    """All steps; `folder` keeps what models said, so that a second try asks nobody twice. `rater`, `reranker`: the chat
    model or the retriever that stands in the place of the classifier and of the reranker; `book` takes what a server's
    vectors come to."""
    if len(judges) != JUDGES or len({judge.name for judge in judges}) != JUDGES:
        raise BadOption(f"the panel has {JUDGES} different judges; {len({judge.name for judge in judges})} were named")
    done = LabellingResult()
    features = PairFeatures(corpus)
    best = {query: features.rank(text, DEPTH) for query, text in queries.items()}
    asking = PairReadings(corpus, queries, seed, folder)
    drawn = _draw(features, queries, asking)
    first, lower = yield from _read(asking, done, best, list(drawn), annotator)
    yield from _adapt(asking, done, best, writer, annotator)
    labels = [PairLabel(*pair, fits) for pair, (fits, _) in first.items() if fits is not None]
    labels += [PairLabel(*pair, fits, drawn[pair]) for pair, (fits, _) in lower.items() if fits is not None]
    readers = {
        model.name: RetrieverFeatures(corpus, model.name, queries.values(), book)
        for model in (rater, reranker)
        if model is not None and is_retriever(model.name)
    }
    orders_by = reranker.name if reranker else LOCAL
    if reranker is not None and orders_by not in readers:
        ranked = yield from rerank_by_chat(asking.rate, reranker, best, labels, annotator.name, seed)
    else:
        ranked = rerank(features, queries, labels, annotator.name, seed, readers.get(orders_by), orders_by)
    _note_order(done, ranked, orders_by)
    unread = {
        query: [name for name in ordered if (query, name) not in first and (query, name) not in lower]
        for query, ordered in ranked.order.items()
    }
    tells = rater.name if rater else LOCAL
    if rater is not None and tells not in readers:
        told = yield from tell_chances_by_chat(asking.rate, rater, unread, labels, annotator.name, seed)
    else:
        told = tell_chances(readers.get(tells) or features, queries, unread, labels, seed, tells)
    done.trained, done.note = told.held, told.note
    yield from _classify(asking, done, told.chances, annotator, rater.name if rater else "classifier")
    _drop(done)
    yield from _verify(asking, done, judges)
    for query in queries:
        if query not in done.dropped:
            seems = next((name for name in ranked.order[query] if name not in done.relevant[query]), None)
            if seems is not None:
                done.negatives[query] = seems
    yield from _paraphrase(asking, done, writer)
    return done


def _read(
    asking: PairReadings,
    done: LabellingResult,
    best: Mapping[str, Sequence[str]],
    drawn: Sequence[tuple[str, str]],
    annotator: ChatModel,
) -> Generator[Progress, None, tuple[Readings, Readings]]:
    """What the annotator says of the best candidates and of the pairs drawn below them."""
    pairs = {"candidates": [(query, name) for query in asking.queries for name in best[query][:CANDIDATES]]}
    pairs["sampled"] = list(drawn)
    done.relevant = {query: set() for query in asking.queries}
    found = []
    for stage, asked in pairs.items():
        said = yield from asking.fit(stage, annotator, asked)
        for (query, name), (fits, reason) in said.items():
            done.note_down(LabelDecision(query, name, stage, annotator.name, fits, None, reason))
            if fits:
                done.relevant[query].add(name)
        if stage == "candidates":
            done.rates[stage] = sum(map(bool, done.relevant.values())), len(asking.queries)
        else:
            done.rates[stage] = sum(bool(fits) for fits, _ in said.values()), len(said)
        found.append(said)
    first, lower = found
    return first, lower


def _note_order(done: LabellingResult, ranked: RerankingResult, by: str) -> None:
    done.reranked = ranked.held
    for query, ordered in ranked.order.items():
        for place, name in enumerate(ordered, 1):
            score = ranked.scores.get((query, name))
            done.trail.append(LabelDecision(query, name, "reranker", by, None, score, f"place {place}"))


def _drop(done: LabellingResult) -> None:
    """Leave out the queries that too many conversations fit, or none."""
    for query, names in done.relevant.items():
        if len(names) > MOST_RELEVANT:
            done.dropped[query] = f"{len(names)} conversations fit: too general"
        elif not names:
            done.dropped[query] = "no conversation fits"


def _draw(features: PairFeatures, queries: Mapping[str, str], asking: PairReadings) -> dict[tuple[str, str], float]:
    """Pairs below the candidates, drawn by chance, and how many pairs of the query each of them stands for: those
    beyond the lowest rank are taken to be as those above it."""
    found: dict[tuple[str, str], float] = {}
    for query, text in queries.items():
        below = features.rank(text, LOWEST)[CANDIDATES:]
        rng = np.random.default_rng(asking.seed_of("sampled", query))
        chosen = rng.choice(below, min(SAMPLED, len(below)), replace=False).tolist() if below else []
        for name in chosen:
            found[query, name] = (len(features.ids) - CANDIDATES) / len(chosen)
    return found


def _adapt(
    asking: PairReadings, done: LabellingResult, best: Mapping[str, Sequence[str]], writer: ChatModel, reader: ChatModel
) -> Steps:
    wanting = [query for query, names in done.relevant.items() if not names and best[query]]

    async def one(query: str) -> dict[str, Any]:
        source = best[query][0]
        text, reference = asking.queries[query], cut_middle(asking.texts[source])
        inputs = AdaptInputs(query=text, conversation=reference, messages=asking.lengths[source])
        reply = await ask(writer, ADAPT, inputs, seed=asking.seed_of("adapt", query))
        said = reply.output
        if said is None or said.declined:
            return {"messages": None, "reason": said.reason if said else "unreadable reply"}
        messages = [message.model_dump() for message in said.messages]
        made = cut_middle(TEXT.write(to_conversation("", messages, {}).messages))
        seen = await ask(
            reader,
            CHECK,
            CheckInputs(query=text, reference=reference, conversation=made),
            seed=asking.seed_of("check", query),
        )
        ok = seen.output is not None and seen.output.fits == seen.output.natural == "yes"
        told = seen.output.reason if seen.output else "the check could not be read"
        return {"messages": messages if ok else None, "reason": told, "checked": True}

    rows = yield from stages.run("adapt", wanting, str, one, asking.folder)
    for query, row in zip(wanting, rows, strict=True):
        source, name = best[query][0], f"adapted_{query}"
        if row["messages"]:
            talk = to_conversation(name, row["messages"], {"adapted_from": source})
            done.added[name] = talk
            done.relevant[query].add(name)
            asking.texts[name], asking.lengths[name] = TEXT.write(talk.messages), len(talk.messages)
        by = reader.name if row.get("checked") else writer.name
        done.note_down(
            LabelDecision(
                query, name if row["messages"] else source, "adapt", by, bool(row["messages"]), None, row["reason"]
            )
        )
    done.rates["adapt"] = len(done.added), len(wanting)


def _classify(
    asking: PairReadings,
    done: LabellingResult,
    told: Mapping[str, Mapping[str, float | None]],
    annotator: ChatModel,
    by: str,
) -> Steps:
    uncertain: list[tuple[str, str]] = []
    for query, of_query in told.items():
        chances = list(of_query.values())
        for place, (name, chance) in enumerate(of_query.items()):
            beside = chances[max(0, place - 1) : place] + chances[place + 1 : place + 2]
            around = [each for each in beside if each is not None]
            # On the other side of both its neighbours: the boundary is not where the order has it.
            odd = bool(around) and all((each >= UNSURE) != ((chance or 0.0) >= UNSURE) for each in around)
            verify = chance is None or odd or UNSURE <= chance < SURE
            if verify:
                uncertain.append((query, name))
            sure = not verify and (chance or 0.0) >= SURE
            if sure:
                done.relevant[query].add(name)
            why = "no readable reply" if chance is None else "uncertain" if verify else ""
            done.trail.append(LabelDecision(query, name, "classifier", by, sure, chance, why))
    answers = yield from asking.fit("uncertain", annotator, uncertain)
    for pair, (fits, reason) in answers.items():
        done.note_down(LabelDecision(*pair, "uncertain", annotator.name, fits, None, reason))
        if fits:
            done.relevant[pair[0]].add(pair[1])
    done.rates["uncertain"] = sum(bool(fits) for fits, _ in answers.values()), len(answers)


def _verify(asking: PairReadings, done: LabellingResult, judges: Sequence[ChatModel]) -> Steps:
    pairs = [
        (query, name) for query, names in done.relevant.items() if query not in done.dropped for name in sorted(names)
    ]
    votes: dict[tuple[str, str], list[bool | None]] = {pair: [] for pair in pairs}
    for place, judge in enumerate(judges, 1):
        answers = yield from asking.fit(f"panel-{place}", judge, pairs)
        for pair, (fits, reason) in answers.items():
            votes[pair].append(fits)
            done.trail.append(LabelDecision(*pair, "vote", judge.name, fits, None, reason))
    kept = 0
    for (query, name), cast in votes.items():
        yes, no = cast.count(True), cast.count(False)
        fits = None if yes == no or yes + no < JUDGES - 1 else yes > no
        told = f"{yes} yes, {no} no, {len(cast) - yes - no} unreadable"
        done.note_down(LabelDecision(query, name, "panel", "majority", fits, yes / JUDGES, told))
        kept += fits is True
        if not fits:
            done.relevant[query].discard(name)
    done.rates["panel"] = kept, len(pairs)
    for query, names in done.relevant.items():
        if query not in done.dropped and not names:
            done.dropped[query] = "the panel passed no conversation"


def _paraphrase(asking: PairReadings, done: LabellingResult, writer: ChatModel) -> Steps:
    left = [query for query in asking.queries if query not in done.dropped]

    async def one(query: str) -> dict[str, Any]:
        inputs = ParaphraseInputs(query=asking.queries[query])
        reply = await ask(writer, PARAPHRASE, inputs, seed=asking.seed_of("paraphrase", query))
        return {"text": reply.output.text if reply.output else None}

    rows = yield from stages.run("paraphrases", left, str, one, asking.folder)
    done.paraphrases = {query: row["text"] for query, row in zip(left, rows, strict=True) if row["text"]}
