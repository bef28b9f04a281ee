"""Objects that models and tools send, as named fields: nobody who reads a dialogue has to read JSON."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cxlab.charts.names import name_id


def read_sent(text: Any) -> Any:
    """The value of JSON text; what is no text stays, what cannot be read is None."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def list_fields(found: Any, under: str = "") -> Iterator[tuple[str, str]]:
    """(name, value) of an object, what it holds as objects field by field; nothing of what is none. Values stay as
    they were sent but for yes and no."""
    for name, value in found.items() if isinstance(found, Mapping) else ():
        called = f"{under}: {name_id(name)}" if under else name_id(name)
        if isinstance(value, Mapping) and value:
            yield from list_fields(value, called)
        elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            for place, each in enumerate(value, 1):
                yield from list_fields(each, f"{called} {place}")
        else:
            yield called, say_value(value)


def say_value(value: Any) -> str:
    """A value in words: "yes", "none", "a, b"."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(say_value, value)) or "none"
        case dict():
            return ", ".join(f"{name}: {told}" for name, told in list_fields(value)) or "none"
        case _:
            return str(value)


def say_arguments(sent: Any, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The values of a call's arguments in a line, ids by what their records are called; what is no object as it
    came."""
    found = read_sent(sent)
    if not isinstance(found, Mapping):
        return " ".join(str(sent).split())
    values = (value if isinstance(value, list) else [value] for value in found.values())
    return ", ".join(
        ", ".join(names.get(str(each)) or say_value(each) for each in several) or say_value(several)
        for several in values
    )
