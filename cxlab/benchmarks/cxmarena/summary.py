"""What a whole run of CXMArena comes to: figures over all attempts, what they took, and how sure they are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from cxlab.benchmarks.cxmarena import corpus
from cxlab.benchmarks.cxmarena import score as figures
from cxlab.benchmarks.cxmarena.assess import HIT_CUTOFFS, as_public
from cxlab.metrics.intervals import Interval, mean_interval
from cxlab.records import Attempt, Sample

TASKS = ("kb_refinement", "intent", "quality", "article_search", "multi_turn", "tools")


def summarise(done: Iterable[tuple[Sample, Attempt]]) -> dict[str, dict[str, float]]:
    """Task → the public functions' figures over all attempts given (shares 0 to 1), and what they took.

    Attempts that a provider cut short are left out and counted in `lost`. `intent` has figures a taxonomy, as
    `A.accuracy` and `A.fuzzy_accuracy`; `tools` a number of candidates, as `16.names`. `cost_usd`,
    `output_tokens` and `latency_s` are means a record as in table 10, nan where a server reports none;
    `STEP.…` are those of one step of several (multi_turn: query, response).
    """
    groups: dict[str, list[tuple[Sample, Attempt]]] = defaultdict(list)
    for sample, attempt in done:
        groups[sample.task].append((sample, attempt))
    summary: dict[str, dict[str, float]] = {}
    for task in TASKS:
        if task not in groups:
            continue
        whole = [(s, a) for s, a in groups[task] if a.outcome != "provider"]
        found = _SUMMARIES[task](whole) if whole else {}
        attempts = [a for _, a in whole]
        found |= {"records": float(len(whole)), "lost": float(len(groups[task]) - len(whole))}
        found |= {
            "cost_usd": _mean([a.cost_usd for a in attempts]),
            "output_tokens": _mean([a.usage.completion_tokens for a in attempts]),
            "latency_s": _mean([a.latency_s for a in attempts]),
        }
        for step in {step for a in attempts for step in a.output.get("steps", {})}:
            parts = [a.output["steps"][step] for a in attempts if step in a.output.get("steps", {})]
            for name, key in (("cost_usd",) * 2, ("output_tokens", "completion_tokens"), ("latency_s",) * 2):
                found[f"{step}.{name}"] = _mean([part[key] for part in parts])
        summary[task] = found
    return summary


def repeat(done: Iterable[tuple[Sample, Attempt]]) -> dict[str, dict[str, Interval]]:
    """Task → figure → mean over the trials with its 95 % interval (Student's t), as in the paper's appendix G."""
    trials: dict[int, list[tuple[Sample, Attempt]]] = defaultdict(list)
    for sample, attempt in done:
        trials[attempt.trial].append((sample, attempt))
    rounds = [summarise(trials[trial]) for trial in sorted(trials)]
    names = {(task, name) for one in rounds for task, found in one.items() for name in found}
    result: dict[str, dict[str, Interval]] = defaultdict(dict)
    for task, name in sorted(names):
        result[task][name] = mean_interval([one.get(task, {}).get(name, math.nan) for one in rounds])
    return dict(result)


Done = Sequence[tuple[Sample, Attempt]]


def _sum_pairs(done: Done) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind in ("similar", "contradictory"):
        for name, key in ((kind, kind), (f"public_{kind}", "public")):
            each = [figures.kb_pairs(a.output.get(key, []), s.expected[kind]) for s, a in done]
            for figure in ("precision", "recall", "f1"):
                found[f"{name}_{figure}"] = _mean([one[figure] for one in each])
    return found


def _sum_intents(done: Done) -> dict[str, float]:
    found: dict[str, float] = {}
    for taxonomy in sorted({str(s.inputs["taxonomy"]) for s, _ in done}):
        part = [(s, a) for s, a in done if s.inputs["taxonomy"] == taxonomy]
        labels = [c.label for c in corpus.candidates(part[0][0].dataset_id, part[0][0].inputs)]
        said, gold = [a.output["label"] for _, a in part], [s.expected["label"] for s, _ in part]
        found |= {f"{taxonomy}.{name}": v for name, v in figures.intent(said, gold, labels).items()}
        fuzzy = figures.intent(said, gold, labels, mapping="fuzzy")
        found[f"{taxonomy}.fuzzy_accuracy"] = fuzzy["accuracy"]
    return found


def _sum_quality(done: Done) -> dict[str, float]:
    gold = [{**s.expected, "conversation_id": s.inputs.get("conversation_id")} for s, _ in done]
    found = figures.quality([a.output for _, a in done], gold)
    public = figures.quality([as_public(a.output) for _, a in done], gold, missing="skip")
    return found | {f"public_{name}": public[name] for name in ("question_accuracy", "case_accuracy")}


def _sum_search(done: Done) -> dict[str, float]:
    gold = [[s.expected["article_id"]] for s, _ in done]
    found = figures.search([a.output["ranked"] for _, a in done], gold, HIT_CUTOFFS)
    chunks = [a.output.get("chunks") or a.output["ranked"] for _, a in done]
    return found | {"public_hit@10": figures.search(chunks, gold, 10, cut="chunks")["hit@10"]}


def _sum_turns(done: Done) -> dict[str, float]:
    return figures.multi_turn_recall(
        [a.output["ranked"] for _, a in done], [s.expected["article_ids"] for s, _ in done]
    )


def _sum_tools(done: Done) -> dict[str, float]:
    found: dict[str, float] = {}
    for size in sorted({size for _, a in done for size in a.output["calls"]}, key=int):
        part = [(s, a) for s, a in done if size in a.output["calls"]]
        said = [a.output["calls"][size] for _, a in part]
        result = figures.tools(said, [s.expected["tools"] for s, _ in part])
        found |= {f"{size}.{name}": value for name, value in result.items()}
    return found


_SUMMARIES = {
    "kb_refinement": _sum_pairs,
    "intent": _sum_intents,
    "quality": _sum_quality,
    "article_search": _sum_search,
    "multi_turn": _sum_turns,
    "tools": _sum_tools,
}


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
