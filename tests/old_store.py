"""The kept store of an earlier version, and what can be asked of it by the command line."""

import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from tests.goldens.store import say
from tests.goldens.values import plain

STORE = Path(__file__).parent / "data" / "store_1.zip"
FACTS = STORE.with_suffix(".json")
"""What was read from it by `read_facts` with the program that made it."""
TABLES = ("attempts", "messages", "scores", "judgements", "votes", "traces", "failures")


def unpack(home: Path) -> None:
    """Lay the store out in an empty folder; empty folders are a part of it."""
    with zipfile.ZipFile(STORE) as packed:
        packed.extractall(home)


def copy_runs(old: Path, home: Path, *runs: str) -> None:
    """Some runs of a store, each with its dataset, into another."""
    for run in runs:
        shutil.copytree(old / "runs" / run, home / "runs" / run)
        dataset = json.loads((home / "runs" / run / "run.json").read_bytes())["dataset_id"]
        shutil.copytree(old / "datasets" / dataset, home / "datasets" / dataset, dirs_exist_ok=True)


def read_facts(home: Path) -> dict[str, Any]:
    """What the store at $CXLAB_HOME holds: runs with their rows and figures, what was written on them, samples."""
    to = home.parent / f"{home.name}-exported"
    say("export", "--to", str(to))
    frames = {path.stem: pl.read_parquet(path) for path in sorted(to.glob("*.parquet"))}
    counts = {name: Counter(frames[name]["run_id"]) for name in TABLES}
    runs = {
        row["run"]: {
            **{key: row[key] for key in ("benchmark", "model", "state", "planned")},
            "rows": {name: counts[name][row["run"]] for name in TABLES},
            "figures": read_figures(row["run"]),
            "outcomes": dict(sorted(Counter(frames["attempts"].filter(run_id=row["run"])["outcome"]).items())),
        }
        for row in json.loads(say("runs", "list", "--json").splitlines()[-1])
    }
    scores = frames["scores"].filter(pl.col("turn").is_null(), pl.col("value").is_not_null())
    some = scores.sort("run_id", "attempt_id", "metric").group_by("run_id", maintain_order=True).head(4)
    notes = frames["annotations"].sort("created", "id")
    return {
        "runs": runs,
        "scores": plain(some.select("run_id", "attempt_id", "metric", "value").rows()),
        "annotations": plain(notes.select("kind", "author", "run_id", "attempt_id", "turn", "field", "value").rows()),
        "samples": dict(sorted(Counter(frames["samples"]["dataset_id"]).items())),
    }


def read_figures(run_id: str) -> list[dict[str, Any]]:
    (shown,) = json.loads(say("runs", "show", run_id, "--json").splitlines()[-1])
    rows: list[dict[str, Any]] = plain(shown["rows"])
    return rows
