"""How an organisation is stored: one Parquet table an object in a dataset's folder, typed by the schema.

A table is named after its object (`Case.parquet`, `Issue__c.parquet`) and has the schema's columns:

    tables = to_tables({"User": [{"Id": "005…", "FirstName": "Ann"}, …], "Case": […]}, load_default())
    write.save_dataset(dataset, samples, tables={**tables, "latent_skills": …})

What agents must not see (latent variables) lies beside them under names that are no object's: only the schema's
objects are ever opened by a Sandbox. Texts are strings, dates Date, datetimes Datetime in UTC, numbers Float64,
Booleans Boolean, a list of ids is JSON text. "" is null, as in the product.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, ObjectInfo, Schema
from cxlab.errors import BadFile
from cxlab.importers import cells
from cxlab.records import content_id

TIME = pl.Datetime("ms", "UTC")
_TYPES: Mapping[str, pl.DataType] = {
    "boolean": pl.Boolean(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "currency": pl.Float64(),
    "date": pl.Date(),
    "datetime": TIME,
}


class TypeMismatch(ValueError):
    """A value that is not of its field's type; the text says what is wrong."""


def column_type(field: FieldInfo) -> pl.DataType:
    """How a field is stored."""
    return _TYPES.get(field.type, pl.String())


def columns(info: ObjectInfo) -> dict[str, pl.DataType]:
    """The columns of an object's table."""
    return {name: column_type(field) for name, field in info.fields.items()}


def to_tables(rows: Mapping[str, Iterable[Mapping[str, Any]]], schema: Schema) -> dict[str, pl.DataFrame]:
    """A table an object from rows of plain values; objects without rows get an empty one.

    Values may be of their type or text that writes it (`"2024-05-26T06:58:00.000+0000"`, `"2024-05-26"`, `"129.5"`,
    `1`). Raises BadFile for a value that is not of its type, an object or a column that the schema does not have.
    """
    for name in rows:
        if schema.object(name) is None:
            raise BadFile(name, None, "is no object of the schema")
    return {name: to_table(rows.get(name, ()), info) for name, info in schema.objects.items()}


def to_table(rows: Iterable[Mapping[str, Any]], info: ObjectInfo) -> pl.DataFrame:
    """One object's table; see `to_tables`."""
    kept = list(rows)
    known = {spelling.lower(): name for name, field in info.fields.items() for spelling in (name, *field.also)}
    values: dict[str, list[Any]] = {name: [None] * len(kept) for name in info.fields}
    for place, row in enumerate(kept):
        for key, value in row.items():
            name = known.get(key.lower())
            if name is None:
                raise BadFile(info.name, place + 1, f"{key} is no field of {info.name}")
            try:
                found = to_value(value, info.fields[name])
            except TypeMismatch as fault:
                raise BadFile(info.name, place + 1, f"{key}: {fault}") from None
            if found is not None:
                values[name][place] = found
    frame = pl.DataFrame({name: pl.Series(name, values[name], type_) for name, type_ in columns(info).items()})
    return complete(frame, info)


def complete(frame: pl.DataFrame, info: ObjectInfo) -> pl.DataFrame:
    """The table with the schema's columns in their order; what is made of others or has a default is filled in."""
    made = []
    for name, field in info.fields.items():
        type_, kind = column_type(field), frame.schema.get(name)
        own = pl.lit(None, type_) if kind is None else pl.col(name)
        if type_ == TIME and isinstance(kind, pl.Datetime) and kind.time_zone is None:
            own = own.dt.replace_time_zone("UTC")
        own = own.cast(type_)
        if parts := [pl.col(part) for part in field.made_of if part in frame.schema]:
            own = pl.coalesce(own, pl.concat_str(parts, separator=" ", ignore_nulls=True))
        if field.default is not None:
            own = own.fill_null(field.default)
        if type_ == pl.String():
            own = pl.when(own != "").then(own)  # "" is null, as in the product
        made.append(own.alias(name))
    return frame.select(made)


def to_value(value: Any, field: FieldInfo) -> Any:
    """A value as its field stores it; None for null and for ""; raises TypeMismatch."""
    if value is None or value == "":
        return None
    match field.type:
        case "boolean":
            return _to_flag(value)
        case "integer" | "number" | "currency":
            return _to_number(value, whole=field.type == "integer")
        case "date":
            return to_time(value).date()
        case "datetime":
            return to_time(value)
        case "id_list":
            return _to_id_list(value)
        case "location":
            return _to_place(value)
        case "phone" if isinstance(value, float) and value.is_integer():
            return str(int(value))  # other people's tables keep telephone numbers as numbers
        case _:
            if isinstance(value, str | int | float):
                return str(value)
            raise TypeMismatch(f"{value!r:.60} is no text")


def _to_place(value: Any) -> str:
    """Degrees north and east with a comma between them, as they are stored."""
    try:
        latitude, longitude = (float(part) for part in str(value).split(","))
    except ValueError:
        raise TypeMismatch(f"{value!r:.60} is no place as 44.98,-93.27 (degrees north, east)") from None
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise TypeMismatch(f"{value!r:.60} is no place on earth")
    return f"{latitude!r},{longitude!r}"


def _to_flag(value: Any) -> bool:
    if isinstance(value, str):
        value = {"true": True, "1": True, "false": False, "0": False}.get(value.lower(), value)
    if value in (True, False):
        return bool(value)
    raise TypeMismatch(f"{value!r:.60} is neither true nor false")


def _to_number(value: Any, whole: bool) -> float | int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeMismatch(f"{value!r:.60} is no number") from None
    if not abs(number) < 1e18:
        raise TypeMismatch(f"{value!r:.60} is no number of sensible size")
    return int(number) if whole else number


def to_time(value: Any) -> datetime:
    """A moment in UTC from a date, a datetime or ISO 8601 text with any zone, UTC without one; raises TypeMismatch."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise TypeMismatch(f"{value!r:.60} is no date or time as 2024-05-26T06:58:00.000+0000")


def _to_id_list(value: Any) -> str:
    try:
        return json.dumps(cells.as_list(value))
    except cells.Unreadable:
        raise TypeMismatch(f"{value!r:.60} is no list of ids") from None


HIDDEN_LINKS = "latent_cases"
"""The table beside an organisation that knows what each case is about: case_id, issue_id, order_item_id."""


def lacks_links(folder: Path) -> bool:
    """Whether a stored organisation hides what its cases are about, and their truth lies beside it."""
    case, hidden = folder / "Case.parquet", folder / f"{HIDDEN_LINKS}.parquet"
    if not (case.is_file() and hidden.is_file()):
        return False
    return bool(pl.scan_parquet(case).select(pl.col("IssueId__c").is_null().all()).collect().item())


def add_links(tables: Mapping[str, pl.DataFrame], folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of an organisation whose cases lead to issue and order item again, as solvers need them."""
    hidden = pl.read_parquet(folder / f"{HIDDEN_LINKS}.parquet")
    links = hidden.select(Id="case_id", IssueId__c="issue_id", OrderItemId__c="order_item_id")
    cases = tables["Case"]
    linked = cases.drop("IssueId__c", "OrderItemId__c").join(links, on="Id", how="left", maintain_order="left")
    return {**tables, "Case": linked.select(cases.columns)}


def read_folder(folder: Path, schema: Schema) -> dict[str, pl.DataFrame]:
    """The tables of a stored organisation; an object without a file has no rows. BadFile for one that is damaged.

    Raises BadFile when the folder has none of the schema's objects at all.
    """
    found: dict[str, pl.DataFrame] = {}
    for name, info in schema.objects.items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            found[name] = pl.DataFrame(schema=columns(info))
            continue
        try:
            found[name] = complete(pl.read_parquet(path), info)
        except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as fault:
            raise BadFile(path, None, f"cannot be read as {name} rows ({str(fault).splitlines()[0][:120]})") from None
    if all(frame.is_empty() for frame in found.values()):
        raise BadFile(folder, None, "holds no organisation", f"it should have {next(iter(found))}.parquet and others")
    return found


def digest(frame: pl.DataFrame) -> str:
    """A hash of a table's rows; the same in another version of the library that reads them."""
    return content_id(frame.with_columns(pl.col(pl.Datetime, pl.Date).cast(pl.String)).rows())


def text_of(article: Mapping[str, Any]) -> str:
    """What a knowledge article says, as a tool or a query of its field gives it."""
    return str(article.get("Content") or article.get("FAQ_Answer__c") or "")
