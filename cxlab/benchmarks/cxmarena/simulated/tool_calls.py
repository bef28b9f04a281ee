"""How simulated models choose a tool and fill it in: by the article's steps, what was done and what was asked for."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import ToolInputs
from cxlab.benchmarks.cxmarena.simulated.answers import PHRASES, language
from cxlab.benchmarks.cxmarena.simulated.transcript_tasks import known, pick, turns, write
from cxlab.benchmarks.cxmarena.text import content, sentences
from cxlab.llm.base import Completion
from cxlab.llm.simulated import Profile
from cxlab.records import ToolCall

# What an article's step, a question just asked and a step already taken count for beside words in common.
NAMED, ASKED, DONE = 4.0, 3.0, 5.0
_SHAPES = tuple(
    (re.compile(name, re.IGNORECASE), re.compile(shape, flags))
    for name, shape, flags in (
        (r"e-?mail|courriel", r"[\w.+-]+@[\w-]+\.[\w.]+\w", 0),
        (r"phone|telefon|téléphone|mobile", r"\+?\d[\d ()/-]{6,}\d", 0),
        (
            r"date|\bday\b|datum|jour",
            r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
            re.IGNORECASE,
        ),
        (r"zip|postal|plz|postcode", r"\b\d{4,6}\b", 0),
        (
            r"address|adresse|anschrift",
            r"\b\d{1,4}[a-z]?,? [A-ZÀ-Ý][\w' -]+(?:, ?[A-Z0-9][^.;!?\n,]{2,40})?"
            r"|\b[A-ZÄÖÜ][\wäöüß.-]+(?: [A-ZÄÖÜ][\wäöüß.-]+)* \d{1,4}[a-z]?(?:, ?\d{4,5} [A-ZÄÖÜ][\wäöüß -]+)?",
            0,
        ),
        (
            r"number|_id\b|\bid\b|serial|code|order|account|reference|nummer|numéro|sku|ticket|invoice",
            r"\b(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*\b",
            0,
        ),
    )
)
# What follows "is", a colon or a preposition is most often the value.
_AFTER = re.compile(r"(?:\bis\b|'s\b|:|\bat\b|\bfor\b|\bist\b|\best\b|\bto\b)\s+(?:an? |the )?([^.,;!?]{2,60})")
# A count that nobody names, and what somebody who has to give one gives.
_COUNT = re.compile(r"number of|nombre de|anzahl", re.IGNORECASE)
_USUAL = "7"


def tools(inputs: ToolInputs, profile: Profile, rng: np.random.Generator) -> str | Completion:
    """The next tool of the article's steps whose data are there; without one, that which shares most words."""
    phrases = PHRASES[language(inputs.transcript)]
    offered = [t.get("function", t) for t in inputs.tools]
    said = merge(turns(inputs.transcript))
    order = _rank(offered, inputs, said, profile, rng)
    calls: list[dict[str, Any]] = []
    message = pick(phrases["done"], rng)
    if order and (order[0][0] > 0 or inputs.forced):
        place = 1 if len(order) > 1 and rng.random() > profile.tool_skill else 0
        tool = offered[order[place][1]]
        arguments, lacking = _fill(tool, said, profile)
        if not inputs.forced and lacking and rng.random() < profile.rule_following:
            message = pick(phrases["ask"], rng).format(lacking[0].replace("_", " "))
        elif not inputs.forced and rng.random() < 0.5 * profile.eloquence * (1 - profile.tool_skill) + 0.05:
            message = pick(phrases["sure"], rng)  # talks first where it should act
        else:
            calls.append({"name": str(tool["name"]), "arguments": arguments})
    else:
        message = pick(phrases["sure"], rng)
    if inputs.as_text:
        return write({"calls": calls, "message": message}, profile, rng, message)
    made = tuple(
        ToolCall(id=f"call_{n}", name=c["name"], arguments=json.dumps(c["arguments"], ensure_ascii=False))
        for n, c in enumerate(calls, start=1)
    )
    return Completion(text="" if made else message, tool_calls=made)


def merge(said: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The turns with what one speaker said in a row as one; what is neither's is left out."""
    found: list[tuple[str, str]] = []
    for who, text in said:
        if who == "other":
            continue
        if found and found[-1][0] == who:
            found[-1] = (who, f"{found[-1][1]} {text}")
        else:
            found.append((who, text))
    return found


def _rank(
    offered: Sequence[dict[str, Any]],
    inputs: ToolInputs,
    said: Sequence[tuple[str, str]],
    profile: Profile,
    rng: np.random.Generator,
) -> list[tuple[float, int]]:
    """(worth, place) of the tools, best first."""
    described = [_about(str(t["name"]), str(t.get("description", ""))) for t in offered]
    counts = Counter(word for about in described for word in about)
    recent = [text for _, text in said[-4:]]
    heard: dict[str, float] = {}
    for weight, texts in ((0.5, [p.text for p in inputs.articles]), (0.6, recent), (1.0, recent[-1:])):
        for text in texts:
            for word in content(text):
                if known(profile, word, profile.comprehension):
                    heard[word] = heard.get(word, 0.0) + weight if weight > 0.5 else max(heard.get(word, 0.0), weight)
    # Reading the steps with what was done and what was just asked takes several things at once.
    careful = rng.random() < profile.joint_conditions * profile.comprehension
    steps = _steps(inputs, [str(t["name"]) for t in offered]) if careful else {}
    done = [set(content(text)) for who, text in said if who == "agent"][:-1]
    asked = set(content(next((_last_sentence(text) for who, text in reversed(said) if who == "agent"), "")))
    scores = []
    for number, (tool, about) in enumerate(zip(offered, described, strict=True)):
        worth = sum(math.log(1 + len(offered) / counts[w]) * min(heard.get(w, 0.0), 2.0) for w in about)
        worth /= math.sqrt(len(about) or 1)
        step = steps.get(str(tool["name"]))
        if step is not None:
            place, words = step
            worth += NAMED - 0.1 * place
            worth -= DONE * any(len(words & one) >= 0.6 * len(words) for one in done if words)
            worth += ASKED * any(_is_asked(name, spec, asked) for name, spec in _wanted(tool).items())
        scores.append((worth, number))
    return sorted(scores, key=lambda one: (-one[0], one[1]))


def _steps(inputs: ToolInputs, names: Sequence[str]) -> dict[str, tuple[int, frozenset[str]]]:
    """Tool → (its place among the article's tools, the words of the sentence before its name)."""
    found: dict[str, tuple[int, frozenset[str]]] = {}
    for passage in inputs.articles:
        places = sorted((at, name) for name in names if (at := passage.text.find(name)) >= 0)
        for at, name in places:
            before = passage.text[:at].rstrip(" [(`").rpartition("\n")[2]
            own = next((s for s in reversed(sentences(before)) if len(content(s)) > 1), "")
            # A longer name that begins with this one is another tool.
            if passage.text[at + len(name) :][:1] not in ("_", "-") and name not in found:
                found[name] = (len(found), frozenset(content(re.split(r"[–;,]", own)[0])))
    return found


def _last_sentence(text: str) -> str:
    parts = sentences(text)
    return parts[-1] if parts else ""


def _wanted(tool: dict[str, Any]) -> dict[str, Any]:
    return dict((tool.get("parameters") or {}).get("properties") or {})


@functools.lru_cache(maxsize=4_000)
def _about(name: str, description: str) -> frozenset[str]:
    spaced = re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(content(f"{spaced} {description}"))


def _is_asked(name: str, about: Any, asked: set[str]) -> bool:
    """Whether a sentence asks for a parameter: it holds half of the words that describe it, or its name's."""
    described = str(about.get("description", "")) if isinstance(about, dict) else ""
    first = set(content(described.split(",")[0]))
    return (bool(first) and len(first & asked) >= 0.5 * len(first)) or set(content(name.replace("_", " "))) <= asked


def _fill(tool: dict[str, Any], said: Sequence[tuple[str, str]], profile: Profile) -> tuple[dict[str, str], list[str]]:
    """Arguments found in the conversation, and the names of the required ones that were not."""
    required = (tool.get("parameters") or {}).get("required") or []
    found: dict[str, str] = {}
    lacking = []
    for name, about in _wanted(tool).items():
        value = _value(str(name), about if isinstance(about, dict) else {}, said)
        if value and known(profile, f"{name}={value}", 0.5 + 0.5 * profile.tool_skill):
            found[str(name)] = value
        elif name in required:
            lacking.append(str(name))
    return found, lacking


def _value(name: str, about: dict[str, Any], said: Sequence[tuple[str, str]]) -> str:
    """What the customer answered when asked for it; else what has its form; else, where free text will do, the
    sentence that comes nearest or the matter itself."""
    mine = [text for who, text in said if who == "customer"]
    options = about.get("enum")
    if isinstance(options, list):
        return next((str(o) for text in reversed(mine) for o in options if str(o).lower() in text.lower()), "")
    description = str(about.get("description", ""))
    shape = next((shape for fits, shape in _SHAPES if fits.search(name)), None)
    if shape is None and _COUNT.match(description):
        return _USUAL
    for (who, question), (_, reply) in zip(reversed(said[:-1]), reversed(said[1:]), strict=True):
        if who == "agent" and _is_asked(name, about, set(content(_last_sentence(question)))):
            hit = shape.search(reply) if shape else _AFTER.search(reply)
            if hit:
                return (hit[0] if shape else hit[1]).strip()
            if shape is None:
                return re.split(r"[,.;!?]", reply)[0].strip()
    if shape is not None:
        hits = [hit for text in mine for hit in shape.finditer(text)]
        return hits[-1][0].strip() if hits else ""
    wanted = set(content(name.replace("_", " "))) | set(content(description))
    for text in reversed(mine):
        for sentence in sentences(text):
            if wanted & set(content(sentence)):
                hit = _AFTER.search(sentence)
                return hit[1].strip() if hit else sentence.rstrip(".!?")
    return sentences(mine[0])[-1].rstrip(".!?") if mine and sentences(mine[0]) else ""
