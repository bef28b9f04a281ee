"""What joining phrases leaves behind, mended by language: contractions, elisions, the articles of names."""

from __future__ import annotations

import re

# What a French company may be called by that is no name, and begins with an article.
_HOUSES = (
    r"(?:[a-zéèê]|(?:Musée|Mutuelle|Banque|Boulangerie|Librairie|Ferme|Clinique|Brasserie|Pharmacie|Théâtre|Garage)\b)"
)
# What a German company may be called by that is neuter, and things in which one is rather than which one goes into.
_NEUTER = r"(?i:hotel|museum|gasthaus|theater|kino|autohaus|möbelhaus)\b(?= [A-ZÄÖÜ])"
_ROOMS = r"(?:\w*(?i:zimmer|wohnung|haus|suite|hütte|apartment|chalet)) [A-ZÄÖÜ]"
_MENDED = {
    language: tuple((re.compile(pattern), by) for pattern, by in pairs)
    for language, pairs in {
        "en": ((r"\b([Aa]) (?=[aiAI]|[oO](?!ne\b|nce\b)|[eE](?!u)|u(?!s|ni|ti))", r"\1n "),),
        "fr": (
            # The article that a company's name begins with, inside a sentence: "chez l'Hôtel", "le service du Musée".
            (r"\b(de|chez|avec|sur|à|dans|pour|par) L(?=['’])", r"\1 l"),
            (rf"\b(de|chez|avec|sur|à|dans|pour|par) L([ae]) (?={_HOUSES})", r"\1 l\2 "),
            (r"\b([dD])e [lL]es ", r"\1es "),
            (r"\b([dD])e le (?![aeiouyhâéèêîôAEIOUÂÉÈÊÎÔ])", r"\1u "),
            (r"\bà les ", "aux "),
            (r"\bÀ les ", "Aux "),
            (r"\bà le (?![aeiouyhâéèêîôAEIOUÂÉÈÊÎÔ])", "au "),
            (r"\bÀ le (?![aeiouyhâéèêîôAEIOUÂÉÈÊÎÔ])", "Au "),
            (
                r"(?<!-)\b([dDlLnNsSjJmMtTcC]|[qQ]u|[lL]orsqu|[pP]uisqu|[jJ]usqu)[ea] (?=[aeiouâéèêîôAEIOUÂÉÈÊÎÔ])",
                r"\1’",
            ),
            (r"\b([Ss])i (?=ils?\b)", r"\1’"),
            # Of the words in h only those that are not aspirated lose the vowel before them.
            (
                r"(?<!-)\b([dDlLjJ]|[qQ]u)[ea] (?=[hH](?:isto|orlo|umo|erb|ôt|omm|eure|uil|abit|iver|ortens|éli))",
                r"\1’",
            ),
            # French sets a space that does not break before these signs.
            (r"(?<=[\w»”)’%€])([:;?!])(?=\s|$)", "\u00a0\\1"),
        ),
        "de": (
            # After a comma it begins a clause: "der Tag, an dem".
            (r"(?<!, )\b([Ii])n dem\b", r"\1m"),
            # "On that day" is no "in daytime".
            (r"(?<!, )\b([Aa])n dem\b(?! Tag\b)", r"\1m"),
            # The article of a name ("das Girokonto Alltag"), after what calls for the dative.
            (r"\b([Bb]ei|[Vv]o|[Zz]u)n? das\b", r"\1m"),
            (r"\b([Aa]us|[Mm]it) das\b", r"\1 dem"),
            (r"\b([Bb]ei|[Vv]on|[Aa]us|[Mm]it) die\b", r"\1 der"),
            (r"\b([Zz])u die\b", r"\1ur"),
            (rf"\b([Ii])n das (?={_ROOMS})", r"\1m "),
            (rf"\b([Ii])n die (?={_ROOMS})", r"\1n der "),
            (r"\b([Zz])u dem\b", r"\1um"),
            (r"\b([Zz])u der\b", r"\1ur"),
            # A company that is called by what it is has an article: "bei der Zahnarztpraxis Lindenhof".
            (
                r"\b([Bb]ei|[Vv]on) (?=[A-ZÄÖÜ])(?=\w*(?i:praxis|schule|bäckerei|gärtnerei|metzgerei|klinik|"
                r"buchhandlung|brauerei|rösterei|manufaktur|apotheke)\b)",
                r"\1 der ",
            ),
            (rf"\b([Bb])ei (?={_NEUTER})", r"\1eim "),
            (rf"\b([Vv])on (?={_NEUTER})", r"\1om "),
            (rf"\b([Zz])u (?={_NEUTER})", r"\1um "),
            (rf"\b([Hh]ier ist) (?={_NEUTER})", r"\1 das "),
            # Only of the company itself: its things are called by its name, and a name is not declined.
            (r"\b(willkommen bei|Fragen zu) Stadtwerke (?=\w+(?:\W| beantworten))", r"\1 den Stadtwerken "),
            (r"\bBei Stadtwerke (?=\w+ heißt es)", "Bei den Stadtwerken "),
            (r"\b([Hh]ier) ist (?=Stadtwerke\b)", r"\1 sind die "),
            (r"\bKundenservice von (?=Stadtwerke\b)", "Kundenservice der "),
            (r"\b([Bb]ei|[Vv]on) (?=(?:[A-ZÄÖÜ][\w&.-]*,? ){1,4}(?:GmbH|AG|KG|eG|Versicherung|Bank)\b)", r"\1 der "),
            (r"\b([Hh]ier ist) (?=[A-ZÄÖÜ])(?=\w*(?i:praxis|schule|bäckerei|gärtnerei)\b)", r"\1 die "),
            (r"\bKundenservice von der\b", "Kundenservice der"),
            (r"\b([Bb]ei|[Vv]on) (?=[A-ZÄÖÜ])(?=\w*(?i:verleih|museum|theater|institut)\b)", r"\1 dem "),
            (r"\b([Vv])on dem\b", r"\1om"),
            (r"\b([Bb])ei dem\b", r"\1eim"),
        ),
    }.items()
}


def polish(text: str, language: str) -> str:
    """Mend what joining phrases leaves behind, by language."""
    for pattern, by in _MENDED.get(language, ()):
        text = pattern.sub(by, text)
    return text


__all__ = ["polish"]
