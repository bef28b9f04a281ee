"""One small organisation, made once a worker and only read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks.crmarena.generation import generate
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.records import Dataset, Sample
from cxlab.store import write


@dataclass(frozen=True)
class MadeOrganisation:
    """A generated dataset as a reader finds it: its tables as they lie in the folder."""

    home: Path
    dataset: Dataset
    samples: list[Sample]
    tables: dict[str, pl.DataFrame]
    sandbox: Sandbox

    def of_task(self, task: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.task == task]


def make(home: Path, **settings: Any) -> MadeOrganisation:
    seed = settings.pop("seed", 3)
    made = finish(generate(CrmGenerateOptions(**settings), GenerationContext(seed, home)))
    assert made.folder is not None
    tables = {path.stem: pl.read_parquet(path) for path in made.folder.glob("*.parquet") if path.stem != "samples"}
    assert json.loads((made.folder / "dataset.json").read_text())["id"] == made.dataset.id
    samples = write.load_samples(made.dataset.id, home)
    return MadeOrganisation(home, made.dataset, samples, tables, Sandbox.open(made.folder, compat="policy"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeOrganisation:
    return make(tmp_path_factory.mktemp("crm"), size="150")
