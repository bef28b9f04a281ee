"""A small stored corpus that several files ask."""

from collections.abc import Iterator

import pytest

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.records import Conversation, Dataset, Message, Sample
from cxlab.store import write

ROLES = ("customer", "agent")
SAID = {
    "late": ("my parcel is late again", "sorry, it comes tomorrow", "you said so last week, I am angry"),
    "glad": ("my parcel is late, I was angry", "it is at your door", "wonderful, thank you"),
    "login": ("I cannot log in", "reset the password", "that works, thanks"),
    "advice": ("my child does not sleep", "dim the light an hour before bed", "I will try"),
    "parent": ("welcome, is your child sleeping", "no, not at all", "dim the light then"),
    "refund": ("I want a refund", "for which order", "the lamp"),
}
QUERIES = {
    "q1": "users whose parcel is late",
    "q2": "somebody cannot log in",
    "q3": "zebra crossings in Lisbon",
    "q4": "users who grow more and more angry about a late parcel",
}
RELEVANT = {"q1": {"late", "glad"}, "q2": {"login"}, "q3": {"refund"}, "q4": {"late"}}
AREAS = {"q1": "emotion_feedback", "q2": "intent_purpose", "q3": "intent_purpose", "q4": "conversation_dynamics"}


def talk(name: str, *texts: str) -> Conversation:
    said = [Message(role=ROLES[at % 2], text=text, turn=1 + at // 2) for at, text in enumerate(texts)]
    return Conversation(id=name, messages=tuple(said))


CORPUS = {name: talk(name, *texts) for name, texts in SAID.items()}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dataset, list[Sample]]]:
    """The dataset in a store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("cdr")))
        dataset, samples, tables = build(
            "Six talks", "generated", CORPUS, QUERIES, RELEVANT, AREAS, config={}, licence="own work"
        )
        write.save_dataset(dataset, samples, tables=tables)
        yield dataset, samples
