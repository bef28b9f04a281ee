"""A stand-in that puts conversations into order by the words that they share with the question."""

import math
import random
import re
from collections import Counter

from cxlab.benchmarks.cdr.prompts.reranking import RerankInputs, RerankReply
from cxlab.llm.simulated import Profile

_WORD = re.compile(r"\w{4,}")
_STEM = 5


def rerank(inputs: RerankInputs, profile: Profile, rng: random.Random) -> str:
    """Rare words count more; a weak model overlooks some of them."""
    asked = {word[:_STEM] for word in _WORD.findall(inputs.query.casefold())}
    seen = {word for word in sorted(asked) if rng.random() < profile.comprehension}
    held = [{word[:_STEM] for word in _WORD.findall(each.text.casefold())} & seen for each in inputs.candidates]
    holding = Counter(word for words in held for word in words)
    count = len(inputs.candidates)
    scores = [sum(math.log(1 + count / holding[word]) for word in sorted(words)) for words in held]
    order = sorted(range(count), key=lambda place: (-scores[place], place))
    shared = ", ".join(sorted(held[order[0]])) if count else ""
    reply = RerankReply(
        reason=f"shares {shared}" if shared else "no word in common",
        order=[inputs.candidates[place].number for place in order],
    )
    return reply.model_dump_json()
