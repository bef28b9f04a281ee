"""The benchmark as a whole: its samples, its check, its scores, and its runs on the pages."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.benchmark import BENCHMARK, CARD, verdict_of
from cxlab.benchmarks.mmtaup2.conversation import speech
from cxlab.benchmarks.mmtaup2.run import terms_of
from cxlab.benchmarks.mmtaup2.score import gold_attempt
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.errors import BadOption, CxError, UnknownName
from cxlab.read import View, failures
from cxlab.read.comparison.ranking import rank
from cxlab.records import Attempt, Failure, Message, Sample
from cxlab.runner.estimate import estimate
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.plan import SampleFilter, choose
from cxlab.runner.request import RunRequest, create_runs
from cxlab.views.compare import queries
from cxlab.voice import audio
from tests.pages.app_script import open_page, words

PLAIN = {"personas": "none", "exposures": 0, "modalities": "text"}
MODELS = ("simulated:strong", "simulated:weak")


def setup(**options: object) -> Setup:
    return Setup(llm.load("simulated:strong"), llm.load("simulated:customer"), (), "run-1", 0, options)


def plain(domain: str, count: int = 6) -> list[Sample]:
    return BENCHMARK.generate_now({**PLAIN, "domain": domain, "count": count}, 1)[1]


def scores(sample: Sample, attempt: Attempt) -> dict[str, tuple[float | None, str | None]]:
    scored = asyncio.run(BENCHMARK.score(sample, attempt, setup()))
    names = [row.metric for row in scored.scores]
    assert len(names) == len(set(names))
    return {row.metric: (row.value, row.reason) for row in scored.scores}


def test_every_task_comes_under_all_terms_and_only_terms_differ() -> None:
    dataset, found = BENCHMARK.generate_now({"count": 3}, 5)
    assert len({sample.id for sample in found}) == len(found) == 2 * 3 * 3 * 3 * 2
    assert BENCHMARK.generate_now({"count": 3}, 5)[0].id == dataset.id != BENCHMARK.generate_now({"count": 3}, 6)[0].id
    for domain in ("telecom", "retail"):
        of = [sample for sample in found if sample.task == domain]
        tasks = {samples.task_of(sample).id: set() for sample in of}
        for sample in of:
            terms = terms_of(sample, setup(), 1)
            tasks[samples.task_of(sample).id].add((terms.persona, terms.exposure, terms.modality))
            told = ("nothing", "persona", "profile")[terms.exposure]
            wanted = {"level": terms.persona, "exposure": told, "modality": terms.modality}
            assert wanted.items() <= sample.facets.items()
        assert [len(ways) for ways in tasks.values()] == [18, 18, 18]


def test_an_option_that_a_sample_contradicts_is_refused() -> None:
    terms = {**PLAIN, "modalities": "voice", "domain": "retail", "count": 1, "wer": 0.3}
    (sample,) = BENCHMARK.generate_now(terms, 5)[1]
    assert terms_of(sample, setup(exposure=0, wer=0.3), 1).wer == 0.3
    with pytest.raises(BadOption, match="exposures=2"):
        terms_of(sample, setup(exposure=2), 1)


def test_a_conversation_is_seeded_alike_under_all_terms() -> None:
    found = BENCHMARK.generate_now({"count": 1, "domain": "telecom"}, 5)[1]
    assert len({terms_of(sample, setup(), 1).seed for sample in found}) == 1
    assert terms_of(found[0], setup(), 1).seed != terms_of(found[0], setup(), 2).seed


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"domain": "bank"}, BadOption),
        ({"colour": "red"}, UnknownName),
        ({"exposures": 3}, BadOption),
        ({"count": "many"}, BadOption),
        ({"count": 0}, BadOption),
        ({"wer": 1.5}, BadOption),
    ],
)
def test_settings_that_cannot_be_are_refused(config: dict[str, object], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        BENCHMARK.generate_now(config, 0)


@pytest.mark.parametrize("domain", ["telecom", "retail"])
def test_gold_scores_100_and_doing_nothing_0(domain: str) -> None:
    for sample in plain(domain, 12):
        assert list(BENCHMARK.check(sample)) == []
        best, worst = scores(sample, gold_attempt(sample)), scores(sample, gold_attempt(sample, acts=False))
        assert best["right"] == best["pass"] == (100.0, None)
        assert {best[part][0] for part in ("db", "actions", "env_assertions", "communicate", "bystanders")} == {100.0}
        assert worst["right"][0] == worst["pass"][0] == 0.0
        assert worst["right"][1]


def test_check_finds_a_task_that_cannot_be_won_or_lost() -> None:
    sample = plain("telecom", 1)[0]
    broken = sample.model_copy(update={"expected": {**sample.expected, "gold": []}})
    assert "the gold actions score 0.0" in next(iter(BENCHMARK.check(broken)))
    easy = sample.model_copy(update={"expected": {**sample.expected, "gold": [], "assertions": []}})
    assert [text for text in BENCHMARK.check(easy) if "doing nothing scores 100.0" in text]


def test_reasons_name_what_went_wrong() -> None:
    sample = next(one for one in plain("retail", 12) if "change_order_address" in one.inputs["issues"])
    empty, gold = gold_attempt(sample, acts=False), gold_attempt(sample)
    lost = {"passed": False}

    def reason(attempt: Attempt, **output: object) -> str | None:
        return verdict_of(sample, attempt.model_copy(update={"output": {**attempt.output, **lost, **output}}))[1]

    first = samples.task_of(sample).gold[0]
    assert reason(empty) == f"not done: {first.tool}"
    assert reason(empty.model_copy(update={"ended_by": "loop"})) == "went in circles"
    assert reason(empty, transferred=True) == "handed over without need"
    name = next(iter(first.arguments))
    call = {"side": "agent", "tool": first.tool, "arguments": {**first.arguments, name: "other"}, "kind": "refused"}
    wrong = Message(role="tool", text="", turn=1, data=call)
    assert reason(empty.model_copy(update={"messages": (*empty.messages, wrong)})) == f"wrong {name} in {first.tool}"
    strangers = {**gold.output["reward"], "bystanders": 0.0, "basis": ["BYSTANDERS"]}
    mine = sample.model_copy(update={"expected": {**sample.expected, "reward_basis": ["DB", "BYSTANDERS"]}})
    odd = gold.model_copy(update={"output": {**gold.output, **lost, "reward": strangers}})
    assert verdict_of(mine, odd) == (0.0, "changed what belongs to another customer")


def test_what_a_provider_cut_short_is_not_scored() -> None:
    sample = plain("telecom", 1)[0]
    failure = Failure(where="provider", type="timeout", message="too late")
    cut = gold_attempt(sample).model_copy(update={"outcome": "provider", "failures": (failure,)})
    found = scores(sample, cut)
    assert {value for name, (value, _) in found.items() if name != "format_error"} == {None}
    assert all(reason for name, (value, reason) in found.items() if value is None)


def test_a_sample_that_cannot_be_played_is_refused() -> None:
    sample = plain("telecom", 1)[0]
    bare = sample.model_copy(update={"expected": {}})
    with pytest.raises(BadOption, match="cannot be played or marked"):
        asyncio.run(BENCHMARK.run(bare, replace(setup()), 1))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with two models on eight samples, one judge."""
    base = tmp_path_factory.mktemp("mmtaup2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(base))
        patch.setenv("CXLAB_NO_AUTOSTART", "1")
        order = RunRequest(
            "mmtaup2", MODELS, "simulated:customer", ("simulated:judge-fair",), choice=SampleFilter(limit=14)
        )
        launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
        yield base


def opened(model: str, wrong: bool) -> tuple[str, str]:
    """An attempt that went wrong (or right) as pages address it, and its task."""
    frame = failures.rows(View(benchmark="mmtaup2", models=(model,), metric="pass")).frame
    row = next(row for row in frame.iter_rows(named=True) if (row["score"] == 0) == wrong)
    return f"{row['run_id']}/{row['attempt_id']}", row["task"]


def test_overview_leads_each_domain_by_what_passes(home: Path) -> None:
    found = rank(REGISTRY["mmtaup2"].declaration, View(benchmark="mmtaup2")).tasks
    assert {each.task.id: each.leader for each in found} == {"telecom": MODELS[0], "retail": MODELS[0]}
    app = open_page()
    assert not app.exception
    assert app.subheader[0].value.replace("\\", "").startswith("MM-tau-p²")


def test_failures_lists_dialogues_with_reasons_and_filters_by_terms(home: Path) -> None:
    app = open_page("failures", benchmark="mmtaup2")
    assert not app.exception
    assert app.metric[0].label == "Dialogues"
    rows = app.dataframe[-1].value
    assert len(rows) == failures.rows(View(benchmark="mmtaup2", verdict="wrong")).frame.height
    assert rows["reason"].notna().all()
    by = {box.label: box for box in app.multiselect}
    assert {"Persona", "What the agent knows", "Modality", "Task"} <= set(by)
    assert "infers a profile" in by["What the agent knows"].options
    some = open_page("failures", benchmark="mmtaup2", exposure="profile")
    assert 0 < int(some.metric[0].value) < int(app.metric[0].value)


def test_one_dialogue_is_led_by_the_cards_figures(home: Path) -> None:
    address, _ = opened(MODELS[1], wrong=True)
    app = open_page("failures", benchmark="mmtaup2", attempt=address)
    assert not app.exception
    assert [metric.label for metric in app.metric] == ["Passed", "Critical field accuracy", "Turn efficiency", "Turns"]
    assert app.metric[0].value == "0.0"
    text = words(app)
    assert "What went wrong" in text
    assert "What had to hold in the end" in text
    assert any("judges" in one.label for one in app.expander)


def test_compare_groups_by_the_terms_of_a_dialogue(home: Path) -> None:
    view = View(benchmark="mmtaup2", metric="pass")
    whole = queries.differences(view, MODELS[0])["n"].sum()
    told = queries.differences(view, MODELS[0], by="exposure")
    assert set(told["grp"]) <= {"nothing", "persona", "profile"}
    for by in ("persona", "exposure", "modality"):
        parts = queries.differences(view, MODELS[0], by=by)
        alike = queries.alike(view, "model", by)
        # Every pair is in one group, but for those under terms that not every value was tried under.
        assert parts["n"].sum() == (whole if alike is None else alike.samples) > 0
    one = told.row(0, named=True)
    own = queries.alike(view, "model", "exposure")
    held = own.held if own else {}
    assert queries.differences(view.narrow(**held, exposure=(one["grp"],)), MODELS[0])["n"].sum() == one["n"]


def test_compare_takes_a_domain_at_a_time_and_sets_two_dialogues_side_by_side(home: Path) -> None:
    address, task = opened(MODELS[1], wrong=True)
    app = open_page("compare", benchmark="mmtaup2", task=task, attempt=address)
    assert not app.exception
    assert app.selectbox(key="cx-filter-metric").value == "pass"
    assert "on the same customer" in words(app)


def test_a_limit_keeps_tasks_comparable() -> None:
    chosen = choose(BENCHMARK, BENCHMARK.generate_now({"count": 4})[1], SampleFilter(limit=24))
    by_task: dict[tuple[str, str | None], list[tuple[str | None, str | None]]] = {}
    for sample in chosen:
        key = (sample.inputs["id"], sample.facets["exposure"])
        by_task.setdefault(key, []).append((sample.facets["persona"], sample.facets["modality"]))
    # Four tasks, two a domain, each by text and by voice with each persona, and not all told the same.
    assert sorted(map(len, by_task.values())) == [6, 6, 6, 6]
    assert all(len(set(terms)) == 6 for terms in by_task.values())
    assert {sample.task for sample in chosen} == {"telecom", "retail"}
    assert len({exposure for _, exposure in by_task}) > 1


def test_shares_end_at_100_and_counts_nowhere():
    # Source: the paper's table of metrics; a count of turns drawn against 100 would look near its worst at any value.
    assert {CARD.scale(name) for name in ("pass", "user_effort", "judged_clarification_recall")} == {(0.0, 100.0)}
    assert {CARD.scale(name) for name in ("turns", "user_effort_count", "judged_recovery_turn_count")} == {None}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"escalation": 99}, r"'99'; known: 1, 2"),
        ({"agent_voice": "nons"}, "agent_voice=nons: the text channel has no voices.*audio=espeak, openai"),
        ({"persona": "hard"}, "persona=hard.*--option personas=hard"),
    ],
)
def test_switches_that_no_run_can_have_are_refused_when_it_is_ordered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], told: str
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    order = RunRequest("mmtaup2", ("simulated:strong",), "simulated:customer", options=options)
    for ask in (create_runs, estimate):
        with pytest.raises(CxError, match=told) as refused:
            ask(order)
        assert "\n" not in str(refused.value)
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(not audio.is_installed(), reason="espeak-ng is not installed")
def test_voices_are_refused_when_the_run_is_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = plain("retail", 1)

    def order(voice: str) -> None:
        BENCHMARK.refuse(chosen, BENCHMARK.Options.read({"audio": "espeak", "customer_voice": voice}))

    order("en-us+f2")
    with pytest.raises(BadOption, match=r"'nons' is no voice .*as en-us\+f2"):
        order("nons")
    with pytest.raises(UnknownName, match=r"known: .*f2"):
        order("en-us+nons")
    # Where nothing can speak, the plan may be for another machine.
    monkeypatch.setattr(speech, "is_installed", lambda: False)
    order("nons")
