"""What is told before a dataset is made by real models is what they are then asked and bill, within a factor of 1.5."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from runner.shell import Shell, make_shell

from tests.benchmarks.crmarena.generation.bank_writer import BRIEF
from tests.benchmarks.crmarena.generation.crm_writer import Writer
from tests.benchmarks.estimates.counting_writer import JUDGES, CountingWriter, Reply, find_conversations

FACTOR = 1.5
PANEL = ("--judges", ",".join(f"endpoint:{judge}" for judge in JUDGES))
CHAT = ("--reranker", "endpoint:writer", "--classifier", "endpoint:writer")
# Benchmark, who answers, whether it is about a dataset that is there, the words of the command.
MADE: dict[str, tuple[str, Callable[[], Reply], bool, tuple[str, ...]]] = {
    "conversations": ("cdr", lambda: find_conversations, False, ("--size", "100")),
    "labels": ("cdr", lambda: find_conversations, True, ("--queries", "8", *PANEL)),
    "labels by chat": ("cdr", lambda: find_conversations, True, ("--queries", "5", *PANEL, *CHAT)),
    # The writer slips now and then, as real ones do, and is asked again.
    "organisation": ("crmarena", Writer, False, ("--size", "tiny")),
    "company": ("crmarena", Writer, False, ("--size", "tiny", "--brief", BRIEF)),
}


@pytest.mark.parametrize("name", MADE)
def test_what_making_a_dataset_takes_is_told_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generated: Callable[[str, Path], str]
) -> None:
    benchmark, answer, has_reference, settings = MADE[name]
    shell: Shell = make_shell(tmp_path / "home", monkeypatch)
    reference = ("--reference", generated(benchmark, shell.home)) if has_reference else ()
    shell.home.mkdir(exist_ok=True)
    with CountingWriter(answer()) as server:
        (shell.home / "models.toml").write_text(server.settings())
        words = ("generate", benchmark, *reference, *settings, "--model", "endpoint:writer")
        said = shell.call(*words, "--json")
    assert said.returncode == 0, said.stderr
    told = re.search(r"about ([\d,]+) calls, ([\d,]+) tokens in, ([\d,]+) out, \$([\d.]+)", said.stderr)
    assert told, said.stderr
    calls, prompt, completion = (int(each.replace(",", "")) for each in told.groups()[:3])
    counted = [sum(counter.values()) for counter in (server.calls, server.prompt, server.completion)]
    for expected, found in zip((calls, prompt, completion), counted, strict=True):
        assert found / FACTOR <= expected <= found * FACTOR, (name, told[0], counted)
    # A dollar per million tokens; what is told is rounded to cents.
    assert float(told[4]) == pytest.approx((prompt + completion) / 1e6, abs=0.005)
    stored = json.loads(said.stdout.splitlines()[-1])["dataset"]
    config = json.loads((shell.home / "datasets" / stored / "dataset.json").read_text())["config"]
    assert config["spending"]["calls"] == counted[0]
    assert config["spending"]["cost_usd"] == pytest.approx((counted[1] + counted[2]) / 1e6)


def test_a_panel_of_real_judges_is_told_though_the_writer_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generated: Callable[[str, Path], str]
) -> None:
    shell = make_shell(tmp_path / "home", monkeypatch)
    reference = generated("cdr", shell.home)
    with CountingWriter(find_conversations) as server:
        (shell.home / "models.toml").write_text(server.settings())
        said = shell.call("generate", "cdr", "--reference", reference, "--queries", "5", *PANEL, "--plan")
    assert said.returncode == 0, said.stderr
    assert all(f"endpoint:{judge}" in said.stdout for judge in JUDGES)
    assert "simulated:" not in said.stdout
    assert not server.calls
    shutil.rmtree(shell.home)
