"""Two dialogues line by line: which lines belong together, and which of them differ."""

import difflib
from collections.abc import Iterator, Sequence

from cxlab.ui.transcript_html import TranscriptLine

Pair = tuple[TranscriptLine | None, TranscriptLine | None]
# Within a stretch that differs, lines are matched by their words; beyond this many comparisons, by their order alone.
_MOST_CELLS = 40_000
# A pair of lines by the same speaker is worth something even without a word in common, and less than two gaps.
_SAME_SPEAKER = 0.25


def align(first: Sequence[TranscriptLine], second: Sequence[TranscriptLine]) -> list[Pair]:
    """The lines of both in order; a line without a counterpart stands beside None. Only one speaker is ever paired."""
    one, two = [line.key for line in first], [line.key for line in second]
    pairs: list[Pair] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(first[a:b], second[c:d], strict=True)
        else:
            pairs += _match(first[a:b], second[c:d])
    return pairs


def differs(pair: Pair) -> bool:
    """Whether the two say or do something else, or one of them is not there."""
    one, two = pair
    return one is None or two is None or one.key != two.key


def _match(first: Sequence[TranscriptLine], second: Sequence[TranscriptLine]) -> Iterator[Pair]:
    """Lines of a stretch that differs: the pairing with the most words in common (an alignment of sequences)."""
    if len(first) * len(second) > _MOST_CELLS:
        yield from _in_order(first, second)
        return
    words = [[frozenset(line.words.lower().split()) for line in side] for side in (first, second)]
    best = [[0.0] * (len(second) + 1) for _ in range(len(first) + 1)]
    worth = [[0.0] * len(second) for _ in first]
    for i in range(len(first) - 1, -1, -1):
        for j in range(len(second) - 1, -1, -1):
            if first[i].role == second[j].role:
                here, there = words[0][i], words[1][j]
                worth[i][j] = _SAME_SPEAKER + len(here & there) / max(1, len(here | there))
            paired = best[i + 1][j + 1] + worth[i][j] if worth[i][j] else -1.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(first) and j < len(second):
        if worth[i][j] and best[i][j] == best[i + 1][j + 1] + worth[i][j]:
            yield first[i], second[j]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            yield first[i], None
            i += 1
        else:
            yield None, second[j]
            j += 1
    yield from ((line, None) for line in first[i:])
    yield from ((None, line) for line in second[j:])


def _in_order(first: Sequence[TranscriptLine], second: Sequence[TranscriptLine]) -> Iterator[Pair]:
    """Line beside line where the same side speaks, else one after the other."""
    i = j = 0
    while i < len(first) or j < len(second):
        one = first[i] if i < len(first) else None
        two = second[j] if j < len(second) else None
        if one and two and one.role != two.role:
            two = None
        i, j = i + bool(one), j + bool(two)
        yield one, two
