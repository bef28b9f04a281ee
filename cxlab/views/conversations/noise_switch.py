"""A conversation with some kinds of its noise switched off: CXMArena's noise, made anew from the clean messages."""

from cxlab.benchmarks.cxmarena.conversations import noise
from cxlab.views.conversations.queries import DatasetConversation, ServedLine


def hear(talk: DatasetConversation, kinds: frozenset[str]) -> list[ServedLine]:
    """The conversation with these kinds of noise, made anew from its clean messages; each kind draws for itself."""
    off = {"fragments": ("fragmentation", 0.0), "speech": ("wer", 0.0), "menu": ("opening", None)}
    changes = dict(change for kind, change in off.items() if kind not in kinds)
    noisy = noise.add_noise(talk.messages, noise.Noise.model_validate(talk.noise).model_copy(update=changes))
    lines: list[ServedLine] = []
    for place, (message, origin) in enumerate(zip(noisy.messages, noisy.origins, strict=True)):
        pieces = noisy.places(origin.index) if origin.index is not None else (place,)
        heard = tuple((each.at, each.heard, each.said) for each in origin.changes)
        part = pieces.index(place) + 1
        lines.append(ServedLine(message.role, message.text, message.turn, origin.index, part, len(pieces), heard))
    return lines
