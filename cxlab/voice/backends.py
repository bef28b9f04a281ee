"""What can speak and hear on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from cxlab.llm import registry
from cxlab.voice import audio


@dataclass(frozen=True)
class Backend:
    """A way to say and hear a text, by the name that the option `audio` takes; `fix` says what a missing one needs."""

    name: str
    title: str
    ready: bool
    fix: str = ""


def backends() -> list[Backend]:
    """All of them, the text channel first; a server of one's own counts once it has a price table for audio."""
    lacks = "; ".join(audio.missing())
    found = [
        Backend("channel", "Text channel: no sound, errors at a stated rate", True),
        Backend("espeak", "Real audio on this machine: espeak-ng and pocketsphinx", not lacks, lacks),
    ]
    openai = next((row for row in registry.known() if row.kind == "openai"), None)
    needs = openai.needs if openai is not None else "no OpenAI model in data/models.toml"
    found.append(Backend("openai", "OpenAI's speech and transcription", not needs, needs))
    settings = registry.settings()
    priced = {name.partition("/")[0] for name in settings["audio"] if name.startswith("endpoint:")}
    for row in registry.known():
        if row.kind == "endpoint" and row.name in priced:
            title = settings["endpoints"][row.name.partition(":")[2]].get("description") or row.name
            found.append(Backend(row.name, f"Speech and transcription of {title}", row.configured, row.needs))
    return found
