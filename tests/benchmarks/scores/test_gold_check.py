"""The gold of a stored dataset: checked once, remembered, and told."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from runner.shell import make_shell

from cxlab.benchmarks.contract import Uncheckable
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.scores import gold_check
from cxlab.errors import BadOption
from cxlab.records import Sample
from cxlab.store import write


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    made, samples = BENCHMARK.generate_now({"scenarios": "telecom_package", "levels": "zero"})
    write.save_dataset(made, samples)
    return made.id


def test_it_is_checked_once_and_remembered(dataset: str) -> None:
    seen: list[str] = []

    def check(sample: Sample) -> Iterable[str]:
        seen.append(sample.id)
        return [f"{sample.id}: no gold"] if len(seen) == 2 else []

    benchmark = replace(BENCHMARK, check=check)
    first = gold_check.check_dataset(dataset, benchmark=benchmark)
    assert (first.samples, first.complaints) == (len(seen), 1)
    assert first.describe() == [f"gold fails: {seen[1]}: no gold"]
    assert gold_check.check_dataset(dataset, benchmark=benchmark) == first
    assert len(seen) == first.samples
    assert gold_check.check_dataset(dataset, again=True).complaints == 0


def test_gold_that_cannot_be_checked_is_said_and_is_no_complaint(dataset: str) -> None:
    def check(sample: Sample) -> Iterable[str]:
        if sample.facets["leaf"] == "L1":
            raise BadOption("it lacks a field")
        raise Uncheckable("we have no such world")

    found = gold_check.check_samples(replace(BENCHMARK, check=check), write.load_samples(dataset))
    one = sum(sample.facets["leaf"] == "L1" for sample in write.load_samples(dataset))
    assert found.complaints == one
    assert found.unchecked == {"we have no such world": found.samples - one} if found.samples > one else {}
    assert any("gold not checked" in line for line in found.describe())


def test_what_a_sample_names_is_looked_up_where_the_dataset_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`generate --home ELSEWHERE` said "unknown dataset" of every sample whose articles are looked up."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "usual"))
    other = tmp_path / "other"
    made, samples = BENCHMARK.generate_now({"scenarios": "telecom_package", "levels": "zero"})
    write.save_dataset(made, samples, other)

    def check(sample: Sample) -> Iterable[str]:
        write.load_dataset(sample.dataset_id)
        return ()

    assert gold_check.check_dataset(made.id, other, benchmark=replace(BENCHMARK, check=check)).complaints == 0
    assert write.layout.home() == (tmp_path / "usual").resolve()


def test_a_dataset_without_gold_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = make_shell(tmp_path / "home", monkeypatch)
    talks = tmp_path / "talks.csv"
    talks.write_text("conversation_id,role,text\n1,customer,Hello\n1,agent,Good day\n", encoding="utf-8")
    said = shell.call("import", "transcripts", str(talks), "--licence", "ours")
    assert said.returncode == 0, said.stderr
    assert "1 conversation; 0 complaints" in said.stdout
    assert "Licence: ours" in said.stdout
    assert "it holds no gold" in said.stderr
    dataset = said.stdout.split(":")[0]
    assert "it holds no gold" in shell.call("check", dataset).stdout


def test_a_damaged_note_is_made_anew(dataset: str) -> None:
    good = gold_check.check_dataset(dataset)
    path = write.layout.dataset_folder(write.layout.home(), dataset) / gold_check.FILE
    for text in ("", "{", "[]", '{"samples": 3}'):
        path.write_text(text, encoding="utf-8")
        assert gold_check.load(dataset) is None
        assert gold_check.check_dataset(dataset) == good
