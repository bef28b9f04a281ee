"""models.toml: what ships, with the user's own file laid over it, each entry checked before it counts.

A faulty entry is left out and complained about, with file, line and key; the others stand. What was left out is never
used in its shipped form either: `refuse_damaged` says so before a model of that name is loaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cxlab import files, resources
from cxlab.errors import BadFile
from cxlab.files import Complaint, line_of, toml_lines

_SHIPPED = resources.data("models.toml")
ENV_ENDPOINT = "env"
Tables = dict[str, dict[str, dict[str, Any]]]

_Usd = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
_Wait = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=16, le=100_000_000)]
_Text = Annotated[str, StringConstraints(max_length=1_000)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


class _Entry(BaseModel):
    """What every entry may say; a key that it does not know is a mistake, and text is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    description: _Text = ""
    as_of: _Text = ""
    source: _Text = ""


class _Model(_Entry):
    """`[models."KIND:NAME"]`: prices, and how the server is asked (`cxlab.llm.openai_model.Options`)."""

    prompt_usd: _Usd | None = None
    completion_usd: _Usd | None = None
    cached_usd: _Usd | None = None
    reasoning_usd: _Usd | None = None
    context_tokens: _Tokens | None = None
    max_output_tokens: _Tokens | None = None
    reasoning_effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] | None = None
    connect_timeout_s: _Seconds | None = None
    read_timeout_s: _Seconds | None = None
    answer_timeout_s: _Seconds | None = None
    attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    longest_wait_s: _Wait | None = None
    first_wait_s: _Wait | None = None
    max_connections: Annotated[int, Field(ge=1, le=10_000)] | None = None
    temperature: bool | None = None
    extra_body: dict[str, Any] | None = None


class _Endpoint(_Model):
    """`[endpoints.NAME]`."""

    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]", max_length=1_000)] | None = None
    model: _Name | None = None
    key_variable: _Variable | None = None
    key_required: bool | None = None


class _Defaults(_Entry):
    """`[defaults.models]`: what holds for every model that does not say otherwise."""

    context_tokens: _Tokens | None = None
    max_output_tokens: _Tokens | None = None
    reasoning_effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] | None = None


class _Embedding(_Entry):
    prompt_usd: _Usd | None = None
    completion_usd: _Usd | None = None


class _Audio(_Entry):
    minute_usd: _Usd | None = None
    characters_usd: _Usd | None = None


class _Provider(_Entry):
    package: _Name | None = None
    key_variable: _Variable | None = None


SECTIONS: dict[str, type[_Entry]] = {
    "defaults": _Defaults,
    "endpoints": _Endpoint,
    "models": _Model,
    "embeddings": _Embedding,
    "audio": _Audio,
    "providers": _Provider,
}
# Sections whose entries are named KIND:NAME.
_WITH_KIND = ("models", "embeddings", "audio")


@dataclass(frozen=True)
class _File:
    """The entries of a file that are sound, what is wrong with others, and with the file as a whole."""

    entries: Tables = field(default_factory=dict)
    damaged: dict[tuple[str, str], BadFile] = field(default_factory=dict)
    others: tuple[BadFile, ...] = ()
    unreadable: BadFile | None = None


def user_file() -> Path:
    """Where the user's own models are looked for: $CXLAB_MODELS, else models.toml in the store's folder."""
    named = os.environ.get("CXLAB_MODELS")
    home = os.environ.get("CXLAB_HOME")
    return Path(named) if named else (Path(home) if home else resources.default_home()) / "models.toml"


def settings() -> Tables:
    """The shipped tables with the user's sound entries laid over them, read again when a file changes."""
    merged: Tables = {section: {} for section in SECTIONS}
    for file in (_open(_SHIPPED), _open(user_file())):
        for section, entries in file.entries.items():
            for name, entry in entries.items():
                merged[section][name] = {**merged[section].get(name, {}), **entry}
    url = os.environ.get("CXLAB_ENDPOINT_URL")
    if url:
        merged["endpoints"][ENV_ENDPOINT] = {
            "description": "The server named by CXLAB_ENDPOINT_URL",
            "base_url": url,
            "key_variable": "CXLAB_ENDPOINT_KEY",
            "key_required": False,
            "model": os.environ.get("CXLAB_ENDPOINT_MODEL") or None,
        }
    return merged


def is_own(section: str, name: str) -> bool:
    """Whether somebody here wrote this entry, or the environment says it, and not only the file that ships."""
    return (section, name) == ("endpoints", ENV_ENDPOINT) or name in _open(user_file()).entries.get(section, {})


def complaints() -> list[Complaint]:
    """What is wrong with the user's file, in the order of its lines; [] when nothing."""
    file = _open(user_file())
    whole = [file.unreadable] if file.unreadable else []
    found = [Complaint.of(error) for error in (*whole, *file.others, *file.damaged.values())]
    return sorted(found, key=lambda each: each.line or 0)


def damaged() -> dict[tuple[str, str], BadFile]:
    """(section, name) → what is wrong with an entry of the user's file."""
    return dict(_open(user_file()).damaged)


def refuse_damaged(*entries: tuple[str, str]) -> None:
    """BadFile when one of these entries (section, name), or the user's whole file, cannot be read.

    What the user wrote about a model may be another server or another price: without it the shipped entry would be
    a guess.
    """
    file = _open(user_file())
    for fault in (file.unreadable, *(file.damaged.get(entry) for entry in entries)):
        if fault:
            raise BadFile(fault.path, fault.line, fault.problem, fault.fix)


def refuse_unknown() -> None:
    """BadFile for the first complaint there is: a name that nobody knows may stand in what could not be read."""
    file = _open(user_file())
    for fault in (file.unreadable, *file.others):
        if fault:
            raise BadFile(fault.path, fault.line, fault.problem, fault.fix)


def _open(path: Path) -> _File:
    try:
        changed = path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        if path != _SHIPPED and os.environ.get("CXLAB_MODELS"):
            return _File(unreadable=BadFile(path, None, "CXLAB_MODELS names a file that does not exist", "correct it"))
        return _File()
    except (OSError, ValueError) as error:
        return _File(unreadable=BadFile(path, None, f"cannot be read ({error})", "check who may read it"))
    return _read(path, changed)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> _File:
    """The file as it is; `changed` makes that another question once it is written anew."""
    try:
        text = files.read_text(path)
        tables = files.parse_toml(text, path)
    except BadFile as error:
        return _File(unreadable=error)
    lines = toml_lines(text)
    found = _File({}, {})
    others = []
    for section, entries in tables.items():
        at = line_of(lines, (section,)) or 1
        if section not in SECTIONS:
            others.append(BadFile(path, at, f"unknown table [{section}]", f"known: {', '.join(SECTIONS)}"))
        elif not isinstance(entries, dict):
            others.append(BadFile(path, at, f"{section} is not a table", f"write [{section}.NAME]"))
        else:
            for name, entry in entries.items():
                fault = _find_fault(section, name, entry)
                if fault is None:
                    found.entries.setdefault(section, {})[name] = entry
                    continue
                where, problem, fix = fault
                found.damaged[section, name] = BadFile(path, line_of(lines, (section, name, *where)), problem, fix)
    return _File(found.entries, found.damaged, tuple(others))


def _find_fault(section: str, name: str, entry: Any) -> tuple[tuple[str, ...], str, str] | None:
    """(keys inside the entry, what is wrong, fix) of the first fault of an entry; None for a sound one."""
    shown = f"{section}.{name}" if name.isidentifier() else f'{section}."{files.plain(name)}"'
    if not isinstance(entry, dict):
        return (), f"{shown} is not a table", f"write [{shown}]"
    for key in ("key", "api_key"):
        if key in entry:
            return (key,), f"{shown} holds a key", "put it into the environment and name key_variable"
    if section in _WITH_KIND and not all(name.partition(":")[::2]):
        return (), f"{shown} is no name of a model", f'write [{section}."KIND:NAME"]'
    try:
        SECTIONS[section].model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = tuple(map(str, first["loc"]))
        known = ", ".join(SECTIONS[section].model_fields)
        if first["type"] == "extra_forbidden":
            return where, f"unknown key {files.plain(where[-1])!r} in [{shown}]", f"known: {known}"
        value = files.plain(repr(entry.get(where[0])))[:80]
        return where, f"{'.'.join(where)} = {value} in [{shown}]: {first['msg']}", "see data/models.toml for the form"
    return None
