"""Score an attempt at CXMArena: what it is worth by itself, and what judges say of it.

`measure` turns an output into figures on 0 to 100 and calls nothing; `score` adds what judges say. The task's
own figures (evaluation/task_metrics.py) are offered here, too: they are what others score their outputs with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cxlab.benchmarks.contract import Scored, Setup, name_unread
from cxlab.benchmarks.cxmarena.evaluation import corpus, evaluation_prompts
from cxlab.benchmarks.cxmarena.evaluation import task_metrics as figures
from cxlab.benchmarks.cxmarena.evaluation.task_metrics import (
    intent,
    is_two_level,
    kb_pairs,
    multi_turn_recall,
    quality,
    search,
    snap,
    sweep,
    tools,
)
from cxlab.benchmarks.cxmarena.evaluation.verdict import is_unanswered, judge_whole, leave_out_unchecked
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.benchmarks.unlabelled import NO_GOLD
from cxlab.errors import UnknownName
from cxlab.judging import JudgeAnswer, poll, tally
from cxlab.records import Attempt, Judgement, Sample, Score, Vote

__all__ = [
    "empty_output",
    "gold_output",
    "intent",
    "is_two_level",
    "kb_pairs",
    "measure",
    "multi_turn_recall",
    "quality",
    "score",
    "search",
    "snap",
    "sweep",
    "tools",
]

Value = tuple[float | None, str | None]
HIT_CUTOFFS = (1, 5, 10)
# What needs gold and leads a task that conversations without any can be sent to.
_LED_BY = {"quality": ("question_accuracy",), "intent": ("intent",)}


def measure(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    """Metric → (0 to 100, or None with the reason) of one output; no model is called."""
    if sample.task not in _MEASURES:
        raise UnknownName("task of cxmarena", sample.task, _MEASURES)
    values = _MEASURES[sample.task](sample, output)
    values["right"] = judge_whole(sample, output, values)
    return values


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """The scores of one attempt; judges are asked about labels and about answers, if there are any."""
    rows = _own_scores(sample, attempt)
    votes: list[Vote] = []
    judgements: list[Judgement] = []
    if (question := _question(sample, attempt, setup)) is not None:
        prompt, inputs, field = question
        ballots = await poll(setup.judges, prompt, inputs, _seed(setup, attempt), setup.votes)
        _record(attempt, ballots, field, votes, judgements)
    return Scored((*rows, *_judged_scores(sample, attempt, setup, judgements, votes)), tuple(votes), tuple(judgements))


def rescore(sample: Sample, attempt: Attempt, stored: Scored, setup: Setup) -> Scored:
    """The same from what the judges said when they were asked."""
    judged = _judged_scores(sample, attempt, setup, stored.judgements, stored.votes)
    return Scored((*_own_scores(sample, attempt), *judged), stored.votes, stored.judgements)


def _own_scores(sample: Sample, attempt: Attempt) -> list[Score]:
    if not sample.expected:
        return _unlabelled_scores(sample, attempt)
    if _is_lost(sample, attempt):
        reason = "the provider did not deliver"
        empty = measure(sample, empty_output(sample))
        return [_score(attempt, metric, (None, reason)) for metric in empty]
    values = measure(sample, attempt.output)
    unread = [failure for failure in attempt.failures if failure.where == "format"]
    values["format_error"] = (100.0 * bool(unread), None)
    if unread and is_unanswered(sample.task, attempt.output):
        values["right"] = (0.0, name_unread(unread[0]))
    if sample.task == "kb_refinement":
        leave_out_unchecked(attempt, values)
    rows = [_score(attempt, metric, value) for metric, value in values.items()]
    if sample.task == "quality":
        rows += _questions(sample, attempt)
    return rows


def _unlabelled_scores(sample: Sample, attempt: Attempt) -> list[Score]:
    """Of a conversation that nobody has labelled: whether the reply could be read, and that no more can be said."""
    unread = 100.0 * any(failure.where == "format" for failure in attempt.failures)
    values: dict[str, Value] = dict.fromkeys(("right", *_LED_BY.get(sample.task, ())), (None, NO_GOLD))
    values["format_error"] = (None, "the provider did not deliver") if _is_lost(sample, attempt) else (unread, None)
    return [_score(attempt, metric, value) for metric, value in values.items()]


def _is_lost(sample: Sample, attempt: Attempt) -> bool:
    """Whether a provider left nothing to score; of many pairs some were answered."""
    return attempt.outcome == "provider" and sample.task != "kb_refinement"


def _question(sample: Sample, attempt: Attempt, setup: Setup) -> tuple[Any, Any, str] | None:
    """What judges are asked of an attempt: prompt, inputs, and the field of the reply that counts."""
    about = _judged_part(sample, attempt, setup)
    if about is None or attempt.output[about] is None or not setup.judges:
        return None
    if about == "label":
        return evaluation_prompts.VERIFY, _verify_inputs(sample, attempt), "holds"
    return evaluation_prompts.JUDGE, _grade_inputs(sample, attempt), "verdict"


def _judged_part(sample: Sample, attempt: Attempt, setup: Setup) -> str | None:
    """The part of the output that judges look at."""
    if _is_lost(sample, attempt):
        return None
    if sample.task == "intent":
        return "label" if CxmOptions.of(setup.options).verify else None
    return "response" if sample.task in ("multi_turn", "article_search") and "response" in attempt.output else None


def _judged_scores(
    sample: Sample, attempt: Attempt, setup: Setup, judgements: Sequence[Judgement], votes: Sequence[Vote]
) -> list[Score]:
    about = _judged_part(sample, attempt, setup)
    if about is None:
        return []
    if about == "label":
        return _verified(attempt, bool(setup.judges), judgements)
    return _graded(sample, attempt, bool(setup.judges), judgements, votes)


def gold_output(sample: Sample) -> dict[str, Any]:
    """The output that the sample expects, in the shape that `run` gives."""
    best = sample.expected
    if sample.task in ("article_search", "multi_turn"):
        right = best.get("article_ids") or [best["article_id"]]
        return {"ranked": right, "chunks": right}
    if sample.task == "tools":
        return {"calls": dict.fromkeys(sample.inputs["candidates"], best["tools"])}
    kept = {"kb_refinement": ("similar", "contradictory"), "intent": ("label",), "quality": ("answers", "evidence")}
    return {name: best[name] for name in kept[sample.task]}


def empty_output(sample: Sample) -> dict[str, Any]:
    """An output with nothing in it."""
    if sample.task == "tools":
        return {"calls": dict.fromkeys(sample.inputs["candidates"])}
    empty: dict[str, dict[str, Any]] = {
        "kb_refinement": {"similar": [], "contradictory": []},
        "intent": {"label": None},
        "quality": {"answers": [], "evidence": []},
        "article_search": {"ranked": [], "chunks": []},
        "multi_turn": {"ranked": [], "chunks": []},
    }
    return empty[sample.task]


def _kb_refinement(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    public = output.get("public")
    for kind in ("similar", "contradictory"):
        gold = sample.expected[kind]
        lists = [(kind, output[kind])] + ([(f"public_{kind}", public)] if public is not None else [])
        for name, pairs in lists:
            result = figures.kb_pairs(pairs, gold)
            for figure in ("precision", "recall", "f1"):
                reason = None if gold else "the corpus holds no such pair"
                found[f"{name}_{figure}"] = (100 * result[figure] if gold else None, reason)
        # No recall goes beyond what was put to the model at all.
        if (asked := output.get("proposed", {}).get(kind)) is not None and gold:
            found[f"{kind}_candidates"] = (100 * figures.kb_pairs(asked, gold)["recall"], None)
    if output.get("pairs") and sample.expected["similar"]:
        best = max(figures.sweep(output["pairs"], sample.expected["similar"]), key=lambda row: row["f1"])
        found["best_similar_f1"] = (100 * best["f1"], None)
        found["best_similar_threshold"] = (best["threshold"], None)
    return found


def _intent(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    labels = [c.label for c in corpus.candidates(sample.dataset_id, sample.inputs)]
    gold, said = sample.expected["label"], output["label"]
    raw, fuzzy = (figures.intent(said, gold, labels, mapping) for mapping in ("raw", "fuzzy"))
    found: dict[str, Value] = {
        "intent": (100 * raw["accuracy"], None),
        "intent_fuzzy": (100 * fuzzy["accuracy"], None),
        # One figure a taxonomy, as published: a label out of 37 and one out of 208 are not one task.
        f"public_intent_{sample.inputs['taxonomy']}": (100 * fuzzy["accuracy"], None),
        "intent_outside": _percent(raw["outside"], "no label was given"),
    }
    if "accuracy_l1" in raw:
        found["intent_l1"] = (100 * raw["accuracy_l1"], None)
    return found


def _quality(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    gold = [sample.expected]
    ours, public = figures.quality([output], gold), figures.quality([as_public(output)], gold, missing="skip")
    nothing = "no question's answer has evidence"
    return {
        "question_accuracy": (100 * ours["question_accuracy"], None),
        "row_exact": (100 * ours["case_accuracy"], None),
        "public_question_accuracy": _percent(public["question_accuracy"], "no question was answered"),
        "evidence_precision": _percent(ours["evidence_precision"], nothing),
        "evidence_recall": _percent(ours["evidence_recall"], nothing),
    }


def as_public(output: dict[str, Any]) -> dict[str, Any]:
    """The answers as the public evaluator has them: an unreadable reply is a wrong answer to each question."""
    if output.get("read", True):
        return {"answers": output["answers"]}
    return {"answers": ["parsing_error"] * len(output["answers"])}


def _questions(sample: Sample, attempt: Attempt) -> list[Score]:
    """One score a question, numbered as turns, so that means over questions weigh each question once; the public one
    only where the public evaluator counts an answer."""
    gold = sample.expected["answers"]
    rows: list[Score] = []
    for metric, answers in (
        ("question_accuracy", attempt.output["answers"]),
        ("public_question_accuracy", as_public(attempt.output)["answers"]),
    ):
        for number, (answer, right) in enumerate(zip([*answers, *[None] * len(gold)], gold, strict=False), start=1):
            if answer is not None or metric == "question_accuracy":
                value = 100.0 * (answer is not None and answer.strip().lower() == right.lower())
                rows.append(Score(attempt_id=attempt.id, turn=number, metric=metric, value=value))
    return rows


def _search(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    gold = [sample.expected["article_id"]]
    found = figures.search(output["ranked"], gold, HIT_CUTOFFS)
    kept = [f"hit@{k}" for k in HIT_CUTOFFS] + ["precision@10", "mrr@10", "ndcg@10"]
    values: dict[str, Value] = {name: (100 * found[name], None) for name in kept}
    if output.get("chunks") is not None:
        values["public_hit@10"] = (100 * figures.search(output["chunks"], gold, 10, cut="chunks")["hit@10"], None)
    return values


def _multi_turn(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    gold = [sample.expected["article_ids"]]
    found = figures.multi_turn_recall([output["ranked"]], gold)
    nothing = "no article is expected"
    # Ids that the corpus lacks stay in the public denominator.
    published = [sample.expected.get("published_ids", gold[0])]
    values = {f"recall@{k}": _percent(found[f"recall@{k}"], nothing) for k in figures.RECALL_CUTOFFS}
    if output.get("chunks") is not None:
        public = figures.multi_turn_recall([output["chunks"][:10]], published, empty="zero")["recall@10"]
        values["public_recall@10"] = (100 * public, None)
    return values


def _tools(sample: Sample, output: dict[str, Any]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for size, calls in output["calls"].items():
        found = figures.tools(calls, sample.expected["tools"])
        values[f"tools@{size}"] = (100 * found["names"], None)
        reason = "the gold calls come without arguments"
        values[f"tools_arguments@{size}"] = _percent(found["names_arguments"], reason)
        values[f"tools_silent@{size}"] = (100 * found["silent"], None)
        if sample.inputs.get("sampler") == "popular":
            values[f"public_tools@{size}"] = values[f"tools@{size}"]
    return values


_MEASURES = {
    "kb_refinement": _kb_refinement,
    "intent": _intent,
    "quality": _quality,
    "article_search": _search,
    "multi_turn": _multi_turn,
    "tools": _tools,
}


def _verify_inputs(sample: Sample, attempt: Attempt) -> evaluation_prompts.VerifyInputs:
    said = attempt.output["label"]
    labels = corpus.candidates(sample.dataset_id, sample.inputs)
    about = next((c.description for c in labels if c.label == said), "")
    return evaluation_prompts.VerifyInputs(transcript=sample.inputs["transcript"], label=said, description=about)


def _verified(attempt: Attempt, judged: bool, judgements: Sequence[Judgement]) -> list[Score]:
    """Whether the judges accept the label that was given, whatever was expected."""
    if not judged:
        return [_score(attempt, "intent_verified", (None, "no judges"))]
    if attempt.output["label"] is None:
        return [_score(attempt, "intent_verified", (0.0, None))]
    winner, reason = _winner(judgements)
    value: Value = (None, reason) if winner is None else (100.0 * (winner == str(True)), None)
    return [_score(attempt, "intent_verified", value)]


def _grade_inputs(sample: Sample, attempt: Attempt) -> evaluation_prompts.JudgeInputs:
    articles = corpus.load(sample.dataset_id, sample.inputs["corpus"])
    right = sample.expected["article_ids"] if "article_ids" in sample.expected else [sample.expected["article_id"]]
    return evaluation_prompts.JudgeInputs(
        transcript=sample.inputs.get("transcript") or f"Customer: {sample.inputs['query']}",
        response=attempt.output["response"],
        own=tuple(p for p in map(articles.passage, right) if p),
        other=tuple(p for one in attempt.output["shown"] if one not in right and (p := articles.passage(one))),
    )


def _graded(
    sample: Sample, attempt: Attempt, judged: bool, judgements: Sequence[Judgement], votes: Sequence[Vote]
) -> list[Score]:
    """Shares of the four verdicts; an answer that no judge could grade is in none of them."""
    # Two tasks, two names: a mean over a whole run must not mix them.
    kind = "response" if sample.task == "multi_turn" else "answer"
    names = [f"{kind}_{verdict}" for verdict in evaluation_prompts.VERDICTS]
    response = attempt.output["response"]
    if response is None or not judged:
        reason = "no judges" if response is not None else "there is no response"
        return [_score(attempt, name, (None, reason)) for name in names]
    winner, reason = _winner(judgements)
    read = sum(one.status == "ok" for one in judgements)
    # A judge that was never heard has not answered unreadably.
    heard = len(judgements) - sum((vote.failure or "").startswith("provider:") for vote in votes)
    unread: Value = (100.0 * (1 - read / heard), None) if heard else (None, "the provider did not deliver")
    rows = [_score(attempt, "judge_error", unread)]
    for name, verdict in zip(names, evaluation_prompts.VERDICTS, strict=True):
        rows.append(_score(attempt, name, (None, reason) if winner is None else (100.0 * (winner == verdict), None)))
    return rows


def _winner(judgements: Sequence[Judgement]) -> tuple[str | None, str]:
    """What most judges said, or None with the reason."""
    verdicts = [one.verdict for one in judgements if one.status == "ok"]
    found = tally(verdicts, len(judgements), sum(one.status == "missing" for one in judgements))
    if found.split == "no quorum":
        return None, "too few judges' replies could be read"
    return found.winner, "the judges are split" if verdicts else "no judge's reply could be read"


def _record(
    attempt: Attempt,
    ballots: Sequence[JudgeAnswer[Any]],
    field: str,
    votes: list[Vote],
    judgements: list[Judgement],
) -> None:
    for ballot in ballots:
        reply = ballot.reply
        votes.append(
            Vote(
                attempt_id=attempt.id,
                turn=1,
                judge=ballot.judge,
                valid=reply.output is not None,
                raw=reply.raw,
                rationale=reply.output.reason if reply.output else "",
                failure=f"{reply.failure.where}:{reply.failure.type}" if reply.failure else None,
                usage=reply.usage,
                latency_s=reply.latency_s,
                cost_usd=reply.cost_usd,
            )
        )
        verdict = str(getattr(reply.output, field)) if reply.output else None
        status: Any = "ok" if reply.output else "missing"
        judgements.append(
            Judgement(
                attempt_id=attempt.id,
                turn=1,
                judge=ballot.judge,
                kind="field",
                field=field,
                verdict=verdict,
                status=status,
            )
        )


def _seed(setup: Setup, attempt: Attempt) -> int:
    return setup.seed * 1009 + attempt.trial


def _score(attempt: Attempt, metric: str, value: Value) -> Score:
    return Score(attempt_id=attempt.id, turn=None, metric=metric, value=value[0], reason=value[1])


def _percent(share: float, reason: str) -> Value:
    return (None, reason) if math.isnan(share) else (100 * share, None)
