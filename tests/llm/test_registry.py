import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cxlab.benchmarks import list_models
from cxlab.errors import BadFile, BadOption, NotConfigured, UnknownName
from cxlab.llm import ask, complaints, cost, known, load, prices
from cxlab.llm.openai_model import OpenAIModel
from cxlab.llm.probe import probe
from cxlab.llm.registry import settings, user_file
from cxlab.records import Usage

from .fault_server import FaultServer
from .intents import INTENT, Inputs, model_at


def write_user_file(text: str) -> Path:
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    # Tests write faster than a coarse clock ticks: the file must look changed.
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1 + len(text)))
    return path


def test_every_shipped_row_is_complete() -> None:
    rows = {row.name: row for row in list_models()}
    assert rows["simulated:strong"].configured
    assert rows["simulated:strong"].simulated
    for row in rows.values():
        assert row.description, row.name
        assert row.configured == (row.needs == ""), row.name
        assert row.simulated == row.name.startswith("simulated:"), row.name
        if row.prices is not None and not row.simulated:
            assert row.prices.as_of, row.name
            assert row.prices.source, row.name
    assert rows["openai:gpt-4.1"].needs == "set OPENAI_API_KEY in the environment"
    # What means nothing in a benchmark is not offered there.
    apart = {name: rows.keys() - {row.name for row in known(name)} for name in ("sage", "mmtaup2")}
    own = {"simulated:floor-transfer", "simulated:floor-nothing"}
    assert apart["sage"] == apart["mmtaup2"] | own
    assert not apart["mmtaup2"] & own
    assert rows["endpoint:local"].configured
    assert "pip install langchain-anthropic" in rows["anthropic:claude-sonnet-5"].needs


def test_known_tells_when_a_key_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-value")
    row = next(row for row in known() if row.name == "openai:gpt-4.1")
    assert row.configured
    assert "sk-test-value" not in repr(row)
    assert isinstance(load("openai:gpt-4.1"), OpenAIModel)
    assert load("openai:some-newer-one").name == "openai:some-newer-one"


def test_costs() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=1_000_000, calls=1)
    assert cost("openai:gpt-4.1", usage) == 10.0
    assert cost("simulated:weak", Usage(calls=1)) == 0.0
    assert cost("openai:some-newer-one", usage) is None
    assert cost("openai:gpt-4.1", Usage(calls=1)) is None
    assert prices("endpoint:openrouter/x/y") is None


@pytest.mark.parametrize("name", ["strong", "", ":", "nobody:x", "simulated:", "endpoint:nowhere"])
def test_unknown_names_list_the_known(name: str) -> None:
    with pytest.raises(UnknownName, match="known: "):
        load(name)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("openai:gpt-4.1", "OPENAI_API_KEY"),
        ("endpoint:openrouter/a/b", "OPENROUTER_API_KEY"),
        ("endpoint:env", "CXLAB_ENDPOINT_URL"),
        ("anthropic:claude-sonnet-5", "pip install langchain-anthropic and set ANTHROPIC_API_KEY"),
        ("ollama:llama3", "pip install langchain-ollama"),
    ],
)
def test_what_is_missing_is_named(name: str, fix: str) -> None:
    with pytest.raises(NotConfigured, match=fix):
        load(name)


def test_the_user_file_is_laid_over_the_shipped_one(server: FaultServer) -> None:
    scene = server.scene()
    write_user_file(
        f"""
        [endpoints.mine]
        base_url = "{scene.url}"
        model = "own"
        attempts = 1
        prompt_usd = 10.0
        completion_usd = 0.0
        extra_body = {{ top_k = 5 }}
        [models."openai:gpt-4.1"]
        prompt_usd = 99.0
        """
    )
    noted = prices("openai:gpt-4.1")
    assert noted is not None
    assert (noted.prompt_usd, noted.completion_usd) == (99.0, 8.0)

    async def both() -> list[float | None]:
        costs = []
        for name in ("endpoint:mine", "endpoint:mine/other/model"):
            model = load(name)
            assert model.name == name
            costs.append((await ask(model, INTENT, Inputs(message="a"))).cost_usd)
            await model.aclose()
        return costs

    assert asyncio.run(both()) == [0.001, 0.001]
    assert [body["model"] for body in scene.bodies] == ["own", "other/model"]
    assert scene.bodies[0]["top_k"] == 5


def test_an_endpoint_by_environment_alone(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = server.scene()
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", scene.url)
    monkeypatch.setenv("CXLAB_ENDPOINT_KEY", "quick-key")
    monkeypatch.setenv("CXLAB_ENDPOINT_MODEL", "chosen")

    async def once() -> None:
        model = load("endpoint:env")
        assert (await ask(model, INTENT, Inputs(message="a"))).output is not None
        await model.aclose()

    asyncio.run(once())
    assert scene.bodies[0]["model"] == "chosen"
    assert scene.headers[0]["authorization"] == "Bearer quick-key"
    assert "endpoint:env" in {row.name for row in known()}
    assert "quick-key" not in repr(settings())


@pytest.mark.parametrize(
    ("text", "error", "names"),
    [
        ("[endpoints.x", BadFile, r"models\.toml"),
        ("[servers.x]\na = 1", BadFile, "servers"),
        ("[endpoints]\nx = 1", BadFile, r"endpoints\.x"),
        ('[endpoints.x]\nbase_url = "http://a/v1"\napi_key = "sk-123"', BadFile, "key_variable"),
        ('[endpoints.x]\nbase_url = "a/v1"', BadFile, r"models\.toml:2: base_url = 'a/v1'"),
        ("[endpoints.x]\nmodel = 'm'", BadOption, "base_url None"),
        ('[endpoints.x]\nbase_url = "http://a/v1"\nretries = 3', BadFile, r"models\.toml:3: unknown key 'retries'"),
        ('[endpoints.x]\nbase_url = "http://a/v1"\nattempts = 0', BadFile, r"models\.toml:3: attempts = 0"),
    ],
)
def test_mistakes_in_the_user_file_are_named(text: str, error: type[Exception], names: str) -> None:
    write_user_file(text)
    with pytest.raises(error, match=names) as caught:
        load("endpoint:x")
    assert "sk-123" not in str(caught.value)


def test_a_named_user_file_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXLAB_MODELS", str(tmp_path / "none.toml"))
    assert [complaint.problem for complaint in complaints()] == ["CXLAB_MODELS names a file that does not exist"]
    assert load("simulated:strong")
    with pytest.raises(BadFile, match="CXLAB_MODELS"):
        load("endpoint:local")


def test_probe_finds_what_a_server_can_do(server: FaultServer) -> None:
    def obey(body: dict[str, object]) -> str:
        return '{"signal_colour": "teal"}' if body.get("response_format") else "OK"

    async def look(mode: str, **settings: object) -> object:
        model = model_at(server.scene(mode, **settings).url, attempts=1)
        found = await probe(model)
        await model.aclose()
        return found.answers, found.json_schema, found.json_object, found.tools, found.usage

    assert asyncio.run(look("ok", reply=obey)) == (True, True, True, False, True)
    assert asyncio.run(look("no_schema_500", reply=obey)) == (True, False, True, False, True)
    assert asyncio.run(look("no_schema_400", reply=obey)) == (True, False, False, False, True)
    assert asyncio.run(look("ok", reply="Blue.")) == (True, False, False, False, True)
    assert asyncio.run(look("no_usage", reply=obey))[4] is False
    assert asyncio.run(look("status", status=401)) == (False, None, None, None, None)


def test_probe_of_a_simulated_model_is_honest() -> None:
    found = asyncio.run(probe(load("simulated:strong")))
    assert (found.answers, found.json_schema, found.tools, found.usage) == (True, None, None, False)
    assert "Simulated" in found.notes[0]


def test_nothing_heavy_is_imported() -> None:
    heavy = ["openai", "langchain", "langchain_core", "numpy", "jinja2", "aiohttp", "httpx2", "sqlite3", "polars"]
    code = f"import sys, cxlab.llm as l; l.known(); print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"
