"""Sixty questions on real dialogues, labelled in two passes, and what retrievers find of them.

    python -m tests.data.real_conversations                  # figures on the real dialogues, where ../shared/data is
    python -m tests.data.real_conversations --written        # the same on the conversations written by hand
    ... --models bm25 lexical hybrid:hashing conversation --granularity session --seed 1

The dialogues are 195: of tau-bench's airline (GPT-4o with a simulated customer) the first two trials of each task,
every fourth of SGD's files 001, 005 and 007, three of ABCD, and every fifteenth caller's first words of NatCS. Tool
calls and the policy are left out. Questions and labels are in real_conversation_queries.yaml.

How they were labelled: one person read all 195, wrote twelve questions an area and named for each question the
dialogues that answer it; then went through the dialogues and named for each the questions that it answers, without
opening the first list; a third look settled the 17 pairs that differed. One person in one sitting, with the first
pass fresh in memory: that the passes agree says that the labels are steady, not that others would share them. The
retriever was not changed for it, and of it only the head of its file was known, which says in what way it reads. None
of the six questions that it was made with, nor one like them, is here; of the dialogues some may be, as it was made
with the same sources.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from cxlab.benchmarks.cdr import Result, evaluate
from cxlab.benchmarks.cdr.corpus import AREAS, WrittenCorpus, load_written
from cxlab.benchmarks.cdr.units import GRANULARITIES
from cxlab.files import load_model
from cxlab.metrics.intervals import mean_interval, proportion_interval
from cxlab.metrics.paired import Paired, holm, paired_difference
from cxlab.records import Conversation, Message
from cxlab.records.base import Record
from cxlab.retrieval import load
from cxlab.retrieval.conversation import ConversationRetriever

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
QUERIES = Path(__file__).with_name("real_conversation_queries.yaml")
MODELS = ("random", "bm25", "lexical", "hybrid:hashing", "conversation", "conversation-roles", "conversation-order")
METRICS = ("ndcg@10", "recall@10")


class RealQuery(Record):
    """A question and the ids of the dialogues that answer it; the last two say where the passes differed."""

    id: str
    area: str
    text: str
    relevant: Annotated[tuple[str, ...], Field(min_length=1)]
    first_pass: tuple[str, ...] = ()
    second_pass: tuple[str, ...] = ()

    def passes(self) -> tuple[frozenset[str], frozenset[str]]:
        """What each pass named."""
        alone = [frozenset(name[2:] for name in each) for each in (self.first_pass, self.second_pass)]
        both = frozenset(self.relevant) - alone[0] - alone[1]
        return both | alone[0], both | alone[1]


class _File(Record):
    queries: tuple[RealQuery, ...]


class Material(NamedTuple):
    """What `evaluate` takes, and the area of each query."""

    corpus: Mapping[str, Conversation]
    queries: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]
    areas: Mapping[str, str]


def load_queries() -> tuple[RealQuery, ...]:
    return load_model(QUERIES, _File, "see the head of the file").queries


def load_real() -> Material:
    """The real dialogues and their questions; needs ../shared/data."""
    queries = load_queries()
    return Material(
        dict(_read_dialogues()),
        {query.id: query.text for query in queries},
        {query.id: frozenset(query.relevant) for query in queries},
        {query.id: query.area for query in queries},
    )


def load_by_hand() -> Material:
    """The conversations written by hand and their queries."""
    corpus = load_written()
    texts = {query.id: query.text for query in corpus.queries}
    return Material(corpus.conversations, texts, corpus.relevant, {query.id: query.area for query in corpus.queries})


def _read_dialogues() -> Iterator[tuple[str, Conversation]]:
    tau = json.loads((DATA / "tau-bench" / "gpt-4o-airline-even-tasks.json").read_text(encoding="utf-8"))
    for each in tau:
        if each["trial"] in (0, 1):
            said = [(m["role"], m["content"] or "") for m in each["traj"] if m["role"] in ("user", "assistant")]
            yield _make(f"tau_{each['task_id']:02d}_{each['trial']}", said)
    sgd = [
        each
        for number in ("001", "005", "007")
        for each in json.loads((DATA / "sgd" / f"dialogues_{number}.json").read_text(encoding="utf-8"))
    ]
    for each in sgd[::4]:
        said = [(turn["speaker"].lower(), turn["utterance"]) for turn in each["turns"]]
        yield _make(f"sgd_{each['dialogue_id']}", said)
    for each in json.loads((DATA / "abcd" / "abcd_sample.json").read_text(encoding="utf-8")):
        yield _make(f"abcd_{each['convo_id']}", [(who, text) for who, text in each["original"] if who != "action"])
    lines = (DATA / "natcs" / "development.test-utterances.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines[::15]:
        call = json.loads(line)
        yield _make(f"natcs_{call['utterance_id']}", [("user", call["utterance"])])


def _make(name: str, said: list[tuple[str, str]]) -> tuple[str, Conversation]:
    messages = []
    for who, text in said:
        text = text.replace("###STOP###", "").strip()
        if text:
            role: Any = "customer" if who in ("user", "customer") else "agent"
            messages.append(Message(role=role, text=text, turn=len(messages) + 1))
    return name, Conversation(id=name, messages=tuple(messages))


def agreement(queries: tuple[RealQuery, ...], dialogues: int) -> tuple[float, float]:
    """(Cohen's kappa, positive agreement) of the two passes over all pairs of a question and a dialogue."""
    both = alone = first = second = 0
    for query in queries:
        a, b = query.passes()
        both, alone, first, second = both + len(a & b), alone + len(a ^ b), first + len(a), second + len(b)
    pairs = len(queries) * dialogues
    chance = (first * second + (pairs - first) * (pairs - second)) / pairs**2
    return (1 - alone / pairs - chance) / (1 - chance), 2 * both / (first + second)


def make(name: str) -> Any:
    """A retriever by name; `conversation-roles` and `conversation-order` are without one of the two."""
    if name.startswith("conversation-"):
        return ConversationRetriever(roles=name != "conversation-roles", order=name != "conversation-order")
    return load(name)


def measure(material: Material, models: list[str], granularity: Any) -> dict[str, Result]:
    """Model → what it finds."""
    return {
        name: evaluate(material.corpus, material.queries, material.relevant, make(name), granularity) for name in models
    }


def reversals(corpus: WrittenCorpus, rankings: Mapping[str, list[str]]) -> tuple[int, int]:
    """(pairs in which a match comes before the conversation that has its words the other way round, pairs)."""
    before = pairs = 0
    for query in corpus.queries:
        gold = corpus.relevant[query.id]
        place = {name: at for at, name in enumerate(rankings.get(query.id, []))}
        for name in gold if query.rule.directed and place else ():
            other = corpus.conversations[name].labels.get("reversal")
            if other and other not in gold:
                pairs += 1
                before += place[name] < place[other]
    return before, pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--written", action="store_true", help="the conversations written by hand instead")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--granularity", choices=GRANULARITIES, default="session")
    parser.add_argument("--without", nargs="*", default=[], help="ids of queries to leave out")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    material = load_by_hand() if given.written else load_real()
    kept = {name: text for name, text in material.queries.items() if name not in given.without}
    material = material._replace(queries=kept)
    print(f"{len(material.corpus)} conversations, {len(kept)} queries, {given.granularity}")
    if not given.written:
        kappa, positive = agreement(load_queries(), len(material.corpus))
        print(f"two passes: kappa {kappa:.3f}, positive agreement {positive:.3f}")
    found = measure(material, given.models, given.granularity)
    places = {"all": list(range(len(kept)))}
    for area in AREAS:
        places[area] = [place for place, name in enumerate(kept) if material.areas[name] == area]
    for metric in METRICS:
        print(
            f"\n{metric}: mean [95 % interval]; against conversation: difference, p corrected by Holm over the models"
        )
        for part, where in places.items():
            print(f"  {part} (n = {len(where)})")
            values = {name: result.each[metric][where] for name, result in found.items()}
            others = [name for name in values if name != "conversation"]
            pairs: dict[str, Paired] = {}
            if "conversation" in values:
                pairs = {
                    name: paired_difference(values["conversation"], values[name], seed=given.seed, bounds=(-1, 1))
                    for name in others
                }
            corrected = dict(zip(pairs, holm([pair.p for pair in pairs.values()]), strict=True))
            for name, each in values.items():
                mean = _mean(each)
                line = f"    {name:20} {mean}"
                if name in pairs:
                    pair = pairs[name]
                    line += f"   {pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}] p {corrected[name]:.3f}"
                print(line)
    if given.written:
        print("\na match comes before its reversal, of the pairs [95 % interval]")
        for name, result in found.items():
            share = proportion_interval(*reversals(load_written(), result.rankings))
            print(f"    {name:20} {share.mean:.2f} [{share.low:.2f}, {share.high:.2f}] of {share.n}")


def _mean(values: np.ndarray) -> str:
    found = mean_interval(values, bounds=(0.0, 1.0))
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main()
