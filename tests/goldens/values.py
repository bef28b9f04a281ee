"""How recorded values are written: numbers and short texts as they are, long ones as a digest of 16 hex characters."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

Rows = dict[str, dict[str, str]]
"""Key of a row → its fields and what each holds; one line of a file each."""

LONGEST = 48
"""A longer text is written as its digest."""
TIME = "<time>"
MEASURED = frozenset({"latency_s", "build_s"})
"""Keys of measured seconds within what an attempt has put out: these are never the same twice."""
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{10,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Recorder:
    """Collects rows; keeps the full text of every value, and puts steady names in the place of drawn ids."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.files: dict[str, Rows] = {}
        self.full: dict[str, str] = {}
        """Item (`FILE/KEY#FIELD`) → all of its text."""
        self.names: dict[str, str] = {}
        """Drawn id → the name that stands for it."""
        self.tasks: dict[str, str] = {}
        """Name of an attempt → its task."""

    def add(self, file: str, key: str, fields: Mapping[str, Any], longest: int = LONGEST) -> None:
        """Add one row without the fields that are None; a key that is there already is a mistake of the recorder."""
        rows = self.files.setdefault(file, {})
        if key in rows:
            raise ValueError(f"{file}/{key} is recorded twice")
        row = rows[key] = {}
        for name, value in fields.items():
            if value is None:
                continue
            text = self.name_ids(write(value))
            self.full[f"{file}/{key}#{name}"] = text
            row[name] = shorten(text, longest)

    def name_ids(self, text: str) -> str:
        """The text with every id that was drawn replaced by its name."""
        return _WORD.sub(lambda found: self.names.get(found.group(), found.group()), text)


def write(value: Any) -> str:
    """One value as text, the same for what is equal: JSON has sorted keys, numbers have nine digits."""
    if type(value) is str and value[:1] not in ("{", "["):
        return value  # most are, and there are hundreds of thousands
    value = plain(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def plain(value: Any) -> Any:
    """Lists, dicts, texts and rounded numbers; text that is JSON becomes what it says."""
    match value:
        case None | bool() | int():
            return value
        case np.bool_():
            return bool(value)
        case float() | np.floating() | Decimal():
            # Sums of floats depend on their order in the last digits, and the order on the number of threads.
            rounded = float(f"{float(value):.9g}")
            return None if math.isnan(rounded) else int(rounded) if rounded.is_integer() else rounded
        case np.integer():
            return int(value)
        case np.ndarray():
            return [plain(each) for each in value.tolist()]
        case bytes():
            return plain(value.decode("utf-8", "replace"))
        case datetime() | date():
            return TIME
        case Mapping():
            return {str(key): plain(each) for key, each in value.items() if key not in MEASURED}
        case list() | tuple():
            return [plain(each) for each in value]
        case str():
            if value[:1] in ("{", "["):
                try:
                    return plain(json.loads(value))
                except ValueError:
                    return value
            return value
    return "" if str(value) in ("NaT", "<NA>") else str(value)


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text itself where it is short and on one line, else `#` and its digest."""
    if len(text) <= longest and not _CONTROL.search(text) and not text.startswith("#"):
        return text
    return f"#{digest(text)}"


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
