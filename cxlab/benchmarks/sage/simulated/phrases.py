"""What stand-ins know of a scenario: a phrase bank by its id, and without one plain phrases from its descriptions."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from cxlab import files, resources
from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.procedures.sop_text import in_words, show
from cxlab.benchmarks.sage.rules import Scenario, Value
from cxlab.benchmarks.sage.simulated.procedure_reader import PrintedProcedure
from cxlab.benchmarks.sage.simulated.signal_reader import FieldSignals

FOLDER = resources.data("simulated", "sage") / "phrases"
SMALL = frozenset(
    re.findall(
        r"\w+",
        "the a an is are was were has have had of to and or not no with for on in at by that this it its they their "
        "be been then customer caller client guest user passenger patient tenant resident learner step stop end wants "
        "want does do whether what how",
    )
)
_PERSON = re.compile(
    r"\b(?:the |a )?(?:customer|caller|client|guest|user|passenger|patient|tenant|resident|learner|member)(?:'s)?\b",
    re.I,
)
_FIRST_PERSON = (
    (r"\bdoes not\b", "do not"),
    (r"\bwants\b", "want"),
    (r"\bhas\b", "have"),
    (r"\bis\b", "am"),
    (r"\bcan not\b|\bcannot\b", "cannot"),
    (r"\b(?:his|her|their)\b", "my"),
    (r"^(\w{3,}[^s\W])s\b", r"\1"),
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OptionPhrases(_Part):
    """How an option is said and recognised.

    `signals` are plain wordings, `subtle` indirect ones (a trailing * matches any ending). The others are grammar
    lines: `says` plainly, `heated` in anger, `oblique` indirectly, `denies` says that it is not so.
    """

    signals: tuple[str, ...] = ()
    subtle: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    heated: tuple[str, ...] = ()
    oblique: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()


class FieldPhrases(_Part):
    """How a field is asked about, and the words by which such a question is known."""

    ask: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    options: dict[Value, OptionPhrases] = {}


class ActionPhrases(_Part):
    """`clause` completes "I will …"."""

    clause: tuple[str, ...] = ()


class IntentPhrases(_Part):
    openings: tuple[str, ...] = ()


class Talk(_Part):
    """What customers say besides their facts; objections by adversarial level."""

    small_talk: tuple[str, ...] = ()
    objections: dict[str, tuple[str, ...]] = {}


# What is not in a bank has no phrases; made once, for it is asked for at every turn.
NO_OPTION, NO_FIELD, NO_ACTION = OptionPhrases(), FieldPhrases(), ActionPhrases()


class Phrases(_Part):
    """A phrase bank."""

    fields: dict[str, FieldPhrases] = {}
    actions: dict[str, ActionPhrases] = {}
    intents: dict[str, IntentPhrases] = {}
    talk: Talk = Talk()


@functools.cache
def bank_of(scenario_id: str) -> Phrases | None:
    """The phrase bank of a scenario, None where there is none."""
    path = FOLDER / f"{scenario_id}.yaml"
    return files.load_model(path, Phrases, "see the other phrase banks for the form") if path.is_file() else None


def phrases_of(s: Scenario) -> Phrases:
    """The bank of a scenario, else plain phrases from its descriptions."""
    found = bank_of(s.id)
    if found is not None:
        return found
    fields = {n: (f.description, {v: o.description for v, o in f.options.items()}) for n, f in s.fields.items()}
    return plain_phrases(fields, {name: action.description for name, action in s.actions.items()})


@functools.lru_cache(maxsize=64)
def phrases_for(business: str, procedure: PrintedProcedure) -> Phrases:
    """What a stand-in of the desk knows: it is told the business, and has a bank of it or reads the descriptions."""
    for name in rules.ids():
        if rules.load(name).business == business and (found := bank_of(name)):
            return found
    fields: dict[str, tuple[str, Mapping[Value, str]]] = {f.name: ("", dict(f.options)) for f in procedure.fields}
    return plain_phrases(fields, procedure.actions)


def plain_phrases(fields: Mapping[str, tuple[str, Mapping[Value, str]]], actions: Mapping[str, str]) -> Phrases:
    """Phrases from descriptions: an option is said as its description in the first person."""
    return Phrases(
        fields={name: _plain_field(name, options) for name, (_, options) in fields.items()},
        actions={name: ActionPhrases(clause=(_clause(text or in_words(name)),)) for name, text in actions.items()},
    )


def signals(phrases: Phrases, procedure: PrintedProcedure, emotions: frozenset[str]) -> tuple[FieldSignals, ...]:
    """The fields of a procedure as a reader of customers needs them."""
    found = []
    for field in procedure.fields:
        known = phrases.fields.get(field.name, NO_FIELD)
        options = [(value, known.options.get(value, NO_OPTION)) for value, _ in field.options]
        found.append(
            FieldSignals(
                field.name,
                field.default,
                field.name in emotions,
                tuple((value, o.signals, o.subtle) for value, o in options),
            )
        )
    return tuple(found)


def as_i(text: str) -> str:
    """A clause about the customer in the first person: "the customer wants a refund" → "want a refund"."""
    said = _PERSON.sub("", text).strip(" .,;")
    for pattern, by in _FIRST_PERSON:
        said = re.sub(pattern, by, said, count=1)
    return re.sub(r"\s+", " ", said).strip(" ,")


def content_words(text: str) -> list[str]:
    """The words of a text that carry meaning, in small letters, each once."""
    return list(dict.fromkeys(w for w in re.findall(r"[a-z]+", text.lower()) if w not in SMALL and len(w) > 2))


def _plain_field(name: str, options: Mapping[Value, str]) -> FieldPhrases:
    called = in_words(name)
    said = {value: _sentence(called, value, text) for value, text in options.items()}
    words = list(dict.fromkeys(["about", *content_words(called)]))
    told = " or ".join(as_i(text) or in_words(show(value)) for value, text in list(options.items())[:3])
    return FieldPhrases(
        ask=(f"May I ask about {called}: {told}?",),
        topic=tuple(words),
        options={v: OptionPhrases(signals=(bare.lower(),), says=(_escape(bare),)) for v, bare in said.items()},
    )


def _sentence(called: str, value: Value, description: str) -> str:
    """What a customer says of an option: its description as its own words, else field and value by name."""
    said = as_i(description)
    if not said or same(said, called):
        return f"about {called}, it is {in_words(show(value))}"
    first = said.split()[0].lower()
    acts = _PERSON.match(description) or first in ("want", "have", "am", "do", "cannot", "can", "need", "will")
    return f"I {said}" if acts else said


def _clause(description: str) -> str:
    text = re.sub(r"^I will\s+", "", description.strip().rstrip("."), flags=re.IGNORECASE)
    return _escape(text[:1].lower() + text[1:])


def _escape(text: str) -> str:
    """Text without what has a meaning in grammar lines."""
    return re.sub(r"[()|<>]", " ", text)
