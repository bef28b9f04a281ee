"""The page Failures as a script sees it."""

import re
from pathlib import Path

import pytest

from cxlab.benchmarks.contract import Scored
from cxlab.read import View, annotations, failures
from cxlab.records import Attempt, Dataset, Message, Sample, Score, ToolCall
from cxlab.store import write
from cxlab.ui.tables import table_key
from tests.pages.app_script import open_page, picked, words
from tests.stores.judged import HOSTILE, NOON, make_run
from tests.stores.verdicts import decide

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("failures")


def test_the_list_counts_groups_and_dialogues(judged_home: Path) -> None:
    app = open_page("failures")
    assert not app.exception
    assert {m.label: m.value for m in app.metric} == {
        "Dialogues": "4",
        "Passed, in all runs": "50.0 %",
        "No verdict": "0",
        "Turns gone wrong": "50.0 %",
    }
    assert "2 dialogues failed or without a verdict" in words(app)
    assert app.dataframe[-1].value["wrong_"].tolist() == ["1 misread field", "1 unreadable reply"]
    whole = open_page("failures", verdict="all").dataframe[-1].value
    assert whole["score"].tolist()[:3] == [50.0, 80.0, 90.0]
    assert whole["wrong_"].tolist() == ["1 misread field", "", "", "1 unreadable reply"]


def test_filters_come_from_the_address_and_are_drawn(judged_home: Path) -> None:
    app = open_page("failures", error=["format"], q="evil")
    assert app.multiselect(key="cx-filter-errors").value == ["format"]
    assert app.text_input(key="cx-filter-search").value == "evil"
    assert app.metric[0].value == "1"
    app.multiselect(key="cx-filter-errors").set_value([]).run()
    app.text_input(key="cx-filter-search").set_value("").run()
    assert app.metric[0].value == "4"
    assert "error" not in app.query_params


def test_a_group_can_be_entered_and_left(judged_home: Path) -> None:
    alike = failures.groups(View(errors=("field",)))["alike"][0]
    app = open_page("failures", alike=alike)
    assert "Read core intention as exchange, it was return or refund" in words(app)
    assert "1 dialogue failed or without a verdict" in [each.value for each in app.subheader]
    app.button(key="group-leave").click().run()
    assert "2 dialogues" in words(app)
    gone = open_page("failures", alike="nothing")
    assert not gone.exception
    assert "No failures of this group are left" in words(gone)


def test_a_click_on_a_row_opens_the_dialogue_at_its_turn(judged_home: Path) -> None:
    app = open_page("failures", state={table_key("attempts", failures.rows(View(verdict="wrong")).frame): picked(0)})
    assert app.query_params["attempt"] == "run-0/run-0-a1"
    assert app.query_params["turn"] == "1"


def test_one_dialogue_says_what_was_read_and_what_was_due(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1", turn="1")
    assert not app.exception
    said = words(app)
    assert "Read “another one” as core intention: exchange; the panel says return or refund" in said
    assert [expander.proto.expanded for expander in app.expander if "Turn 1" in expander.label] == [True]
    shown = " ".join(str(each.proto.body) for each in app.get("html"))
    assert "✕ exchange" in shown
    assert "Whose doing: the agent's" in said
    assert "What counts: on every evaluated turn" in said
    stands = {button.label for button in app.button if "(the verdict stands on it)" in button.label}
    assert len(stands) == 1
    assert stands.pop().startswith("✕ Turn 1: ")
    # Below the turn itself as well, once.
    assert said.count("The verdict stands on this turn") == 1


def test_previous_and_next_follow_the_order_of_the_list(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1", verdict="all")
    assert app.button(key="dialogue-p").disabled
    seen = []
    for _ in range(3):
        app.button(key="dialogue-n").click().run()
        seen.append(app.query_params["attempt"])
    assert seen == ["run-1/run-1-a2", "run-0/run-0-a0", "run-1/run-1-a3"]
    assert app.button(key="dialogue-n").disabled
    app.button(key="dialogue-up").click().run()
    assert "attempt" not in app.query_params
    assert app.title[0].value == "Failures"


def test_notes_are_kept_and_can_be_taken_back(own_judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/run-0-a1", turn="1")
    next(area for area in app.text_area if area.label == "Note").set_value(HOSTILE)
    next(button for button in app.button if button.label == "Add note").click().run()
    assert annotations.notes("run-0", "run-0-a1").log["value"].to_list() == [HOSTILE]
    assert HOSTILE in [each.value for each in app.text]
    next(button for button in app.button if button.label == "Undo").click().run()
    assert annotations.notes("run-0", "run-0-a1").log.is_empty()


def test_an_unknown_dialogue_is_told_and_left(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-0/none")
    assert not app.exception
    assert app.error
    app.button[0].click().run()
    assert "attempt" not in app.query_params


def test_nothing_that_was_said_reaches_markdown(judged_home: Path) -> None:
    app = open_page("failures", attempt="run-1/run-1-a3", turn="1")
    assert not app.exception
    assert HOSTILE in [each.value for each in app.text]
    for part in [*app.markdown, *app.caption]:
        assert "<img" not in part.value
        assert "](http" not in part.value
    for part in app.get("html"):
        assert "<img" not in part.proto.body
        assert "evil" not in part.proto.body or "&lt;" in part.proto.body


def make_talk(home: Path) -> None:
    """A voice dialogue with a goal that was missed; wherever somebody can write, it says the hostile."""
    known = {"reason": HOSTILE, "wishes": [HOSTILE], "facts": {"name": HOSTILE}, "unknown": [HOSTILE]}
    gold = [{"side": "agent", "tool": "pay", "arguments": {"id": HOSTILE}}]
    hold = [{"func_name": "assert_bill_paid", "arguments": {"id": HOSTILE}}]
    checks = {"actions": [{**gold[0], "matched": False}], "env_assertions": [{**hold[0], "met": True}]}
    sample = Sample(
        id="t1", dataset_id="t", benchmark="mmtaup2", task="telecom", inputs={"known": known, "issues": [HOSTILE]},
        expected={"gold": gold, "assertions": hold, "optimal_turns": 3, "nl_assertions": [HOSTILE]},
        facets={"scenario": "telecom", "persona": "hard", "exposure": "profile", "modality": "voice",
                "leaf": "overdue_bill"},
    )  # fmt: skip
    profile = {"technical_skill": 3.0, "persona": HOSTILE}
    spoken = {"meant": HOSTILE, "ideal": HOSTILE, "heard": "what", "errors": [["slip"]], "wer": 0.5}
    refused = {"call": "c1", "side": "agent", "kind": "refused", "tool": "pay"}
    attempt = Attempt(
        id="talk", run_id="talks", sample_id="t1", trial=0, started=NOON, ended_by="customer_stop",
        messages=(
            Message(role="customer", text="what", turn=1, data=spoken),
            Message(role="agent", text="", turn=1, tool_calls=(ToolCall(id="c1", name="pay", arguments=HOSTILE),)),
            Message(role="tool", text=f"Error: {HOSTILE}", turn=1, data=refused),
        ),
        output={
            "reward": {"bystanders": 1.0, "checks": checks, "basis": ["ENV_ASSERTION", "BYSTANDERS"]}, "wer": 0.15,
            "profiles": [{"turn": turn, "profile": profile, "reasoning": HOSTILE} for turn in (3, 6)],
        },
    )  # fmt: skip
    told = {"right": 0.0, "pass": 0.0, "user_effort": 20.0, "judged_user_effort": 60.0,
            "turn_efficiency": 30.0, "judged_turn_efficiency": 90.0}  # fmt: skip
    scores = tuple(
        Score(attempt_id="talk", turn=None, metric=name, value=value, reason="handed over without need")
        for name, value in told.items()
    )
    dataset = Dataset(
        id="t", benchmark="mmtaup2", name="t", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    write.save_dataset(dataset, [sample], home)
    run = make_run("talks", "simulated:base").model_copy(update={"benchmark": "mmtaup2", "dataset_id": "t"})
    write.create_run(run, home)
    with write.PartWriter(run, {"t1": sample}, home=home) as writer:
        writer.add(attempt, decide("mmtaup2", "telecom", attempt, Scored(scores=scores)))


def test_a_dialogue_with_a_goal_shows_terms_calls_transcripts_profile_and_both_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_talk(tmp_path)
    app = open_page("failures", attempt="talks/talk")
    assert not app.exception
    said = words(app)
    assert "Handed over without need." in said
    for part in (
        "✕ failed",
        "Persona: hard persona",
        "What the agent knows: infers a profile",
        "Modality: voice, 15 % misheard",
        "1 of 1 messages",
    ):
        assert part in said
    shown = " ".join(str(each.proto.body) for each in app.get("html"))
    assert "bill paid" in shown
    assert "nothing of another customer was changed" in shown
    assert re.search(r"user effort.*20\.0.*60\.0.*apart", shown)
    assert re.search(r"turn efficiency.*30\.0.*90\.0.*judges were asked another thing", shown)
    assert "their turn efficiency is the share of messages that they find necessary" in said
    assert all(f">{turn}</th>" in shown for turn in (3, 6))
    assert ">ideal</span>" not in shown
    app.toggle(key="cx-transcripts").set_value(True).run()
    assert ">ideal</span>" in " ".join(str(each.proto.body) for each in app.get("html"))
    # Text is text, wherever it comes from.
    assert "&lt;img" in shown
    assert "<img" not in shown
    for part in [*app.markdown, *app.caption]:
        assert "<img" not in part.value
        assert "](http" not in part.value
