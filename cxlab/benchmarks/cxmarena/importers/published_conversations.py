"""The conversations of a published folder, put together from the transcripts in its samples, so that they can be read.

The published files hold no table of conversations: a quality row has a whole one with numbered lines, the other tasks
have transcripts, some of which are the beginning of a longer one. What agents went by, personas and noise were not
published; a conversation made here says so (`labels.source`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.importers.published_tasks import SampleDraft
from cxlab.importers.cells import to_json
from cxlab.metrics import text_statistics
from cxlab.records import Conversation, Message

SOURCE = "transcripts"
_ROLES = {
    "customer": "customer",
    "user": "customer",
    "agent": "agent",
    "ivr": "ivr",
    "ivr_bot": "ivr",
    "system": "system",
}
_SPEAKER = re.compile(rf"^({'|'.join(_ROLES)})\s*:\s*", re.IGNORECASE)
COLUMNS = ("conversation_id", "channel", "persona", "labels", "grounding", "messages", "noisy", "noise")
Lines = list[tuple[str, str]]


def make_conversations(drafts: Iterable[SampleDraft]) -> pl.DataFrame:
    """One row a conversation: those of the quality task under their own ids, the others as T_1, T_2, ..."""
    named: dict[str, tuple[Lines, list[dict[str, Any]]]] = {}
    loose: dict[tuple[str, ...], tuple[Lines, str | None]] = {}
    for task, inputs, expected, _ in drafts:
        if task == "quality":
            lines = [(str(line["who"]), str(line["text"])) for line in inputs["lines"]]
            _, asked = named.setdefault(str(inputs.get("conversation_id") or f"Q_{len(named) + 1}"), (lines, []))
            place = {line["id"]: n for n, line in enumerate(inputs["lines"])}
            asked += [
                {"question": q, "answer": a, "evidence": [place[e] for e in found if e in place]}
                for q, a, found in zip(inputs["questions"], expected["answers"], expected["evidence"], strict=True)
            ]
        elif "transcript" in inputs:
            lines = split(str(inputs["transcript"]))
            label = expected.get("label") if inputs.get("taxonomy") == "A" else None
            key = _key(lines)
            loose[key] = (lines, label or loose.get(key, (lines, None))[1])
    known = {_key(lines) for lines, _ in named.values()}
    rows = [_row(key, lines, asked, loose.get(_key(lines), (lines, None))[1]) for key, (lines, asked) in named.items()]
    whole = sorted({*known, *loose})
    for number, key in enumerate((k for k in loose if k and k not in known and not _begins(k, whole)), start=1):
        lines, label = loose[key]
        rows.append(_row(f"T_{number}", lines, [], label))
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))


def measure(conversations: pl.DataFrame, bodies: Sequence[str]) -> dict[str, float]:
    """Table 9 of what was imported. Rows of other tasks than quality may be the first part of a conversation only:
    they count where there is nothing else. What is published is English; that matters for estimated tokens alone.
    """
    asked = pl.col("labels").str.json_path_match("$.quality[0].question").is_not_null()
    whole = conversations.filter(asked)
    talks = [
        Conversation(id=name, messages=tuple(Message.model_validate(each) for each in json.loads(messages)))
        for name, messages in (whole if whole.height else conversations)
        .select("conversation_id", "messages")
        .iter_rows()
    ]
    written = text_statistics.articles(bodies) if bodies else {}
    own = {name if name.startswith("article") else f"article_{name}": value for name, value in written.items()}
    return {**(text_statistics.conversations(talks) if talks else {}), **own}


def split(transcript: str) -> Lines:
    """(speaker, text) of each line; a line without a speaker goes on with the one before."""
    found: Lines = []
    for line in transcript.splitlines():
        if match := _SPEAKER.match(line.strip()):
            found.append((match[1], line.strip()[match.end() :]))
        elif line.strip() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line.strip()}")
        elif line.strip():
            found.append(("system", line.strip()))
    return found


def _key(lines: Lines) -> tuple[str, ...]:
    return tuple(_plain(text) for _, text in lines)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _begins(key: tuple[str, ...], whole: list[tuple[str, ...]]) -> bool:
    """Whether a longer conversation begins with these lines; `whole` is sorted, so that the next one would."""
    at = bisect_right(whole, key)
    return at < len(whole) and whole[at][: len(key)] == key


def _row(key: str, lines: Lines, asked: list[dict[str, Any]], label: str | None) -> dict[str, str]:
    messages, turn, before = [], 1, ""
    for who, text in lines:
        role = _ROLES.get(who.lower(), "system")
        # A turn is what the customer says with the reply to it.
        turn += role == "customer" and before == "agent"
        before = role if role in ("customer", "agent") else before
        messages.append(Message.model_validate({"role": role, "text": text, "turn": turn}).model_dump(mode="json"))
    labels = {"source": SOURCE, "quality": asked, **({"issue": label, "family": label} if label else {})}
    empty = {"persona": "{}", "grounding": "{}", "noise": "{}", "channel": ""}
    told = to_json(messages)
    return {"conversation_id": key, **empty, "labels": to_json(labels), "messages": told, "noisy": told}


__all__ = ["SOURCE", "make_conversations", "measure", "split"]
