"""The paper's checks of the derived tasks (appendix C), by a model that does not see how the data were made.

    report = stages.finish(check(samples, taxonomies, texts, model, seed))
    report.procedures      # {"intent": {"n", "passed", "rate", ...}, "article_search", "multi_turn", "quality"}
    report.left_out        # {sample id: why};   report.relabelled   # {sample id: new expected}
    samples = apply(samples, report)

Intent: the conversation supports the label, given the taxonomy. Search: the article alone answers the query; and,
beyond the paper, the articles most like it are asked, too: a query that one of them answers as well is left out
(`ambiguous`; the rate is the paper's, of answerable ones).
Multi-turn: each article is relevant to what the customer said last. Quality: a reviewer answers with a confidence;
where it is low, or the answer is not the label, a judge decides; a label that both deny is changed, one on which
they differ is left out. Refinement pairs are known by construction and are not checked. A reply that cannot be
read decides nothing: the sample stays, and `unread` counts it.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.brand.ledger import rng_for
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import NumberedMessage, Passage, TaxonomyLabel
from cxlab.benchmarks.cxmarena.tasks import task_prompts
from cxlab.benchmarks.cxmarena.tasks.intent_taxonomies import Row
from cxlab.benchmarks.cxmarena.text import bare
from cxlab.benchmarks.generation import stages
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.records import Sample, content_id
from cxlab.retrieval.bm25 import BM25Ranker

PROCEDURES = ("intent", "article_search", "multi_turn", "quality")
# Appendix C: the share that passed; quality has no published rate.
PUBLISHED = {"intent": 0.98, "article_search": 0.98, "multi_turn": 0.99}
# A reviewer this sure or less is seconded by a judge (of 5).
LOW = 3
LONGEST = 8000
# Articles beside the right one that are asked whether they answer a query, too.
RIVALS = 2


@dataclass
class ValidationReport:
    """See the module's head."""

    procedures: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    relabelled: dict[str, dict[str, Any]] = field(default_factory=dict)


def check(
    samples: Sequence[Sample],
    taxonomies: Sequence[Row],
    texts: Mapping[str, Mapping[str, str]],
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    most: int | None = None,
) -> Generator[stages.Progress, None, ValidationReport]:
    """`texts`: corpus → article id → text as served. `most` draws so many samples a procedure; None checks all."""
    report = ValidationReport()
    bodies = {name: _Bodies(kept) for name, kept in texts.items()}
    labels = _labels(taxonomies)
    for task in PROCEDURES:
        chosen = [s for s in samples if s.task == task]
        if most is not None and len(chosen) > most:
            order = rng_for("validate", task, seed).permutation(len(chosen))[:most]
            chosen = [chosen[n] for n in sorted(order.tolist())]
        if not chosen:
            continue
        rows = yield from stages.run(
            f"check {task}", chosen, lambda s: s.id, _Work(model, seed, labels, bodies).of(task), folder
        )
        _sum_up(task, chosen, rows, report)
    return report


def apply(samples: Sequence[Sample], report: ValidationReport) -> list[Sample]:
    """The samples without those left out, relabelled ones with their new gold (and so a new id)."""
    kept = []
    for sample in samples:
        if sample.id in report.left_out:
            continue
        if (expected := report.relabelled.get(sample.id)) is not None:
            new = content_id(sample.task, sample.inputs, expected)
            sample = sample.model_copy(update={"expected": expected, "id": new})
        kept.append(sample)
    return kept


@dataclass
class _Bodies:
    """Articles as prompts print them, taken off their markup when first needed."""

    texts: Mapping[str, str]

    def passage(self, article_id: str) -> Passage | None:
        text = self.texts.get(article_id)
        return None if text is None else Passage(id=article_id, text=bare(text)[:LONGEST])

    def rivals(self, query: str, article_id: str) -> list[Passage]:
        """The articles beside the right one that have most of a query's words."""
        ids, ranker = self._ranker
        ((rows, _),) = ranker.rank(ranker.encode([query]), np.arange(1), RIVALS + 1)
        others = [one for n in rows if (one := ids[int(n)]) != article_id][:RIVALS]
        return [passage for one in others if (passage := self.passage(one)) is not None]

    @functools.cached_property
    def _ranker(self) -> tuple[list[str], BM25Ranker]:
        return list(self.texts), BM25Ranker(list(self.texts.values()))


def _labels(taxonomies: Sequence[Row]) -> dict[str, tuple[TaxonomyLabel, ...]]:
    found: dict[str, tuple[TaxonomyLabel, ...]] = {}
    for row in taxonomies:
        label = f"{row['l1']}:{row['l2']}" if row["l2"] else str(row["l1"])
        name = str(row["taxonomy"])
        found[name] = (*found.get(name, ()), TaxonomyLabel(label=label, description=row["description"] or ""))
    return found


@dataclass
class _Work:
    """What the checks need; each gives {"passed": True | False | None (unread), "why": ...}."""

    model: ChatModel
    seed: int
    labels: Mapping[str, tuple[TaxonomyLabel, ...]]
    bodies: Mapping[str, _Bodies]

    def of(self, task: str) -> Any:
        return {
            "intent": self.intent,
            "article_search": self.article_search,
            "multi_turn": self.multi_turn,
            "quality": self.quality,
        }[task]

    async def intent(self, sample: Sample) -> stages.Row:
        known = self.labels.get(sample.inputs["taxonomy"], ())
        label = sample.expected["label"]
        if label not in {one.label for one in known}:
            return {"passed": False, "why": f"{label!r} is no label of the taxonomy"}
        inputs = task_prompts.SupportInputs(transcript=sample.inputs["transcript"], label=label, taxonomy=known)
        reply = await ask(self.model, task_prompts.SUPPORTED, inputs, seed=self.seed)
        if reply.output is None:
            return {"passed": None, "why": "unread"}
        return {"passed": reply.output.supported, "why": reply.output.reason}

    async def article_search(self, sample: Sample) -> stages.Row:
        bodies = self.bodies[sample.inputs["corpus"]]
        passage = bodies.passage(sample.expected["article_id"])
        if passage is None:
            return {"passed": False, "why": f"no article {sample.expected['article_id']}"}
        inputs = task_prompts.AnswerableInputs(query=sample.inputs["query"], passage=passage)
        reply = await ask(self.model, task_prompts.ANSWERABLE, inputs, seed=self.seed)
        if reply.output is None:
            return {"passed": None, "why": "unread"}
        if not reply.output.answerable:
            return {"passed": False, "why": "the article holds no answer"}
        for rival in bodies.rivals(inputs.query, sample.expected["article_id"]):
            again = await ask(
                self.model, task_prompts.ANSWERABLE, inputs.model_copy(update={"passage": rival}), seed=self.seed
            )
            if again.output is not None and again.output.answerable:
                return {"passed": False, "why": f"{rival.id} answers it, too", "ambiguous": True}
        return {"passed": True, "why": reply.output.answer}

    async def multi_turn(self, sample: Sample) -> stages.Row:
        """An article that is not relevant leaves the gold; a sample whose articles all do is left out."""
        right: list[str] = []
        why, unread, n = "", 0, 0
        for article_id in sample.expected["article_ids"]:
            passage = self.bodies[sample.inputs["corpus"]].passage(article_id)
            n += 1
            if passage is None:
                why = f"no article {article_id}"
                continue
            inputs = task_prompts.RelevantInputs(transcript=sample.inputs["transcript"], passage=passage)
            reply = await ask(self.model, task_prompts.RELEVANT, inputs, seed=self.seed)
            unread += reply.output is None
            if reply.output is None or reply.output.relevant:
                right.append(article_id)
            else:
                why = f"{article_id}: {reply.output.reason}"
        row: stages.Row = {"passed": None if unread == n else len(right) == n, "why": why}
        row |= {"passages": n, "relevant": len(right) - unread, "unread": unread}
        if right and len(right) < n:
            row["expected"] = {**sample.expected, "article_ids": right}
        return row

    async def quality(self, sample: Sample) -> stages.Row:
        lines = tuple(NumberedMessage(**line) for line in sample.inputs["lines"])
        questions = tuple(sample.inputs["questions"])
        reply = await ask(
            self.model, task_prompts.REVIEW, task_prompts.ReviewInputs(lines=lines, questions=questions), seed=self.seed
        )
        if reply.output is None:
            return {"passed": None, "why": "unread", "questions": len(questions)}
        reviews = {one.question: one for one in reply.output.answers}
        answers, evidence = list(sample.expected["answers"]), [list(one) for one in sample.expected["evidence"]]
        sent, confirmed, split = 0, 0, []
        for n, question in enumerate(questions):
            one, gold = reviews[n + 1], answers[n]
            if one.answer == gold and one.confidence > LOW:
                confirmed += 1
                continue
            sent += 1
            asked = task_prompts.AdjudicateInputs(
                lines=lines, question=question, answer=one.answer, reason=one.reason, confidence=one.confidence
            )
            verdict = await ask(self.model, task_prompts.ADJUDICATE, asked, seed=self.seed)
            said = verdict.output
            if said is None or said.answer == gold or (said.answer == "unclear" and one.answer == gold):
                confirmed += 1
            elif said.answer == one.answer:
                answers[n] = said.answer
                known = {line.id for line in lines}
                evidence[n] = [e for e in said.evidence if e in known][:5] if said.answer == "Yes" else []
            elif one.confidence > LOW:
                split.append(question)
            else:
                # A reviewer who guesses and a judge who cannot tell are no case against the label.
                confirmed += 1
        row: stages.Row = {"passed": confirmed == len(questions), "why": "; ".join(split)}
        row |= {"questions": len(questions), "confirmed": confirmed, "adjudicated": sent, "split": len(split)}
        if answers != sample.expected["answers"] and not split:
            row["expected"] = {**sample.expected, "answers": answers, "evidence": evidence}
        return row


def _sum_up(task: str, samples: Sequence[Sample], rows: Sequence[stages.Row], report: ValidationReport) -> None:
    """Counts and pass rate of one procedure, and what becomes of the samples that did not pass."""
    read = [row for row in rows if row["passed"] is not None]
    found: dict[str, Any] = {"n": len(rows), "passed": sum(row["passed"] for row in read)}
    found["unread"] = len(rows) - len(read)
    for sample, row in zip(samples, rows, strict=True):
        if row["passed"] is not False:
            continue
        if "expected" in row:
            report.relabelled[sample.id] = row["expected"]
        else:
            report.left_out[sample.id] = row["why"]
    if task == "multi_turn":
        # The paper counts passages.
        found["passages"] = sum(row["passages"] for row in rows)
        found["relevant"] = sum(row["relevant"] for row in rows)
        decided = found["passages"] - sum(row["unread"] for row in rows)
        found["rate"] = found["relevant"] / decided if decided else None
    elif task == "quality":
        for name in ("questions", "confirmed", "adjudicated", "split"):
            found[name] = sum(row.get(name, 0) for row in read)
        found["rate"] = found["confirmed"] / found["questions"] if found["questions"] else None
    else:
        found["rate"] = found["passed"] / len(read) if read else None
    if task == "article_search":
        found["ambiguous"] = sum(row.get("ambiguous", False) for row in read)
        found["rate"] = (found["passed"] + found["ambiguous"]) / len(read) if read else None
    found["left_out"] = sum(s.id in report.left_out for s in samples)
    found["relabelled"] = sum(s.id in report.relabelled for s in samples)
    if task in PUBLISHED:
        found["published"] = PUBLISHED[task]
    report.procedures[task] = found


__all__ = ["PROCEDURES", "PUBLISHED", "ValidationReport", "apply", "check"]
