"""Messages that are no English sentence: nothing but dots, words of another language, or a wish for one."""

from __future__ import annotations

import re

# Words that are common in German, French, Spanish, Italian or Dutch and hardly English ones; two of them, and
# more than of the English ones, tell.
_FOREIGN = frozenset((
    "ich", "und", "nicht", "möchte", "moechte", "mein", "meine", "meinen", "kein", "keine", "habe", "haben", "bei",
    "mir", "bitte", "der", "das", "ist", "ein", "eine", "wie", "warum", "geht", "mehr", "auf", "mit", "für", "hallo",
    "guten", "tag", "danke", "bestellung", "stornieren", "funktioniert", "telefon", "handy", "je", "ne", "pas", "mon",
    "ma", "mes", "voudrais", "veux", "est", "une", "le", "les", "des", "pour", "avec", "bonjour", "merci", "commande",
    "annuler", "hola", "quiero", "mi", "mis", "pedido", "cancelar", "tengo", "por", "favor", "gracias", "una", "el",
    "los", "del", "con", "para", "teléfono", "ciao", "vorrei", "ordine", "il", "mio", "mia", "grazie", "che", "sono",
    "ho", "della", "schreib", "schreiben", "sprich", "sprechen", "deutsch", "auch", "noch", "sie", "wir",
    "kann", "ik", "niet", "mijn", "wil", "het", "een", "bestelling", "annuleren", "geen", "heb",
))  # fmt: skip
_ENGLISH = frozenset((
    "i", "my", "me", "you", "your", "the", "is", "it", "and", "to", "of", "in", "on", "a", "an", "no", "not", "do",
    "don't", "what", "have", "has", "can", "could", "please", "want", "that", "this", "for", "with", "are", "was",
    "order", "phone", "number",
))  # fmt: skip
_WANTS_ANOTHER = re.compile(
    r"\b(?:write|writing|speak|talk|answer|reply|chat|continue|switch|do (?:it|this)|schreib\w*|sprich|sprechen"
    r"|habla\w*|parle\w*|(?:in|auf|to|en)) (?:\w+ ){0,3}(?:german|deutsch|french|français|francais|spanish|español"
    r"|espanol|italian|italiano|dutch|nederlands|portuguese|polish|polski|turkish|russian|arabic|chinese|hindi)\b",
    re.IGNORECASE,
)
_CALLS = re.compile(
    r"^\W*(?:(?:helloo*|hi|hey|hallo)\b\W*)*(?:(?:(?:are )?you|any(?:one|body)|still) (?:still )?there\b\W*"
    r"|(?:helloo*|hi|hey|hallo)\b\W*)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


def is_silence(text: str) -> bool:
    """Whether nothing is said in it: dots, dashes, or nothing at all."""
    return not re.search(r"[^\W_]", text)


def calls_out(text: str) -> bool:
    """Whether somebody only makes sure that anybody is there."""
    return bool(_CALLS.match(text))


def is_foreign(text: str) -> bool:
    """Whether it is written in another language, as far as common words or letters tell, or asks for one."""
    if _WANTS_ANOTHER.search(text):
        return True
    said = [word.lower() for word in _WORD.findall(text)]
    if said and not _LATIN.search(text):
        return True
    foreign, english = (sum(word in words for word in said) for words in (_FOREIGN, _ENGLISH))
    return foreign >= 2 and foreign > english
