"""Datasets, runs and exports as rows: read from the files that the command line leaves, not through the package."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tests.goldens.store import Store, say
from tests.goldens.values import Recorder, write

FACETS = ("scenario", "level", "leaf", "intent", "persona", "exposure", "modality", "language")
"""Columns of a sample and an attempt; read from a map column of the name `facets` as well."""
# Of measured time, of where the program lies, and of which version it is; and what stands in the row's key.
LEFT_OUT = {"started", "created", "latency_s", "code", "run_id", "attempt_id", "sample_id", "trial", "dataset_id"}
USAGE = ("calls", "retries", "cached_calls", "prompt_tokens", "completion_tokens", "cost_usd")
# What one message and one vote are written from; a column that comes later shows in the exports, not in each digest.
MESSAGE = ("turn", "role", "text", "tool_calls", "data")
VOTE = ("valid", "raw", "rationale", "failure", "usage")
FORMATS = ("parquet", "csv", "jsonl", "duckdb")
REJUDGED = ("weak-again/", "mm-rules/")
"""Of runs that judge another run's dialogues, what was said is recorded once, there, and here in the exports."""
EXPORTED = ("strong-hidden", "weak-again", "cx-hashing", "mm-transfer", "mm-rules")
"""Runs that are recorded in each format; a bit of everything."""


def record_rows(store: Store, into: Recorder, to: Path) -> None:
    """Record all datasets, runs and exports of the store; `to` is a folder for the exported files."""
    samples = name_ids(store, into)
    for name in store.datasets:
        record_dataset(store, name, into)
    say("export", "--to", str(to / "parquet"))
    frames = {path.stem: pl.read_parquet(path) for path in sorted((to / "parquet").glob("*.parquet"))}
    runs = {run_id: name for name, run_id in store.runs.items()}
    name_attempts(frames["attempts"], runs, samples, into)
    record_runs(frames["runs"], store, runs, into)
    record_attempts(frames, into)
    few = [store.runs[name] for name in EXPORTED]
    for format in FORMATS:
        for table, columns in read_export(format, few, to / "few"):
            record_columns(format, table, columns, into)
    record_events(to, into)


# --- Datasets ---------------------------------------------------------------------------------------------------------


def name_ids(store: Store, into: Recorder) -> dict[str, str]:
    """Give runs and datasets their names; sample id → its place in its dataset, as three digits."""
    into.names |= {id: f"<{name}>" for name, id in {**store.runs, **store.datasets}.items()}
    places: dict[str, str] = {}
    for folder in store.folders.values():
        ids = pl.read_parquet(folder / "samples.parquet")["sample_id"]
        places |= {id: f"{place:03}" for place, id in enumerate(ids)}
    return places


def record_dataset(store: Store, name: str, into: Recorder) -> None:
    """What a dataset says of itself, each row of each of its tables, and its further files."""
    folder = store.folders[name]
    about = json.loads((folder / "dataset.json").read_bytes())
    file, config = about["benchmark"], flatten(about.pop("config"))
    into.add(file, f"{name}/dataset", {key: about[key] for key in about if key not in {"id", "created", "benchmark"}})
    into.add(file, f"{name}/config", config)
    told = {key: value for key, value in store.told[name].items() if key not in ("folder", "statistics", "validation")}
    into.add(file, f"{name}/told", flatten(told))
    for path in sorted(folder.glob("*.parquet")):
        for place, row in enumerate(pl.read_parquet(path).iter_rows(named=True)):
            # The id of a sample is its content's: here it is recorded, elsewhere its place stands for it.
            fields = take_facets(row) if path.stem == "samples" else row
            left = LEFT_OUT - {"sample_id"}
            into.add(file, f"{name}/{path.stem}/{place:03}", {k: v for k, v in fields.items() if k not in left}, 32)
    for path in sorted(each for each in folder.glob("files/**/*") if each.is_file()):
        data = path.read_bytes()
        fields = {"bytes": len(data), "text": data.decode("latin-1")}
        into.add(file, f"{name}/files/{path.relative_to(folder / 'files')}", fields, 0)


def take_facets(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its facets as fields `facet.NAME`; those without a value are left out."""
    fields = {name: value for name, value in row.items() if name not in FACETS and name != "facets"}
    mapped = write(row["facets"]) if row.get("facets") else "{}"
    inner = json.loads(mapped)
    pairs = inner.items() if isinstance(inner, dict) else ((each["key"], each["value"]) for each in inner)
    facets = {name: row[name] for name in FACETS if name in row} | dict(pairs)
    return fields | {f"facet.{name}": value for name, value in sorted(facets.items()) if value is not None}


def flatten(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings as one level: `options.noise`."""
    flat: dict[str, Any] = {}
    for key, each in value.items():
        flat |= flatten(each, f"{before}{key}.") if isinstance(each, Mapping) else {f"{before}{key}": each}
    return flat


# --- Runs -------------------------------------------------------------------------------------------------------------


def name_attempts(attempts: pl.DataFrame, runs: Mapping[str, str], samples: Mapping[str, str], into: Recorder) -> None:
    """An attempt is named by its run, the place of its sample and its trial: strong/003.1."""
    for row in attempts.iter_rows(named=True):
        place = samples.get(row["sample_id"], row["sample_id"])
        name = into.names[row["attempt_id"]] = f"{runs[row['run_id']]}/{place}.{row['trial']}"
        into.tasks[name] = row["task"]


def record_runs(frame: pl.DataFrame, store: Store, runs: Mapping[str, str], into: Recorder) -> None:
    """Each run's record, what came of it, and its table."""
    for row in frame.iter_rows(named=True):
        name, file = runs[row["run_id"]], row["benchmark"]
        fields = {key: value for key, value in row.items() if key not in LEFT_OUT | {"setup", "prompts", "group_"}}
        fields |= {"dataset": row["dataset_id"], "group": row["group_"] is not None}
        into.add(file, f"{name}/run", fields | flatten(json.loads(row["setup"]), "setup."))
        into.add(file, f"{name}/prompts", flatten(json.loads(row["prompts"])))
        told = {key: value for key, value in store.told[name].items() if key not in ("run", "seconds")}
        into.add(file, f"{name}/told", flatten(told))
        (shown,) = json.loads(say("runs", "show", row["run_id"], "--json").splitlines()[-1])
        for place, line in enumerate(shown["rows"]):
            into.add(file, f"{name}/table/{place:02}", line)


def fold_usage(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with calls, retries, kept replies, tokens in and out, and the price as one field; - is unknown."""
    used = ",".join("-" if row[name] is None else write(row[name]) for name in USAGE if name in row)
    fields = {name: value for name, value in row.items() if name not in USAGE}
    return fields | {"usage": used} if used else fields


def record_attempts(frames: Mapping[str, pl.DataFrame], into: Recorder) -> None:
    """Attempts, messages, scores, judgements, votes, traces and failures, an attempt's own beside each other."""
    files: dict[str, str] = {}
    # What the run or the sample says as well; the exports hold these columns against theirs.
    borrowed = {*LEFT_OUT, *FACETS, "facets", "benchmark", "model", "simulated", "task"}
    for row in frames["attempts"].iter_rows(named=True):
        files[row["attempt_id"]] = row["benchmark"]
        fields = {key: value for key, value in fold_usage(row).items() if key not in borrowed}
        into.add(row["benchmark"], f"{into.names[row['attempt_id']]}/attempt", fields)
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)

    def rows(table: str, key: str = "") -> Iterable[tuple[tuple[str, str], dict[str, Any]]]:
        """The file and the key of each row, and its own columns; `key` is the column that counts within the attempt."""
        for row in frames[table].iter_rows(named=True):
            count = [] if not key else ["all"] if row[key] is None else [f"{row[key]:02}"]
            place = "/".join([into.names[row["attempt_id"]], table, *count])
            own = {name: value for name, value in fold_usage(row).items() if name not in borrowed | {key}}
            yield (files[row["attempt_id"]], place), own

    def add(place: tuple[str, str], field: str, value: str) -> None:
        if field in found[place]:
            raise ValueError(f"{place} has {field} twice")
        found[place][field] = value

    # A line an attempt with a field for each message; a line a turn with a field for each vote, metric and verdict.
    order = "position" if "position" in frames["messages"].columns else "seq"
    for place, row in rows("messages"):
        if not place[1].startswith(REJUDGED):
            add(place, f"{row[order]:02}.{row['role']}", write({name: row[name] for name in MESSAGE}))
    for place, row in rows("votes", "turn"):
        add(place, row["judge"].removeprefix("simulated:"), write({name: row[name] for name in VOTE}))
    for place, row in rows("scores", "turn"):
        value = f"none: {row['reason']}" if row["value"] is None else write(row["value"])
        add(place, row["metric"], value + ("" if row["n"] is None else f" of {row['n']}"))
    frames = {**frames, "judgements": frames["judgements"].sort("judge", maintain_order=True)}
    verdicts: dict[tuple[tuple[str, str], str], list[str]] = defaultdict(list)
    for place, row in rows("judgements", "turn"):
        name = ("graded." if row["kind"] == "dimension" else "") + row["field"]
        verdicts[place, name].append(f"{row['verdict']}" + ("" if row["status"] == "ok" else f" ({row['status']})"))
    for (place, name), said in verdicts.items():
        add(place, name, "|".join(said))  # in the order of the judges' names, which stand beside their votes
    for (file, key), fields in found.items():
        into.add(file, key, dict(sorted(fields.items())))
    for table, count in {"traces": "turn", "failures": "seq"}.items():
        for (file, key), row in rows(table, count):
            into.add(file, key, row, 32)


# --- Exports ----------------------------------------------------------------------------------------------------------


def read_export(format: str, runs: Sequence[str], to: Path) -> Iterable[tuple[str, dict[str, list[Any]]]]:
    """Each table of an export of these runs in a format, as columns."""
    target = to / ("out.duckdb" if format == "duckdb" else format)
    say("export", *runs, "--to", str(target), "--format", format)
    if format == "duckdb":
        with duckdb.connect(str(target), read_only=True) as con:
            # What another store takes in are files of the store, with times in them (tests/store/test_store_archive).
            names = "SELECT table_name FROM duckdb_tables() WHERE table_name <> 'files' ORDER BY 1"
            for (name,) in con.execute(names).fetchall():
                yield name, {key: list(values) for key, values in con.table(name).pl().to_dict(as_series=False).items()}
        return
    read = {"parquet": read_parquet, "csv": read_csv, "jsonl": read_lines}[format]
    for path in sorted(target.glob(f"*.{format}")):
        yield path.stem, read(path)


def read_parquet(path: Path) -> dict[str, list[Any]]:
    return pl.read_parquet(path).to_dict(as_series=False)


def read_csv(path: Path) -> dict[str, list[Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def read_lines(path: Path) -> dict[str, list[Any]]:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def record_columns(format: str, table: str, columns: Mapping[str, list[Any]], into: Recorder) -> None:
    """One digest a column, each value beside the attempt (or sample, or run) that it belongs to.

    In no order, so that a column that changes changes no other.
    """
    owner = next((name for name in ("attempt_id", "sample_id", "run_id", "id") if name in columns), "")
    owners = columns.get(owner) or [""] * len(next(iter(columns.values()), []))
    fields: dict[str, Any] = {"rows": len(owners), "columns": ",".join(columns)}
    for name, values in columns.items():
        if name in ("started", "created", "latency_s", "code"):
            continue
        pairs = (f"{whose}\t{write(value)}" for whose, value in zip(owners, values, strict=True))
        fields[name] = "\n".join(sorted(map(into.name_ids, pairs)))
    into.add("exports", f"{format}/{table}", fields, 0)


def record_events(to: Path, into: Recorder) -> None:
    """The log of stages for process mining."""
    say("export", "--to", str(to / "events.csv"), "--format", "events")
    columns = read_csv(to / "events.csv")
    del columns["time:timestamp"]
    record_columns("events", "events", {"id": columns.pop("case:concept:name"), **columns}, into)
