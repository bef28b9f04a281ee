"""What the page Conversations shows, as one value that fits into an address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from cxlab.benchmarks.cdr.units import GRANULARITIES, Granularity
from cxlab.ui.place import LONGEST, PagePlace

INDEX = "chroma:"
RETRIEVERS = (
    *("hybrid:conversation", "conversation", "bm25", "lexical", "hashing", "minilm", "hybrid:hashing", "hybrid:minilm"),
    *(f"{INDEX}hashing", f"{INDEX}minilm"),
)
"""Those that answer without a server; the first is meant unless an address says otherwise. Those of INDEX ask a kept
index of an embedder's vectors, which is approximate; the others search exactly."""
_NAMES = {
    "bm25": "BM25", "lexical": "TF-IDF", "hashing": "hashed words", "minilm": "MiniLM", "conversation": "conversation",
}  # fmt: skip
SIZES = (10, 20, 50, 100, 200, 500)
"""How many of the best conversations are looked at, from narrow to broad."""
USUAL = 0
"""Stands for the best quarter, as of a few conversations fifty would be all."""
_FEWEST, _MOST = 10, 50


@dataclass(frozen=True)
class SearchPlace(PagePlace):
    """A question and what it is asked of.

    `view` holds the dataset, the question (`search`), the tab and the page. `like`: a conversation and the place of the
    message that others are to be like, as "3~ID". `only`: "label=value" that a conversation must have, any of those of
    one label. `since` (included) and `until` (not included): days. `run`: whose answers are read. `source`: "runs"
    where dialogues of runs are searched by their words, in messages `said` by one side.
    """

    page = "conversations"
    prefix = "search"

    granularity: Granularity = "session"
    retriever: str = RETRIEVERS[0]
    size: int = USUAL
    like: str = ""
    only: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    run: str = ""
    source: str = ""
    said: str = ""

    def limit(self, among: int) -> int:
        """How many of that many conversations are the best."""
        return self.size or min(_MOST, max(_FEWEST, among // 4))

    @property
    def question(self) -> str:
        """What is asked; "" where others like a conversation are."""
        return "" if self.like else self.view.search.strip()

    @property
    def model(self) -> tuple[int, str] | None:
        """Place of the message and id of the conversation that others are to be like."""
        place, _, name = self.like.partition("~")
        return (int(place), name) if name else None

    @property
    def index(self) -> str:
        """The embedder of the index that is asked; "" for exact search."""
        return self.retriever.removeprefix(INDEX) if self.retriever.startswith(INDEX) else ""

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Label → values of which a conversation must have one."""
        found: dict[str, tuple[str, ...]] = {}
        for each in self.only:
            name, _, value = each.partition("=")
            found[name] = (*found.get(name, ()), value)
        return found

    def ask(self, question: str) -> SearchPlace:
        """The same conversations with another question, on the tab of the results."""
        return self.change(search=question.strip()[:LONGEST], like="", tab="")

    @classmethod
    def settle(cls, place: SearchPlace) -> SearchPlace:
        """The place without what cannot be meant."""
        number, _, name = place.like.partition("~")
        return replace(
            place,
            granularity=next((each for each in GRANULARITIES if each == place.granularity), "session"),
            retriever=place.retriever if place.retriever in RETRIEVERS else RETRIEVERS[0],
            # An address holds text.
            size=next((each for each in SIZES if str(each) == str(place.size)), USUAL),
            like=place.like if name and number.isascii() and number.isdigit() and len(number) < 7 else "",
            only=tuple(dict.fromkeys(each for each in place.only if "=" in each)),
            since=read_day(place.since),
            until=read_day(place.until),
        )


def name_size(size: int) -> str:
    """The usual one by what it comes to."""
    return f"the {size} best" if size else "the best quarter, 50 at most"


def read_day(text: str) -> str:
    """The day as it is written there; "" where it is none."""
    try:
        return date.fromisoformat(text).isoformat() if len(text) == 10 else ""
    except ValueError:
        return ""


def name_retriever(name: str) -> str:
    """What a retriever is called: "BM25 + MiniLM" for "hybrid:minilm", "MiniLM, Chroma index" for one of INDEX; the
    name itself of one that is not known here, such as a server's model."""
    if name.startswith(INDEX):
        return f"{name_retriever(name.removeprefix(INDEX))}, Chroma index"
    if is_joined(name) and (part := name.partition(":")[2]):
        return f"{_NAMES['bm25']} + {_NAMES.get(part, part)}"
    return _NAMES.get(name, name)


def is_joined(name: str) -> bool:
    """Whether a retriever joins others by their ranks, so that the number it ranks by is no score of anything."""
    return name.partition(":")[0] == "hybrid"
