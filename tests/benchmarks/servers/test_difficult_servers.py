"""Every benchmark on a server that has a bad day, from the command line to what is stored."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from runner.shell import Shell, make_shell

from cxlab import read
from tests.benchmarks.servers.difficult_server import KEY, DifficultServer

JUDGE = ("--judge", "endpoint:judge")
TALK = ("sage", "--limit", "2", "--customer", "endpoint:customer", *JUDGE)
RUNS: dict[str, tuple[str, ...]] = {
    "sage": TALK,
    # Few pairs of articles are enough: each is asked about alike.
    "cxmarena": ("cxmarena", "--limit", "8", "--option", "most=3", "--option", "sizes=16,64", *JUDGE),
    "act": ("crmarena", "--limit", "3", "--option", "framework=act"),
    "functions": ("crmarena", "--limit", "3", "--option", "framework=function_calling"),
    "create_agent": ("crmarena", "--limit", "3", "--option", "framework=create_agent"),
    "cdr": ("cdr", "--limit", "4"),
}
# What a real client lives with: after a second try, without a parameter, or as it is.
HARMLESS = (
    "rate_limited_until", "server_error", "bad_gateway", "unavailable", "no_temperature", "new_limit_name",
    "no_response_format", "fence", "prose", "call_and_text", "odd_finish", "no_finish", "usage_details_null", "page",
    "empty_body", "error_in_200",
)  # fmt: skip
Verdicts = Counter[tuple[str, str, str]]
Plan = Callable[[str, int], str | None]


@pytest.fixture(scope="module")
def server() -> Iterator[DifficultServer]:
    with DifficultServer() as running:
        yield running


class Walk:
    """One benchmark on the server, in a store of its own."""

    def __init__(self, shell: Shell, server: DifficultServer, dataset: str) -> None:
        self.shell, self.server, self.dataset = shell, server, dataset

    def call(self, *words: str) -> dict[str, Any]:
        """The run's entry of the one line of JSON, with its attempts, and why it ended as `why`."""
        said = self.shell.call("run", *words, "--json", "--quiet")
        (line,) = said.stdout.splitlines()
        told = json.loads(line)
        (entry,) = told["runs"]
        assert said.returncode == (0 if entry["state"] in ("done", "partly") else 3), said.stderr
        found = self.shell.read(entry["run"])
        texts = found.select(pl.col(pl.String)).to_dicts() if found.height else []
        assert KEY not in said.stdout + said.stderr + json.dumps(texts)
        return {**entry, "why": told["reasons"].get(entry["run"], ""), "attempts": found}

    def run(self, name: str, *more: str) -> dict[str, Any]:
        return self.call(*RUNS[name], "--dataset", self.dataset, "--model", "endpoint:agent", *more)


@pytest.fixture
def walk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: DifficultServer,
    generated: Callable[[str, Path], str],
) -> Callable[[str], Walk]:
    """The walk of a benchmark, by the name of its run."""

    def begin(name: str) -> Walk:
        shell = make_shell(tmp_path / "home", monkeypatch)
        dataset = generated(RUNS[name][0], shell.home)
        (shell.home / "models.toml").write_text(server.settings())
        return Walk(shell, server, dataset)

    return begin


def verdicts(entry: dict[str, Any]) -> Verdicts:
    rows = entry["attempts"].select("sample_id", "verdict", "verdict_owner").iter_rows()
    return Counter((str(sample), str(value), str(owner)) for sample, value, owner in rows)


LOST = {
    "key_revoked": "key refused",
    "no_credit": "quota or credit spent",
    "no_quota": "quota or credit spent",
    "no_model": "no such model or address",
    "rate_limited_long": "rate limit",
    "rate_limited_long_until": "rate limit",
    "unavailable": "server error",
    "cut_body": "connection lost",
    "dropped": "connection lost",
    "page": "no usable reply",
}
"""Faults of a provider that last, with their words."""
SPOILED = (
    "thought_ate_the_limit", "only_reasoning", "null", "refusal", "content_filter", "cut_off", "plain_text",
    "broken_arguments", "unknown_tool", "several_calls", "huge", "loop", "filtered_prompt",
)  # fmt: skip
"""Replies that are the model's own doing, and what its own filter does with a prompt."""


def spread(names: Sequence[str], every: int = 2, role: str = "agent") -> Plan:
    """A difficulty for each `every`-th question of a role, one after the other."""

    def plan(asked: str, number: int) -> str | None:
        at, rest = divmod(number - 1, every)
        return names[at % len(names)] if asked == role and not rest else None

    return plan


@pytest.mark.parametrize("name", RUNS)
def test_a_bad_day(walk: Callable[[str], Walk], server: DifficultServer, name: str) -> None:
    here = walk(name)
    server.begin()
    clean = here.run(name)
    questions = server.numbers["agent"]
    assert clean["state"] == "done"

    # What a client lives with changes no result.
    harmless = itertools.cycle((None, *HARMLESS))
    server.begin(lambda role, number: next(harmless))
    troubled = here.run(name)
    assert (troubled["state"], troubled["why"]) == ("done", clean["why"])
    assert len(server.met) >= 3
    assert verdicts(troubled) == verdicts(clean)
    assert troubled["mean"] == clean["mean"]
    assert troubled["cost_usd"] is not None

    # What a provider loses is its own, and nobody's result.
    server.begin(spread(tuple(LOST)), again=True)
    faulted = here.run(name, "--concurrency", "1")
    lost = faulted["attempts"].filter(outcome="provider")
    assert 0 < lost.height == faulted["provider"]
    assert faulted["ok"] + faulted["provider"] == faulted["done"] == faulted["planned"]
    assert faulted["state"] == ("partly" if faulted["ok"] else "failed")
    assert "not delivered: " in faulted["why"]
    assert set(lost["verdict_reason"]) <= {f"provider: {words}" for words in LOST.values()}
    expected = Counter((str(sample), "unscored", "provider") for sample in lost["sample_id"])
    assert verdicts(faulted) - verdicts(clean) == expected
    broken_off = {("agent", "cut_body"), ("agent", "dropped")} & set(server.met)
    assert (faulted["cost_usd"] is None, faulted["unanswered"] > 0) == (bool(broken_off), bool(broken_off))

    # It is done again, and nothing else.
    server.begin()
    again = here.call("--resume", faulted["run"], "--faults")
    assert (again["state"], again["why"]) == ("done", clean["why"])
    assert verdicts(again) == verdicts(clean)
    assert again["mean"] == clean["mean"]
    assert 0 < again["cost_usd"] <= clean["cost_usd"] * 1.01
    assert server.numbers["agent"] < questions or not faulted["ok"]

    # What a model says badly is its own, and no provider's.
    server.begin(spread(SPOILED))
    spoiled = here.run(name, "--concurrency", "1")
    assert (spoiled["state"], spoiled["provider"], spoiled["done"]) == ("done", 0, spoiled["planned"])
    assert spoiled["cost_usd"] is not None
    failed = spoiled["attempts"].filter(pl.col("outcome") == "format")
    # Of many pairs of articles one that was not read may have been none.
    assert set(failed.select("verdict", "verdict_owner").iter_rows()) <= {("failed", "agent"), ("passed", "")}
    # Where an answer came in the end, those on the way are slips.
    assert ("not readable: " in spoiled["why"]) == (failed.height > 0)


@pytest.mark.parametrize(("role", "owner"), [("customer", "customer"), ("judge", "judge")])
def test_who_spoils_a_talk_beside_the_agent_owns_it(
    walk: Callable[[str], Walk], server: DifficultServer, role: str, owner: str
) -> None:
    here = walk("sage")
    server.begin(
        spread(("null", "content_filter", "filtered_prompt", "thought_ate_the_limit", "plain_text"), 1, role),
        again=True,
    )
    said = here.run("sage")
    assert (said["state"], said["ok"], said["provider"]) == ("done", 2, 0)
    assert set(said["attempts"].select("verdict", "verdict_owner").iter_rows()) == {("unscored", owner)}
    assert f"replies of the {owner}" in said["why"]
    assert not {"overall", "logic"} & set(said["mean"])


@pytest.mark.parametrize("role", ["agent", "judge"])
def test_a_key_that_is_revoked_ends_the_run(walk: Callable[[str], Walk], server: DifficultServer, role: str) -> None:
    name = "cdr" if role == "agent" else "sage"
    here = walk(name)
    limit = {"cdr": "40", "sage": "16"}[name]
    words = [word for word in RUNS[name] if word not in ("2", "4")]
    words[words.index("--limit") + 1 : words.index("--limit") + 1] = [limit]
    server.begin(lambda asked, number: "key_revoked" if asked == role and number > 6 else None, again=True)
    more = ("--dataset", here.dataset, "--model", "endpoint:agent", "--concurrency", "4")
    ended = here.call(*words, *more)
    who = "judge endpoint:judge" if role == "judge" else role
    assert ended["state"] == "failed"
    assert f"the last 10 calls of the {who} all failed alike: HTTP 401: Incorrect API key" in ended["why"]
    assert 0 < ended["done"] < ended["planned"]
    assert sum(server.met.values()) < 20, "ten, and those that were under way"
    # With another key the rest is done, and then what was lost.
    server.begin()
    rest = here.call("--resume", ended["run"])
    assert (rest["done"], rest["state"]) == (rest["planned"], "partly")
    asked = dict(server.numbers)
    server.begin()
    whole = here.call("--resume", ended["run"], "--faults")
    assert (whole["state"], whole["provider"]) == ("done", 0)
    assert sum(server.numbers.values()) < sum(asked.values())


def test_tokens_that_nobody_reports_leave_the_cost_unknown(
    walk: Callable[[str], Walk], server: DifficultServer
) -> None:
    here = walk("cdr")
    server.begin(spread(("no_usage", "odd_usage")))
    said = here.run("cdr", "--concurrency", "1")
    assert (said["state"], said["cost_usd"], said["cost_by_role"]["agent"]) == ("done", None, None)
    assert said["known_usd"] > 0


@pytest.mark.parametrize("name", ["act", "functions", "create_agent"])
def test_a_question_that_the_agent_let_grow_too_long_is_its_own_failure(
    walk: Callable[[str], Walk], server: DifficultServer, name: str
) -> None:
    here = walk(name)
    server.begin(lambda role, number: "too_long" if number == 2 else None, again=True)
    said = here.run(name, "--concurrency", "1")
    assert (said["state"], said["provider"]) == ("done", 0)
    (grown,) = said["attempts"].filter(ended_by="unanswered").iter_rows(named=True)
    assert (grown["verdict"], grown["verdict_owner"]) == ("failed", "agent")
    assert grown["verdict_reason"] == "query: more records than the model can read"
    assert grown["cost_usd"] > 0
    refused = here.shell.call("run", "--resume", said["run"], "--faults")
    assert (refused.returncode, "holds no provider faults" in refused.stderr) == (2, True)


def test_a_talk_that_grew_too_long_is_the_agents_failure_where_it_goes_as_one_text(
    walk: Callable[[str], Walk], server: DifficultServer
) -> None:
    here = walk("sage")
    server.begin(lambda role, number: "too_long" if role == "agent" and number == 2 else None, again=True)
    said = here.run("sage", "--concurrency", "1")
    assert (said["state"], said["provider"]) == ("done", 0)
    (grown,) = said["attempts"].filter(ended_by="unreadable").iter_rows(named=True)
    assert (grown["outcome"], grown["turns"]) == ("format", 2)
    assert (grown["verdict"], grown["verdict_owner"]) == ("failed", "agent")
    assert "1 reply of the agent" in said["why"]
    # The first question holds nothing that the agent said: there it is the task that does not fit.
    server.begin(lambda role, number: "too_long" if role == "agent" and number == 1 else None, again=True)
    first = here.run("sage", "--concurrency", "1")
    assert (first["state"], first["provider"]) == ("partly", 1)
    assert read.progress(first["run"]).too_long == 1


def test_a_task_that_is_too_long_is_told_once_and_asked_again_only_on_demand(
    walk: Callable[[str], Walk], server: DifficultServer
) -> None:
    here = walk("cdr")
    server.begin(lambda role, number: {1: "too_long", 3: "unavailable"}.get(number), again=True)
    first = here.run("cdr", "--concurrency", "1")
    assert (first["state"], first["provider"]) == ("partly", 2)
    reasons = {"provider: longer than the model can read", "provider: server error"}
    assert set(first["attempts"].filter(outcome="provider")["verdict_reason"]) == reasons
    assert read.progress(first["run"]).again == 1
    server.begin()
    second = here.call("--resume", first["run"], "--faults")
    assert (second["state"], second["provider"], server.numbers["agent"]) == ("partly", 1, 1)
    assert read.progress(second["run"]).again == 0
    refused = here.shell.call("run", "--resume", second["run"], "--faults")
    assert (refused.returncode, server.numbers["agent"]) == (2, 1)
    assert "1 of its samples is longer than the model can read" in refused.stderr
    third = here.call("--resume", second["run"], "--faults", "--too-long")
    assert (third["state"], third["provider"], server.numbers["agent"]) == ("done", 0, 2)


@pytest.mark.parametrize("name", ["sage", "cdr", "act"])
def test_a_filter_is_the_agents_whichever_side_of_the_question_it_holds_back(
    walk: Callable[[str], Walk], server: DifficultServer, name: str
) -> None:
    here = walk(name)
    seen = {}
    for difficulty in ("filtered_prompt", "content_filter"):
        server.begin(lambda role, number, held=difficulty: held if role == "agent" else None, again=True)
        said = here.run(name, "--concurrency", "1")
        rows = said["attempts"].select("outcome", "verdict", "verdict_owner", "verdict_reason").unique()
        seen[difficulty] = (said["state"], said["provider"], rows.rows())
    assert seen["filtered_prompt"] == seen["content_filter"]
    reason = "format: held back by a content filter" if name == "act" else "held back by a content filter"
    assert seen["content_filter"] == ("done", 0, [("format", "failed", "agent", reason)])


def test_ten_refusals_of_tools_are_no_reason_to_stop(walk: Callable[[str], Walk], server: DifficultServer) -> None:
    """A server that takes none is asked in words, however many questions were under way."""
    here = walk("functions")
    server.begin(lambda role, number: "no_tools")
    words = ("crmarena", "--limit", "10", "--option", "framework=function_calling", "--dataset", here.dataset)
    said = here.call(*words, "--model", "endpoint:agent")
    assert (said["state"], said["ok"]) == ("done", 10)
    assert server.met["agent", "no_tools"] >= 10


PAIRS = ("cxmarena", "--where", "task=kb_refinement", "--limit", "1", "--option", "most=30")


def test_of_a_knowledge_base_only_the_pairs_that_failed_are_asked_again(
    walk: Callable[[str], Walk], server: DifficultServer
) -> None:
    here = walk("cxmarena")
    words = (*PAIRS, "--dataset", here.dataset, "--model", "endpoint:agent", "--concurrency", "1")
    server.begin()
    clean = here.call(*words)
    questions = server.numbers["agent"]
    assert questions >= 20
    lost = (3, 11, 12)
    server.begin(lambda role, number: "unavailable" if number in lost else None, again=True)
    faulted = here.call(*words)
    assert (faulted["state"], faulted["provider"]) == ("failed", 1)
    server.begin(lambda role, number: "unavailable" if number == 2 else None, again=True)
    once_more = here.call("--resume", faulted["run"], "--faults")
    assert (once_more["provider"], server.numbers["agent"]) == (1, len(lost))
    server.begin()
    whole = here.call("--resume", once_more["run"], "--faults")
    assert (whole["state"], server.numbers["agent"]) == ("done", 1), "what came in either run before is kept"
    assert verdicts(whole) == verdicts(clean)
    assert whole["mean"] == clean["mean"]
    paid = [each["cost_usd"] for each in (faulted, once_more, whole)]
    assert all(cost > 0 for cost in paid)
    assert sum(paid) == pytest.approx(clean["cost_usd"]), "each answer is paid for and counted once"
    assert not list((here.shell.folder(whole["run"])).glob("replies*")), "nothing is left to be tried again"


def test_a_knowledge_base_goes_on_at_the_pair_at_which_its_run_was_ended(
    walk: Callable[[str], Walk], server: DifficultServer
) -> None:
    here = walk("cxmarena")
    # So many that ten in a row fail, however the first answers and the first refusals come in.
    words = (*PAIRS[:-1], "most=90", "--dataset", here.dataset, "--model", "endpoint:agent", "--concurrency", "1")
    server.begin()
    clean = here.call(*words)
    questions = server.numbers["agent"]
    server.begin(lambda role, number: "key_revoked" if number > 8 else None, again=True)
    ended = here.call(*words)
    assert (ended["state"], ended["done"]) == ("failed", 0)
    assert ended["unstored_usd"] > 0
    server.begin()
    rest = here.call("--resume", ended["run"])
    assert (rest["state"], server.numbers["agent"]) == ("done", questions - 8)
    assert verdicts(rest) == verdicts(clean)
    assert rest["cost_usd"] == pytest.approx(clean["cost_usd"]), "those of before are counted as not stored, and once"
