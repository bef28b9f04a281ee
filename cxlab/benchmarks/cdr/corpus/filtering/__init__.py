"""What of other people's conversations is kept, in the paper's order; what is rejected keeps its reason."""

from cxlab.benchmarks.cdr.corpus.filtering.pipeline import (
    STEPS,
    FilterOptions,
    FilterResult,
    Rejection,
    filter_corpus,
    filter_in_steps,
)

__all__ = ["STEPS", "FilterOptions", "FilterResult", "Rejection", "filter_corpus", "filter_in_steps"]
