"""CRMArena: agents work the customer records of a company. Reads like a table of contents."""

from collections.abc import Iterable, Mapping, Sequence

from cxlab import resources
from cxlab.benchmarks.contract import Baseline, Benchmark, Card, Demo, DemoRun, Facet, Role, RoleEstimate, Task
from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.answers import NO_ANSWER
from cxlab.benchmarks.crmarena.evaluation.results import list_figures
from cxlab.benchmarks.crmarena.evaluation.verdict import PASS_FROM, VERDICT_RULES
from cxlab.benchmarks.crmarena.generation import amount, dataset_figures, generate, plan
from cxlab.benchmarks.crmarena.generation.examples import ask_writer
from cxlab.benchmarks.crmarena.importers import IMPORTERS
from cxlab.benchmarks.crmarena.live.upload import UPLOADER
from cxlab.benchmarks.crmarena.options import FRAMEWORKS, CrmGenerateOptions, CrmOptions
from cxlab.benchmarks.crmarena.prompts import agent_prompts
from cxlab.benchmarks.crmarena.run import open_sandbox, prepare, run
from cxlab.benchmarks.crmarena.score import grade, rescore, score
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.benchmarks.rehearsal import rehearse
from cxlab.errors import BadFile
from cxlab.records import Sample

METRICS = {
    "score": "exact match, for knowledge questions F1: what the paper reports for each task",
    "exact": "the answer is the gold one, letter by letter; where there is none, None",
    "exact_extracted": "the same of the one id, month or state that stands in the answer",
    "f1": "F1 of the words of an answer to a knowledge question",
    "turns": "replies that the agent gave",
    "queries": "queries and calls of tools that it made",
    "errors": "share of them that could not be answered",
    "recovery": "share of the errors, those in a row once, after which something was answered again",
    "format_error": "share of attempts with a reply in the wrong form",
}
TITLES = {
    "exact": "exact match",
    "exact_extracted": "exact match of what it names",
    "queries": "queries and calls",
    "errors": "calls that failed",
    "recovery": "failed calls recovered from",
    "format_error": "unreadable replies",
}
PERSONAS = {"manager": "manager", "agent": "service agent", "analyst": "analyst"}
CARD = Card(
    id="crmarena",
    title="CRMArena: a CRM organisation",
    measures="Whether an agent answers what managers, service agents and analysts ask of a company's customer records, "
    "by writing queries or by calling tools.",
    paper="CRMArena: Understanding the Capacity of LLM Agents to Perform Professional CRM Tasks in Realistic "
    "Environments",
    licence="organisations, questions and policies: own work; imported tasks: CC BY-NC 4.0; scoring after the paper",
    tasks=tuple(
        Task(task.id, task.title, "score", pass_from=PASS_FROM[task.metric], verdict_rule=VERDICT_RULES[task.metric])
        for task in TASKS.values()
    ),
    metrics=METRICS,
    titles=TITLES,
    ends={
        "submit": "an answer",
        "actions": "limit of actions",
        "stuck": "silent or repeating itself",
        "unanswered": "too long for the model, or held back by a filter",
    },
    leading=("score", "exact_extracted", "turns"),
    scales={"turns": None, "queries": None},
    lower_is_better=frozenset({"turns", "queries", "errors", "format_error"}),
    unit=("question", "questions"),
)
FACETS = (
    Facet("persona", "Asked by", "Whose question it is.", order=tuple(PERSONAS), labels=PERSONAS),
    Facet(
        "answerable",
        "Has an answer",
        "Whether the records hold an answer; where they do not, None is right.",
        order=("yes", "no"),
    ),
    Facet(
        "framework",
        "Framework",
        "How the agent acts.",
        order=tuple(FRAMEWORKS),
        labels=FRAMEWORKS,
        of_run=True,
    ),
    Facet("difficulty", "Objects joined", "How many objects the answer joins."),
)


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold answer scores 1 and an empty one 0; the solver, where there is one, gives the gold."""
    gold = sample.expected.get("answer")
    best, worst = grade(sample, NO_ANSWER if gold is None else gold), grade(sample, "")
    for metric in best:
        if best[metric] != 1.0:
            yield f"{sample.id}: the gold answer scores {best[metric]} in {metric}, not 1"
        if worst[metric] != 0.0:
            yield f"{sample.id}: an empty answer scores {worst[metric]} in {metric}, not 0"
    arguments = sample.expected.get("arguments")
    if sample.task not in solvers.SOLVERS or not isinstance(arguments, dict):
        return
    try:
        sandbox = open_sandbox(sample, linked=True)
    except BadFile:
        return  # tasks without their organisation: imported ones, whose answers others computed
    answers = solvers.solve(sandbox, sample.task, arguments).answers
    if gold not in (answers or (None,)):
        yield f"{sample.id}: the solver answers {', '.join(answers) or NO_ANSWER}, not {gold}"


def estimate(
    samples: Sequence[Sample], options: CrmOptions, roles: Mapping[Role, Sequence[str]]
) -> Sequence[RoleEstimate]:
    """Calls and tokens of some samples with stand-ins; a live organisation is not asked for it."""
    return rehearse(run, score, samples, options.model_copy(update={"organisation": "stored"}), roles)


FLOORS = (
    Baseline("simulated:floor-none", "Always None", "Submits None at once."),
    Baseline("simulated:floor-guess", "Constant guess", "Submits December, GA or None without looking."),
)
DEMO_MODELS = ("simulated:strong", "simulated:weak", *(floor.model for floor in FLOORS))
DEMO = Demo(
    generate={"size": "tiny"},
    runs=(
        DemoRun(DEMO_MODELS),
        DemoRun(DEMO_MODELS, options={"framework": "react"}),
    ),
    order=5,
)

BENCHMARK = Benchmark(
    card=CARD,
    generate=generate,
    plan=plan,
    amount=amount,
    run=run,
    score=score,
    rescore=rescore,
    scorer="2",
    check=check,
    prompts=agent_prompts.hashes,
    prompt_options=(
        {"framework": "act"},
        {"framework": "react"},
        {"framework": "function_calling"},
        {"framework": "function_calling", "tool_calls": "text"},
    ),
    Options=CrmOptions,
    GenerateOptions=CrmGenerateOptions,
    facets=FACETS,
    floors=FLOORS,
    simulated="cxlab.benchmarks.crmarena.simulated.floors:PROFILES",
    own_data=False,
    with_customer=False,
    needs_judges=False,
    default_judges=(),
    prepare=prepare,
    estimate=estimate,
    figures=list_figures,
    dataset_figures=dataset_figures.list_figures,
    ask_writer=ask_writer,
    importers=IMPORTERS,
    uploader=UPLOADER,
    published=(resources.data("published", "crmarena.json"),),
    demo=DEMO,
    attempt_view="actions",
)
