"""What a message does, read from its wording: asks for a yes or for facts, agrees, refuses, corrects, loses patience.

Read sentence by sentence, by cues of the speech act (`act_cues`) and never by whole messages. Precision and recall on
the wording of a real model and its customers stand in `tests/benchmarks/mmtaup2/test_dialogue_acts.py`. `agrees`,
`refuses` and the like say what the cues find; `agreement`, `refusal` and the like say None besides where that is not
plain, and a judge's to decide.
"""

from __future__ import annotations

import functools
import re

from cxlab.benchmarks.mmtaup2 import act_cues, correction_cues, doubt_cues, mood_cues, offer_cues

_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')\]]+|\n+")
_MARKUP = re.compile(r"[*_`#]{1,3}|^\s*[-•]\s", re.MULTILINE)

# People who type leave it out: "thats right", "i dont want it".
_NO_APOSTROPHE = re.compile(
    r"\b(that|what|don|didn|doesn|isn|can|won|wouldn)(s|t)\b(?<!\bcans)(?<!\bwons)", re.IGNORECASE
)


@functools.lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """A message's sentences and lines, without Markdown and with straight apostrophes."""
    plain = _MARKUP.sub("", text.replace("’", "'").replace("‘", "'").replace("###STOP###", ""))
    plain = _NO_APOSTROPHE.sub(r"\1'\2", plain)
    return tuple(part.strip() for part in _SENTENCE.split(plain) if part.strip())


def found(text: str, cues: tuple[act_cues.Cue, ...], knows: act_cues.Knows | None = None) -> bool:
    """Whether one of the cues that the reader knows (all, if not said) stands in a sentence of the text."""
    return any(_has(sentence, cues, knows) for sentence in sentences(text))


def _has(sentence: str, cues: tuple[act_cues.Cue, ...], knows: act_cues.Knows | None) -> bool:
    return any(knows is None or knows(cue) for cue in _cues_in(sentence, cues))


# The same sentence is read by both sides, and by each judge at each later turn.
@functools.lru_cache(maxsize=32_768)
def _cues_in(sentence: str, cues: tuple[act_cues.Cue, ...]) -> tuple[act_cues.Cue, ...]:
    return tuple(cue for cue in cues if cue.pattern.search(sentence))


def asks_to_confirm(text: str, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message asks for a yes before something is done ("How would you like to proceed?" does not)."""
    parts = sentences(text)
    once = act_cues.ONCE_CONFIRMED.search(text) and not act_cues.CONFIRM_WHICH.search(text)
    return bool(once) or any(_requests(sentence, knows) for sentence in parts) or _offers_service(parts, knows)


def _requests(
    sentence: str, knows: act_cues.Knows | None = None, cues: tuple[act_cues.Cue, ...] = act_cues.ASKS_TO_CONFIRM
) -> bool:
    return any(knows is None or knows(cue) for cue in _requests_in(sentence, cues))


@functools.lru_cache(maxsize=8192)
def _requests_in(sentence: str, cues: tuple[act_cues.Cue, ...]) -> tuple[act_cues.Cue, ...]:
    """The cues that do not stand in an open question."""
    found = ((cue, cue.pattern.search(sentence)) for cue in cues)
    return tuple(cue for cue, match in found if match and not act_cues.OPEN_QUESTION.search(sentence[: match.start()]))


def _offers_service(parts: tuple[str, ...], knows: act_cues.Knows | None = None) -> bool:
    """Whether the one question of a message offers to carry something out."""
    asked = [sentence for sentence in parts if "?" in sentence]
    return len(asked) == 1 and _requests(asked[0], knows, act_cues.OFFERS_SERVICE)


def asks_for_information(text: str, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message asks for a fact, a choice or to hear something again; offers of more help do not count."""
    parts = sentences(text)
    for sentence in parts:
        asks = _has(sentence, act_cues.ASKS_FOR_INFORMATION, knows) or _has(sentence, act_cues.ASKS_AGAIN, knows)
        question = (
            sentence.endswith("?")
            and not (_requests(sentence) or _offers_service(parts))
            and not act_cues.CLOSING_OFFER.search(sentence)
            and not offer_cues.SUGGESTS.search(sentence)
        )
        if asks or question:
            return True
    return False


def offers_to_act(text: str) -> bool:
    """Whether a message asks for a choice and says that it will act on it, which is less than asking for a yes."""
    acts = (
        rf"\b(?:i(?:'ll| will| can)|you(?:'d| would)? (?:like|want) to)(?: \w+)? (?:{act_cues.GO_ON}|{act_cues.CLOSE})"
    )
    return asks_for_information(text) and any(re.search(acts, one, re.IGNORECASE) for one in sentences(text))


def agrees(text: str, asked: str | None = None, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message says yes; to `asked`, where given, which must be a question that a yes answers."""
    if asked is not None and offer_cues.NO.search(text) and not re.search(r"\bgo ahead\b", text, re.IGNORECASE):
        return False
    return _says_yes(text, asked, knows) and not _hedged(text) and not refuses(text, asked, knows)


def refuses(text: str, asked: str | None = None, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message turns down what was proposed; where nothing was, whether it takes back a wish."""
    requested = asked is not None and asks_to_confirm(asked)
    if asked is not None and not requested and offer_cues.NO.search(text) and offer_cues.LEAVES.search(text):
        return False
    if asked is not None and not requested and not _proposes(asked):
        wanted = offer_cues.WANTED.search(asked) and not act_cues.CLOSING_OFFER.search(asked)
        no = offer_cues.NO.search(text) and not offer_cues.LEAVES.search(text)
        return bool(wanted and no) or found(text, act_cues.WITHDRAWS, knows)
    if asked is not None and any(act_cues.ELSEWHERE.search(sentence) for sentence in sentences(text)):
        return True
    wishes = asked is None or (not requested and offer_cues.ASKS_FOR_A_WISH.search(asked))
    if not wishes and offer_cues.COUNTERS.search(text):
        return True
    if requested and any(map(offer_cues.NO.search, sentences(text))):
        return True
    # Of "No need, but what does it cost?" the first half is no question.
    told = [re.split(r",? but\b", one)[0] if _asks_back(one) else one for one in sentences(text)]
    return _declines_kindly(text) or any(
        _has(part, act_cues.REFUSES, knows)
        for part, one in zip(told, sentences(text), strict=True)
        if part != one or not _asks_back(one)
    )


def _proposes(text: str) -> bool:
    """Whether something is held out, with or without a question; offers of more help do not count."""
    parts = sentences(text)
    if not parts or act_cues.CLOSING_OFFER.search(parts[-1]) or offer_cues.WHICH.search(text):
        return False
    # One question among several things that are asked for holds nothing out.
    alone = sum("?" in one for one in parts) == 1 and not offer_cues.LIST.search(text)
    return any(offer_cues.PROPOSES.search(one) or (alone and offer_cues.OFFERS.search(one)) for one in parts)


def _says_yes(text: str, asked: str | None, knows: act_cues.Knows | None) -> bool:
    request = asked is None or asks_to_confirm(asked)
    proposed = not request and _proposes(asked or "")
    if not request and not proposed and not any(map(act_cues.YES_NO_QUESTION.search, sentences(asked or ""))):
        # A bare "Sure" takes up what was said; with more behind it, it may begin an answer to a question.
        if asks_for_information(asked or "") or act_cues.CLOSING_OFFER.search(asked or ""):
            return any(offer_cues.SUITS.search(part) and not _asks_back(part) for part in sentences(text))
        if re.fullmatch(r"\W*sure\W*", text, re.IGNORECASE):
            return True
        news = offer_cues.NEWS.search(asked or "")
        return any(
            offer_cues.APPROVES.search(part)
            or offer_cues.AFFIRMS.search(part)
            or (not news and offer_cues.PRAISES.search(part))
            or _approves_by_name(part, asked or "")
            for part in sentences(text)
            if not _asks_back(part)
        )
    approving = proposed or not (asked is None or asks_for_information(asked) or act_cues.CLOSING_OFFER.search(asked))
    if proposed and offer_cues.BOOKS.search(text):
        return True
    notes = (offer_cues.LEAVES, offer_cues.TAKES_NOTE) if proposed else ()
    if any(cue.search(text) for cue in (*notes, offer_cues.ASKS_IN_THE_SAME_BREATH)):
        text = offer_cues.BARE.sub("", text)
    return any(
        _has(part, act_cues.YES, knows)
        or (approving and not _asks_back(part) and bool(offer_cues.APPROVES.search(part)))
        or (request and _repeats_wish(part, asked or ""))
        or (proposed and _takes(part, asked or ""))
        or ((request or proposed) and _approves_by_name(part, asked or ""))
        or ((request or proposed) and not _asks_back(part) and _has(part, act_cues.GOES_AHEAD, knows))
        for sentence in sentences(text)
        for part in (re.split(r",\s*", sentence) if sentence.endswith("?") else (sentence,))
    )


def _repeats_wish(sentence: str, asked: str) -> bool:
    """Whether an answer wishes for the very thing that it was asked whether it is wanted ("I'd like a transfer")."""
    wish = offer_cues.WISHES.search(sentence)
    if wish is not None and re.search(rf"\b{re.escape(wish['what'][:6])}", asked, re.IGNORECASE):
        return True
    order = offer_cues.ORDERS.search(sentence)
    if order is None:
        return False
    acquires = re.fullmatch(offer_cues.ACQUIRES + r"e?", order["what"], re.IGNORECASE)
    return re.search(rf"\b{offer_cues.ACQUIRES if acquires else order['what']}", asked, re.IGNORECASE) is not None


def _takes(sentence: str, asked: str) -> bool:
    """Whether what was held out is taken by its name ("I want to see Dogman")."""
    taken = offer_cues.TAKES.search(sentence)
    if taken is None or offer_cues.WHICH.search(asked):
        return False
    return any(re.search(rf"\b{name}\b", asked) for name in re.findall(r"[A-Z]\w{2,}", taken["what"]))


def _approves_by_name(sentence: str, asked: str) -> bool:
    """Whether one of the things that were named is approved ("The Efes is fine")."""
    named = offer_cues.NAMED.search(sentence)
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
    return bool(act_cues.DECLINES_KINDLY.search(" ".join(sentences(text))))


def _hedged(text: str) -> bool:
    """Whether a yes hangs on something: a condition, a doubt, a question that comes with "but"."""
    parts = sentences(text)
    outright = bool(parts) and _has(parts[0], act_cues.AGREES, None) and not act_cues.YES_BUT.search(parts[0])
    ahead = [place for place, one in enumerate(parts) if act_cues.LETS_GO_AHEAD.search(one)]
    # What somebody doubted before saying "go ahead" is settled by it.
    for place, sentence in enumerate(parts):
        outright = outright or (bool(ahead) and place > ahead[0])
        if ahead and place < ahead[-1]:
            continue
        if act_cues.YES_BUT.search(sentence):
            return True
        match = act_cues.HEDGE.search(sentence)
        if match is None:
            continue
        # A further question after an outright yes takes nothing back; "but" and "only if" do.
        taken_back = re.match(r"\W*(?:but|however|only if|as long as|unless)", match.group(), re.IGNORECASE)
        if (place == 0 and not (outright and sentence.endswith("?"))) or not outright or taken_back:
            return True
    return False


def corrects(text: str, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message says that something said, noted or done is not right, or takes back what it said itself."""
    changes = correction_cues.CHANGES_IT.search(text) and not correction_cues.WANTS_A_CHANGE.search(text)
    return bool(changes) or found(text, correction_cues.CORRECTS, knows)


def is_frustrated(text: str, knows: act_cues.Knows | None = None) -> bool:
    """Whether a message says that its speaker is annoyed, let down or out of patience."""
    return found(mood_cues.MISFORTUNE.sub("", text), mood_cues.FRUSTRATED, knows)


def confirmed(agent_text: str, customer_text: str) -> bool | None:
    """Whether the customer plainly said yes to what the agent asked a yes for.

    True: asked and agreed. False: asked and turned down. None: undecided, because it is open whether a yes was asked
    for, or the answer has a string attached, asks back or says both.
    """
    asked = request(agent_text)
    # What is asked among other things is answered by a go-ahead that says to what.
    explicit = asked is None and asks_to_confirm(agent_text) and doubt_cues.EXPLICIT.search(customer_text)
    return answer_of(customer_text, agent_text) if asked or explicit else None


def answer_of(text: str, request: str | None = None) -> bool | None:
    """What a message answers to a request for a yes (`request`, where its wording is known), as `confirmed` says it."""
    yes, no = agreement(text, request), refusal(text, request)
    if yes and no is not True:
        return True
    return False if no and yes is not True else None


# What follows says of an act that it is there (True), that it is not (False), or that the wording leaves it open
# (None): a cue that has been wrong in some talk, or a word (`doubt_cues`) by which people do it in other ways.


def request(text: str) -> bool | None:
    """Whether a message of the agent asks for a yes before something is done."""
    parts = sentences(text)
    if not asks_to_confirm(text):
        return None if any(map(_may_request, parts)) else False
    asking = [one for one in parts if _requests(one)] or [one for one in parts if "?" in one and _offers_service(parts)]
    if any(doubt_cues.NOTHING_MORE.search(one) and act_cues.CLOSING_OFFER.search(one) for one in asking):
        return None
    if any(doubt_cues.DIRECT.search(one) and not doubt_cues.PARTICULAR.search(one) for one in asking):
        return True
    others = (one for one in parts if one not in asking)
    besides = any(_has(one, act_cues.ASKS_FOR_INFORMATION, None) or _is_question(one) for one in others)
    return None if besides or not asking else True


def _may_request(sentence: str) -> bool:
    if _closes(sentence):
        return False
    tells = _has(sentence, (*act_cues.ASKS_FOR_INFORMATION, *act_cues.ASKS_AGAIN), None)
    if "?" in sentence:
        tells = tells or bool(doubt_cues.PREFERENCE.search(sentence))
        return not (_is_open(sentence) or (tells and not doubt_cues.STRONG.search(sentence)))
    if doubt_cues.ANNOUNCES.search(sentence):
        return True
    return bool(doubt_cues.REQUEST_WITHOUT_A_QUESTION.search(sentence)) and not (
        tells and not re.search(r"\b(?:confirm|approv|agree|consent|permission)", sentence, re.IGNORECASE)
    )


def _is_open(sentence: str) -> bool:
    """Whether a question is one that no yes answers."""
    return bool(doubt_cues.OPEN.search(sentence) or doubt_cues.OPEN_WITHIN.search(sentence))


def _closes(sentence: str) -> bool:
    """Whether a sentence offers more help and nothing else."""
    offers = act_cues.CLOSING_OFFER.search(sentence) and doubt_cues.SERVES.search(sentence)
    return bool(offers and not doubt_cues.TELL_ME.search(sentence))


def _is_question(sentence: str) -> bool:
    return "?" in sentence and not _closes(sentence)


def clarification(text: str) -> bool | None:
    """Whether a message of the agent asks for a fact, a choice or to hear something again."""
    parts = [one for one in sentences(text) if not _closes(one)]
    if asks_for_information(text):
        if asks_to_confirm(text):
            plain = any(("?" in one and _is_open(one)) or doubt_cues.TELL_ME.search(one) for one in parts)
            return True if plain else None
        return True if any(map(_asks_for_a_fact, parts)) else None
    if request(text):
        parts = [one for one in parts if not (_requests(one) or _offers_service((one,)))]
    return None if any("?" in one or doubt_cues.WANTS_TO_HEAR.search(one) for one in parts) else False


def _asks_for_a_fact(sentence: str) -> bool:
    if _has(sentence, (*act_cues.ASKS_FOR_INFORMATION, *act_cues.ASKS_AGAIN), None):
        return True
    if "?" not in sentence or doubt_cues.MORE.search(sentence):
        return False
    fact = doubt_cues.FACT.search(sentence) and not doubt_cues.OFFER.search(sentence)
    return bool(fact) or _is_open(sentence)


def agreement(text: str, asked: str | None) -> bool | None:
    """Whether a message says yes to what the other side said last (None: its wording is not known)."""
    if agrees(text, asked):
        if asked is not None and "?" in asked and not _holds_out(asked):
            return None
        if doubt_cues.OUTRIGHT.search(text):
            return True
        back = any("?" in one and doubt_cues.ASKS_BACK.search(one) for one in sentences(text))
        return None if back or doubt_cues.DOUBT.search(text) else True
    if asked is None:
        return None if doubt_cues.YES.search(text) else False
    if _holds_out(asked):
        possible = doubt_cues.YES.search(text if "?" in asked else doubt_cues.THANKS.sub("", text))
    elif clarification(asked):
        possible = doubt_cues.OUTRIGHT.search(text) and not doubt_cues.GIVES.search(text)
    else:
        possible = doubt_cues.EXPLICIT.search(text) or act_cues.YES[0].pattern.search(text)
    return None if possible else False


def _holds_out(asked: str) -> bool:
    """Whether a message of the agent may hold out what can be taken or turned down."""
    questions = [one for one in sentences(asked) if _is_question(one)]
    facts = all(_is_open(one) or (_asks_for_a_fact(one) and not doubt_cues.STRONG.search(one)) for one in questions)
    told = "?" not in asked and not clarification(asked) and not doubt_cues.FAREWELL.search(asked)
    return request(asked) is not False or not facts or told or _proposes(asked)


def refusal(text: str, asked: str | None) -> bool | None:
    """Whether a message turns down what was proposed."""
    if refuses(text, asked):
        yes = doubt_cues.OUTRIGHT.search(text) or doubt_cues.EXPLICIT.search(text)
        if yes or found(text, act_cues.YES) or doubt_cues.NO_OTHER.search(text):
            return None
        if _restates(text, asked):
            return None
        if asked is None or asks_to_confirm(asked):
            return True
        closing = any("?" in one and doubt_cues.MORE.search(one) for one in sentences(asked))
        return None if closing or doubt_cues.LEAVES.search(text) else True
    if asked is None:
        return None if doubt_cues.NO.search(text) else False
    if not _holds_out(asked):
        return None if doubt_cues.GIVES_UP.search(text) else False
    wish = agreement(text, asked) is not True and doubt_cues.WISH.search(text)
    return None if wish or doubt_cues.NO.search(text) else False


def correction(text: str, asked: str | None) -> bool | None:
    """Whether a message puts right what was said, noted or done."""
    if _restates(text, asked) or correction_cues.INSISTS.search(text) or correction_cues.DOUBTS_IT.search(text):
        return True
    if corrects(text):
        return True if doubt_cues.PUTS_RIGHT.search(text) else None
    if asked is not None and request(asked) is False:
        return None if doubt_cues.CORRECTION_UNASKED.search(text) else False
    answered = asked is not None and (agreement(text, asked) or refusal(text, asked))
    if answered and not doubt_cues.TAKEN_BACK.search(text):
        return False
    anew = asked is not None and doubt_cues.ANEW.search(text)
    if anew and not doubt_cues.OUTRIGHT.search(text):
        return None
    return None if doubt_cues.CORRECTION.search(text) else False


def _restates(text: str, asked: str | None) -> bool:
    """Whether an answer to a request for a yes puts another particular in place of the one that was held out."""
    if asked is None or not asks_to_confirm(asked) or doubt_cues.OUTRIGHT.search(text):
        return False
    if doubt_cues.RESTATES.search(text):
        return bool(request(asked))
    if correction_cues.TURNS_DOWN.search(text):
        return False
    anew = correction_cues.ANEW.search(text) and (
        correction_cues.INSTEAD.search(text) or correction_cues.particulars(text) - correction_cues.particulars(asked)
    )
    return bool(anew) or correction_cues.counts_otherwise(text, asked)


def frustration(text: str) -> bool | None:
    """Whether a message says that its speaker is annoyed or out of patience."""
    return True if is_frustrated(text) else None if doubt_cues.FRUSTRATION.search(text) else False
