"""Slips of grammar and typography that a machine can find, by language: faults(text, "fr") -> ["elision: de un", …]."""

from __future__ import annotations

import re

_VOWEL = "aeiouâàéèêëîïôûAEIOUÂÀÉÈÊËÎÏÔÛ"
# Each pattern finds a slip; words that may stand twice, or before a vowel, are named in it.
ANY = {
    "slot": r"<\w+>|\(\w[^()]*\||\|",
    "twice": r"\b(?!(?:that|had|nous|vous|die|der|das|sie|weiter)\b)([^\W\d_]{2,}) \1\b",
    "signs": r"[,;:!?][ \u00a0]?[,;]|[,;:]\.(?!\.)|(?<!\.)\.\.(?!\.)| ,|  |\.[,;:]",
    "dashes": r"– –|[,;] –|– [,;.]|–\.",
    "small start": r"(?<=[a-zé]{3}[.!?] )(?:[a-zàâéèêîôû]{2,}\b)(?=[^@\w])",
}
LANGUAGES = {
    "en": {
        "a before vowel": r"\b[Aa] (?=[aeio])(?!one\b|once\b|eu|us|uni)\w+",
        "an before consonant": r"\b[Aa]n (?=[b-df-gj-np-tv-z])\w+",
        "articles": r"\b(?:the|an?|your|my) (?:the|an?|your|my)\b(?! la)",
        "plural": r"\ba (?:tweezers|pliers|scissors|rubber gloves)\b",
    },
    "fr": {
        "elision": rf"(?<![-’\w])(?:de|que|je|se|ne|me|te|lorsque) (?=[{_VOWEL}])(?!onz|oui)\w+",
        "article before vowel": rf"(?<![-’\w])l[ea] (?=[{_VOWEL}])(?!onz|oui|un\b)\w+",
        "contraction": r"\b(?:de|à) les? (?=[^\W\d_aeiouyhâéèêîôAEIOU])\w+|\bsi ils?\b",
        "space": r"[^\s\u00a0\d.…?!][;:?!](?=\s|$)",
        "article": r"\b(?:le|la|les|un|une|des) (?:le|la|les|un|une|des)\b",
        "subjunctive": r"\b(?:vois|imagine) que ce soit\b",
    },
    "de": {
        "polite": r"[–;,] (?:ihnen|ihren?|ihrem)\b",
        # "Mit ein wenig", "etwa seit ein paar Tagen" and "der Reihe nach das" are right.
        "dative": r"\b(?:mit|bei|von|aus) (?:das|ein(?! (?:wenig|paar)\b)|einen)\b(?= )",
        "accusative": r"\b(?:für|ohne|durch|gegen) (?:dem|einem|einer)\b",
        "apposition": r"\bIhre \w+nummer (?:des|Ihres) ",
        "negation": r"\bniemand muss (?:\w+ )?nicht\b",
    },
}


def faults(text: str, language: str, ends: bool = True) -> list[str]:
    """The slips in a text, "rule: words"; with `ends`, a text that ends without a stop is one, too."""
    found = []
    for rule, pattern in {**ANY, **LANGUAGES[language]}.items():
        found += [f"{rule}: …{text[max(m.start() - 12, 0) : m.end() + 12]}…" for m in re.finditer(pattern, text)]
    if ends and text[-1:] not in ".!?…":
        found.append(f"end: …{text[-30:]}")
    return found
