"""The questions and conversations written by hand for CDR, for a reader who did not write them; the gold is kept apart.

    python -m tests.data.conversation_questions             # all queries, then all conversations, and no label
    python -m tests.data.conversation_questions --pairs     # 120 pairs: does this conversation answer this query?
    python -m tests.data.conversation_questions --gold      # what follows from the labels, for the queries
    python -m tests.data.conversation_questions --pairs --gold

Of the pairs two come from each query, drawn by a fixed seed: one that the rules call relevant, and one that they do not
though it is near (the reversal of a match where there is one, else one of the three that BM25 puts first). A reader
answers yes or no from the texts alone.
"""

import argparse
import random
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
    """Two pairs a query, in an order that does not give them away."""
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


def show(corpus: WrittenCorpus, name: str) -> str:
    """A conversation as its messages, each on a line."""
    return split(corpus.conversations[name], "session")[0].text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", action="store_true", help="single pairs to judge instead of everything")
    parser.add_argument("--gold", action="store_true", help="print the gold instead of the texts")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    corpus = load_written()
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
