"""What a person says to the shop's stand-in agent in words of their own, put into those that it knows.

People give a name without saying that it is one, an order number without its letter, want something "back" or
"instead", agree with "go on then". Such a message is put plainly before it is read; one that says what the agent knows
already stays as it is. What has nothing to do with an order is strange, and the agent says that it did not understand.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated.retail import phrases
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed
from cxlab.files import grammar

_ASKS_WHO = re.compile(r"zip code|e-mail address|your name|last name", re.IGNORECASE)
_ASKS_ORDER = re.compile(r"order number|which order|these orders of yours", re.IGNORECASE)
_ASKS_WHY = re.compile(r"\breasons?\b|\bwhy\b", re.IGNORECASE)
_ASKS_PAYMENT = re.compile(r"payment method|refund go|like to pay", re.IGNORECASE)
_NAME = re.compile(
    r"^\W*(?:(?:(?:no|sorry|yes)\b\W*)?(?:it's |it is |i'm |i am |this is ))?([a-z][a-z'-]+) ([a-z][a-z'-]+)\W*$",
    re.IGNORECASE,
)
_NAME_WORD = re.compile(r"[^\W\d_][\w'-]+")
_NOBODY = re.compile(r"\b(?:called|the name) (\S+) (\S+) (?:with|and) the zip code")
# Words around a name that is told in passing.
_NO_NAME = frozenset((
    "my", "name", "name's", "names", "is", "it", "its", "it's", "it’s", "and", "zip", "zipcode", "code", "postcode",
    "post", "postal", "the", "this", "i'm", "im", "am", "with", "at", "in", "from", "live", "living", "customer",
    "account", "email", "e-mail", "mail", "give", "you", "your", "me", "not", "rather", "tell", "say", "but",
    "number", "no", "yes", "sorry", "order", "is:", "here", "please", "thanks", "well", "ok", "okay", "that", "would",
))  # fmt: skip
_BARE = re.compile(r"^\W*(?:w ?)?\d{7}\W*$|^\s*[\w.+-]+@[\w-]+(?:\.[\w-]+)+\s*$", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_OF_AN_ORDER = re.compile(r"\border|\bparcel|\bdeliver|\bship|\bsen[dt]\b|\bpackage", re.IGNORECASE)
_OWN_ADDRESS = re.compile(r"\b(?:my|our) (?:home )?address\b", re.IGNORECASE)
ASKS_ADDRESS = re.compile(r"whole new address", re.IGNORECASE)
_NO_COUNTRY = re.compile(r"^\W*\d+ [A-Z].*, [A-Z]{2} \d{5}\W*$")
_PLACE = re.compile(r"^\W*[A-Z][\w' .-]+, [A-Z]{2} \d{5}\W*$")
_BESIDES = re.compile(r"\s[+&]\s|\s(?:and also|oh and|plus)\s", re.IGNORECASE)
_WONDERS = re.compile(
    r"\b(?:what (?:happens|will happen|would happen|about|becomes)|how (?:long|soon|fast|much)|when (?:do|does|will)"
    r"|(?:will|do|would) i (?:get|lose|have|pay)|does it cost)\b[^?.!]*\b(?:if|when|after|once)\b[^?.!]*\?",
    re.IGNORECASE,
)
_ZIP = re.compile(r"(?<!\d)\d{5}(?!\d)")
_NUMBER = re.compile(r"(?<![\d-])\d{7}(?!\d)")
# What is wanted → a sentence that wants it, for words in which nothing is wanted as the agent knows it.
_WANTS = (
    (
        "I want a human.",
        r"\b(?:real|actual|living|proper) (?:person|human|someone)|\bsomeone (?:real|in charge)|\byour boss\b",
        r"\b(?:talk|speak) to (?:a person|somebody|someone|a manager)\b",
        r"\bget me (?:a|your) (?:manager|supervisor|boss)\b",
    ),
    (
        "The parcel came empty or damaged.",
        r"\b(?:box|package|delivery|it) (?:was|came|arrived|is) (?:\w+ )?(?:empty|crushed|damaged|smashed|broken|open)",
        r"\bnothing (?:was )?in (?:it|the box)\b",
    ),
    (
        "I need the tracking number.",
        r"\bwhere(?:'s| is| are) (?:my|the)\b",
        r"\b(?:hasn't|has not|didn't|not|never) (?:\w+ )?(?:arrived?|c[ao]me|turn(?:ed)? up|been delivered)\b",
        r"\bwhen (?:will|does|is)\b.*\b(?:arrive|come|delivered|here)\b|\btrack\b",
    ),
    (
        "I have ordered it and want to cancel the order.",
        r"\b(?:call (?:it |that |(?:the|my) (?:\w+ ){1,2})?off|scrap|take back my order|stop (?:the|my|that) order)\b",
        r"\b(?:get rid of|undo) (?:the|my) order\b|\bcancell?ed\b(?=\W*(?:now|please|pls|asap)?\W*$)"
        r"|\bcancel\b(?=\W*(?:now|please|pls|asap)?\W*$)",
    ),
    (
        "I want to exchange it.",
        r"\binstead of\b|\bwrong (?:size|colou?r|one|model|item|type)\b|\bdifferent (?:size|colou?r|one|model)\b",
        r"\btrade\b.*\bfor\b|\bdoesn't fit\b|\btoo (?:small|big|large|tight|short|long)\b",
    ),
    (
        "I want to return it.",
        r"\b(?:my |the )?money back\b|\brefund\b|\b(?:bring|give|take|ship) (?:\w+ ){0,4}back\b",
        r"\bdon't (?:want|like) (?:it|them|this|the)\b",
    ),
    ("Tell me the price of the cheapest one.", r"\bcheapest\b"),
    ("I have moved. My account should show the new address.", r"\bi(?:'ve)? (?:just )?moved\b|\bhave a new address\b"),
    ("I want it sent to another address, my address.", r"\border\b[^.?!]*\b(?:same|new|home) address\b"),
    (
        "I want it sent to another address.",
        r"\b(?:go|goes|ship|deliver|sent?|come) (?:\w+ ){0,3}to (?:my |the )?(?:new|other|work|office|\d)",
    ),
)
_COMPILED = tuple((plain, re.compile("|".join(texts), re.IGNORECASE)) for plain, *texts in _WANTS)
_MISTAKE = re.compile(
    r"\bmistaken?\b|\baccident\w*\b|\b(?:clicked|ordered|pressed|bought) (?:it |them )?(?:twice|wrong)\b"
    r"|\bwrong (?:button|thing|item|one)\b|\bdidn't mean to\b",
    re.IGNORECASE,
)
_UNNEEDED = re.compile(
    r"\b(?:don't|dont|do not|won't) need\b|\b(?:don't|dont|do not) want (?:it|this|that|them)\b(?! to)"
    r"|\b(?:got|have) (?:\w+ ){0,2}(?:another|already)\b"
    r"|\bno use for\b|\bchanged my mind\b|\bnot needed\b",
    re.IGNORECASE,
)
_AS_PAID = re.compile(
    r"\b(?:same|that|the) (?:card|account|way|method)\b|\b(?:how|as|what) i paid\b|\bcard i (?:used|paid)\b"
    r"|\bback (?:on|to) (?:the|my) (?:card|account)\b",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^\W*(?:go on(?: then)?|aye|that'?s? (?:the one|it|him|her)|do that|why not|fine|fire away|yup|if you must)\W*$",
    re.IGNORECASE,
)
_BARE_NO = re.compile(
    r"^\W*(?:(?:no|nope|nah|none|nothing|idk|dunno|whatever|just (?:do|cancel) it|because|cause)\b\W*)+$"
    r"|\bnone of your\b|\bno (?:special |particular )?reason\b|\bwhy do you (?:need|want|ask|care)\b"
    r"|\b(?:you )?(?:don't|do not) need (?:to know|a reason|my)\b",
    re.IGNORECASE,
)
_UPSET = re.compile(
    r"\b(?:wtf|shit\w*|crap|fuck\w*)\b"
    r"|\b(?:joke|ridiculous|third time|second time|hopeless|for ages|fed up|furious|not impressed|driving me|good grief"
    r"|had enough|unbelievable|shambles)\b",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|thanks?|thank you|ok(?:ay)?|alright|all right|sure|yes"
    r"|yeah|yep|no|nope|wait|one moment|hold on|let me (?:see|look)|i see|that is all|that's all)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|^\W*(?:what|where|how|which|why|who|when|can|could|do|does|is|are|will)(?:'s)? \w+", re.IGNORECASE
)
# Of 100; one misheard word leaves more of a sentence than this.
_NEAR = 75
_LOST = re.compile(
    r"don't know|do not know|no idea|don't remember|can't (?:find|tell|say)|not sure|don't have", re.IGNORECASE
)
_GOODS = re.compile(
    r"\b(?:one|item|order|card|paypal|address|colou?r|size|small|medium|large|black|white|blue|red|green|grey|gray|all"
    r"|both|everything|cheaper|bigger|smaller|refund|return|exchange|cancel|delivery)\b",
    re.IGNORECASE,
)


def put_plainly(text: str, asked: str) -> str:
    """The message with what it says in words that the agent knows added; `asked`: what the agent had said last."""
    added: list[str] = []
    typed = is_typed(text)
    text = leave_out_questions(text)
    if typed and not _OF_AN_ORDER.search(text):
        text = _OWN_ADDRESS.sub("my account address", text)
    if typed and ASKS_ADDRESS.search(asked) and _NO_COUNTRY.search(text):
        text = f"{text.rstrip('. ')}, USA"
    known = [part.kind for part in phrases.parts(text) if part.kind is not None]
    if known == ["parcel"] and phrases.ADDRESS.search(text):
        # A parcel that is to go somewhere else has not come damaged.
        return f"I want the order sent to another address: {re.sub('parcel', 'order', text, flags=re.IGNORECASE)}"
    if typed and ASKS_ADDRESS.search(asked) and _PLACE.search(text):
        text = f", {text.rstrip('. ')}, USA"
    who = _ASKS_WHO.search(asked) and not ASKS_ADDRESS.search(asked)
    if who and "name is" not in text and "@" not in text:
        if named := name_and_zip(text):
            added.append("My name is {} {} and my zip code is {}.".format(*named))
        elif spelt := _spelt_anew(text, asked):
            added.append(f"My name is {spelt}.")
        elif (found := _NAME.search(text)) and not _LOST.search(text) and not _SMALL.search(f"{found[1]} {found[2]}"):
            added.append(f"My name is {found[1].title()} {found[2].title()}.")
    number = _NUMBER.search(text) if phrases.order_in(text) is None else None
    if number and (_ASKS_ORDER.search(asked) or re.search(r"\border\b|\bnumber\b|\bno\.?\b", text, re.IGNORECASE)):
        added.append(f"It is order #W{number[0]}.")
    if _ASKS_WHY.search(asked) or "cancel" in known:
        if _MISTAKE.search(text) and "mistake" not in text.lower():
            added.append("I ordered it by mistake.")
        elif _UNNEEDED.search(text) and not phrases.revokes(text):
            added.append("It is no longer needed.")
        elif _ASKS_WHY.search(asked) and re.search(r"\bchanged my mind\b", text, re.IGNORECASE):
            return "It is no longer needed."
    if (_ASKS_PAYMENT.search(asked) or known) and _AS_PAID.search(text) and not phrases.ORIGINAL.search(text):
        added.append("With the original payment method.")
    if _AGREES.search(text) and dialogue_acts.asks_to_confirm(asked) and not dialogue_acts.agrees(text):
        added.append("Yes, go ahead.")
    if not added and not ("@" in text and who):
        wanting = [_want_plainly(one) for one in _split(text)]
        if any(plain for plain, _ in wanting):
            # Told of what is wanted, the words that say of what belong to it.
            ended = [f"{plain} {said}{'.' if is_typed(said) else ''}".strip() for plain, said in wanting[:-1]]
            return " ".join([*ended, " ".join(wanting[-1]).strip()])
    return " ".join([text, *added])


def _split(text: str) -> list[str]:
    """The sentences of a message, and what is wanted besides in one of them."""
    return [one for sentence in _SENTENCES.split(text) for one in _BESIDES.split(sentence) if one.strip()]


def _want_plainly(said: str) -> tuple[str, str]:
    """What is wanted in a sentence as the agent knows it, "" where nothing is or it is said so already."""
    if any(part.kind for part in phrases.parts(said)):
        return "", said
    return next((plain for plain, cue in _COMPILED if cue.search(said)), ""), said


def name_and_zip(text: str) -> tuple[str, str, str] | None:
    """First name, last name and zip code of whoever tells them in a sentence, the name beside the zip code."""
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", text):
        if (code := _ZIP.search(sentence)) is None:
            continue
        for side, last in ((sentence[: code.start()], True), (sentence[code.end() :], False)):
            words = [word if word.lower() not in _NO_NAME else "" for word in _NAME_WORD.findall(side)]
            pairs = [(one, other) for one, other in itertools.pairwise(words) if one and other]
            if pairs:
                first, name = pairs[-1 if last else 0]
                return first.title(), name.title(), code[0]
    return None


def _spelt_anew(text: str, asked: str) -> str | None:
    """The name that was found under no account, with the part that is now spelt another way."""
    from rapidfuzz import fuzz

    if (nobody := _NOBODY.search(asked)) is None:
        return None
    before = [nobody[1], nobody[2]]
    name = list(before)
    for word in _NAME_WORD.findall(text):
        for place, part in enumerate(before):
            if word.lower() != part.lower() and fuzz.ratio(word.lower(), part.lower()) >= _NEAR:
                name[place] = word.title()
    return " ".join(name) if name != before else None


def is_plain_answer(text: str) -> bool:
    """Whether a message is nothing but an order number or an e-mail address, as people type them.

    A stand-in puts them into sentences; there is nothing in them that a reader could fail to take up.
    """
    return bool(_BARE.match(text))


def gives_no_reason(text: str) -> bool:
    """Whether somebody who was asked for a reason turns the question down, or says nothing to it."""
    return bool(_BARE_NO.match(text)) or (
        dialogue_acts.refuses(text) and not re.search(r"\bbecause\b|\bneed\b|\bmistake", text, re.IGNORECASE)
    )


def leave_out_questions(text: str) -> str:
    """A message without its questions of what comes of a thing: "what happens to my money if you cancel it?" wants
    nothing done."""
    return " ".join(one for one in _SENTENCES.split(text) if not _WONDERS.search(one))


def is_upset(text: str) -> bool:
    """Whether a person says that it is annoyed."""
    return bool(_UPSET.search(text)) or dialogue_acts.is_frustrated(text)


def is_strange(text: str, asked: str, goods: Collection[str]) -> bool:
    """Whether nothing in a message has to do with an order, an account or the question; `goods`: words of the shop."""
    if not text.strip() or put_plainly(text, asked) != text:
        return False
    if any(part.kind is not None for part in phrases.parts(text)) or re.search(r"\d{3,}|@", text):
        return False
    if any(cue.search(text) for cue in (_SMALL, _ASKS, _LOST, _GOODS, _UNNEEDED, _MISTAKE, phrases.ORIGINAL)):
        return False
    if is_upset(text) or dialogue_acts.agrees(text) or dialogue_acts.refuses(text):
        return False
    if set(re.findall(r"[a-z]{3,}", text.lower())) & set(goods):
        return False
    return not any(_plain(sentence) in _own_lines() for sentence in dialogue_acts.sentences(text))


def wants(text: str) -> bool:
    """Whether something is wanted of the shop, in words that the agent knows or in others."""
    text = leave_out_questions(text)
    known = (part.kind is not None for part in phrases.parts(text))
    return any(known) or any(cue.search(text) for _, cue in _COMPILED)


@functools.lru_cache(maxsize=20_000)
def is_near_own(text: str) -> bool:
    """Whether a sentence of it is a stand-in customer's, a word of which may have been misheard."""
    from rapidfuzz import fuzz, process

    return any(
        process.extractOne(_plain(sentence), _own_lines(), scorer=fuzz.ratio, score_cutoff=_NEAR) is not None
        for sentence in dialogue_acts.sentences(text)
    )


@functools.cache
def _own_lines() -> frozenset[str]:
    """Every sentence that a stand-in customer may say, but for those with a value in them."""
    lines = [line for lines in phrases.phrases().customer.values() for several in lines.values() for line in several]
    told = (text for line in lines for text in grammar.every(line))
    return frozenset(_plain(sentence) for text in told for sentence in dialogue_acts.sentences(text))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z ]", "", text.lower()).strip()
