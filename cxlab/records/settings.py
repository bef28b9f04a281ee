"""Typed settings: one pydantic model says what can be set, and command line, page and record all read it.

Each field has a type, a default and a `description` of one sentence; numbers have bounds (`ge`, `le`), choices are
`Literal`. `Settings.read` takes values or the words of a command line and refuses what does not parse with the name,
the value and what is allowed.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from cxlab.errors import BadOption, UnknownName

Kind = Literal["flag", "integer", "number", "choice", "choices", "list", "text"]
LONGEST_TEXT = 100_000
"""Characters of one value: a paragraph about a brand, not a book."""


def split_words(value: Any) -> Any:
    """A list as people type it: "16,64" or a JSON list; anything else unchanged."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return value
    return [word.strip() for word in text.split(",") if word.strip()]


Listed = BeforeValidator(split_words)
"""Marks a tuple field whose values may be typed with commas: Annotated[tuple[int, ...], Listed]."""


@dataclass(frozen=True)
class Switch:
    """One switch as a form or a help text needs it.

    `kind`: flag, integer, number, choice (one of `choices`), choices (any of them), list, text. `default` None: left
    to the sample, or worked out when the run starts. What a form needs beside that stands in the field's
    `json_schema_extra`: `choices` that are offered beside free text, `forms` (how else a text may begin, as
    "endpoint:NAME": then nothing else is taken), `labels` (choice → how it is shown, "" for none), `offers`
    ("models", "procedures": those that are known stand for choice), `long` (a paragraph), `typed` (False: a page takes
    one of the choices alone), `on_page` (False: the command line alone), `compared` (False: it changes no result, so
    runs that differ in it are compared all the same).
    """

    name: str
    title: str
    meaning: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    on_page: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    offers: str = ""
    long: bool = False
    typed: bool = True
    compared: bool = True
    forms: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        match self.kind:
            case "flag":
                return "true or false"
            case "choice":
                return "one of " + ", ".join(self.choices)
            case "choices":
                return "any of " + ", ".join(self.choices) + ", with commas between"
            case "integer" | "number":
                what = "a whole number" if self.kind == "integer" else "a number"
                if self.low is not None and self.high is not None:
                    return f"{what} from {self.low:g} to {self.high:g}"
                if self.low is not None:
                    return f"{what} from {self.low:g} on"
                return what if self.high is None else f"{what} up to {self.high:g}"
            case "list":
                return "values with commas between"
            case _ if self.forms:
                return " or ".join(filter(None, [", ".join((*self.choices, *self.forms)[:-1]), self.forms[-1]]))
            case _:
                return f"{', '.join(self.choices)}, or other text" if self.choices else "text"

    def takes(self, text: str) -> bool:
        """Whether a text is one of the choices or of the declared forms; any is where no form is declared."""
        starts = [form.partition(":")[0] for form in self.forms]
        kind, _, rest = text.strip().partition(":")
        return not self.forms or text.strip() in self.choices or bool(kind in starts and rest.strip())

    @property
    def usual(self) -> str:
        """The default as it would be typed; "" where there is none."""
        return write_word(self.default)

    def show(self, word: str) -> str:
        """A value as it is typed, in the words that people read; "" is one that is not set."""
        return show_word(word, self.labels)


class Settings(BaseModel):
    """What a run, a generator or an importer can be set to; each has a subclass of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=LONGEST_TEXT)

    @classmethod
    def switches(cls) -> tuple[Switch, ...]:
        """The fields in their order."""
        return tuple(_describe(field.alias or name, field) for name, field in cls.model_fields.items())

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The settings from values or from words; UnknownName or BadOption for what cannot be meant."""
        known = {switch.name: switch for switch in cls.switches()}
        for name in given:
            if name not in known:
                raise UnknownName("option", name, known)
        try:
            return cls.model_validate({name: cls._value(known[name], value) for name, value in given.items()})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = str(first["loc"][0]) if first["loc"] else ""
            if place not in known:
                raise BadOption(str(first["msg"]).removeprefix("Value error, ")) from None
            shown = _one_line(write_word(given.get(place, known[place].default)))
            if first["type"] == "value_error":
                said = str(first["msg"]).removeprefix("Value error, ")
                raise BadOption(f"{place}={shown}: {said}") from None
            raise BadOption(f"{place}={shown}: give {known[place].allowed}") from None

    @classmethod
    def of(cls, given: Any) -> Self:
        """The settings themselves, or read from what a test or a page has in their place."""
        if isinstance(given, cls):
            return given
        return cls.read(given.to_record() if isinstance(given, Settings) else given)

    @classmethod
    def read_words(cls, words: Iterable[str]) -> Self:
        """The settings from `key=value` words of a command line."""
        return cls.read(split_pairs(words))

    @classmethod
    def _value(cls, switch: Switch, given: Any) -> Any:
        """What a word stands for: nothing typed is the default, a choice is found by how it is written."""
        if switch.kind in ("choices", "list") and not isinstance(given, str) and given is not None:
            listed = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
            return [cls._choice(switch, each) for each in listed] if switch.values else listed
        if not isinstance(given, str):
            return given
        word = given.strip()
        if not word:
            return switch.default
        if switch.kind == "text":
            if not switch.takes(given):
                raise BadOption(f"{switch.name}={_one_line(given)}: give {switch.allowed}")
            return given
        return cls._choice(switch, word) if switch.kind == "choice" else word

    @staticmethod
    def _choice(switch: Switch, given: Any) -> Any:
        """The choice that is written as the given one is; the given one itself where there is none."""
        return next((value for value in switch.values if str(value) == str(given)), given)

    def to_record(self) -> dict[str, Any]:
        """Every setting with its value, defaults written out, so that a later default changes no stored run."""
        return self.model_dump(mode="json", by_alias=True)

    def to_words(self) -> list[str]:
        """What was set other than by default as `key=value`, as `read_words` reads it back."""
        record, usual = self.to_record(), type(self).model_construct().to_record()
        changed = {name: value for name, value in record.items() if value != usual.get(name)}
        # An empty word would stand for the default.
        return [f"{name}={'[]' if value == [] else write_word(value)}" for name, value in changed.items()]


def split_pairs(words: Iterable[str], flag: str = "--option") -> dict[str, str]:
    """`key=value` words as a dict of text; the last of one name counts. BadOption for another form."""
    read: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise BadOption(f"{flag} {word!r}: must be key=value")
        read[key.strip()] = value
    return read


def write_word(value: Any) -> str:
    """A value as it is typed: true, 16,64, text as it is; "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        plain = all(isinstance(each, str | int | float) and "," not in str(each) for each in value)
        return ",".join(map(str, value)) if plain else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def show_word(word: str, labels: Mapping[str, str]) -> str:
    """A value as it is typed, in the words that people read: `labels` of each choice, and of "", which is not set."""
    shown = ", ".join(labels.get(each, each) for each in word.split(",")) if labels else word
    return shown or "not set"


def _one_line(word: str) -> str:
    """The beginning of what was typed, in one line."""
    return "".join(letter if letter.isprintable() else " " for letter in word[:80])


def _describe(name: str, field: FieldInfo) -> Switch:
    kind, choices = _kind_of(_bare(field.annotation), field)
    extra: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    bounds: dict[str, float] = {}
    for mark in field.metadata:
        for place, key in (("ge", "low"), ("gt", "low"), ("le", "high"), ("lt", "high")):
            if (bound := getattr(mark, place, None)) is not None:
                bounds[key] = float(bound)
    return Switch(
        name=name,
        title=field.title or name.replace("_", " ").capitalize(),
        meaning=field.description or "",
        kind=kind,
        default=field.get_default(call_default_factory=True),
        choices=choices,
        values=_values_of(_bare(field.annotation)),
        low=bounds.get("low"),
        high=bounds.get("high"),
        on_page=bool(extra.get("on_page", True)),
        compared=bool(extra.get("compared", True)),
        labels=extra.get("labels", {}),
        offers=str(extra.get("offers", "")),
        long=bool(extra.get("long", False)),
        typed=bool(extra.get("typed", True)),
        forms=tuple(map(str, extra.get("forms", ()))),
    )


def _bare(annotation: Any) -> Any:
    """The type without `| None` and without its marks."""
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        return _bare(parts[0]) if len(parts) == 1 else str
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _values_of(annotation: Any) -> tuple[Any, ...]:
    """The values of a Literal, or of a tuple of one."""
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else annotation
    return get_args(inner) if get_origin(inner) is Literal else ()


def _kind_of(annotation: Any, field: FieldInfo) -> tuple[Kind, tuple[str, ...]]:
    extra = field.json_schema_extra
    choices = extra.get("choices") if isinstance(extra, dict) else None
    offered = tuple(map(str, choices)) if isinstance(choices, list | tuple) else ()
    if get_origin(annotation) is Literal:
        return "choice", tuple(map(str, get_args(annotation)))
    if get_origin(annotation) is tuple:
        inner = get_args(annotation)[0]
        if get_origin(inner) is Literal:
            return "choices", tuple(map(str, get_args(inner)))
        return ("choices", offered) if offered else ("list", ())
    kinds: dict[Any, Kind] = {bool: "flag", int: "integer", float: "number"}
    return kinds.get(annotation, "text"), offered
