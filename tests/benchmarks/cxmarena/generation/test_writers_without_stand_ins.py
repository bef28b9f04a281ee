"""A brand from a paragraph in each language by a writer over HTTP, with the rooms of stand-ins deleted.

One writer is strong. Another is of the kind that most are: it wraps its JSON in prose, loses digits, breaks off,
refuses and answers in the wrong language. What it spoils is asked again, then dropped and counted, and never stored.
"""

import itertools
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brief_plan, pack_from_brief
from cxlab.benchmarks.cxmarena.text import foreign
from tests.benchmarks.cxmarena import strong_writer
from tests.benchmarks.test_without_stand_ins import call
from tests.llm.fault_server import FaultServer

Body = dict[str, Any]
BRIEFS = {
    "en": (
        "Tidehire rents kayaks and tents on the Welsh coast. A day costs £38, a deposit of £60 is returned within 3 "
        "days."
    ),
    "de": "Die Bäckerei Sonnenhof bäckt Brote und Kuchen. Geliefert wird in 2 Tagen, kostenlos ab 25 €.",
    "fr": "L’École Lumière propose des cours d’espagnol et des ateliers. Une leçon dure 90 minutes.",
}
WRONG = {
    "en": "Das ist der Text, den ich für Sie und mit Ihnen zu dem Thema aus den Angaben schreibe, die Sie mir gaben.",
    "de": "This is the text that I wrote for you and with you on the subject of which you have told me in your notes.",
    "fr": "This is the text that I wrote for you and with you on the subject of which you have told me in your notes.",
}


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def strong(brief: str, language: str, folder: Path) -> Callable[[Body], str]:
    """The strong writer, which also reads the paragraph and writes the pack."""
    model = llm.load("simulated:strong")
    plan = brief_plan.read(brief, model).model_copy(update={"certainty": 1.0, "asks": [], "language": language})
    plan = plan.model_copy(update={"trade": plan.trade or "food", "products": plan.products})
    pack = pack_from_brief.write(brief, plan, model, folder).read_text(encoding="utf-8")

    def answer(body: Body) -> str:
        system = body["messages"][0]["content"]
        if "You read a paragraph" in system:
            return plan.model_dump_json()
        if "You turn a brief into a brand pack" in system:
            return f"```yaml\n{pack}\n```"
        return strong_writer.answer(body)

    return answer


def mediocre(answer: Callable[[Body], str], language: str, spoilt: Counter[str]) -> Callable[[Body], str]:
    """The same writer on a bad day: every third reply is spoilt, in one way after the other."""
    number = itertools.count()
    ways = itertools.cycle(("prose", "digits", "cut", "refuses", "language"))

    def reply(body: Body) -> str:
        text = answer(body)
        system = body["messages"][0]["content"]
        if next(number) % 3 or "brand pack" in system or "You read a paragraph" in system:
            return text
        way = next(ways)
        spoilt[way] += 1
        if way == "prose":
            return f"Of course! Here is what you asked for:\n\n{text}\n\nLet me know if it should be changed."
        if way == "digits":
            return re.sub(r"\d(?=\d)", "", text)
        if way == "cut":
            return text[: len(text) // 2]
        if way == "refuses":
            return "I am sorry, but I cannot help with that."
        if not text.startswith("{"):
            return WRONG[language]
        found = json.loads(text)
        return json.dumps({**found, "message": WRONG[language]} if "message" in found else found)

    return reply


def generate(
    server: FaultServer, home: Path, language: str, reply: Callable[[Body], str]
) -> tuple[subprocess.CompletedProcess[str], Any]:
    scene = server.scene(reply=reply)
    home.mkdir()
    (home / "models.toml").write_text(
        f'[endpoints.writer]\nbase_url = "{scene.url}"\nkey_required = false\nmodel = "writer"\n'
        "prompt_usd = 1.0\ncompletion_usd = 1.0\n"
    )
    said = call(
        home, "generate", "cxmarena", "--brief", BRIEFS[language], "--model", "endpoint:writer", "--size", "tiny",
        "--noise", "none", "--quiet", "--json",
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    return said, scene


def tables(home: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    (folder,) = (home / "datasets").iterdir()
    frames = [pl.read_parquet(folder / f"{name}.parquet") for name in ("articles", "facts", "conversations")]
    return frames[0], frames[1], frames[2], json.loads((folder / "dataset.json").read_text(encoding="utf-8"))


def hold(home: Path, language: str) -> dict[str, Any]:
    """What must be true of any dataset that a real writer made, whatever it spoilt: its left-out counts."""
    articles, facts, conversations, dataset = tables(home)
    shown = dict(facts.select("fact_id", "shown").iter_rows())
    clean = articles.filter(pl.col("corpus").list.contains("multi_turn"))
    for claimed, body in clean.select("facts", "clean").iter_rows():
        assert not foreign(body, language), body[:200]
        assert "cannot help" not in body
        for fact in claimed:
            assert shown[fact].lower() in " ".join(body.lower().split()), (fact, shown[fact], body)
    for (messages,) in conversations.select("messages").iter_rows():
        for message in json.loads(messages):
            assert message["role"] == "tool" or not foreign(message["text"], language), message["text"]
    assert clean.height
    assert conversations.height
    left: dict[str, Any] = dataset["config"]["left_out"]
    return left


@pytest.mark.parametrize("language", BRIEFS)
def test_a_strong_writer_makes_a_brand_in_each_language(server: FaultServer, tmp_path: Path, language: str) -> None:
    answer = strong(BRIEFS[language], language, tmp_path / "pack")
    _, scene = generate(server, tmp_path / "home", language, answer)
    assert hold(tmp_path / "home", language) == {"articles": 0, "conversations": 0, "copies": 0, "intent names": 0}
    spending = tables(tmp_path / "home")[3]["config"]["spending"]
    assert spending["calls"] == scene.calls
    assert spending["cost_usd"] == pytest.approx(scene.calls * 120 / 1e6), "each call is told in money"


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_a_mediocre_writer_spoils_is_dropped_and_counted(
    server: FaultServer, tmp_path: Path, language: str
) -> None:
    spoilt: Counter[str] = Counter()
    answer = mediocre(strong(BRIEFS[language], language, tmp_path / "pack"), language, spoilt)
    _, scene = generate(server, tmp_path / "home", language, answer)
    left = hold(tmp_path / "home", language)
    assert min(spoilt[way] for way in ("prose", "digits", "cut", "refuses", "language")) >= 2
    config = tables(tmp_path / "home")[3]["config"]
    assert config["spending"]["calls"] == scene.calls
    assert sum(left.values()) < 10
