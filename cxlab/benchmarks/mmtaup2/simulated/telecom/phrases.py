"""How simulated agents and customers of telecom put things into words, and what each takes from the other's.

Everything goes through words: what was misheard, or said in a way that the other side does not know, is lost until
somebody asks again. The wordings stand in data/simulated/mmtaup2/telecom_phrases.yaml.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.files import grammar
from cxlab.llm import simulated
from cxlab.llm.simulated import Profile
from cxlab.records.base import Record

FILE = resources.data("simulated", "mmtaup2", "telecom_phrases.yaml")
SENTENCES = re.compile(r"[.!?]+(?:\s|$)")
CLAUSES = re.compile(r"[.!?,;:]+(?:\s|$)|\s(?:and|end|ant)\s")
# Of what a profile misses, the share that it will not get however often it is said.
NEVER = 0.35
WORD = re.compile(r"[a-z0-9']+")


class Request(Record):
    """Something that an agent may ask a customer to do on the phone; see the file's head for the keys."""

    tool: str
    named: str
    plain: str
    what: str
    plain_what: str
    verb: str
    tells: tuple[str, ...]
    closed: str = ""
    arguments: dict[str, str] = {}
    fix: bool = False


class Wording(Record):
    """How a state of the phone is said, and how such words are recognised."""

    named: str
    described: str
    reads: str
    hints: str


class TelecomPhrases(Record):
    """The whole file."""

    requests: dict[str, Request]
    facts: dict[str, dict[str, Wording]]
    customer: dict[str, dict[str, tuple[str, ...]]]
    agent: dict[str, tuple[str, ...]]


@functools.cache
def phrases() -> TelecomPhrases:
    return files.load_model(FILE, TelecomPhrases, "see the head of the file")


# Words


@dataclass(frozen=True)
class WordPattern:
    """Words that must stand together: one of each set in `some`, none of `none`."""

    some: tuple[frozenset[str], ...]
    none: frozenset[str]

    def fits(self, clause: frozenset[str]) -> bool:
        return self.none.isdisjoint(clause) and not any(one.isdisjoint(clause) for one in self.some)


@functools.lru_cache(maxsize=500)
def specs(line: str) -> tuple[WordPattern, ...]:
    found = []
    for part in line.split(" / "):
        words = part.split()
        none = frozenset(word[1:] for word in words if word.startswith("!"))
        found.append(WordPattern(tuple(frozenset(w.split("|")) for w in words if not w.startswith("!")), none))
    return tuple(found)


def stands(line: str, clause: frozenset[str]) -> bool:
    return any(spec.fits(clause) for spec in specs(line))


@functools.cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    """(words that recognise something, all words of all wordings)."""
    talk = phrases()
    lines = [x for one in talk.requests.values() for x in (one.what, one.plain_what, one.verb)]
    lines += [x for values in talk.facts.values() for one in values.values() for x in (one.reads, one.hints)]
    keys = {word for line in lines for word in re.findall(r"[a-z0-9]+", line)}
    said = [x for one in talk.requests.values() for x in (one.named, one.plain, one.closed)]
    said += [x for values in talk.facts.values() for one in values.values() for x in (one.named, one.described)]
    said += [x for kinds in talk.customer.values() for lines_ in kinds.values() for x in lines_]
    said += [x for lines_ in talk.agent.values() for x in lines_]
    return frozenset(keys), frozenset(keys | {w for line in said for w in WORD.findall(line.lower())})


@functools.lru_cache(maxsize=50_000)
def nearest(word: str) -> str:
    """The word of the domain that a strange word was most likely meant as; the word itself if none is near."""
    from rapidfuzz.distance import OSA

    keys, common = _vocabulary()
    if word in common or len(word) < 3 or word.isdigit():
        return word
    reach = 1 if len(word) < 7 else 2
    near = [(OSA.distance(word, key, score_cutoff=reach), key) for key in keys if abs(len(key) - len(word)) <= reach]
    near = sorted(pair for pair in near if pair[0] <= reach and len(pair[1]) >= 3)
    # Two that are equally near are no answer.
    return near[0][1] if near and (len(near) == 1 or near[0][0] < near[1][0]) else word


def _ends(words: list[str]) -> list[str]:
    """On and off are heard as other small words; at the end of a clause they can be nothing else."""
    if words and words[-1] in ("of", "an", "own"):
        words[-1] = "off" if words[-1] == "of" else "on"
    return words


def put_right(text: str, reader: str, ear: float) -> str:
    """A text in small letters, its strange words put right as well as the reader's ear can."""
    return " ".join(nearest(w) if simulated.knows(reader, f"ear {w}", ear) else w for w in WORD.findall(text.lower()))


@functools.lru_cache(maxsize=50_000)
def clauses(text: str, whole: bool, reader: str, ear: float) -> tuple[frozenset[str], ...]:
    """The words of each clause (`whole`: sentence), strange ones put right as well as the reader's ear can."""
    found = []
    for part in (SENTENCES if whole else CLAUSES).split(text.lower()):
        words = [nearest(w) if simulated.knows(reader, f"ear {w}", ear) else w for w in WORD.findall(part)]
        if words:
            found.append(frozenset(_ends(words)))
    return tuple(found)


# Requests


@dataclass(frozen=True)
class RequestMention:
    """A request found in a message; `named` when it came in the words of people who know the names."""

    name: str
    named: bool


@functools.lru_cache(maxsize=20_000)
def requests_in(text: str) -> tuple[RequestMention, ...]:
    """The requests of a message in its order, each once."""
    found: dict[str, RequestMention] = {}
    for words in clauses(text, True, "", 1.0):
        for name, one in phrases().requests.items():
            if name in found or not stands(one.verb, words):
                continue
            plain = stands(one.plain_what, words)
            if plain or stands(one.what, words):
                found[name] = RequestMention(name, not plain)
    return tuple(found.values())


@functools.lru_cache(maxsize=20_000)
def things_in(text: str) -> tuple[str, ...]:
    """Names of things in a message that a layman would stumble over, as they stand in it."""
    return tuple(dict.fromkeys(m[0] for m in _TERMS.finditer(text)))


_TERMS = re.compile(
    r"\b(?:APN|MMSC|MMS|VPN|SIM|Data Saver|Data Roaming|Airplane Mode|Wi-?Fi Calling|network (?:mode|status)|"
    r"status bar|reseat|reboot|permissions?)\b",
    re.IGNORECASE,
)


# Facts


@functools.lru_cache(maxsize=50_000)
def facts_said(text: str, reader: str = "", ear: float = 1.0) -> tuple[tuple[str, str, bool], ...]:
    """(fact, value, whether said outright) for each state of the phone that a text tells."""
    found: list[tuple[str, str, bool]] = []
    for words in clauses(text, False, reader, ear):
        found += _facts_of_clause(words)
    return tuple(found)


# Many readers hear the same words.
@functools.lru_cache(maxsize=50_000)
def _facts_of_clause(words: frozenset[str]) -> tuple[tuple[str, str, bool], ...]:
    found = []
    for fact, values in phrases().facts.items():
        for value, one in values.items():
            if stands(one.reads, words):
                found.append((fact, value, True))
            elif stands(one.hints, words):
                found.append((fact, value, False))
    return tuple(found)


def facts_in(text: str, profile: Profile, case: str, before: int = 0) -> dict[str, str]:
    """What a reader of this profile takes from a customer's words in one talk (`case`).

    Some states it does not know at all in this talk, some it misses in this wording and may get in the next, or
    when the same words are said once more (`before`: how often they were said already).
    """
    found = {}
    for fact, value, plain in facts_said(text, profile.name, profile.subtlety):
        share = profile.comprehension if plain else profile.subtlety
        known = knows(profile, f"{case} {fact} {value} {plain}", 1 - (1 - share) * NEVER)
        if known and knows(profile, f"{fact} {value} {text}" + f" {before}" * bool(before), share):
            found[fact] = value
    return found


def facts_of(tool: str, value: Any) -> dict[str, tuple[str, str]]:
    """What a tool's result shows: fact → (value, how it is displayed)."""
    found: dict[str, tuple[str, str]] = {}
    if not isinstance(value, Mapping):
        return found
    bar = value.get("status_bar")
    if isinstance(bar, Mapping):
        # The bar's own switches depend on the connection; only signal and airplane mode are sure.
        for name in ("airplane_mode", "network_signal_strength"):
            if name in bar:
                found |= _fact(name, bar[name])
    for name, shown in value.items():
        if tool == "check_status_bar" and name in ("data_enabled", "vpn_connected", "data_saver_mode"):
            continue
        if name == "vpn_connected" and shown and value.get("vpn_details"):
            poor = value["vpn_details"].get("server_performance") == "poor"
            found["vpn"] = ("poor", "poor") if poor else ("fine", "good")
            continue
        found |= _fact(name, shown)
    if tool == "reseat_sim_card":
        found = {"reseated": ("yes", "")} | found
    return found


def _fact(name: str, shown: Any) -> dict[str, tuple[str, str]]:
    on = "on" if shown else "off"
    match name:
        case "airplane_mode":
            return {"airplane": (on, on)}
        case "network_signal_strength":
            return {"signal": ("none", "") if shown == "none" else ("some", str(shown))}
        case "data_enabled":
            return {"data": (on, on)}
        case "roaming_enabled":
            return {"roaming": (on, on)}
        case "data_saver_mode":
            return {"saver": (on, on)}
        case "vpn_connected":
            return {"vpn": ("fine", "good") if shown else ("off", "off")}
        case "sim_card_status":
            return {"sim": ("locked" if str(shown).startswith("locked") else str(shown), str(shown))}
        case "apn_name":
            return {"apn": ("broken" if shown == "broken" else "fine", str(shown))}
        case "mmsc_url":
            return {"mmsc": ("fine" if shown else "missing", "")}
        case "network_mode_preference":
            old = str(shown)[:1] in "23"
            return {"mode": ("old" if old else "new", str(shown)[:2].upper() + (" only" if old else " and 5G"))}
        case "wifi_calling_enabled":
            return {"wificalling": (on, on)}
        case "granted":
            return {one: ("granted" if one in shown else "missing", "") for one in ("storage", "sms")}
        case "description":
            word = str(shown)
            kind = {"excellent": "excellent", "no connection": "none"}.get(word, "slow")
            return {"speed": (kind, word)}
        case "can_send_mms":
            return {"mms": ("yes" if shown else "no", "")}
        case "payment_request":
            return {"payment": ("waiting", f"${shown['amount_due']:.2f}") if shown else ("none", "")}
        case "paid_bill_id":
            return {"paid": ("yes", "")}
        case "reset_at_reboot":
            return {"reset": ("yes", "")} if shown else {}
        case "rebooted":
            return {"rebooted": ("yes", "")}
    return {}


# Saying


def say_fact(fact: str, value: str, shown: str, described: bool, rng: np.random.Generator) -> str:
    """A state in words, small first letter, no full stop."""
    wording = phrases().facts[fact][value]
    line = wording.described if described else wording.named
    return grammar.piece(line, rng, {"value": shown or value})


def customer_line(kind: str, person: str, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    """One of the lines of such a person ("hard", "hurried", "wary"), or of nobody in particular; may be ""."""
    lines = phrases().customer[kind]
    return grammar.say_one(lines.get(person, lines["none"]), rng, slots)


def agent_line(kind: str, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    return grammar.say_one(phrases().agent[kind], rng, slots)
