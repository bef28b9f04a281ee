"""What a writer makes of an organisation, in batches of ten: names, the texts of cases, other words for questions.

A batch that is not in the form that was asked for, or does not hold what is given, is discarded and made again, at most
three times; `Counts` says how often.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from cxlab.benchmarks.crmarena.generation import prompts
from cxlab.benchmarks.crmarena.generation.prompts import CaseFacts, CaseText, PersonName
from cxlab.benchmarks.crmarena.generation.similar_texts import find_similar, open_of
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import GenerationStopped, Progress
from cxlab.llm import ChatModel, Prompt, ask

BATCH = 10
TRIES = 3
# More than this share of the cases (but one at least) are not left out: it would be another organisation than was asked
# for, and the next ones would be refused as well.
MOST_LEFT_OUT = 0.05

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
Item = TypeVar("Item")


@dataclass
class Counts:
    """Batches that were asked for, discarded and made again, and entries that came twice or failed a reader's check.

    `similar`: cases that were nearly an earlier one; `told_anew`: those of them that a second text made different.
    `left_out`: cases that the writer would not write.
    """

    batches: int = 0
    discarded: int = 0
    again: int = 0
    refused: int = 0
    similar: int = 0
    told_anew: int = 0
    left_out: int = 0

    def add(self, row: dict[str, Any]) -> None:
        """Count what one row of a stage says."""
        self.batches += row.get("batches", 1)
        self.discarded += row.get("discarded", 0)
        self.again += row.get("again", 0)
        self.refused += row.get("refused", 0)
        self.similar += row.get("similar", 0)
        self.told_anew += row.get("told_anew", 0)
        self.left_out += row.get("left_out", 0)

    def to_record(self) -> dict[str, int]:
        """As a dataset keeps it."""
        return asdict(self)


async def write_batch(
    model: ChatModel, prompt: Prompt[In, Out], inputs: In, seed: int, tries: int = TRIES
) -> tuple[Out | None, int, str]:
    """(what was written, how many batches were discarded before it, why the last of them was); None where none of them
    could be used."""
    why = ""
    for attempt in range(tries):
        reply = await ask(model, prompt, inputs, seed=seed + attempt)
        if reply.output is not None:
            return reply.output, attempt, why
        why = reply.failure.message if reply.failure else ""
    return None, tries, why


def split(things: Sequence[Item]) -> list[list[Item]]:
    """Batches of ten."""
    return [list(things[start : start + BATCH]) for start in range(0, len(things), BATCH)]


WritingStage = Generator[Progress, None, Item]


def write_people(
    model: ChatModel, description: str, role: str, count: int, seed: int, stage: str, work: Path
) -> WritingStage[tuple[list[tuple[str, str]], Counts]]:
    """Names of people. Batches come one after the other, because each is told who is there already."""
    found: list[PersonName] = []
    counts = Counts()
    many = -(-count // BATCH)
    yield Progress(stage, 0, many)
    for number in range(many):
        known = tuple(each.name for each in found)
        wanted = min(BATCH, count - len(found))
        inputs = prompts.PeopleInputs(description=description, role=role, count=wanted, known=known)

        async def write(name: str, inputs: prompts.PeopleInputs = inputs, number: int = number) -> dict[str, Any]:
            made, discarded, why = await write_batch(model, prompts.PEOPLE, inputs, seed * 1000 + number * TRIES)
            if made is None:
                raise GenerationStopped(
                    f"{stage}: {model.name} did not write {inputs.count} new names in {TRIES} tries: {why}"
                )
            return {"people": [each.model_dump() for each in made.people], "discarded": discarded}

        row = stages.finish(stages.run(stage, [str(number)], str, write, work))[0]
        counts.add(row)
        found += [PersonName.model_validate(each) for each in row["people"]]
        yield Progress(stage, number + 1, many)
    return [(each.first, each.last) for each in found], counts


def write_cases(
    model: ChatModel,
    description: str,
    facts: Sequence[CaseFacts],
    rules: Sequence[prompts.Rule],
    seed: int,
    work: Path,
) -> WritingStage[tuple[dict[int, CaseText], Counts]]:
    """The texts of cases by their numbers; without the few that the writer would not write.

    A real writer's text is read by a second call that looks for the broken rule; a case in which it finds another one
    than was planned is written once more, and kept then whatever it finds, counted as refused.
    """
    batches = split(facts)
    left_out: list[int] = []

    def leave_out(case: CaseFacts, why: str) -> None:
        left_out.append(case.number)
        if len(left_out) > max(1, int(MOST_LEFT_OUT * len(facts))):
            raise GenerationStopped(
                f"cases: {model.name} did not write {len(left_out)} of {len(facts):,} cases as asked in {TRIES} tries "
                f"each, the last of them case {case.number}: {why}"
            )

    async def write(batch: list[CaseFacts]) -> dict[str, Any]:
        start = seed * 1000 + batch[0].number * TRIES
        made, discarded = await _write_some(model, description, batch, start, leave_out)
        again = refused = 0
        if not model.simulated:
            there = [case for case in batch if case.number in made]
            wrong = [case for case in there if not await _reads_right(model, case, made[case.number], rules, start)]
            again = len(wrong)
            if wrong:
                more, lost = await _write_some(model, description, wrong, start + 500)
                discarded += lost
                made |= more
                for case in wrong:
                    second = more.get(case.number)
                    refused += second is None or not await _reads_right(model, case, second, rules, start + 500)
        texts = [text.model_dump() for text in made.values()]
        counted = {"discarded": discarded, "again": again, "refused": refused, "left_out": len(batch) - len(made)}
        return {"texts": texts, **counted}

    def is_whole(row: dict[str, Any]) -> bool:
        return not row["left_out"]

    # What was left out is asked for again by a try that goes on after this one was stopped.
    rows = yield from stages.run("cases", batches, lambda batch: str(batch[0].number), write, work, is_whole)
    counts = Counts()
    found: dict[int, CaseText] = {}
    for row in rows:
        counts.add(row)
        found |= {text["number"]: CaseText.model_validate(text) for text in row["texts"]}
    facts = [case for case in facts if case.number in found]
    similar = find_similar(facts, found)
    counts.similar = len(similar)
    if similar and not model.simulated:
        told = yield from _tell_anew(model, description, facts, rules, found, similar, seed, work)
        for row in told:
            counts.add(row)
            found |= {text["number"]: CaseText.model_validate(text) for text in row["texts"]}
    return found, counts


def _tell_anew(
    model: ChatModel,
    description: str,
    facts: Sequence[CaseFacts],
    rules: Sequence[prompts.Rule],
    texts: Mapping[int, CaseText],
    similar: Mapping[int, int],
    seed: int,
    work: Path,
) -> WritingStage[list[dict[str, Any]]]:
    """Cases that are nearly earlier ones, written once more beside the beginnings of those; a text that is still like
    one, or that a reader does not find right, is not taken."""

    async def write(batch: list[CaseFacts]) -> dict[str, Any]:
        start = seed * 1000 + batch[0].number * TRIES + 700
        known = tuple(dict.fromkeys(open_of(texts[similar[case.number]]) for case in batch))
        made, discarded = await _write_some(model, description, batch, start, known=known)
        whole = {**texts, **made}
        still = find_similar(facts, whole)
        kept = [
            made[case.number]
            for case in batch
            if case.number in made
            and case.number not in still
            and await _reads_right(model, case, made[case.number], rules, start)
        ]
        kept_rows = [text.model_dump() for text in kept]
        return {"texts": kept_rows, "batches": 0, "discarded": discarded, "told_anew": len(kept)}

    batches = split([case for case in facts if case.number in similar])
    rows = yield from stages.run("similar", batches, lambda batch: str(batch[0].number), write, work)
    return rows


async def _write_some(
    model: ChatModel,
    description: str,
    batch: Sequence[CaseFacts],
    seed: int,
    leave_out: Callable[[CaseFacts, str], None] = lambda case, why: None,
    known: tuple[str, ...] = (),
) -> tuple[dict[int, CaseText], int]:
    """A batch; one that fails thrice is written case by case, so that one hard case does not hold up nine.

    A case that fails thrice by itself is not among what comes back; `leave_out` is told of it, and why.
    """
    inputs = prompts.CasesInputs(description=description, cases=tuple(batch), known=known)
    made, discarded, why = await write_batch(model, prompts.CASES, inputs, seed)
    if made is not None:
        return {text.number: text for text in made.cases}, discarded
    if len(batch) == 1:
        leave_out(batch[0], why)
        return {}, discarded
    found: dict[int, CaseText] = {}
    for case in batch:
        one, lost = await _write_some(model, description, [case], seed + 7, leave_out, known)
        found |= one
        discarded += lost
    return found, discarded


async def _reads_right(
    model: ChatModel, case: CaseFacts, text: CaseText, rules: Sequence[prompts.Rule], seed: int
) -> bool:
    """Whether a reader finds in a text the rule that was to be broken in it, and no other."""
    lines = tuple(f"{line.speaker}: {line.text}" for line in text.lines)
    inputs = prompts.BreachInputs(lines=lines, days=case.days, rules=tuple(rules))
    reply = await ask(model, prompts.BREACH, inputs, seed=seed)
    wanted = next((rule.id for rule in rules if rule.text == case.rule), prompts.NO_RULE)
    return reply.output is not None and reply.output.rule.strip() == wanted


def pick_products(
    model: ChatModel, asked: Sequence[tuple[str, prompts.ProductInputs, str]], seed: int, work: Path
) -> WritingStage[tuple[list[bool], Counts]]:
    """Whether the purchases decide what each customer means; `asked`: (key, what is asked, its id or none)."""

    async def pick(one: tuple[str, prompts.ProductInputs, str]) -> dict[str, Any]:
        made, discarded, _ = await write_batch(model, prompts.PRODUCT, one[1], seed)
        right = made is not None and made.id.strip() == one[2]
        return {"right": right, "discarded": discarded, "refused": int(not right)}

    rows = yield from stages.run("purchases", list(asked), lambda one: one[0], pick, work)
    counts = Counts()
    for row in rows:
        counts.add(row)
    return [bool(row["right"]) for row in rows], counts


def reword(
    model: ChatModel,
    asked: Sequence[tuple[str, Sequence[prompts.NumberQuestion]]],
    find_faults: Callable[[int, str], list[str]],
    seed: int,
    work: Path,
) -> WritingStage[tuple[dict[int, str], Counts]]:
    """Questions in other words, by number; one whose other words do not ask the same keeps its own, counted as refused.

    `asked`: who asks, and their questions. `find_faults(number, text)` says what a wording lost or added.
    """
    batches = [(role, batch) for role, questions in asked for batch in split(questions)]

    async def write(one: tuple[str, list[prompts.NumberQuestion]]) -> dict[str, Any]:
        role, batch = one
        inputs = prompts.ParaphraseInputs(role=role, questions=tuple(batch))
        made, discarded, _ = await write_batch(model, prompts.PARAPHRASE, inputs, seed * 1000 + batch[0].number * TRIES)
        texts = {each.number: each.text for each in made.questions} if made is not None else {}
        kept = {n: texts[n] for n in (each.number for each in batch) if n in texts and not find_faults(n, texts[n])}
        return {
            "texts": {str(number): text for number, text in kept.items()},
            "discarded": discarded,
            "refused": len(batch) - len(kept),
        }

    rows = yield from stages.run("words", batches, lambda one: str(one[1][0].number), write, work)
    counts = Counts()
    found = {each.number: each.text for _, questions in asked for each in questions}
    for row in rows:
        counts.add(row)
        found |= {int(number): text for number, text in row["texts"].items()}
    return found, counts
