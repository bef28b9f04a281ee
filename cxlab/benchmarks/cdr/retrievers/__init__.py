"""Retrievers fitted to a stored corpus, and what they find in it."""

from cxlab.benchmarks.cdr.retrievers.fitted import FittedIndex, open_index
from cxlab.benchmarks.cdr.retrievers.search import Hit, search
from cxlab.retrieval.conversation import read_question

__all__ = ["FittedIndex", "Hit", "open_index", "read_question", "search"]
