"""Leaderboard submissions of tau2-bench (`submission.json`) into published figures: a table a domain, a row a model.

They hold pass^1 to pass^4 and the cost by domain, and no conversation, so they become no run: they stand beside our own
figures as a paper's do, named by who submitted them. One file of the store holds all; a model submitted again replaces
its row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cxlab.benchmarks.mmtaup2.importers.tau2 import read_json
from cxlab.benchmarks.mmtaup2.tasks.samples import BENCHMARK
from cxlab.errors import BadFile
from cxlab.importers.importer import ImportReport

NAME = "submission.json"
KS = (1, 2, 3, 4)
_PAPER = {
    "title": "tau2-bench leaderboard: submissions",
    "authors_short": "tau2-bench submissions",
    "year": 2026,
    "arxiv": None,
}


class _Figures(BaseModel):
    model_config = ConfigDict(extra="ignore")

    pass_1: float | None = Field(None, ge=0, le=100)
    pass_2: float | None = Field(None, ge=0, le=100)
    pass_3: float | None = Field(None, ge=0, le=100)
    pass_4: float | None = Field(None, ge=0, le=100)
    cost: float | None = Field(None, ge=0)


class _Submission(BaseModel):
    model_config = ConfigDict(extra="ignore")

    model_name: str = Field(min_length=1, max_length=200)
    modality: str | None = None
    results: dict[str, _Figures | None] = Field(min_length=1)


@dataclass
class Submissions:
    """What was read: domain → rows (model, modality, pass^1 to pass^4 in per cent, cost in US dollars)."""

    rows: dict[str, list[list[Any]]]
    rejected: list[str] = field(default_factory=list)
    dataset: None = None
    """Nothing of it is one."""

    def save(self, home: Path | str | None = None) -> None:
        """Write the figures among the published ones of the store."""
        from cxlab.store import layout

        folder = layout.resolve_home(home) / "published"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{BENCHMARK}-submissions.json"
        held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"tables": []}
        rows = {table["id"].removeprefix("submissions_"): table["rows"] for table in held["tables"]}
        for domain, new in self.rows.items():
            names = {(row[0], row[1]) for row in new}
            rows[domain] = [row for row in rows.get(domain, []) if (row[0], row[1]) not in names] + new
        whole = {"paper": _PAPER, "benchmark": BENCHMARK, "tables": [_table(d, rows[d]) for d in sorted(rows)]}
        aside = path.with_suffix(".tmp")
        aside.write_text(json.dumps(whole, ensure_ascii=False, indent=1), encoding="utf-8")
        aside.replace(path)

    def report(self) -> ImportReport:
        """How many models and domains were read."""
        models = sorted({row[0] for rows in self.rows.values() for row in rows})
        record = {"models": models, "domains": sorted(self.rows), "rejected": len(self.rejected)}
        told = f"published figures of {len(models)} models for {', '.join(sorted(self.rows))}"
        return ImportReport(record, (told,), tuple(f"rejected: {one}" for one in self.rejected))


def read_submissions(path: Path) -> Submissions:
    """A `submission.json`, or all of them below a folder; raises BadFile where none can be read."""
    files = sorted(path.rglob(NAME)) if path.is_dir() else [path]
    found = Submissions({})
    for file in files:
        try:
            said = _Submission.model_validate(read_json(file))
        except (BadFile, ValidationError) as fault:
            told = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else str(fault)
            if len(files) == 1:
                raise BadFile(file.name, None, f"no submission of tau2-bench ({told})") from fault
            found.rejected.append(f"{file.parent.name}: {told}")
            continue
        for domain, figures in said.results.items():
            values = [getattr(figures, f"pass_{k}") for k in KS] if figures else []
            if any(value is not None for value in values):
                cost = figures.cost if figures else None
                found.rows.setdefault(domain, []).append([said.model_name, said.modality or "text", *values, cost])
    if not found.rows:
        raise BadFile(path.name, None, f"no {NAME} with figures in it")
    return found


def _table(domain: str, rows: list[list[Any]]) -> dict[str, Any]:
    def number(name: str, title: str, unit: str, higher: bool) -> dict[str, Any]:
        return {"id": name, "title": title, "kind": "number", "unit": unit, "higher_is_better": higher}

    def text(name: str, title: str) -> dict[str, Any]:
        return {"id": name, "title": title, "kind": "text", "unit": None, "higher_is_better": None}

    return {
        "id": f"submissions_{domain}",
        "table": f"Submissions, {domain}",
        "caption": f"What was submitted to tau2-bench's leaderboard for {domain}: share of tasks that succeed in "
        "all of k trials. Submitted by others and not checked here.",
        "unit": "percent",
        "columns": [
            text("model", "Model"),
            text("modality", "Modality"),
            *(number(f"pass_{k}", f"pass^{k}", "percent", True) for k in KS),
            number("cost", "Cost a task", "usd", False),
        ],
        "leaderboard": {"entity": "model", "metric": "pass_1"},
        "rows": sorted(rows, key=lambda row: -(row[2] or 0.0)),
    }
