"""What is suspected of a knowledge base, with what runs and people said of it, and how each is told."""

from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cxmarena.evaluation.knowledge_health import Kind, Suspicion, examine, find_conversations
from cxlab.charts.numbers import format_share
from cxlab.read import annotations
from cxlab.ui.address import cached
from cxlab.ui.annotations import STATES, State
from cxlab.ui.labels import label
from cxlab.views.benchmarks import declared
from cxlab.views.knowledge import queries, queries_health, queries_pairs
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace

KINDS: dict[Kind, tuple[str, str]] = {
    "contradiction": ("Contradictions", "Two articles that seem to say different things of the same thing."),
    "repetition": ("Repetitions", "Two articles that say nearly the same."),
    "unanswered": ("Gaps", "A question that no article of the collection seems to answer."),
    "unreached": ("Unreached", "An article that is right for no question, nor among the first five that one finds."),
}
ONE: dict[Kind, str] = {
    "contradiction": "contradiction", "repetition": "repetition", "unanswered": "gap", "unreached": "unreached article",
}  # fmt: skip
STATE_NAMES = {"": "Open", "resolved": "Resolved", "dismissed": "Dismissed", "all": "All"}


@dataclass(frozen=True)
class ReviewedSuspicion:
    """A suspicion with what runs and people said of it, and the conversations that it touched."""

    suspicion: Suspicion
    models: tuple[str, ...]
    conversations: tuple[str, ...]
    decision: dict[str, Any] | None

    @property
    def state(self) -> State:
        """What became of it; open until somebody decides."""
        return next((each for each in STATES if self.decision and each == self.decision["state"]), "open")


def find(dataset: str) -> list[ReviewedSuspicion]:
    """All findings of a dataset, whatever became of them; pairs that only runs named come last."""
    health, talks = examine(dataset), find_conversations(dataset)
    constant = set(declared(queries.BENCHMARK).floor_models)
    named = {key: tuple(m for m in by if m not in constant) for key, by in queries_health.named_by(dataset).items()}
    decided = {row["key"]: row for row in annotations.findings(dataset).iter_rows(named=True)}
    known = {each.key for each in health.suspicions}
    others = [_read_key(key) for key, models in named.items() if models and key not in known]
    twins = _twins(dataset)
    made = []
    for each in (*health.suspicions, *others):
        held = [twin for id in each.articles for twin in twins.get((each.corpus, id), (id,))]
        touched = [each.conversation, *(talk for id in held for talk in talks.get(id, ()))]
        conversations = tuple(dict.fromkeys(filter(None, touched)))
        made.append(ReviewedSuspicion(each, named.get(each.key, ()), conversations, decided.get(each.key)))
    return made


def _read_key(key: str) -> Suspicion:
    kind, corpus, ids = key.split(":", 2)
    first, _, second = ids.partition("+")
    return Suspicion("contradiction" if kind == "contradiction" else "repetition", corpus, (first, second))


def _twins(dataset: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """(collection, article) → the ids under which articles of its title stand: the refinement corpus numbers anew."""
    titles = {
        (corpus, id): title
        for corpus in cached(queries.corpora, dataset)["corpus"].to_list()
        for id, title in queries.all_titles(dataset, corpus).items()
    }
    alike: dict[str, dict[str, None]] = {}
    for (_, id), title in titles.items():
        alike.setdefault(title, {})[id] = None
    return {at: tuple(alike[title]) for at, title in titles.items()}


def is_in_state(place: KnowledgePlace, each: ReviewedSuspicion) -> bool:
    wanted = place.status if place.status in STATE_NAMES else ""
    return wanted == "all" or each.state == (wanted or "open")


def is_listed(place: KnowledgePlace, each: ReviewedSuspicion) -> bool:
    return is_in_state(place, each) and (place.suspected not in KINDS or each.suspicion.kind == place.suspected)


def titles_of(dataset: str, listed: list[ReviewedSuspicion]) -> dict[tuple[str, str], str]:
    corpora = {each.suspicion.corpus for each in listed}
    return {
        (corpus, id): title for corpus in corpora for id, title in cached(queries.all_titles, dataset, corpus).items()
    }


def to_row(each: ReviewedSuspicion, titles: dict[tuple[str, str], str]) -> dict[str, Any]:
    one = each.suspicion
    what = " ↔ ".join(titles.get((one.corpus, id), id) for id in one.articles) or f"“{one.question}”"
    by = [*(["the dataset's own key"] if one.known else []), *(label(model) for model in each.models)]
    return {
        "id": one.key,
        "kind": ONE[one.kind],
        "what": what,
        "why": say_why(one),
        "talks": len(each.conversations),
        "by": ", ".join(by),
        "state": each.state,
        "collection": CORPORA.get(one.corpus, one.corpus),
    }


def say_why(one: Suspicion) -> str:
    if one.passages:
        mine, theirs = cut_to_difference(*one.passages[0])
        return f"“{mine}” – “{theirs}”"
    if one.kind == "repetition" and one.sure is not None:
        return f"{format_share(one.sure)} in common"
    if one.kind == "unanswered":
        missing = "" if one.sure is None else f"; the nearest lacks {format_share(one.sure)} of its telling words"
        return ("Its right article is not in the collection" if one.known else "No article seems to hold it") + missing
    if one.kind == "unreached":
        return "No question of this dataset leads to it"
    return "Its texts alone do not show it"


def cut_to_difference(one: str, other: str, before: int = 3, letters: int = 48) -> tuple[str, str]:
    """Two passages from a few words before the figure in which they differ, or else before the first such word, each at
    most so many letters long and with dots where it was cut: a cell of a table holds no more. The finding itself shows
    them whole."""
    first, second = one.split(), other.split()
    pairs = zip(first, second, strict=False)
    at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
    figures = [_find_figure(first, second), _find_figure(second, first)]
    told = []
    for words, figure in zip((first, second), figures, strict=True):
        start = max((at if None in figures or figure is None else figure) - before, 0)
        text = " ".join(words[start:])
        cut = f"{(text[:letters].rpartition(' ')[0] or text[:letters])} …" if len(text) > letters else text
        told.append(f"… {cut}" if start and cut else cut)
    return told[0], told[1]


def _find_figure(words: list[str], other: list[str]) -> int | None:
    """The place of the first word with a digit that the other passage lacks."""
    return next((n for n, word in enumerate(words) if word not in other and any(map(str.isdigit, word))), None)


def find_passages(dataset: str, one: Suspicion) -> list[tuple[str, str]]:
    """What shows a pair that the texts alone did not: what its maker noted, or the sentences that both have."""
    if len(one.articles) != 2:
        return []
    first, second = one.articles
    kind = "contradictory" if one.kind == "contradiction" else "similar"
    noted = queries_pairs.passages(dataset, one.corpus, kind, first, second)
    if noted or one.kind == "contradiction":
        return noted
    return queries_pairs.shared(*(queries.article(dataset, one.corpus, id)["clean"] for id in one.articles))
