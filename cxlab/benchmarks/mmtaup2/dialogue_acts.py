"""What a message does, read from its wording: asks for a yes or for facts, agrees, refuses, corrects, loses patience.

Read sentence by sentence, by cues of the speech act (`cues`) and never by whole messages. Precision and recall on
the wording of a real model and its customers stand in `tests/benchmarks/mmtaup2/test_dialogue_acts.py`. `agrees`,
`refuses` and the like say what the cues find; `agreement`, `refusal` and the like say None besides where that is not
plain, and a judge's to decide.
"""

from __future__ import annotations

import re

from cxlab.benchmarks.mmtaup2.cues import answers, corrections, doubts, moods, offers, questions
from cxlab.benchmarks.mmtaup2.cues.reading import (
    agrees,
    asks_for_information,
    asks_to_confirm,
    corrects,
    found,
    has,
    is_frustrated,
    offers_service,
    offers_to_act,
    proposes,
    refuses,
    requests,
    sentences,
)

__all__ = [
    "agreement", "agrees", "answer_of", "asks_for_information", "asks_to_confirm", "clarification", "confirmed",
    "correction", "corrects", "found", "frustration", "is_frustrated", "offers_to_act", "refusal", "refuses",
    "repairs_itself", "request", "sentences",
]  # fmt: skip


def confirmed(agent_text: str, customer_text: str) -> bool | None:
    """Whether the customer plainly said yes to what the agent asked a yes for.

    True: asked and agreed. False: asked and turned down. None: undecided, because it is open whether a yes was asked
    for, or the answer has a string attached, asks back or says both.
    """
    asked = request(agent_text)
    # What is asked among other things is answered by a go-ahead that says to what.
    explicit = asked is None and asks_to_confirm(agent_text) and doubts.EXPLICIT.search(customer_text)
    return answer_of(customer_text, agent_text) if asked or explicit else None


def answer_of(text: str, request: str | None = None) -> bool | None:
    """What a message answers to a request for a yes (`request`, where its wording is known), as `confirmed` says it."""
    yes, no = agreement(text, request), refusal(text, request)
    if yes and no is not True:
        return True
    return False if no and yes is not True else None


# What follows says of an act that it is there (True), that it is not (False), or that the wording leaves it open
# (None): a cue that has been wrong in some talk, or a word (`cues.doubts`) by which people do it in other ways.


def request(text: str) -> bool | None:
    """Whether a message of the agent asks for a yes before something is done."""
    parts = sentences(text)
    if not asks_to_confirm(text):
        return None if any(map(_may_request, parts)) else False
    asking = [one for one in parts if requests(one)] or [one for one in parts if "?" in one and offers_service(parts)]
    if any(map(doubts.PAST.search, asking)):
        return None
    if any(doubts.NOTHING_MORE.search(one) and questions.CLOSING_OFFER.search(one) for one in asking):
        return None
    if any(doubts.DIRECT.search(one) and not doubts.PARTICULAR.search(one) for one in asking):
        return True
    others = (one for one in parts if one not in asking)
    besides = any(has(one, questions.ASKS_FOR_INFORMATION, None) or _is_question(one) for one in others)
    return None if besides or not asking else True


def _may_request(sentence: str) -> bool:
    if _closes(sentence):
        return False
    tells = has(sentence, (*questions.ASKS_FOR_INFORMATION, *questions.ASKS_AGAIN), None)
    if "?" in sentence:
        tells = tells or bool(doubts.PREFERENCE.search(sentence))
        return not (_is_open(sentence) or (tells and not doubts.STRONG.search(sentence)))
    if doubts.ANNOUNCES.search(sentence):
        return True
    return bool(doubts.REQUEST_WITHOUT_A_QUESTION.search(sentence)) and not (
        tells and not re.search(r"\b(?:confirm|approv|agree|consent|permission)", sentence, re.IGNORECASE)
    )


def _is_open(sentence: str) -> bool:
    """Whether a question is one that no yes answers."""
    return bool(doubts.OPEN.search(sentence) or doubts.OPEN_WITHIN.search(sentence))


def _closes(sentence: str) -> bool:
    """Whether a sentence offers more help and nothing else."""
    more = questions.CLOSING_OFFER.search(sentence) and doubts.SERVES.search(sentence)
    return bool(more and not doubts.TELL_ME.search(sentence))


def _is_question(sentence: str) -> bool:
    return "?" in sentence and not _closes(sentence)


def clarification(text: str) -> bool | None:
    """Whether a message of the agent asks for a fact, a choice or to hear something again."""
    parts = [one for one in sentences(text) if not _closes(one)]
    if asks_for_information(text):
        if asks_to_confirm(text):
            plain = any(("?" in one and _is_open(one)) or doubts.TELL_ME.search(one) for one in parts)
            return True if plain else None
        return True if any(map(_asks_for_a_fact, parts)) else None
    if request(text):
        parts = [one for one in parts if doubts.ONE_OF.search(one) or not (requests(one) or offers_service((one,)))]
    return None if any("?" in one or doubts.WANTS_TO_HEAR.search(one) for one in parts) else False


def _asks_for_a_fact(sentence: str) -> bool:
    if has(sentence, (*questions.ASKS_FOR_INFORMATION, *questions.ASKS_AGAIN), None):
        return not doubts.INSTRUCTS.search(sentence)
    if "?" not in sentence or doubts.MORE.search(sentence):
        return False
    fact = doubts.FACT.search(sentence) and not doubts.OFFER.search(sentence)
    return bool(fact) or _is_open(sentence)


def agreement(text: str, asked: str | None) -> bool | None:
    """Whether a message says yes to what the other side said last (None: its wording is not known)."""
    if _restates(text, asked):
        return None
    if asked is not None and asks_to_confirm(asked) and _approves(text):
        return True
    if agrees(text, asked):
        if asked is not None and "?" in asked and (not _holds_out(asked) or _asks_what_else(asked)):
            return None
        if _names_another(text, asked) and not doubts.EXPLICIT.search(text):
            return None
        if doubts.GOES.search(text) and not (doubts.OUTRIGHT.search(text) or doubts.EXPLICIT.search(text)):
            return None
        if doubts.OUTRIGHT.search(text):
            return True
        back = any("?" in one and doubts.ASKS_BACK.search(one) for one in sentences(text))
        return None if back or doubts.DOUBT.search(text) else True
    if asked is None:
        return None if doubts.YES.search(text) else False
    if _holds_out(asked):
        possible = bool(doubts.YES.search(text if "?" in asked else doubts.THANKS.sub("", text)))
    elif clarification(asked):
        possible = bool(doubts.OUTRIGHT.search(text)) and not doubts.GIVES.search(text)
    else:
        possible = bool(doubts.EXPLICIT.search(text) or answers.YES[0].pattern.search(text))
    return None if possible else False


def _asks_for_a_preference(asked: str) -> bool:
    """Whether what a message asks last is a wish or a fact, which "not really" and "rather" do not turn down."""
    last = next((one for one in reversed(sentences(asked)) if _is_question(one)), "")
    wish = doubts.FACT.search(last) or doubts.PREFERENCE.search(last)
    return bool(wish) and not (requests(last) or doubts.STRONG.search(last) or doubts.OFFER.search(last))


def _asks_what_else(asked: str) -> bool:
    """Whether what a message asks last is a wish or whether there is more: its yes opens what is told next."""
    last = next((one for one in reversed(sentences(asked)) if "?" in one), "")
    return _closes(last) or _asks_for_a_preference(asked)


def _approves(text: str) -> bool:
    """Whether a message begins with an approval, whatever it asks behind it ("That sounds fine. Where is it?")."""
    first = (sentences(text) or ("",))[0]
    approval = offers.APPROVES.search(first) or offers.PRAISES.search(first)
    return bool(approval) and "?" not in first and not (offers.NOT_SO.search(text) or doubts.DOUBT.search(text))


def _holds_out(asked: str) -> bool:
    """Whether a message of the agent may hold out what can be taken or turned down."""
    put = [one for one in sentences(asked) if _is_question(one)]
    facts = all(_is_open(one) or (_asks_for_a_fact(one) and not doubts.STRONG.search(one)) for one in put)
    told = "?" not in asked and not clarification(asked) and not doubts.FAREWELL.search(asked)
    return request(asked) is not False or not facts or told or proposes(asked)


def refusal(text: str, asked: str | None) -> bool | None:
    """Whether a message turns down what was proposed."""
    if asked is not None and offers.NONE_WILL_DO.search(text):
        return True
    if refuses(text, asked):
        if "but" in text.lower().split() and _approves(text.lower().partition(" but ")[0]):
            return None
        but = answers.YES_BUT.search(text) and not any(map(answers.ELSEWHERE.search, sentences(text)))
        yes = doubts.OUTRIGHT.search(text) or doubts.EXPLICIT.search(text) or but
        if yes or found(text, answers.YES) or doubts.NO_OTHER.search(text):
            return None
        if (_restates(text, asked) and not doubts.SAYS_NO.search(text)) or (
            _asks_for_a_preference(asked or "") and not found(text, answers.WITHDRAWS)
        ):
            return None
        if asked is None or asks_to_confirm(asked) or doubts.PLAIN_NO.search(text):
            return True
        closing = any("?" in one and doubts.MORE.search(one) for one in sentences(asked))
        return None if closing or doubts.LEAVES.search(text) else True
    if asked is not None and doubts.PLAIN_NO.search(text) and not (clarification(asked) and not _holds_out(asked)):
        return True
    if asked is None:
        return None if doubts.NO.search(text) else False
    if not _holds_out(asked):
        return None if doubts.GIVES_UP.search(text) else False
    wish = agreement(text, asked) is not True and doubts.WISH.search(text)
    return None if wish or doubts.NO.search(text) else False


_CORRECTS_PLAINLY = (
    corrections.INSISTS, corrections.DOUBTS_IT, corrections.REPAIRS, corrections.HOLDS_AGAINST,
    corrections.LACKED,
)  # fmt: skip


def correction(text: str, asked: str | None) -> bool | None:
    """Whether a message puts right what was said, noted or done."""
    plain = " ".join(sentences(text))
    said = sentences(text)
    if said and not said[0].endswith("?") and all(map(doubts.NO_MORE_THAN_LOST.search, said)):
        return False
    if doubts.NO_THAT_IS_ALL.search(plain):
        return False
    if _restates(text, asked) or any(cue.search(plain) for cue in _CORRECTS_PLAINLY):
        return True
    if asked is not None and corrections.TAKES_BACK.search(plain):
        return True
    if asked is not None and (request(asked) or "?" not in asked) and corrections.ACTUALLY.search(plain):
        return True
    if asked is not None and corrections.denies(sentences(text), sentences(asked)):
        return True
    if corrects(text):
        return True if doubts.PUTS_RIGHT.search(text) else None
    if asked is not None and request(asked) is False:
        anew = _holds_out(asked) and corrections.differs(text, asked)
        return None if anew or doubts.CORRECTION_UNASKED.search(text) else False
    answered = asked is not None and (agreement(text, asked) or refusal(text, asked))
    if answered and _names_another(text, asked):
        return None
    settled = answered and (agreement(text, asked) or corrections.TURNS_DOWN.search(text) or len(text.split()) < 5)
    if settled and not doubts.TAKEN_BACK.search(text):
        return False
    if asked is not None and doubts.ANEW.search(text) and not doubts.OUTRIGHT.search(text):
        return None
    return None if doubts.CORRECTION.search(text) else False


def repairs_itself(text: str) -> bool:
    """Whether a message corrects nothing but its own words of the same breath, which costs no message of its own."""
    plain = " ".join(sentences(text))
    found = corrections.REPAIRS.search(plain)
    if found is None or doubts.PUTS_RIGHT.search(plain):
        return False
    # "Let me find my glasses. No, it is 555-221-6727" takes up a code that stood in an earlier message.
    before, after = plain[: found.start()], plain[found.start() :]
    return not corrections.CODE.search(after) or any(each.isdigit() for each in before)


def _restates(text: str, asked: str | None) -> bool:
    """Whether an answer to a request for a yes puts another particular in place of the one that was held out."""
    if asked is None or doubts.OUTRIGHT.search(text) or "?" in text.split(".")[0]:
        return False
    held_out = asks_to_confirm(asked)
    if held_out and doubts.RESTATES.search(text):
        return bool(request(asked))
    if corrections.TURNS_DOWN.search(text) or not (held_out or "?" in asked):
        return False
    if corrections.ANEW.search(text):
        if not held_out:
            return corrections.differs(text, asked, ("time", "day"))
        return bool(corrections.INSTEAD.search(text)) or corrections.differs(text, asked)
    wished = len(text.split()) < 13 and corrections.WISHED.search(text)
    anew = wished and corrections.differs(text, asked, ("time", "day", "count"))
    return held_out and (bool(anew) or corrections.counts_otherwise(text, asked))


def _names_another(text: str, asked: str | None) -> bool:
    """Whether an answer names another time or day than the one held out."""
    differs = asked is not None and corrections.differs(text, asked, ("time", "day"))
    return differs and not doubts.OUTRIGHT.search(text)


def frustration(text: str) -> bool | None:
    """Whether a message says that its speaker is annoyed or out of patience."""
    if is_frustrated(text):
        return True
    signs = (moods.DISTRESS, moods.MAY_BE_UPSET, moods.LOUD, moods.RAISES)
    return None if any(sign.search(one) for one in sentences(text) for sign in signs) else False
