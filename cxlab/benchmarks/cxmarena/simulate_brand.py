"""How simulated models make a brand pack of a brief: the brief's name and nouns, the language's own pack for the rest.

Honest and simple: what is listed after "makes", "sells" and the like becomes product lines; services, policies,
issues and tools are those of the pack at hand in this language, under the new name.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from cxlab.benchmarks import yaml_files
from cxlab.benchmarks.cxmarena import writing
from cxlab.benchmarks.cxmarena.ledger import slug
from cxlab.llm.simulated.profiles import Profile

VERBS = {
    "en": r"(?:makes?|sells?|builds?|offers?|produces?|designs?|range of)",
    "fr": r"(?:fabrique|vend|propose|crée|conçoit|compose|gamme de)",
    "de": r"(?:baut|verkauft|fertigt|stellt|bietet|entwirft|produziert|Sortiment aus)",
}
AND = {"en": r",|\band\b|\bplus\b", "fr": r",|\bet\b|\bainsi que\b", "de": r",|\bund\b|\bsowie\b"}
SMALL = {
    "en": {
        "a",
        "an",
        "the",
        "of",
        "for",
        "with",
        "from",
        "that",
        "which",
        "its",
        "their",
        "our",
        "own",
        "new",
        "smart",
        "small",
        "large",
        "high",
        "quality",
        "sustainable",
        "and",
        "or",
        "in",
        "to",
        "by",
        "online",
        "shops",
    },
    "fr": {
        "un",
        "une",
        "des",
        "de",
        "du",
        "la",
        "le",
        "les",
        "pour",
        "avec",
        "en",
        "qui",
        "que",
        "ses",
        "leurs",
        "et",
        "ou",
        "à",
        "par",
        "au",
        "aux",
        "boutique",
        "ligne",
    },
    "de": {
        "ein",
        "eine",
        "einen",
        "der",
        "die",
        "das",
        "den",
        "für",
        "mit",
        "aus",
        "von",
        "und",
        "oder",
        "im",
        "in",
        "zu",
        "her",
        "an",
        "seine",
        "ihre",
        "eigene",
    },
}
# Words that a brief begins with and that are no name; words after which a name stands.
OPENERS = {
    "en": {"we", "our", "this", "here", "it", "at", "in", "founded", "since", "everything"},
    "fr": {"nous", "notre", "nos", "c’est", "chez", "voici", "cette", "il", "elle", "fondée", "depuis", "ici", "tout"},
    "de": {"wir", "unser", "unsere", "ich", "es", "sie", "hier", "dies", "diese", "seit", "gegründet", "bei", "alles"},
}
CALLED = {
    "en": r"\b(?:called|named|[Ww]e are|[Ii]t is|brand)",
    "fr": r"\b(?:appelée?|nommée?|s’appelle|[Nn]ous sommes|marque|maison)",
    "de": r"\b(?:heißt|heißen|namens|[Ww]ir sind|Marke)",
}
GENERIC = {
    "en": {
        "the": "the model",
        "about": [
            "<subject> was (designed|drawn) for (daily|long) use and (opens|comes apart) with simple tools",
            "(Each|Every) <subject> is (checked|tested) by hand before it (leaves|goes out)",
        ],
        "use": ["(Begin|Start) with the (simplest|first) setting of <subject> and (move on|go further) later"],
        "care": ["(Clean|Wipe) <subject> after use and (store|keep) it (dry|away from heat)"],
    },
    "fr": {
        "the": "le modèle",
        "about": [
            "<subject> est (pensé|dessiné) pour (durer|servir chaque jour) et se (démonte|ouvre) sans outil rare",
            "(Chaque|Tout) <subject> est (vérifié|essayé) à la main avant de (partir|sortir)",
        ],
        "use": ["(Commencez|Débutez) par le réglage le plus simple de <subject>"],
        "care": ["(Nettoyez|Essuyez) <subject> après usage et gardez-le au sec"],
    },
    "de": {
        "the": "das Modell",
        "about": [
            "<subject> ist für (den Alltag|lange Jahre) (gedacht|gebaut) und lässt sich mit einfachem Werkzeug öffnen",
            "(Jedes Stück|Jedes Exemplar) von <subject> wird (von Hand|einzeln) (geprüft|getestet)",
        ],
        "use": ["(Beginnen|Starten) Sie bei <subject> mit der einfachsten Stufe"],
        "care": ["(Reinigen|Wischen) Sie <subject> nach Gebrauch (ab|trocken ab) und lagern es kühl"],
    },
}
HEADS = (
    "Al",
    "Bre",
    "Cor",
    "Dal",
    "Est",
    "Fen",
    "Gal",
    "Hol",
    "Is",
    "Kor",
    "Lu",
    "Mer",
    "Nor",
    "Or",
    "Pel",
    "Ro",
    "Sol",
    "Tam",
    "Ul",
    "Vel",
    "Wen",
    "Yor",
    "Zel",
)
TAILS = (
    "ano",
    "aris",
    "bera",
    "dino",
    "elle",
    "fora",
    "gard",
    "ina",
    "kora",
    "lis",
    "mont",
    "nova",
    "ora",
    "quin",
    "ris",
    "sano",
    "tera",
    "una",
    "vero",
    "zia",
)
MOST_LINES, MODELS = 6, 5


# What of each pack holds for any trade; the rest is of its own (a bicycle has no memory and finds no network).
ANY_TRADE: dict[str, dict[str, frozenset[str]]] = {
    "en": {
        "properties": frozenset(
            [
                "price",
                "instalment",
                "weight",
                "width",
                "warranty",
                "material",
                "colour",
                "recycled",
                "launched",
                "spare_parts",
            ]
        ),
        "aspects": frozenset(["buying", "upkeep", "repair", "housing"]),
        "issues": frozenset(["damaged_arrival", "missing_part", "wrong_item"]),
        "own": frozenset(["monitoring", "tariff"]),
    },
    "fr": {
        "properties": frozenset(["prix", "mensualite", "masse", "hauteur", "garantie", "recycle", "matiere", "lance"]),
        "aspects": frozenset(["achat", "garder", "eco", "gravure"]),
        "issues": frozenset(["casse_arrivee", "erreur", "manque"]),
        "own": frozenset(["cabine"]),
    },
    "de": {
        "properties": frozenset(
            ["preis", "rate", "gewicht", "garantie", "ersatzteile", "farbe", "recycling", "verkauf_seit"]
        ),
        "aspects": frozenset(["kauf", "reparatur", "gehaeuse_pflege", "sicherheit"]),
        "issues": frozenset(["beschaedigt", "falsch", "verloren"]),
        "own": frozenset(["tarif"]),
    },
}


def expand_brand(inputs: writing.BriefInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The pack as YAML."""
    import yaml

    from cxlab.benchmarks.cxmarena.brand import FOLDER
    from cxlab.benchmarks.cxmarena.brief import EXAMPLES

    language = inputs.language_id
    source = (FOLDER / f"{EXAMPLES[language]}.yaml").read_text(encoding="utf-8")
    name = brand_name(inputs.brief, language, rng)
    base_name = re.search(r"^name: (.+)$", source, re.MULTILINE)
    own = str(base_name[1]).strip() if base_name else ""
    for word in {own, own.split()[-1]} - {"", "Maison"}:
        source = source.replace(word, name)
    # BaseLoader keeps every plain value as text; numbers are told apart again when the new file is read.
    pack: dict[str, Any] = yaml_files.parse(source)
    pack["id"] = re.sub(r"\W+", "_", slug(name).replace("-", "_")) or "brand"
    pack["name"], pack["overview"] = name, inputs.brief
    lines = product_lines(inputs.brief, language) or [{"en": "products", "fr": "produits", "de": "Produkte"}[language]]
    pack["domain"] = ", ".join(lines)
    old = {k: f for k, f in pack["families"].items() if f["root"] == "products"}
    general = ANY_TRADE[language]
    pack["families"] = {k: f for k, f in pack["families"].items() if k not in general["own"]}
    shared = [p for p in pack["properties"] if p in general["properties"]]
    aspects = [a for a in pack["aspects"] if a in general["aspects"]]
    variants: list[str] = next((f["variants"] for f in old.values() if f.get("variants")), [])
    taken = {m.lower() for f in pack["families"].values() for m in f["models"]}
    fresh: dict[str, Any] = {}
    for line in lines:
        key = "line_" + slug(line).replace("-", "_")
        title = line[:1].upper() + line[1:]
        fresh[key] = {
            "root": "products",
            "title": title,
            "one": line,
            "many": line,
            "description": f"{title} – {name}.",
            "models": coin(rng, taken),
            "variants": variants,
            "properties": {p: {} for p in shared},
            "aspects": aspects,
            **GENERIC[language],
        }
    pack["families"] = {**fresh, **{k: f for k, f in pack["families"].items() if k not in old}}
    kept = set(pack["families"]) - set(old)
    pack["dependencies"] = [d for d in pack["dependencies"] if d["law"] != "bundle"]
    pack["issues"] = {
        key: {**issue, "families": moved}
        for key, issue in pack["issues"].items()
        if (moved := _moved(issue["families"], old, kept, list(fresh) if key in general["issues"] else []))
    }
    for tool in pack["tools"].values():
        if tool.get("families"):
            tool["families"] = _moved(tool["families"], old, kept, list(fresh))
    return yaml.safe_dump(pack, allow_unicode=True, sort_keys=False, width=1000)


def _moved(families: list[str], old: dict[str, Any], kept: set[str], fresh: list[str]) -> list[str]:
    """The families with the pack's products replaced by fresh ones, and without those that went."""
    return [*(fresh if any(f in old for f in families) else []), *(f for f in families if f in kept)]


def brand_name(brief: str, language: str, rng: np.random.Generator) -> str:
    """A quoted name, or the capitalised words that the brief begins with, or a coined one."""
    if quoted := re.search(r"[\"“„«'‚]\s?([A-ZÄÖÜÉÈ][\w’ -]{1,30}?)\s?[\"”“»'‘]", brief):
        return quoted[1].strip()
    if called := re.search(CALLED[language] + r" ((?:[A-ZÄÖÜÉÈ][\w’-]+ ?){1,3})", brief):
        return called[1].strip()
    first = re.match(r"((?:[A-ZÄÖÜÉÈ][\w’-]+ ?){1,3})", brief.strip())
    if first and first[1].split()[0].lower() not in SMALL[language] | OPENERS[language]:
        return first[1].strip()
    return coin(rng, set())[0]


def product_lines(brief: str, language: str) -> list[str]:
    """The nouns listed after a verb of making or selling."""
    found: list[str] = []
    for match in re.finditer(rf"\b{VERBS[language]}\b([^.;:]+)", brief):
        # What comes after "for" or "in" says who and where, not what.
        listed = re.split(r"\b(?:for|in|with|from|für|mit|aus|pour|dans|avec|de(?= la|s ))\b", match[1].strip())[0]
        for piece in re.split(AND[language], listed):
            if re.match(rf"\s*{VERBS[language]}\b", piece):
                continue
            words = [w for w in re.findall(r"[\w’-]+", piece) if w.lower() not in SMALL[language]]
            if language == "de":
                words = [w for w in words if w[:1].isupper()][:1]
            elif language == "en":
                words = words[:2]
            else:
                words = words[:1]
            line = " ".join(words)
            if len(line) > 2 and line.lower() not in {f.lower() for f in found}:
                found.append(line)
    return found[:MOST_LINES]


def coin(rng: np.random.Generator, taken: set[str]) -> list[str]:
    """Names that nothing else bears."""
    found: list[str] = []
    while len(found) < MODELS:
        name = HEADS[int(rng.random() * len(HEADS))] + TAILS[int(rng.random() * len(TAILS))]
        if name.lower() not in taken:
            taken.add(name.lower())
            found.append(name)
    return found
