"""Steps of an issue article, which tell an agent what to do, as what the agent says to the customer.

    step_act(talk, "Ask whether other devices are online") -> StepAct("ask_step", "whether other devices are online")

`act` is the kind of act (see AGENT_ACTS): `instruct` for what the customer does, `later` for what they do when the
conversation is over, `warn` for what they should leave, `do` for what the agent does, `ask_step` (yes or no),
`ask_open`, `request` and `tell_step` for what is asked and told, "" for a step that is politeness only, or that the
report of the tool before it has done already. `reply` is the customer's answer where it is one of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.conversations.phrasebook import Phrasebook
from cxlab.benchmarks.cxmarena.text import STOP, word_set


class StepAct(NamedTuple):
    """The act that a step becomes, and the step's words as the act names them."""

    act: str
    step: str
    reply: str = ""


def step_act(talk: Phrasebook, step: str, tool: bool = False) -> StepAct:
    """What an agent makes of a step; a step with a tool is always the agent's own doing."""
    text = step.strip().rstrip(" .")
    for pattern, by in talk.customer_words:
        text = re.sub(pattern, by, text)
    if tool:
        return StepAct("call", own(talk, text))
    for rewrite in talk.rewrites:
        if match := re.match(rewrite.match, text):
            said = match.expand(rewrite.say)
            if rewrite.act in ("do", "later", "instruct"):
                said = own(talk, said) if rewrite.act == "do" else lower(said)
            return StepAct(rewrite.act, said, rewrite.reply)
    return StepAct("instruct", lower(text))


def own(talk: Phrasebook, text: str) -> str:
    """The step as something the speaker will do: the verb as the language puts it after "I will"."""
    if talk.language == "en":
        return lower(text)
    if talk.language == "fr":
        verb, _, rest = text.partition(" ")
        for pattern, by in talk.infinitives:
            if re.fullmatch(pattern, verb, re.IGNORECASE):
                return f"{re.sub(f'(?i)^{pattern}$', by, verb).lower()} {rest}".strip()
        return lower(text)
    match = re.match(r"(\w+) Sie\b(?: sich\b)? ?(.*)$", text)
    if match is None:
        return text
    verb, rest = match[1].lower(), match[2]
    clause, comma, tail = rest.partition(", ")  # the comma of "133,00 €" ends no clause
    words = clause.split()
    # "Entsperren Sie es von hier aus": that is no prefix.
    if words and words[-1] in _PREFIXES and words[-2:-1] != ["hier"]:
        verb, words = words[-1] + verb, words[:-1]
    return " ".join([*words, verb]) + comma + tail


# Prefixes of German verbs that stand at the end of a command.
_PREFIXES = word_set("ab an auf aus bei bereit ein fest frei her hin mit nach vor zu zurück zusammen durch um weg")


def lower(text: str) -> str:
    """The first letter small, unless the first word is a name or an abbreviation."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def inside(ledger: Ledger, text: str) -> str:
    """The text as it stands after a colon: small, unless it begins with a name, or the language keeps it."""
    first = re.split(r"\W", text, maxsplit=1)[0]
    # "The Harrow Quay Museum" makes no name of every "The".
    own = first in ledger.brand.name.split() and (first.lower() not in STOP or text.startswith(ledger.brand.name))
    named = any(map(text.startswith, ledger.names.get(first, ()))) or own or first == "I"
    if named or ledger.brand.language_id == "de" or re.match(r"\w+-?[A-Z]", text):
        return text
    return text[:1].lower() + text[1:]
