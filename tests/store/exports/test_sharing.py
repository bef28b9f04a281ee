"""What may not be passed on stays out of every export for others, and is told with counts."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.importers.conversations import CdrImport, read_stored
from cxlab.cli import app
from cxlab.errors import BadOption
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from cxlab.store.exports.export import export_runs
from cxlab.views.datasets import queries
from tests.benchmarks.cdr.conftest import AREAS, CORPUS, QUERIES, RELEVANT
from tests.pages.app_script import open_page, words


@pytest.mark.parametrize("share", [False, None])
def test_texts_of_a_source_that_forbids_it_stay_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: bool | None
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    dataset, samples, tables = build(
        "Six talks",
        "imported",
        CORPUS,
        QUERIES,
        RELEVANT,
        AREAS,
        config={},
        licence="not to be shared",
        redistributable=share,
    )
    write.save_dataset(dataset, samples, tables=tables)
    (run,) = create_runs(RunRequest("cdr", ("retriever:bm25",), dataset_id=dataset.id))
    launch([run.id], ExecutionOptions(quiet=True, workers=1))
    names = [path.name for path in export_runs([run.id], "folder", tmp_path / "out")[0].rglob("*.parquet")]
    assert "samples.parquet" in names
    assert ("conversations.parquet" in names) == (share is None)
    told = CliRunner().invoke(app, ["export", run.id, "--format", "duckdb", "--to", str(tmp_path / "out.duckdb")])
    assert told.exit_code == 0
    assert ("left out: 6 conversations" in told.stderr) == (share is False)
    page = open_page("conversations", dataset=dataset.id, q="late parcel", tab="sets")
    assert not page.exception
    assert ("may not be passed on" in words(page)) == (share is False)
    files = open_page("datasets", dataset=dataset.id, tab="files")
    assert ("may not be passed on" in words(files)) == (share is False)
    if share is False:
        with pytest.raises(BadOption, match="may not be passed on"):
            queries.export(dataset.id, "conversations", "csv")
        again = read_stored(CdrImport.read({"dataset": dataset.id, "licence": "ours", "source": "wildchat"}))
        assert again.dataset.redistributable is False
    else:
        assert queries.export(dataset.id, "conversations", "csv")
