"""Failures: counted by hand on four attempts; groups, filters, search, pages and files."""

import json
from pathlib import Path

import pytest

from cxlab import read
from cxlab.benchmarks.contract import Scored
from cxlab.read import View, failure_kinds, failures, procedures
from cxlab.records import Attempt, Dataset, Failure, Sample, Score
from cxlab.store import write
from tests.stores.judged import HOSTILE, NOON, make_judged_store, make_run
from tests.stores.verdicts import JudgingWriter, decide


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return make_judged_store(tmp_path)


def keys(view: View) -> list[str]:
    return sorted(failures.rows(view).frame["attempt_id"])


def test_counts(made: list[tuple[str, str]]) -> None:
    whole = {"attempts": 4, "failed": 2, "unscored": 0, "passed": 2, "turns": 4, "wrong_turns": 2}
    assert failures.counts(View(metric="overall")) == {**whole, "tool_errors": 0, "mended": 0, "on_the_way": 0}
    # What is listed changes none of the numbers beside the choice.
    assert failures.counts(View(metric="overall", verdict="passed")) == failures.counts(View(metric="overall"))
    assert failures.counts(View(metric="overall", models=("simulated:strong",)))["wrong_turns"] == 1


def test_a_group_names_stage_step_and_misread_value(made: list[tuple[str, str]]) -> None:
    found = failures.groups(View(metric="overall"))
    rows = {row["kind"]: row for row in found.iter_rows(named=True)}
    assert set(rows) == {"field", "format"}
    field = rows["field"]
    assert (field["stage"], field["took"], field["due"]) == ("stage3", "Exchange", "Refund")
    assert (field["field"], field["given"], field["wanted"]) == ("CoreIntention", "Exchange", "ReturnOrRefund")
    assert (field["n"], field["attempts"], field["share"], field["of"], field["groups"]) == (1, 1, 0.5, 2, 2)
    assert rows["format"]["detail"] == "invalid fields.CoreIntention"
    described = failures.group(View(alike=field["alike"]))
    assert described is not None
    assert described["field"] == "CoreIntention"
    assert failures.group(View(alike="nothing")) is None


def test_a_group_narrows_the_attempts_and_opens_at_its_turn(made: list[tuple[str, str]]) -> None:
    found = failures.groups(View(metric="overall", errors=("field",)))
    assert found["kind"].to_list() == ["field"]
    page = failures.rows(View(metric="overall", alike=found["alike"][0]))
    assert page.total == 1
    assert page.frame.select("attempt_id", "first_turn", "wrong").row(0) == ("run-0-a1", 1, ["field:1"])


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (View(metric="overall", errors=("any",)), ["run-0-a1", "run-1-a3"]),
        (View(metric="overall", errors=("format",)), ["run-1-a3"]),
        (View(metric="overall", errors=("field", "format")), ["run-0-a1", "run-1-a3"]),
        (View(metric="overall", errors=("no such kind",)), []),
        (View(metric="overall", verdict="wrong"), ["run-0-a1", "run-1-a3"]),
        (View(metric="overall", verdict="failed"), ["run-0-a1", "run-1-a3"]),
        (View(metric="overall", verdict="unscored"), []),
        (View(metric="overall", verdict="passed"), ["run-0-a0", "run-1-a2"]),
        (View(metric="overall", verdict="passed", errors=("field",)), []),
        (View(metric="overall", verdict="all"), ["run-0-a0", "run-0-a1", "run-1-a2", "run-1-a3"]),
        (View(metric="overall", verdict="no such verdict"), ["run-0-a0", "run-0-a1", "run-1-a2", "run-1-a3"]),
        (View(metric="overall", splits=("yes",)), ["run-0-a1"]),
        (View(metric="overall", splits=("no",)), ["run-0-a0", "run-1-a2"]),
        (View(metric="overall", ends=("goodbye",)), ["run-0-a0", "run-0-a1", "run-1-a2", "run-1-a3"]),
        (View(metric="overall", ends=("turns",)), []),
        (View(metric="overall", search="another one, please 2"), ["run-1-a2"]),
        (View(metric="overall", search="%"), []),
        (View(metric="overall", search="_"), []),
        (View(metric="overall", search="EVIL.example"), ["run-1-a3"]),
        (View(metric="overall", search="' OR 1=1 --"), []),
    ],
)
@pytest.mark.usefixtures("judged_home")
def test_filters(view: View, expected: list[str]) -> None:
    assert keys(view) == expected


def test_filters_hold_for_other_tables_too(made: list[tuple[str, str]]) -> None:
    scores = read.score_table(View(metric="overall", errors=("any",)), by=("model",))
    assert dict(scores.select("model", "mean").iter_rows()) == {"simulated:eloquent": 50.0}


def make_goals(home: Path) -> None:
    """Dialogues with a goal: one passed after a refusal, one failed after two, one cut short, one passed smoothly."""

    def refuse(type_: str, text: str, where: str = "tool") -> Failure:
        return Failure.model_validate({"where": where, "type": type_, "message": text, "turn": 2})

    number = refuse("refused", "No customer has the phone number '555-1'.")
    made = [
        ("mended", 100.0, None, [number, refuse("refused", "Nobody has asked for a payment.", "customer")]),
        (
            "failed",
            0.0,
            "handed over without need",
            [number, refuse("unknown_tool", "There is no tool named 'x' here.")],
        ),
        ("cut", None, "a provider fault cut the conversation short", [refuse("timeout", "late", "provider")]),
        ("smooth", 100.0, None, []),
    ]
    dataset = Dataset(
        id="g", benchmark="mmtaup2", name="g", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    facets = {"scenario": "telecom", "persona": "hard", "exposure": "profile"}
    sample = Sample(id="g1", dataset_id="g", benchmark="mmtaup2", task="telecom", inputs={}, expected={}, facets=facets)
    write.save_dataset(dataset, [sample], home)
    run = make_run("goals", "simulated:base").model_copy(update={"benchmark": "mmtaup2", "dataset_id": "g"})
    write.create_run(run, home)
    with JudgingWriter(run, {"g1": sample}, home=home) as writer:
        for trial, (name, value, reason, faults) in enumerate(made):
            attempt = Attempt(
                id=name, run_id="goals", sample_id="g1", trial=trial, failures=tuple(faults), started=NOON,
                outcome="provider" if value is None else "ok",
            )  # fmt: skip
            score = Score(attempt_id=name, turn=None, metric="right", value=value, reason=reason)
            writer.add(attempt, decide("mmtaup2", "telecom", attempt, Scored(scores=(score,))))


def test_what_was_mended_is_counted_and_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_goals(tmp_path)
    counts = failures.counts(View(metric="overall"))
    assert {name: counts[name] for name in ("attempts", "failed", "unscored", "passed", "tool_errors", "mended")} == {
        "attempts": 4, "failed": 1, "unscored": 1, "passed": 2, "tool_errors": 2, "mended": 1,
    }  # fmt: skip
    assert keys(View(metric="overall", verdict="wrong")) == ["cut", "failed"]
    found = failures.groups(View(metric="overall", verdict="wrong"))
    assert sorted(found.select("kind", "detail", "n").rows()) == [
        ("answer", "handed over without need", 1), ("provider", "timeout late", 1),
    ]  # fmt: skip
    way = {row["kind"]: row for row in failures.on_the_way(View(metric="overall")).iter_rows(named=True)}
    assert {kind: (row["n"], row["passed"], row["detail"]) for kind, row in way.items()} == {
        "refused": (2, 1, "No customer has the phone number …"),
        "unknown_tool": (1, 0, "There is no tool named 'x' here."),
        "customer_tool": (1, 1, "Nobody has asked for a payment."),
    }
    # The page of one attempt names kinds without asking the store.
    stored = read.ask("SELECT DISTINCT where_, type FROM failures").rows()
    assert {failure_kinds.kind_of(where, kind) for where, kind in stored} == {*way, "provider"}
    # Nothing is lost to filters: by its kind and by its group it is found, wherever it ended.
    assert (
        keys(View(metric="overall", errors=("refused",)))
        == keys(View(metric="overall", alike=way["refused"]["alike"]))
        == ["failed", "mended"]
    )
    assert keys(View(metric="overall", errors=("refused",), verdict="passed")) == ["mended"]
    assert failures.groups(View(metric="overall", errors=("refused",)))["n"].to_list() == [2]
    assert keys(View(metric="overall").narrow(exposure=("profile",))) == ["cut", "failed", "mended", "smooth"]
    assert keys(View(metric="overall").narrow(exposure=("nothing",))) == []
    rows = {row["attempt_id"]: row for row in failures.rows(View(metric="overall")).frame.iter_rows(named=True)}
    assert (rows["mended"]["wrong"], rows["mended"]["way"]) == (None, ["customer_tool:1", "refused:1"])
    # What failed on the way is not where the attempt went wrong.
    assert (rows["failed"]["wrong"], rows["failed"]["first_turn"]) == (["answer:1"], None)
    assert failures.rows(View(metric="overall", errors=("refused",))).frame["first_turn"].to_list() == [2, 2]


def test_a_group_knows_whether_the_same_happened_in_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    dataset = Dataset(
        id="g", benchmark="mmtaup2", name="g", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    samples = {
        task: Sample(id=task, dataset_id="g", benchmark="mmtaup2", task=task, inputs={}, expected={})
        for task in ("telecom", "retail")
    }
    write.save_dataset(dataset, list(samples.values()), tmp_path)
    run = make_run("goals", "simulated:base").model_copy(update={"benchmark": "mmtaup2", "dataset_id": "g"})
    write.create_run(run, tmp_path)
    failed = [
        ("telecom", "handed over without need"),
        ("retail", "handed over without need"),
        ("retail", "not done: x"),
    ]
    with JudgingWriter(run, samples, home=tmp_path) as writer:
        for trial, (task, reason) in enumerate(failed):
            attempt = Attempt(id=f"a{trial}", run_id="goals", sample_id=task, trial=trial, started=NOON, outcome="ok")
            score = Score(attempt_id=attempt.id, turn=None, metric="right", value=0.0, reason=reason)
            writer.add(attempt, decide("mmtaup2", task, attempt, Scored(scores=(score,))))
    found = failures.groups(View("mmtaup2", verdict="failed"))
    assert sorted(found.select("scenario", "detail", "elsewhere").rows()) == [
        ("retail", "handed over without need", True), ("retail", "not done: x", False),
        ("telecom", "handed over without need", True),
    ]  # fmt: skip
    alone = failures.groups(View("mmtaup2", tasks=("retail",), verdict="failed"))
    assert not alone["elsewhere"].any()


def test_facets_count_attempts_by_kind_and_split(made: list[tuple[str, str]]) -> None:
    found = read.facets(View(metric="overall"))
    part = {(name, value): n for name, value, n in found.iter_rows()}
    assert part[("errors", "any")] == 2
    assert part[("errors", "field")] == part[("errors", "format")] == 1
    assert (part[("splits", "yes")], part[("splits", "no")]) == (1, 2)


def test_pages_are_cut_and_counted_in_sql(made: list[tuple[str, str]]) -> None:
    first, second = (
        failures.rows(View(metric="overall"), limit=3),
        failures.rows(View(metric="overall"), limit=3, offset=3),
    )
    assert (first.total, second.total) == (4, 4)
    assert first.frame["score"].to_list() == [50.0, 80.0, 90.0]
    assert second.frame["score"].to_list() == [None]
    assert failures.rows(View(metric="overall", search="nobody said this")).frame.height == 0


def test_the_set_as_a_file_holds_every_message(made: list[tuple[str, str]]) -> None:
    lines = [
        json.loads(line)
        for line in failures.to_jsonl(
            failures.chosen_set(View(metric="overall", errors=("format",)), True)
        ).splitlines()
    ]
    assert len(lines) == 1
    assert [message["text"] for message in lines[0]["messages"]] == [HOSTILE, HOSTILE]
    assert (lines[0]["wrong"], lines[0]["verdict"]) == (["format"], "failed")
    assert failures.chosen_set(View(metric="overall")).height == 4
    assert "messages" not in failures.chosen_set(View(metric="overall")).columns
    both = failures.chosen_set(View(metric="overall"), metrics=("overall", "turns", "outcome"))
    assert {"overall", "turns", "turns_scored", "outcome", "outcome_scored"} <= set(both.columns)


def test_a_changed_filter_goes_back_to_page_one_and_stays_behind_on_other_pages() -> None:
    view = View(
        metric="overall", page=4, errors=("field",), alike="abc", splits=("yes",), ends=("turns",), verdict="all"
    )
    assert view.change(verdict="").page == 1
    assert View.from_query(view.to_query()) == view
    assert view.change(errors=()).page == 1
    assert view.change(alike="").page == 1
    assert view.filters() == View(metric="overall")


def test_the_fields_that_a_stage_asks_for_come_from_the_procedure() -> None:
    rows = {(row["scenario"], row["stage"]): row["fields"] for row in json.loads(procedures.stage_fields())}
    assert rows[("ecommerce_refund", "stage6")] == ["RefundReasonable"]
    assert procedures.get("ecommerce_refund").fields["ProvidedDocument"] == ("true", "false")
    assert procedures.find("no such scenario") is None
