"""How each conversation comes in: by chat or by telephone, through which menu, and with how much noise.

    noises = plan(conversations, brand, kinds=("fragmentation", "speech", "ivr"), wer=0.1, seed=1)   # [Noise]
    noisy = yield from disturb(conversations, noises, folder)                     # [NoisyConversation]

Who comes by telephone is drawn by the conversation's id alone: a kind that is switched off changes nothing in the
others. Speech errors and voice menus belong to telephone calls, fragments to both.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand
from cxlab.benchmarks.cxmarena.brand.ledger import rng_for
from cxlab.benchmarks.cxmarena.conversations.noise import CallerCheck, IvrOpening, Noise, NoisyConversation, add_noise
from cxlab.benchmarks.generation.parallel import count_workers, open_pool
from cxlab.benchmarks.generation.stages import Progress
from cxlab.records import Conversation, Message

KINDS = ("fragmentation", "speech", "ivr")
# Half of the contacts are calls; most calls begin with a menu. The paper says "frequently".
CALLS, MENUS = 0.5, 0.7
# How many people write or speak in pieces, and how strongly (least, most): so few and so little that the speakers
# still take turns nearly one by one, as in table 9.
FRAGMENTED, STRENGTH = 0.3, (0.1, 0.35)
# A line's own word-error rate, as a multiple of the one asked for.
LINES = (0.5, 1.5)
# Options of a menu at most, and how often a second menu follows.
OPTIONS, DEEPER = 5, 0.55
MENU = ("products", "shipping", "returns", "services", "loyalty")
ASKED = {
    "en": ("the last four digits of your phone number", "your four-digit service code"),
    "de": ("die letzten vier Ziffern Ihrer Telefonnummer", "Ihren vierstelligen Servicecode"),
    "fr": ("les quatre derniers chiffres de votre numéro de téléphone", "votre code client à quatre chiffres"),
}
CHUNK, WORTH = 25, 100


def plan(
    conversations: Sequence[Conversation], brand: Brand, kinds: Sequence[str], wer: float, seed: int
) -> list[Noise]:
    """The noise of each conversation, only of the kinds asked for."""
    return [_plan_one(each, brand, kinds, wer, seed) for each in conversations]


def _plan_one(conversation: Conversation, brand: Brand, kinds: Sequence[str], wer: float, seed: int) -> Noise:
    rng = rng_for("channel", brand.id, seed, conversation.id)
    # All is drawn, whatever is switched on, so that one switch moves no other's draw.
    called, menu, torn = rng.random() < CALLS, rng.random() < MENUS, rng.random() < FRAGMENTED
    strength, line = rng.uniform(*STRENGTH), rng.uniform(*LINES)
    opening = _open(conversation, brand, rng) if called and menu else None
    return Noise(
        seed=int(rng.integers(2**31)),
        fragmentation=round(float(strength), 3) if torn and "fragmentation" in kinds else 0.0,
        wer=round(min(wer * float(line), 1.0), 4) if called and "speech" in kinds else 0.0,
        opening=opening if "ivr" in kinds else None,
        language=brand.language_id,
    )


def _open(conversation: Conversation, brand: Brand, rng: np.random.Generator) -> IvrOpening:
    """Menus that lead to the conversation's family: first its root, then perhaps the family itself."""
    family = conversation.labels.get("family")
    own = brand.families.get(str(family))
    roots = [r for r in MENU if any(f.root == r for f in brand.families.values())]
    roots = [roots[int(i)] for i in rng.permutation(len(roots))[:OPTIONS]]
    choice = roots.index(own.root) if own is not None and own.root in roots else None
    menus = [IvrOpening.Menu(options=tuple(_label(brand, brand.language.roots[r][0]) for r in roots), choice=choice)]
    if own is not None and choice is not None and rng.random() < DEEPER:
        others = [k for k, f in brand.families.items() if f.root == own.root and k != family]
        shown = [str(family), *(others[int(i)] for i in rng.permutation(len(others))[: OPTIONS - 1])]
        shown = [shown[int(i)] for i in rng.permutation(len(shown))]
        options = tuple(_label(brand, brand.families[k].title) for k in shown)
        if len(options) > 1:
            menus.append(IvrOpening.Menu(options=options, choice=shown.index(str(family))))
    check = None
    if rng.random() < 0.5:
        asked = ASKED[brand.language_id]
        digits = " ".join(str(int(d)) for d in rng.integers(0, 10, 4))
        check = CallerCheck(what=asked[int(rng.integers(len(asked)))], value=digits if rng.random() < 0.7 else None)
    return IvrOpening(brand=brand.name, menus=tuple(menus), check=check)


def _label(brand: Brand, title: str) -> str:
    """A title within a sentence: German nouns keep their capital, and so do words with more than one."""
    if brand.language_id == "de" or not title[1:].islower():
        return title
    return title[:1].lower() + title[1:]


def name_channels(conversations: Sequence[Conversation], noises: Sequence[Noise]) -> list[Conversation]:
    """The conversations that are heard through a telephone as such."""
    return [
        c.model_copy(update={"channel": "voice"}) if noise.wer > 0 or noise.opening is not None else c
        for c, noise in zip(conversations, noises, strict=True)
    ]


def disturb(
    conversations: Sequence[Conversation], noises: Sequence[Noise], workers: int | None = None
) -> Generator[Progress, None, list[NoisyConversation]]:
    """Each conversation with its noise, on all cores where there are many; the order is the given one."""
    pairs = [(c.messages, n) for c, n in zip(conversations, noises, strict=True)]
    chunks = [pairs[i : i + CHUNK] for i in range(0, len(pairs), CHUNK)]
    many = count_workers(workers, len(pairs), WORTH)
    found: list[NoisyConversation] = []
    yield Progress("noise", 0, len(pairs))
    with ExitStack() as held:
        pool = held.enter_context(open_pool(many)) if many > 1 else None
        for made in pool.map(_disturb_all, chunks) if pool is not None else map(_disturb_all, chunks):
            found += made
            yield Progress("noise", len(found), len(pairs))
    return found


def _disturb_all(pairs: Sequence[tuple[Sequence[Message], Noise]]) -> list[NoisyConversation]:
    return [add_noise(messages, noise) for messages, noise in pairs]
