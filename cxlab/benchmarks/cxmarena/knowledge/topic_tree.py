"""The topic tree: fixed roots, expanded to a depth that varies; every topic becomes an information article.

    topics = stages.finish(grow(ledger, model, size=1743, seed=1))   # parents before children, precursors first
    Topic(id, parent, title, description, depth, path, root, family, model, subject, aspect, after)

`subject` is the ledger's subject that the topic is about (None for roots, families and models), `aspect` the
pack's aspect (None elsewhere), `after` the ids of topics to be read first. `plan(brand, size)` says how many
models of each family a tree of this size needs; make the ledger with it first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cxlab.benchmarks.cxmarena.brand.brand_pack import ROOTS, Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, rng_for, slug
from cxlab.benchmarks.cxmarena.brand.pack_check import find_cycle
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.llm import ask
from cxlab.llm.base import ChatModel

# Roots in the order in which a small tree takes them.
FIRST = (
    "products",
    "shipping",
    "returns",
    "services",
    "loyalty",
    "places",
    "privacy",
    "events",
    "contact",
    "legal",
    "story",
)
SMALLEST = 20
# Two topics about the same subject whose titles and descriptions share more than this are one topic (cf. the
# paper's 0.75 on embeddings).
ALIKE = 0.75


@dataclass(frozen=True)
class Topic:
    """One node of the tree; see the module's head."""

    id: str
    parent: str | None
    title: str
    description: str
    depth: int
    path: tuple[str, ...]
    root: str
    family: str | None = None
    model: str | None = None
    subject: str | None = None
    aspect: str | None = None
    after: tuple[str, ...] = ()


def plan(brand: Brand, size: int, issues: int = 0) -> dict[str, int]:
    """Models of each family for a tree of `size` topics and as many issues; a small tree leaves families out."""
    if size < SMALLEST:
        raise BadOption(f"{size} information articles; a brand needs at least {SMALLEST}")
    order: list[str] = []
    queues = {root: [k for k, f in brand.families.items() if f.root == root] for root in FIRST}
    while any(queues.values()):
        for root in FIRST:
            # Products are what a brand is about: two of their families for one of each other root.
            for _ in range(2 if root == "products" else 1):
                if queues[root]:
                    order.append(queues[root].pop(0))
    fewest = max(4, min(len(order), size // 12))
    # What a pack wants in any tree comes first; the roots' first families fill up.
    chosen = dict.fromkeys([*brand.always, *order[:fewest]], 1)
    capacity = {key: len(brand.families[key].models) for key in chosen}
    while True:
        if _count(brand, chosen) >= size * 1.08 and _issues(brand, chosen) >= issues:
            return chosen
        free = [k for k in chosen if chosen[k] < capacity[k]]
        if not free:
            # All names are used: a further generation of every model of the products.
            capacity = {
                k: c + len(brand.families[k].models) * (brand.families[k].root == "products")
                for k, c in capacity.items()
            }
            free = [k for k in chosen if chosen[k] < capacity[k]]
        step = min(free, key=lambda k: chosen[k] / capacity[k])
        if _count(brand, chosen) > 4 * size:
            return chosen
        chosen[step] += 1


def _issues(brand: Brand, models: dict[str, int]) -> int:
    """How many issue articles the models allow: every issue of every subject once."""
    return sum(
        models.get(f, 0) * max(len(brand.families[f].variants), 1) for i in brand.issues.values() for f in i.families
    )


def _count(brand: Brand, models: dict[str, int]) -> int:
    """About how many topics the models give: with three quarters of the aspects each."""
    total = len({brand.families[k].root for k in models})
    for key, number in models.items():
        family = brand.families[key]
        variants = max(len(family.variants), 1)
        inner = 1 + (number if family.variants else 0)
        total += inner + int(number * variants * (1 + 0.75 * len(family.aspects)))
    return total


def grow(
    ledger: Ledger, model: ChatModel, size: int, seed: int, folder: Path | None = None
) -> Generator[stages.Progress, None, list[Topic]]:
    """The tree over the ledger's subjects, pruned and cut to `size` topics; a tree too small to branch asks nobody."""
    brand = ledger.brand
    topics = _trunk(ledger)
    if size < SMALLEST:
        # What customers call about comes first, and needs no branch above it.
        return order(_nearest(brand, topics)[:size])
    leaves = [t for t in topics if t.subject is not None]

    async def expand(topic: Topic) -> stages.Row:
        family = brand.families[topic.family or ""]
        names = list(family.aspects)
        inputs = article_prompts.ExpandInputs(
            language=brand.language.name,
            brand=brand.name,
            path=" → ".join(topic.path),
            description=topic.description,
            candidates=tuple(
                article_prompts.Candidate(title=brand.aspects[a].title, description=brand.aspects[a].description)
                for a in names
            ),
        )
        reply = await ask(model, article_prompts.EXPAND, inputs, seed=seed)
        children = reply.output.children if reply.output is not None else []
        return {"children": [c.model_dump() for c in children]}

    rows = yield from stages.run("topics", leaves, lambda t: t.id, expand, folder)
    by_title = {(a.title.lower()): key for key, a in brand.aspects.items()}
    for topic, row in zip(leaves, rows, strict=True):
        topics += _children(brand, topic, row["children"], by_title)
    topics = cut(prune(topics), size, seed)
    return order(topics)


def _nearest(brand: Brand, topics: list[Topic]) -> list[Topic]:
    """One subject of each product line after the other, so that a few are of many; behind the first what else is wanted
    in any tree, such as what a brand says of itself."""
    lines: dict[str | None, list[Topic]] = {}
    wanted: dict[str | None, Topic] = {}
    for topic in topics:
        if topic.subject is not None and topic.root == FIRST[0]:
            lines.setdefault(topic.family, []).append(topic)
        elif topic.subject is not None and topic.family in brand.always:
            wanted.setdefault(topic.family, topic)
    rounds = [topic for row in itertools.zip_longest(*lines.values()) for topic in row if topic is not None]
    return [*rounds[:1], *wanted.values(), *rounds[1:]]


def _trunk(ledger: Ledger) -> list[Topic]:
    """Roots, groups, families, models and subjects."""
    brand, language = ledger.brand, ledger.brand.language
    found: dict[str, Topic] = {}
    subjects = list(ledger.subjects.values())

    def add(parent: Topic | None, title: str, description: str, **more: str | None) -> Topic:
        path = (*(parent.path if parent else ()), title)
        key = "/".join(slug(p) for p in path)
        root = parent.root if parent else str(more.pop("root"))
        family = more.get("family") or (parent.family if parent else None)
        if key not in found:
            found[key] = Topic(
                key,
                parent.id if parent else None,
                title,
                description,
                len(path),
                path,
                root,
                family,
                more.get("model"),
                more.get("subject"),
            )
        return found[key]

    for root in ROOTS:
        families = [k for k, f in brand.families.items() if f.root == root and any(s.family == k for s in subjects)]
        if not families:
            continue
        title, description = language.roots[root]
        base = add(None, title, description, root=root)
        for key in families:
            family = brand.families[key]
            above = base if family.group is None else add(base, family.group, family.description)
            if family.group is not None:
                found[above.id] = replace(above, family=None)
            node = add(above, family.title, family.description, family=key)
            for subject in [s for s in subjects if s.family == key]:
                inner = (
                    add(node, subject.model, family.description, family=key, model=subject.model)
                    if subject.variant
                    else node
                )
                add(
                    inner,
                    subject.name,
                    f"{subject.name}: {family.description}",
                    family=key,
                    model=subject.model,
                    subject=subject.name,
                )
    return list(found.values())


def _children(brand: Brand, topic: Topic, rows: Iterable[dict[str, object]], by_title: dict[str, str]) -> list[Topic]:
    found = []
    for row in rows:
        title = str(row["title"])
        aspect = by_title.get(title.lower())
        found.append(
            Topic(
                f"{topic.id}/{slug(title)}",
                topic.id,
                title,
                f"{topic.subject}: {row['description']}",
                topic.depth + 1,
                (*topic.path, title),
                topic.root,
                topic.family,
                topic.model,
                topic.subject,
                aspect,
            )
        )
    ids = {t.aspect: t.id for t in found if t.aspect}
    return [
        replace(t, after=tuple(ids[a] for a in brand.aspects[t.aspect].after if a in ids)) if t.aspect else t
        for t in found
    ]


def words_of(text: str) -> frozenset[str]:
    return frozenset(w[:6] for w in re.findall(r"\w{3,}", text.lower()))


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two sets of words."""
    return len(one & other) / len(one | other) if one or other else 1.0


def prune(topics: list[Topic]) -> list[Topic]:
    """Without topics that are near-duplicates of an earlier one about the same subject, and what hangs below them."""
    groups: dict[tuple[str, str], list[tuple[frozenset[str], frozenset[str], Topic]]] = {}
    gone: set[str] = set()
    kept = []
    for topic in topics:
        if topic.parent in gone:
            gone.add(topic.id)
            continue
        title, description = words_of(topic.title), words_of(topic.description)
        group = groups.setdefault((topic.subject or "", topic.model or topic.family or topic.root), [])
        if any(
            alike(title, t) > ALIKE and alike(description, d) > ALIKE and other.id != topic.parent
            for t, d, other in group
        ) or any(other.id == topic.id for _, _, other in group):
            gone.add(topic.id)
            continue
        group.append((title, description, topic))
        kept.append(topic)
    return kept


def cut(topics: list[Topic], size: int, seed: int) -> list[Topic]:
    """Exactly `size` topics where there are more: leaves go first, by lot, and never all of a subject's siblings."""
    rng = rng_for("cut", seed)
    rest = {t.id: t for t in topics}
    children: dict[str, int] = {}
    for topic in topics:
        if topic.parent:
            children[topic.parent] = children.get(topic.parent, 0) + 1
    while len(rest) > size:
        leaves = [i for i in rest if not children.get(i) and rest[i].depth > 1]
        aspects = [i for i in leaves if rest[i].aspect is not None or rest[i].subject is None]
        pool = aspects or leaves
        if not pool:
            break
        for i in rng.permutation(len(pool))[: len(rest) - size]:
            topic = rest.pop(pool[int(i)])
            if topic.parent:
                children[topic.parent] -= 1
    return [replace(t, after=tuple(a for a in t.after if a in rest)) for t in rest.values()]


def order(topics: list[Topic]) -> list[Topic]:
    """Each topic after its parent and its precursors; BadOption names a cycle."""
    after = {t.id: (*((t.parent,) if t.parent else ()), *t.after) for t in topics}
    if way := find_cycle(after):
        raise BadOption(f"a cyclic precursor: {' → '.join(way)}; remove one `after`")
    by_id = {t.id: t for t in topics}
    done: dict[str, Topic] = {}

    def visit(topic: Topic) -> None:
        if topic.id in done:
            return
        for other in after[topic.id]:
            if other in by_id:
                visit(by_id[other])
        done[topic.id] = topic

    for topic in topics:
        visit(topic)
    return list(done.values())
