"""What the cues find in a message: a request, a yes, a no, a correction, annoyance; sentence by sentence.

What a cue finds is not yet plain: `dialogue_acts` says what is, and leaves open what is not.
"""

from __future__ import annotations

import functools
import re

from cxlab.benchmarks.mmtaup2.cues import answers, corrections, moods, offers, questions, wording

_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')\]]+|\n+")
_MARKUP = re.compile(r"[*_`#]{1,3}|^\s*[-•]\s", re.MULTILINE)

# People who type leave it out: "thats right", "i dont want it".
_NO_APOSTROPHE = re.compile(
    r"\b(that|what|don|didn|doesn|isn|can|won|wouldn)(s|t)\b(?<!\bcans)(?<!\bwons)", re.IGNORECASE
)


_WANNA = re.compile(r"\bwanna\b", re.IGNORECASE)


@functools.lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """A message's sentences and lines, without Markdown and with straight apostrophes."""
    plain = _MARKUP.sub("", text.replace("’", "'").replace("‘", "'").replace("###STOP###", ""))
    plain = _WANNA.sub("want to", _NO_APOSTROPHE.sub(r"\1'\2", plain))
    return tuple(part.strip() for part in _SENTENCE.split(plain) if part.strip())


def found(text: str, cues: tuple[wording.Cue, ...], knows: wording.Knows | None = None) -> bool:
    """Whether one of the cues that the reader knows (all, if not said) stands in a sentence of the text."""
    return any(has(sentence, cues, knows) for sentence in sentences(text))


def has(sentence: str, cues: tuple[wording.Cue, ...], knows: wording.Knows | None) -> bool:
    return any(knows is None or knows(cue) for cue in _cues_in(sentence, cues))


# The same sentence is read by both sides, and by each judge at each later turn.
@functools.lru_cache(maxsize=32_768)
def _cues_in(sentence: str, cues: tuple[wording.Cue, ...]) -> tuple[wording.Cue, ...]:
    return tuple(cue for cue in cues if cue.pattern.search(sentence))


def asks_to_confirm(text: str, knows: wording.Knows | None = None) -> bool:
    """Whether a message asks for a yes before something is done ("How would you like to proceed?" does not)."""
    parts = sentences(text)
    once = questions.ONCE_CONFIRMED.search(text) and not questions.CONFIRM_WHICH.search(text)
    return bool(once) or any(requests(sentence, knows) for sentence in parts) or offers_service(parts, knows)


def requests(
    sentence: str, knows: wording.Knows | None = None, cues: tuple[wording.Cue, ...] = questions.ASKS_TO_CONFIRM
) -> bool:
    return any(knows is None or knows(cue) for cue in _requests_in(sentence, cues))


@functools.lru_cache(maxsize=8192)
def _requests_in(sentence: str, cues: tuple[wording.Cue, ...]) -> tuple[wording.Cue, ...]:
    """The cues that do not stand in an open question."""
    found = ((cue, cue.pattern.search(sentence)) for cue in cues)
    return tuple(cue for cue, match in found if match and not questions.OPEN_QUESTION.search(sentence[: match.start()]))


def offers_service(parts: tuple[str, ...], knows: wording.Knows | None = None) -> bool:
    """Whether the one question of a message offers to carry something out."""
    asked = [sentence for sentence in parts if "?" in sentence]
    return len(asked) == 1 and requests(asked[0], knows, questions.OFFERS_SERVICE)


def asks_for_information(text: str, knows: wording.Knows | None = None) -> bool:
    """Whether a message asks for a fact, a choice or to hear something again; offers of more help do not count."""
    parts = sentences(text)
    for sentence in parts:
        asks = has(sentence, questions.ASKS_FOR_INFORMATION, knows) or has(sentence, questions.ASKS_AGAIN, knows)
        question = (
            sentence.endswith("?")
            and not (requests(sentence) or offers_service(parts))
            and not questions.CLOSING_OFFER.search(sentence)
            and not offers.SUGGESTS.search(sentence)
        )
        if asks or question:
            return True
    return False


def offers_to_act(text: str) -> bool:
    """Whether a message asks for a choice and says that it will act on it, which is less than asking for a yes."""
    does = f"(?:{questions.GO_ON}|{questions.CLOSE})"
    acts = rf"\b(?:i(?:'ll| will| can)|you(?:'d| would)? (?:like|want) to)(?: \w+)? {does}"
    return asks_for_information(text) and any(re.search(acts, one, re.IGNORECASE) for one in sentences(text))


def agrees(text: str, asked: str | None = None, knows: wording.Knows | None = None) -> bool:
    """Whether a message says yes; to `asked`, where given, which must be a question that a yes answers."""
    no = offers.NO.search(text) or offers.NOT_SO.search(text)
    if asked is not None and no and not re.search(r"\bgo ahead\b", text, re.IGNORECASE):
        return False
    return _says_yes(text, asked, knows) and not _hedged(text) and not refuses(text, asked, knows)


def refuses(text: str, asked: str | None = None, knows: wording.Knows | None = None) -> bool:
    """Whether a message turns down what was proposed; where nothing was, whether it takes back a wish."""
    if asked is not None and offers.NONE_WILL_DO.search(text):
        return True
    requested = asked is not None and asks_to_confirm(asked)
    if asked is not None and not requested and offers.NO.search(text) and offers.LEAVES.search(text):
        return False
    if asked is not None and not requested and not proposes(asked):
        wanted = offers.WANTED.search(asked) and not questions.CLOSING_OFFER.search(asked)
        no = offers.NO.search(text) and not offers.LEAVES.search(text)
        return bool(wanted and no) or found(text, answers.WITHDRAWS, knows)
    if asked is not None and any(answers.ELSEWHERE.search(sentence) for sentence in sentences(text)):
        return True
    wishes = asked is None or (not requested and offers.ASKS_FOR_A_WISH.search(asked))
    if not wishes and offers.COUNTERS.search(text):
        return True
    if requested and any(map(offers.NO.search, sentences(text))):
        return True
    # Of "No need, but what does it cost?" the first half is no question.
    told = [re.split(r",? but\b", one)[0] if _asks_back(one) else one for one in sentences(text)]
    return _declines_kindly(text) or any(
        has(part, answers.REFUSES, knows)
        for part, one in zip(told, sentences(text), strict=True)
        if part != one or not _asks_back(one)
    )


def proposes(text: str) -> bool:
    """Whether something is held out, with or without a question; offers of more help do not count."""
    parts = sentences(text)
    if not parts or questions.CLOSING_OFFER.search(parts[-1]) or offers.WHICH.search(text):
        return False
    # One question among several things that are asked for holds nothing out.
    alone = sum("?" in one for one in parts) == 1 and not offers.LIST.search(text)
    return any(offers.PROPOSES.search(one) or (alone and offers.OFFERS.search(one)) for one in parts)


def _says_yes(text: str, asked: str | None, knows: wording.Knows | None) -> bool:
    request = asked is None or asks_to_confirm(asked)
    proposed = not request and proposes(asked or "")
    if not request and not proposed and not any(map(answers.YES_NO_QUESTION.search, sentences(asked or ""))):
        # A bare "Sure" takes up what was said; with more behind it, it may begin an answer to a question.
        if asks_for_information(asked or "") or questions.CLOSING_OFFER.search(asked or ""):
            return any(offers.SUITS.search(part) and not _asks_back(part) for part in sentences(text))
        if re.fullmatch(r"\W*sure\W*", text, re.IGNORECASE):
            return True
        news = offers.NEWS.search(asked or "")
        return any(
            offers.APPROVES.search(part)
            or offers.AFFIRMS.search(part)
            or (not news and offers.PRAISES.search(part))
            or _approves_by_name(part, asked or "")
            for part in sentences(text)
            if not _asks_back(part)
        )
    approving = proposed or not (asked is None or asks_for_information(asked) or questions.CLOSING_OFFER.search(asked))
    if proposed and offers.BOOKS.search(text):
        return True
    notes = (offers.LEAVES, offers.TAKES_NOTE) if proposed else ()
    if any(cue.search(text) for cue in (*notes, offers.ASKS_IN_THE_SAME_BREATH)):
        text = offers.BARE.sub("", text)
    return any(
        has(part, answers.YES, knows)
        or (approving and not _asks_back(part) and bool(offers.APPROVES.search(part)))
        or (request and _repeats_wish(part, asked or ""))
        or (proposed and _takes(part, asked or ""))
        or ((request or proposed) and _approves_by_name(part, asked or ""))
        or ((request or proposed) and not _asks_back(part) and has(part, answers.GOES_AHEAD, knows))
        for sentence in sentences(text)
        for part in (re.split(r",\s*", sentence) if sentence.endswith("?") else (sentence,))
    )


def _repeats_wish(sentence: str, asked: str) -> bool:
    """Whether an answer wishes for the very thing that it was asked whether it is wanted ("I'd like a transfer")."""
    wish = offers.WISHES.search(sentence)
    if wish is not None and re.search(rf"\b{re.escape(wish['what'][:6])}", asked, re.IGNORECASE):
        return True
    order = offers.ORDERS.search(sentence)
    if order is None:
        return False
    acquires = re.fullmatch(offers.ACQUIRES + r"e?", order["what"], re.IGNORECASE)
    return re.search(rf"\b{offers.ACQUIRES if acquires else order['what']}", asked, re.IGNORECASE) is not None


def _takes(sentence: str, asked: str) -> bool:
    """Whether what was held out is taken by its name ("I want to see Dogman")."""
    taken = offers.TAKES.search(sentence)
    if taken is None or offers.WHICH.search(asked):
        return False
    return any(re.search(rf"\b{name}\b", asked) for name in re.findall(r"[A-Z]\w{2,}", taken["what"]))


def _approves_by_name(sentence: str, asked: str) -> bool:
    """Whether one of the things that were named is approved ("The Efes is fine")."""
    named = offers.NAMED.search(sentence)
    words = re.findall(r"\w{4,}", named["what"]) if named else []
    return any(re.search(rf"\b{word}\b", asked, re.IGNORECASE) for word in words)


def _asks_back(sentence: str) -> bool:
    """Whether a sentence is a question of the speaker's own, and not a yes put politely ("Could you do that?")."""
    return sentence.endswith("?") and not re.search(
        r"\b(?:can|could|will|would) you (?:please )?(?:do|go|proceed|book|reserve|rent|order|buy)\b"
        r"|\b(?:can|could|may) i (?:please )?(?:book|buy|rent|reserve|take|order) (?:it|that|this|them|one)\b",
        sentence,
        re.IGNORECASE,
    )


def _declines_kindly(text: str) -> bool:
    return bool(answers.DECLINES_KINDLY.search(" ".join(sentences(text))))


def _hedged(text: str) -> bool:
    """Whether a yes hangs on something: a condition, a doubt, a question that comes with "but"."""
    parts = sentences(text)
    outright = bool(parts) and has(parts[0], answers.AGREES, None) and not answers.YES_BUT.search(parts[0])
    ahead = [place for place, one in enumerate(parts) if answers.LETS_GO_AHEAD.search(one)]
    # What somebody doubted before saying "go ahead" is settled by it.
    for place, sentence in enumerate(parts):
        outright = outright or (bool(ahead) and place > ahead[0])
        if ahead and place < ahead[-1]:
            continue
        if answers.YES_BUT.search(sentence):
            return True
        match = answers.HEDGE.search(sentence)
        if match is None:
            continue
        # A further question after an outright yes takes nothing back; "but" and "only if" do.
        taken_back = re.match(r"\W*(?:but|however|only if|as long as|unless)", match.group(), re.IGNORECASE)
        if (place == 0 and not (outright and sentence.endswith("?"))) or not outright or taken_back:
            return True
    return False


def corrects(text: str, knows: wording.Knows | None = None) -> bool:
    """Whether a message says that something said, noted or done is not right, or takes back what it said itself."""
    changes = corrections.CHANGES_IT.search(text) and not corrections.WANTS_A_CHANGE.search(text)
    return bool(changes) or found(text, corrections.CORRECTS, knows)


def is_frustrated(text: str, knows: wording.Knows | None = None) -> bool:
    """Whether a message says that its speaker is annoyed, let down or out of patience."""
    tagged = knows is None and moods.HASHTAG.search(text)
    return bool(tagged) or found(moods.MISFORTUNE.sub("", text), moods.FRUSTRATED, knows)
