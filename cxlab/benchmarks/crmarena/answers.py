"""What an answer is worth: exact match as published, the same on the answer taken out of a sentence, and token F1.

A missing answer (None) is never the answer "None", which says that the question has none. All values are from 0 to 1.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cxlab.benchmarks.crmarena.organisation.ids import complete_id
from cxlab.benchmarks.crmarena.tasks import MONTHS, PREFIXES, Answer
from cxlab.metrics.passk import pass_hat_k

NO_ANSWER = "None"
"""What an agent submits where a question has no answer; its gold is None."""

_MARKS = re.compile("[" + re.escape(string.punctuation + "‘’´`") + "]")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_STATE_LIST = """
Alabama:AL Alaska:AK Arizona:AZ Arkansas:AR California:CA Colorado:CO Connecticut:CT Delaware:DE Florida:FL Georgia:GA
Hawaii:HI Idaho:ID Illinois:IL Indiana:IN Iowa:IA Kansas:KS Kentucky:KY Louisiana:LA Maine:ME Maryland:MD
Massachusetts:MA Michigan:MI Minnesota:MN Mississippi:MS Missouri:MO Montana:MT Nebraska:NE Nevada:NV New_Hampshire:NH
New_Jersey:NJ New_Mexico:NM New_York:NY North_Carolina:NC North_Dakota:ND Ohio:OH Oklahoma:OK Oregon:OR Pennsylvania:PA
Rhode_Island:RI South_Carolina:SC South_Dakota:SD Tennessee:TN Texas:TX Utah:UT Vermont:VT Virginia:VA Washington:WA
West_Virginia:WV Wisconsin:WI Wyoming:WY District_of_Columbia:DC
"""
STATES: Mapping[str, str] = {name.replace("_", " "): code for name, code in re.findall(r"(\w+):(\w+)", _STATE_LIST)}
"""Name of a state → its two letters."""
_BY_NAME = {name.lower(): code for name, code in STATES.items()}
# Longer names first: West Virginia is not Virginia.
_STATE = re.compile(
    rf"\b({'|'.join(sorted(_BY_NAME, key=len, reverse=True))})\b|(?-i:\b({'|'.join(STATES.values())})\b)", re.I
)
_ID = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?)(?![A-Za-z0-9])")
# May is a word of its own: as a month it has its capital letter.
_MONTH = re.compile(rf"\b(?:(?-i:May)|{'|'.join(month for month in MONTHS if month != 'May')})\b", re.I)
# "Sep 2021", "Sept.": shortened they have their capital letter; "2021-09" is the first day of one or the month itself.
_SHORT_MONTH = re.compile(rf"\b({'|'.join(month[:3] for month in MONTHS)})(?:t(?<=Sept))?\b\.?(?!\w)")
_ISO_MONTH = re.compile(r"(?<!\d)\d{4}-(0[1-9]|1[0-2])(?!\d)")
_NONE = re.compile(r"\b(?:None|NONE|null|N/A)\b")


def exact(predicted: object, gold: object) -> float:
    """Exact match as published: 1 where the text is the gold answer, letter by letter; a gold of None is "None"."""
    if predicted is None:
        return 0.0
    return float(predicted == (NO_ANSWER if gold is None else gold))


def f1(predicted: object, gold: object) -> float:
    """F1 of the tokens of two texts, counted with repeats: `_` and each punctuation mark become a blank, letters small,
    the articles a, an and the are dropped. 0 where nothing is common to both, also where both are empty.
    """
    if predicted is None:
        return 0.0
    found, wanted = tokens(str(predicted)), tokens(NO_ANSWER if gold is None else str(gold))
    common = sum((Counter(found) & Counter(wanted)).values())
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def tokens(text: str) -> list[str]:
    """What F1 counts of a text."""
    return _ARTICLES.sub(" ", _MARKS.sub(" ", text.replace("_", " ").lower())).split()


def extract(predicted: str | None, kind: Answer) -> str | None:
    """The answer in what an agent submitted, by rules: an id of the right object, a month, a state's two letters, or
    "None"; None where there is no such thing, or more than one.

    Of an id of 15 characters the whole one is given, of a state's name its letters. A text for people is left as it is.
    """
    if predicted is None:
        return None
    text = predicted.strip().strip("\"'` ")
    if kind == "text":
        return text or None
    found = list(dict.fromkeys(_candidates(text, kind)))
    if not found and _NONE.search(text if len(text) > 8 else text.capitalize()):
        return NO_ANSWER
    return found[0] if len(found) == 1 else None


def _candidates(text: str, kind: Answer) -> Iterable[str]:
    if kind == "month":
        if named := [each.capitalize() for each in _MONTH.findall(text)]:
            return named
        if short := _SHORT_MONTH.findall(text):
            return [next(month for month in MONTHS if month.startswith(each)) for each in short]
        return [MONTHS[int(number) - 1] for number in _ISO_MONTH.findall(text)]
    if kind == "state":
        return [_BY_NAME.get(name.lower(), "") if name else code for name, code in _STATE.findall(text)]
    ids = [each for each in _ID.findall(text) if each.startswith(PREFIXES[kind])]
    return [complete_id(each) if len(each) == 15 else each for each in ids]


def exact_extracted(predicted: str | None, gold: str | None, kind: Answer) -> float:
    """Exact match of the answer that `extract` takes out of what was submitted."""
    return exact(extract(predicted, kind), gold)


def pass_k(passed: Mapping[str, Sequence[bool]], k: int) -> float:
    """pass^k: the chance that k trials of a query all pass, the mean over queries. `passed`: query → its trials.

    Leave knowledge questions out: they have no pass or fail. BadOption where a query has fewer than k trials.
    """
    if not passed:
        return float("nan")
    hits = [sum(trials) for trials in passed.values()]
    return float(np.mean(pass_hat_k(hits, [len(trials) for trials in passed.values()], k)))


def best_constant(golds: Sequence[str | None]) -> tuple[str, float]:
    """The one answer that is right most often, and its exact match: the floor that any agent has to beat."""
    if not golds:
        return NO_ANSWER, float("nan")
    answer, count = Counter(NO_ANSWER if gold is None else gold for gold in golds).most_common(1)[0]
    return answer, count / len(golds)
