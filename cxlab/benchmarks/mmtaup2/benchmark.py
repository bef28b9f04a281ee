"""MM-tau-p2: agent and customer both act, personas, three exposures, text and voice. Reads like a table of contents."""

from collections.abc import Iterable

from cxlab.benchmarks.base import Benchmark, Card, Task
from cxlab.benchmarks.mmtaup2.evaluation import rubric_versions
from cxlab.benchmarks.mmtaup2.evaluation.measured_metrics import EXTRA, METRICS
from cxlab.benchmarks.mmtaup2.evaluation.results import list_figures
from cxlab.benchmarks.mmtaup2.generate import generate
from cxlab.benchmarks.mmtaup2.prompts import dialogue_prompts, judge_prompts
from cxlab.benchmarks.mmtaup2.run import prepare, run
from cxlab.benchmarks.mmtaup2.score import gold_attempt, own_scores, score
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.records import Attempt, Sample

# What one observation is; stored and shown are points, the mean of a conversation's observations times 100.
MEASURED = {name: metric.definition for name, metric in {**METRICS, **EXTRA}.items()}
ELSEWHERE = ("airline", "banking_knowledge", "mock")
CARD = Card(
    id="mmtaup2",
    title="MM-tau-p²: personas and voice",
    measures="Whether an agent gets a customer to the goal where both have tools of their own: with easy and hard "
    "customers, told nothing, told who calls or guessing it, by text and by voice.",
    paper="MM-tau-p2: Persona-Adaptive Prompting for Robust Multi-Modal Agent Evaluation in Dual-Control Settings",
    licence="worlds, tasks, policies: own work; imported tasks: MIT (tau2-bench); metric definitions after the paper",
    tasks=(
        Task("telecom", "Mend a phone or a line together", "pass"),
        Task("retail", "Serve an order", "pass"),
        # Worlds that we do not have: result files of tau2-bench bring conversations of them.
        *(Task(name, f"tau2-bench's {name.replace('_', ' ')}, imported", "pass") for name in ELSEWHERE),
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
    leading=("pass", "critical_field_accuracy", "turn_efficiency"),
)
OPTIONS = {
    "persona": "none, easy or hard, where the sample does not say (none)",
    "exposure": "what the agent is told of the customer, where the sample does not say: 0 nothing, 1 the persona, "
    "2 a profile that it infers (0)",
    "modality": "text or voice, where the sample does not say (text)",
    "wer": "word error rate of the voice channel, where the sample does not say (0.15)",
    "audio": "what speaks and recognises by voice: channel (text, errors at the rate wer), espeak (real audio "
    "here, with pocketsphinx), openai, or endpoint:NAME of data/models.toml (channel)",
    "audio_folder": "folder that keeps what was spoken (with the run, where it can be played)",
    "agent_voice": "voice of the agent: a variant of espeak-ng's en-us, or one of the service's (en-us+f2, nova)",
    "customer_voice": "voice of the customer (en-us+f5, echo)",
    "speech_model": "model of the service that speaks (gpt-4o-mini-tts; an endpoint: tts-1)",
    "transcription_model": "model that writes down what was said (gpt-4o-mini-transcribe; an endpoint: whisper-1)",
    "speech_format": "wav, pcm, mp3 or flac (wav)",
    "steps": "limit of deliveries of a conversation (200)",
    "errors": "limit of tool errors of a conversation (10)",
    "tool_calls": "native, json, or auto: native until the server refuses (auto)",
    "judge_groups": 'what judges are asked, as ["goal","outcome"]: goal, effort, clarification, safety, outcome (all)',
    "escalation": "version of the judges' rule about handing over (the last)",
}


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold actions must score 100, and a conversation in which nothing is done 0; calls no model."""
    best = verdict_of(sample, gold_attempt(sample))
    if best != (100.0, None):
        yield f"{sample.id}: the gold actions score {best[0]}, not 100: {best[1]}"
    # Some imported tasks have their goal reached from the first; that is tau2-bench's own.
    if sample.inputs.get("source") == "own":
        worst = verdict_of(sample, gold_attempt(sample, acts=False))
        if worst[0] != 0.0:
            yield f"{sample.id}: doing nothing scores {worst[0]}, not 0"


def verdict_of(sample: Sample, attempt: Attempt) -> tuple[float | None, str | None]:
    """Whether an attempt is right, as scoring has it."""
    row = next(row for row in own_scores(samples.task_of(sample), attempt) if row.metric == "right")
    return row.value, row.reason


def hashes() -> dict[str, str]:
    """Prompt name → hash, of the conversation and of the judges."""
    return {**dialogue_prompts.hashes(), **judge_prompts.hashes([rule.version for rule in rubric_versions.rules()])}


BENCHMARK = Benchmark(
    card=CARD,
    generate=generate,
    run=run,
    score=score,
    check=check,
    prompts=hashes,
    options=OPTIONS,
    needs_judges=False,
    spread=("scenario",),
    prepare=prepare,
    figures=list_figures,
)
