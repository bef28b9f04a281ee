"""CXMArena: a brand's knowledge base, its conversations, six tasks on them. Reads like a table of contents."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from cxlab import resources
from cxlab.benchmarks.contract import (
    Baseline,
    Benchmark,
    Card,
    Cluster,
    Demo,
    DemoRun,
    Excerpt,
    Facet,
    Files,
    Search,
    Task,
    Uncheckable,
    Understanding,
)
from cxlab.benchmarks.cxmarena.evaluation import constant_answers, corpus, evaluation_prompts
from cxlab.benchmarks.cxmarena.evaluation.call_estimate import estimate
from cxlab.benchmarks.cxmarena.generation import dataset_config
from cxlab.benchmarks.cxmarena.importers import IMPORTERS
from cxlab.benchmarks.cxmarena.options import CxmDataset, CxmOptions, migrate
from cxlab.benchmarks.cxmarena.run import run
from cxlab.benchmarks.cxmarena.score import empty_output, gold_output, measure, rescore, score
from cxlab.benchmarks.cxmarena.tasks import unlabelled_tasks
from cxlab.benchmarks.dataset_figures import DatasetFigures
from cxlab.benchmarks.generation import Generation, GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.unlabelled import NO_GOLD
from cxlab.errors import BadOption, UnknownName
from cxlab.files import Complaint
from cxlab.llm.base import ChatModel
from cxlab.records import Dataset, Sample
from cxlab.records.dataset import count_of

SIZES = (16, 32, 64, 96, 128)
# Of characters; less says nothing about a brand.
SHORTEST_BRIEF = 40
METRICS = {
    "right": "share of answers in which everything that the task asks for is right",
    "similar_f1": "similar article pairs: F1 against their own gold",
    "similar_precision": "share of the pairs called similar that are",
    "similar_recall": "share of the similar pairs that were found",
    "contradictory_f1": "contradicting article pairs: F1 against their own gold",
    "contradictory_precision": "share of the pairs called contradictory that are",
    "contradictory_recall": "share of the contradicting pairs that were found",
    "contradictory_candidates": "share of the contradicting pairs that were checked at all: the ceiling of recall",
    "similar_candidates": "share of the similar pairs that the model was asked about, where it decides: the same",
    **{
        f"public_{kind}_{figure}": f"{figure} on {kind} pairs as the public evaluator predicts: 5 nearest, cosine 0.9"
        for kind in ("similar", "contradictory")
        for figure in ("precision", "recall", "f1")
    },
    "best_similar_f1": "F1 on similar pairs at the best threshold of the sweep: chosen on the gold, so a ceiling",
    "best_similar_threshold": "that threshold, a cosine from 0 to 1",
    "intent": "label equal to the letter (the headline)",
    "intent_fuzzy": "label after the public evaluator's fuzzy mapping",
    **{
        f"public_intent_{name}": f"the same on taxonomy {name} alone, as the public evaluator reports it"
        for name in "ABC"
    },
    "intent_verified": "the judges accept the label, whatever was expected",
    "intent_l1": "first level of a two-level label",
    "intent_outside": "share of labels that the taxonomy does not have",
    "question_accuracy": "share of quality questions answered right; a missing answer is wrong",
    "public_question_accuracy": "the same with missing answers left out, as the public evaluator has it",
    "row_exact": "share of question lists with every answer right; cases join the lists of a conversation",
    "evidence_precision": "share of the lines named as evidence that are in the gold",
    "evidence_recall": "share of the gold's evidence lines that were named",
    **{
        f"hit@{k}": f"the article is among the first {k} different ones; as one is right, also recall"
        for k in (1, 5, 10)
    },
    "precision@10": "share of the first 10 articles that are right; at most 10 with one right article",
    "recall@10": "share of the right articles among the first 10 different ones",
    "recall@20": "share of the right articles among the first 20 different ones",
    "mrr@10": "1 / rank of the first right article, 0 beyond 10",
    "ndcg@10": "discounted gain of the first 10 articles against the best order",
    "public_hit@10": "the article is behind one of the first 10 chunks, as the public evaluator counts",
    "public_recall@10": "share of the right articles behind the first 10 chunks",
    "response_correct": "the judges find every fact in the right articles and the customer answered",
    "response_incorrect": "it rests on another article and says what the right ones do not",
    "response_hallucinated": "it states something that is in no article",
    "response_refusal": "it declines or says that it does not know",
    **{
        f"answer_{verdict}": f"article search with answer=true: the answer is {verdict}"
        for verdict in evaluation_prompts.VERDICTS
    },
    "judge_error": "share of the judges whose reply could not be read",
    **{f"tools@{n}": f"exactly the right tools called, by name, out of {n}" for n in SIZES},
    **{f"tools_arguments@{n}": f"the right tools with all the right arguments, out of {n}" for n in SIZES},
    **{f"tools_silent@{n}": f"no tool was called, with {n} to choose from" for n in SIZES},
    **{
        f"public_tools@{n}": f"tools@{n} where the other tools are the most used ones, as the public data has it"
        for n in SIZES
    },
    "format_error": "share of replies that could not be read",
}
TITLES = {
    **{
        f"{origin}{kind}_{figure}": f"{figure.replace('f1', 'F1')} of {kind} pairs{words}"
        for kind in ("similar", "contradictory")
        for figure in ("precision", "recall", "f1", "candidates")
        for origin, words in (("", ""), ("public_", " as published"))
        if f"{origin}{kind}_{figure}" in METRICS
    },
    "best_similar_f1": "best F1 of similar pairs",
    "best_similar_threshold": "best threshold of similar pairs",
    "intent": "intents right",
    "intent_fuzzy": "intents right by fuzzy match",
    **{f"public_intent_{name}": f"intents right in taxonomy {name}" for name in "ABC"},
    "intent_verified": "intents accepted by judges",
    "intent_l1": "first level of intents right",
    "intent_outside": "intents outside the taxonomy",
    "question_accuracy": "questions right",
    "public_question_accuracy": "questions right as published",
    "row_exact": "lists all right",
    **{f"public_{name}": f"{name} as published" for name in ("hit@10", "recall@10")},
    "judge_error": "judges' unreadable replies",
    **{f"tools@{n}": f"tools right of {n}" for n in SIZES},
    **{f"tools_arguments@{n}": f"tools and arguments right of {n}" for n in SIZES},
    **{f"tools_silent@{n}": f"no tool called of {n}" for n in SIZES},
    **{f"public_tools@{n}": f"tools right of {n} as published" for n in SIZES},
    "format_error": "unreadable replies",
}
HEADLINES = {
    "kb_refinement": ("similar_f1", "contradictory_f1"),
    "intent": ("intent",),
    "quality": ("question_accuracy", "row_exact"),
    "article_search": ("hit@10", "mrr@10"),
    "multi_turn": ("recall@10", "recall@20"),
    "tools": ("tools@16", "tools@128"),
}
CARD = Card(
    id="cxmarena",
    title="CXMArena: operations",
    measures="What a contact centre asks of a model beside talking: keeping the knowledge base clean, telling why "
    "people call, checking how they were served, finding the article, answering from it, using the right tool.",
    paper="CXMArena: Unified Dataset to benchmark performance in realistic CXM Scenarios",
    licence="generated data: own work; imported data: CC BY-NC 4.0; metric definitions after the paper",
    tasks=(
        Task(
            "kb_refinement",
            "Find repeated and contradicting articles",
            "similar_f1",
            decided_by="right",
            verdict_rule="of the whole collection no repeated or contradicting pair may be missed and none invented.",
        ),
        Task(
            "intent",
            "Tell why the customer called",
            "intent",
            decided_by="right",
            verdict_rule="the one label that is given must be the right one.",
        ),
        Task(
            "quality",
            "Check how the agent served",
            "question_accuracy",
            decided_by="right",
            verdict_rule="every question about the conversation must be answered rightly; one wrong answer fails it.",
        ),
        Task(
            "article_search",
            "Find the article",
            "hit@10",
            decided_by="right",
            verdict_rule="the right article must be among the first ten.",
            search=Search("search", "article_id", answers="answer", answered_by="answer"),
        ),
        Task(
            "multi_turn",
            "Find and answer within a conversation",
            "recall@10",
            decided_by="right",
            verdict_rule="all right articles must be among the first ten; what is answered is scored, but not counted.",
            search=Search(
                "multi_turn",
                "article_ids",
                asks_model=True,
                answers="response",
                answered_by="respond",
                offers=("query", "respond"),
            ),
        ),
        Task(
            "tools",
            "Choose the tool",
            "tools@16",
            decided_by="right",
            verdict_rule="exactly the right tools must be called, from however many there are to choose.",
        ),
    ),
    metrics=METRICS,
    titles=TITLES,
    lower_is_better=frozenset({"format_error", "intent_outside", "judge_error"}),
    unit=("answer", "answers"),
)
FACETS = (
    Facet(
        "scenario", "Task", "Which of the six tasks.", spread=True, labels={task.id: task.title for task in CARD.tasks}
    ),
    Facet("level", "Taxonomy", "Of the task intent; other tasks have none.", spread=True),
    Facet("sampler", "Other tools", "How the wrong tools to choose from were taken; of the task tools.", spread=True),
    Facet("leaf", "Leaf", spread=True, identifies=True),
    Facet("intent", "Issue", "The issue that the conversation is about."),
    Facet("modality", "Channel"),
    Facet("language", "Language"),
)


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold output must score 100 in each headline of its task and an empty one 0; calls no model."""
    if not sample.expected:
        raise Uncheckable(NO_GOLD)
    if reason := sample.inputs.get("unreachable"):
        raise Uncheckable(f"{reason}; wrong for everybody, as in the published figures")
    best, worst = measure(sample, gold_output(sample)), measure(sample, empty_output(sample))
    for metric in HEADLINES.get(sample.task, ()):
        top, bottom = best.get(metric, (None, ""))[0], worst.get(metric, (None, ""))[0]
        # A metric that the sample cannot have (no contradiction in the corpus, no list of that size) is none of its.
        if top is not None and abs(top - 100.0) > 1e-9:
            yield f"{sample.id}: the gold output scores {top} in {metric}, not 100"
        if bottom is not None and bottom != 0.0:
            yield f"{sample.id}: an empty output scores {bottom} in {metric}, not 0"
    if not any(best.get(metric, (None,))[0] is not None for metric in HEADLINES.get(sample.task, ())):
        yield f"{sample.id}: no headline of {sample.task} can be scored; the gold is empty"
    if sample.task == "intent":
        labels = [c.label for c in corpus.candidates(sample.dataset_id, sample.inputs)]
        if sample.expected["label"] not in (*labels, "Others"):
            yield f"{sample.id}: the expected label {sample.expected['label']!r} is not among the candidates"


def generate(options: CxmDataset, context: GenerationContext) -> Generation:
    """A dataset made and stored; the pipeline is imported only here, as runs need but what it stored."""
    from cxlab.benchmarks.cxmarena.generation import pipeline
    from cxlab.benchmarks.cxmarena.written import brand_files, dataset

    if options.brand in brand_files.names() and not options.brief:
        noise = dataset.WRITTEN if options.noise is None else options.noise
        return (yield from dataset.generate(options.brand, options.language or "en", context, noise, options.wer))
    return (yield from pipeline.generate(options, context))


def amount(options: CxmDataset) -> str:
    """On how many articles and conversations questions are asked: how many these give, making them tells."""
    from cxlab.benchmarks.cxmarena.generation import sizes
    from cxlab.benchmarks.cxmarena.written import brand_files

    if options.brand in brand_files.names():
        return "The articles and conversations as they were written by hand"
    size = sizes.read_size(options.size)
    articles = count_of(size.information + size.issues, "article")
    talks = count_of(size.conversations, "conversation")
    return f"{articles} and {talks}; how many questions these give, only making them tells"


def plan(options: CxmDataset, context: GenerationContext) -> CostEstimate | None:
    """What a real writer will be asked, by counts of earlier generations; settings that do not go together are
    refused. None where nobody is asked: the brand was written by hand."""
    from cxlab.benchmarks.cxmarena.generation import cost_estimate, sizes
    from cxlab.benchmarks.cxmarena.written import brand_files

    del context
    if options.brand and options.brief:
        raise BadOption("give a brand or a paragraph about one, not both: a paragraph makes a brand of its own")
    if options.brand in brand_files.names():
        return None
    if options.brief is not None and len(options.brief.strip()) < SHORTEST_BRIEF:
        raise BadOption("describe the brand in a paragraph: what it sells and to whom")
    sizes.read_size(options.size)
    return cost_estimate.estimate(options.model, options.size, brief=bool(options.brief), validate=options.check_labels)


def understand(options: CxmDataset, context: GenerationContext) -> Understanding | None:
    """What the writer understands of a paragraph about a brand."""
    from cxlab import llm
    from cxlab.benchmarks.cxmarena.generation import pipeline

    given = {name: value for name, value in options.to_record().items() if value is not None}
    config = dataset_config.read_config(given, context.seed)
    return pipeline.understand(config, context.writer or llm.load(config.model)) if config.brief else None


def write_excerpts(options: CxmDataset, context: GenerationContext) -> Generator[Progress, None, Sequence[Excerpt]]:
    """An article and a conversation of the brand that a paragraph becomes."""
    from cxlab.benchmarks.cxmarena.generation import pipeline

    given = {name: value for name, value in options.to_record().items() if value is not None}
    return (yield from pipeline.write_excerpts(dataset_config.read_config(given, context.seed), context))


def ask_writer(model: ChatModel) -> None:
    """Has a small dataset made, so that the prompts can be read."""
    from cxlab.benchmarks.cxmarena.generation import writer_prompts

    writer_prompts.ask_everything(model)


def describe(dataset: Dataset) -> list[str]:
    """Tables 8 and 9 of a generated dataset beside the published ones."""
    from cxlab.benchmarks.cxmarena.generation import dataset_statistics

    return dataset_statistics.describe(dataset)


def list_figures(dataset: Dataset) -> Sequence[DatasetFigures]:
    """The same for the page Datasets, and the checks; of conversations that were imported what their language is."""
    from cxlab.benchmarks.cxmarena.generation import dataset_figures

    return dataset_figures.list_figures(dataset)


def document(dataset_id: str, name: str, article: str) -> str:
    """An article as it is indexed in a corpus."""
    found = corpus.load(dataset_id, name).texts
    if article not in found:
        raise UnknownName(f"article of dataset {dataset_id!r}", article, ())
    return found[article]


def check_files(paths: Sequence[Path] | None) -> Sequence[Complaint]:
    """Complaints about brand packs; about all that ships, brands written by hand too, when none is given."""
    from cxlab.benchmarks.cxmarena.brand import pack_files
    from cxlab.benchmarks.cxmarena.written import proof

    return [*pack_files.check_files(paths), *(proof.prove_all() if paths is None else ())]


DEMO = Demo(
    generate={"brand": "aldersea"},
    runs=(
        DemoRun(
            models=("simulated:strong", "simulated:weak", "simulated:floor", constant_answers.MODEL),
            judges=("simulated:judge-fair", "simulated:judge-lenient"),
            # Enough for every task; the whole of it would take the demo ten seconds more.
            limit=150,
        ),
    ),
    seed=1,
    order=3,
)

BENCHMARK = Benchmark(
    card=CARD,
    generate=generate,
    run=run,
    score=score,
    check=check,
    prompts=evaluation_prompts.hashes,
    prompt_options=({}, {"tool_calls": "json"}),
    Options=CxmOptions,
    GenerateOptions=CxmDataset,
    facets=FACETS,
    attempt_view="answer",
    demo=DEMO,
    importers=IMPORTERS,
    files=Files("brand packs", check_files),
    plan=plan,
    amount=amount,
    conversation_tasks=unlabelled_tasks.TASKS,
    told_by="brief",
    understand=understand,
    excerpts=write_excerpts,
    ask_writer=ask_writer,
    estimate=estimate,
    describe=describe,
    dataset_figures=list_figures,
    document=document,
    published=(resources.data("published", "cxmarena.json"),),
    # A conversation is read by several taxonomies, asked several questions, given several sets of tools.
    cluster=Cluster("conversation", "conversations", ("conversation_id",), of_dataset=True),
    floors=(
        Baseline(
            constant_answers.MODEL, "Best constant", "Gives each task the one answer that is right most often in it."
        ),
        Baseline("simulated:floor", "Floor", "Answers without reading."),
    ),
    simulated="cxlab.benchmarks.cxmarena.simulated.floors:PROFILES",
    own_data=False,
    with_customer=False,
    needs_judges=False,
    questions=evaluation_prompts.questions,
    prepare=corpus.prepare,
    migrate=migrate,
    scorer="4",
    rescore=rescore,
)
