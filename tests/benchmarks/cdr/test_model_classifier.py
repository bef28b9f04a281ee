"""A chat model in the place of reranker or classifier, asked over HTTP by the real client: what is measured is what it
knows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.llm.base import Completion, Request
from cxlab.records import content_id
from tests.benchmarks.strong_server import StrongServer
from tests.data.real_conversations import Material, load_by_hand
from tests.data.relevance_classifier import measure_model

QUERIES = 12


@pytest.fixture(scope="module")
def material() -> Material:
    whole = load_by_hand()
    some = dict(list(whole.queries.items())[::5][:QUERIES])
    return whole._replace(queries=some)


class Reads:
    """Knows which pairs fit, and is mistaken of one pair in `wrong` (0: of none): of which hangs on their texts, so
    that it does not matter in which order they come."""

    simulated = False
    name = "endpoint:agent"

    def __init__(self, material: Material, wrong: int) -> None:
        self.material, self.wrong = material, wrong
        self.queries = {text: query for query, text in material.queries.items()}
        self.texts = {UnitText().write(talk.messages): name for name, talk in material.corpus.items()}

    async def complete(self, request: Request) -> Completion:
        assert request.prompt.name == "cdr-rate"
        inputs = request.inputs
        fits = self.texts[inputs.conversation] in self.material.relevant[self.queries[inputs.query]]
        if self.wrong and int(content_id(inputs.query, inputs.conversation), 16) % self.wrong == 0:
            fits = not fits
        return Completion(json.dumps({"reason": "read", "chance": 96 if fits else 3}))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrongServer]:
    home = tmp_path_factory.mktemp("rated")
    with pytest.MonkeyPatch.context() as patch, StrongServer() as running:
        patch.setenv("CXLAB_HOME", str(home))
        Path(home, "models.toml").write_text(running.settings())
        yield running


@pytest.mark.parametrize("wrong", [0, 10])
def test_what_a_server_knows_is_what_is_measured(server: StrongServer, material: Material, wrong: int) -> None:
    server._models["agent"] = Reads(material, wrong)
    found = measure_model(material, llm.load("endpoint:agent"))
    assert found is not None
    assert (found.by, found.against, found.queries) == ("endpoint:agent", "people", QUERIES)
    assert found.pairs == server.calls["agent"]
    server.calls.clear()
    if not wrong:
        assert (found.average_precision, found.accuracy) == (1, 1)
        assert (found.paired_precision, found.paired_accuracy) == (1, 1)
        return
    # One in ten the wrong way round: so is the accuracy, and of all pairs most that it holds for relevant are not.
    assert found.accuracy == pytest.approx(0.9, abs=0.05)
    assert found.paired_accuracy == pytest.approx(0.9, abs=0.08)
    assert found.paired_precision is not None
    assert found.base < found.average_precision < found.paired_precision < 0.95


def test_a_stand_in_is_measured_the_same_way_and_is_weak(material: Material) -> None:
    found = measure_model(material, llm.load("simulated:strong"))
    assert found is not None
    assert found.average_precision < 0.3
