"""What a brief says, read by simple means: the brand's name, what it sells, and its figures.

brand_name(brief, "de", rng)       # "Radwerk Nord": quoted, called, or the capitalised words at the beginning
product_lines(brief, "de")         # ["Trekkingräder", "Lastenräder"]: the nouns after "baut", "verkauft", ...
told(brief, "de")                  # [BriefFigure("Garantie auf Rahmen", "size", "year", 10.0), ...]
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from cxlab.benchmarks.cxmarena.brand import value_format
from cxlab.benchmarks.cxmarena.brand.brand_pack import load_language
from cxlab.benchmarks.cxmarena.brand.value_format import Value, ValueMention
from cxlab.benchmarks.cxmarena.simulated.industry_archetypes import common
from cxlab.benchmarks.cxmarena.text import word_set

HEADS = tuple(re.findall("[A-Z][a-z]+", "AlBreCorDalEstFenGalHolIsKorLuMerNorOrPelRoSolTamUlVelWenYorZel"))
TAILS = (
    *("ano", "aris", "bera", "dino", "elle", "fora", "gard", "ina", "kora", "lis"),
    *("mont", "nova", "ora", "quin", "ris", "sano", "tera", "una", "vero", "zia"),
)
MOST_LINES, MODELS = 6, 5
# Small numbers that briefs spell out before a unit ("two years").
SPELLED = {
    "en": "one two three four five six seven eight nine ten eleven twelve",
    "fr": "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "de": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
}
_BREAKS = {
    "en": r"[.;:!?]\s|,\s|\s[–—]\s|\band\b|\bplus\b",
    "fr": r"[.;:!?]\s|,\s|\s[–—]\s|\bet\b|\bainsi que\b",
    "de": r"[.;:!?]\s|,\s|\s[–—]\s|\bund\b|\bsowie\b",
}
# Behind a figure these begin another matter; before it ("skis with boots cost £34") they do not.
_BESIDE = {"en": r"\bwith\b", "fr": r"\bavec\b", "de": r"\bmit\b"}
# "A lesson lasts 40 minutes and costs £28": what costs it stands before the first verb.
_GOES_ON = re.compile(
    r"(?:costs?|lasts?|takes?|has|includes?|covers?|kostet|kosten|dauert|reicht|hat|umfasst|deckt|enthält|"
    r"coûte|coûtent|dure|comprend|couvre|accueille)\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"(.{2,60}?) (?P<verb>is|are|costs?|lasts?|takes?|holds?|runs?|has|ist|sind|kostet|kosten|dauert|reicht|hat|läuft|"
    r"est|sont|coûte|coûtent|dure|comprend|a)\b"
)
# "And £6 for children", "an e-bike £34": what costs it, or that it costs it, was said before.
_PER = r"(?:(?:a|an|per|each|je|pro|die|der|das|la|le|par|l['’])\b.{0,30})?$"
_SHORT_THING = re.compile(rf"(?P<thing>[\w'’&-]+(?: [\w'’&-]+){{0,3}}) … ?{_PER}", re.IGNORECASE)
_FOR_WHOM = re.compile(r"… ?(?:for|per|a|für|je|pro|pour|par)\b", re.IGNORECASE)
# From one hour to another is one thing to say: "von 6 bis 22 Uhr", where only the second is written as an hour.
_TO = re.compile(r"\s?(?:bis|to|until|till|à|–|-)\s?")
_AND = re.compile(r"\s(?:and|und|et)\s")
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s$", re.IGNORECASE)
_MILLIONS = re.compile(
    r"\s(?:Mio\.?|Million(?:en|s)?)(?P<money>\s(?:d['’]|de\s)?(?:Euros?|pounds?|dollars?|€))?", re.IGNORECASE
)
# What comes after these says who, where and how, not what.
WHERE = (
    r"\b(?:of (?:all|any|every)|"
    r"for|in|on|with|from|to|by|at|via|through|für|mit|aus|nach|an|am|auf|bei|bis|im|über|vom|von|zu|zum|zur|"
    r"pour|dans|avec|aux|chez|en ligne|par|sur|vers|de(?= la|s ))\b"
)
_PLACE_FIRST = re.compile(r"^(?:in|à|im|en|dans) [A-ZÄÖÜÉÈ][\w’-]*(?: [A-ZÄÖÜÉÈ][\w’-]*)* ")
# Words that say nothing at either end of what a figure counts.
LOOSE = word_set(
    "more than over about up to of in for from at since the a an and mehr als über rund bis zu ab seit von in für den "
    "die das und plus de d’ environ depuis dès en à sous la le les des du et"
)
# Words on both sides of a figure that say what it counts.
NEAR = 5


_PERIOD = {
    language: re.compile(rf"\d\s?(?:{'|'.join(units)})\b")
    for language, units in {
        "en": ("hours?", "days?", "weeks?", "months?", "years?", "minutes?"),
        "fr": ("heures?", "jours?", "semaines?", "mois", "ans?", "minutes?"),
        "de": ("Stunden?", "Tagen?", "Tage", "Wochen?", "Monaten?", "Monate", "Jahren?", "Jahre", "Minuten?"),
    }.items()
}


_COSTS = re.compile(r"(?P<thing>.{3,60}?) (?P<verb>costs?|kostet|kosten|coûte|coûtent) …(?P<rest>.*)$", re.IGNORECASE)
_PRICE_OF = {
    **dict.fromkeys(("cost", "costs"), "price of"),
    **dict.fromkeys(("kostet", "kosten"), "Preis:"),
    **dict.fromkeys(("coûte", "coûtent"), "prix :"),
}
_CURRENCY = re.compile(r"\s?(?:Euros?|euros?|pounds?|dollars?)\b")
_ARTICLES = word_set("a an the our each every ein eine der die das jede jeder un une le la les chaque")


# A name in a list of prices, straight before its own: "Solo €9, Studio at €24".
_PLAN_NAME = r"[A-ZÄÖÜÉÈ][\w+-]*(?: [A-ZÄÖÜÉÈ][\w+-]*)?"
_LISTED_PLAN = re.compile(
    rf"(?:^|[.,;:!?(]|\b(?:and|und|et|or|oder|ou))\s*(?:the |le |la )?({_PLAN_NAME})(?: (?:for|at|für|zu|à)|:|,)?\s*$"
)
_FIRST_PLAN = re.compile(r"(?:^|[.;:]\s)([A-ZÄÖÜÉÈ][\w+-]*) (?:costs|is|kostet|coûte)\s*$")
_NEXT_PLAN = re.compile(r"(?:,| and| und| et)\s+[A-ZÄÖÜÉÈ][\w+-]* (?:[€£$]\s?)?\d")
# Whose name is a plain noun with a capital in German, or says no plan.
NO_PLANS = word_set("ab from dès nur only jetzt now")
_KINDS = {
    "en": "plan|account|tariff|membership|package|edition|version|tier|pass|room|suite|card",
    "fr": "formule|offre|compte|abonnement|forfait|carte|chambre",
    "de": "tarif|paket|plan|konto|abo|karte|version|zimmer",
}
_PLAIN_KINDS = {"plan", "tier", "version", "edition"}
_SPOKEN_PLAN = {
    "en": re.compile(rf"\b[Tt]he (?P<name>{_PLAN_NAME})(?: (?P<kind>{_KINDS['en']}))?,? (?:costs?|is|comes at)\s*$"),
    "fr": re.compile(
        rf"\b(?:[Ll][ea] |[Ll]['’])(?P<kind>{_KINDS['fr']}) (?P<name>{_PLAN_NAME}) (?:coûte|est à|vaut)\s*$"
    ),
    "de": re.compile(rf"\b(?:[Dd](?:er|as|ie) )?(?P<kind>(?i:{_KINDS['de']})) (?P<name>{_PLAN_NAME}) kostet\s*$"),
}


class BriefFigure(NamedTuple):
    """A figure of the brief: the words around it, its kind and unit (brand/value_format.py), its value, and `text` as
    written.

    `plan` is the name of the one thing that it is the price of ("Solo €9, Studio €24", "the Plus account costs £6").
    """

    what: str
    clause: str
    kind: str
    unit: str
    value: Value
    text: str
    plan: str = ""

    @property
    def quoted(self) -> str:
        """What it belongs to, as a person says it: the price of a thing, else the clause with a gap for the figure."""
        clause = self.clause.replace(self.text, "…", 1)
        if self.kind != "price" or (price := _COSTS.match(clause)) is None:
            return clause
        thing, rest = price["thing"], price["rest"].strip(" ,.")
        first, _, more = thing.partition(" ")
        # The article begins a sentence no longer; a name keeps its capital.
        thing = f"{first.lower()} {more}" if more and first.lower() in _ARTICLES else thing
        thing = re.sub(r"^L(?=['’])", "l", thing)
        # So does a plain noun, outside German: "appointments cancelled late", but "Studio Plus".
        if not _PRICE_OF[price["verb"].lower()].startswith("P") and not more[:1].isupper():
            thing = thing[:1].lower() + thing[1:]
        return f"{_PRICE_OF[price['verb'].lower()]} {thing}{f', {rest}' if rest else ''}"


def brand_name(brief: str, language: str, rng: np.random.Generator) -> str:
    """A quoted name, or the capitalised words that the brief begins with, or a coined one."""
    known = common(language)
    # The sign in "l'Ouest" opens no quotation.
    if quoted := re.search(r"(?<!\w)[\"“„«'‚]\s?([A-ZÄÖÜÉÈ][\w’ &.-]{1,30}?)\s?[\"”“»'‘]", brief):
        return quoted[1].strip()
    if called := re.search(known.called + r" ((?:[A-ZÄÖÜÉÈ][\w’-]+ ?){1,3})", brief):
        return called[1].strip()
    first = re.match(r"((?:[A-ZÄÖÜÉÈ][\w’-]+ ?){1,3})", brief.strip())
    if first and first[1].split()[0].lower() not in {*known.small, *known.openers}:
        return first[1].strip()
    return coin(rng, set())[0]


def product_lines(brief: str, language: str) -> list[str]:
    """The nouns listed after a verb of making or selling."""
    known, found = common(language), list[str]()
    brief = re.sub(r"(?<=\w)'(?=\w)", "’", brief)
    # "everything for beekeepers: hives, smokers": what stands after the colon says it by name, unless it has figures.
    for match in re.finditer(rf"\b{known.makes}\b(?:[^.;:,]*:(?=[^.;:\d]+[.;:]|[^.;:\d]+$))?([^.;:]+)", brief):
        # What comes after "for" or "in" says who and where, not what.
        # So does a place between the verb and the list: "répare à Nantes des machines".
        listed = re.split(WHERE, _PLACE_FIRST.sub("", match[1].strip()))[0]
        for piece in re.split(known.list_words, listed):
            # "builds and sells lamps": the second verb is no part of the first thing's name.
            named = re.sub(rf"^\s*(?:\w+ly )?{known.makes}\b", "", piece)
            if re.search(r"\b(?:them|they|it|us|you)\b", named) or _PERIOD[language].search(named):
                continue  # "and delivers them", "delivered in 3 days": what is done with what was named
            if found and re.match(r"\s*(?:\w+ )?(?:all|alle|every|tous|toutes)\b", named):
                continue  # "and sets all clocks": what was named before
            words = [w for w in re.findall(r"[\w’-]+", named) if not any(c.isdigit() for c in w)]
            line = " ".join(_name_line(words, set(known.small), language))
            # "sewing machines" and then "machines of all makes" is one thing.
            known_so = any(f.lower() == line.lower() or f.lower().endswith(f" {line.lower()}") for f in found)
            if len(line) > 2 and not known_so:
                found.append(line)
    return found[:MOST_LINES]


def _name_line(words: list[str], small: set[str], language: str) -> list[str]:
    """The words that name a line: a German noun, two English words, a French noun with what describes it."""
    if language == "de":
        return [w for w in words if w[:1].isupper() and w.lower() not in small][:1]
    if language == "en":
        return [w for w in words if w.lower() not in small][:3]
    while words and words[0].lower() in small:
        words = words[1:]
    words = [re.sub(r"^[ld]’", "", word) for word in words]
    # "vélos à assistance" names a thing, "vélos à Nantes" a place.
    if len(words) > 2 and words[1] in ("de", "à", "en") and words[2].islower():
        return words[:3]
    return [w for w in words[:2] if w.lower() not in small]


def told(brief: str, language: str) -> list[BriefFigure]:
    """The figures of a brief with the words around them, each once."""
    text, spelled = _spell(" ".join(brief.split()), language)
    figures = _as_written(text, list(value_format.find(text, load_language(language))))
    within = [(figure.start, figure.end) for figure in figures]
    breaks = [
        m.span()
        for m in re.finditer(_BREAKS[language], text)
        if not any(begin <= m.start() and m.end() <= end for begin, end in within)
    ]
    joined: dict[int, str] = {}
    for beside in re.finditer(_BESIDE[language], text):
        begun = max((end for _, end in breaks if end <= beside.start()), default=0)
        if any(begun <= figure.start < beside.start() for figure in figures):
            breaks.append((beside.start(), beside.end()))
            joined[beside.end()] = f"{_spoken_of(text[: beside.start()])[0]} {beside[0]}".strip()
    found: dict[tuple[str, Value], BriefFigure] = {}
    for figure in figures:
        start = max((end for _, end in breaks if end <= figure.start), default=0)
        end = min((begin for begin, _ in breaks if begin >= figure.end), default=len(text))
        before = text[start : figure.start].split()[-NEAR:]
        after = text[figure.end : end].split()[:NEAR]
        # Other figures beside it would be read as its value.
        near = [w for w in (*before, *after) if not any(c.isdigit() for c in w)]
        while near and near[0].lower() in LOOSE:
            near = near[1:]
        while near and near[-1].lower() in LOOSE:
            near = near[:-1]
        what = _plain(" ".join(near))
        # A currency may stand in words.
        worded = _CURRENCY.match(text, figure.end) if figure.kind == "count" else None
        shown = text[figure.start : worded.end() if worded else figure.end]
        written, clause = spelled.get(shown, shown), _plain(text[start:end])
        kind = "price" if worded else figure.kind
        # "The car insurance costs £29 with an excess of £300": that of the car insurance.
        clause = (
            f"{joined[start]} {clause}"
            if " " in joined.get(start, "")
            else _complete(clause, shown, kind, text[:start])
        )
        found.setdefault(
            (what, figure.value),
            BriefFigure(
                what,
                clause.replace(shown, written, 1),
                kind,
                figure.unit,
                figure.value,
                written,
                _plan_of(text[: figure.start], text[figure.end :], language) if kind == "price" else "",
            ),
        )
    return list(found.values())


def _as_written(text: str, figures: list[ValueMention]) -> list[ValueMention]:
    """The figures, millions among them; of those that say from which hour to which two are one, told as it is written:
    its kind is "written", its value the words."""
    found: list[ValueMention] = []
    for each in figures:
        last = found[-1] if found else None
        between = text[last.end : each.start] if last else ""
        joined = _TO.fullmatch(between) or (last and _AND.fullmatch(between) and _BETWEEN.search(text[: last.start]))
        # "At 9 to 17:00" holds two hours, "2 to 5 days" a length of time.
        hour = last and (last.kind == "time" or (last.kind == "count" and 0 <= float(last.value) <= 24))
        if last and joined and hour and each.kind == "time":
            found[-1] = ValueMention(last.start, each.end, "written", "", text[last.start : each.end])
        elif each.kind in ("count", "price") and (millions := _MILLIONS.match(text, each.end)):
            kind = "price" if millions["money"] else each.kind
            found.append(ValueMention(each.start, millions.end(), kind, "", float(each.value) * 1_000_000))
        else:
            found.append(each)
    return found


def _complete(clause: str, shown: str, kind: str, before: str) -> str:
    """The clause with what it takes over from those before it: of what it speaks, and that this costs something."""
    who, verb = _spoken_of(before)
    if _GOES_ON.match(clause):
        return f"{who} {clause}" if who else clause
    if kind != "price" or not who or not _COSTS.match(f"{who} {verb} …"):
        return clause
    gap = clause.replace(shown, "…", 1)
    if _FOR_WHOM.match(gap):
        return f"{who} {verb} {clause}"
    if _WHO.match(gap):
        return clause
    if (thing := _SHORT_THING.match(gap)) and not LOOSE & set(thing["thing"].lower().split()) - _ARTICLES:
        return clause.replace(shown, f"{verb} {shown}", 1)
    return clause


def _spoken_of(before: str) -> tuple[str, str]:
    """Whose figure follows, and its verb: what stands before the verb of the last clause that has one; "" where none
    has."""
    sentence = re.split(r"[.;:!?]\s", before)[-1]
    clauses = [part.strip() for part in re.split(r",\s(?:(?:and|und|et)\s)?", sentence)]
    found = [(who[1], who["verb"]) for part in clauses if (who := _WHO.match(part))]
    return found[-1] if found else ("", "")


def _plan_of(before: str, after: str, language: str) -> str:
    """The name of the plan whose price follows; "" where what stands there may be any noun."""
    if listed := _LISTED_PLAN.search(before):
        return "" if listed[1].casefold() in NO_PLANS else listed[1]
    if spoken := _SPOKEN_PLAN[language].search(before):
        parts = sorted((spoken.start(part), spoken[part]) for part in ("name", "kind") if spoken[part])
        return " ".join(part for _, part in parts if part not in _PLAIN_KINDS)
    # "Solo costs €29, Duo €49": what the list goes on with is a plan, and so is what it begins with.
    if (first := _FIRST_PLAN.search(before)) and _NEXT_PLAN.match(after):
        return first[1]
    return ""


def _spell(text: str, language: str) -> tuple[str, dict[str, str]]:
    """The text with digits for small numbers that stand before a unit; each such figure and how it was written."""
    units = load_language(language).units
    names = "|".join(re.escape(f) for u in ("day", "week", "month", "year", "hour") for f in units[u])
    written: dict[str, str] = {}
    ending = "(?:e[mnrs]?)?" if language == "de" else "e?"
    for value, word in enumerate(SPELLED[language].split(), start=1):
        pattern = re.compile(rf"\b({word}{ending}[ -])({names})\b", re.IGNORECASE)
        written |= {f"{value} {m[2]}": m[0] for m in pattern.finditer(text)}
        text = pattern.sub(rf"{value} \2", text)
    return text, written


def sentences(brief: str) -> list[str]:
    """The brief's sentences as they can be quoted."""
    return [_plain(s) for s in re.split(r"(?<=[.!?])\s+", " ".join(brief.split())) if len(s) > 8]


def _plain(text: str) -> str:
    """Without the signs that mean something in a phrase grammar, and without quotation marks."""
    return re.sub(r"\s+", " ", re.sub(r"[()|<>\"“”„«»]", " ", text)).strip(" .,;:–—-")


def coin(rng: np.random.Generator, taken: set[str]) -> list[str]:
    """Names that nothing else bears."""
    found: list[str] = []
    while len(found) < MODELS:
        name = HEADS[int(rng.random() * len(HEADS))] + TAILS[int(rng.random() * len(TAILS))]
        if name.lower() not in taken:
            taken.add(name.lower())
            found.append(name)
    return found


__all__ = ["BriefFigure", "brand_name", "coin", "product_lines", "sentences", "told"]
