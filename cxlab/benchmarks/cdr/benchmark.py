"""CDR: find conversations by what happens in them. Reads like a table of contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cxlab import llm, resources
from cxlab.benchmarks.cdr import run as running
from cxlab.benchmarks.cdr import run_figures
from cxlab.benchmarks.cdr.corpus import AREAS, domains, load_written, statistics
from cxlab.benchmarks.cdr.corpus.dataset import CORPUS, build, load_corpus
from cxlab.benchmarks.cdr.failure_analysis import KINDS
from cxlab.benchmarks.cdr.importers.conversations import IMPORTER
from cxlab.benchmarks.cdr.options import CdrDataset, CdrOptions, read_size
from cxlab.benchmarks.cdr.prompts import hashes
from cxlab.benchmarks.cdr.retrievers.approximate import IndexOptions, update_index
from cxlab.benchmarks.cdr.score import DECIDED_BY, HEADLINE, METRICS, measure, score
from cxlab.benchmarks.contract import (
    Baseline,
    Benchmark,
    Card,
    Demo,
    DemoRun,
    Facet,
    Indexing,
    Role,
    RoleEstimate,
    Search,
    Task,
    Uncheckable,
)
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import Progress, finish
from cxlab.benchmarks.rehearsal import rehearse
from cxlab.benchmarks.unlabelled import NO_GOLD
from cxlab.errors import UnknownName
from cxlab.llm import ChatModel
from cxlab.records import Sample
from cxlab.records.dataset import count_of
from cxlab.store import write

TASKS = {
    "session": "Find conversations, each searched whole",
    "window": "Find conversations by three messages in a row",
    "turn": "Find conversations by single messages",
}
SEARCH = Search(
    "corpus",
    "conversations",
    unit=("conversation", "conversations"),
    table=CORPUS,
    id="conversation_id",
    title="title",
    area="area",
    misses=tuple((kind, words.partition(":")[0]) for kind, words in KINDS.items()),
    same_queries=True,
)
VERDICT_RULE = "one fitting conversation among the first ten is enough; the order is scored, but not counted."
CARD = Card(
    id="cdr",
    title="CDR: conversation retrieval",
    measures="Whether a retriever finds the conversations in which something happens: who does it, how it develops, "
    "in what tone, and not just what words fall.",
    paper="Finding Diamonds in Conversation Haystacks: A Benchmark for Conversational Data Retrieval",
    licence="conversations and queries: own work; metric definitions after the paper; imported data: as their source",
    tasks=(
        *(
            Task(id, title, HEADLINE, decided_by=DECIDED_BY, search=SEARCH, verdict_rule=VERDICT_RULE)
            for id, title in TASKS.items()
        ),
        Task(
            domains.TASK,
            "Tell domains apart",
            domains.RIGHT,
            verdict_rule="the domain must be that of a person's label; without a label there is no verdict.",
        ),
    ),
    titles={domains.RIGHT: "domains right"},
    metrics={**METRICS, domains.RIGHT: "share of conversations whose domain is that of a person's label"},
    leading=(HEADLINE, "recall@10", "mrr@10"),
    parts=("hit@10", "recall@10", "precision@10", "mrr@10"),
    unit=("query", "queries"),
)
FACETS = (
    Facet("area", "Area", "What kind of thing the query asks for.", tuple(AREAS), AREAS, spread=True),
    Facet("granularity", "Granularity", "What is searched: whole conversations, three messages, one.", tuple(TASKS)),
)
FLOORS = (
    Baseline("retriever:random", "Random", "An order by chance, another one for each query."),
    Baseline("retriever:hub", "Hub", "One order for every query: what is most like everything else first."),
)
LICENCE = "conversations, labels and queries: own work, as this repository"


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold ranking must score 100 and an empty one 0; what is relevant must be in the corpus."""
    if not sample.expected:
        raise Uncheckable(NO_GOLD)
    relevant = list(sample.expected["conversations"])
    best, worst = measure(sample, relevant), measure(sample, [])
    for metric in (HEADLINE, DECIDED_BY, "mrr@10"):
        if abs(best[metric] - 100) > 1e-9:
            yield f"{sample.id}: the gold ranking scores {best[metric]} in {metric}, not 100"
        if worst[metric] != 0:
            yield f"{sample.id}: an empty ranking scores {worst[metric]} in {metric}, not 0"
    lost = [each for each in relevant if each not in load_corpus(sample.dataset_id)]
    if lost:
        yield f"{sample.id}: {len(lost)} relevant conversations are not in the corpus, {lost[0]!r} among them"


def generate(options: CdrDataset, context: GenerationContext) -> Generation:
    """Conversations written by hand, made ones, or those of another dataset; stored at once, as no sample holds any."""
    size = read_size(options.size)
    if options.reference:
        from cxlab.benchmarks.cdr.relevance.dataset import generate_labelled

        return (yield from generate_labelled(options, options.reference, context))
    if size is not None:
        from cxlab.benchmarks.cdr.corpus.generation import generate_made  # runs need but what it stored

        return (yield from generate_made(options, size, context))
    written = load_written()
    count = len(written.conversations)
    yield Progress("conversations", 0, count)
    dataset, samples, tables = build(
        "Conversations written by hand",
        "generated",
        written.conversations,
        {query.id: query.text for query in written.queries},
        written.relevant,
        {query.id: query.area for query in written.queries},
        config={"conversations": "written"},
        licence=LICENCE,
    )
    folder = write.save_dataset(dataset, samples, context.home, tables=tables)
    yield Progress("conversations", count, count)
    return Generated(dataset, tuple(samples), tables, folder)


def amount(options: CdrDataset) -> str:
    """How many samples these settings make, each query being searched for in several ways, and on how much."""
    from cxlab.benchmarks.cdr.corpus.generated import count_queries

    ways = len(TASKS)

    def tell(known: str, queries: int, where: str) -> str:
        return f"{known}{count_of(queries * ways, 'sample')}: {queries:,} queries × {ways} granularities, on {where}"

    if options.reference:
        return tell("At most ", options.queries, f"the conversations of {options.reference}")
    if (size := read_size(options.size)) is not None:
        return tell("About ", count_queries(size), count_of(size, "conversation"))
    written = load_written()
    return tell("", len(written.queries), count_of(len(written.conversations), "conversation"))


def plan(options: CdrDataset, context: GenerationContext) -> CostEstimate | None:
    """What real models will be asked; None where none is."""
    from cxlab.benchmarks.cdr.corpus.generation import estimate_writing
    from cxlab.benchmarks.cdr.relevance.dataset import estimate_labelling

    size = read_size(options.size)
    if options.reference:
        return estimate_labelling(options, context.home)
    return None if size is None else estimate_writing(options.model, size)


def ask_writer(model: ChatModel) -> None:
    """Has a conversation written, read, adapted, checked and asked for, so that the prompts can be read."""
    from cxlab.benchmarks.cdr.corpus import generated
    from cxlab.benchmarks.cdr.relevance import example

    plans = generated.plan(1, 1)
    (talk,) = finish(generated.write(plans, model, 1)).values()
    example.ask_each(model, talk)


def estimate(samples: Sequence[Sample], options: CdrOptions, roles: Mapping[Role, Sequence[str]]) -> list[RoleEstimate]:
    """Calls and tokens of one trial: a chat model is asked once a query, a retriever never.

    What a server takes for vectors is not in it: it is paid once a text, whoever asks.
    """
    models = roles.get("agent", ())
    found = [RoleEstimate("agent", name, 0, 0, 0) for name in models if llm.role_of(name) == running.RETRIEVER]
    asked = [name for name in models if llm.role_of(name) != running.RETRIEVER]
    by_words = options.model_copy(update={"first": "bm25"})
    return found + (rehearse(running.run, score, samples, by_words, {"agent": asked}) if asked else [])


def document(dataset_id: str, corpus: str, conversation: str) -> str:
    """A conversation as a session is searched: its messages with their speakers."""
    del corpus
    found = load_corpus(dataset_id)
    if conversation not in found:
        raise UnknownName(f"conversation of dataset {dataset_id!r}", conversation, ())
    return CdrOptions.read({}).text.write(found[conversation].messages)


DEMO = Demo(
    generate={},
    runs=(
        DemoRun(
            models=tuple(f"retriever:{name}" for name in ("bm25", "conversation", "random", "hub")),
        ),
    ),
    order=4,
)

BENCHMARK = Benchmark(
    card=CARD,
    generate=generate,
    run=running.run,
    score=score,
    check=check,
    prompts=hashes,
    Options=CdrOptions,
    GenerateOptions=CdrDataset,
    facets=FACETS,
    floors=FLOORS,
    model_roles=("retriever", "agent"),
    default_models=("retriever:bm25", "retriever:conversation"),
    with_customer=False,
    needs_judges=False,
    default_judges=(),
    prepare=running.prepare,
    estimate=estimate,
    document=document,
    demo=DEMO,
    indexing=Indexing(IndexOptions, update_index),
    importers=(IMPORTER,),
    conversation_tasks=(domains.DOMAIN_TASK,),
    plan=plan,
    amount=amount,
    ask_writer=ask_writer,
    figures=run_figures.list_figures,
    describe=statistics.describe,
    dataset_figures=statistics.list_figures,
    attempt_view="answer",
    published=(resources.data("published", "cdr.json"),),
)
