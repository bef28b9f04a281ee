"""Statistics of texts: words, turns, lengths; and what makes generated text look generated.

    articles(bodies, language)           -> {"articles", "tokens_mean", "tokens_median", "vocabulary", "ttr", "mattr"}
    conversations(conversations, language) -> words, turns and lengths, by name
    frames(texts, names) -> Counter      : in how many texts each sentence frame stands (names and figures masked)
    near_duplicates(texts) -> [(i, j)]   : pairs whose MinHash similarity of word 5-shingles is at least 0.8

Words are runs of letters and digits, lower case. The vocabulary counts different words without a digit: order
numbers and prices are coined without end and say nothing of how rich a language is; `vocabulary_raw` counts them too.
The type-token ratios are of all words. The paper says neither how it counts nor what the window of its moving average
is: 100 words is ours. Its tokens are cl100k's; ours are estimated from words and signs (`tokens`), because the
tokeniser's table has to be fetched from the network.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from cxlab.records import Conversation

WINDOW = 100
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
PIECE = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]+|_+")
# "15. Juli" is one date, not the end of a sentence.
_MONTHS = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
SENTENCE = re.compile(rf"(?<=[.!?])\s+(?!(?:{_MONTHS})\b)(?=[^\W\d_a-zà-ÿ]|\d|[\"'«„(£€$])|\n+")
"""Where one sentence ends and the next begins, in English, French and German."""
# Letters that a piece of cl100k covers beyond the first ones, by language: English words are mostly whole.
_FREE, _EVERY = {"en": 8, "fr": 5, "de": 5}, {"en": 5, "fr": 4, "de": 4}


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def tokens(text: str, language: str = "en") -> int:
    """About how many cl100k tokens the text has."""
    free, every = _FREE[language], _EVERY[language]
    count = 0
    for piece in PIECE.findall(text):
        count += 1 if len(piece) <= free or not piece[0].isalpha() else 1 + -(-(len(piece) - free) // every)
    return count


def mattr(stream: Sequence[str], window: int = WINDOW) -> float:
    """Mean type-token ratio of all windows of `window` words; the plain ratio for a shorter text."""
    if not stream:
        return 0.0
    if len(stream) <= window:
        return len(set(stream)) / len(stream)
    inside: dict[str, int] = {}
    for word in stream[:window]:
        inside[word] = inside.get(word, 0) + 1
    total = len(inside)
    for gone, come in zip(stream, stream[window:], strict=False):
        left = inside[gone] - 1
        if left:
            inside[gone] = left
        else:
            del inside[gone]
        inside[come] = inside.get(come, 0) + 1
        total += len(inside)
    return total / (len(stream) - window + 1) / window


def vocabulary(texts: Iterable[str]) -> dict[str, float]:
    """Different words of the texts: without those that hold a digit, and all of them."""
    return _count_types(set().union(*(words(text) for text in texts)))


def _count_types(types: set[str]) -> dict[str, float]:
    plain = sum(not any(map(str.isdigit, word)) for word in types)
    return {"vocabulary": float(plain), "vocabulary_raw": float(len(types))}


def diversity(texts: Iterable[str]) -> dict[str, float]:
    """Vocabulary (with and without words that hold a digit), type-token ratio and moving average over the texts."""
    types: set[str] = set()
    total, weighted = 0, 0.0
    for text in texts:
        stream = words(text)
        types.update(stream)
        total += len(stream)
        weighted += mattr(stream) * len(stream)
    return {
        **_count_types(types),
        "ttr": len(types) / total if total else 0.0,
        "mattr": weighted / total if total else 0.0,
    }


def articles(bodies: Sequence[str], language: str = "en") -> dict[str, float]:
    """Lengths and diversity of articles."""
    lengths = [tokens(b, language) for b in bodies]
    return {
        "articles": float(len(bodies)),
        "article_tokens_mean": float(np.mean(lengths)) if lengths else 0.0,
        "article_tokens_median": float(median(lengths)) if lengths else 0.0,
        **diversity(bodies),
    }


CONVERSATION_FIGURES = (
    *("vocabulary", "ttr", "mattr", "turns_mean", "turns_median", "consecutive_mean", "consecutive_max"),
    *("message_tokens_mean", "message_tokens_median", "conversation_tokens_mean", "conversation_tokens_median"),
    "article_tokens_mean",
)
"""What table 9 says of conversations; all of it is 0 where nothing was said."""


def conversations(given: Sequence[Conversation], language: str = "en") -> dict[str, float]:
    """Table 9 of conversations: a turn is a message of customer, agent or voice menu; tools do not speak."""
    spoken = [[m for m in c.messages if m.role in ("customer", "agent", "ivr") and m.text] for c in given]
    turns = [len(messages) for messages in spoken]
    per_message = [tokens(m.text, language) for messages in spoken for m in messages]
    per_conversation = [sum(tokens(m.text, language) for m in messages) for messages in spoken]
    runs = [run for messages in spoken for run in _runs([m.role for m in messages])]
    if not per_message:
        return dict.fromkeys(CONVERSATION_FIGURES, 0.0)
    return {
        **diversity("\n".join(m.text for m in messages) for messages in spoken),
        "turns_mean": float(np.mean(turns)),
        "turns_median": float(median(turns)),
        "consecutive_mean": float(np.mean(runs)),
        "consecutive_max": float(max(runs)),
        "message_tokens_mean": float(np.mean(per_message)),
        "message_tokens_median": float(median(per_message)),
        "conversation_tokens_mean": float(np.mean(per_conversation)),
        "conversation_tokens_median": float(median(per_conversation)),
    }


def _runs(roles: Sequence[str]) -> list[int]:
    found: list[int] = []
    for i, role in enumerate(roles):
        if i and roles[i - 1] == role:
            found[-1] += 1
        else:
            found.append(1)
    return found


# What gives generated text away

_FIGURE = re.compile(r"\d[\d.,:\u00a0\u202f ]*\d|\d")


def frames(texts: Iterable[str], names: Sequence[str] = ()) -> Counter[str]:
    """Sentence frame → number of texts in which it stands; names and figures are masked, headings left out."""
    found: Counter[str] = Counter()
    for text in texts:
        masked = _FIGURE.sub("#", _mask(text, names))
        found.update({s for s in SENTENCE.split(masked) if s[-1:] in ".!?" and len(s) > 12})
    return found


def _mask(text: str, names: Sequence[str]) -> str:
    # A pattern of hundreds of names is slow on every text: only those that stand in it are masked.
    present = [n for n in names if n in text]
    if not present:
        return text
    return re.sub("|".join(map(re.escape, sorted(present, key=len, reverse=True))), "NAME", text)


PERMUTATIONS, SHINGLE, BANDS = 64, 5, 16
_PRIME = np.uint64((1 << 31) - 1)


def signatures(texts: Sequence[str]) -> np.ndarray:
    """MinHash signatures of word 5-shingles, one row a text."""
    rng = np.random.Generator(np.random.PCG64(7))
    a = rng.integers(1, int(_PRIME), PERMUTATIONS, dtype=np.uint64)[:, None]
    b = rng.integers(0, int(_PRIME), PERMUTATIONS, dtype=np.uint64)[:, None]
    powers = np.array([pow(1_000_003, k, int(_PRIME)) for k in range(SHINGLE)], dtype=np.uint64)
    known: dict[str, int] = {}
    rows = np.empty((len(texts), PERMUTATIONS), dtype=np.uint64)
    for i, text in enumerate(texts):
        stream = words(text)
        for w in stream:
            if w not in known:
                known[w] = zlib.crc32(w.encode()) % int(_PRIME)
        ids = np.array([known[w] for w in stream] or [0], dtype=np.uint64)
        count = max(len(ids) - SHINGLE + 1, 1)
        hashes = np.zeros(count, dtype=np.uint64)
        for k in range(min(SHINGLE, len(ids))):
            hashes = (hashes + ids[k : k + count] * powers[k] % _PRIME) % _PRIME
        rows[i] = ((a * np.unique(hashes)[None, :] + b) % _PRIME).min(axis=1)
    return rows


def near_duplicates(texts: Sequence[str], threshold: float = 0.8) -> list[tuple[int, int]]:
    """Pairs (i, j), i < j, whose estimated Jaccard similarity reaches the threshold; candidates by banding."""
    rows = signatures(texts)
    width = PERMUTATIONS // BANDS
    pairs: set[tuple[int, int]] = set()
    for band in range(BANDS):
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(rows[:, band * width : (band + 1) * width]):
            groups.setdefault(row.tobytes(), []).append(i)
        for members in groups.values():
            pairs.update((i, j) for x, i in enumerate(members) for j in members[x + 1 :])
    return sorted((i, j) for i, j in pairs if float(np.mean(rows[i] == rows[j])) >= threshold)
