"""A brand written by hand, as its files in data/cxmarena/NAME/ say it.

    brand = load("aldersea", "en")      # WrittenBrand; BadFile with file and line when a file cannot be read
    names(), languages("aldersea")      # what is at hand

Articles, LANGUAGE/articles/*.md: "# slug · Title", then "key: value" lines, a blank line, the text. Conversations,
LANGUAGE/conversations/*.md: "## C_01 · chat · intent · solved", "key: value" lines, a blank line, then one line a
message: "C:" the customer ("C?:" where an article answers it), "A:" the agent, "> tool: name=value; name=value" and
"< name=value; ..." a call and its result. Words after "#" at the end of a line are the standards that it shows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxlab import files, resources
from cxlab.benchmarks.cxmarena.written.marked_text import MarkedText, read_marks
from cxlab.errors import BadFile, UnknownName

FOLDER = resources.data("cxmarena")
LANGUAGES = ("en", "de", "fr")
CHANNELS = {"chat": "text", "call": "voice"}
OUTCOMES = ("solved", "unsolved")
_HEAD = re.compile(r"(#{1,2}) (\S+) · (.+)")
_KEY = re.compile(r"([a-z][a-z ]*): (.+)")
_TAGS = re.compile(r"((?: #[a-z]+)+)$")


@dataclass(frozen=True)
class WrittenFact:
    """A fact of the ledger; `forms` are the ways to say it, the first of them its value."""

    id: str
    subject: str
    property: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class WrittenArticle:
    """An article: its head's keys, and its text with marks."""

    slug: str
    title: str
    head: Mapping[str, str]
    body: MarkedText
    source: Path
    line: int

    @property
    def issue(self) -> bool:
        return self.head.get("kind") == "issue"

    def listed(self, key: str) -> list[str]:
        """A key's values, which commas part."""
        return split_list(self.head.get(key, ""))


@dataclass
class WrittenMessage:
    """One line of a conversation with the calls made in it; `tags` are the standards it shows."""

    role: str
    said: MarkedText
    line: int
    asks: bool = False
    tags: tuple[str, ...] = ()
    calls: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)


@dataclass(frozen=True)
class WrittenConversation:
    """A conversation with the labels in its head."""

    id: str
    channel: str
    intent: str
    outcome: str
    head: Mapping[str, str]
    messages: tuple[WrittenMessage, ...]
    source: Path
    line: int


@dataclass(frozen=True)
class WrittenBrand:
    """All that was written about a company in one language; `refinement` are articles that repeat or contradict."""

    id: str
    language: str
    folder: Path
    name: str
    about: str
    domain: str
    subjects: Mapping[str, str]
    facts: Mapping[str, WrittenFact]
    topics: Mapping[str, str]
    intents: Mapping[str, Mapping[str, tuple[str, str]]]
    quality: Mapping[str, str]
    tools: Mapping[str, Mapping[str, Any]]
    articles: tuple[WrittenArticle, ...]
    refinement: tuple[WrittenArticle, ...]
    conversations: tuple[WrittenConversation, ...]
    queries: tuple[Mapping[str, Any], ...]

    @property
    def causes(self) -> dict[str, tuple[str, str, str]]:
        """Intent → (area, label, definition)."""
        return {key: (area, *told) for area, own in self.intents.items() for key, told in own.items()}


def names() -> list[str]:
    """The brands at hand that were written by hand."""
    return sorted(path.parent.name for path in FOLDER.glob("*/company.yaml"))


def languages(name: str) -> list[str]:
    """The languages in which a brand was written, its own first."""
    return [one for one in LANGUAGES if (FOLDER / name / one / "articles").is_dir()]


def load(name: str, language: str = "en") -> WrittenBrand:
    """The brand's part in a language; UnknownName, or BadFile when a file cannot be read."""
    if name not in names():
        raise UnknownName("brand written by hand", name, names())
    if language not in languages(name):
        raise UnknownName(f"language of {name}", language, languages(name))
    folder = FOLDER / name
    stamp = tuple(sorted((str(p), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()))
    return _load(folder, language, stamp)


@functools.lru_cache(maxsize=4)
def _load(folder: Path, language: str, stamp: object) -> WrittenBrand:
    del stamp
    own = folder / language
    company, words = files.read_yaml(folder / "company.yaml"), files.read_yaml(own / "words.yaml")
    ledger = files.read_yaml(folder / "ledger.yaml")
    facts = {
        f"{subject}.{name}": WrittenFact(
            f"{subject}.{name}", subject, name, tuple(map(str, told if isinstance(told, list) else [told]))
        )
        for subject, properties in ledger.items()
        for name, told in properties.items()
        if name != "title"
    }
    again = own / "refinement.md"
    return WrittenBrand(
        id=folder.name,
        language=language,
        folder=folder,
        name=str(company["name"]),
        about=str(words.get("about") or company["about"]).strip(),
        domain=str(company["domain"]),
        subjects={subject: str(properties["title"]) for subject, properties in ledger.items()},
        facts=facts,
        topics={str(name): str(told) for name, told in words["topics"].items()},
        intents={
            str(area): {key: (str(told[0]), str(told[1])) for key, told in causes.items()}
            for area, causes in words["intents"].items()
        },
        quality={str(key): str(question) for key, question in words["quality"].items()},
        tools=files.read_yaml(folder / "tools.yaml"),
        articles=tuple(one for path in _in_order(own / "articles") for one in read_articles(path)),
        refinement=tuple(read_articles(again)) if again.is_file() else (),
        conversations=tuple(one for path in _in_order(own / "conversations") for one in read_conversations(path)),
        queries=tuple(files.read_yaml(own / "queries.yaml") or ()),
    )


def _in_order(folder: Path) -> list[Path]:
    """The files of a folder by the number at the head of their names."""
    return sorted(folder.glob("*.md"), key=lambda path: (int("".join(re.findall(r"^\d+", path.name)) or 0), path.name))


def read_articles(path: Path) -> Iterator[WrittenArticle]:
    """The articles of a file."""
    for head, line, keys, lines in _parts(path, "#"):
        body = read_marks("\n".join(text for _, text in lines).strip())
        yield WrittenArticle(head[0], head[1].strip(), keys, body, path, line)


def read_conversations(path: Path) -> Iterator[WrittenConversation]:
    """The conversations of a file."""
    for head, line, keys, lines in _parts(path, "##"):
        told = [part.strip() for part in head[1].split("·")]
        if len(told) != 3 or told[0] not in CHANNELS or told[2] not in OUTCOMES:
            raise BadFile(path, line, "no head of a conversation", "write ## C_01 · chat · intent · solved")
        messages = tuple(_messages(path, lines))
        yield WrittenConversation(head[0], told[0], told[1], told[2], keys, messages, path, line)


def _messages(path: Path, lines: list[tuple[int, str]]) -> Iterator[WrittenMessage]:
    open_: WrittenMessage | None = None
    for number, text in lines:
        sign, _, rest = text.partition(" ")
        if not text.strip():
            continue
        if sign in ("C:", "C?:", "A:"):
            if open_ is not None:
                yield open_
            found = _TAGS.search(rest)
            said, tags = (rest[: found.start()], found[1]) if found else (rest, "")
            open_ = WrittenMessage(
                "agent" if sign == "A:" else "customer",
                read_marks(said.strip()),
                number,
                asks=sign == "C?:",
                tags=tuple(tag.strip() for tag in tags.split("#") if tag.strip()),
            )
        elif sign == ">" and open_ is not None:
            name, _, arguments = rest.partition(":")
            if open_.role != "agent":
                yield open_
                open_ = WrittenMessage("agent", read_marks(""), number)
            open_.calls.append((name.strip(), _pairs(path, number, arguments), {}))
        elif sign == "<" and open_ is not None and open_.calls and not open_.calls[-1][2]:
            open_.calls[-1][2].update(_pairs(path, number, rest))
        else:
            raise BadFile(path, number, f"no message: {text[:60]!r}", "begin a line with C:, C?:, A:, > or <")
    if open_ is not None:
        yield open_


def _pairs(path: Path, line: int, text: str) -> dict[str, str]:
    """ "a=b; c=d" as a mapping."""
    found: dict[str, str] = {}
    for part in text.split(";"):
        name, sign, value = part.strip().partition("=")
        if part.strip() and not (sign and name.strip() and value.strip()):
            raise BadFile(path, line, f"no name and value: {part.strip()!r}", "write name=value; name=value")
        if part.strip():
            found[name.strip()] = value.strip()
    return found


def _parts(path: Path, sign: str) -> Iterator[tuple[tuple[str, str], int, dict[str, str], list[tuple[int, str]]]]:
    """((id, rest of the head), line, keys, numbered lines of the text) of each part that begins with `sign`."""
    current: tuple[tuple[str, str], int, dict[str, str], list[tuple[int, str]]] | None = None
    in_head = False
    for number, line in enumerate(files.read_text(path).splitlines(), 1):
        head = _HEAD.fullmatch(line)
        if head and head[1] == sign:
            if current is not None:
                yield current
            current, in_head = ((head[2], head[3]), number, {}, []), True
        elif current is None:
            if line.strip() and not line.startswith("<!--"):
                raise BadFile(path, number, "text before the first head", f"begin with {sign} id · title")
        elif in_head and (found := _KEY.fullmatch(line)):
            current[2][found[1]] = found[2].strip()
        else:
            in_head = False
            current[3].append((number, line.rstrip()))
    if current is not None:
        yield current


def split_list(text: str) -> list[str]:
    """Values that commas part."""
    return [one.strip() for one in text.split(",") if one.strip()]


__all__ = [
    "WrittenArticle",
    "WrittenBrand",
    "WrittenConversation",
    "WrittenFact",
    "WrittenMessage",
    "languages",
    "load",
]
