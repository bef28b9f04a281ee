"""What a stand-in understands of a paragraph about a brand, and how sure it can be: it knows some kinds of trade.

A trade is certain where the words of the things sold name it; what only stands around them may be chance, and a trade
that none of them is like is not known. Then it says so and asks.
"""

from __future__ import annotations

import json
import re

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brief_plan import CERTAIN, LANGUAGES, BriefText
from cxlab.benchmarks.cxmarena.simulated import industry_archetypes
from cxlab.benchmarks.cxmarena.simulated.brief import brand_name, product_lines, told
from cxlab.benchmarks.cxmarena.text import word_set
from cxlab.llm.simulated.profiles import Profile

# Of paragraphs that say what is sold.
SOLD = {
    "en": word_set("the and of for with our we is are in to a from your at by it an or as on that they their sells"),
    "fr": word_set("le la les des de et pour avec nos nous est sont en dans une un du au aux par sur qui vend leur"),
    "de": word_set(
        "der die das und für mit wir ist sind in ein eine aus im am zu von auf bei unsere verkauft bietet den dem"
    ),
}
# A sentence that begins with capitals and goes on with a verb names who does it, "La Maison Verdier vend …".
_CAPITALS = r"(?:[A-ZÄÖÜÉÈÀ][\w’'-]{0,3}\.|[A-ZÄÖÜÉÈÀ][\w’'-]*)"
_VERBS = (
    "is|are|was|sells?|makes?|builds?|offers?|rents?|hires?|designs?|covers?|insures?|roasts?|bakes?|brews?|runs?|"
    "suppl(?:y|ies)|publish(?:es)?|lends?|"
    "est|sont|vend(?:ent)?|fabriqu(?:e|ent)|propos(?:e|ent)|lou(?:e|ent)|assur(?:e|ent)|torréfi(?:e|ent)|fourni(?:t|ssent)|édit(?:e|ent)|"
    "ist|sind|bau(?:t|en)|verkauf(?:t|en)|biete(?:t|n)|vermiete(?:t|n)|verleih(?:t|en)|versicher(?:t|n)|liefer(?:t|n)|"
    "back(?:t|en)|bäckt|brau(?:t|en)|röste(?:t|n)|fertig(?:t|en)|reparier(?:t|en)|"
    "repairs?|mends?|restores?|tunes?|répar(?:e|ent)|restaur(?:e|ent)"
)
# Beside the place where it is, "Die Uhrmacherei Sonnleitner in Passau …", any verb will do.
_ANY_VERB = r"[a-zäöüßéèê]{2,}(?:s|t|en|e)"
# "Velmore Cycles of Bristol" is Velmore Cycles in Bristol; "Bank of Ireland" is called so.
_OF_TOWN = re.compile(
    r"^(?!(?:The )?(?:Bank|Museum|University|House|Royal|Port|City|School|Institute|Friends)\b)(.+?)"
    r" of [A-Z]\w+(?: [A-Z]\w+)?$"
)
# "Die Radwerk Lindau GmbH" is called Radwerk Lindau GmbH, and "Die Sonnenhof Bäckerei" Sonnenhof Bäckerei; "Die Zeit"
# is a name.
_COMPANY_ARTICLE = re.compile(r"^(?:Die|Der|Das) (?=\S+ \S)")
_SUBJECT = re.compile(
    rf"((?:{_CAPITALS})(?: (?:{_CAPITALS}|&|and|et|und|of|de(?: la)?|du|des))* ?(?:{_CAPITALS}))"
    rf"(?= (?:(?:{_VERBS})|(?:in|im|aus|bei|of|from|de|à) (?:{_CAPITALS})(?: {_CAPITALS})? {_ANY_VERB})\b)"
)
# "I am Marjorie Pell and I run Pell Pianos" names Pell Pianos; "Chez Gerfaut, nous louons" and "At Gerfaut, we rent"
# the company.
_PLACE = rf"((?:{_CAPITALS})(?: (?:{_CAPITALS}|&|and|et|und|of|de(?: la)?|du|des))*)"
# "La mutuelle Beauséjour propose …" names what has an article in every sentence.
_KIND_AND_NAME = re.compile(rf"((?:L[ae] |L['’])[a-zéèê]{{4,}} (?:{_CAPITALS})(?: (?:{_CAPITALS}))*) (?:{_VERBS})\b")
_RUNS = re.compile(
    r"\b(?:I|[Ww]e|[Jj]e|[Nn]ous|[Ii]ch|[Ww]ir) "
    r"(?:run|own|lead|opened|tiens|tenons|dirige|dirigeons|führen?|betreiben?|leiten?) "
    rf"(?:the |die |das |den )?{_PLACE}"
)
_AT = re.compile(rf"(?:Chez|At|Bei(?: der| dem)?) {_PLACE},? (?:we|nous|wir|on|vermieten|verleihen|bieten|gibt)\b")
# "We make things nice" names nothing that is sold.
_VAGUE = re.compile(r"\b(?:things?|stuff|everything|people|value|Dinge|Sachen|alles|choses?|tout)\b", re.IGNORECASE)
# What a trade is certain by: it names all that is sold, or stands only around it; else by the share that it names.
NAMED, AROUND = 0.9, 0.4
ASK = (
    "Which trade is it in? A simulated model knows {known}. Is it none of them: 'any' for what is sold and delivered "
    "(orders, delivery, returns, warranty, missing parts), '{repairs}' for what is repaired or serviced, 'any service' "
    "for contracts. A real model needs no list."
)


def read_brief(inputs: BriefText, profile: Profile, rng: np.random.Generator) -> str:
    """The plan as JSON."""
    brief = inputs.brief
    language = find_language(brief)
    lines = [line for line in product_lines(brief, language) if not _VAGUE.search(line)]
    trade, certainty = find_trade(lines, brief, language)
    titles = {name: industry_archetypes.load(name, language).title for name in industry_archetypes.names()}
    asks = [] if certainty >= CERTAIN else [ASK.format(known=", ".join(titles.values()), repairs=titles["repaired"])]
    return json.dumps(
        {
            "language": language,
            "name": _name(brief, language, rng),
            "products": lines,
            "figures": [{"value": one.text, "of": one.quoted} for one in told(brief, language)],
            "trade": titles.get(trade, ""),
            "certainty": certainty,
            "asks": asks,
        },
        ensure_ascii=False,
    )


def find_language(text: str) -> str:
    """The language whose small words the text has most of; English where it has none."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return max(LANGUAGES, key=lambda one: sum(word in SOLD[one] for word in words))


def find_trade(lines: list[str], brief: str, language: str) -> tuple[str, float]:
    """The archetype's name and how certain it is; "" where nothing speaks for any."""
    known = {name: industry_archetypes.load(name, language) for name in industry_archetypes.names()}
    count = industry_archetypes.count
    # How things are offered says more than what they are, where it is the first thing said of them.
    verb = re.search(rf"\b{industry_archetypes.common(language).makes}\b", brief)
    ways = [trade for trade in known.values() if verb and trade.ways and count(trade.ways, verb[0], language)]
    for trade in ways:
        if lines and (not trade.only or all(count(trade.only, line, language) for line in lines)):
            return industry_archetypes.charged_so(trade, brief, language).name, NAMED
    # Who names nothing that is sold may have said by chance how: "parcels are insured for £500".
    if ways and lines:
        known_best = industry_archetypes.offered_so([verb[0] if verb else ""], " ".join(lines), language)
        # Of what is rented, equipment is the wider word, and the last.
        return (known_best or ways[-1]).name, AROUND
    names_thing = industry_archetypes.names_thing
    named = []
    for line in lines:
        # The longer name says it more exactly: a yoga class is of a gym, a class of any school.
        said = {name: names_thing(trade.brief, line, language) for name, trade in known.items()}
        best = [name for name in said if said[name] and said[name] == max(said.values())]
        named += best if len(best) == 1 else []
    # Nothing that is sold is of another kind; what is of none speaks against it.
    if len(set(named)) == 1 and 2 * len(named) > len(lines):
        return named[0], round(AROUND + (NAMED - AROUND) * len(named) / len(lines), 2)
    if found := industry_archetypes.choose(lines[0] if lines else "", brief, language):
        return found.name, AROUND
    return "", 0.0


def _name(brief: str, language: str, rng: np.random.Generator) -> str:
    """The name that the paragraph gives; a coined one is none."""
    if who := _RUNS.search(brief) or _AT.match(brief.strip()):
        return who[1].strip(" ,")
    if kind := _KIND_AND_NAME.match(brief.strip()):
        return kind[1]
    if first := _SUBJECT.match(brief.strip()):
        return _OF_TOWN.sub(r"\1", _COMPANY_ARTICLE.sub("", first[1]))
    name = brand_name(brief, language, rng)
    return name if name in brief else ""
