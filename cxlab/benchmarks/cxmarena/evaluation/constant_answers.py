"""The best constant answer to each task, as a floor: one label a taxonomy, one answer to every quality question, the
articles and the tool that are right most often, and no pair of articles.

    python -m cxlab run cxmarena --dataset ID --model simulated:floor-constant

It is counted over the gold of the whole dataset, which nobody under test sees: no constant can score more, so what a
model scores is worth as much as it lies above.
"""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path
from typing import Any

from cxlab.records import Sample
from cxlab.store import home, write

MODEL = "simulated:floor-constant"
# Articles of the constant ranking, as many as any cutoff looks at.
RANKED = 20


def answer(sample: Sample) -> dict[str, Any]:
    """The constant output for the sample's task, in the shape that `run` gives."""
    best = _most_frequent(str(home()), sample.dataset_id)

    def first(what: str) -> str | None:
        return next(iter(best.get(what, ())), None)

    if sample.task == "intent":
        return {"label": first(f"intent {sample.inputs['taxonomy']}"), "reason": "", "raw": ""}
    if sample.task == "quality":
        count = len(sample.inputs["questions"])
        return {
            "answers": [first("quality")] * count,
            "evidence": [[] for _ in range(count)],
            "reasons": [""] * count,
            "read": True,
            "raw": "",
        }
    if sample.task == "tools":
        call = {"name": first("tools"), "arguments": "{}"}
        sizes = sample.inputs["candidates"]
        return {"calls": {size: [dict(call)] for size in sizes}, "said": dict.fromkeys(sizes, "")}
    if sample.task == "kb_refinement":
        none: dict[str, Any] = {key: [] for key in ("similar", "contradictory", "public", "pairs", "sweep", "shown")}
        return {**none, "candidates": 0, "unread": 0, "settings": {}}
    ranked = list(best.get(sample.task, ()))[:RANKED]
    found: dict[str, Any] = {"ranked": ranked, "scores": [], "spans": [], "chunks": ranked[:10], "index": {}}
    return {**found, "query": ""} if sample.task == "multi_turn" else found


@functools.lru_cache(maxsize=4)
def _most_frequent(base: str, dataset_id: str) -> dict[str, tuple[str, ...]]:
    """What is answered → the right answers, most frequent first."""
    counts: dict[str, Counter[str]] = {}
    for sample in write.load_samples(dataset_id, Path(base)):
        gold, what = sample.expected, sample.task
        if not gold:
            continue
        if what == "intent":
            right = [gold["label"]]
            what = f"intent {sample.inputs['taxonomy']}"
        elif what == "quality":
            right = gold["answers"]
        elif what == "tools":
            right = [str(call["name"]) for call in gold["tools"]]
        else:
            right = gold.get("article_ids") or [gold[key] for key in ("article_id",) if key in gold]
        counts.setdefault(what, Counter()).update(right)
    return {what: tuple(sorted(own, key=lambda name: (-own[name], name))) for what, own in counts.items()}
