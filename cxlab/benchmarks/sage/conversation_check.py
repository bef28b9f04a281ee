"""Whether agents of anybody's conversations did what a procedure asks: a model reads, the rule engine decides.

The model under test reads from a conversation what the procedure's fields are, what of the back end was said, and what
the agent did in the end. Nobody asks it what should have been done: that follows from the procedure. What the
conversation does not tell stays unknown; where what is due depends on it nothing is decided, and it is said what lacks.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from cxlab.benchmarks.contract import Scored, Setup, name_fault, name_unread
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.sage.conditions import to_step
from cxlab.benchmarks.sage.procedures.sop_text import show_fields, show_known, show_policy, show_variable
from cxlab.benchmarks.sage.prompts.scenario_prompts import UNTOLD, CheckInputs, CheckLine, check_prompt
from cxlab.benchmarks.sage.rules import Scenario, Untraceable, files_by_id, load
from cxlab.benchmarks.single_answer import of_reply
from cxlab.benchmarks.unlabelled import (
    NO_GOLD,
    ConversationAnswer,
    ConversationTask,
    UnlabelledDataset,
    UnlabelledSample,
)
from cxlab.errors import BadOption, UnknownName
from cxlab.llm import ChatModel, ask
from cxlab.records import Attempt, Conversation, Judgement, Message, Role, Sample, Score, Verdict, content_id
from cxlab.records.progress import Progress, finish
from cxlab.records.settings import Settings

TASK = "procedure_check"
KEPT = "kept"
"""The metric: 100 where, by the reading of the model, the agent did what the procedure asks."""
RIGHT = "check_right"
"""The headline, which needs a person's label."""
_WHO = {"customer": "Customer", "agent": "Agent", "ivr": "IVR"}
NOTHING = "nothing yet"
EXAMPLE: tuple[tuple[Role, str], ...] = (
    ("customer", "My flight to Oslo on the 12th was cancelled by you this morning. I want my money back."),
    ("agent", "I am sorry to hear that. I have asked for the refund; you will see it within five days."),
)


class CheckSettings(Settings):
    """What conversations are compared with."""

    procedure: str = Field(
        "",
        description="The procedure that agents were to keep: one that ships, or your own after python -m cxlab convert "
        "FILE --to=STORE/scenarios/NAME.yaml.",
        json_schema_extra={"offers": "procedures", "typed": False},
    )


def make(
    corpus: Mapping[str, Conversation], settings: CheckSettings, context: GenerationContext
) -> Generator[Progress, None, UnlabelledDataset]:
    """A sample for each conversation in which customer and agent speak."""
    del context
    if not settings.procedure:
        raise BadOption(f"procedure: name one: {', '.join(files_by_id())}")
    if settings.procedure not in files_by_id():
        raise UnknownName("procedure", settings.procedure, files_by_id())
    scenario, count = load(settings.procedure), len(corpus)
    yield Progress("samples", 0, count)
    samples = []
    for id, talk in corpus.items():
        said = [(place, each) for place, each in enumerate(talk.messages) if each.role in _WHO and each.text.strip()]
        shown = [
            {"id": number, "who": _WHO[each.role], "text": " ".join(each.text.split()), "place": place}
            for number, (place, each) in enumerate(said, start=1)
        ]
        if {"Customer", "Agent"} <= {each["who"] for each in shown}:
            inputs = {"scenario": scenario.id, "lines": shown}
            samples.append(UnlabelledSample(id, inputs, {"scenario": scenario.id}))
    yield Progress("samples", count, count)
    config = {"left_out": count - len(samples), "procedure": content_id(scenario.model_dump(mode="json"))}
    return UnlabelledDataset(samples, config=config)


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One conversation read by the model under test and compared with the procedure."""
    scenario, started = load(sample.inputs["scenario"]), datetime.now(UTC)
    inputs = CheckInputs(
        business=scenario.business,
        fields=show_fields(scenario),
        policy=show_policy(scenario),
        back_end=tuple(show_variable(name, each) for name, each in scenario.system.items()),
        plan=scenario.plan.name if scenario.plan else "",
        lines=[CheckLine(id=each["id"], who=each["who"], text=each["text"]) for each in sample.inputs["lines"]],
    )
    seed = int(content_id("check", sample.id, trial, setup.seed), 16) % 2**31
    prompt = check_prompt(scenario)
    reply = await ask(setup.model, prompt, inputs, seed=seed, draw=sample.id)
    said = reply.output.model_dump(mode="json") if reply.output is not None else None
    # Runs of dialogues keep the hashes of their own prompts; this one goes with its answer.
    output = {**(hold_against(scenario, said) if said else {}), "raw": reply.raw, "prompt": prompt.hash}
    return of_reply(reply, sample, setup, trial, output=output, started=started, ended_by=TASK)


def ask_once(model: ChatModel) -> None:
    """Have a short conversation checked, so that the prompt can be read."""
    said = tuple(Message(role=role, text=text, turn=1) for role, text in EXAMPLE)
    talk = Conversation(id="example", messages=said)
    settings = CheckSettings(procedure=next(iter(files_by_id())))
    (made,) = finish(make({talk.id: talk}, settings, GenerationContext())).samples
    sample = Sample(
        id="example", dataset_id="", benchmark="sage", task=TASK, inputs=dict(made.inputs), expected={}
    )  # fmt: skip
    asyncio.run(run(sample, Setup(model=model, customer=None, judges=(), run_id="example"), 1))


def hold_against(scenario: Scenario, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was read, with `due`, the action that follows from it by the procedure (None with the reason in `undecided`)
    and its `path`."""
    known = read_back_end(scenario, said.get("back_end") or {})
    due, path, why = None, list[str](), ""
    try:
        route = scenario.trace(said["fields"], known)
        due, path = _name(scenario, route.action["Action"], route.action), list(route.path)
    except Untraceable:
        due, path = _follow_all(scenario, said["fields"], known)
        lacking = [show_variable(name, each) for name, each in scenario.system.items() if name not in known]
        if due is None:
            why = f"the conversation does not tell {', '.join(lacking)}" if lacking else "the procedure gives no way"
    did = _name(scenario, said["action"], {"plan": said.get("plan")}) if said["action"] != UNTOLD else None
    return {
        "reason": said.get("reasoning") or "",
        "fields": said["fields"],
        "back_end": known,
        "did": did,
        "lines": [line for line in said.get("lines") or () if isinstance(line, int)],
        "due": due,
        "path": path,
        "undecided": why,
    }


def _follow_all(
    scenario: Scenario, fields: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[str | None, list[str]]:
    """What is due whatever the back end shows of what nobody told, and its path where there is one alone; (None, [])
    where it depends on that, or on a number or a date."""
    lacking = [name for name in scenario.system if name not in known]
    if not lacking or any(scenario.system[name].kind is not None for name in lacking):
        return None, []
    due: set[str] = set()
    paths: set[tuple[str, ...]] = set()
    for values in itertools.product(*(scenario.system[name].values for name in lacking)):
        try:
            route = scenario.trace(fields, {**known, **dict(zip(lacking, values, strict=True))})
        except Untraceable:
            return None, []
        due.add(_name(scenario, route.action["Action"], route.action))
        paths.add(route.path)
        if len(due) > 1:
            return None, []
    return due.pop(), list(paths.pop()) if len(paths) == 1 else []


def read_back_end(scenario: Scenario, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was read of the back end, in the procedure's own values; what is untold, or no value that it knows, is
    left out."""
    found: dict[str, Any] = {}
    for name, variable in scenario.system.items():
        told = said.get(name, UNTOLD)
        if variable.kind is None:
            value = next((each for each in variable.values if show_known(each) == told), None)
        else:
            value = next((each for each in (told, _number(told)) if to_step(each, variable.kind) is not None), None)
        if value is not None:
            found[name] = value
    return found


def _number(told: Any) -> Any:
    """A number that was written as text; anything else as it is."""
    try:
        return float(told) if isinstance(told, str) and "." in told else int(told)
    except (TypeError, ValueError):
        return told


def _name(scenario: Scenario, action: str, outputs: Mapping[str, Any]) -> str:
    """An action as one word, with its plan where the procedure hands one over."""
    if scenario.plan is None or action != scenario.plan.with_action:
        return action
    plan = next((str(value) for name, value in outputs.items() if name != "Action" and value), scenario.plan.none)
    return action if plan == scenario.plan.none else f"{action}: {plan}"


def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """What can be said without a label: whether, by this reading, the procedure was kept."""
    del sample, setup
    output = attempt.output
    value: tuple[float | None, str | None] = (None, "the reply could not be read")
    if attempt.outcome == "provider":
        value = (None, "the provider did not deliver")
    elif "due" in output:
        value = (None, output["undecided"]) if output["due"] is None else (100.0 * _did_it(output), None)
    found = {KEPT: value, RIGHT: (None, NO_GOLD)}
    return Scored(
        tuple(
            Score(attempt_id=attempt.id, turn=None, metric=name, value=each[0], reason=each[1])
            for name, each in found.items()
        )
    )


def judge(attempt: Attempt) -> Verdict:
    """A reply that cannot be read has failed; of any other nobody has said what is right."""
    if attempt.outcome == "provider":
        return Verdict(attempt_id=attempt.id, value="unscored", reason=name_fault(attempt), owner="provider")
    if attempt.failures:
        reason = name_unread(attempt.failures[0])
        return Verdict(attempt_id=attempt.id, value="failed", reason=reason, owner="agent")
    return Verdict(attempt_id=attempt.id, value="unscored", reason=NO_GOLD, owner="label")


def _did_it(output: Mapping[str, Any]) -> bool:
    return bool(output["did"] == output["due"])


def read(sample: Sample, attempt: Attempt, judgements: Sequence[Judgement]) -> list[ConversationAnswer]:
    """Whether the procedure was kept, what it asks, what was done; each as the model has read it."""
    del judgements
    output = attempt.output
    if "due" not in output:
        return [ConversationAnswer(asked, None) for asked in _ASKED]
    places = {each["id"]: each["place"] for each in sample.inputs["lines"]}
    lines = tuple(places[line] for line in output["lines"] if line in places)
    kept = "cannot be told" if output["due"] is None else "yes" if _did_it(output) else "no"
    due = output["due"] or "cannot be told"
    read_as = "; ".join(f"{name} is {value}" for name, value in output["fields"].items())
    return [
        ConversationAnswer(_ASKED[0], kept, output["undecided"] or output["reason"], lines),
        ConversationAnswer(_ASKED[1], due, output["undecided"] or read_as),
        ConversationAnswer(_ASKED[2], output["did"] or NOTHING, output["reason"], lines),
    ]


_ASKED = ("The procedure was kept", "What the procedure asks", "What the agent did")
CHECK = ConversationTask(
    TASK,
    "Procedure check",
    "Reads what customers made known and what agents did, and holds it against a procedure.",
    CheckSettings,
    make,
    read,
)
