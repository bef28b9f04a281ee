"""The settings of the runs that are compared: in what they differ, by the typed options of their benchmark."""

import json
from collections.abc import Mapping

import polars as pl

from cxlab import read
from cxlab.read import View
from cxlab.views.benchmarks import read_settings
from cxlab.views.compare.queries import Unit

# What a run's record says beside its options, by what it is called on a page.
_OF_RECORD = {"dataset_id": "Dataset", "seed": "Seed", "trials": "Trials", "judges": "Judges"}
_OF_SETUP = {"customer": "Customer"}


def compare_settings(view: View, unit: Unit) -> pl.DataFrame:
    """One row a setting that is not the same for all sides: setting, and a column a side with its values.

    The options are read by the benchmark's own types, so that what an older run left out stands at its default.
    """
    condition, params = read.where(view)
    runs = read.ask(
        f"""SELECT {"r.model" if unit == "model" else "r.run_id"} AS side, r.* FROM runs r
        WHERE r.run_id IN (SELECT DISTINCT run_id FROM attempts WHERE {condition}) ORDER BY r.created""",
        params,
    )
    told: dict[str, dict[str, list[str]]] = {}
    for row in runs.iter_rows(named=True):
        for name, value in _settings_of(row).items():
            values = told.setdefault(name, {}).setdefault(row["side"], [])
            if value not in values:
                values.append(value)
    sides = runs["side"].unique(maintain_order=True).to_list()
    rows = [
        {"setting": name, **{side: " and ".join(values.get(side, ["–"])) for side in sides}}
        for name, values in told.items()
        if len({tuple(sorted(values.get(side, ["–"]))) for side in sides}) > 1
    ]
    return pl.DataFrame(rows, schema={"setting": pl.String, **dict.fromkeys(sides, pl.String)})


def _settings_of(row: Mapping[str, object]) -> dict[str, str]:
    setup = json.loads(str(row["setup"] or "{}"))
    found = {title: _write(row[name]) for name, title in _OF_RECORD.items()}
    found |= {title: _write(setup.get(name)) for name, title in _OF_SETUP.items()}
    return found | read_settings(str(row["benchmark"]), setup.get("options") or {})


def _write(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "–" if value is None else str(value)
