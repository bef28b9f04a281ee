"""The schema of a CRM organisation: its objects, their fields and references, read from one TOML file.

`data/crmarena/schema.toml` is the paper's 16 objects; its head explains the form. Another schema (another industry)
is another file of the same form: everything here takes a `Schema`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxlab import resources
from cxlab.errors import BadFile
from cxlab.files import read_toml

FieldType = Literal[
    "id",
    "reference",
    "string",
    "text",
    "long_text",
    "picklist",
    "multipicklist",
    "boolean",
    "integer",
    "number",
    "currency",
    "date",
    "datetime",
    "email",
    "phone",
    "url",
    "id_list",
    "location",
]
_NAME = r"^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*(__[a-z]+)?$"
Name = Annotated[str, Field(pattern=_NAME, max_length=80)]
TIMES = frozenset({"date", "datetime"})
NUMBERS = frozenset({"integer", "number", "currency"})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _RawField(_Part):
    type: FieldType
    about: str = ""
    listed: bool = True
    values: tuple[str, ...] = ()
    default: str | None = None
    made_of: tuple[Name, ...] = ()
    also: tuple[Name, ...] = ()
    to: Name | None = None
    path: Name | None = None
    children: Name | None = None
    declared: bool = True
    polymorphic: bool = False


class _RawObject(_Part):
    prefix: str = Field(pattern=r"^[A-Za-z0-9]{3}$")
    about: str
    rows: int | None = None
    mirror_rows: int | None = None
    fields: dict[Name, _RawField]


@dataclass(frozen=True)
class Reference:
    """Where a field of ids leads. `path`: its name in a query (`Case.Account.Name`); `children`: the name of the way
    back (`SELECT (SELECT Id FROM Cases) FROM Account`), None where there is none. `declared`: whether the benchmark's
    metadata declares it. `polymorphic`: the product lets it lead to other objects, too, so TYPEOF applies.
    """

    to: str
    path: str
    children: str | None
    declared: bool
    polymorphic: bool


@dataclass(frozen=True)
class FieldInfo:
    """One field. `about` is what agents are told of it, if it is `listed`; `made_of` are fields whose values are
    joined where none is stored; `default` stands where none is stored; `also` are other spellings of its name in other
    people's files.
    """

    object: str
    name: str
    type: FieldType
    about: str = ""
    listed: bool = True
    values: tuple[str, ...] = ()
    default: str | None = None
    made_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    reference: Reference | None = None

    @property
    def filterable(self) -> bool:
        """Whether WHERE may name it, and ORDER BY and GROUP BY: long texts, lists of ids and places are only read."""
        return self.type not in ("long_text", "id_list", "location")


@dataclass(frozen=True)
class ObjectInfo:
    """One object (a table). `fields` begin with Id; `prefix` begins its ids; `rows` are the paper's table 8."""

    name: str
    prefix: str
    about: str
    fields: Mapping[str, FieldInfo]
    rows: int | None = None
    mirror_rows: int | None = None

    @cached_property
    def _names(self) -> dict[str, FieldInfo]:
        return {name.lower(): field for name, field in self.fields.items()}

    @cached_property
    def _paths(self) -> dict[str, FieldInfo]:
        return {field.reference.path.lower(): field for field in self.fields.values() if field.reference}

    def field(self, name: str) -> FieldInfo | None:
        """The field of that name in any case."""
        return self._names.get(name.lower())

    def way(self, path: str) -> FieldInfo | None:
        """The reference field behind a step of a path, in any case: `Account` → AccountId."""
        return self._paths.get(path.lower())

    @property
    def references(self) -> tuple[FieldInfo, ...]:
        """Its fields that lead to other objects."""
        return tuple(field for field in self.fields.values() if field.reference)


@dataclass(frozen=True)
class Child:
    """The way from an object to those that refer to it: `name` in a query, `object`, and its field that refers."""

    name: str
    object: str
    field: str


@dataclass(frozen=True)
class Size:
    """How large a schema is, as the paper's table 1 counts: fields are those that agents are told of, Id left out."""

    objects: int
    fields: int
    references: int


@dataclass(frozen=True, eq=False)
class Schema:
    """The objects of an organisation by name, in the order of the file."""

    objects: Mapping[str, ObjectInfo]

    @cached_property
    def _names(self) -> dict[str, ObjectInfo]:
        return {name.lower(): info for name, info in self.objects.items()}

    @cached_property
    def _children(self) -> dict[str, dict[str, Child]]:
        found: dict[str, dict[str, Child]] = {name: {} for name in self.objects}
        for info in self.objects.values():
            for field in info.references:
                if field.reference and field.reference.children:
                    child = Child(field.reference.children, info.name, field.name)
                    found[field.reference.to][child.name.lower()] = child
        return found

    @cached_property
    def size(self) -> Size:
        """Objects, fields that agents are told of, and declared references."""
        fields = [field for info in self.objects.values() for field in info.fields.values()]
        listed = sum(field.listed and field.type != "id" for field in fields)
        declared = sum(field.reference is not None and field.reference.declared for field in fields)
        return Size(len(self.objects), listed, declared)

    def object(self, name: str) -> ObjectInfo | None:
        """The object of that name in any case."""
        return self._names.get(name.lower())

    def children(self, of: str) -> Mapping[str, Child]:
        """Ways from an object to those that refer to it, by lower-case name."""
        return self._children[of]

    def by_prefix(self, id: str) -> ObjectInfo | None:
        """The object that an id is of, by its first three characters."""
        return next((info for info in self.objects.values() if id.startswith(info.prefix)), None)

    def dependency_order(self) -> tuple[str, ...]:
        """Object names, those that others refer to first."""
        from graphlib import TopologicalSorter

        wanted = {
            name: {field.reference.to for field in info.references if field.reference and field.reference.to != name}
            for name, info in self.objects.items()
        }
        return tuple(TopologicalSorter(wanted).static_order())


@functools.cache
def load_default() -> Schema:
    """The paper's 16 objects."""
    return load(resources.data("crmarena", "schema.toml"))


def load(path: Path) -> Schema:
    """The schema of a TOML file; BadFile for what does not fit."""
    objects: dict[str, ObjectInfo] = {}
    for name, given in read_toml(path).items():
        try:
            raw = _RawObject.model_validate(given)
        except ValidationError as fault:
            first = fault.errors(include_url=False)[0]
            where = ".".join(map(str, (name, *first["loc"])))
            raise BadFile(path, None, f"{where}: {first['msg']}", "see the head of data/crmarena/schema.toml") from None
        objects[name] = _to_object(name, raw)
    schema = Schema(objects)
    for info in objects.values():
        for field in info.references:
            if field.reference is not None and field.reference.to not in objects:
                raise BadFile(path, None, f"{info.name}.{field.name} leads to {field.reference.to}, which is no object")
    return schema


def _to_object(name: str, raw: _RawObject) -> ObjectInfo:
    fields = {"Id": FieldInfo(name, "Id", "id", "Id of the record", listed=False)}
    for each, given in raw.fields.items():
        reference = None
        if given.type == "reference" and given.to and given.path:
            reference = Reference(given.to, given.path, given.children, given.declared, given.polymorphic)
        fields[each] = FieldInfo(
            object=name,
            name=each,
            type=given.type,
            about=given.about,
            listed=given.listed,
            values=given.values,
            default=given.default,
            made_of=given.made_of,
            also=given.also,
            reference=reference,
        )
    return ObjectInfo(name, raw.prefix, raw.about, fields, raw.rows, raw.mirror_rows)
