"""tau2-bench's folders and result files: what is taken, what is told, and that nothing is stored by halves."""

import copy
import json
from pathlib import Path

import pytest
from runner.shell import Shell

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.evaluation import unknown_world
from cxlab.benchmarks.mmtaup2.importers import tau2, tau2_results
from cxlab.benchmarks.mmtaup2.tasks.samples import load_world, task_of
from cxlab.errors import BadFile, UnknownName
from cxlab.read import View, failures, leaderboard
from cxlab.store import write

ROOT = Path(__file__).resolve().parents[4]
DATA = ROOT.parent / "shared" / "data"
EXAMPLE = DATA / "tau2-results" / "gold_mock_base_results.json"
needs_data = pytest.mark.skipif(not (DATA / "tau2-bench").is_dir(), reason="../shared/data/tau2-bench is not here")
needs_example = pytest.mark.skipif(not EXAMPLE.is_file(), reason="../shared/data/tau2-results is not here")


def import_file(path: Path) -> tuple[tau2_results.Results, bool]:
    """A file read and stored; whether its run is new."""
    found = tau2_results.read_file(path)
    found.save()
    return found, found.new


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "home"
    monkeypatch.setenv("CXLAB_HOME", str(base))
    return base


@pytest.fixture(scope="module")
def real() -> tau2.ImportedTasks:
    return tau2.read_folder(DATA / "tau2-bench")


@needs_data
def test_the_command_replays_all_228_tasks(home):
    ran = Shell(home).call("import", "tau2", str(DATA / "tau2-bench"), "--check", "--json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout.splitlines()[-1])
    assert (report["tasks"], report["gold_passed"], report["rejected"]) == (228, 228, 0)
    dataset = report["dataset"]
    samples = write.load_samples(dataset)
    assert len(samples) == 228
    # What was stored can be played.
    for sample in (samples[0], samples[-1]):
        assert tasks.replay_gold(task_of(sample), load_world(dataset, sample.task))["reward"] == 1.0


@needs_data
def test_trivial_agents_get_what_they_get_on_tau2_bench(real):
    """Measured with tau2-bench itself: always handing over passes 20 and 11 of 114, doing nothing none and 11."""
    passed = {}
    for name, calls in (("idle", []), ("hand over", [("agent", "transfer_to_human_agents", {"summary": "no"})])):
        for task, world in real.playable:
            end = tasks.begin(task, world)
            for call in calls:
                end.call(*call)
            key = (name, task.domain)
            passed[key] = passed.get(key, 0) + tasks.evaluate(task, end, end.log, ())["reward"]
    assert passed == {("idle", "telecom"): 0, ("idle", "retail"): 11, ("hand over", "telecom"): 20,
                      ("hand over", "retail"): 11}  # fmt: skip


@needs_data
def test_what_is_known_of_the_real_tasks(real):
    assert real.tasks == {"telecom": 114, "retail": 114}
    splits = real.tables["splits"]
    assert {split: splits.filter(domain="telecom", split=split).height for split in ("base", "test", "train")} == {
        "base": 114,
        "test": 40,
        "train": 74,
    }
    personas = [sample.facets["persona"] for sample in real.samples if sample.task == "telecom"]
    assert [personas.count(name) for name in ("none", "easy", "hard")] == [40, 38, 36]
    by_id = {task.id: task for task, _ in real.playable if task.domain == "retail"}
    assert by_id["16"].critical_fields["user_id"] == "fatima_johnson_7581"
    assert by_id["16"].irreversible == ("cancel_pending_order", "return_delivered_order_items")
    assert sum(task.transfer_right for task, _ in real.playable if task.domain == "retail") == 4


# A folder of our own in the same form


def make_folder(at: Path) -> Path:
    """A shop with three tasks: an order is cancelled, nothing is to be done, a question is answered."""
    world = worlds.load("retail", 4, 40)
    database = world.agent.dump()
    name, order = next(pair for pair in database["orders"].items() if pair[1]["status"] == "pending")
    user = database["users"][order["user_id"]]
    told = {"reason_for_call": "Help.", "known_info": "My name.", "unknown_info": None, "task_instructions": "Be."}

    def task(number, actions, **criteria):
        return {
            "id": number,
            "user_scenario": {"persona": None, "instructions": told},
            "initial_state": None,
            "evaluation_criteria": {"actions": actions, "reward_basis": ["DB"], **criteria},
        }

    folder = at / "retail"
    folder.mkdir(parents=True)
    find = {"name": "find_user_id_by_email", "arguments": {"email": user["email"]}}
    cancel = {"name": "cancel_pending_order", "arguments": {"order_id": name, "reason": "no longer needed"}}
    listed = [task("1", [find, cancel]), task(2, []), task("3", [find], communicate_info=["12"])]
    save(folder / "tasks.json", listed)
    save(folder / "db.json", database)
    return at


def save(path: Path, content) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def load(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_one_domain_alone_is_imported_once(tmp_path, home):
    folder = make_folder(tmp_path / "in")
    found = tau2.import_folder(folder)
    assert found.tasks == {"retail": 3}
    assert found.ignored == ["telecom (not there)"]
    assert tau2.check_gold(found).passed == 3
    assert tau2.import_folder(folder / "retail").dataset.id == found.dataset.id
    assert len(write.list_datasets()) == 1
    assert [sample.inputs["id"] for sample in write.load_samples(found.dataset.id)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("spoil", "column", "problem"),
    [
        (lambda t: t.pop("id"), "id", "required"),
        (
            lambda t: t["evaluation_criteria"]["actions"].append({"name": "fly"}),
            "actions.2.name",
            "no agent tool 'fly'",
        ),
        (lambda t: t["evaluation_criteria"]["actions"][0].update(arguments="x"), "actions.0.arguments", "dictionary"),
        (lambda t: t["evaluation_criteria"].update(reward_basis=["LUCK"]), "reward_basis", "LUCK|Input"),
        (lambda t: t.update(id="2"), "id", "2 came before"),
        (lambda t: t.update(initial_state={"message_history": [{"role": "user"}]}), "message_history", "middle"),
        (
            lambda t: t.update(initial_state={"initialization_data": {"agent_data": {"users": {}, "x": 1}}}),
            "initialization_data",
            "by hand",
        ),
        (
            lambda t: t.update(
                initial_state={"initialization_actions": [{"env_type": "user", "func_name": "boil", "arguments": {}}]}
            ),
            "initial_state",
            "boil",
        ),
        (
            lambda t: t["evaluation_criteria"].update(
                env_assertions=[{"env_type": "assistant", "func_name": "has_order_status", "arguments": {"x": 1}}]
            ),
            "env_assertions",
            "has_order_status",
        ),
    ],
)
def test_a_task_that_cannot_be_played_is_told_by_row_and_the_others_stay(tmp_path, spoil, column, problem):
    folder = make_folder(tmp_path)
    listed = load(folder / "retail" / "tasks.json")
    listed.append(copy.deepcopy(listed[0]) | {"id": "4"})
    spoil(listed[-1])
    save(folder / "retail" / "tasks.json", [*listed, 7])
    found = tau2.read_folder(folder)
    first, second = found.rejected
    assert (first.file, first.row) == ("retail/tasks.json", 4)
    assert column in first.column
    assert any(word in first.problem for word in problem.split("|"))
    assert second.row == 5
    assert found.tasks == {"retail": 3}


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("tasks.json", '[{"id": "1"},\n {"id": ', r"tasks.json:2: is no JSON"),
        ("tasks.json", "{}", "no list of tasks"),
        ("tasks.json", "[]", "no task could be used"),
        ("db.json", "[" * 5000, "no JSON"),
        ("db.json", '{"users": {}, "products": {}}', "no table 'orders'"),
        ("db.json", "[1]", "no JSON object"),
        ("db.json", None, "does not exist"),
    ],
)
def test_a_file_that_cannot_be_read_stores_nothing(tmp_path, home, file, content, says):
    folder = make_folder(tmp_path / "in")
    path = folder / "retail" / file
    path.unlink() if content is None else save(path, content)
    with pytest.raises(BadFile, match=says):
        tau2.import_folder(folder)
    assert not home.exists()


def test_broken_toml_and_files_beyond_the_limit_are_refused(tmp_path, monkeypatch):
    folder = make_folder(tmp_path)
    save(folder / "telecom" / "tasks.json", [])
    save(folder / "telecom" / "db.toml", "[[plans]\nplan_id = ")
    with pytest.raises(BadFile, match=r"db.toml:1: not TOML"):
        tau2.read_folder(folder)
    monkeypatch.setattr(tau2, "LARGEST_FILE", 100)
    with pytest.raises(BadFile, match="the limit is"):
        tau2.read_folder(folder)
    with pytest.raises(BadFile, match="the limit is"):
        tau2.read_json(folder / "retail" / "db.json", 100)
    with pytest.raises(BadFile, match=r"no telecom or retail folder"):
        tau2.read_folder(ROOT / "tests" / "importers")


def test_a_row_of_the_database_that_is_none_is_left_out_and_told(tmp_path):
    folder = make_folder(tmp_path)
    database = load(folder / "retail" / "db.json")
    lost = list(database["users"])[-1]
    database["users"][lost]["zip"] = database["users"][lost].pop("address")
    save(folder / "retail" / "db.json", database)
    found = tau2.read_folder(folder)
    assert [(one.file, one.column) for one in found.rejected] == [("retail/db.json", f"users {lost}")]
    assert "address" in found.rejected[0].problem
    assert found.tasks == {"retail": 3}


# Result files


def result(task="1", reward=1.0, trial=0, end="user_stop", **more):
    """A simulation of four messages in which the agent cancels an order."""
    call = {"id": "c1", "name": "cancel_pending_order", "arguments": {"order_id": "#W1", "reason": "no longer needed"}}
    used = {"prompt_tokens": 50, "completion_tokens": 5}
    return {
        "id": f"{task}-{trial}",
        "task_id": task,
        "trial": trial,
        "termination_reason": end,
        "duration": 2.5,
        "agent_cost": 0.01,
        "start_time": "2026-01-01T10:00:00",
        "messages": [
            {"role": "assistant", "content": "Hello?", "tool_calls": None},
            {"role": "user", "content": "Cancel #W1."},
            {"role": "assistant", "content": None, "tool_calls": [call], "usage": used},
            {"role": "tool", "id": "c1", "content": '{"status": "cancelled"}', "requestor": "assistant"},
            {"role": "assistant", "content": "Done.", "usage": {"prompt_tokens": 70, "completion_tokens": 3}},
            {"role": "user", "content": "###STOP###"},
        ],
        "reward_info": {
            "reward": reward,
            "db_check": {"db_match": reward == 1.0, "db_reward": reward},
            "action_checks": [{"action": {"name": "cancel_pending_order"}, "action_match": True}],
            "reward_breakdown": {"DB": reward},
            "reward_basis": ["DB"],
        },
        **more,
    }  # fmt: skip


def results(*simulations, model="gpt-x", **more):
    action = {"name": "cancel_pending_order", "arguments": {"order_id": "#W1", "reason": "no longer needed"}}
    listed = [
        {"id": name, "user_scenario": {"instructions": "Call."}, "evaluation_criteria": {"actions": [action]}}
        for name in ("1", "2", "3")
    ]
    return {
        "timestamp": "2026-01-01T09:00:00",
        "info": {"agent_info": {"implementation": "llm_agent", "llm": model}, "user_info": {"llm": "gpt-y"},
                 "environment_info": {"domain_name": "retail"}, "seed": 300, "git_commit": "abc"},
        "tasks": listed,
        "simulations": list(simulations),
        **more,
    }  # fmt: skip


def test_a_result_file_becomes_a_run(tmp_path, home):
    bad = result("2", 0.0, end="max_steps")
    lost = result("3", reward_info=None, end="infrastructure_error")
    save(tmp_path / "results.json", results(result(), bad, lost, result("1", trial=1)))
    found, new = import_file(tmp_path / "results.json")
    assert (new, found.rows, found.passed, found.rejected) == (True, 4, 2, [])
    assert import_file(tmp_path / "results.json")[1] is False
    run = write.load_run(found.run.id)
    assert (run.model, run.simulated, run.trials, run.seed) == ("gpt-x", False, 2, 300)
    one = found.attempts[0][0]
    assert [(message.role, message.turn) for message in one.messages] == [
        ("agent", 0), ("customer", 1), ("agent", 1), ("tool", 1), ("agent", 1), ("customer", 1),
    ]  # fmt: skip
    done = one.messages[3].data
    assert (done["tool"], done["side"], done["kind"], done["write"], done["irreversible"]) == (
        "cancel_pending_order", "agent", "ok", True, True,
    )  # fmt: skip
    assert (done["arguments"]["order_id"], done["value"]) == ("#W1", {"status": "cancelled"})
    assert (one.usage.prompt_tokens, one.usage.completion_tokens, one.usage.calls) == (120, 8, 2)
    assert (one.latency_s, one.cost_usd, one.started.isoformat()) == (2.5, 0.01, "2026-01-01T10:00:00+00:00")
    board = leaderboard(View(benchmark="mmtaup2"), ("overall",)).row(0, named=True)
    # What the infrastructure cut short says nothing about the agent: two of three that count passed.
    assert (board["attempts"], board["ok"], board["provider"], board["overall_n"]) == (4, 3, 1, 3)
    assert board["overall"] == pytest.approx(200 / 3)
    groups = failures.groups(View(benchmark="mmtaup2"))
    assert sorted(groups.select("kind", "n").rows()) == [("answer", 1), ("provider", 1)]
    assert "ended by max_steps" in groups["detail"].to_list()
    assert set(failures.on_the_way(View(benchmark="mmtaup2"))["kind"]) == {"agent"}


def test_the_policy_of_a_file_stays_with_its_conversations(tmp_path):
    whole = results(result())
    whole["info"]["environment_info"]["policy"] = "Obtain the customer's confirmation before you cancel."
    save(tmp_path / "results.json", whole)
    ((attempt, _),) = tau2_results.read_file(tmp_path / "results.json").attempts
    assert unknown_world.policy_told(attempt) == "Obtain the customer's confirmation before you cancel."
    assert unknown_world.asks_first(attempt)


def test_conversations_on_tasks_like_ours_are_measured_like_ours(tmp_path):
    asked = result("2")
    agree = [{"role": "assistant", "content": "Shall I cancel order #W1?"}, {"role": "user", "content": "Yes, please."}]
    asked["messages"][2:2] = agree
    save(tmp_path / "results.json", results(result(), asked))
    found = tau2_results.read_file(tmp_path / "results.json")
    safe = {
        attempt.output["tau2_id"]: score.value
        for attempt, scored in found.attempts
        for score in scored.scores
        if score.metric == "irreversible_action_safety"
    }
    assert safe == {"1-0": 0.0, "2-0": 100.0}
    assert task_of(found.samples[0]).irreversible == ("cancel_pending_order",)


def test_what_python_writes_and_json_is_not_is_read(tmp_path):
    odd = result("2", reward_info={"reward": float("nan")})
    dear = result("3", agent_cost=10**30)
    talk = result()
    talk["messages"][1]["content"] = "half \ud83d a pair"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results(talk, odd, dear)), encoding="utf-16")
    found = tau2_results.read_file(path)
    assert [(one.row, one.column) for one in found.rejected] == [(2, "reward_info.reward"), (3, "agent_cost")]
    assert found.attempts[0][0].messages[1].text == "half \ufffd a pair"


def test_both_layouts_are_the_same_run_and_unknown_keys_are_passed_over(tmp_path):
    simulations = [result(), result("2", 0.0), result("3")]
    save(tmp_path / "one" / "results.json", results(*simulations))
    split = results(simulation_index=[{"id": each["id"]} for each in simulations])
    save(tmp_path / "two" / "results.json", split)
    for each in reversed(simulations):
        newer = {**each, "effects": {"noise": 1}, "ticks": None}
        newer["messages"] = [{**message, "mood": "calm", "turn_idx": 4} for message in each["messages"]]
        save(tmp_path / "two" / "simulations" / f"{each['id']}.json", newer)
    one, two = tau2_results.read_file(tmp_path / "one" / "results.json"), tau2_results.read_file(tmp_path / "two")
    assert two.rejected == []
    assert (one.run.id, one.attempts) == (two.run.id, two.attempts)
    # One file of them is broken, another is missing: the third is still a result.
    save(tmp_path / "two" / "simulations" / "2-0.json", "{")
    (tmp_path / "two" / "simulations" / "3-0.json").unlink()
    rest = tau2_results.read_file(tmp_path / "two")
    assert len(rest.attempts) == 1
    assert [one.file for one in rest.rejected] == ["simulations/2-0.json", "simulations/3-0.json"]


def test_tau_bench_records_and_files_that_lack_the_newer_keys(tmp_path):
    nested = {"id": "c", "function": {"name": "get_order_details", "arguments": '{"order_id": "#W'}}
    made = {"role": "assistant", "content": None, "tool_calls": [nested]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "Error: no such order"}
    traj = [{"role": "system", "content": "Rules"}, {"role": "user", "content": [{"text": "Hi"}]}, made, answer]
    save(tmp_path / "gpt-retail.json", [{"task_id": 5, "reward": 0.0, "info": {}, "traj": traj, "trial": 0}] * 2)
    found = tau2_results.read_file(tmp_path / "gpt-retail.json")
    assert (found.run.model, found.run.setup["domain"], found.rows) == ("gpt-retail", "retail", 2)
    assert [one.problem for one in found.rejected] == ["trial 0 of task 5 came before"]
    talk = found.attempts[0][0].messages
    assert [message.role for message in talk] == ["system", "customer", "agent", "tool"]
    # Arguments that are no JSON stay as they were emitted.
    assert (talk[1].text, talk[2].tool_calls[0].arguments, talk[3].data["kind"]) == (
        "Hi",
        '{"order_id": "#W',
        "refused",
    )
    bare = {"simulations": [{"task_id": "1", "messages": [], "reward_info": {"reward": 1}}]}
    save(tmp_path / "bare.json", bare)
    assert tau2_results.read_file(tmp_path / "bare.json").passed == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"simulations": [', "no JSON"),
        ('"text"', "neither an object nor a list"),
        ('{"info": 3}', "no list of simulations"),
        ('{"simulations": []}', "no simulation could be used"),
        ('{"simulations": [{"task_id": null}, 3]}', "row 1, task_id"),
        ('{"simulations": [{"task_id": "1", "messages": [{"role": "robot"}]}]}', "messages.0.role"),
        ('{"simulations": [{"task_id": "1", "trial": "first"}]}', "trial"),
        ('{"simulations": [{"task_id": "1", "reward_info": {"reward": "high"}}]}', "reward_info.reward"),
    ],
)
def test_a_corrupt_result_file_is_told_where_and_stores_nothing(tmp_path, home, content, says):
    save(tmp_path / "results.json", content)
    with pytest.raises(BadFile, match=says):
        import_file(tmp_path / "results.json")
    assert not home.exists()


def test_what_breaks_off_while_it_is_stored_leaves_nothing_and_can_be_repeated(tmp_path, home, monkeypatch):
    save(tmp_path / "results.json", results(result(), result("2")))

    def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(tau2_results, "_status", fail)
        with pytest.raises(OSError, match="disk full"):
            import_file(tmp_path / "results.json")
    assert write.list_runs() == []
    found, new = import_file(tmp_path / "results.json")
    assert new
    assert len(write.finished(found.run.id)) == 2
    assert list((home / "tmp").iterdir()) == []


def test_only_what_can_be_imported_is(home):
    from cxlab.benchmarks.import_sources import find_source
    from cxlab.commands.switches import read_flags

    with pytest.raises(UnknownName, match="tau2-results"):
        find_source("tau3")
    options = find_source("tau2").Options
    assert options.read(read_flags(["--check"], options, "tau2")).to_record() == {"check": True}
    with pytest.raises(UnknownName, match="--check"):
        read_flags(["--check"], find_source("cxmarena").Options, "cxmarena")


# One worker opens pages, so that what they need is loaded once.
@pytest.mark.xdist_group("pages")
@needs_example
def test_the_example_is_on_overview_compare_and_failures(home, monkeypatch):
    from tests.pages.app_script import open_page, words

    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    found, _ = import_file(EXAMPLE)
    assert (len(found.attempts), found.passed, found.rejected) == (10, 8, [])
    assert found.run.simulated, "a script that plays the agent must not pass for a model"
    other = load(EXAMPLE)
    other["info"]["agent_info"]["llm"] = "other-model"
    save(home / "other.json", other)
    import_file(home / "other.json")
    for page in ("overview", "compare", "failures"):
        app = open_page(page, benchmark="mmtaup2")
        assert not app.exception
        told = words(app)
        wanted = {
            "overview": "cannot tell yet who leads",
            "compare": "other-model and scripted gold agent are level",
            "failures": "4 dialogues failed",
        }
        assert wanted[page] in told
        if page == "overview":
            board = app.dataframe[0].value
            assert dict(zip(board["name"], board["pass"], strict=True))["other-model"] == 80
    one = next(attempt for attempt, scored in found.attempts if any(s.value == 0 for s in scored.scores))
    app = open_page("failures", attempt=f"{found.run.id}/{one.id}")
    assert not app.exception
    # Each call stands with what came back of it, though the file numbers its calls in its own way.
    shown = " ".join(str(each.proto.body) for each in app.get("html"))
    assert "<summary>agent: <b>" in shown
    assert "no result" not in shown


def test_conversations_of_a_world_that_we_lack_are_measured_as_far_as_they_go() -> None:
    real = Path(__file__).resolve().parents[5] / "shared" / "data" / "tau-bench" / "gpt-4o-airline-even-tasks.json"
    if not real.exists():
        pytest.skip(f"{real} is not there")
    found = tau2_results.read_file(real)
    by_metric: dict[str, list[float]] = {}
    for _, scored in found.attempts:
        for score in scored.scores:
            if score.value is not None:
                by_metric.setdefault(score.metric, []).append(score.value)
    assert len(by_metric["turns"]) == 100
    # By hand 11 of 123 write calls were not confirmed (tests/data/tau_bench_acts.md); most conversations are safe.
    safe = by_metric["irreversible_action_safety"]
    assert len(safe) > 40
    assert sum(value == 100 for value in safe) > 0.85 * len(safe)
    # The file tells the gold actions of 88 of them; whose goal was reached had its fields right.
    assert len(by_metric["critical_field_accuracy"]) > 40
    assert len(by_metric["error_recovery_rate"]) > 10
    passed = {
        attempt.id for attempt, scored in found.attempts if any(s.metric == "pass" and s.value for s in scored.scores)
    }
    right = [
        score.value
        for attempt, scored in found.attempts
        for score in scored.scores
        if score.metric == "critical_field_accuracy" and score.value is not None and attempt.id in passed
    ]
    assert sum(value == 100 for value in right) >= 0.9 * len(right) > 10
    assert "turn_efficiency" not in by_metric  # nobody knows the shortest way
