"""Forms in which real writers put what was asked for: each makes the same dataset as plain JSON."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks.cxmarena.generation import dataset_config, pipeline
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.budget import GenerationBudget
from tests.benchmarks.cxmarena import strong_writer
from tests.benchmarks.test_reply_forms import FORMS
from tests.llm.fault_server import FaultServer

TABLES = ("articles", "facts", "conversations")


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def make(server: FaultServer, home: Path, monkeypatch: pytest.MonkeyPatch, form: Callable[[Any], str]) -> list[Any]:
    """The texts of a tiny dataset whose writer puts its replies in a form, and how many calls they took."""

    def reply(body: dict[str, Any]) -> str:
        text = strong_writer.answer(body)
        return form(json.loads(text)) if text.startswith("{") else text

    scene = server.scene(reply=reply)
    monkeypatch.setenv("CXLAB_HOME", str(home))
    home.mkdir()
    (home / "models.toml").write_text(f'[endpoints.writer]\nbase_url = "{scene.url}"\nmodel = "writer"\n')
    given = {"brand": "hearthwise", "size": "tiny", "model": "endpoint:writer", "noise": "none"}
    config = dataset_config.read_config(given, 1)
    built = stages.finish(pipeline.build(config, home / "made", 1, GenerationBudget()))
    found = [pl.read_parquet(built.folder / f"{name}.parquet") for name in TABLES]
    return [scene.calls, built.dataset.config["left_out"], *(frame.rows() for frame in found)]


def test_every_form_of_a_writers_reply_makes_the_same_dataset(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = make(server, tmp_path / "plain", monkeypatch, json.dumps)
    assert plain[1] == {"articles": 0, "conversations": 0, "copies": 0, "intent names": 0}
    for place, (name, form) in enumerate(FORMS.items()):
        assert make(server, tmp_path / str(place), monkeypatch, form) == plain, name
