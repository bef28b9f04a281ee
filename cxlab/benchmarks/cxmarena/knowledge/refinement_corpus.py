"""The corpus of knowledge-base refinement: clean articles with redundancy and contradictions put in, and the gold.

    corpus = stages.finish(make(articles, ledger, model, size=1915, seed=1))
    corpus.articles            # [records.Article], ids of their own ("KB_<n>"), relations {"of": original id}
    corpus.similar, corpus.contradictory     # [(id, id), ...] sorted pairs; no pair stands in both
    corpus.changes             # what was done: {"kind", "to", "from", "text", "fact"?, "value"?}
    check(corpus, ledger)      # [] proves the gold: every contradiction is there, and there is no other

Similar pairs: whole articles copied in other words and another order, and passages put into a sibling or parent.
Contradictory pairs: a fact of one article is changed within its property's range and stated in a sibling; every
other article of the corpus that states the fact contradicts that sibling, too, and the gold holds those pairs.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import WORDED
from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions, find_facts, missing
from cxlab.benchmarks.cxmarena.brand.ledger import Fact, Ledger, rng_for, say
from cxlab.benchmarks.cxmarena.brand.value_format import Value
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.cxmarena.knowledge.article_writer import (
    AGAIN,
    TRIES,
    can_be_asked_again,
    drop_contradictions,
    missing_text_error,
    sections,
    statements,
)
from cxlab.benchmarks.cxmarena.text import foreign
from cxlab.benchmarks.generation import stages
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import Article

Pair = tuple[str, str]
# Published: 518 similar and 293 contradictory pairs among 1,915 articles; half of the similar ones are copies here.
SIMILAR, CONTRADICTORY, COPIES = 518 / 1915, 293 / 1915, 0.5
# Most articles that may state a fact that is changed: otherwise one insertion would make a crowd of pairs.
CROWD = 2


@dataclass
class RefinementCorpus:
    """See the module's head."""

    articles: list[Article] = field(default_factory=list)
    similar: list[Pair] = field(default_factory=list)
    contradictory: list[Pair] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    lost: int = 0
    """Copies that the writer did not write, and that are left out."""


def make(
    articles: Sequence[Article], ledger: Ledger, model: ChatModel, size: int, seed: int, folder: Path | None = None
) -> Generator[stages.Progress, None, RefinementCorpus]:
    """A corpus of `size` articles from clean ones (information and issues)."""
    rng = rng_for("refinement", seed)
    copies = round(size * SIMILAR * COPIES)
    base = _choose(articles, size - copies, rng)
    originals = [base[int(i)] for i in rng.permutation(len(base))[:copies]]
    language = ledger.brand.language
    names = (ledger.brand.name, *ledger.subjects)

    async def rephrase(article: Article) -> stages.Row:
        inputs = article_prompts.RephraseInputs(
            language=language.name,
            language_id=language.language,
            text=article.body,
            names=tuple(n for n in names if n in article.body),
        )
        for number in range(TRIES):
            reply = await ask(model, article_prompts.REPHRASE, inputs, seed=seed + number * AGAIN)
            if reply.output is None:
                if not can_be_asked_again(reply.failure):
                    raise missing_text_error(article_prompts.REPHRASE.name, reply.failure)
                continue
            # Other words can turn one fact into another; such a sentence goes, so that a copy is only a copy.
            body = drop_contradictions(reply.output.text.strip(), ledger, article.properties.get("subject"))
            if model.simulated or _says_the_same(body, article, ledger):
                return {"body": body}
        return {"body": ""}

    rows = yield from stages.run("refinement", originals, lambda a: a.id, rephrase, folder)
    bodies = {a.id: a.body for a in base}
    written = [(a, row["body"]) for a, row in zip(originals, rows, strict=True) if row["body"]]
    copied = {f"copy of {a.id}": (a, body) for a, body in written}
    untouched = {a.id for a in base} - {a.id for a in originals}
    changes: list[dict[str, Any]] = [
        {"kind": "copy", "from": a.id, "to": key, "text": ""} for key, (a, _) in copied.items()
    ]
    similar = [(a.id, key) for key, (a, _) in copied.items()]
    by_id = {a.id: a for a in base}
    free = [a.id for a in base if a.id in untouched]
    order = [free[int(i)] for i in rng.permutation(len(free))]
    taken: set[str] = set()
    pairs: set[frozenset[str]] = {frozenset(p) for p in similar}
    contradictory, more = _contradict(
        order, by_id, bodies, copied, ledger, round(size * CONTRADICTORY), rng, taken, pairs
    )
    changes += more
    added, more = _insert(
        order,
        by_id,
        bodies,
        ledger,
        round(size * SIMILAR) - copies,
        rng,
        taken,
        pairs,
        {c["fact"] for c in changes if "fact" in c},
    )
    changes += more
    final = {**bodies, **{key: body for key, (_, body) in copied.items()}}
    keys = [list(final)[int(i)] for i in rng.permutation(len(final))]
    ids = {key: f"KB_{number}" for number, key in enumerate(keys, 1)}
    found = RefinementCorpus(
        lost=len(originals) - len(written), changes=[{**c, "from": ids[c["from"]], "to": ids[c["to"]]} for c in changes]
    )
    for key in keys:
        article = by_id[key] if key in by_id else copied[key][0]
        found.articles.append(
            article.model_copy(update={"id": ids[key], "body": final[key], "relations": {"of": (article.id,)}})
        )
    found.similar = sorted(order_pair(ids[a], ids[b]) for a, b in (*similar, *added))
    found.contradictory = sorted(order_pair(ids[a], ids[b]) for a, b in contradictory)
    return found


def _says_the_same(body: str, article: Article, ledger: Ledger) -> bool:
    """Whether a text can pass as a copy of an article: in its language, no mere remark, with most of its facts."""
    if foreign(body, ledger.brand.language.language) or 2 * len(body.split()) < len(article.body.split()):
        return False
    facts = article.properties.get("facts", ())
    return 2 * len(missing(body, ledger, facts, article.properties.get("subject"))) <= len(facts)


def order_pair(one: str, other: str) -> Pair:
    """Two articles as a pair is kept, the smaller id first."""
    return (one, other) if one < other else (other, one)


def _choose(articles: Sequence[Article], count: int, rng: np.random.Generator) -> list[Article]:
    """Whole families of siblings, so that there are siblings to contradict."""
    groups: dict[object, list[Article]] = {}
    for article in articles:
        groups.setdefault(article.properties.get("subject") or article.topic[:2], []).append(article)
    found: list[Article] = []
    keys = list(groups)
    for i in rng.permutation(len(keys)):
        found += groups[keys[int(i)]]
    return found[:count]


def _near(article: Article, by_id: dict[str, Article], members: dict[object, list[str]]) -> list[str]:
    """Siblings and parent first, then articles about the same subject."""
    own = article.relations
    near = [*own.get("siblings", ()), *own.get("parent", ()), *own.get("issue_of", ())]
    near += members.get(article.properties.get("subject"), [])
    return [n for n in dict.fromkeys(near) if n in by_id and n != article.id]


def _contradict(
    order: Sequence[str],
    by_id: dict[str, Article],
    bodies: dict[str, str],
    copied: dict[str, tuple[Article, str]],
    ledger: Ledger,
    count: int,
    rng: np.random.Generator,
    taken: set[str],
    pairs: set[frozenset[str]],
) -> tuple[list[Pair], list[dict[str, Any]]]:
    stating: dict[str, set[str]] = {}
    told = {key: statements(a, ledger) for key, a in by_id.items()}
    for key, lines in told.items():
        for fact, _ in lines:
            stating.setdefault(fact, set()).add(key)
    for key, (original, _) in copied.items():
        for told_id, _ in told[original.id]:
            stating.setdefault(told_id, set()).add(key)
    members = _members(by_id)
    found: list[Pair] = []
    changes: list[dict[str, Any]] = []
    changed: set[str] = set()
    for key in order:
        if len(found) >= count:
            break
        near = [n for n in _near(by_id[key], by_id, members) if n not in taken and n in order]
        for fact_id in dict.fromkeys(f for f, _ in told[key]):
            known = ledger.facts[fact_id]
            others = [n for n in near if n not in stating[fact_id] and frozenset((key, n)) not in pairs]
            if fact_id in changed or len(stating[fact_id]) > CROWD or not others or key in taken:
                continue
            value = change(ledger, known, rng)
            if value is None:
                continue
            target = others[int(rng.random() * min(len(others), 6))]
            wrong = Fact(known.id, known.subject, known.property, value, known.unit)
            sentence = say(ledger, wrong, rng) + "."
            if find_facts(sentence, ledger, None) != {wrong.triple}:
                continue
            fresh = [(target, s) for s in stating[fact_id] if frozenset((target, s)) not in pairs]
            bodies[target] = insert(bodies[target], sentence, rng)
            taken.add(target)
            changed.add(fact_id)
            pairs.update(frozenset(p) for p in fresh)
            found += fresh
            changes.append(
                {"kind": "contradiction", "from": key, "to": target, "text": sentence, "fact": fact_id, "value": value}
            )
            break
    return found, changes


def _members(by_id: dict[str, Article]) -> dict[object, list[str]]:
    members: dict[object, list[str]] = {}
    for key, article in by_id.items():
        if article.properties.get("subject"):
            members.setdefault(article.properties["subject"], []).append(key)
    return members


def change(ledger: Ledger, fact: Fact, rng: np.random.Generator) -> Value | None:
    """Another value of the property, clearly different and still plausible; None where there is none."""
    spec = ledger.brand.draw(ledger.subjects[fact.subject].family, fact.property)
    if spec.kind in WORDED:
        rest = [o for o in spec.options if o != fact.value]
        return rest[int(rng.random() * len(rest))] if rest else None
    if spec.kind == "date":
        year, month, day = str(fact.value).split("-")
        return f"{year}-{int(month) % 12 + 1:02d}-{min(int(day), 28):02d}"
    if spec.kind == "time":
        hour, minute = str(fact.value).split(":")
        low, high = spec.range or (0.0, 23.0)
        hours = [int(hour) + way for way in (-1, 1, 2)]
        hours = [h for h in hours if low <= h and h + int(minute) / 60 <= max(high, int(hour) + int(minute) / 60)]
        return f"{hours[int(rng.random() * len(hours))]:02d}:{minute}" if hours else None
    value, (low, high) = float(fact.value), spec.range or (-math.inf, math.inf)
    # What follows from another value (an instalment from its price) may lie outside the range it would be drawn from.
    low, high = min(low, value), max(high, value)
    if spec.kind == "price":
        ways = [value * factor for factor in (0.7, 0.8, 0.9, 1.15, 1.25, 1.4)]
        if spec.ends is not None:
            ways = [math.floor(way) + spec.ends for way in ways]
        ways = [round(way, 2) for way in ways]
    else:
        step = max(spec.step, round(abs(value) * float(rng.uniform(0.15, 0.5)) / spec.step) * spec.step)
        ways = [round(value - step, 3), round(value + step, 3)]
    plausible = [way for way in ways if low <= way <= high and way > 0 and way != value]
    return plausible[int(rng.random() * len(plausible))] if plausible else None


def _insert(
    order: Sequence[str],
    by_id: dict[str, Article],
    bodies: dict[str, str],
    ledger: Ledger,
    count: int,
    rng: np.random.Generator,
    taken: set[str],
    pairs: set[frozenset[str]],
    changed: set[str],
) -> tuple[list[Pair], list[dict[str, Any]]]:
    """Passages of one article (those with its facts first) put into a sibling, its parent or the same subject's."""
    members = _members(by_id)
    found: list[Pair] = []
    changes: list[dict[str, Any]] = []
    for key in order:
        if len(found) >= count:
            break
        near = [n for n in _near(by_id[key], by_id, members) if n not in taken and frozenset((key, n)) not in pairs]
        if key in taken or not near:
            continue
        parts = [
            text for _, text in sections(by_id[key].body) if len(text) > 250 and not text.startswith(("- ", "1. "))
        ]
        if not parts:
            continue
        passage = max(parts, key=lambda t: (sum(c.isdigit() for c in t), len(t)))[:1600]
        passage = passage[: passage.rfind(".") + 1]
        subject = by_id[key].properties.get("subject")
        target = near[int(rng.random() * min(len(near), 4))]
        # Under another subject's title the sentences that name nobody would change their meaning.
        if by_id[target].properties.get("subject") != subject:
            kept = [
                s
                for s in SENTENCE.split(passage)
                if not contradictions(s, ledger, by_id[target].properties.get("subject"))
            ]
            passage = " ".join(kept)
        # A passage that states a changed fact would carry its contradiction along.
        stated = {f for f, _ in statements(by_id[key].model_copy(update={"body": passage}), ledger)}
        if len(passage) < 200 or stated & changed:
            continue
        bodies[target] = insert(bodies[target], passage, rng)
        taken.update((key, target))
        pairs.add(frozenset((key, target)))
        found.append((key, target))
        changes.append({"kind": "insertion", "from": key, "to": target, "text": passage})
    return found, changes


def insert(body: str, text: str, rng: np.random.Generator) -> str:
    """The body with the text as a sentence of one paragraph or, when long, as a paragraph."""
    blocks = body.split("\n\n")
    plain = [i for i, b in enumerate(blocks) if i > 1 and b[-1:] in ".?!" and "\n" not in b]
    at = plain[int(rng.random() * len(plain))] if plain else len(blocks) - 1
    if len(text) > 200 or not plain:
        blocks.insert(at + 1, text)
    else:
        sentences = SENTENCE.split(blocks[at])
        sentences.insert(int(rng.integers(1, len(sentences) + 1)), text)
        blocks[at] = " ".join(sentences)
    return "\n\n".join(blocks)


def check(corpus: RefinementCorpus, ledger: Ledger) -> list[str]:
    """Complaints about the gold: it must hold exactly the pairs in which one states a fact and one another value."""
    found = []
    right: dict[str, set[str]] = {}
    wrong: dict[str, set[str]] = {}
    for article in corpus.articles:
        subject = article.properties.get("subject")
        for s, name, value in find_facts(article.body, ledger, subject):
            fact = ledger.get(s, name)
            if fact is not None:
                (right if fact.value == value else wrong).setdefault(fact.id, set()).add(article.id)
    proven = {order_pair(a, b) for fact, liars in wrong.items() for a in liars for b in right.get(fact, ()) if a != b}
    gold = set(corpus.contradictory)
    found += [f"{pair}: in the gold, but no fact differs" for pair in sorted(gold - proven)]
    found += [f"{pair}: a fact differs, but the gold lacks it" for pair in sorted(proven - gold)]
    found += [f"{pair}: both similar and contradictory" for pair in sorted(gold & set(corpus.similar))]
    ids = {a.id for a in corpus.articles}
    found += [f"{pair}: unknown id" for pair in (*corpus.similar, *corpus.contradictory) if not set(pair) <= ids]
    return found
