"""CDR: conversational data retrieval, finding conversations by what happens in them."""

from cxlab.benchmarks.cdr.evaluation import Result, evaluate

__all__ = ["Result", "evaluate"]
