"""MM-tau-p2: agent and customer both act, personas, three exposures, text and voice. Reads like a table of contents."""

import functools
from collections.abc import Iterable, Mapping, Sequence

from cxlab import resources
from cxlab.benchmarks.contract import (
    Baseline,
    Benchmark,
    Card,
    Cluster,
    Contrast,
    Demo,
    DemoRun,
    Facet,
    JudgedMetrics,
    Role,
    RoleEstimate,
    Task,
    Uncheckable,
)
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.conversation import exposure, personas
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions, verdict_figures
from cxlab.benchmarks.mmtaup2.evaluation.judging.rejudging import REJUDGE
from cxlab.benchmarks.mmtaup2.evaluation.measured_metrics import EXTRA, METRICS
from cxlab.benchmarks.mmtaup2.evaluation.results import WITHIN, list_figures
from cxlab.benchmarks.mmtaup2.generate import amount, exposure_facet, generate
from cxlab.benchmarks.mmtaup2.importers import IMPORTERS
from cxlab.benchmarks.mmtaup2.options import MmDataset, MmOptions, migrate
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts, judge_prompts
from cxlab.benchmarks.mmtaup2.run import prepare, refuse, run
from cxlab.benchmarks.mmtaup2.score import DECIDED_BY, gold_attempt, own_scores, rescore, score
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.benchmarks.rehearsal import rehearse
from cxlab.errors import BadStore, UnknownName
from cxlab.records import Attempt, Sample
from cxlab.records.metric_names import within_sentence

# What one observation is; stored and shown are points, the mean of a conversation's observations times 100.
ALL = {**METRICS, **EXTRA}
MEASURED = {name: metric.definition for name, metric in ALL.items()}
_MEASURED_TITLES = {name: within_sentence(metric.title) for name, metric in ALL.items()}
TITLES = {
    **_MEASURED_TITLES,
    **{f"judged_{name}": f"{words} as judged" for name, words in _MEASURED_TITLES.items()},
    "db": "database as it should be",
    "env_assertions": "end state right",
    "communicate": "customer told all",
    "bystanders": "others left alone",
    "wer": "word error rate",
    "format_error": "unreadable replies",
}
EFFORTS = ("user_effort", "user_effort_count", "recovery_turn_count")
ELSEWHERE = ("airline", "banking_knowledge", "mock")
VERDICT_RULE = (
    "how things stand in the end: both sides' records, what had to be done and what the customer had to be told, with "
    "nothing of anybody else changed."
)
CARD = Card(
    id="mmtaup2",
    ends={"user_stop": "the customer"},
    hand_over="transferred",
    title="MM-tau-p²: personas and voice",
    measures="Whether an agent gets a customer to the goal where both have tools of their own: with easy and hard "
    "customers, told nothing, told the persona or inferring a profile, by text and by voice.",
    paper="MM-tau-p2: Persona-Adaptive Prompting for Robust Multi-Modal Agent Evaluation in Dual-Control Settings",
    licence="worlds, tasks, policies: own work; imported tasks: MIT (tau2-bench); metric definitions after the paper",
    tasks=(
        Task("telecom", "Mend a phone or a line together", "pass", decided_by=DECIDED_BY, verdict_rule=VERDICT_RULE),
        Task("retail", "Serve an order", "pass", decided_by=DECIDED_BY, verdict_rule=VERDICT_RULE),
        # Worlds that we do not have: result files of tau2-bench bring conversations of them.
        *(
            Task(
                name,
                f"tau2-bench's {name.replace('_', ' ')}, imported",
                "pass",
                decided_by=DECIDED_BY,
                verdict_rule="what the file's own reward says of how the conversation ended.",
            )
            for name in ELSEWHERE
        ),
    ),
    metrics={
        "right": "as pass, with the reason where the goal was not reached",
        **MEASURED,
        "db": "both sides' rows are as after the gold actions",
        "actions": "every gold action was carried out with all its compared arguments",
        "env_assertions": "all that must hold in the end does",
        "communicate": "the customer was told all that was asked for",
        "bystanders": "nothing of another customer was changed",
        "wer": "by voice: mean word error rate of what was heard of a message, in per cent",
        "format_error": "share of conversations with a reply that could not be read",
        **{f"judged_{name}": f"As the judges see it. {text}" for name, text in MEASURED.items()},
    },
    titles=TITLES,
    leading=("pass", "critical_field_accuracy", "turn_efficiency"),
    scales={f"{by}{name}": None for by in ("", "judged_") for name, metric in ALL.items() if metric.high is None},
    lower_is_better=frozenset(
        {"annoyance", "format_error", "turns", "wer", "judged_turns"}
        | {f"{by}{name}" for by in ("", "judged_") for name in EFFORTS}
    ),
)
FACETS = (
    Facet("scenario", "Domain", "The world that both sides act in.", spread=True),
    Facet(
        "persona",
        "Persona",
        "How easy the customer makes it.",
        order=personas.NAMES,
        labels=personas.IN_WORDS,
        within=WITHIN["persona"],
    ),
    Facet(
        "exposure",
        "What the agent knows",
        "Of the customer: nothing, the persona's description from the start, or the profile that it infers on the way.",
        order=tuple(map(exposure_facet, exposure.LEVELS)),
        labels={exposure_facet(level): words for level, words in exposure.IN_WORDS.items()},
        within=WITHIN["exposure"],
    ),
    Facet("modality", "Modality", order=("text", "voice"), within=WITHIN["modality"]),
    Facet("intent", "Intent", "What the customer wants."),
    Facet("leaf", "Issues", "What is wrong in the world.", identifies=True),
    Facet("language", "Language"),
)
JUDGED = JudgedMetrics(
    values=verdict_figures.values,
    first="pass",
    names={"arga": "goal despite mishearing (ARGA)", "pass": "passed", "escalation": "handed over rightly"},
    counts=frozenset({"user_effort_count", "recovery_turn_count"}),
    otherwise=frozenset({"turn_efficiency", "turn_efficiency_passed"}),
    same=frozenset({"turns"}),
    opinions=frozenset({"adapted", "annoyed"}),
    note="Judges do not know the optimum of turns, so their turn efficiency is the share of messages that they find "
    "necessary. Whether a message adapts is no fact: the log has a rule's reading of it.",
    contrast=Contrast(
        title="Modality robustness (passes by voice over passes by text)",
        metric="pass",
        facet="modality",
        value="voice",
        base="text",
        same=("id", "terms.persona", "terms.exposure"),
    ),
)


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold actions must score 100, and a conversation in which nothing is done 0; calls no model."""
    if sample.task not in worlds.DOMAINS:
        raise Uncheckable(f"we have no world of {sample.task}, so its gold actions cannot be replayed")
    if samples.lacking_of(sample):
        raise Uncheckable("result files do not say what the gold actions are")
    # The terms change nothing of it, so a task is played once for all of them.
    inputs = {name: value for name, value in sample.inputs.items() if name != samples.TERMS}
    bare = sample.model_copy(update={"id": "", "inputs": inputs, "facets": {}})
    yield from (f"{sample.id}: {complaint}" for complaint in check_task(bare.model_dump_json()))


@functools.lru_cache(maxsize=512)
def check_task(bare: str) -> tuple[str, ...]:
    """Complaints about the task of a sample, which is given as JSON without id and terms."""
    sample = Sample.model_validate_json(bare)
    found = []
    try:
        best = verdict_of(sample, gold_attempt(sample))
    except (UnknownName, BadStore) as lacking:
        raise Uncheckable(f"the world of its tasks is not there: {lacking}") from None
    if best != (100.0, None):
        found.append(f"the gold actions score {best[0]}, not 100: {best[1]}")
    # Some imported tasks have their goal reached from the first; that is tau2-bench's own.
    if sample.inputs.get("source") == "own":
        worst = verdict_of(sample, gold_attempt(sample, acts=False))
        if worst[0] != 0.0:
            found.append(f"doing nothing scores {worst[0]}, not 0")
    return tuple(found)


def verdict_of(sample: Sample, attempt: Attempt) -> tuple[float | None, str | None]:
    """Whether an attempt is right, as scoring has it."""
    row = next(row for row in own_scores(samples.task_of(sample), attempt) if row.metric == "right")
    return row.value, row.reason


def hashes() -> dict[str, str]:
    """Prompt name → hash, of the conversation and of the judges."""
    return {**dialogue_prompts.hashes(), **judge_prompts.hashes([rule.version for rule in rubric_versions.rules()])}


def estimate(chosen: Sequence[Sample], options: MmOptions, roles: Mapping[Role, Sequence[str]]) -> list[RoleEstimate]:
    """Calls and tokens of one trial by role; what is spoken goes over the text channel, unpaid."""
    return rehearse(run, score, chosen, options.model_copy(update={"audio": "channel", "audio_folder": None}), roles)


AGENTS = ("simulated:strong", "simulated:weak")
FLOORS = ("simulated:floor-transfer", "simulated:floor-nothing")
JUDGES = ("simulated:judge-fair", "simulated:judge-lenient")
DEMO = Demo(
    generate={"count": 6},
    runs=(
        DemoRun((*AGENTS, *FLOORS), "simulated:customer", JUDGES, where=(("modality", "text"),)),
        DemoRun(
            # Floors too: beside means over voice and text a line over text alone would be no floor of theirs.
            (*AGENTS, *FLOORS),
            "simulated:customer",
            JUDGES,
            where=(("modality", "voice"), ("exposure", "nothing"), ("persona", "hard")),
        ),
    ),
    order=2,
)

BENCHMARK = Benchmark(
    card=CARD,
    generate=generate,
    amount=amount,
    run=run,
    score=score,
    check=check,
    estimate=estimate,
    prompts=hashes,
    prompt_options=(
        {},
        {"judge_groups": ["adaptation"]},
        {"modality": "text", "judge_groups": ["goal"]},
        {"modality": "voice", "judge_groups": ["goal"]},
        {"tool_calls": "json", "escalation": 1, "judge_groups": ["outcome"]},
        {"exposure": 2, "escalation": 2, "judge_groups": ["outcome"]},
    ),
    Options=MmOptions,
    GenerateOptions=MmDataset,
    facets=FACETS,
    attempt_view="goal",
    demo=DEMO,
    importers=IMPORTERS,
    # A task is tried under each persona, exposure and way to speak.
    cluster=Cluster("task", "tasks", ("domain", "id")),
    floors=(
        Baseline("simulated:floor-transfer", "Always hands over", "Hands every customer over at once."),
        Baseline("simulated:floor-nothing", "Does nothing", "Talks and never acts."),
    ),
    simulated="cxlab.benchmarks.mmtaup2.simulated.floors:PROFILES",
    rejudge=REJUDGE,
    judged=JUDGED,
    questions=rubric_versions.questions,
    needs_judges=False,
    refuse=refuse,
    prepare=prepare,
    figures=list_figures,
    migrate=migrate,
    rescore=rescore,
    scorer="9",
    published=(resources.data("published", "mmtaup2.json"),),
)
