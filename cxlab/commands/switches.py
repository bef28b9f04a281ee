"""A benchmark's own switches on the command line: read from words, and listed under --help, both from their types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.records.settings import Settings, Switch


def read_flags(words: Sequence[str], settings: type[Settings], benchmark: str) -> dict[str, str]:
    """`--name value`, `--name=value`, `--name` and `--no-name` of flags, and `--name-file FILE` of texts, as words.

    The last of one name counts. Raises UnknownName for a flag that the benchmark does not have.
    """
    known = {switch.name.replace("_", "-"): switch for switch in settings.switches()}
    found: dict[str, str] = {}
    named: dict[str, str] = {}  # which flag gave a setting
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            raise BadOption(f"{word!r}: not expected here; settings of {benchmark} are given as --name=value")
        name, equals, value = word[2:].partition("=")
        name = name.replace("_", "-")
        switch = known.get(name)
        if switch is not None and switch.kind == "flag":
            found[switch.name] = value if equals else "true"
        elif switch is None and name.startswith("no-") and (off := known.get(name[3:])) and off.kind == "flag":
            found[off.name] = "false"
        else:
            target = switch or known.get(name.removesuffix("-file"))
            if target is None or (switch is None and target.kind != "text"):
                raise UnknownName(f"setting of {benchmark}", f"--{name}", [f"--{each}" for each in known])
            if not equals:
                if not left or left[0].startswith("--"):
                    raise BadOption(f"--{name}: give a value, as --{name}=…")
                value = left.pop(0)
            if named.setdefault(target.name, name) != name:
                raise BadOption(f"give --{target.name} or --{target.name}-file, not both")
            found[target.name] = value if switch is not None else _read_text(value)
    return found


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError, ValueError) as error:
        raise BadFile(path, None, f"cannot be read as UTF-8 text ({error})") from None


def describe(switches: Sequence[Switch], flags: bool) -> str:
    """The switches as lines of a help text: as flags, or as `--option name=value`."""
    lines = []
    for switch in switches:
        name = switch.name.replace("_", "-")
        if not flags:
            shown = f"{switch.name}={switch.usual or '…'}"
        elif switch.kind == "flag":
            shown = f"--{name} / --no-{name}"
        else:
            shown = f"--{name}={switch.usual or '…'}"
        lines += [f"  {shown}", f"      {switch.meaning} ({switch.allowed})"]
    return "\n".join(lines)
