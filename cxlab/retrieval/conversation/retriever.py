"""The retriever made for conversations.

Why. An embedding or a bag of words reads a conversation as one text: "the user grows more frustrated" finds whoever
says frustrated, first or last, user or assistant. No published model comes above 0.19 (nDCG@10) on such questions.

How. A score is what four readings of a text come to, each at most about 1 for a query:
  topic   BM25 over the whole text, as a part of what a text could reach that says all of the query's words often: what
          is talked of. Words that no text has count in it, so that one word in common is little.
  side    where the question names who does it, half of the topic's weight goes to the words of that side alone.
  state   where the question names a mood, trust, clarity, courtesy or detail: how far that side's messages show it,
          by signals read off each message alone (signals.py, data/retrieval/conversation_signals.toml).
  order   where it says grows, less and less, from ... to ..., ends in: the same signals early against late. A message's
          weight runs evenly from -1 for the first to 1 for the last of that side, so a conversation that is the same
          throughout comes to 0 and one that is read backwards to the opposite. Who grows angry has to end there: the
          way from glad to calm is none.

Rules and words, no training. The weights below and the words were set before any test question was labelled, after
looking at what six questions of our own found, unlabelled, in 283 dialogues of SGD, tau-bench and ABCD: growing
frustrated, growing satisfied, apologies, baggage fees, from vague to specific, distrust. Version says which words they
are. English alone; irony, and moods that are shown and not said, it does not see.

Measured since, unchanged, whole sessions, nDCG@10 [95 % interval], differences paired by query, p corrected by Holm:
  195 real dialogues, 60 queries (tests/data/real_conversations.py): 0.42 [0.32, 0.52], BM25 0.41, lexical 0.41, MiniLM
      0.31, BM25 with MiniLM 0.38. Against BM25 +0.01 [-0.04, +0.06]: no help that could be seen, overall or in an
      area. Without order 0.42, without roles 0.41. At windows and turns BM25 with MiniLM is ahead of it (0.45 to 0.39,
      0.40 to 0.35), neither beyond chance.
  100 conversations written by hand, 60 queries: 0.22 [0.16, 0.28], BM25 0.16, lexical 0.17, MiniLM 0.15, BM25 with
      MiniLM 0.18. Against BM25 +0.06 [+0.01, +0.10], p 0.07; without the seven queries like the six above +0.04
      [-0.01, +0.08]. Most of it is in conversation dynamics (n = 12): 0.26, BM25 0.15, without order 0.16 (p 0.20 and
      0.25). Roles do not help: without them 0.22. So it may help there a little, by order; it is not shown.
      Of 43 pairs of a match and the conversation that has its words the other way round it puts 58 % [43, 72] the
      right way; BM25 44 %, MiniLM 56 %, chance 50 %.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation.messages import Side, read_messages
from cxlab.retrieval.conversation.question import ConversationQuery, State, read_question
from cxlab.retrieval.conversation.signals import DIMENSIONS, read_signals, version
from cxlab.retrieval.documents import Scorer, readable
from cxlab.retrieval.rankers import make_ranker

# What a reading weighs beside the topic's 1.
STATE, ORDER = 0.5, 1.5
_SIDES: tuple[Side | None, ...] = (None, "user", "assistant")
# The readings of a side's signals: their mean, with more weight early, with more weight late, and late less early.
_MEAN, _EARLY, _LATE, _TREND = range(4)
_READING = {"any": _MEAN, "start": _EARLY, "end": _LATE, "rise": _TREND, "grow": _TREND}
# How many times its level in the end a growth counts at most.
_ARRIVED = 2.0


class ConversationRetriever:
    """`fit` takes texts with speakers, `scores` gives each a number, higher is nearer; 0 where nothing speaks for it.

    `roles=False` reads everything as said by one, `order=False` asks for a state wherever it is: the ablation.
    `language`: whose forms of a word are joined in the topic.
    """

    name = "conversation"

    def __init__(self, roles: bool = True, order: bool = True, language: str = "") -> None:
        self.roles, self.order, self.language = roles, order, language
        self._topic: dict[Side | None, Scorer] = {}
        self._signals: NDArray[np.float32] = np.zeros((0, len(_SIDES), len(DIMENSIONS), 4), dtype=np.float32)
        # Word → how many texts have it.
        self._holding: Counter[str] = Counter()
        self._fitted = False

    @property
    def description(self) -> dict[str, Any]:
        """What it is made of, as results keep it."""
        about: dict[str, Any] = {
            "retriever": self.name,
            "kind": "conversation",
            "roles": self.roles,
            "order": self.order,
        }
        return {**about, "words": version(), "weights": {"topic": 1, "state": STATE, "order": ORDER}}

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it reads: none."""
        return 0

    def fit(self, texts: Sequence[str]) -> Self:
        """Take the texts that are to be found."""
        talks = [read_messages(text) for text in texts]
        # Windows overlap: a message is read once, and forgotten with the last text.
        signals = cache(read_signals)
        self._signals = np.zeros((len(texts), len(_SIDES), len(DIMENSIONS), 4), dtype=np.float32)
        for row, talk in enumerate(talks):
            values = np.array([signals(said.text) for said in talk], dtype=np.float32).reshape(-1, len(DIMENSIONS))
            for place, side in enumerate(_SIDES):
                of_side = [at for at, said in enumerate(talk) if side is None or said.side in (side, None)]
                self._signals[row, place] = _read_levels(values[of_side])
        self._topic = {
            side: make_ranker(
                "bm25",
                [" ".join(said.text for said in talk if side is None or said.side in (side, None)) for talk in talks],
                None,
                self.language,
            )
            for side in _SIDES
        }
        self._holding = Counter(
            word for talk in talks for word in {w for said in talk for w in tokenize(said.text, self.language)}
        )
        self._fitted = True
        return self

    def scores(self, query: str) -> NDArray[np.float64]:
        """One number a text, in the order in which they were fitted."""
        if not self._fitted:
            raise BadOption("retriever 'conversation' was not fitted to any texts yet")
        asked = self._ask(query)
        found = self._find_topic(None, asked.topic)
        if asked.side is not None:
            found = (found + self._find_topic(asked.side, asked.topic)) / 2
        for weight, states in (
            (STATE, [state for state in asked.states if state.where == "any"]),
            (ORDER, [state for state in asked.states if state.where != "any"]),
        ):
            if states:
                found += weight * np.mean([self._find_state(state, asked.side) for state in states], axis=0)
        return found

    def parts(self, query: str) -> NDArray[np.float64]:
        """What `scores` weighs together, one row a text: topic, topic of the side that is meant (again the topic where
        none is), states wherever they are, states by their order; 0 for a reading that the question does not ask."""
        if not self._fitted:
            raise BadOption("retriever 'conversation' was not fitted to any texts yet")
        asked = self._ask(query)
        topic = self._find_topic(None, asked.topic)
        columns = [topic, topic if asked.side is None else self._find_topic(asked.side, asked.topic)]
        for anywhere in (True, False):
            states = [state for state in asked.states if (state.where == "any") is anywhere]
            found = [self._find_state(state, asked.side) for state in states]
            columns.append(np.mean(found, axis=0) if found else np.zeros(len(topic)))
        return np.column_stack(columns)

    def _ask(self, query: str) -> ConversationQuery:
        asked = read_question(query)
        side = asked.side if self.roles else None
        states = asked.states if self.order else tuple(state._replace(where="any") for state in asked.states)
        return ConversationQuery(side, tuple(dict.fromkeys(states)), asked.topic)

    def _find_topic(self, side: Side | None, words: str) -> NDArray[np.float64]:
        found = np.zeros(len(self._signals))
        if len(found) and words:
            ranker = self._topic[side]
            most = sum(self._rarity(word) for word in tokenize(words, self.language))
            found += ranker.score(ranker.encode(readable([words])), 0) / max(most, 1e-9)
        return found

    def _rarity(self, word: str) -> float:
        """BM25's inverse document frequency over the whole texts, also of a word that none has."""
        count, holding = len(self._signals), self._holding[word]
        return math.log(1 + (count - holding + 0.5) / (holding + 0.5))

    def _find_state(self, state: State, side: Side | None) -> NDArray[np.float64]:
        levels = self._signals[:, _SIDES.index(side), DIMENSIONS.index(state.dimension)].astype(np.float64) * state.sign
        if state.where == "grow":
            return np.minimum(levels[:, _TREND], _ARRIVED * levels[:, _LATE])
        found: NDArray[np.float64] = levels[:, _READING[state.where]]
        return found


def _read_levels(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(dimensions, 4) of a side's messages (messages, dimensions); all from -1 to 1."""
    count = len(values)
    if not count:
        return np.zeros((len(DIMENSIONS), 4), dtype=np.float32)
    late = np.arange(1, count + 1, dtype=np.float32)
    even = np.linspace(-1, 1, count, dtype=np.float32) if count > 1 else np.zeros(1, dtype=np.float32)
    weights = np.stack([np.ones(count, dtype=np.float32), late[::-1], late, even])
    sums = np.abs(weights).sum(axis=1, keepdims=True)
    levels: NDArray[np.float32] = (np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0) @ values).T
    return levels
