"""SAGE: service agents held to standard operating procedures. Reads like a table of contents."""

from collections.abc import Iterable

from cxlab.benchmarks.base import Benchmark, Card, Task
from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.generate import generate
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.run import run
from cxlab.benchmarks.sage.score import action, logic, overall, score
from cxlab.metrics import paths
from cxlab.records import Sample

METRICS = {
    "overall": "0.8 logic + 0.2 chat, a turn's own (SAGE, eq. 9; at most 98, because chat ends at 90)",
    "logic": "0.4 classification + 0.4 path + 0.2 action (SAGE, section 3.2)",
    "chat": "weighted sum of the five dimensions, mean over the judges; 30 to 90",
    "classification": "share of all fields that equal the panel's",
    "classification_read": "share of the fields that the reference path reads; the others decide nothing",
    "path": "|predicted ∩ reference| / |reference| (SAGE, eq. 6): blind to order and to stages too many",
    "path_prefix": "1 when equal, else common beginning / longer path: what the public code computes",
    "path_fitness": "1 − alignment cost / (both lengths): sees order, insertions and omissions",
    "path_exact": "share of turns whose path is exactly the reference",
    "action": "share of right actions; where a plan goes with it, 0.7 for the action and 0.3 for the plan",
    "format_error": "share of evaluated replies that could not be parsed",
    "overall_zero": "overall with a reply that could not be parsed counted as 0 instead of skipped",
    "logic_zero": "logic with a reply that could not be parsed counted as 0 instead of skipped",
    "chat_words": "words of the message to the customer; the procedure allows 40",
    "linguistic_quality": "panel mean on 3–9: correct and easy to read",
    "anthropomorphism_emotion": "panel mean on 3–9: a person who notices how the customer feels",
    "content_utility": "panel mean on 3–9: moves the concern forward",
    "user_satisfaction": "panel mean on 3–9: the customer would feel served",
    "instruction_compliance": "panel mean on 3–9: keeps to the limits it was given",
    "turns": "turns of the dialogue",
}


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold output must score 1.0 and an empty one 0.0; calls no model."""
    scenario = rules.load(sample.inputs["scenario"])
    found = scenario.trace(sample.expected["fields"], sample.inputs["system"])
    gold_path, gold_action = tuple(sample.expected["path"]), sample.expected["action"]
    if (found.path, found.action) != (gold_path, gold_action):
        yield f"{sample.id}: the rule engine gives {found.path} {found.action}, expected {gold_path} {gold_action}"
    best = overall(logic(1.0, paths.recall(found.path, gold_path), action(found.action, gold_action)), 1.0)
    if abs(best - 1.0) > 1e-9:
        yield f"{sample.id}: the gold output scores {best}, not 1.0"
    worst = overall(logic(0.0, paths.recall((), gold_path), action({"Action": ""}, gold_action)), 0.0)
    if worst != 0.0:
        yield f"{sample.id}: an empty output scores {worst}, not 0.0"


BENCHMARK = Benchmark(
    card=Card(
        id="sage",
        title="SAGE: procedures",
        measures="Whether a service agent keeps to a standard operating procedure while it talks to customers, "
        "from friendly to hostile.",
        paper="SAGE: A Service Agent Graph-guided Evaluation Benchmark",
        licence="procedures and phrases: own work; metric definitions after the paper",
        tasks=(Task("dialogue", "Serve a customer by the procedure", "overall"),),
        metrics=METRICS,
        leading=("overall", "logic", "chat"),
    ),
    generate=generate,
    run=run,
    score=score,
    check=check,
    prompts=lambda: scenario_prompts.hashes(rules.ids()),
    options={
        "turns": "turn limit of a dialogue (15)",
        "system_info": "false hides the back end's variables from agent and customer: an ablation (true)",
        "glossary": "false prints the fields without wordings: an ablation (true)",
    },
)
