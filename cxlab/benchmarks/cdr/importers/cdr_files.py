"""The published files: `corpus.json`, `queries.json` and `relevant_docs.json`, each a JSON object by id.

A conversation is one text, its messages begin with `user:` or `assistant:` on a line of their own; relevance is binary,
and its lists repeat ids. Their licence is that of the sources they were made from: they are read, never passed on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxlab.errors import BadFile
from cxlab.files import read_json
from cxlab.importers.conversations import ROLES, split_transcript
from cxlab.importers.imported import RejectedRow
from cxlab.records import Conversation, Message

CORPUS, QUERIES, RELEVANT = "corpus.json", "queries.json", "relevant_docs.json"
LARGEST = 500_000_000
"""Bytes of one file; the published three have 24 MB together."""


@dataclass
class CdrFiles:
    """What `evaluate` takes, and what was odd. `relevant` has each id once and no id that is not in the corpus."""

    corpus: dict[str, Conversation] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    relevant: dict[str, list[str]] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)
    notices: list[RejectedRow] = field(default_factory=list)
    repeated: int = 0
    """Ids that a relevance list names again."""
    dangling: int = 0
    """Ids that are relevant and not in the corpus; they are left out, with a line each in `rejected`."""

    @property
    def pairs(self) -> int:
        """Pairs of a query and a conversation."""
        return sum(map(len, self.relevant.values()))

    def lines(self) -> list[str]:
        """The report for a person: counts first, then each thing that was left out or is odd."""
        return [
            f"{len(self.corpus):,} conversations, {len(self.queries):,} queries, {self.pairs:,} pairs",
            f"{self.repeated:,} relevant ids stood twice, {self.dangling:,} are of no conversation",
            *(f"left out: {each}" for each in self.rejected),
            *(f"note: {each}" for each in self.notices),
        ]


def read_cdr_files(folder: Path | str) -> CdrFiles:
    """The three files of a folder; BadFile for one that is missing, no JSON object, or has a key twice."""
    root = Path(folder)
    corpus, queries, relevant = (_read_object(root / name) for name in (CORPUS, QUERIES, RELEVANT))
    found = CdrFiles()
    for name, text in corpus.items():
        _take_conversation(name, text, found)
    for query, text in queries.items():
        if isinstance(text, str) and text.strip():
            found.queries[query] = text.strip()
        else:
            found.rejected.append(RejectedRow(QUERIES, None, query, "no text"))
    for query, ids in relevant.items():
        _take_relevance(query, ids, found)
    for query in found.queries:
        if not found.relevant.get(query):
            found.notices.append(RejectedRow(RELEVANT, None, query, "nothing is relevant to this query"))
    return found


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json(path, LARGEST)
    if not isinstance(content, dict):
        raise BadFile(path, 1, "is no JSON object by id", "give the file as it was published")
    return content


def _take_conversation(name: str, text: Any, found: CdrFiles) -> None:
    if not isinstance(text, str):
        found.rejected.append(RejectedRow(CORPUS, None, name, "no text"))
        return
    before, said = split_transcript(text)
    if before:
        what = f"{len(before):,} characters before the first speaker"
        (found.notices if said else found.rejected).append(RejectedRow(CORPUS, None, name, f"{what} are left out"))
    messages: list[Message] = []
    turn = blank = 0
    for speaker, told in said:
        role = ROLES[speaker.casefold()]
        turn += role == "customer" and (not messages or messages[-1].role != "customer")
        blank += not told
        # Blank ones stay: they are messages of the published corpus, and `evaluate` counts them.
        messages.append(Message(role=role, text=told, turn=turn))
    if not messages:
        if not before:
            found.rejected.append(RejectedRow(CORPUS, None, name, "no messages"))
        return
    if blank:
        found.notices.append(RejectedRow(CORPUS, None, name, f"{blank} of {len(messages)} messages have no text"))
    if len({message.role for message in messages}) < 2:
        found.notices.append(RejectedRow(CORPUS, None, name, "one side speaks alone"))
    found.corpus[name] = Conversation(id=name, messages=tuple(messages))


def _take_relevance(query: str, ids: Any, found: CdrFiles) -> None:
    if query not in found.queries:
        found.rejected.append(RejectedRow(RELEVANT, None, query, "is no query"))
        return
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        found.rejected.append(RejectedRow(RELEVANT, None, query, "no list of conversation ids"))
        return
    once = list(dict.fromkeys(ids))
    found.repeated += len(ids) - len(once)
    lost = [each for each in once if each not in found.corpus]
    found.dangling += len(lost)
    found.rejected += [RejectedRow(RELEVANT, None, query, f"{each[:80]!r} is no conversation") for each in lost]
    found.relevant[query] = [each for each in once if each in found.corpus]
