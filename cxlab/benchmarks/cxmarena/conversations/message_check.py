"""What an agent that a model plays may send, and what its message rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cxmarena.brand import value_format
from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions, find_facts, mentions
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger
from cxlab.benchmarks.cxmarena.brand.value_format import Value
from cxlab.benchmarks.cxmarena.conversations import personas
from cxlab.benchmarks.cxmarena.conversations import written_dialogue_prompts as prompts
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex, SourcePassage
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.text import foreign

# A day as tools take it.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class MessageCheck:
    """The checks of one conversation. `messages` are those so far and grow as it goes on, `articles` the ids of those
    that the agent sees."""

    ledger: Ledger
    article_index: ArticleIndex
    articles: tuple[str, ...]
    tools: Mapping[str, Any]
    person: Persona
    messages: Sequence[Mapping[str, Any]]

    def find(self, source: prompts.SourceSentence) -> SourcePassage | None:
        """The passage that was named, when it stands in that article."""
        article = self.article_index.articles.get(source.article.removeprefix("Article ").strip())
        if article is None or article.id not in self.articles or len(source.words.split()) < 2:
            return None
        return SourcePassage(article.id, source.words.strip()) if holds(article.body, source.words) else None

    def complain(self, said: prompts.AgentMessage, passages: Sequence[SourcePassage]) -> list[str]:
        found = [
            f"No article states {' '.join(map(str, triple))}."
            for triple in sorted(contradictions(self._strange(said.message), self.ledger, self.person.subject), key=str)
        ]
        if said.kind == "knowledge_base" and not passages:
            found.append("It is said to rest on articles, but no sentence that was named stands in them word for word.")
        found += self._of_another(said.message, passages)
        if (said.kind == "tool_call") != (said.call is not None):
            found.append("A message of the kind tool_call makes a call, and no other does.")
        if said.call is not None:
            found += self._wrong_call(said.call)
        if named := [name for name in self.tools if name in said.message]:
            found.append(f"A customer does not know {named[0]}: say what is done, and leave out what systems call it.")
        if foreign(said.message, self.ledger.brand.language_id):
            found.append(f"It has to be in {self.ledger.brand.language.name}.")
        if any(m["role"] == "agent" and m["text"] == said.message.strip() for m in self.messages):
            found.append("The same words were said before.")
        return found

    def _of_another(self, message: str, passages: Sequence[SourcePassage]) -> list[str]:
        """The named sentences that state what holds for another model, and not for the one that is spoken of.

        That is the one that was named last, else the one that the customer has; an agent that names the other itself
        says so of that one.
        """
        named = (self._named(m["text"]) for m in reversed(self.messages) if m["role"] != "tool")
        spoken_of = next(filter(None, named), {self.person.subject})
        others = {s.name for one in spoken_of for s in self.ledger.siblings(one)} - spoken_of - self._named(message)
        found = []
        for article, text in passages:
            about = self.article_index.articles[article].properties.get("subject")
            stated = find_facts(text, self.ledger, about) if about in others else ()
            if any(s in others and not self._holds_for(spoken_of, name, value) for s, name, value in stated):
                found.append(f'"{text}" is said of {about}, and the talk is about {" and ".join(sorted(spoken_of))}.')
        return found

    def _holds_for(self, subjects: Iterable[str], name: str, value: Value) -> bool:
        """Whether one of the subjects has that value of a property."""
        return any((fact := self.ledger.get(one, name)) is not None and fact.value == value for one in subjects)

    def _named(self, text: str) -> set[str]:
        """The things with facts of their own that a text names."""
        return {name for _, _, name in mentions(text, self.ledger)}

    def _wrong_call(self, call: prompts.ToolUse) -> list[str]:
        if call.name not in self.tools:
            return [f"There is no {call.name}."]
        spec = self.tools[call.name]["function"]["parameters"]
        lacking = [name for name in spec["required"] if name not in call.arguments]
        stray = [name for name in call.arguments if name not in spec["properties"]]
        coined = [
            name
            for name, value in call.arguments.items()
            if name in spec["properties"] and "enum" not in spec["properties"][name]
            # Numbers and codes come from somebody; words may be put otherwise.
            if any(c.isdigit() for c in str(value)) and not self._given(name, str(value))
        ]
        return [
            *(f"{call.name} needs {name}." for name in lacking),
            *(f"{call.name} has no {name}." for name in stray),
            *(f"Nobody gave the value of {name}; ask for it." for name in coined if name not in stray),
        ]

    def _given(self, name: str, value: str) -> bool:
        """Whether the value was told, as it is or as people say it; a sum may stand in the agent's articles as well.

        Whoever says "on 20 March" leaves the year to the one who writes it down, and a reason is put in own words.
        """
        told = "\n".join(m["text"] for m in self.messages)
        said = as_spoken(value, self.person)
        if holds(told, value) or holds(told, said if said == value else said.rpartition(" ")[0]):
            return True
        spec = self.person.brand.parameters.get(name)
        sample = spec.sample if spec else ""
        if sample != "amount":
            return sample == "reason"
        read = "\n".join((told, *(self.article_index.articles[one].body for one in self.articles)))
        sums = {m.value for m in value_format.find(read, self.person.brand.language) if m.kind in ("price", "count")}
        return bool(re.fullmatch(r"\d+(?:[.,]\d+)?", value)) and float(value.replace(",", ".")) in sums

    def _strange(self, text: str) -> str:
        """The text without what belongs to this conversation alone."""
        values = {*self.person.details.values(), *self.person.masked.values()}
        values |= {as_spoken(value, self.person) for value in values}
        for value in sorted(map(str, values), key=len, reverse=True):
            if any(c.isdigit() for c in value):
                text = re.sub(rf"(?<![\w.,]){re.escape(value)}(?!\w|[.,]\d)", "…", text)
        return text

    def stated(self, text: str, passages: Sequence[SourcePassage]) -> list[str]:
        """The facts of its sources whose value the message gives."""
        sources = {p.article for p in passages}
        near = {f for f, articles in self.article_index.by_fact.items() if sources & set(articles)}
        return [f for f in sorted(near) if holds(text, self.ledger.show(self.ledger.facts[f]))]


def as_spoken(value: str, person: Persona) -> str:
    """A value as people say it: days in words, all else as it is."""
    return personas.spoken_day(value, person.brand) if _DAY.fullmatch(value) else value


def holds(text: str, part: str) -> bool:
    """Whether the part stands in the text, whatever the case, the blanks and the end of a sentence."""
    plain = " ".join(part.casefold().split()).rstrip(" .!?")
    return bool(plain) and plain in " ".join(text.casefold().split())


__all__ = ["MessageCheck", "as_spoken", "holds"]
