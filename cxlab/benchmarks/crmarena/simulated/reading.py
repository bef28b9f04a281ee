"""How a stand-in reads texts: which issue a case is about, which article answers a question or was broken. Its
lexicon is its own, and small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.crmarena.simulated import answering

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
    r"\blate\b|delay|tracking|transit|(?:has not|hasn't|nothing has) (?:come|arrived)|still waiting|where is my|"
    r"promised (?:day|date)|nothing has come|day .{0,20}(?:passed|over)"
)
_FAULTY = r"sole|seam|stitch|eyelet|broke|torn|tore|peel|crack|defect|faulty|fell apart|coming away|stopped working"
_OTHER = r"wrong (?:item|pair|colou?r|model|product|shoes?)|instead of|not what I ordered|sent me"
# Words in which customers tell of a problem → words that its name may have.
_ISSUES: tuple[tuple[str, str], ...] = (
    # Of a bank, whose issues no shop has.
    (r"log in|password|locked|login", "access"),
    (r"application|I applied", "application"),
    (r"\bclaim\b", "insurance"),
    (r"dispute|do not know", "disputed"),
    (r"instalment|my loan|loan payment", "loan payment"),
    (r"\brates?\b|\bterm of|interest", "rate or term"),
    (r"\bfees?\b", "fee question"),
    (r"please close|have moved|new (?:name|address)", "account change"),
    (r"transfer|(?:money|deposit).{0,60}(?:arrived|should be there|came)", "transfer"),
    (r"the (?:new )?card for|card (?:is|was) (?:lost|declined|blocked)", "card problem"),
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
    (
        r"\A(?!.*801).*(?:now goes to|address is changed|changed the address|changed to \d|it is \d+ \w+ court now|"
        r"(?:it|him|her) up by the name|by (?:the|your|his|her) name)",
        "who is asking|identity|check before",
    ),
    # A bank's.
    (
        r"full card number and the (?:pin|three)|number of the card and the pin|(?:write|tell) me your password",
        "card num",
    ),
    (r"what is your password|your real password|you want my password", "card num"),
    (r"paid back (?:all|both)|paid back, all", "paying back a fee"),
    (r"four months.{0,400}(?:take it in all the same|taking the dispute in)", "disputing a charge"),
    (r"get every dollar back|will decide for you", "how a dispute will end"),
    (r"a second time (?:right )?now|credited the amount", "transfer has not arrived"),
    (r"(?:dollars (?:on it|left|were open)).{0,120}(?:pending|payment)", "closing an account"),
    (r"(?:your word is enough|at your word).{0,80}husband", "joint"),
    (r"(?:moved|move) (?:this|a) second|second one is moved", "moving an instalment"),
    (r"i promise (?:you )?that|my word|i guarantee", "rates to come"),
    (r"it will be approved", "how long an application|application"),
    (r"claim is (?:paid|accepted)|accepted the claim", "reporting a claim"),
    (
        r"(?:nobody told me|does nobody tell me|nobody tell me)",
        "handing a case",
    ),
)
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
    """Articles, those first that a text has most to do with: rare words count most, in a title twice."""
    titles = [set(answering.roots(str(article.get("Title")))) for article in articles]
    bodies = [body_of(article) for article in articles]
    weights = answering.weigh(
        [f"{article.get('Title')} {body}" for article, body in zip(articles, bodies, strict=True)]
    )
    said = set(answering.roots(text))
    worth = {
        place: sum(weights[name] * (1 + (name in title)) for name in said & (title | set(answering.roots(body))))
        for place, (title, body) in enumerate(zip(titles, bodies, strict=True))
    }
    return [articles[place] for place in sorted(worth, key=lambda place: -worth[place])]


def body_of(article: Mapping[str, Any]) -> str:
    """The text of an article, by whatever name it came."""
    return str(article.get("Content") or article.get("FAQ_Answer__c") or "")


def find_answer(question: str, article: Mapping[str, Any]) -> str:
    """The piece of an article that answers a question."""
    return answering.find_answer(question, str(article.get("Title")), body_of(article))


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
