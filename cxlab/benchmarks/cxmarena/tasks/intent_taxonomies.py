"""Three intent taxonomies, found in the issues and in how customers bring them up; and each conversation's labels.

    taxonomies, labels = stages.finish(make(conversations, articles, model, seed))
    taxonomies    # rows of the table: {"taxonomy": "A", "l1", "l2" or None, "description"}
    labels        # {conversation id: {"A": label, "B": "L1:L2", "C": label}}; labels as `corpus.candidates` has them

After the paper's B.4: issue articles are clustered into drafts; a model says which draft each conversation is about;
drafts that are taken for each other move together and those nobody calls about are dropped; what is left is
clustered again, once for each taxonomy, and a model names the clusters. The truth about a conversation is the issue
it was made from, mapped onto the final taxonomy: what the model detected shapes the taxonomy, not the label.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cxmarena.conversations.transcripts import customer_words, transcript
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import IntentInputs, TaxonomyLabel
from cxlab.benchmarks.cxmarena.knowledge.article_writer import missing_text_error, sections
from cxlab.benchmarks.cxmarena.tasks import task_prompts
from cxlab.benchmarks.cxmarena.text import STOP, words
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.llm import ask
from cxlab.llm.base import ChatModel
from cxlab.records import Article, Conversation

# Table 8: intents in each taxonomy for 1,994 conversations; B alone has two levels.
PUBLISHED = {"A": 95, "B": 208, "C": 37}
CONVERSATIONS = 1994
TWO_LEVELS = "B"
# What counts when two drafts are compared: their wording, the kind of product, and how often one is taken for the
# other. The coarse taxonomy looks at the matter more than at the product; B keeps products apart anyway.
WEIGHTS = {"A": (0.5, 0.35, 0.15), "B": (0.8, 0.0, 0.2), "C": (0.8, 0.1, 0.1)}
TERMS, EXAMPLES, NEIGHBOURS = 8, 3, 6
Row = dict[str, str | None]
Matrix = NDArray[np.float64]


@dataclass
class IntentDraft:
    """Issues of one wording about one kind of product; `l1` is the group above it in a taxonomy of two levels."""

    title: str
    group: str
    text: str
    conversations: list[str] = field(default_factory=list)
    l1: str = ""

    @property
    def label(self) -> str:
        return f"{self.title} ({self.group})"


@dataclass
class IntentDrafts:
    """The drafts, and for each issue article its draft and the product line that it is about."""

    drafts: list[IntentDraft] = field(default_factory=list)
    where: dict[str, int] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)


def make(
    conversations: Sequence[Conversation],
    articles: Sequence[Article],
    model: ChatModel,
    seed: int,
    folder: Path | None = None,
    language: str = "English",
) -> Generator[stages.Progress, None, tuple[list[Row], dict[str, dict[str, str]]]]:
    """(rows of the taxonomies, labels a conversation); see the module's head."""
    found = draft(articles)
    source: dict[str, str] = {}
    for conversation in conversations:
        issue = str(conversation.labels.get("issue_article"))
        if issue not in found.where:
            raise BadOption(f"conversation {conversation.id}: {issue!r} is none of the issue articles")
        source[conversation.id] = issue
        found.drafts[found.where[issue]].conversations.append(conversation.id)
    confused = yield from _detect(conversations, found, source, model, seed, folder)
    # A reason for which nobody calls is no use in a taxonomy of calls.
    kept = [n for n, one in enumerate(found.drafts) if one.conversations]
    drafts = [found.drafts[n] for n in kept]
    by_id = {c.id: c for c in conversations}
    alike = _likeness(drafts, by_id)
    confused = confused[np.ix_(kept, kept)]
    rows: list[Row] = []
    labels: dict[str, dict[str, str]] = {c.id: {} for c in conversations}
    for name in PUBLISHED:
        wanted = size(name, len(conversations))
        used, origin = drafts, list(range(len(drafts)))
        if name == TWO_LEVELS:
            used, origin = split(drafts, {c: found.lines[issue] for c, issue in source.items()}, wanted)
        clusters = cluster(used, origin, alike, confused, name, wanted)
        named = yield from _name(name, clusters, used, by_id, model, seed, folder, language)
        for members, (l1, leaf, description) in zip(clusters, named, strict=True):
            rows.append({"taxonomy": name, "l1": l1 or leaf, "l2": leaf if l1 else None, "description": description})
            for member in members:
                for one in used[member].conversations:
                    labels[one][name] = f"{l1}:{leaf}" if l1 else leaf
    return rows, labels


def size(taxonomy: str, conversations: int) -> int:
    """Intents wanted: the published number at the published size, elsewhere by the square root of the size."""
    return max(2, round(PUBLISHED[taxonomy] * math.sqrt(conversations / CONVERSATIONS)))


def draft(articles: Sequence[Article]) -> IntentDrafts:
    """Issue articles that say the same of one kind of product become one draft."""
    by_id = {a.id: a for a in articles}
    seen: dict[tuple[str, str], int] = {}
    found = IntentDrafts()
    for article in articles:
        if article.kind != "issue":
            continue
        subject = str(article.properties.get("subject") or "")
        title = article.title.replace(subject, " ") if subject else article.title
        title = _clean(title) or article.title
        group = article.topic[min(1, len(article.topic) - 1)]
        number = seen.setdefault((title, group), len(found.drafts))
        if number == len(found.drafts):
            parts = sections(article.body)
            about = (parts[0][1] if parts else article.body)[:800]
            found.drafts.append(IntentDraft(title, group, about.replace(subject, " ") if subject else about))
        found.where[article.id] = number
        above = [by_id[one].topic for one in article.relations.get("issue_of", ()) if one in by_id]
        path = above[0] if above else ()
        at = path.index(group) + 1 if group in path else len(path)
        found.lines[article.id] = path[at] if at < len(path) else subject or group
    return found


def _clean(name: str) -> str:
    """A name without what would break a label: a colon parts its levels."""
    return " ".join(name.replace(":", " –").split()).strip(" .–-")


def _detect(
    conversations: Sequence[Conversation],
    found: IntentDrafts,
    source: dict[str, str],
    model: ChatModel,
    seed: int,
    folder: Path | None,
) -> Generator[stages.Progress, None, Matrix]:
    """How often draft i was taken for draft j, as a share of i's conversations, in both directions."""
    candidates = tuple(TaxonomyLabel(label=_clean(one.label)) for one in found.drafts)
    number = {one.label: n for n, one in enumerate(candidates)}

    async def detect(conversation: Conversation) -> stages.Row:
        inputs = IntentInputs(transcript=transcript(conversation.messages), candidates=candidates)
        reply = await ask(model, task_prompts.DETECT, inputs, seed=seed)
        # An unreadable reply or a label of its own tells nothing about the drafts.
        return {"draft": number.get(reply.output.intent.strip()) if reply.output else None}

    rows = yield from stages.run("detect", conversations, lambda c: c.id, detect, folder)
    counts = np.zeros((len(candidates), len(candidates)))
    for conversation, row in zip(conversations, rows, strict=True):
        if row["draft"] is not None:
            counts[found.where[source[conversation.id]], row["draft"]] += 1
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    both: Matrix = np.maximum(shares, shares.T)
    return both


def _likeness(drafts: Sequence[IntentDraft], by_id: dict[str, Conversation]) -> Matrix:
    """Cosine of the drafts' words: title, what the article describes, how the first customers put it."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [
        " ".join(
            [*[one.title] * 4, one.text, *(text for c in one.conversations[:5] for text in _first_words(by_id[c]))]
        )
        for one in drafts
    ]
    vectors = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+", stop_words=sorted(STOP)).fit_transform(texts)
    alike: Matrix = (vectors @ vectors.T).toarray()
    return alike


def _first_words(conversation: Conversation) -> list[str]:
    """The customer's first messages without the name of the thing, which says nothing about the matter."""
    subject = str(conversation.labels.get("subject") or "")
    return [text.replace(subject, " ") if subject else text for text in customer_words(conversation, 2)]


def split(drafts: Sequence[IntentDraft], lines: dict[str, str], wanted: int) -> tuple[list[IntentDraft], list[int]]:
    """The drafts under first levels: kinds of products, the most called about of them split into product lines
    until there are as many drafts as wanted; and from which draft each one comes."""
    cut: set[str] = set()
    calls = Counter[str]()
    for one in drafts:
        calls[one.group] += len(one.conversations)
    order = [group for group, _ in sorted(calls.items(), key=lambda item: (-item[1], item[0]))]

    def leaves() -> list[tuple[IntentDraft, int]]:
        found: list[tuple[IntentDraft, int]] = []
        for number, one in enumerate(drafts):
            piles: dict[str, list[str]] = {}
            for c in one.conversations:
                piles.setdefault(lines[c] if one.group in cut else one.group, []).append(c)
            found += [(replace(one, conversations=pile, l1=_clean(l1)), number) for l1, pile in piles.items()]
        return found

    found = leaves()
    while len(found) < wanted and order:
        cut.add(order.pop(0))
        found = leaves()
    return [one for one, _ in found], [number for _, number in found]


def cluster(
    drafts: Sequence[IntentDraft], origin: Sequence[int], alike: Matrix, confused: Matrix, taxonomy: str, wanted: int
) -> list[list[int]]:
    """Places of the drafts that make up each intent, the most called about first; never across first levels."""
    tops = {one.l1 for one in drafts}
    if len(drafts) <= max(wanted, len(tops)):
        found = [[n] for n in range(len(drafts))]
    else:
        from sklearn.cluster import AgglomerativeClustering

        wording, product, taken = WEIGHTS[taxonomy]
        same = np.array([[a.group == b.group for b in drafts] for a in drafts], dtype=np.float64)
        apart = np.array([[a.l1 != b.l1 for b in drafts] for a in drafts], dtype=np.float64)
        place = np.ix_(list(origin), list(origin))
        distance = np.clip(1 - wording * alike[place] - product * same - taken * confused[place], 0, 1) + 2 * apart
        np.fill_diagonal(distance, 0)
        numbers = AgglomerativeClustering(
            n_clusters=max(wanted, len(tops)), metric="precomputed", linkage="average"
        ).fit_predict(distance)
        piles: dict[int, list[int]] = {}
        for n, label in enumerate(numbers.tolist()):
            piles.setdefault(label, []).append(n)
        found = list(piles.values())
    return sorted(found, key=lambda pile: (-sum(len(drafts[n].conversations) for n in pile), pile))


def _name(
    taxonomy: str,
    clusters: Sequence[Sequence[int]],
    drafts: Sequence[IntentDraft],
    by_id: dict[str, Conversation],
    model: ChatModel,
    seed: int,
    folder: Path | None,
    language: str,
) -> Generator[stages.Progress, None, list[tuple[str, str, str]]]:
    """(first level or "", name, description) of each cluster; names are different within their level.

    A name that cannot be read is asked for again; then the title of the cluster's first draft stands for it, and "" for
    its description.
    """
    marks = terms(clusters, drafts, by_id)
    titles = [{drafts[n].title for n in pile} for pile in clusters]

    async def name(number: int) -> stages.Row:
        pile = clusters[number]
        calls = [c for n in pile for c in drafts[n].conversations]
        near = [
            drafts[other[0]].label
            for n, other in enumerate(clusters)
            if n != number and drafts[other[0]].l1 == drafts[pile[0]].l1 and (titles[n] & titles[number])
        ]
        inputs = task_prompts.NameInputs(
            language=language,
            members=tuple(
                task_prompts.Member(
                    title=drafts[n].title, group=drafts[n].group, conversations=len(drafts[n].conversations)
                )
                for n in pile
            ),
            terms=tuple(marks[number]),
            examples=tuple(" ".join(customer_words(by_id[c], 1))[:200] for c in calls[:EXAMPLES]),
            taken=tuple(near[:NEIGHBOURS]),
            l1=drafts[pile[0]].l1,
        )
        for once_more in range(2):
            # The same question asked twice gives the same reply; it has to be another one.
            reply = await ask(model, task_prompts.NAME, inputs, seed=seed + once_more)
            if reply.output is not None:
                return {"name": _clean(reply.output.name), "description": " ".join(reply.output.description.split())}
            if reply.failure is None or reply.failure.where != "format":
                raise missing_text_error(task_prompts.NAME.name, reply.failure)
        return {"name": "", "description": ""}

    stage = f"taxonomy {taxonomy}"
    rows = yield from stages.run(stage, range(len(clusters)), str, name, folder)
    taken: set[tuple[str, str]] = set()
    found = []
    for pile, row in zip(clusters, rows, strict=True):
        l1, leaf = drafts[pile[0]].l1, row["name"] or _clean(drafts[pile[0]].title)
        groups = Counter(drafts[n].group for n in pile)
        ways = [leaf, f"{leaf} ({_clean(groups.most_common(1)[0][0])})", *(f"{leaf} {n}" for n in range(2, 999))]
        leaf = next(way for way in ways if (l1, way.casefold()) not in taken)
        taken.add((l1, leaf.casefold()))
        found.append((l1, leaf, row["description"]))
    return found


def terms(
    clusters: Sequence[Sequence[int]], drafts: Sequence[IntentDraft], by_id: dict[str, Conversation]
) -> list[list[str]]:
    """The words by which customers of each cluster are known: frequent in it, rare elsewhere; names left out."""
    heard: list[Counter[str]] = []
    for pile in clusters:
        counts = Counter[str]()
        for c in (c for n in pile for c in drafts[n].conversations):
            own = set(words(str(by_id[c].labels.get("subject") or "")))
            said = {w for text in customer_words(by_id[c]) for w in words(text)}
            counts.update(w for w in said - own if w not in STOP and len(w) > 2 and w.isalpha())
        heard.append(counts)
    everywhere = Counter(w for counts in heard for w in counts)
    found = []
    for pile, counts in zip(clusters, heard, strict=True):
        calls = sum(len(drafts[n].conversations) for n in pile)
        # A word that one customer of many used says more about that customer than about the reason.
        least = 1 if calls < 3 else max(2.0, 0.1 * calls)
        worth = {w: n / calls * math.log(len(clusters) / everywhere[w]) for w, n in counts.items() if n >= least}
        found.append(sorted((w for w in worth if worth[w] > 0), key=lambda w: (-worth[w], w))[:TERMS])
    return found


__all__ = ["PUBLISHED", "IntentDraft", "IntentDrafts", "Row", "cluster", "draft", "make", "size", "split", "terms"]
