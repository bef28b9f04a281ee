"""The sounds of a run: where the one that a message names lies, if it lies where it should."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cxlab.errors import CxError
from cxlab.store import layout

# What a browser plays and nothing else, whatever a message says.
SUFFIXES = (".wav", ".mp3", ".flac")
# Runs that took their conversations from another run leave the sounds with it.
_TAKEN_FROM = ("rescored_from", "retried_from")


def find_sound(run_id: str, setup: Mapping[str, Any], name: object, home: Path | str | None = None) -> Path | None:
    """The file of a message's sound, `name` being its data's "wav"; None where there is none.

    The name comes out of a store that others may have written: it leads to files in the run's own sounds only.
    """
    if not isinstance(name, str) or not name or "\0" in name:
        return None
    for source in (run_id, *(setup.get(key) for key in _TAKEN_FROM)):
        if source is None:
            continue
        try:
            run = layout.resolve_home(home) / "runs" / layout.check_id("run", source)
        except CxError:
            continue
        sounds = (run / layout.SOUNDS).resolve()
        path = (run / name).resolve()
        if path.is_relative_to(sounds) and path.suffix in SUFFIXES and path.is_file():
            return path
    return None
