"""Which conversations answer which query: candidates, annotators, a classifier trained on their labels, a panel."""

from cxlab.benchmarks.cdr.relevance.classifier import PairClassifier, PairFeatures, PairLabel, TrainingReport
from cxlab.benchmarks.cdr.relevance.labelling import PUBLISHED, LabellingResult, label

__all__ = ["PUBLISHED", "LabellingResult", "PairClassifier", "PairFeatures", "PairLabel", "TrainingReport", "label"]
