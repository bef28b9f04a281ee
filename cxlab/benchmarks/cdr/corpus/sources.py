"""The eleven sources of the paper's corpus: what each is, how its files are mapped, and what its licence allows.

Licences as the paper's appendix I states them; what sources have changed since is for whoever imports them to see.

Which columns they have was checked against
- files: SGD, and MultiWOZ 2.2 in the same form; DailyDialog's text file; DialogSum's test file; Bitext's older file
  with answers; of Bot-Adversarial Dialogue the five lines that stand with its loader in TensorFlow Datasets;
- programs of its authors that write it: WildChat, MobileConvRec;
- programs of others that read it: LMSYS, OpenDialKG, SmolTalk, Bitext's newer file, and DailyDialog and DialogSum as
  Hugging Face has them.
DialogSum and DailyDialog name no sides: who speaks first is taken as the customer. OpenDialKG's steps through its graph
are no messages: each is left out with a line in the report.
"""

from __future__ import annotations

from typing import NamedTuple

from cxlab.errors import UnknownName


class Source(NamedTuple):
    """`mapping`: what its columns are called, as flags of the import. `share`: whether it may be passed on at all.
    `real`: people spoke."""

    title: str
    mapping: dict[str, str]
    licence: str
    share: bool
    real: bool


_CHAT = {"shape": "messages", "role": "role", "text": "content"}
SOURCES: dict[str, Source] = {
    "lmsys": Source(
        "LMSYS-Chat-1M",
        {**_CHAT, "id": "conversation_id", "messages": "conversation"},
        "LMSYS-Chat-1M licence agreement: not to be passed on",
        False,
        True,
    ),
    "wildchat": Source(
        "WildChat-1M", {**_CHAT, "id": "conversation_hash", "messages": "conversation"}, "ODC-BY 1.0", True, True
    ),
    "dialogsum": Source(
        "DialogSum",
        {
            "shape": "transcript",
            "text": "dialogue",
            "speakers": "#person1#=customer,#person2#=agent",
        },
        "CC BY-NC-SA 4.0",
        True,
        True,
    ),
    "dailydialog": Source(
        "DailyDialog",
        {"shape": "messages", "messages": "dialog", "role": "speaker", "text": "text"},
        "CC BY-NC-SA 4.0",
        True,
        True,
    ),
    "multiwoz": Source(
        "MultiWOZ 2.2",
        {"shape": "messages", "id": "dialogue_id", "messages": "turns", "role": "speaker", "text": "utterance"},
        "Apache 2.0",
        True,
        True,
    ),
    "bad": Source(
        "Bot-Adversarial Dialogue",
        {
            "shape": "rows",
            "id": "dialogue_id",
            "role": "speaker_to_eval",
            "text": "text",
            "order": "round_id",
            "speakers": "bot=agent",
        },
        "CC BY-NC 4.0, for research alone",
        True,
        True,
    ),
    "mobileconvrec": Source(
        "MobileConvRec",
        {
            "shape": "messages",
            "messages": "turns",
            "role": "speaker",
            "text": "text",
            "speakers": "computer=agent",
        },
        "CC BY 4.0",
        True,
        True,
    ),
    "opendialkg": Source(
        "OpenDialKG",
        {"shape": "messages", "messages": "Messages", "role": "sender", "text": "message"},
        "CC BY-NC 4.0",
        True,
        True,
    ),
    "smoltalk": Source("SmolTalk", {**_CHAT, "messages": "messages"}, "Apache 2.0", True, False),
    "bitext": Source(
        "Bitext Customer Support",
        {"shape": "exchange", "text": "instruction", "reply": "response"},
        "CDLA-Sharing 1.0",
        True,
        False,
    ),
    "sgd": Source(
        "Schema-Guided Dialogue",
        {"shape": "messages", "id": "dialogue_id", "messages": "turns", "role": "speaker", "text": "utterance"},
        "CC BY-SA 4.0",
        True,
        False,
    ),
}


def find_source(name: str) -> Source:
    """The source of that name; UnknownName otherwise."""
    if name not in SOURCES:
        raise UnknownName("source of conversations", name, SOURCES)
    return SOURCES[name]
