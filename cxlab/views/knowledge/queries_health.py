"""What runs and people said of what is suspected of a knowledge base."""

import json
from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from cxlab.charts.names import shorten
from cxlab.read.query import ask
from cxlab.store import write

_FIRST = 70
PAIRS = "kb_refinement"
"""The task in which a model names pairs of articles that repeat or contradict each other."""


def can_be_read(dataset: str) -> bool:
    """Whether a run of PAIRS can be made of the dataset."""
    found = ask(
        "SELECT 1 FROM samples WHERE dataset_id = $dataset AND task = $task LIMIT 1",
        {"dataset": dataset, "task": PAIRS},
    )
    return not found.is_empty()


def named_by(dataset: str) -> dict[str, tuple[str, ...]]:
    """ "contradiction:CORPUS:A+B" → the models whose runs named this pair; of repetitions alike. Each run's first trial
    counts."""
    rows = ask(
        """SELECT a.model, a.output, s.inputs FROM attempts a JOIN runs r USING (run_id)
        JOIN samples s ON s.sample_id = a.sample_id AND s.dataset_id = r.dataset_id
        WHERE r.dataset_id = $dataset AND a.task = $task AND a.trial = 0 ORDER BY r.created, a.run_id""",
        {"dataset": dataset, "task": PAIRS},
    )
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for model, output, inputs in rows.iter_rows():
        said, corpus = json.loads(output or "{}"), json.loads(inputs or "{}").get("corpus", "refinement")
        for name, kind in (("contradictory", "contradiction"), ("similar", "repetition")):
            for pair in said.get(name) or ():
                ids = sorted(str(id) for id in pair[:2])
                if len(ids) == 2:
                    found[f"{kind}:{corpus}:{'+'.join(ids)}"][str(model)] = None
    return {key: tuple(models) for key, models in found.items()}


def first_words(dataset: str, conversations: Sequence[str]) -> dict[str, str]:
    """Conversation → its id with what the customer says first, cut; those of the dataset that are named."""
    frame = write.load_table(dataset, "conversations").filter(pl.col("conversation_id").is_in(list(conversations)))
    said = {
        name: next((each["text"] for each in json.loads(messages) if each["role"] == "customer" and each["text"]), "")
        for name, messages in frame.select("conversation_id", "messages").iter_rows()
    }
    return {
        name: f"{name}: {shorten(' '.join(said[name].split()), _FIRST)}" if said.get(name) else name
        for name in conversations
    }
