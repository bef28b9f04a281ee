"""What metrics are called on pages and in reports: as their benchmark declares, else their id in words."""

from collections.abc import Callable, Iterable, Mapping

_WRITTEN = {"f1": "F1", "kb": "KB", "mrr": "MRR", "ndcg": "nDCG", "rag": "RAG"}
_sources: list[Callable[[], Iterable[Mapping[str, str]]]] = []


def add_source(source: Callable[[], Iterable[Mapping[str, str]]]) -> None:
    """Who knows metric → what it is called: asked each time, as benchmarks can be added."""
    _sources.append(source)


def name_metric(metric: str) -> str:
    """A metric within a sentence: "decidable score", "nDCG@10", "turn efficiency"."""
    for source in _sources:
        for titles in source():
            if metric in titles:
                return titles[metric]
    return spell_metric(metric)


def head_metric(metric: str) -> str:
    """A metric at the head of a column or axis, or at a sentence's start: "Decidable score", "nDCG@10"."""
    return begin_metric(name_metric(metric))


def begin_metric(words: str) -> str:
    """What a metric is called, at a sentence's start: "decidable score" → "Decidable score", "nDCG@10" as it is."""
    first = words.partition(" ")[0]
    return words if first != first.lower() else words[:1].upper() + words[1:]


def spell_metric(metric: str) -> str:
    """A metric's id in words: "turn_efficiency" → "turn efficiency", "ndcg@10" → "nDCG@10"."""
    parts = ((word.partition("@")) for word in metric.split("_"))
    return " ".join(_WRITTEN.get(word, word) + at + depth for word, at, depth in parts)


def within_sentence(title: str) -> str:
    """A title as it stands within a sentence: "Turn efficiency" → "turn efficiency", "ASR-robust …" as it is."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
