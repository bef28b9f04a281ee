"""Retrievers fitted to a stored corpus, and what they find in it."""

from cxlab.benchmarks.cdr.retrievers.fitted import FittedIndex, open_index
from cxlab.benchmarks.cdr.retrievers.search import Hit, search

__all__ = ["FittedIndex", "Hit", "open_index", "search"]
