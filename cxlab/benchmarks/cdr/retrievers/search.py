"""A question asked of the conversations of any dataset."""

from typing import NamedTuple

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.benchmarks.cdr.units import GRANULARITIES, Granularity, Unit
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Conversation


class Hit(NamedTuple):
    """A conversation with the unit by which it was found; `unit.first` and `unit.last` are places of messages."""

    conversation: Conversation
    score: float
    unit: Unit


def search(
    dataset_id: str, question: str, granularity: Granularity = "turn", retriever: str = "bm25", k: int = 20
) -> list[Hit]:
    """The best k conversations of a stored dataset, best first; none where nothing speaks for any.

    The index is fitted by the first question and kept for the next ones. UnknownName for a dataset without
    conversations, a granularity or a retriever that is not there.
    """
    if granularity not in GRANULARITIES:
        raise UnknownName("granularity", granularity, GRANULARITIES)
    if k < 1:
        raise BadOption(f"k = {k}; give a whole number of at least 1")
    if not question.strip():
        return []
    ranking = open_index(dataset_id, retriever, granularity).index.rank(question, k)
    corpus = load_corpus(dataset_id)
    return [] if ranking.alike else [Hit(corpus[each.id], each.score, each.unit) for each in ranking.found]
