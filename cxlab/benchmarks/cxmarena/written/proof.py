"""What proves the labels of a brand written by hand: nothing is stated that the ledger does not hold, and everything
that is stated is marked.

    prove(load("aldersea", "en"))      # [Complaint]; empty when the labels hold

A figure that stands outside a mark is a complaint, in articles always, in an agent's words unless the customer or a
tool has said it before. So the facts of an article, the articles of a fact and the grounding of a turn are complete.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cxlab.benchmarks.cxmarena.written import brand_files
from cxlab.benchmarks.cxmarena.written.brand_files import (
    WrittenArticle,
    WrittenBrand,
    WrittenConversation,
    split_list,
)
from cxlab.benchmarks.cxmarena.written.marked_text import EXAMPLE, MarkedText, numbers, read_marks
from cxlab.errors import BadFile
from cxlab.files import Complaint

SHORTEST, LONGEST = 8, 30
FEWEST_QUESTIONS = 6
FORMATS = ("text", "table", "html", "markdown", "pdf")
_ORDINAL = re.compile(r"^\s*\d{1,2}[.)] ", re.MULTILINE)


def prove_all() -> list[Complaint]:
    """Complaints about everything written by hand that ships."""
    found = []
    for name in brand_files.names():
        for language in brand_files.languages(name):
            try:
                found += prove(brand_files.load(name, language))
            except BadFile as error:
                found.append(Complaint.of(error))
    return found


def prove(brand: WrittenBrand) -> list[Complaint]:
    """All complaints about a brand in one language."""
    return [*_articles(brand), *_refinement(brand), *_conversations(brand), *_queries(brand)]


def _complain(source: object, line: int | None, problem: str, fix: str) -> Complaint:
    return Complaint(str(source), line, problem, fix)


def _articles(brand: WrittenBrand) -> Iterator[Complaint]:
    seen: set[str] = set()
    for article in (*brand.articles, *brand.refinement):
        where = (article.source, article.line)
        if article.slug in seen:
            yield _complain(*where, f"{article.slug} is there twice", "give each article a name of its own")
        seen.add(article.slug)
        if article.head.get("topic") not in brand.topics:
            yield _complain(*where, f"{article.slug}: unknown topic", f"take one of {', '.join(brand.topics)}")
        if article.head.get("format", "text") not in FORMATS:
            yield _complain(*where, f"{article.slug}: unknown format", f"take one of {', '.join(FORMATS)}")
        for name in article.listed("tools"):
            if name not in brand.tools:
                yield _complain(*where, f"{article.slug}: unknown tool {name!r}", "take one of tools.yaml")
        if (intent := article.head.get("intent")) and intent not in brand.causes:
            yield _complain(*where, f"{article.slug}: unknown intent {intent!r}", "take one of words.yaml")
        planted = article.listed("plants")
        yield from _marks(brand, article.body, where, article.slug, planted)
        for number in numbers(_ORDINAL.sub("", article.body.rest)):
            yield _complain(
                *where, f"{article.slug}: {number} stands in no mark", "mark what states it, or write [[…|-]]"
            )


def _marks(
    brand: WrittenBrand, text: MarkedText, where: tuple[object, int], name: str, planted: Sequence[str] = ()
) -> Iterator[Complaint]:
    """Marks whose words are not what the ledger holds."""
    if "[[" in text.text or "]]" in text.text:
        yield _complain(*where, f"{name}: a bracket that is no mark", "write [[words|subject.property]]")
    for mark in text.marks:
        if mark.fact == EXAMPLE:
            continue
        fact = brand.facts.get(mark.fact)
        if fact is None:
            yield _complain(*where, f"{name}: unknown fact {mark.fact!r}", "take one of ledger.yaml")
        elif mark.planted != (mark.fact in planted and not states(fact.forms, mark.words)):
            yield _complain(*where, f"{name}: {mark.words!r} is planted and not said to be", "list it under plants:")
        elif not mark.planted and not states(fact.forms, mark.words):
            yield _complain(*where, f"{name}: {mark.words!r} is not {fact.forms[0]!r}", "say what the ledger holds")


def states(forms: Sequence[str], words: str) -> bool:
    """Whether words say a value: its figures in its order, one of its forms, or a value that has no figures."""
    told = numbers(words)
    plain = [form.casefold() for form in forms]
    if any(form in words.casefold() for form in plain):
        return True
    with_figures = [numbers(form) for form in forms if numbers(form)]
    return told in with_figures if told else not with_figures


def _refinement(brand: WrittenBrand) -> Iterator[Complaint]:
    by_slug = {article.slug: article for article in brand.articles}
    for article in brand.refinement:
        where = (article.source, article.line)
        kinds = [key for key in ("plants", "copy of", "passage of") if key in article.head]
        if len(kinds) != 1:
            yield _complain(*where, f"{article.slug}: {len(kinds)} reasons to be here", "plants, copy of or passage of")
            continue
        origin = article.head[kinds[0]]
        if kinds[0] != "plants" and origin not in by_slug:
            yield _complain(*where, f"{article.slug}: unknown article {origin!r}", "name one of articles/")
        elif kinds[0] == "passage of" and shared_passage(article, by_slug[origin]) is None:
            yield _complain(*where, f"{article.slug}: shares no passage with {origin}", "put one in, word by word")
        elif kinds[0] == "copy of" and set(article.body.facts) != set(by_slug[origin].body.facts):
            differ = set(article.body.facts) ^ set(by_slug[origin].body.facts)
            yield _complain(*where, f"{article.slug}: {sorted(differ)} in one of the two", "state the same facts")
        elif kinds[0] == "plants" and {mark.fact for mark in article.body.marks if mark.planted} != {origin}:
            yield _complain(*where, f"{article.slug}: plants something else than {origin}", "mark it with !")
        elif kinds[0] == "plants" and not any(origin in one.body.facts for one in brand.articles):
            yield _complain(*where, f"{article.slug}: no article states {origin}", "contradict one that does")


def shared_passage(one: WrittenArticle, other: WrittenArticle) -> str | None:
    """The longest paragraph that stands in both articles, word by word."""
    own = {block.strip() for block in other.body.text.split("\n\n")}
    shared = [block.strip() for block in one.body.text.split("\n\n") if block.strip() in own]
    return max(shared, key=len, default=None)


def _conversations(brand: WrittenBrand) -> Iterator[Complaint]:
    stated = {fact for article in brand.articles for fact in article.body.facts}
    counts = Counter(one.id for one in brand.conversations)
    for talk in brand.conversations:
        where = (talk.source, talk.line)
        if counts[talk.id] > 1:
            yield _complain(*where, f"{talk.id} is there twice", "number on")
        if talk.intent not in brand.causes:
            yield _complain(*where, f"{talk.id}: unknown intent {talk.intent!r}", "take one of words.yaml")
        said = [one for one in talk.messages if one.said.text]
        if not SHORTEST <= len(said) <= LONGEST:
            yield _complain(*where, f"{talk.id}: {len(said)} messages", f"from {SHORTEST} to {LONGEST}")
        for key in ("who", "agent"):
            if key not in talk.head:
                yield _complain(*where, f"{talk.id}: no {key}", f"say {key}: in its head")
        yield from _standards(brand, talk)
        yield from _talk(brand, talk, stated)


def _standards(brand: WrittenBrand, talk: WrittenConversation) -> Iterator[Complaint]:
    shown = {tag for message in talk.messages for tag in message.tags}
    no, na = split_list(talk.head.get("no", "")), split_list(talk.head.get("na", ""))
    where = (talk.source, talk.line)
    for name in sorted({*shown, *no, *na} - set(brand.quality)):
        yield _complain(*where, f"{talk.id}: unknown standard {name!r}", "take one of words.yaml")
    for name in sorted((shown & {*no, *na}) | ({*no} & {*na})):
        yield _complain(*where, f"{talk.id}: {name} has two answers", "keep one of tag, no: and na:")
    if len({*shown, *no, *na}) < FEWEST_QUESTIONS:
        yield _complain(*where, f"{talk.id}: too few standards", f"label {FEWEST_QUESTIONS} or more")


def _talk(brand: WrittenBrand, talk: WrittenConversation, stated: set[str]) -> Iterator[Complaint]:
    heard = Counter(numbers(" ".join((*talk.head.values(),))))
    for message in talk.messages:
        where = (talk.source, message.line)
        if message.role == "customer":
            if message.said.marks:
                yield _complain(
                    *where, f"{talk.id}: a mark in the customer's words", "only agents ground what they say"
                )
        else:
            yield from _marks(brand, message.said, where, talk.id)
            for fact in message.said.facts:
                if fact in brand.facts and fact not in stated:
                    yield _complain(*where, f"{talk.id}: no article states {fact}", "state it in one")
            for number in numbers(message.said.rest):
                if number not in heard:
                    yield _complain(*where, f"{talk.id}: nobody said {number} before", "mark it, or have it said")
        heard.update(numbers(message.said.text))
        for name, arguments, result in message.calls:
            known = brand.tools.get(name)
            if known is None:
                yield _complain(*where, f"{talk.id}: unknown tool {name!r}", "take one of tools.yaml")
            elif set(arguments) != set(known["asks"]):
                yield _complain(*where, f"{talk.id}: {name} asks for {', '.join(known['asks'])}", "give all of them")
            if not result:
                yield _complain(*where, f"{talk.id}: {name} has no result", "write one after <")
            heard.update(numbers(" ".join((*arguments.values(), *result, *result.values()))))


def _queries(brand: WrittenBrand) -> Iterator[Complaint]:
    path = brand.folder / brand.language / "queries.yaml"
    searched = {article.slug: set(article.body.facts) for article in brand.articles if not article.issue}
    for query in brand.queries:
        asked, name = str(query.get("ask", "")), str(query.get("in", ""))
        answer = read_marks(str(query.get("answer", "")))
        if not asked or name not in searched:
            yield _complain(path, None, f"{asked!r}: no information article {name!r}", "name one")
            continue
        yield from _marks(brand, answer, (path, 1), asked)
        facts = set(answer.facts)
        if not facts:
            yield _complain(path, None, f"{asked!r}: the answer states no fact", "mark it")
        if not facts <= searched[name]:
            yield _complain(path, None, f"{asked!r}: {name} does not state {sorted(facts - searched[name])}", "")
        for other, own in searched.items():
            if other != name and facts and facts <= own:
                yield _complain(path, None, f"{asked!r}: {other} answers it, too", "ask for more")


__all__ = ["prove", "prove_all", "shared_passage", "states"]
