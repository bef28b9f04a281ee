"""A dataset from a stored corpus: queries from the templates, relevance by annotators, a classifier and a panel."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from typing import Any

from cxlab import llm
from cxlab.benchmarks.cdr.corpus.dataset import build, load_corpus
from cxlab.benchmarks.cdr.options import CdrDataset
from cxlab.benchmarks.cdr.prompts import hashes
from cxlab.benchmarks.cdr.queries.templates import load_templates
from cxlab.benchmarks.cdr.relevance.classifier import LOCAL
from cxlab.benchmarks.cdr.relevance.labelling import (
    CANDIDATES,
    JUDGES,
    PUBLISHED,
    SAMPLED,
    TRAIL,
    LabellingResult,
    label,
)
from cxlab.benchmarks.cdr.relevance.model_classifier import BLOCK
from cxlab.benchmarks.cdr.relevance.queue import QUERIES, build_queries
from cxlab.benchmarks.cdr.relevance.retriever_features import is_retriever
from cxlab.benchmarks.cdr.relevance.two_models import RERANKED
from cxlab.benchmarks.cdr.units import UnitText, cut_middle
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import FaultStoppedModel
from cxlab.errors import BadOption, CxError
from cxlab.llm import ChatModel
from cxlab.records import content_id
from cxlab.store import layout, write

# Tokens of the prompts with their schemas, without the conversation; a token is taken as four characters.
PROMPT_TOKENS = {"fit": 240, "rate": 300, "adapt": 370, "check": 240, "paraphrase": 160}
DECISION_TOKENS = 40
WRITTEN = 1.4  # what an adapted conversation has as JSON, of its tokens as text
CHARACTERS_A_TOKEN, MEASURED = 4, 500
PAPER_TALK = 460.0
# A query's share, on average: pairs that the classifier leaves to the annotator, queries for which a conversation is
# adapted, pairs that fit and go to the panel.
UNCERTAIN, ADAPTED, FITTING = 1.5, 0.25, 2.0


def generate_labelled(options: CdrDataset, reference: str, context: GenerationContext) -> Generation:
    """Label a stored corpus and store it with its queries and the whole trail; a second try asks nobody twice."""
    if len(set(options.judges)) != JUDGES:
        raise BadOption(f"judges={','.join(options.judges)}: name {JUDGES} different ones")
    corpus = load_corpus(reference, context.home)
    origin = write.load_dataset(reference, context.home)
    writer, judges = llm.load(options.model), [llm.load(name) for name in options.judges]
    rater, reranker = (None if name == LOCAL else llm.load(name) for name in (options.classifier, options.reranker))
    filled = load_templates().sample(options.queries, context.seed)
    queries = {f"q_{place:05d}": each.text for place, each in enumerate(filled)}
    areas = {f"q_{place:05d}": each.area for place, each in enumerate(filled)}
    simulated = all(model.simulated for model in (writer, *judges, *_chat(rater, reranker)))
    base = layout.resolve_home(context.home)
    made_by = (writer.name, [judge.name for judge in judges], options.classifier, options.reranker, hashes())
    work = base / "work" / content_id("cdr-labels", reference, options.queries, context.seed, *made_by)
    with layout.lock(work.with_suffix(".lock"), busy="another process makes this dataset at the moment; wait for it"):
        work.mkdir(parents=True, exist_ok=True)
        context.budget.open(work)
        asked = [FaultStoppedModel(context.budget.meter(model)) for model in (writer, *judges)]
        others = {id(each): FaultStoppedModel(context.budget.meter(each)) for each in _chat(rater, reranker)}
        kept_in = None if simulated else work
        steps = label(
            corpus,
            queries,
            asked[0],
            asked[0],
            asked[1:],
            context.seed,
            kept_in,
            others.get(id(rater), rater),
            others.get(id(reranker), reranker),
            context.budget.book,
        )
        found = yield from context.budget.follow(steps)
        kept = {query: text for query, text in queries.items() if query not in found.dropped}
        if not kept:
            raise BadOption("no query was left: no conversation of this dataset fits any; ask for more with --queries")
        dataset, samples, tables = build(
            f"{origin.name}, with {len(kept):,} queries",
            "generated",
            {**corpus, **found.added},
            kept,
            {query: found.relevant[query] for query in kept},
            areas,
            config={
                "writer": writer.name,
                "judges": [judge.name for judge in judges],
                "simulated": simulated,
                **_describe(found),
                **({} if simulated else {"spending": context.budget.sum_up()}),
            },
            licence=origin.licence,
            seed=context.seed,
            derived_from=reference,
            derivation="labels",
            redistributable=origin.redistributable,
        )
        tables[TRAIL], tables[QUERIES] = found.to_frame(), build_queries(queries, areas)
        folder = write.save_dataset(dataset, samples, base, tables=tables)
        shutil.rmtree(work)
    return Generated(dataset, tuple(samples), tables, folder)


def _describe(found: LabellingResult) -> dict[str, Any]:
    """What the steps came to, as the dataset keeps it."""
    return {
        "conversations": "labelled",
        "rates": {step: list(rate) for step, rate in found.rates.items()},
        "published": PUBLISHED,
        "reranker": found.reranked._asdict() if found.reranked else None,
        "classifier": found.trained._asdict() if found.trained else None,
        "classifier_note": found.note,
        "adapted": len(found.added),
        "dropped": found.dropped,
        "queue": len(found.queue),
        "negatives": found.negatives,
        "paraphrases": found.paraphrases,
        "prompts": hashes(),
        "note": "; ".join(found.lines()),
    }


def _chat(*models: ChatModel | None) -> list[ChatModel]:
    """Those that answer prompts."""
    return [each for each in models if each is not None and not is_retriever(each.name)]


def estimate_labelling(options: CdrDataset, home: Path | None = None) -> CostEstimate | None:
    """What labelling takes of all real models together: the writer, who is the annotator, too, the panel, and whoever
    stands in the place of the reranker or the classifier. None where all are simulated.

    Prompts are as long as the conversations of the reference are. How much fits, and with it how much the panel reads,
    is an assumption.
    """
    talk = _measure_talk(options.reference or "", home)
    queries, pairs = options.queries, CANDIDATES + SAMPLED
    decision = (PROMPT_TOKENS["fit"] + talk, DECISION_TOKENS)
    rating = (PROMPT_TOKENS["rate"] + talk, DECISION_TOKENS)
    fitting = FITTING * (1 if options.classifier == LOCAL or is_retriever(options.classifier) else 2)
    calls: list[tuple[str, float, tuple[float, float]]] = [
        (options.model, pairs + UNCERTAIN, decision),
        (options.model, ADAPTED, (PROMPT_TOKENS["adapt"] + talk, WRITTEN * talk)),
        (options.model, ADAPTED, (PROMPT_TOKENS["check"] + 2 * talk, DECISION_TOKENS)),
        (options.model, 1, (PROMPT_TOKENS["paraphrase"], DECISION_TOKENS)),
        (options.reranker, pairs + RERANKED, rating),
        (options.classifier, pairs + 3 * BLOCK, rating),
        *((judge, fitting, decision) for judge in options.judges),
    ]
    parts = [
        CostEstimate.of(model, *(round(queries * count) for count in (each, each * tokens[0], each * tokens[1])))
        for model, each, tokens in calls
        if model != LOCAL and not is_retriever(model) and not model.startswith("simulated:")
    ]
    return CostEstimate.add(parts)


def _measure_talk(reference: str, home: Path | None) -> float:
    """Tokens of a conversation of the corpus as annotators read it, on average."""
    try:
        corpus = load_corpus(reference, home)
    except CxError:
        return PAPER_TALK
    texts = [cut_middle(UnitText().write(talk.messages)) for talk in islice(corpus.values(), MEASURED)]
    return sum(map(len, texts)) / len(texts) / CHARACTERS_A_TOKEN if texts else PAPER_TALK
