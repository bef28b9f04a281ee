"""What a run does when a server does not answer, refuses the key, or falls silent behind one of the roles."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from llm.fault_server import FaultServer, Scene

from cxlab import read
from cxlab.read import View, leaderboard
from cxlab.read.query import replaced_runs
from cxlab.read.runs import cost_by_role
from cxlab.runner.display.runs import tell_unanswered
from cxlab.store import run_status
from runner.shell import Shell, make_shell, wait_for

LAMP = "runner.lamp:BENCHMARK"
ALL = 24
NOBODY = "http://127.0.0.1:9/v1"
QUIET = ("--json", "--quiet")
TALK = ("run", "sage", "--model", "endpoint:agent", "--limit", "1", "--turns", "2", "--json", "--quiet")


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return make_shell(tmp_path / "home", monkeypatch)


def point(shell: Shell, **urls: str) -> None:
    """`endpoint:NAME` is the server at each URL; calls are tried once, and have no price."""
    lines = [f'[endpoints.{name}]\nbase_url = "{url}"\nkey_required = false\nmodel = "tiny"\nattempts = 1\n'
             for name, url in urls.items()]  # fmt: skip
    shell.home.mkdir(exist_ok=True)
    (shell.home / "models.toml").write_text("\n".join(lines))


def told(said: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return found


def test_a_server_that_is_not_there_is_found_before_anything_is_asked(shell: Shell) -> None:
    point(shell, agent=NOBODY)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--json", "--quiet")
    assert said.returncode == 2
    (line,) = said.stderr.splitlines()
    assert "agent endpoint:agent at 127.0.0.1:9" in line
    assert "models.toml" in line
    (entry,) = told(said)["runs"]
    assert (entry["state"], entry["done"]) == ("failed", 0)
    found = read.progress(entry["run"])
    assert (found.state, found.left) == ("failed", ALL), "it can be resumed"
    assert "127.0.0.1:9" in found.message


def test_a_refused_key_is_found_before_anything_is_asked(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("no_key")
    point(shell, agent=scene.url)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--quiet")
    assert said.returncode == 2
    assert "HTTP 401" in said.stderr
    assert "key" in said.stderr
    assert scene.calls == 0


def name_model(shell: Shell, scene: Scene, model: str) -> str:
    """What a run says whose agent is this model of the server."""
    point(shell, mine=scene.url)
    said = shell.call("run", LAMP, "--model", f"endpoint:mine/{model}", "--limit", "2", "--quiet")
    return "" if said.returncode == 0 else str(said.stderr)


NO_MODEL = (404, "The model does not exist"), (400, "Invalid model name passed in")


@pytest.mark.parametrize(("status", "message"), NO_MODEL)
def test_a_mistyped_model_is_found_before_the_run_with_the_nearest_names(
    shell: Shell, server: FaultServer, status: int, message: str
) -> None:
    scene = server.scene("status", status=status, message=message, lists=("Strong", "small-7b", "strong-2"))
    said = name_model(shell, scene, "strng")
    assert "agent endpoint:mine/strng at 127.0.0.1:" in said
    assert f"HTTP {status}: {message} (the nearest of the models that it lists: Strong, strong-2)" in said
    assert "correct the name of the model" in said
    assert scene.calls == 1
    said = name_model(shell, scene, "quite-another")
    assert "among the models that it lists: Strong, small-7b, strong-2" in said


@pytest.mark.parametrize("lists", [("strong",), ()])
def test_a_name_that_a_server_takes_without_listing_it_is_none_of_its_faults(
    shell: Shell, server: FaultServer, lists: tuple[str, ...]
) -> None:
    scene = server.scene(reply='{"intent": "on"}', lists=lists)
    assert name_model(shell, scene, "strng") == ""
    assert scene.calls == 2 + len(lists), "a name that is not listed is tried once"
    busy = server.scene("status", status=400, message="no such parameter", times=1, reply=scene.reply, lists=lists)
    assert "(the nearest" not in name_model(shell, busy, "strng")
    assert busy.calls > 1


def test_a_run_whose_first_ten_calls_fail_alike_stops_itself(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("status", status=401, message="who are you", times=10, reply='{"intent": "on"}')
    point(shell, agent=scene.url)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--json", "--quiet")
    assert said.returncode == 3
    found = told(said)
    (entry,) = found["runs"]
    assert (found["state"], entry["state"], scene.calls) == ("failed", "failed", 10)
    assert "first 10 calls of the agent all failed alike: HTTP 401" in found["reasons"][entry["run"]]
    assert entry["provider"] == entry["done"] == 10
    assert read.progress(entry["run"]).left == ALL - 10
    # Mended, it goes on where it stopped; what was lost is tried again in a new run.
    said = shell.call("run", "--resume", entry["run"], "--json", "--quiet")
    assert (said.returncode, told(said)["state"]) == (0, "partly")
    said = shell.call("run", "--resume", entry["run"], "--faults", "--json", "--quiet")
    assert (said.returncode, told(said)["state"], told(said)["runs"][0]["ok"]) == (0, "done", ALL)


def test_what_was_taken_over_keeps_its_price_and_is_paid_and_counted_once(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("status", status=401, message="busy", times=4, reply='{"intent": "on"}')
    shell.home.mkdir()
    (shell.home / "models.toml").write_text(
        f'[endpoints.agent]\nbase_url = "{scene.url}"\nkey_required = false\nmodel = "tiny"\nattempts = 1\n'
        "prompt_usd = 1000.0\ncompletion_usd = 1000.0\n"
    )
    (first,) = told(shell.call("run", LAMP, "--model", "endpoint:agent", "--concurrency", "1", *QUIET))["runs"]
    assert (first["state"], first["provider"]) == ("partly", 4)
    made = shell.read(first["run"]).filter(pl.col("outcome") != "provider")["cost_usd"]
    assert made.min() == made.max() > 0
    (second,) = told(shell.call("run", "--resume", first["run"], "--faults", *QUIET))["runs"]
    assert (second["state"], second["ok"]) == ("done", ALL)
    assert second["cost_usd"] == pytest.approx(4 * made[0]), "what was taken over was paid in the first run"
    assert replaced_runs() == (first["run"],)
    (board,) = leaderboard(View(), ()).iter_rows(named=True)
    assert (board["attempts"], board["provider"]) == (ALL, 0), "the first run's attempts count no second time"
    assert board["cost_usd"] == pytest.approx(made[0]), "an attempt costs what it cost when it was made"
    health = read.health()
    assert (health["runs"], health["attempts"], health["unpriced"]) == (2, ALL, 0)
    assert health["spent_usd"] == pytest.approx(first["cost_usd"] + second["cost_usd"])
    roles = dict(cost_by_role(second["run"]).select("role", "cost_usd").iter_rows())
    assert roles["agent"] == pytest.approx(second["cost_usd"])


def test_fewer_than_ten_are_no_reason_to_stop(shell: Shell, server: FaultServer) -> None:
    calls: list[int] = []

    def reply(body: dict[str, Any]) -> str:
        calls.append(1)
        return '{"intent": "on"}'

    scene = server.scene("status", status=401, message="busy", times=9, reply=reply)
    point(shell, agent=scene.url)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--json", "--quiet", "--concurrency", "1")
    (entry,) = told(said)["runs"]
    assert (entry["state"], entry["provider"], entry["done"], len(calls)) == ("partly", 9, ALL, ALL - 9)


def test_where_nothing_was_delivered_the_run_failed_and_says_why(shell: Shell, server: FaultServer) -> None:
    point(shell, agent=server.scene("status", status=503, message="asleep").url)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--json", "--quiet", "--limit", "2")
    (entry,) = told(said)["runs"]
    assert (said.returncode, entry["state"], entry["done"], entry["provider"]) == (3, "failed", 2, 2)
    assert "asleep" in told(said)["reasons"][entry["run"]]


def test_calls_that_were_never_answered_are_no_zero_dollars(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("hang", times=1, reply='{"intent": "on"}')
    lines = [
        f'[endpoints.agent]\nbase_url = "{scene.url}"',
        'key_required = false\nmodel = "tiny"\nattempts = 1\nprompt_usd = 1.0\ncompletion_usd = 2.0',
        "read_timeout_s = 1.0\nanswer_timeout_s = 2.0\nmax_output_tokens = 1000",
    ]
    shell.home.mkdir(exist_ok=True)
    (shell.home / "models.toml").write_text("\n".join(lines))
    said = shell.call(
        "run", LAMP, "--model", "endpoint:agent", "--json", "--quiet", "--limit", "3", "--concurrency", "1"
    )
    (entry,) = told(said)["runs"]
    assert (entry["done"], entry["provider"], entry["unanswered"]) == (3, 1, 1)
    assert entry["cost_usd"] is None
    assert told(said)["cost_usd"] is None
    assert entry["known_usd"] == pytest.approx(2 * (100 * 1.0 + 20 * 2.0) / 1e6)
    assert 1000 * 2.0 / 1e6 < entry["unanswered_usd"] < 0.01
    status = run_status.Status("done", 3, 3, known_usd=0.0123, unanswered=1, unanswered_usd=0.002)
    told_so = "$0.0123 known, 1 call without an answer may be billed (at most $0.0020)"
    assert tell_unanswered(status) == told_so


def test_unreported_tokens_leave_the_cost_unknown(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("no_usage", reply='{"intent": "on"}')
    shell.endpoint(scene.url)
    said = shell.call("run", LAMP, "--model", "endpoint:test", "--json", "--quiet", "--limit", "2")
    found = told(said)
    assert (found["state"], found["cost_usd"], found["cost_by_role"]["agent"]) == ("done", None, None)
    assert found["runs"][0]["tokens_by_role"]["agent"] is None
    (spent,) = cost_by_role(found["runs"][0]["run"]).filter(role="agent").iter_rows(named=True)
    assert (spent["calls"], spent["prompt_tokens"], spent["cost_usd"]) == (2, None, None)
    said = shell.call("run", LAMP, "--model", "endpoint:test", "--json", "--quiet", "--budget", "5")
    assert (said.returncode, told(said)["state"]) == (3, "stopped")
    assert "reported no tokens" in next(iter(told(said)["reasons"].values()))


def test_a_budget_without_prices_is_refused(shell: Shell, server: FaultServer) -> None:
    scene = server.scene()
    point(shell, agent=scene.url)
    said = shell.call("run", LAMP, "--model", "endpoint:agent", "--budget", "5")
    assert (said.returncode, len(said.stderr.splitlines()), scene.calls) == (2, 1, 0)
    assert "no price of endpoint:agent is noted" in said.stderr
    assert '[models."endpoint:agent"]' in said.stderr


def test_a_judge_has_one_vote(shell: Shell) -> None:
    judges = ("--judge", "simulated:judge-fair", "--judge", "simulated:judge-fair")
    said = shell.call("run", LAMP, "--model", "simulated:strong", *judges)
    assert said.returncode == 2
    assert "named twice" in said.stderr


def test_a_dead_customer_is_not_the_agents_fault(shell: Shell, server: FaultServer) -> None:
    agent: Scene = server.scene()
    point(shell, agent=agent.url, customer=server.scene("status", status=500, message="gone").url)
    said = shell.call(*TALK, "--customer", "endpoint:customer", "--judge", "simulated:judge-fair")
    (entry,) = told(said)["runs"]
    assert (said.returncode, entry["state"], agent.calls) == (3, "failed", 0)
    assert told(said)["reasons"][entry["run"]].startswith("not delivered: customer: HTTP 500")
    attempts = shell.read(entry["run"])
    assert attempts["verdict"].to_list() == ["unscored"]
    assert attempts["verdict_owner"].to_list() == ["provider"]
    assert attempts["verdict_reason"].to_list() == ["customer's provider: server error"]
    assert entry["cost_by_role"]["agent"] == 0.0, "it was never asked"


def test_replies_that_cannot_be_read_are_told_with_whose_they_were_and_why(shell: Shell, server: FaultServer) -> None:
    """A run of which nothing is scored is done, and says what kept it from being scored."""
    point(shell, customer=server.scene("refusal").url, judge=server.scene("truncated").url)
    words = ["run", "sage", "--model", "simulated:strong", "--limit", "1", *QUIET]
    said = shell.call(*words, "--customer", "endpoint:customer", "--judge", "simulated:judge-fair")
    (entry,) = told(said)["runs"]
    assert (said.returncode, entry["state"]) == (0, "done")
    declined = "(the model declined: 'I cannot help with that.')"
    assert told(said)["reasons"][entry["run"]] == f"not readable: 3 replies of the customer {declined}"
    attempts = shell.read(entry["run"])
    assert attempts["ended_by"].to_list() == ["unreadable"]
    assert attempts["verdict_owner"].to_list() == ["customer"]
    said = shell.call(*words, "--judge", "endpoint:judge")
    (entry,) = told(said)["runs"]
    assert entry["state"] == "done"
    assert (
        "replies of the judge endpoint:judge (reply cut off at the token limit)" in told(said)["reasons"][entry["run"]]
    )
    assert shell.read(entry["run"])["verdict_owner"].to_list() == ["judge"]


def test_dialogues_that_were_paid_for_outlive_a_dead_judge(shell: Shell, server: FaultServer) -> None:
    """Ten calls of one judge fail and the run ends itself; what agents said by then is kept, to be judged by others."""
    point(shell, one=server.scene("status", status=500, message="gone").url)
    judges = ["--judge", "endpoint:one", "--judge", "simulated:judge-fair", "--judge", "simulated:judge-strict"]
    words = ["run", "sage", "--model", "simulated:strong", *judges, "--limit", "40", "--concurrency", "4", *QUIET]
    said = shell.call(*words)
    (entry,) = told(said)["runs"]
    assert (said.returncode, entry["state"]) == (3, "failed")
    assert "first 10 calls of the judge endpoint:one all failed alike: HTTP 500" in told(said)["reasons"][entry["run"]]
    assert 0 < entry["done"] == entry["ok"] < 40
    assert entry["cost_usd"] is not None
    assert read.progress(entry["run"]).again == entry["done"], "each of them can be put to the judges again"
    overall = shell.read(entry["run"], "scores").filter(metric="overall")["value"].drop_nulls()
    assert len(overall) > 0, "two of three voted"


@pytest.mark.parametrize("live", [2, 1])
def test_a_panel_decides_only_with_its_quorum(shell: Shell, server: FaultServer, live: int) -> None:
    url = server.scene("status", status=500, message="gone").url
    point(shell, one=url, two=url)
    judges = ["simulated:judge-fair", "simulated:judge-strict"][:live] + ["endpoint:one", "endpoint:two"][: 3 - live]
    words = [word for judge in judges for word in ("--judge", judge)]
    said = shell.call("run", "sage", "--model", "simulated:strong", "--limit", "1", *words, *QUIET)
    found = told(said)
    (entry,) = found["runs"]
    assert (said.returncode, entry["state"], entry["ok"]) == (0, "partly", 1)
    assert read.progress(entry["run"]).again == 1, "it can be put to the judges again"
    (attempt,) = shell.read(entry["run"]).iter_rows(named=True)
    scored = shell.read(entry["run"], "scores").filter(metric="overall")["value"].drop_nulls()
    if live == 2:
        assert len(scored) > 0
    else:
        assert len(scored) == 0
        assert (attempt["verdict"], attempt["verdict_owner"]) == ("unscored", "provider")
        assert attempt["verdict_reason"] == "no quorum: 2 of 3 judges gave no verdict (server error)"
    point(shell, one=server.scene("status", status=500).url, two=url)
    said = shell.call("run", "--resume", entry["run"], "--faults", *QUIET)
    entry = told(said)["runs"][0]
    assert entry["cost_by_role"]["agent"] == 0.0, "the dialogue was taken over"
    votes = shell.read(entry["run"], "votes")
    stood = votes.filter(pl.col("judge").str.starts_with("simulated:"))
    assert len(stood) > 0
    assert stood["calls"].sum() == 0, "what the others had said stands, and is not paid for again"
    assert votes.filter(pl.col("judge").str.starts_with("endpoint:"))["failure"].null_count() == 0


def test_a_dead_judge_ends_the_run_although_another_answers(shell: Shell, server: FaultServer) -> None:
    """One watch for all judges was opened by the one that answered: a whole run was paid for that no panel decided."""
    dead, alive = server.scene("status", status=500, message="gone"), server.scene("ok", reply='{"no": "verdict"}')
    point(shell, one=dead.url, two=server.scene("status", status=503, message="off").url, three=alive.url)
    judges = [word for name in ("one", "two", "three") for word in ("--judge", f"endpoint:{name}")]
    said = shell.call(
        "run", "sage", "--model", "simulated:strong", *judges, "--limit", "60", "--concurrency", "4", *QUIET
    )
    (entry,) = told(said)["runs"]
    assert (said.returncode, entry["state"]) == (3, "failed")
    reason = told(said)["reasons"][entry["run"]]
    assert "the judge endpoint:one" in reason or "the judge endpoint:two" in reason
    assert "endpoint:three" not in reason
    assert entry["done"] < 30
    assert dead.calls <= 3 * 14, "ten calls and those in flight, each in the three forms of structured output"


def test_a_run_that_waits_for_its_server_says_so_and_can_be_stopped(shell: Shell, server: FaultServer) -> None:
    scene = server.scene("rate_limited", retry_after="600")
    shell.endpoint(scene.url, "longest_wait_s = 900")
    run = shell.plan("--model", "endpoint:test")
    process = shell.start("run", "--resume", run, "--json", "--quiet", "--concurrency", "4")
    wait_for(lambda: "waiting for endpoint:test, " in read.progress(run).message)
    assert "(4 calls): HTTP 429" in read.progress(run).message
    assert scene.calls <= 4
    (shell.folder(run) / run_status.CANCEL).touch()
    out, _ = process.communicate(timeout=300)
    assert json.loads(out.splitlines()[-1])["state"] == "stopped"
    assert read.progress(run).left == ALL, "what waited is not spoilt"


def test_what_a_killed_session_paid_for_is_counted_and_what_was_under_way_may_be_billed(
    shell: Shell, server: FaultServer
) -> None:
    answered, go_on = 5, threading.Event()
    asked: list[int] = []

    def reply(body: dict[str, Any]) -> str:
        asked.append(1)
        if len(asked) > answered:
            go_on.wait(60)
        return '{"intent": "on"}'

    scene = server.scene(reply=reply)
    shell.endpoint(scene.url)
    run = shell.plan("--model", "endpoint:test")
    process = shell.start("run", "--resume", run, "--json", "--quiet", "--concurrency", "1")
    path = shell.folder(run) / "status.json"

    def is_stuck() -> bool:
        status = run_status.read(path)
        return status is not None and status.under_way == 1 and status.spent_usd == pytest.approx(0.01 * answered)

    wait_for(is_stuck)
    process.kill()
    process.communicate(timeout=60)
    go_on.set()
    (entry,) = told(shell.call("run", "--resume", run, "--json", "--quiet"))["runs"]
    assert (entry["state"], entry["done"]) == ("done", ALL)
    assert entry["known_usd"] == pytest.approx(0.01 * (scene.calls - 1)), "each answer, whether or not it was stored"
    assert (entry["cost_usd"], entry["unanswered"], entry["unanswered_usd"]) == (None, 1, None)
