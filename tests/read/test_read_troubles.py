"""What is kept of what went wrong: looked up anew for the runs that changed, and for them alone."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from cxlab.read import View, failures
from cxlab.read.kept import troubles
from tests.stores.troubled import make_troubled_store


def test_only_a_run_that_changed_is_looked_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_troubled_store(tmp_path, seed=2)
    asked: list[object] = []
    look_up = troubles._ask
    monkeypatch.setattr(troubles, "_ask", lambda name, con, runs, reads: (
        asked.append((name, runs)), look_up(name, con, runs, reads))[1]
    )  # fmt: skip
    before = failures.groups(View(), limit=1000)
    assert asked == [("troubles", None)]
    failures.groups(View(verdict="wrong"))
    assert len(asked) == 1

    parts = tmp_path / "runs/run-1/parts"
    part = next(parts.iterdir())
    shutil.move(part, tmp_path / "away")
    without = failures.groups(View(), limit=1000)
    assert asked[1:] == [("troubles", ["run-1"])]
    assert without.rows() == failures.groups(View(runs=("run-0", "run-2")), limit=1000).rows()
    shutil.move(tmp_path / "away", part)
    assert failures.groups(View(), limit=1000).rows() == before.rows()

    shutil.move(tmp_path / "runs/run-2", tmp_path / "away")
    gone = failures.groups(View(), limit=1000)
    assert asked[2:] == [("troubles", ["run-1"])]  # what is gone needs no look
    assert gone.rows() == failures.groups(View(runs=("run-0", "run-1")), limit=1000).rows()


def test_what_a_procedure_asks_for_counts_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_troubled_store(tmp_path, seed=2)

    def blamed() -> int:
        found = failures.groups(View(), limit=1000)
        return int(found.filter(pl.col("field") == "ProvidedDocument", pl.col("owner") == "agent")["n"].sum())

    before = blamed()
    stages = ("start", "stage1", "stage2", "stage3", "stage5")
    fields = [{"scenario": "ecommerce_refund", "stage": each, "fields": ["ProvidedDocument"]} for each in stages]
    with monkeypatch.context() as edited:
        edited.setattr("cxlab.read.procedures.stage_fields", lambda: json.dumps(fields))
        assert blamed() > before
    assert blamed() == before
