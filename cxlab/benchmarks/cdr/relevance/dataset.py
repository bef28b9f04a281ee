"""A dataset from a stored corpus: queries from the templates, relevance by annotators, a classifier and a panel."""

from __future__ import annotations

import shutil

from cxlab import llm
from cxlab.benchmarks.cdr.corpus.dataset import build, load_corpus
from cxlab.benchmarks.cdr.options import CdrDataset
from cxlab.benchmarks.cdr.prompts import hashes
from cxlab.benchmarks.cdr.queries.templates import load_templates
from cxlab.benchmarks.cdr.relevance.classifier import LOCAL
from cxlab.benchmarks.cdr.relevance.labelling import CANDIDATES, JUDGES, PUBLISHED, SAMPLED, TRAIL, label
from cxlab.benchmarks.cdr.relevance.model_classifier import BLOCK
from cxlab.benchmarks.cdr.relevance.queue import QUERIES, build_queries
from cxlab.benchmarks.cdr.relevance.retriever_features import is_retriever
from cxlab.benchmarks.cdr.relevance.two_models import DEPTH, RERANKED
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation_budget import CostEstimate
from cxlab.benchmarks.generation_stages import FaultStoppedModel
from cxlab.errors import BadOption
from cxlab.llm import ChatModel
from cxlab.records import content_id
from cxlab.store import layout, write

# Tokens of a decision on one conversation, which has about 460 in the paper's corpus; of an adaptation twice that.
PROMPT_TOKENS, COMPLETION_TOKENS = 700, 60


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
                "conversations": "labelled",
                "writer": writer.name,
                "judges": [judge.name for judge in judges],
                "simulated": simulated,
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


def _chat(*models: ChatModel | None) -> list[ChatModel]:
    """Those that answer prompts."""
    return [each for each in models if each is not None and not is_retriever(each.name)]


def estimate_labelling(options: CdrDataset) -> CostEstimate | None:
    """What labelling takes of the writer, who is the annotator, too: a call for each candidate and for each pair that
    is drawn below them, a few for what is uncertain; as the reranker the same pairs and twenty more, as the classifier
    the same and two blocks. What the panel takes depends on how much fits: that, and other models in these two places,
    are not in it."""
    if options.model.startswith("simulated:"):
        return None
    calls = options.queries * (CANDIDATES + SAMPLED + DEPTH // 5 + 2)
    if options.reranker == options.model:
        calls += options.queries * (CANDIDATES + SAMPLED + RERANKED)
    if options.classifier == options.model:
        calls += options.queries * (CANDIDATES + SAMPLED + 2 * BLOCK)
    return CostEstimate.of(options.model, calls, calls * PROMPT_TOKENS, calls * COMPLETION_TOKENS)
