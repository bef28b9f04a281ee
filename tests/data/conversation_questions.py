"""The questions and conversations written by hand for CDR, for a reader who did not write them; the gold is kept apart.

    python -m tests.data.conversation_questions             # all queries, then all conversations, and no label
    python -m tests.data.conversation_questions --pairs     # 120 pairs: does this conversation answer this query?
    python -m tests.data.conversation_questions --gold      # what follows from the labels, for the queries
    python -m tests.data.conversation_questions --pairs --gold
    python -m tests.data.conversation_questions --answers FILE        # how far a reader's answers agree with the gold

A reader's answers are a text file with a line a query, as --gold prints them: "emotion01: health_03, jobs_04"; for
pairs (add --pairs) a line a pair: "1. yes". A reader answers from the texts alone.
"""

import argparse
import random
import re
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

from cxlab.benchmarks.cdr.corpus import Query, WrittenCorpus, load_written
from cxlab.benchmarks.cdr.evaluation import evaluate
from cxlab.benchmarks.cdr.units import split
from cxlab.retrieval import load


class Pair(NamedTuple):
    """A query, a conversation, and whether the rules call it relevant."""

    query: Query
    conversation: str
    relevant: bool


def draw(corpus: WrittenCorpus, seed: int = 1) -> list[Pair]:
    """Two pairs a query, in an order that does not give them away.

    One is what the rules call relevant, the other is not though it is near: the reversal of a match where there is one,
    else one of the three that BM25 puts first. That stands here and not in the head of the file, which --help shows to
    the reader.
    """
    rng = random.Random(seed)
    texts = {query.id: query.text for query in corpus.queries}
    rankings = evaluate(corpus.conversations, texts, corpus.relevant, load("bm25"), "session").rankings
    pairs = []
    for query in corpus.queries:
        gold = corpus.relevant[query.id]
        if not gold:
            continue
        match = rng.choice(sorted(gold))
        reversed_ = corpus.conversations[match].labels.get("reversal")
        near = [name for name in rankings[query.id] if name not in gold][:3]
        other = reversed_ if query.rule.directed and reversed_ and reversed_ not in gold else rng.choice(near)
        pairs += [Pair(query, match, True), Pair(query, other, False)]
    rng.shuffle(pairs)
    return pairs


def compare(gold: Set[str], answered: Set[str], possible: int) -> tuple[float, list[str]]:
    """(Cohen's kappa over what is possible, a line for each thing that one alone has)."""
    both, alone = len(gold & answered), len(gold ^ answered)
    chance = len(gold) * len(answered) + (possible - len(gold)) * (possible - len(answered))
    kappa = (1 - alone / possible - chance / possible**2) / (1 - chance / possible**2) if possible else float("nan")
    lines = [f"{len(gold)} in the gold, {len(answered)} of the reader, {both} of both, kappa {kappa:.3f}"]
    lines += [f"gold alone: {one}" for one in sorted(gold - answered)]
    return kappa, lines + [f"reader alone: {one}" for one in sorted(answered - gold)]


def read_answers(text: str) -> set[str]:
    """ "emotion01: a, b" as "emotion01 a" and "emotion01 b"; "3. yes" as "3"; lines of other kinds are left out."""
    found = set()
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*(\w+):(.*)", line):
            found |= {f"{match[1]} {name}" for name in re.findall(r"\w+", match[2])}
        elif match := re.fullmatch(r"\s*(\d+)\.\s*yes\b.*", line, re.IGNORECASE):
            found.add(match[1])
    return found


def show(corpus: WrittenCorpus, name: str) -> str:
    """A conversation as its messages, each on a line."""
    return split(corpus.conversations[name], "session")[0].text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", action="store_true", help="single pairs to judge instead of everything")
    parser.add_argument("--gold", action="store_true", help="print the gold instead of the texts")
    parser.add_argument("--answers", type=Path, help="a reader's answers, to be compared with the gold")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    corpus = load_written()
    if given.answers:
        pairs = draw(corpus, given.seed)
        all_ = {f"{query} {name}" for query, names in corpus.relevant.items() for name in names}
        gold = {str(number) for number, pair in enumerate(pairs, 1) if pair.relevant} if given.pairs else all_
        possible = len(pairs) if given.pairs else len(corpus.queries) * len(corpus.conversations)
        print("\n".join(compare(gold, read_answers(given.answers.read_text(encoding="utf-8")), possible)[1]))
        return
    if given.pairs:
        for number, pair in enumerate(draw(corpus, given.seed), 1):
            if given.gold:
                print(f"{number}. {'yes' if pair.relevant else 'no'}")
            else:
                print(f"## {number}\n\n{pair.query.text}\n\n{show(corpus, pair.conversation)}\n")
        return
    for query in corpus.queries:
        found = ", ".join(sorted(corpus.relevant[query.id])) if given.gold else query.text
        print(f"{query.id}: {found}")
    if not given.gold:
        for name in sorted(corpus.conversations):
            print(f"\n## {name}\n\n{show(corpus, name)}")


if __name__ == "__main__":
    main()
