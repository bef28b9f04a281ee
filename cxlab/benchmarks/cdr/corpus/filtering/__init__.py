"""What of other people's conversations is kept, in the paper's order; what is rejected keeps its reason."""

from cxlab.benchmarks.cdr.corpus.filtering.pipeline import STEPS, Filtered, FilterOptions, Rejected, filter_corpus

__all__ = ["STEPS", "FilterOptions", "Filtered", "Rejected", "filter_corpus"]
