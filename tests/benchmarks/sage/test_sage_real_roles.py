"""SAGE with every role played by a real model over HTTP: a scripted one that does its part well, without stand-ins."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from runner.shell import make_shell

from cxlab import llm
from cxlab.benchmarks.sage.procedures.convert import check_text, convert
from cxlab.benchmarks.sage.score import MOST_WORDS
from cxlab.read import View, leaderboard
from cxlab.runner.report import means
from cxlab.store import connect, write
from tests.benchmarks.sage.scripted_model import ScriptedModel

GUIDELINES = Path(__file__).resolve().parents[4] / "shared" / "data" / "abcd" / "guidelines.json"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


def test_every_role_is_real_and_all_of_it_holds(
    server: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = make_shell(tmp_path / "home", monkeypatch)
    shell.home.mkdir()
    (shell.home / "models.toml").write_text(server.settings())
    server.bodies["strong"].clear()
    strong = "endpoint:strong"
    words = ["run", "sage", "--model", strong, "--customer", strong, "--judge", strong, "--limit", "24"]
    said = shell.call(*words, "--json", "--quiet")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout.splitlines()[-1])
    assert found["state"] == "done"
    assert min(server.asked[role] for role in ("agent", "customer", "judge")) >= 24
    (run,) = write.list_runs()
    mean = means(run.id)
    assert mean["told"] > 97
    assert mean["truth"] > 97
    assert mean["logic"] > 97
    assert mean["claims"] > 97
    assert mean["untold"] == 0
    assert mean["skill"] > 90
    assert found["cost_usd"] > 0
    con = connect.open_store()
    rows = connect.query(con, "SELECT outcome, ended_by, verdict FROM attempts")
    con.close()
    assert set(rows["outcome"]) == {"ok"}
    assert set(rows["ended_by"]) == {"goodbye"}
    assert (rows["verdict"] == "passed").mean() > 0.9
    assert leaderboard(View(benchmark="sage"), ("told",)).height == 1
    # What was sent: a strict schema that reasons first, no limit on output that was fixed in code.
    sent = [body["response_format"]["json_schema"] for body in server.bodies["strong"] if "response_format" in body]
    assert sent
    assert all(form["strict"] and "reasoning" in next(iter(form["schema"]["properties"])) for form in sent)
    assert all(len(body["messages"]) == 2 for body in server.bodies["strong"] if "response_format" in body)
    assert MOST_WORDS == 40


def test_a_run_that_its_budget_ends_tells_all_that_was_spent(
    server: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server was asked for is what the run tells, with attempts that were cut short and are not kept."""
    shell = make_shell(tmp_path / "home", monkeypatch)
    shell.home.mkdir()
    (shell.home / "models.toml").write_text(server.settings())
    strong = "endpoint:strong"
    words = ["run", "sage", "--model", strong, "--customer", strong, "--judge", strong, "--limit", "40"]
    before = server.tokens
    said = shell.call(*words, "--budget", "0.2", "--concurrency", "6", "--json", "--quiet")
    found = json.loads(said.stdout.splitlines()[-1])
    (entry,) = found["runs"]
    assert (said.returncode, found["state"]) == (3, "stopped"), said.stderr
    assert entry["done"] < 40
    assert entry["unstored_usd"] > 0
    assert found["cost_usd"] == pytest.approx((server.tokens - before) / 1e6)
    roles = sum(entry["cost_by_role"].values())
    assert found["cost_usd"] == pytest.approx(roles + entry["unstored_usd"])
    # With more money it goes on, and what was spent in vain stays spent.
    said = shell.call("run", "--resume", entry["run"], "--budget", "9", "--json", "--quiet")
    found = json.loads(said.stdout.splitlines()[-1])
    assert found["runs"][0]["done"] == 40
    assert found["cost_usd"] == pytest.approx((server.tokens - before) / 1e6)


@pytest.mark.skipif(not GUIDELINES.is_file(), reason="ABCD's guidelines are not beside this checkout")
def test_ten_guidelines_of_real_agents_convert(
    server: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    (tmp_path / "models.toml").write_text(server.settings())
    flows = json.loads(GUIDELINES.read_text(encoding="utf-8"))
    subflows = [(name, flow) for group in flows.values() for name, flow in group["subflows"].items() if flow["actions"]]
    model = llm.load("endpoint:strong")
    for name, flow in subflows[:10]:
        before = server.asked["convert"]
        text = convert(_prose(name, flow), model)
        assert check_text(text) == [], name
        assert server.asked["convert"] == before + 2, "its first file had a fault and was sent back"
        for action in flow["actions"]:
            assert " ".join(action["text"].split()[:3]) in " ".join(text.split()), (name, action["text"])


def _prose(name: str, flow: dict) -> str:
    lines = [name]
    for number, action in enumerate(flow["actions"], 1):
        lines.append(f"{number}. {' '.join(action['text'].split())}")
        lines += [f"   - {' '.join(each.split())}" for each in action["subtext"]]
    return "\n".join(lines)
