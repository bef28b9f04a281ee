"""How a stand-in reads texts: which issue a case is about, which article answers a question or was broken. Its
lexicon is its own, and small: data/simulated/crmarena/signs.yaml."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation.tables import text_of
from cxlab.benchmarks.crmarena.simulated import answering
from cxlab.files import load_model

_WORD = re.compile(r"[a-z0-9$%']+")
_STOP = frozenset(
    _WORD.findall(
        """
    a an the of to in on for and or is are was be been do does did i my me you your we our it its this that how what
    when which who can could may will would should with from by at as if after before there their they have has had not
    no long many much until up any all one out per get give given about into than then so us them
        """
    )
)
_EMPTY = frozenset({"agent", "customer", "company", "article", "briefly", "answer", "words", "nothing", "should"})
_NO_NAME = frozenset({"show", "order", "today", "pair"})
_FEW = r"\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|last"
_AGO = rf"(?:{_FEW}) (?:day|week|month|quarter)"
_PRODUCTS = (
    r"^Subject:.*\(([^()]+)\)",
    rf"\b(?:ordered|bought|purchased|got) (?:the |some |a pair of |an? )?([a-z][a-z' -]{{2,40}}?) (?:just )?{_AGO}",
    r"\b(?:the|my|those|these) ([a-z][a-z' -]{2,60}?) (?:that |which )?(?:I|we|from my|of my)\b",
    r"\b(?:about|for|of|with) the ([A-Z][\w' -]{2,60}?)[.,?]",
)


class Sign(BaseModel):
    """An expression that is looked for in a text, and words of the name of what it is a sign of."""

    said: str
    name: str


class SignLexicon(BaseModel):
    """The lexicon: signs of issues, signs of broken rules, and words that the articles of a shop are about."""

    issues: tuple[Sign, ...]
    breaches: tuple[Sign, ...]
    topics: tuple[str, ...]


@functools.cache
def load_signs() -> SignLexicon:
    """The lexicon of data/simulated/crmarena/signs.yaml."""
    return load_model(resources.data("simulated", "crmarena", "signs.yaml"), SignLexicon, "see the head of the file")


def words(text: str) -> list[str]:
    """The words of a text that say something, plurals without their s."""
    found = _WORD.findall(text.lower())
    return [word.removesuffix("'s").rstrip("s") if len(word) > 3 else word for word in found if word not in _STOP]


def overlap(one: str, other: str) -> float:
    """How many of the words of the first are in the second, weighed by their length."""
    mine, theirs = Counter(words(one)), set(words(other))
    return sum(len(word) * min(count, 2) for word, count in mine.items() if word in theirs)


def pick_issue(text: str, issues: Sequence[Mapping[str, Any]]) -> str | None:
    """The id of the issue that a case tells of."""
    for sign in load_signs().issues:
        if re.search(sign.said, text, re.I):
            for issue in issues:
                if re.search(sign.name, str(issue.get("Name")), re.I):
                    return str(issue["Id"])
    best = max(issues, key=lambda issue: overlap(str(issue.get("Name")), text), default=None)
    return str(best["Id"]) if best is not None else None


def rank_articles(text: str, articles: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Articles, those first that a text has most to do with: rare words count most, in a title twice."""
    titles = [set(answering.roots(str(article.get("Title")))) for article in articles]
    bodies = [text_of(article) for article in articles]
    weights = answering.weigh(
        [f"{article.get('Title')} {body}" for article, body in zip(articles, bodies, strict=True)]
    )
    said = set(answering.roots(text))
    worth = {
        place: sum(weights[name] * (1 + (name in title)) for name in said & (title | set(answering.roots(body))))
        for place, (title, body) in enumerate(zip(titles, bodies, strict=True))
    }
    return [articles[place] for place in sorted(worth, key=lambda place: -worth[place])]


def find_answer(question: str, article: Mapping[str, Any]) -> str:
    """The piece of an article that answers a question."""
    return answering.find_answer(question, str(article.get("Title")), text_of(article))


def find_breach(
    talk: str, articles: Sequence[Mapping[str, Any]], knows: Callable[[], bool] = lambda: True
) -> str | None:
    """The id of the article whose rule an agent broke in a chat or e-mail, None where nothing sounds like it.

    `knows()` says whether a sign is known to who reads.
    """
    for sign in load_signs().breaches:
        if re.search(sign.said, talk, re.I | re.S) and knows():
            found = [each for each in articles if re.search(sign.name, str(each.get("Title")), re.I)]
            if found:
                return str(rank_articles(talk, found)[0]["Id"])
    return None


def search_terms(question: str, most: int = 3) -> list[str]:
    """The words to look for: those that articles are about first, then the longest."""
    found = list(dict.fromkeys(word for word in _WORD.findall(question.lower()) if word not in _STOP and len(word) > 3))
    known = [word for word in found if any(word.startswith(topic) for topic in load_signs().topics)]
    return [*known, *sorted(set(found) - set(known) - _EMPTY, key=lambda word: (-len(word), word))][:most]


def product_words(text: str) -> list[str]:
    """What a customer calls a product: in brackets behind a subject, behind what they did, or before where from."""
    for pattern in _PRODUCTS:
        if found := re.search(pattern, text, re.I | re.M):
            return [word for word in _WORD.findall(found[1].lower()) if word not in _STOP | _NO_NAME]
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP | _NO_NAME][:3]
