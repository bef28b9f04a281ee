"""The nouns of CX Lab: frozen records, no I/O.

`Case` is the CRM's ticket; `Sample` is the row of an evaluation. Times are UTC, durations end in
`_s` (seconds), money in `_usd`.
"""

from cxlab.records.conversation import Article, Conversation, Message, Role, ToolCall
from cxlab.records.dataset import Dataset
from cxlab.records.evaluation import (
    Annotation,
    Attempt,
    Failure,
    Judgement,
    Run,
    Sample,
    Score,
    Verdict,
    Vote,
)
from cxlab.records.ids import content_id, new_id
from cxlab.records.procedure import SingleJudgeTrace, Trace
from cxlab.records.usage import CallTotals, Usage
from cxlab.records.versions import FILE_VERSION

__all__ = [
    "FILE_VERSION",
    "Annotation",
    "Article",
    "Attempt",
    "CallTotals",
    "Conversation",
    "Dataset",
    "Failure",
    "Judgement",
    "Message",
    "Role",
    "Run",
    "Sample",
    "Score",
    "SingleJudgeTrace",
    "ToolCall",
    "Trace",
    "Usage",
    "Verdict",
    "Vote",
    "content_id",
    "new_id",
]
