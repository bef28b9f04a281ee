"""What a writer on a difficult server makes of an organisation, a brand and a procedure, from the command line on."""

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from runner.shell import Shell, make_shell

from tests.benchmarks.crmarena.generation.crm_writer import Writer
from tests.benchmarks.cxmarena import strong_writer
from tests.benchmarks.estimates.counting_writer import CountingWriter, Reply
from tests.benchmarks.sage import scripted_model
from tests.benchmarks.servers.difficult_server import KEY, Difficulties

MAKERS: dict[str, tuple[Callable[[], Reply], tuple[str, ...]]] = {
    "crmarena": (Writer, ("--size", "tiny")),
    "cxmarena": (lambda: strong_writer.answer, ("--brand", "hearthwise", "--size", "tiny", "--noise", "none")),
}
SPOILT = (
    "null", "refusal", "cut_off", "plain_text", "content_filter", "filtered_prompt", "page", "huge",
    "rate_limited_until", "loop", "dropped", "thought_ate_the_limit",
)  # fmt: skip
"""What a writer is asked again for, or once more by the client itself."""
NONSENSE = (
    "I think the second one fits best.",
    "I will look into that right away.",
    "word word word word",
    "sorry, I can",
)
PROSE = """Library reminder
1. Ask for the card number.
2. If the book is late, take the fee and stop. If not, renew it and stop.
"""


class DifficultWriter(Difficulties, CountingWriter):
    """Any writer on a bad day."""


class Maker:
    """One kind of dataset, made by the writer in a store of its own."""

    def __init__(self, shell: Shell, server: DifficultWriter, benchmark: str, words: tuple[str, ...]) -> None:
        self.shell, self.server, self.words = shell, server, ("generate", benchmark, *words)
        shell.home.mkdir()
        (shell.home / "models.toml").write_text(server.settings())

    def make(self, code: int = 0) -> dict[str, Any]:
        """What is told as JSON, with the dataset's record as `config`."""
        said = self.shell.call(*self.words, "--model", "endpoint:writer", "--json", "--quiet")
        assert said.returncode == code, said.stderr
        assert KEY not in said.stdout + said.stderr
        told: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
        assert told["state"] == ("failed" if code else "done")
        if not code:
            told["config"] = json.loads((self.folder(told) / "dataset.json").read_text())["config"]
        return told

    def folder(self, told: dict[str, Any]) -> Path:
        return self.shell.home / "datasets" / told["dataset"]

    def texts(self, told: dict[str, Any]) -> str:
        frames = [pl.read_parquet(path) for path in sorted(self.folder(told).rglob("*.parquet"))]
        return json.dumps([frame.select(pl.col(pl.String)).to_dicts() for frame in frames], ensure_ascii=False)


Begin = Callable[[str], Maker]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    @contextmanager
    def serve(benchmark: str) -> Iterator[Maker]:
        answer, words = MAKERS[benchmark]
        with DifficultWriter(answer()) as server:
            yield Maker(make_shell(tmp_path / "home", monkeypatch), server, benchmark, words)

    opened = []

    def enter(benchmark: str) -> Maker:
        opened.append(serve(benchmark))
        return opened[-1].__enter__()

    yield enter
    for each in opened:
        each.__exit__(None, None, None)


@pytest.mark.parametrize("benchmark", MAKERS)
def test_what_is_spoilt_now_and_then_is_asked_again_and_never_stored(begin: Begin, benchmark: str) -> None:
    here = begin(benchmark)
    ways = itertools.cycle(SPOILT)
    here.server.begin(lambda role, number: next(ways) if number % 4 == 3 else None)
    told = here.make()
    assert len(here.server.met) >= 9
    left = told["config"].get("left_out", {})
    # A talk is many questions long: some are given up, which is told.
    assert left.pop("conversations", 0) <= 5
    assert set(left.values()) <= {0}
    stored = here.texts(told)
    assert [each for each in NONSENSE if each in stored] == []
    spent = told["spending"]
    # Half an answer and one that was dropped were written as well; nobody told what they took.
    assert here.server.calls["writer"] - spent["retries"] <= spent["calls"] <= here.server.calls["writer"] + len(SPOILT)


@pytest.mark.parametrize("benchmark", MAKERS)
def test_a_key_that_is_revoked_in_mid_way_costs_nothing_that_was_made(begin: Begin, benchmark: str) -> None:
    here = begin(benchmark)
    here.server.begin(lambda role, number: "key_revoked" if number > 25 else None, again=True)
    stopped = here.make(2)
    assert "key refused: HTTP 401" in stopped["reason"]
    assert "run the same command again to go on" in stopped["reason"]
    assert stopped["spending"]["calls"] == here.server.calls["writer"] >= 25
    here.server.begin()
    told = here.make()
    assert told["spending"]["calls"] == here.server.calls["writer"], "both tries, each call once"
    assert set(told["config"].get("left_out", {}).values()) <= {0}


@pytest.mark.parametrize("benchmark", MAKERS)
def test_bursts_of_refusals_are_waited_out(begin: Begin, benchmark: str) -> None:
    here = begin(benchmark)
    here.server.begin(lambda role, number: "rate_limited_until" if number % 20 > 12 else None)
    told = here.make()
    assert here.server.met["writer", "rate_limited_until"] >= 10
    assert told["spending"]["retries"] >= 10
    assert told["spending"]["calls"] == here.server.calls["writer"]
    assert told["spending"]["cost_usd"] > 0


@pytest.mark.parametrize("way", ["refusal", "cut_off", "filtered_prompt"])
def test_one_text_of_a_brand_that_is_never_written_is_left_out_and_counted(begin: Begin, way: str) -> None:
    here = begin("cxmarena")
    begun: dict[str, str | None] = {}

    def hold_back(mark: str) -> Callable[[str, int], str | None]:
        """The first text whose prompt holds the mark, however often it is asked for."""
        begun.clear()

        def plan(role: str, number: int) -> str | None:
            asked = json.dumps(here.server.bodies[role][-1]["messages"])
            if mark not in asked:
                return None
            title = asked.partition("Title: ")[2].partition("\\n")[0] or asked[-200:]
            return way if begun.setdefault("first", title) == title else None

        return plan

    left = {}
    for what, mark in (("articles", "Facts that have to be stated"), ("copies", "You write a text again")):
        here.server.begin(hold_back(mark), again=True)
        left[what] = here.make()["config"]["left_out"]
        assert sum(here.server.met.values()) == 3, "asked for three times"
        shutil.rmtree(here.shell.home / "datasets")
        shutil.rmtree(here.shell.home / "cache", ignore_errors=True)
    assert {what: counts[what] for what, counts in left.items()} == {"articles": 1, "copies": 1}


def test_names_that_are_never_written_end_it_with_the_reason(begin: Begin) -> None:
    here = begin("crmarena")
    here.server.begin(
        lambda role, number: "refusal" if "Invent 4" in json.dumps(here.server.bodies[role][-1]) else None, again=True
    )
    stopped = here.make(2)
    assert "did not write 4 new names in 3 tries: the model declined" in stopped["reason"]
    assert stopped["dataset"] is None


def test_a_procedure_is_asked_for_again_before_it_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = make_shell(tmp_path / "home", monkeypatch)
    shell.home.mkdir()
    source = tmp_path / "library.txt"
    source.write_text(PROSE)

    def write(body: dict[str, Any]) -> str:
        system, user = (body["messages"][0]["content"], body["messages"][-1]["content"])
        return scripted_model.convert(system, user)

    with DifficultWriter(write) as server:
        (shell.home / "models.toml").write_text(server.settings())
        words = ("convert", str(source), "--model", "endpoint:writer")
        for way in ("null", "cut_off", "plain_text", "filtered_prompt"):
            ways = iter((way,))
            # The same words are sent again: what is spoilt is the first reply, not the question.
            server._choose = lambda role, messages, ways=ways: next(ways, None)  # type: ignore[method-assign]
            said = shell.call(*words)
            assert said.returncode == 0, said.stderr
            assert "stages:" in said.stdout
        server._choose = lambda role, messages: "refusal"  # type: ignore[method-assign]
        said = shell.call(*words)
        assert (said.returncode, said.stdout) == (2, "")
        assert "gave no file: the model declined" in said.stderr
