"""Domains of conversations: by labels, or read by a model; shares with their intervals beside the paper's."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from cxlab import cli, llm
from cxlab.benchmarks.cdr.benchmark import BENCHMARK
from cxlab.benchmarks.cdr.corpus import load_written
from cxlab.benchmarks.cdr.corpus.dataset import build, load_corpus
from cxlab.benchmarks.cdr.corpus.domains import COVERS, count_domains, write_inputs
from cxlab.benchmarks.cdr.corpus.written import DOMAINS
from cxlab.benchmarks.cdr.prompts.domains import DOMAIN, OTHER, DomainReply
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.llm import ask
from cxlab.metrics.intervals import proportion_interval
from cxlab.records import Conversation, Dataset
from cxlab.store import write

WRITTEN = load_written().conversations


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """Every fourth of the conversations written by hand, without their labels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("domains")))
        some = {id: Conversation(id=id, messages=talk.messages) for id, talk in list(WRITTEN.items())[::4]}
        dataset, samples, tables = build("Bare", "imported", some, {}, {}, {}, config={}, licence="own work")
        write.save_dataset(dataset, samples, tables=tables)
        yield dataset


def test_labels_count_and_say_so() -> None:
    found = count_domains("none", WRITTEN)
    assert found is not None
    assert found.by == "labels"
    assert sum(found.counts.values()) == len(WRITTEN)
    assert set(found.counts) == set(DOMAINS) == set(COVERS)


def test_a_model_reads_them_and_the_shares_stand_beside_the_papers(bare: Dataset) -> None:
    runner = CliRunner()
    sent = runner.invoke(cli.app, ["send", bare.id, "domain", "--json", "--quiet"])
    made = json.loads(sent.stdout)["dataset"]
    refused = runner.invoke(cli.app, ["run", "cdr", "--dataset", made, "--model", "retriever:bm25", "--quiet"])
    assert refused.exit_code != 0
    run = ["run", "cdr", "--dataset", made, "--model", "simulated:strong", "--quiet"]
    assert runner.invoke(cli.app, run, catch_exceptions=False).exit_code == 0
    found = count_domains(bare.id, load_corpus(bare.id))
    assert found is not None
    assert found.by == "simulated:strong (simulated)"
    total = sum(found.counts.values())
    assert total + found.others + found.unread == 25
    _, domains = BENCHMARK.dataset_figures(bare)
    first = domains.frame.row(0, named=True)
    best = max(found.counts.values())
    assert (first["share"], first["low"], first["high"]) == pytest.approx(proportion_interval(best, total)[:3])
    assert dict(domains.published) == {"People and Society": 0.17, "Business and Industrial": pytest.approx(0.1579)}
    assert "as simulated:strong (simulated) reads them" in domains.meaning
    lines = BENCHMARK.describe(bare)
    assert any(line.startswith("People and Society, %") and line.endswith("17.00") for line in lines)
    # Samples about conversations that lie elsewhere have no corpus of their own.
    assert BENCHMARK.dataset_figures(write.load_dataset(made)) == []


def test_the_stand_in_is_better_than_chance_and_no_judge() -> None:
    model, text = llm.load("simulated:strong"), UnitText()

    async def read_all() -> list[bool]:
        right = []
        for talk in WRITTEN.values():
            reply = await ask(model, DOMAIN, write_inputs(text.write(talk.messages)), seed=1)
            right.append(reply.output is not None and reply.output.domain == DOMAINS[str(talk.labels["domain"])])
        return right

    right = sum(asyncio.run(read_all()))
    # 12 domains: chance is 8 of 100. The README says what was measured.
    assert 55 <= right <= 85


def test_a_domain_that_is_none_is_asked_for_again() -> None:
    inputs = write_inputs("user: hello")
    assert inputs.validate_output(DomainReply(domain="Sports"))
    assert not inputs.validate_output(DomainReply(domain="science"))
    assert not inputs.validate_output(DomainReply(domain=OTHER))
