"""How a stand-in reads texts: which issue a case is about, which article answers a question or was broken, which
sentence of it is the answer. Its lexicon is its own, and small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
_LATE = r"late|delay|tracking|transit|has(?: not|n't) (?:come|arrived)|still waiting|where is my"
_FAULTY = r"sole|seam|stitch|eyelet|broke|torn|tore|peel|crack|defect|faulty|fell apart|coming away|stopped working"
_OTHER = r"wrong (?:item|pair|colou?r|model|product|shoes?)|instead of|not what I ordered|sent me"
# Words in which customers tell of a problem → words that its name may have.
_ISSUES: tuple[tuple[str, str], ...] = (
    (_OTHER, "wrong item|incorrect item"),
    (r"warranty|guarantee|covered", "warranty"),
    (_FAULTY, "defect"),
    (r"too (?:small|big|large|tight|loose|narrow|wide|short|long)|\bfit|size|toes|heel slips|pinch", "size"),
    (_LATE, "deliver|shipping"),
    (r"charged|charge|card|payment|billed|paid twice|instal", "payment|billing"),
    (r"cancel|change (?:my|the) (?:order|address)|old (?:address|apartment)", "cancel|order change"),
    (r"sold out|out of stock|in stock|available|back in|restock", "stock|availab"),
    (r"points|voucher|club|loyalty|reward|member", "club|loyalty"),
    (r"return|refund|money back|send (?:it|them) back", "return|refund"),
)
_ELSEWHERE = r"(?:other|another|different|new) (?:card|account)"
_DEAR = r"\$(?:[3-9]\d|\d{3})"
# What an agent says that breaks a rule → words of the article that has the rule.
_BREACHES: tuple[tuple[str, str], ...] = (
    (r"another free exchange|second (?:free )?exchange|one more (?:free )?exchange", "exchange"),
    (rf"{_ELSEWHERE}.{{0,40}}(?:refund|instead)|refund.{{0,40}}{_ELSEWHERE}", "refund"),
    (r"card number|security code|cvv|three digits", "card"),
    (rf"credit of {_DEAR}|{_DEAR} (?:goodwill )?credit", "goodwill"),
    (r"both (?:codes|discounts|vouchers)|second (?:code|discount|voucher)|on top of (?:the|your) discount", "discount"),
    (r"(?:will be|are|is) back (?:in stock )?(?:on|by|next)|back in stock by", "restock"),
    (r"gift card.{0,60}(?:cash|bank|pay(?:ing)? out|card)|pay(?:ing)? out.{0,40}gift card", "gift"),
    (r"final sale.{0,80}(?:exception|return|label|accept)", "final sale"),
    (r"without (?:the )?photos|no photos (?:are )?need|don't need photos|approved", "warranty"),
    (r"(?:cancelled|cancel) (?:it|the order|your order)", "cancel"),
    (r"added (?:the|your) (?:missing )?points|points are (?:now )?(?:in|on) your", "points"),
    (r"new pair (?:is|leaves|goes)|send(?:ing)? (?:you )?a new pair", "lost"),
    (r"difference (?:is )?(?:credited|refunded)|credit(?:ed)? (?:you )?the difference", "price"),
)
_NO_NAME = frozenset({"show", "order", "today"})


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
    """The sentence of an article that has most words of the question, and the part of it that is new."""
    sentences = [each.strip() for each in re.split(r"(?<=[.!?])\s+|\n+", body_of(article)) if each.strip()]
    if not sentences:
        return "None"
    best = max(sentences, key=lambda sentence: overlap(question, sentence))
    asked = set(words(question))
    parts = [part.strip(" .") for part in re.split(r"[,;:]|\band\b|\bbut\b", best) if part.strip(" .")]
    fresh = max(parts, key=lambda part: sum(word not in asked for word in words(part)) / (2 + len(words(part))))
    return fresh if re.search(r"\bhow (?:long|many|much)\b|\bwhen\b", question, re.I) else best.rstrip(".")


def find_breach(talk: str, articles: Sequence[Mapping[str, Any]]) -> str | None:
    """The id of the article whose rule an agent broke in a chat or e-mail, None where nothing sounds like it."""
    for said, named in _BREACHES:
        if re.search(said, talk, re.I | re.S):
            found = [each for each in articles if named in str(each.get("Title")).lower()]
            if found:
                return str(rank_articles(talk, found)[0]["Id"])
    return None


def search_terms(question: str, most: int = 3) -> list[str]:
    """The words to look for, the rarest (longest) first."""
    found = [word for word in _WORD.findall(question.lower()) if word not in _STOP and len(word) > 3]
    return sorted(dict.fromkeys(found), key=lambda word: (-len(word), word))[:most]


def product_words(text: str) -> list[str]:
    """What a customer calls a product: behind "the" or "my", up to the verb."""
    found = re.search(
        r"\b(?:the|my|those|these|pair of)\s+([a-z][a-z' -]{2,60}?)\s+(?:that |which )?(?:I|we)\b", text, re.I
    )
    named = found[1] if found else text
    return [
        word for word in _WORD.findall(named.lower()) if word not in _STOP and word not in ("show", "order", "today")
    ]
