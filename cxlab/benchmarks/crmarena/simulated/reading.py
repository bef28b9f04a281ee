"""How a stand-in reads texts: which issue a case is about, which article answers a question or was broken, which
sentence of it is the answer. Its lexicon is its own, and small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
_LATE = (
    r"late|delay|tracking|transit|(?:has not|hasn't|nothing has) (?:come|arrived)|still waiting|where is my|"
    r"promised (?:day|date)|nothing has come|day .{0,20}(?:passed|over)"
)
_FAULTY = r"sole|seam|stitch|eyelet|broke|torn|tore|peel|crack|defect|faulty|fell apart|coming away|stopped working"
_OTHER = r"wrong (?:item|pair|colou?r|model|product|shoes?)|instead of|not what I ordered|sent me"
# Words in which customers tell of a problem → words that its name may have.
_ISSUES: tuple[tuple[str, str], ...] = (
    (r"order changed|change (?:my|the) (?:order|address)|cancel|old (?:address|apartment)", "cancel|order change"),
    (r"sold out|out of stock|in stock|back in|restock|will there be more", "stock|availab"),
    (_OTHER, "wrong item|incorrect item"),
    (r"warranty|guarantee|covered", "warranty"),
    (_FAULTY, "defect"),
    (r"too (?:small|big|large|tight|loose|narrow|wide|short|long)|\bfit|size|toes|heel slips|pinch", "size"),
    (_LATE, "deliver|shipping"),
    (r"charged|charge|card|payment|billed|paid twice|instal", "payment|billing"),
    (r"points|voucher|club|loyalty|reward|member", "club|loyalty"),
    (r"return|refund|money back|send (?:it|them) back", "return|refund"),
)
_LONG_AGO = r"(?:two|three|four|five|six|seven|eight|nine|ten|over|more than)[^.]{0,20}(?:weeks|months)"
_KIN = r"(?:husband|wife|brother|sister|son|daughter|friend|other|another|different|new)"
_TAKES_BACK = r"(?:take (?:them|it) back|register it|return label|label anyway|get the label|label is attached)"
_AGAIN = r"back in stock|back on the|be back|on the site again|in again"
# What is said where a rule is broken → words of the title of the article that has the rule. The first that fits.
_BREACHES: tuple[tuple[str, str], ...] = (
    (rf"final sale.{{0,400}}{_TAKES_BACK}", "final sale"),
    (r"another free exchange|second (?:free )?exchange|one more (?:free )?exchange", "exchang"),
    (rf"refund.{{0,300}}\b(?:to|on) (?:your |the )?{_KIN}(?:'s)? (?:card|account)", "refund"),
    (rf"{_KIN}.{{0,30}}card.{{0,40}}refund", "refund"),
    (r"(?:send|give|tell|type|write) me (?:the |your )?(?:full )?(?:card number|security code)|three digits", "card"),
    (r"\$(?:[3-9]\d|\d{3})\b.{0,40}goodwill|goodwill credit of \$(?:[3-9]\d|\d{3})", "goodwill"),
    (r"both (?:codes|discounts|vouchers)|second (?:code|discount|voucher)|voucher off as well", "one discount|combin"),
    (rf"(?:promise|count on it|for sure).{{0,200}}(?:{_AGAIN})", "sold out"),
    (rf"(?:{_AGAIN}).{{0,80}}(?:count on it|for sure|in ten days)", "sold out"),
    (r"gift card.{0,300}(?:to your (?:bank|card)|in cash|paid out|paying it out)", "gift"),
    (
        r"(?:over|more than) (?:a|one|two|three) years?.{0,500}(?:free of charge|make it count|new pair)",
        "warranty cover",
    ),
    (r"\A(?!.*photo).*(?:approved a replacement|warranty applies|all i need)", "warranty claim"),
    (r"yesterday.{0,400}(?:cancelling|cancelled|have stopped) (?:it|the order|your order)", "cancel"),
    (r"older than our.{0,60}added|added (?:them|the points|your points) (?:all the same|anyway)", "points"),
    (r"(?:not|n't) moved for (?:a|one|two|three|four|five|six) days?.{0,600}(?:refunded|new pair)", "lost"),
    (rf"{_LONG_AGO}.{{0,600}}difference.{{0,60}}credited", "price"),
    (rf"{_LONG_AGO}.{{0,600}}{_TAKES_BACK}", "can be returned|return window"),
    (r"\A(?!.*801).*(?:now goes to|address is changed|changed the address)", "who is asking|identity|check before"),
)
_ASKS_FIGURE = re.compile(
    r"\bhow (?:long|many|much|often|soon|old)\b|\bwhen\b|\bvalue\b|\bcost|\bprice|\bpercent", re.I
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_FIGURE = re.compile(rf"\$\d[\d.,]*|\d[\d.,]*%|\b(?:{_MONTHS}) \d+|\b\d[\d.,]* (?:business )?[a-z]+")
TOPICS = (
    *("exchange", "gift", "point", "discount", "voucher", "warrant", "final", "refund", "cancel", "credit", "stock"),
    *("parcel", "price", "return", "card", "resol", "instal", "shipping", "deliver", "pre-order", "preorder", "size"),
    *("width", "wide", "kids", "recycl", "wash", "dry", "leather", "boot", "address", "points", "club", "transfer"),
)
"""Words that the articles of a shop are about."""
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
    for said, named in _ISSUES:
        if re.search(said, text, re.I):
            for issue in issues:
                if re.search(named, str(issue.get("Name")), re.I):
                    return str(issue["Id"])
    best = max(issues, key=lambda issue: overlap(str(issue.get("Name")), text), default=None)
    return str(best["Id"]) if best is not None else None


def rank_articles(text: str, articles: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Articles, those that a text has most to do with first."""

    def worth(article: Mapping[str, Any]) -> float:
        return 3 * overlap(str(article.get("Title")), text) + overlap(text, body_of(article))

    return sorted(articles, key=worth, reverse=True)


def body_of(article: Mapping[str, Any]) -> str:
    """The text of an article, by whatever name it came."""
    return str(article.get("Content") or article.get("FAQ_Answer__c") or "")


def find_answer(question: str, article: Mapping[str, Any]) -> str:
    """The piece of an article that answers a question: in the sentence nearest to it a figure, where one is asked for,
    else the part that says what the question does not."""
    sentences = [each.strip(" .") for each in re.split(r"(?<=[.!?])\s+|\n+", body_of(article)) if len(each) > 12]
    if not sentences:
        return "None"
    figures = bool(_ASKS_FIGURE.search(question))
    asked = set(words(question))

    def worth(sentence: str) -> float:
        return overlap(question, sentence) * (1.5 if figures and _FIGURE.search(sentence) else 1)

    best = max(sentences, key=worth)
    if figures and (found := _FIGURE.findall(best)):
        return str(min(found, key=lambda figure: sum(word in asked for word in words(figure))))
    parts = [part.strip(" .") for part in re.split(r"[,;:]|\b(?:and|but|if|when|because|unless)\b", best)]
    parts = [part for part in parts if part] or [best]
    return max(parts, key=lambda part: sum(len(word) for word in words(part) if word not in asked))


def find_breach(
    talk: str, articles: Sequence[Mapping[str, Any]], knows: Callable[[], bool] = lambda: True
) -> str | None:
    """The id of the article whose rule an agent broke in a chat or e-mail, None where nothing sounds like it.

    `knows()` says whether a sign is known to who reads.
    """
    for said, named in _BREACHES:
        if re.search(said, talk, re.I | re.S) and knows():
            found = [each for each in articles if re.search(named, str(each.get("Title")), re.I)]
            if found:
                return str(rank_articles(talk, found)[0]["Id"])
    return None


def search_terms(question: str, most: int = 3) -> list[str]:
    """The words to look for: those that articles are about first, then the longest."""
    found = list(dict.fromkeys(word for word in _WORD.findall(question.lower()) if word not in _STOP and len(word) > 3))
    known = [word for word in found if any(word.startswith(topic) for topic in TOPICS)]
    return [*known, *sorted(set(found) - set(known) - _EMPTY, key=lambda word: (-len(word), word))][:most]


def product_words(text: str) -> list[str]:
    """What a customer calls a product: in brackets behind a subject, behind what they did, or before where from."""
    for pattern in _PRODUCTS:
        if found := re.search(pattern, text, re.I | re.M):
            return [word for word in _WORD.findall(found[1].lower()) if word not in _STOP | _NO_NAME]
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP | _NO_NAME][:3]
