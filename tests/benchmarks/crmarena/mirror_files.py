"""A SQLite file as the public copies are: the declared types of the reference, TEXT but for a few."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from tests.benchmarks.crmarena.small_organisation import Rows

REAL, INTEGER = {"Phone"}, {"IsActive"}


def write_mirror(path: Path, rows: Rows) -> Path:
    """The rows in a table an object; every listed field has a column, and PriceBookEntryId its capital letter."""
    with closing(sqlite3.connect(path)) as con:
        for name, info in load_default().objects.items():
            fields = [field for field in info.fields.values() if field.listed or field.name == "Id"]
            names = [field.name.replace("PricebookEntryId", "PriceBookEntryId") for field in fields]
            kinds = ["REAL" if n in REAL else "INTEGER" if n in INTEGER else "TEXT" for n in names]
            columns = ", ".join(f'"{n}" {kind}' for n, kind in zip(names, kinds, strict=True))
            con.execute(f'CREATE TABLE "{name}" ({columns})')
            for row in rows.get(name, []):
                values = [to_cell(row.get(field.name)) for field in fields]
                con.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(values))})', values)
        con.execute("CREATE TABLE crm_notes (x TEXT)")
        con.commit()
    return path


def to_cell(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value)
    return value
