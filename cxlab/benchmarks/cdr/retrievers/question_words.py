"""Which words of a question can be evidence: those that tell what is talked of, and not those that any talk holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.records import Conversation
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.retrieval.conversation.messages import SIDES
from cxlab.retrieval.conversation.signals import called, tokens
from cxlab.word_forms import find_question_language, find_starts, stem, stop_words

# What a question says of the search itself, or of anybody and anything. Verbs of a matter ("promise", "call", "pay")
# are none of these.
_OF_THE_SEARCH = """
    find finds search look looks looking show shows example examples conversation conversations talk talks talking
    talked dialogue dialogues session sessions chat chats message messages people person persons somebody someone
    something anybody anyone anything everybody everyone everything thing things nobody say says said saying tell tells
    told telling mention mentions mentioned mentioning speak speaks speaking spoke ask asks asked asking express
    expresses expressed expressing state states stated stating describe describes described describing reflect reflects
    reflecting highlight highlights highlighting happen happens happened happening want wants wanted get gets got
    getting would could might may must shall can cannot also ever even us let one ones
"""
_IN_FRENCH = """
    cherche chercher trouve trouver montre montrer exemple exemples conversation conversations message messages client
    clients cliente clientes agent agents conseiller conseillers quelqu un quelque chose personne gens dit dire disent
    parle parler parlent mentionne mentionner demande demander demandent veut vouloir veulent peut pouvoir peuvent
    lorsque quand dont très
"""
_IN_GERMAN = """
    finde finden suche suchen zeige zeigen beispiel beispiele gespräch gespräche gesprächen nachricht nachrichten kunde
    kunden kundin kundinnen agent agenten mitarbeiter mitarbeiterin jemand etwas leute sagt sagen sagte spricht sprechen
    erwähnt erwähnen fragt fragen bittet bitten möchte möchten kann können konnte wurde wurden
"""
# Who calls for one of these talks of it.
_SIDES = {*SIDES} - {"human", "bot", "ai"}
_BARE = {
    "en": frozenset(_OF_THE_SEARCH.split()) | _SIDES | {f"{name}s" for name in _SIDES},
    "fr": frozenset(_IN_FRENCH.split()),
    "de": frozenset(_IN_GERMAN.split()),
}


def carries_meaning(word: str, language: str = "en") -> bool:
    """Whether a word tells what is talked of in a question of that language; what has no letters and no digits is taken
    as it is."""
    pieces = tokenize(word)
    empty = _BARE.get(language, frozenset()) | stop_words(language)
    return not pieces or any(piece not in empty for piece in pieces)


def find_meaning(text: str, language: str = "en") -> tuple[str, ...]:
    """The words of a text that carry meaning, as indexes cut them, each once."""
    return tuple(word for word in dict.fromkeys(tokenize(text)) if carries_meaning(word, language))


def find_sayable(question: str) -> tuple[str, ...]:
    """The words of the topic that a conversation would have to say: names of moods are read off other words, too."""
    asked = read_question(question)
    named = [called()[state.dimension] for state in asked.states]
    topic = " ".join(word for word in tokens(asked.topic) if not any(each.find([word]) for each in named))
    return find_meaning(topic, find_question_language(question))


def reduce_question(question: str, sides: bool = False) -> str:
    """The question in the words that carry meaning, and with the side that it names where `sides` are read; the whole
    of it where its other words say what of a state is asked ("not happy")."""
    asked = read_question(question)
    side = [asked.side] if sides and asked.side else []
    words = find_meaning(asked.topic if sides else question, find_question_language(question))
    reduced = " ".join([*side, *words])
    return reduced if read_question(reduced).states == asked.states else question


class Unsaid(NamedTuple):
    """A word of the question that nobody says whose words are asked for (`side`, None: anybody's); `others`:
    conversations in which somebody else does."""

    word: str
    side: str | None
    others: int


class SaidWords(NamedTuple):
    """What is said of the words that a question looks for: `forms`, the forms of each that anybody says, commonest
    first; `unsaid`, those that the side which it names says in no conversation."""

    forms: dict[str, tuple[str, ...]]
    unsaid: list[Unsaid]


def read_said(question: str, talks: Iterable[Conversation], language: str) -> SaidWords:
    """Which of the words that a question looks for are said, in any form, in conversations of that language."""
    side, wanted = read_question(question).side, find_sayable(question)
    stems = {stem(word, language): word for word in wanted}
    starts = [start for word in wanted for start in find_starts(word, language)]
    said: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {word: Counter() for word in wanted}
    of_side: set[str] = set()
    none = True
    for talk in talks:
        none = False
        here: set[str] = set()
        for message in talk.messages:
            text = message.text.casefold()
            # Cutting every message into words would take longer than the search.
            if not any(start in text for start in starts):
                continue
            found = {form: stems[stemmed] for form in {*tokenize(text)} if (stemmed := stem(form, language)) in stems}
            here.update(found.values())
            if side is None or SPEAKERS[message.role] == side:
                of_side.update(found.values())
            for form, word in found.items():
                forms[word][form] += 1
        said.update(here)
    # Two forms of one word in a question are looked for as one.
    looked_for = [] if none else list(dict.fromkeys(stems.values()))
    return SaidWords(
        {word: tuple(form for form, _ in forms[word].most_common()) for word in looked_for if forms[word]},
        [Unsaid(word, side, said[word]) for word in looked_for if word not in of_side],
    )
