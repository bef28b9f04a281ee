"""SAGE: service agents held to standard operating procedures. Reads like a table of contents."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from cxlab import resources
from cxlab.benchmarks.contract import (
    Baseline,
    Benchmark,
    Card,
    Cluster,
    Demo,
    DemoRun,
    Facet,
    Files,
    Task,
    Uncheckable,
)
from cxlab.benchmarks.rehearsal import rehearse
from cxlab.benchmarks.sage import conversation_check, rules
from cxlab.benchmarks.sage.attribution import DISPUTED
from cxlab.benchmarks.sage.formulae import CHAT_WEIGHTS, action, logic, overall
from cxlab.benchmarks.sage.generate import amount, generate
from cxlab.benchmarks.sage.judge_questions import questions
from cxlab.benchmarks.sage.options import SageDataset, SageOptions, migrate
from cxlab.benchmarks.sage.procedures import graph
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.run import run
from cxlab.benchmarks.sage.score import rescore, score
from cxlab.benchmarks.sage.verdict import REASONS, judge_attempt
from cxlab.benchmarks.unlabelled import NO_GOLD
from cxlab.errors import CxError
from cxlab.files import Complaint
from cxlab.llm.base import ChatModel
from cxlab.metrics import paths
from cxlab.records import Sample
from cxlab.records.procedure import Procedures, SingleJudgeScores

# What may lead, the default first; "overall" is the paper's own.
LEADS = ("told", "truth", "skill", "overall")
METRICS = {
    "skill": "the decidable score, over what the best constant agent gets on the same: 0 is that agent, 100 faultless",
    "told": "0.4 fields + 0.4 path + 0.2 action, only of what can be decided from what the customer has told by then",
    "truth": "logic, against what was told so far and the defaults, in place of the panel's fields",
    "claims": "share of what customers say they told that the panel reads in their words",
    "untold": "facts that the customer had not told, or not put right, when the dialogue ended",
    "too_long": "share of messages of more than 40 words, counted",
    "overall": "0.8 logic + 0.2 chat of each turn (SAGE, eq. 9; at most 98, because chat ends at 90)",
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
    "overall_zero": "the paper's overall score with a reply that could not be parsed counted as 0 instead of skipped",
    "logic_zero": "logic with a reply that could not be parsed counted as 0 instead of skipped",
    "chat_words": "words of the message to the customer; the procedure allows 40",
    "linguistic_quality": "panel mean on 3–9: correct and easy to read",
    "anthropomorphism_emotion": "panel mean on 3–9: a person who notices how the customer feels",
    "content_utility": "panel mean on 3–9: moves the concern forward",
    "user_satisfaction": "panel mean on 3–9: the customer would feel served",
    "instruction_compliance": "panel mean on 3–9: keeps to the limits it was given",
    "turns": "turns of the dialogue",
    conversation_check.RIGHT: "share of checks of a conversation that agree with a person's label",
    conversation_check.KEPT: "share of conversations in which the agent did what the procedure asks, by the reading of "
    "the model that checks: it says something of them, not of the model",
}

TITLES = {
    "told": "decidable score",
    "truth": "score against the truth",
    "skill": "skill above chance",
    "overall": "paper's overall score",
    "claims": "claims read by the panel",
    "untold": "facts left untold",
    "too_long": "messages too long",
    "classification_read": "classification of fields read",
    "path_prefix": "common beginning of the path",
    "path_exact": "exact path",
    "format_error": "unreadable replies",
    "overall_zero": "paper's overall with unreadable as 0",
    "logic_zero": "logic with unreadable as 0",
    "chat_words": "words a message",
    "anthropomorphism_emotion": "human manner and emotion",
    conversation_check.RIGHT: "checks that are right",
    conversation_check.KEPT: "conversations that kept to it",
}

GRADES = (
    "linguistic_quality", "anthropomorphism_emotion", "content_utility", "user_satisfaction", "instruction_compliance",
)  # fmt: skip
EXAMPLE = """1. Ask whether the parcel arrived damaged or did not arrive at all.
2. If it did not arrive and was sent more than 10 days ago, send it again. Otherwise ask the customer to wait.
3. If it arrived damaged, refund it."""
LOWER_IS_BETTER = frozenset({"format_error", "format_error_rate", "turns", "chat_words", "untold", "too_long"})
FACETS = (
    Facet("scenario", "Scenario", "The procedure that the agent is held to.", spread=True),
    Facet(
        "level",
        "Adversarial level",
        "How hard the customer makes it.",
        order=("zero", "weak", "strong"),
        labels={"zero": "not adversarial", "weak": "weakly adversarial", "strong": "strongly adversarial"},
        spread=True,
    ),
    Facet(
        "leaf",
        "Case",
        "The way through the procedure that the customer's situation asks for.",
        spread=True,
        identifies=True,
    ),
    Facet("intent", "Intent", "What the customer wants."),
    Facet("persona", "Personality", "The customer's manner."),
    Facet("modality", "Modality"),
    Facet("language", "Language", "What the customer writes in.", of_run=True),
)


def check(sample: Sample) -> Iterable[str]:
    """Complaints: the gold output must score 1.0 and an empty one 0.0; calls no model."""
    if not sample.expected:
        raise Uncheckable(NO_GOLD)
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


def check_files(paths: Sequence[Path] | None) -> Sequence[Complaint]:
    """Complaints about scenario files, those that ship when none is given."""
    from cxlab.benchmarks.sage.procedures import check as checking

    return checking.check_files(paths)


def convert(text: str, model: ChatModel) -> str:
    """Scenario YAML for a procedure in prose."""
    from cxlab.benchmarks.sage.procedures import convert as converting

    return converting.convert(text, model)


def ask_writer(model: ChatModel) -> None:
    """Has a procedure in prose converted and a conversation checked, so that the prompts can be read."""
    with suppress(CxError):
        convert(EXAMPLE, model)
    conversation_check.ask_once(model)


DEMO = Demo(
    generate={},
    runs=(
        DemoRun(
            models=tuple(f"simulated:{name}" for name in ("strong", "base", "weak", "eloquent", "curt", "floor")),
            customer="simulated:customer",
            judges=tuple(f"simulated:{name}" for name in ("judge-strict", "judge-lenient", "judge-partial")),
        ),
    ),
    order=1,
)

BENCHMARK = Benchmark(
    card=Card(
        id="sage",
        title="SAGE: procedures",
        measures="Whether a service agent keeps to a standard operating procedure while it talks to customers, "
        "from friendly to hostile.",
        paper="SAGE: A Service Agent Graph-guided Evaluation Benchmark",
        licence="procedures and phrases: own work; metric definitions after the paper",
        tasks=(
            Task(
                "dialogue",
                "Serve a customer by the procedure",
                LEADS[0],
                leads=LEADS,
                paper="overall",
                verdict_rule="on every evaluated turn (1, 5, 10, 15 and the last) the path that the agent reports and "
                "its action must be those that the procedure asks for; the first turn on which neither the panel's "
                "labels nor the customer's own account of what it has told makes them right decides. Scores do not.",
            ),
            Task(
                conversation_check.TASK,
                "Hold conversations against a procedure",
                conversation_check.RIGHT,
                verdict_rule="the answer must be that of a person's label; without a label there is no verdict.",
            ),
        ),
        metrics=METRICS,
        leading=("told", "overall", "skill"),
        parts=("classification", "path", "action", *GRADES),
        scales={
            **dict.fromkeys(GRADES, (3.0, 9.0)),
            "turns": None,
            "chat_words": None,
            "untold": None,
            # Points below the best constant agent have no end that could be told beforehand: down to -561 on one turn.
            "skill": None,
        },
        lower_is_better=LOWER_IS_BETTER,
        reply_length="chat_words",
        sums={"chat": CHAT_WEIGHTS},
        zeros={"skill": "Best constant agent"},
        titles=TITLES,
        unjudged=frozenset({"told", "truth", "skill"}),
    ),
    generate=generate,
    amount=amount,
    run=run,
    score=score,
    check=check,
    prompts=scenario_prompts.hashes,
    questions=questions,
    estimate=partial(rehearse, run, score),
    ask_writer=ask_writer,
    Options=SageOptions,
    GenerateOptions=SageDataset,
    facets=FACETS,
    verdict=judge_attempt,
    verdict_reads=("scores", "traces"),
    scorer="6",
    migrate=migrate,
    rescore=rescore,
    attempt_view="procedure",
    procedures=Procedures(
        facet="scenario",
        leaf="leaf",
        level="level",
        ids=graph.ids,
        load=graph.load,
        misread={name: REASONS[name] for name in ("field", "lucky")},
        deviations={name: REASONS[name] for name in ("execution", "action")},
        others={name: REASONS[name] for name in DISPUTED},
        disputed=frozenset(DISPUTED),
        meanings={
            "field": "wrong labels, so another path",
            "lucky": "wrong labels, right action all the same",
            "execution": "right labels, another path",
            "action": "right path, wrong action",
            "panel": "right by what was told, the panel is off",
            "both_off": "right by the panel, both off what was told",
            "account_off": "right by the account or by the panel and not by both; the panel reads what the card holds",
            "format": "reply could not be parsed",
            "unscored": "the panel was split",
        },
        told_apart="The rule engine runs on the agent's own labels: where that already leads elsewhere, the labels are "
        "to blame, else the path, else the choice at its end.",
        turn_scores=("overall", "logic", "chat", "classification", "path", "path_fitness", "action"),
        path_scores=("path", "path_fitness"),
        exact={"path_exact": "path", "action": "action"},
        single_judge=SingleJudgeScores(way="logic", whole="overall"),
        # The paper's own spelling, and what no splitting into words makes clear.
        words={"Inqury": "inquiry", "TransHuman": "hand-over to a person"}
        | {grade: TITLES[grade] for grade in GRADES if grade in TITLES},
    ),
    demo=DEMO,
    conversation_tasks=(conversation_check.CHECK,),
    files=Files("scenario files", check_files, convert, "cxlab.benchmarks.sage.simulated.check_phrases:check_banks"),
    # Three customers take the same way through a procedure, and fare alike: on the demo the variance of a mean is 1.7
    # times what unrelated dialogues would have.
    cluster=Cluster("path", "paths", ("scenario", "leaf")),
    floors=(Baseline("simulated:floor", "Floor", "Answers without reading: every field at its default."),),
    published=(resources.data("published", "sage.json"),),
)
