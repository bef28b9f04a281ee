"""Conversations to search: the corpus written by hand."""

from cxlab.benchmarks.cdr.corpus.written import AREAS, DOMAINS, Query, WrittenCorpus, load_written

__all__ = ["AREAS", "DOMAINS", "Query", "WrittenCorpus", "load_written"]
