"""Whether an output is right as a whole, and if not, what is wrong with it in a few words that alike failures share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cxlab.records import Attempt, Sample

Value = tuple[float | None, str | None]
# The public figures cut here; an article beyond is not found.
CUT = 10


def judge_whole(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    """100 when everything the task asks for is right, else 0 with the reason; None where nothing is expected.

    `values` are the figures of `assess.measure`. The reason names what was due and what came where both are short; of
    several things that are wrong it has a line for each.
    """
    return _WHOLES[sample.task](sample, output, values)


def is_unanswered(task: str, output: Mapping[str, Any]) -> bool:
    """Whether nothing came of a reply that the verdict of a task hangs on."""
    if task == "tools":
        return any(calls is None for calls in output["calls"].values())
    missing = {"intent": "label", "multi_turn": "query"}.get(task)
    return not output[missing] if missing else task == "quality" and not output.get("read", True)


def leave_out_unchecked(attempt: Attempt, values: dict[str, Value]) -> None:
    """Of many pairs some may have stayed unchecked; without a provider's answer recall means nothing."""
    asked, unread = attempt.output["candidates"], attempt.output["unread"]
    if attempt.outcome == "provider":
        reason = f"the provider did not deliver on some of {asked} pairs"
        by_model = ["contradictory_"]
        if attempt.output.get("settings", {}).get("similar") == "model":
            by_model.append("similar_")
        values.update({name: (None, reason) for name in values if name == "right" or name.startswith(tuple(by_model))})
    values["format_error"] = (100 * unread / asked if asked and attempt.outcome == "format" else 0.0, None)


def _as_value(wrong: str | None) -> Value:
    return (100.0, None) if wrong is None else (0.0, wrong)


def _kb_refinement(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    del sample, output
    found = {kind: values.get(f"{kind}_f1", (None, None))[0] for kind in ("similar", "contradictory")}
    if all(value is None for value in found.values()):
        return None, "the corpus holds no pair"
    short = [f"{kind} pairs missed or invented" for kind, value in found.items() if value is not None and value < 100]
    return _as_value("\n".join(short) or None)


def _intent(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    if values["intent"][0] == 100:
        return 100.0, None
    due, said = sample.expected["label"], output["label"]
    if said is None:
        return 0.0, "no label was given"
    outside = values["intent_outside"][0] == 100
    return 0.0, f"called {said!r}{', which the taxonomy does not have' if outside else ''}; due {due!r}"


def _quality(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    if values["row_exact"][0] == 100:
        return 100.0, None
    said = [*output["answers"], *[None] * len(sample.expected["answers"])]
    gold = sample.expected["answers"]
    wrong = [
        f"{question} {f'said {came}' if came else 'no answer'}; due {due}"
        for question, due, came in zip(sample.inputs["questions"], gold, said, strict=False)
        if came is None or came.lower() != due.lower()
    ]
    return 0.0, "\n".join(wrong)


def _found(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    del values
    due = sample.expected["article_ids"] if "article_ids" in sample.expected else [sample.expected["article_id"]]
    if not due:
        return None, "no article is expected"
    ranks = [output["ranked"].index(each) + 1 if each in output["ranked"] else None for each in due]
    missing = [rank for rank in ranks if rank is None or rank > CUT]
    if not missing:
        return 100.0, None
    # What tells one miss from another stands in brackets at the end: groups of failures are made without it.
    several = f"{len(missing)} of {len(due)}" if len(due) > 1 else ""
    beyond = all(rank is not None for rank in missing)
    place = f"within the first {len(output['ranked'])}" if beyond else ""
    detail = ", ".join(filter(None, [several, place]))
    return 0.0, "right article missing among the first ten" + (f" ({detail})" if detail else "")


def _tools(sample: Sample, output: dict[str, Any], values: Mapping[str, Value]) -> Value:
    sizes = sorted(output["calls"], key=int)
    short = [size for size in sizes if values[f"tools@{size}"][0] != 100]
    due = sorted(each["name"] for each in sample.expected["tools"])
    if short:
        calls = output["calls"][short[0]]
        came = ", ".join(sorted(_name(call) for call in calls)) if calls else "nothing"
        return 0.0, f"called {came}; due {', '.join(due)}"
    wrong = [size for size in sizes if values[f"tools_arguments@{size}"][0] == 0]
    return _as_value(f"wrong arguments for {', '.join(due)}" if wrong else None)


def _name(call: Any) -> str:
    """A call may be a name, or name and arguments as the provider gave them."""
    if isinstance(call, str):
        return call
    return str(call.get("name")) if isinstance(call, Mapping) else json.dumps(call)


_WHOLES = {
    "kb_refinement": _kb_refinement,
    "intent": _intent,
    "quality": _quality,
    "article_search": _found,
    "multi_turn": _found,
    "tools": _tools,
}
