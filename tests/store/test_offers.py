"""What a run's model was offered is kept once a run, and what is written as training data has just that."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.contract import Scored
from cxlab.cli import app
from cxlab.records import Attempt, Message
from cxlab.records.conversation import ToolCall
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import load, offers, write
from cxlab.store.exports.archive import read_archive, take_in
from cxlab.store.exports.chat_export import ChatFilter, export_chat
from cxlab.store.exports.export import export_runs
from cxlab.store.offers import OfferLog, load_offers

from .store_records import make_dataset, make_run, make_samples

TOOL = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object"}},
}
OTHER = {"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}


def ask(log: OfferLog, system: str, *tools: dict[str, object], chat: bool = True) -> set[str | None]:
    with log.collect() as found:
        log.note([{"role": "system", "content": system}, {"role": "user", "content": "Hi"}], list(tools), chat)
    return found


def test_each_offer_is_kept_once_and_calls_at_once_are_told_apart(tmp_path: Path) -> None:
    log = OfferLog(tmp_path)

    async def attempt(system: str) -> set[str | None]:
        with log.collect() as found:
            await asyncio.gather(*(asyncio.to_thread(log.note, [{"role": "system", "content": system}], [TOOL], True)
                                   for _ in range(3)))  # fmt: skip
            await asyncio.sleep(0)
        return found

    async def both() -> list[set[str | None]]:
        return await asyncio.gather(attempt("one"), attempt("two"), attempt("one"))

    one, two, again = asyncio.run(both())
    assert one == again != two
    assert len(one) == len(two) == 1
    assert len(list((tmp_path / "offers").iterdir())) == 2
    assert ask(OfferLog(tmp_path), "one", TOOL) == one  # a resumed run finds it there


def test_a_call_with_neither_prompt_nor_tools_offers_nothing(tmp_path: Path) -> None:
    log = OfferLog(tmp_path)
    with log.collect() as found:
        log.note([{"role": "user", "content": "Hi"}], None, True)
        log.note([], None, True)
    assert found == set()
    assert not (tmp_path / "offers").exists()


def test_of_texts_that_are_always_new_only_some_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "MOST", 2)
    log = OfferLog(tmp_path)
    assert [len(ask(log, f"sample {n}") - {None}) for n in range(4)] == [1, 1, 0, 0]
    assert ask(log, "sample 9") == {None}


def store_run(home: Path, *asked: tuple[str, bool]) -> None:
    """One run, an attempt each of (system prompt, chat); the last has no offer."""
    samples = {sample.id: sample for sample in make_samples("d1")}
    run = make_run("r1")
    write.create_run(run, home)
    log = OfferLog(home / "runs" / "r1")
    said = (
        Message(role="customer", text="Where is it?", turn=1),
        Message(role="agent", text="", turn=1, tool_calls=(ToolCall(id="c", name="look_up", arguments='{"id": 1}'),)),
        Message(role="tool", text="lost", turn=1, data={"call": "c"}),
        Message(role="agent", text="Lost.", turn=1),
    )
    with write.PartWriter(run, samples, home=home) as writer:
        for place, given in enumerate([*asked, None]):
            ids = ask(log, given[0], TOOL, OTHER, chat=given[1]) if given else set()
            attempt = Attempt(
                id=f"a{place}", run_id="r1", sample_id=next(iter(samples)), trial=place, messages=said,
                started=run.created, offers=tuple(id for id in ids if id),
            )  # fmt: skip
            writer.add(attempt, Scored())


def test_training_data_has_the_tools_that_were_offered(tmp_path: Path) -> None:
    write.save_dataset(make_dataset(), make_samples(), tmp_path / "home")
    store_run(tmp_path / "home", ("Be kind.", True), ("Answer as JSON.", False))
    paths, told = export_chat(ChatFilter(own_data=True), tmp_path / "out", tmp_path / "home")
    chat, only_tools, older = (json.loads(line) for line in paths[0].read_text().splitlines())
    assert chat["tools"] == only_tools["tools"] == [TOOL, OTHER]
    assert chat["messages"][0] == {"role": "system", "content": "Be kind."}
    # A prompt that asks for a form is none for replies in plain words.
    assert only_tools["messages"] == older["messages"] == chat["messages"][1:]
    assert [tool["function"]["name"] for tool in older["tools"]] == ["look_up"]
    assert [json.loads(line)["tools"] for line in paths[1].read_text().splitlines()] == ["offered", "offered", "called"]
    assert told.guessed == 1
    assert any("1 with tools as they were called" in line for line in told.describe())


def test_offers_come_along_in_an_archive_and_a_damaged_one_is_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write.save_dataset(make_dataset(), make_samples(), home)
    store_run(home, ("Be kind.", True))
    export_runs(["r1"], "folder", tmp_path / "out", home)
    take_in(read_archive(tmp_path / "out"), tmp_path / "other")
    assert load_offers("r1", tmp_path / "other") == load_offers("r1", home) != {}
    (attempt, _), *_ = load.load_attempts("r1", tmp_path / "other")
    assert set(attempt.offers) == load_offers("r1", home).keys()
    (home / "runs" / "r1" / "offers" / "broken.json").write_text("{")
    assert load_offers("r1", home) == load_offers("r1", tmp_path / "other")


def test_a_run_keeps_what_its_model_was_given_and_the_command_line_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    request = RunRequest("mmtaup2", ("simulated:strong",), customer="simulated:customer", choice=SampleFilter(limit=1))
    (run,) = create_runs(request)
    launch([run.id], ExecutionOptions(quiet=True, workers=1))
    kept = load_offers(run.id)
    (attempt, _) = next(iter(load.load_attempts(run.id)))
    (id,) = attempt.offers
    assert kept[id].system
    assert kept[id].chat
    called = {call.name for message in attempt.messages if message.role == "agent" for call in message.tool_calls}
    assert called
    assert called <= set(kept[id].tool_names)
    told = CliRunner().invoke(app, ["runs", "show", run.id])
    assert f"system prompt {id}" in told.stdout
    assert kept[id].tool_names[0] in told.stdout
    (shown,) = json.loads(CliRunner().invoke(app, ["runs", "show", run.id, "--json"]).stdout)
    assert shown["offers"] == [{"id": key, **offer.model_dump(mode="json")} for key, offer in kept.items()]
