"""The conversations of a dataset: a list without their text, and one in full with what it is grounded in."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import UnknownName
from cxlab.read.view import View
from cxlab.read.word_search.terms import split_terms
from cxlab.read.word_search.texts import Forms, find_forms, hold_all, to_sought
from cxlab.records import Message
from cxlab.views.datasets.queries import folder
from cxlab.word_forms import Sought, Term, find_language

# Message class as stored → what it is called on pages.
CLASSES = {
    "general": "general",
    "knowledge_base": "from the knowledge base",
    "tool_information_gathering": "asks for what a tool needs",
    "tool_call": "uses a tool",
}
NOISES = {"fragments": "fragments", "speech": "misheard words", "menu": "phone menu"}
ROWS_A_PAGE = 25
_SPOKEN = ("customer", "agent", "ivr")
_SCHEMA: dict[str, Any] = {
    "conversation_id": pl.String,
    "opening": pl.String,
    "turns": pl.Int64,
    "family": pl.String,
    "issue": pl.String,
    "traits": pl.List(pl.String),
    "grounded": pl.Int64,
    "tools": pl.List(pl.String),
    "questions": pl.Int64,
    "noises": pl.List(pl.String),
}


@dataclass(frozen=True)
class FoundConversations:
    """`conversations` (ids) with a message that holds all `terms`, the `forms` of each word that are said in such, and
    all that is marked."""

    terms: tuple[Term, ...]
    forms: Forms
    conversations: frozenset[str]
    sought: Sought


@dataclass(frozen=True)
class SourcePassage:
    """One source of an agent's message: the article, and the piece of it that was used ("" where none is noted)."""

    article_id: str
    title: str
    text: str


@dataclass(frozen=True)
class ServedLine:
    """One message as it is shown with some of its noise: `index` is the message it comes from (None: the phone menu),
    `part` of `parts` its fragments, `changes` what was misheard, in the order of the text: (at, heard, said).
    """

    role: str
    text: str
    turn: int
    index: int | None = None
    part: int = 1
    parts: int = 1
    changes: tuple[tuple[int, str, str], ...] = ()


@dataclass(frozen=True)
class DatasetConversation:
    """One conversation in full: messages as they were meant, as they were served, and all that is known of it."""

    id: str
    messages: tuple[Message, ...]
    served: tuple[Message, ...]
    noise: dict[str, Any]
    customer: dict[str, Any]
    agent: dict[str, Any]
    labels: dict[str, Any]
    titles: dict[str, str]
    facts: dict[str, str]

    def passages(self, message: Message) -> list[SourcePassage]:
        """What an agent's message rests on, ranked, best first."""
        sources, texts = message.data.get("sources") or [], message.data.get("passages") or []
        texts = [*texts, *[""] * len(sources)]
        return [
            SourcePassage(each, self.titles.get(each, each), str(text))
            for each, text in zip(sources, texts, strict=False)
        ]

    def broken(self, index: int | None) -> list[str]:
        """The quality standards that a message breaks, as their questions: such words stand there on purpose."""
        asked = self.labels.get("quality") or []
        return [each["question"] for each in asked if each["answer"] == "No" and index in (each.get("evidence") or ())]


def listed(view: View) -> pl.DataFrame:
    """The conversations of `view.dataset` under its filters, in the dataset's order, without their text.

    Of the view's facets intent is a family, persona traits, modality kinds of noise; `search` is for words.
    """
    frame = _index(str(folder(view.dataset)))
    if families := view.values("intent"):
        frame = frame.filter(pl.col("family").is_in(families))
    if traits := view.values("persona"):
        frame = frame.filter(pl.col("traits").list.set_intersection(list(traits)).list.len() > 0)
    for noise in view.values("modality"):
        frame = frame.filter(pl.col("noises").list.contains(noise))
    if view.search:
        found = look_for(view.dataset, view.search)
        alike = pl.col("conversation_id").str.to_lowercase() == view.search.strip().lower()
        frame = frame.filter(pl.col("conversation_id").is_in(found.conversations) | alike)
    return frame


def look_for(dataset_id: str, text: str) -> FoundConversations:
    """The conversations with a message that holds all words of a search, in any of their forms."""
    return _look_for(str(folder(dataset_id)), text)


def ids(dataset_id: str) -> list[str]:
    """The conversations' ids in the dataset's order."""
    path = folder(dataset_id) / "conversations.parquet"
    return pl.read_parquet(path, columns=["conversation_id"])["conversation_id"].to_list() if path.is_file() else []


def facets(dataset_id: str) -> dict[str, list[str]]:
    """What the conversations can be filtered by: families and traits, commonest first, and kinds of noise."""
    frame = _index(str(folder(dataset_id)))
    families = frame["family"].drop_nulls().value_counts(sort=True)["family"].to_list()
    traits = frame["traits"].explode().drop_nulls().value_counts(sort=True)["traits"].to_list()
    present = set(frame["noises"].explode().drop_nulls())
    return {"intent": families, "persona": traits, "modality": [each for each in NOISES if each in present]}


def conversation(dataset_id: str, conversation_id: str) -> DatasetConversation:
    """One conversation in full; UnknownName where the dataset has none of that id."""
    path = folder(dataset_id)
    found = (
        pl.scan_parquet(path / "conversations.parquet").filter(pl.col("conversation_id") == conversation_id).collect()
    )
    if found.is_empty():
        raise UnknownName("conversation", conversation_id, (), "Pick one from the list.")
    row = found.row(0, named=True)
    told = {name: _loaded(row.get(name)) for name in ("persona", "labels", "messages", "noisy", "noise")}
    persona, labels = told["persona"] or {}, told["labels"] or {}
    messages = tuple(Message.model_validate(each) for each in told["messages"] or ())
    served = tuple(Message.model_validate(each) for each in told["noisy"] or ()) or messages
    agent = persona.get("agent") or {}
    wanted = {each for message in messages for each in message.data.get("sources") or ()}
    wanted.update(filter(None, [*(agent.get("articles") or ()), agent.get("issue"), labels.get("issue_article")]))
    return DatasetConversation(
        id=conversation_id,
        messages=messages,
        served=served,
        noise=told["noise"] or {},
        customer=persona.get("customer") or {},
        agent=agent,
        labels=labels,
        titles=_titles(path, wanted),
        facts=_facts(path, {each for message in messages for each in message.data.get("facts") or ()}),
    )


def served_lines(talk: DatasetConversation) -> list[ServedLine]:
    """The conversation as it is served, without a word on where noise struck."""
    return [ServedLine(each.role, each.text, each.turn) for each in talk.served]


def traits_of(customer: dict[str, Any]) -> list[str]:
    """The customer's traits as words."""
    found = [str(each) for each in customer.get("traits") or ()]
    return [*found, "casual"] if customer.get("casual") is True else found


def kinds_of(noise: dict[str, Any]) -> list[str]:
    """Which kinds of noise a conversation was given."""
    switched = {"fragments": "fragmentation", "speech": "wer", "menu": "opening"}
    return [kind for kind, name in switched.items() if noise.get(name)]


def _titles(path: Path, wanted: set[str]) -> dict[str, str]:
    if not wanted or not (path / "articles.parquet").is_file():
        return {}
    frame = pl.scan_parquet(path / "articles.parquet").select("article_id", "title")
    return dict(frame.filter(pl.col("article_id").is_in(list(wanted))).collect().iter_rows())


def _facts(path: Path, wanted: set[str]) -> dict[str, str]:
    """The facts in words: subject, property and value."""
    if not wanted or not (path / "facts.parquet").is_file():
        return {}
    frame = pl.scan_parquet(path / "facts.parquet").filter(pl.col("fact_id").is_in(list(wanted))).collect()
    shown = "shown" if "shown" in frame.columns else "value"
    rows = frame.select("fact_id", "subject", "property", shown).iter_rows()
    return {fact: f"{subject}, {name.replace('_', ' ')}: {value}" for fact, subject, name, value in rows}


@lru_cache(maxsize=3)  # a dataset never changes: its id is the hash of its content; about 10 MB at the paper's size
def _index(place: str) -> pl.DataFrame:
    path = Path(place) / "conversations.parquet"
    if not path.is_file():
        return pl.DataFrame(schema=_SCHEMA)
    frame = pl.read_parquet(path, columns=["conversation_id", "persona", "labels", "messages", "noise"])
    return pl.DataFrame([_summary(row) for row in frame.iter_rows(named=True)], schema=_SCHEMA)


@lru_cache(maxsize=3)
def _messages(place: str) -> tuple[pl.DataFrame, str]:
    """What is said in the conversations, a row a message (conversation_id, text), and in which language."""
    path = Path(place) / "conversations.parquet"
    frame = pl.read_parquet(path, columns=["conversation_id", "messages"]) if path.is_file() else pl.DataFrame()
    said = [(name, each["text"]) for name, told in frame.iter_rows() for each in _spoken(_loaded(told) or [])]
    rows = pl.DataFrame(said, schema={"conversation_id": pl.String, "text": pl.String}, orient="row")
    return rows, find_language(rows["text"])


@lru_cache(maxsize=32)
def _look_for(place: str, text: str) -> FoundConversations:
    rows, language = _messages(place)
    terms = split_terms(text) or (Term(text, exact=True),)
    forms = find_forms(rows["text"], terms, language)
    held = rows.filter(hold_all(rows["text"], terms, forms))
    return FoundConversations(terms, forms, frozenset(held["conversation_id"]), to_sought(terms, forms))


def _spoken(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in messages if each["role"] in _SPOKEN and each["text"]]


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    persona, labels = _loaded(row["persona"]) or {}, _loaded(row["labels"]) or {}
    messages = _loaded(row["messages"]) or []
    spoken = _spoken(messages)
    kinds = Counter((each.get("data") or {}).get("class") for each in messages)
    first = next((each["text"] for each in spoken if each["role"] == "customer"), "")
    return {
        "conversation_id": row["conversation_id"],
        "opening": str((persona.get("customer") or {}).get("problem") or first)[:160],
        "turns": len(spoken),
        # By its title, where the dataset has one: the id is for machines.
        "family": labels.get("about") or labels.get("family"),
        "issue": labels.get("issue"),
        "traits": traits_of(persona.get("customer") or {}),
        "grounded": kinds["knowledge_base"],
        "tools": list(dict.fromkeys(call["name"] for each in messages for call in each.get("tool_calls") or ())),
        "questions": len(labels.get("quality") or ()),
        "noises": kinds_of(_loaded(row["noise"]) or {}),
    }


def _loaded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value else value
