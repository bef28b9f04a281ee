"""How a simulated agent of the shop reads what goods a text is about, and which variant of one is wanted.

General reading only: names of goods by their words, options by their values, comparatives and superlatives along the
scale of an option, preferences in their order. What stands in nobody's words stays as it was.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Words that many goods share; alone they name none.
_COMMON = frozenset((
    "smart", "electric", "digital", "indoor", "security", "portable", "gaming", "action", "office", "wall", "air",
    "pet", "garden", "desk", "water", "running", "hiking", "mechanical", "wireless", "cycling", "led", "light",
    "tea", "patio", "fleece", "set", "kit",
))  # fmt: skip
_ALSO = {"bike": "bicycle", "tee": "tshirt", "gray": "grey", "colour": "color", "biggest": "largest"}
_NUMBERS = {w: str(n) for n, w in enumerate((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
))}  # fmt: skip
_LETTERS = {"xs": "extra small", "s": "small", "m": "medium", "l": "large", "xl": "extra large"}
_SCALES = (
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("small", "medium", "large"),
    ("low", "medium", "high"),
    ("portable", "medium", "large"),
    ("beginner", "intermediate", "expert"),
    ("basic", "professional"),
    ("half", "full"),
)
_SIZES = ("size", "capacity", "pieces", "length", "height", "diameter", "storage")
# Which option a comparative without a noun is about, and in which direction it points.
_DIRECTIONS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(("bigger", "larger", "largest"), (1, _SIZES)),
    **dict.fromkeys(("smaller", "smallest"), (-1, _SIZES)),
    **dict.fromkeys(("longer", "longest", "taller", "tallest"), (1, ("length", "height", "life"))),
    **dict.fromkeys(("shorter", "shortest"), (-1, ("length", "height"))),
    **dict.fromkeys(("brighter", "brightest"), (1, ("brightness",))),
    **dict.fromkeys(("dimmer", "darker", "dimmest"), (-1, ("brightness",))),
    **dict.fromkeys(("harder", "hardest"), (1, ("difficulty",))),
    **dict.fromkeys(("easier", "easiest"), (-1, ("difficulty",))),
    **dict.fromkeys(("higher", "highest", "maximum", "max", "greatest", "more", "most"), (1, ())),
    **dict.fromkeys(("lower", "lowest", "minimum", "min", "less", "fewer", "fewest", "least"), (-1, ())),
}
_EXTREME = re.compile(r"(?:est|max|maximum|min|minimum|most|least)$")
_CHEAPEST = re.compile(r"\bcheapest\b|\bleast expensive\b|\blowest price|\bmost affordable\b")
_DEAREST = re.compile(r"\bmost expensive\b|\bpriciest\b|\bhighest price")
_SAME = re.compile(r"\bsame\b(?! (?:product|order|time|level|number))|\bidentical\b|\bexact\b")
_CAREFREE = re.compile(r"\b(?:do not|don't) care (?:about )?(?:[\w-]+ )?(?:[\w-]+)")
_AWAY = re.compile(
    r"\binstead of (?:the |a |an |my )?[\w-]+(?: [\w-]+)?|\brather than [\w-]+|"
    r"\bfrom (?:the |a )?[\w-]+(?: [\w-]+)? (?=to\b)"
)
_PREFERS = re.compile(r"\bprefer(?:ably|red|ring|ence)?\b|\bif (?:multiple|several|possible|available)\b|\bgo for\b")
ITEM_ID = re.compile(r"\b\d{10}\b")


@functools.lru_cache(maxsize=20_000)
def plain(text: str) -> tuple[str, ...]:
    """The words of a text as goods are compared: small, singular, numbers apart from their units."""
    low = text.lower().replace("t-shirt", "tshirt").replace("t shirt", "tshirt").replace("e-reader", "ereader")
    low = re.sub(r"(?<=\d)(?=[a-z])", " ", low.replace("wi-fi", "wifi"))
    found = []
    for word in re.findall(r"\d+(?:\.\d+)?|[a-z]+|[%>,;()]|\.(?!\d)", low.replace("'s ", " ")):
        word = _NUMBERS.get(word, _ALSO.get(word, word))
        if word.endswith("ves") and len(word) > 5:
            word = word[:-3] + "f"
        elif word.endswith("s") and not word.endswith("ss") and len(word) > 3 and word not in ("yes", "less"):
            word = word[:-1]
        found.append(word)
    return tuple(found)


# Goods


@dataclass(frozen=True)
class Mention:
    """A place of a text that names goods: (first word, word after) and the names that fit best."""

    first: int
    after: int
    names: tuple[str, ...]


@functools.lru_cache(maxsize=20_000)
def mentions(text: str, names: tuple[str, ...]) -> tuple[Mention, ...]:
    """The places of a text that name one of these goods, in order."""
    words = plain(text)
    known = {name: plain(name) for name in names}
    every = {word for parts in known.values() for word in parts}
    found: list[Mention] = []
    at = 0
    while at < len(words):
        after = at
        while after < len(words) and _in(words[after], every):
            after += 1
        if after > at:
            run = words[at:after]
            scores = {
                name: sum(any(_is(word, part) for word in run) for part in parts) for name, parts in known.items()
            }
            fit = {n: s for n, s in scores.items() if s == len(known[n]) or any(_tells(w, known[n]) for w in run)}
            if fit:
                best = max(fit.values())
                found.append(Mention(at, after, tuple(n for n, s in fit.items() if s == best)))
        at = max(after, at + 1)
    return tuple(found)


def _is(word: str, part: str) -> bool:
    return word == part or (len(word) >= 5 and part.endswith(word))


def _in(word: str, parts: Iterable[str]) -> bool:
    return any(_is(word, part) for part in parts)


def _tells(word: str, parts: Sequence[str]) -> bool:
    """Whether the word alone names these goods: the last of their words, or one that few goods have."""
    if _is(word, parts[-1]) and not (len(parts) > 1 and parts[-1] in ("set", "kit")):
        return True
    return any(_is(word, part) and part not in _COMMON for part in parts)


def piece(text: str, found: Sequence[Mention], at: int) -> str:
    """The words of a text that are about its mention number `at`: what leads up to it, and on to the next one."""
    words = plain(text)
    here = found[at]
    start = found[at - 1].after if at else 0
    end = found[at + 1].first if at + 1 < len(found) else len(words)
    if at + 1 < len(found):
        # What leads up to the next one belongs to that: "and the", "and a red".
        cuts = [i for i in range(here.after, end) if words[i] in ("and", "also", "another", ",", ";", ".")]
        end = cuts[-1] if cuts else end
    if at:
        cuts = [i for i in range(start, here.first) if words[i] in ("and", "also", "another", ",", ";", ".")]
        start = cuts[-1] if cuts else here.first
    return " ".join(words[start:end])


# Options


@dataclass
class VariantPreference:
    """What a piece of text says of the variant that is wanted."""

    hard: dict[str, str] = field(default_factory=dict)
    soft: dict[str, list[str]] = field(default_factory=dict)
    steps: list[tuple[str, int, bool]] = field(default_factory=list)
    """(option, up or down, whether to the end of the scale)"""
    price: int = 0
    same: bool = False

    def __bool__(self) -> bool:
        return bool(self.hard or self.soft or self.steps or self.price or self.same)


def read_wanted(text: str, product: Mapping[str, Any], old: Mapping[str, str]) -> VariantPreference:
    """Which options a text asks for, of those that the product's variants have; `old` are the present ones."""
    low = _CAREFREE.sub(" ", text.lower())
    wanted = VariantPreference(same=bool(_SAME.search(low)))
    wanted.price = -1 if _CHEAPEST.search(low) else 1 if _DEAREST.search(low) else 0
    low = _CHEAPEST.sub(" ", _DEAREST.sub(" ", low))
    options: dict[str, list[str]] = {}
    for variant in product.get("variants", {}).values():
        for name, value in variant["options"].items():
            if value not in options.setdefault(name, []):
                options[name].append(value)
    cut = _PREFERS.search(low)
    firm, loose = (low[: cut.start()], low[cut.start() :]) if cut else (low, "")
    firm = _AWAY.sub(" ", firm)
    for name, values in options.items():
        said = _values_in(firm, name, values)
        if len(said) > 1:
            said = [value for value in said if value != old.get(name)] or said
        if said:
            wanted.hard[name] = said[-1]
        ranked = _values_in(loose, name, values)
        if ranked and name not in wanted.hard:
            wanted.soft[name] = ranked
    rated = tuple(name for name, values in options.items() if any(height(value) is not None for value in values))
    for name, up, end in _steps(plain(firm), rated):
        if name not in wanted.hard:
            wanted.steps.append((name, up, end))
    words = plain(firm)
    for name in options:
        kept = any(
            w in ("same", "keep", "keeping") and plain(name)[-1] in words[at + 1 : at + 4] for at, w in enumerate(words)
        )
        if kept and name in old and name not in wanted.hard:
            wanted.hard[name] = old[name]
    return wanted


def says(text: str, options: Mapping[str, str]) -> bool:
    """Whether a text names one of these values."""
    return any(_values_in(text, name, [value]) for name, value in options.items())


def _values_in(text: str, name: str, values: Sequence[str]) -> list[str]:
    """The option's values that stand in the text, in its order."""
    words = plain(text)
    found: list[tuple[int, int, str]] = []
    option = plain(name)
    for value in values:
        # "timer: no" says it outright.
        said = (*option, *plain(value))
        found += [(at, -len(said), value) for at in range(len(words)) if tuple(words[at : at + len(said)]) == said]
    for value in values if not found else ():
        for at, length in _places(words, name, value, values):
            found.append((at, -length, value))
    found.sort()
    kept: list[str] = []
    covered = -1
    for at, length, value in found:
        if at <= covered:
            # "stainless steel" is no "steel", and "non-polarized" no "polarized".
            continue
        covered = at - length - 1
        if value not in kept:
            kept.append(value)
    return kept


def _places(words: Sequence[str], name: str, value: str, values: Sequence[str]) -> Iterable[tuple[int, int]]:
    option, parts = plain(name), plain(value)
    if value in ("yes", "no", "none", "not resistant"):
        key = "waterproof" if "waterproof" in option else option[0]
        for at, word in enumerate(words):
            if not (word.startswith(key[:6]) or (key.startswith(word) and len(word) > 4)):
                continue
            denied = at > 0 and words[at - 1] in ("no", "non", "not", "without")
            if denied == (value != "yes"):
                yield (at - int(denied), 1 + int(denied))
        return
    if len(parts) == 1 and parts[0].isdigit():
        for at, word in enumerate(words):
            near = [*words[max(0, at - 2) : at], *words[at + 1 : at + 2]]
            if word == parts[0] and any(part[:5] == one[:5] for part in option for one in near):
                yield (at, 1)
        return
    forms = [parts]
    if value.lower() in _LETTERS and "size" in option:
        forms.append(tuple(_LETTERS[value.lower()].split()))
    elif len(parts) > 1:
        others = [plain(other) for other in values if other != value]
        forms += [
            parts[:size]
            for size in range(len(parts) - 1, 0, -1)
            if not any(other[:size] == parts[:size] for other in others)
            and not parts[0].isdigit()
            and len(parts[0]) > 1
        ]
    for form in forms:
        hits = [at for at in range(len(words) - len(form) + 1) if tuple(words[at : at + len(form)]) == form]
        if len(form) == 1 and len(form[0]) == 1:
            hits = [at for at in hits if "size" in words[max(0, at - 1) : at + 2]]
        if hits:
            for at in hits:
                denied = at > 0 and words[at - 1] in ("not", "non", "no", "without")
                if not denied:
                    yield (at, len(form))
            return


def _steps(words: Sequence[str], options: Sequence[str]) -> Iterable[tuple[str, int, bool]]:
    for at, word in enumerate(words):
        if word not in _DIRECTIONS:
            continue
        up, usual = _DIRECTIONS[word]
        end = bool(_EXTREME.search(word)) and word not in ("more", "less")
        near = [*words[at + 1 : at + 4], *words[max(0, at - 2) : at]]
        named = next(
            (o for one in near for o in options if any(one[:5] == part[:5] and len(one) > 3 for part in plain(o))), None
        )
        fitting = (o for key in usual for o in options if key in o)
        option = named or next(fitting, None)
        if option is not None:
            yield (option, up, end)


def height(value: str) -> float | None:
    """Where a value stands on its option's scale; None where it has none."""
    low = value.lower()
    number = re.match(r"(\d+(?:\.\d+)?)", low)
    if number:
        size = float(number[1])
        return size * 1000 if re.search(r"\d ?(?:l|tb)\b", low) else size
    for scale in _SCALES:
        if low in scale:
            return float(scale.index(low))
    return None


def choose(
    text: str, product: Mapping[str, Any], old: Mapping[str, Any], later: str = ""
) -> tuple[str | None, VariantPreference]:
    """(the item id of the variant that a text asks for in place of `old`, what was read); None if there is none.

    Everything that is said outright must fit; of what remains, the one that is as said in passing and, after that,
    keeps most of what the old one has. `later`: what was said when the first choice was not to be had.
    """
    variants: Mapping[str, Any] = product.get("variants", {})
    named = next((one for one in ITEM_ID.findall(text) if one in variants and one != old["item_id"]), None)
    had: Mapping[str, str] = old.get("options", {})
    wanted = read_wanted(text, product, had)
    if later:
        second = read_wanted(later, product, had)
        firm = {name: likes[-1] for name, likes in second.soft.items() if len(likes) == 1}
        wanted.hard |= firm | second.hard
        wanted.soft |= second.soft
        wanted.steps = second.steps or wanted.steps
        wanted.same = wanted.same and bool(second.hard or firm)
    if named:
        wanted.same = True
        return (named if variants[named].get("available") else None), wanted
    if not wanted:
        return None, wanted
    fits = {
        key: one
        for key, one in variants.items()
        if one.get("available") and all(one["options"].get(n) == v for n, v in wanted.hard.items())
    }
    only_same = wanted.same and not (wanted.hard or wanted.steps or wanted.price or wanted.soft)
    if not only_same:
        fits.pop(old["item_id"], None)
    for name, up, end in wanted.steps:
        fits = _stepped(fits, name, up, end, had)
    if only_same:
        return (old["item_id"] if old["item_id"] in fits else None), wanted
    if not fits:
        return None, wanted

    def liking(key: str) -> tuple[float, ...]:
        options = fits[key]["options"]
        ranks = [
            likes.index(options[name]) if options.get(name) in likes else len(likes)
            for name, likes in wanted.soft.items()
        ]
        kept = sum(options.get(name) == value for name, value in had.items() if name not in wanted.hard)
        price = float(fits[key].get("price", 0))
        far = sum(abs((height(options.get(n, "")) or 0) - (height(had.get(n, "")) or 0)) for n, *_ in wanted.steps)
        return (-wanted.price * price, *ranks, -kept, far, price, float(key) if key.isdigit() else 0.0)

    best = min(fits, key=liking)
    if wanted.same and not (wanted.steps or wanted.price or wanted.soft):
        # "The same, but red" is the same in all the rest.
        rest = {n: v for n, v in had.items() if n not in wanted.hard}
        if any(fits[best]["options"].get(n) != v for n, v in rest.items()):
            return None, wanted
    return best, wanted


def _stepped(fits: dict[str, Any], name: str, up: int, end: bool, had: Mapping[str, str]) -> dict[str, Any]:
    start = height(had.get(name, ""))
    placed = {key: height(one["options"].get(name, "")) for key, one in fits.items()}
    rated = {key: place * up for key, place in placed.items() if place is not None}
    if end:
        best = max(rated.values(), default=0.0)
        return {key: fits[key] for key, place in rated.items() if place == best}
    return {key: fits[key] for key, place in rated.items() if start is not None and place > start * up}
