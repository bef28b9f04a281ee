"""Score one ranking: the paper's five measures at four cut-offs, and of a miss what kind of failure it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.cdr import failure_analysis
from cxlab.benchmarks.cdr.corpus import domains
from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.contract import Scored, Setup, name_fault, name_unread
from cxlab.errors import UnknownName
from cxlab.metrics.retrieval import CUTOFFS, evaluate_each
from cxlab.records import Attempt, Sample, Score, Verdict

NAMES = {"acc": "hit", "p": "precision", "r": "recall", "ndcg": "ndcg", "mrr": "mrr"}
MEANINGS = {
    "hit": "100 with a relevant conversation among the first {k}; the paper's accuracy",
    "precision": "share of the first {k} conversations that are relevant",
    "recall": "share of the relevant conversations that are among the first {k}",
    "ndcg": "discounted gain of the first {k} conversations against the best order",
    "mrr": "100 / rank of the first relevant conversation, 0 beyond {k}",
}
METRICS = {f"{name}@{k}": text.format(k=k) for name, text in MEANINGS.items() for k in CUTOFFS}
HEADLINE, DECIDED_BY = "ndcg@10", "hit@10"


def measure(sample: Sample, ranked: list[str]) -> dict[str, float]:
    """Metric → value, 0 to 100."""
    found = evaluate_each([ranked], [sample.expected["conversations"]])
    values = {}
    for metric, each in found.items():
        kind, _, k = metric.partition("@")
        values[f"{NAMES[kind]}@{k}"] = 100 * float(each[0])
    return values


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """The measures and the verdict; nothing is asked of anybody."""
    del setup
    if sample.task == domains.TASK:
        return domains.score(attempt)
    if attempt.outcome != "ok":
        unread = attempt.failures[0] if attempt.failures else None
        why = name_fault(attempt) if attempt.outcome == "provider" else name_unread(unread)
        silent = tuple(_score(attempt, metric, None, why) for metric in METRICS)
        return Scored(scores=silent)
    values = measure(sample, list(attempt.output.get("ranked", ())))
    scored = Scored(scores=tuple(_score(attempt, metric, values[metric], None) for metric in METRICS))
    return Scored(scores=scored.scores, verdict=judge(sample, attempt, values))


def judge(sample: Sample, attempt: Attempt, values: Mapping[str, float]) -> Verdict:
    """Passed with a relevant conversation among the first ten; of a miss the kind of failure is its reason and stage,
    told from the conversation that came first instead."""
    if values[DECIDED_BY] == 100:
        return Verdict(attempt_id=attempt.id, value="passed")
    output: Mapping[str, Any] = attempt.output
    ranked = list(output.get("ranked", ()))
    stage = "undecided"
    if ranked and not output.get("alike"):
        first = ranked[0]
        corpus = load_corpus(sample.dataset_id)
        if first not in corpus:
            raise UnknownName(f"conversation of dataset {sample.dataset_id!r}", first, ())
        stage = failure_analysis.explain(str(sample.inputs["query"]), corpus[first])
    reason = failure_analysis.KINDS[stage]
    return Verdict(attempt_id=attempt.id, value="failed", reason=reason, owner="agent", stage=stage)


def _score(attempt: Attempt, metric: str, value: float | None, reason: str | None) -> Score:
    return Score(attempt_id=attempt.id, turn=None, metric=metric, value=value, reason=reason)
