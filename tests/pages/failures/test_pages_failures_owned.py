"""The page Failures on what is worst and whose doing it was: groups by points lost, and a verdict that is disputed."""

import re
from pathlib import Path

import polars as pl
import pytest

from cxlab.read import View, annotations, failures
from cxlab.read.comparison.score_sums import FullScore
from cxlab.records import Annotation
from cxlab.store import write
from cxlab.ui import filters
from cxlab.ui.annotations import annotate, withdraw
from cxlab.ui.tables import column
from cxlab.views.benchmarks import declared, declared_all
from cxlab.views.failures import attempt_columns
from cxlab.views.failures.charts import say_total, say_typical
from cxlab.views.failures.groups import say_level, say_most_deciding
from tests.pages.app_script import open_page, words
from tests.stores.judged import HOSTILE, NOON
from tests.stores.runs import write_run

# One worker opens these pages, so that what they show is read once.
pytestmark = pytest.mark.xdist_group("failures")

REASONS = {"s0": "slow", "s1": "slow", "s2": "slow", "s3": "rude", "s4": "rude"}
VALUES: dict[tuple[str, int], float | None] = {
    ("s0", 1): 40.0, ("s1", 1): 40.0, ("s2", 1): None, ("s3", 1): 0.0, ("s4", 1): 10.0, ("s5", 1): 100.0,
}  # fmt: skip


def test_groups_are_put_in_order_by_points_lost_where_that_is_asked_for(empty_home: Path) -> None:
    write_run(empty_home, 1, "m", VALUES, reasons=REASONS)
    full = [FullScore("sage", "dialogue", "told", 100.0)]
    often = failures.groups(View(benchmark="sage", verdict="wrong"), full=full)
    assert often.select("detail", "attempts").row(0) in [("slow", 2), ("slow", 3), ("rude", 2)]
    worst = failures.groups(View(benchmark="sage", verdict="wrong", weight="points"), full=full)
    told = {row["detail"]: (row["lost"], row["scored"]) for row in worst.iter_rows(named=True)}
    assert worst["detail"][0] == "rude"
    assert (told["rude"], told["slow"]) == ((190.0, 2), (120.0, 2))
    assert failures.groups(View(benchmark="sage", verdict="wrong"))["lost"].null_count() == worst.height
    app = open_page("failures", benchmark="sage", weight="points", model="m")
    assert not app.exception
    text = words(app)
    assert "Most points lost: rude (the agent's doing)" in text
    assert "The worst that m does, by points lost" in text
    assert f"2 dialogues, 190.0 of all {worst['lost_in_all'][0]:.1f} points lost; the agent's doing." in text
    # What has no reason is a group of its own; no attempt is in two.
    assert sum(each or 0 for each in worst["lost"]) == worst["lost_in_all"][0] == worst["lost_in_groups"][0]
    assert f"{worst['lost_in_all'][0]:.1f} points are lost in all, and the groups add up to it." in text
    assert "The worst that m does, by dialogues" in words(open_page("failures", benchmark="sage", model="m"))
    # Several models have no worst things of one's own.
    write_run(empty_home, 2, "n", VALUES, reasons=REASONS)
    assert "The worst that" not in words(open_page("failures", benchmark="sage"))


def test_attempts_of_all_benchmarks_stand_in_order_by_their_own_main_figures(empty_home: Path) -> None:
    write_run(empty_home, 1, "m", VALUES, reasons=REASONS)
    goals: dict[tuple[str, int], float | None] = {("t0", 1): 0.0, ("t1", 1): 100.0}
    write_run(empty_home, 2, "m", goals, benchmark="mmtaup2", task="telecom", metric="pass")
    mains = [FullScore("sage", "dialogue", "told", 100.0), FullScore("mmtaup2", "telecom", "pass", 100.0)]
    scores = [0.0, 0.0, 10.0, 40.0, 40.0, 100.0, 100.0, None]
    assert failures.rows(View(order="worst"), mains=mains).frame["score"].to_list() == scores
    found = failures.rows(View(order="best"), mains=mains).frame["score"].to_list()
    assert found == [*reversed(scores[:-1]), None]
    # A metric of the same name at another task is not its main figure.
    assert failures.rows(View(order="worst"), mains=mains[:1]).frame["score"].drop_nulls().len() == 5
    for order, expected in (("worst", [0.0, 0.0, 10.0]), ("best", [100.0, 100.0, 40.0])):
        app = open_page("failures", order=order, verdict="all")
        assert not app.exception
        table = next(each.value for each in app.dataframe if "score" in each.value.columns)
        assert table["score"].to_list()[:3] == expected
    # A point of one task is no point of another: over all of them nothing is summed, whatever the address says.
    app = open_page("failures", weight="points")
    assert "points lost" not in words(app)
    assert not any("By points lost" in each.options for each in app.segmented_control)


def test_a_group_of_one_benchmark_is_listed_as_that_benchmark_lists_it(empty_home: Path) -> None:
    answers: dict[tuple[str, int], float | None] = {(f"s{place}", 1): 40.0 * (place % 2) for place in range(4)}
    reasons = dict.fromkeys(("s0", "s1", "s2", "s3"), "missing")
    write_run(
        empty_home, 1, "m", answers, benchmark="cxmarena", task="multi_turn", metric="recall@10", latency_s=0.2,
        reasons=reasons, simulated=True,
    )  # fmt: skip
    write_run(empty_home, 2, "m", VALUES, reasons=REASONS)
    alike = next(row["alike"] for row in failures.groups(View()).iter_rows(named=True) if row["detail"] == "missing")
    app = open_page("failures", alike=alike)
    table = next(each.value for each in app.dataframe if "score" in each.value.columns)
    assert sorted(table["score"]) == [0.0, 0.0, 40.0, 40.0]
    # What is the same in all rows stands above them; what stand-ins take, and the task as an end, say nothing.
    assert not {"name", "reason", "benchmark", "latency_s", "ended_by", "wrong_"} & {*table.columns}
    assert "The same in all rows below: model: m; reason: missing; turns: 1." in words(app)
    assert "name" not in open_page("failures", alike=alike, model="m").dataframe[0].value.columns
    # Two of its attempts lost 100 points, two 60: they are not alike in that.
    assert "points lost" in words(app)
    assert "any of them stands for it" not in words(app)


def test_inside_failures_nothing_is_said_of_how_much_passed(empty_home: Path) -> None:
    write_run(empty_home, 1, "m", VALUES, reasons=REASONS)
    alike = failures.groups(View(benchmark="sage", verdict="wrong"))["alike"][0]
    app = open_page("failures", benchmark="sage", alike=alike)
    assert {each.label for each in app.metric} == {"Dialogues", "Failed", "No verdict"}
    assert "share that passed" not in words(app)


def test_reasons_that_differ_by_their_figures_are_one_group_on_the_page_and_in_reports(empty_home: Path) -> None:
    from cxlab.report.queries import telling

    reasons = {"s0": "told 40, 60 needed", "s1": "told 41, 60 needed", "s3": "told 0, 60 needed", "s4": "rude"}
    write_run(empty_home, 1, "m", VALUES, reasons=reasons)
    view = View(benchmark="sage", verdict="failed")
    page = {row["detail"]: row["attempts"] for row in failures.groups(view).iter_rows(named=True)}
    report = sorted(each["attempts"] for each in telling(view, 10) if each["detail"])
    assert page.pop(None) == 1  # of which no reason is stored
    assert page == {"told … … needed": 3, "rude": 1}
    assert report == sorted(page.values())


def test_a_group_leads_to_the_attempt_in_its_middle(empty_home: Path) -> None:
    scores = {"s0": 45.0, "s1": 0.0, "s2": 30.0, "s3": 10.0, "s4": 35.0, "s5": None, "s6": 20.0, "s7": 25.0}
    reasons = {**dict.fromkeys(scores, "slow"), "s6": "rude", "s7": "rude"}
    run = write_run(empty_home, 1, "m", {(name, 1): value for name, value in scores.items()}, reasons=reasons)
    full = [FullScore("sage", "dialogue", "told", 100.0)]
    view = View(benchmark="sage", verdict="wrong")
    alike = {row["attempts"]: row["alike"] for row in failures.groups(view).iter_rows(named=True)}
    assert set(alike) == {6, 2}
    own = failures.rows(view).frame
    of_group = view.change(alike=alike[6])
    found = failures.typical(of_group, full)
    assert found is not None
    sample = dict(own.select("attempt_id", "sample_id").iter_rows())[found["attempt_id"]]
    # Five are scored, at 45, 35, 30, 10 and 0: neither the worst nor the best is in the middle, nor the unscored one.
    assert (found["run_id"], sample, found["lost"], found["mid_lost"]) == (run, "s2", 70.0, 70.0)
    assert (found["failures"], found["mid_failures"]) == (1, 1)
    # Of two each is as far from the middle as the other.
    assert failures.typical(view.change(alike=alike[2]), full) is None
    app = open_page("failures", benchmark="sage", alike=of_group.alike)
    assert "Typical: 70.0 points lost; the group's median is 70.0, and no other one is nearer to it." in words(app)
    next(each for each in app.button if each.label.startswith("Read a typical one")).click().run()
    assert app.query_params["attempt"] == f"{run}/{found['attempt_id']}"
    assert not [
        each for each in open_page("failures", benchmark="sage", alike=alike[2]).button if "typical" in each.label
    ]


def test_what_a_typical_attempt_is_told_by() -> None:
    row = {"turns": 6, "mid_turns": 6.5, "reach_turns": 4, "failures": 1, "mid_failures": 2.0, "reach_failures": 3,
           "lost": None, "mid_lost": 40.0, "reach_lost": 0.0, "deciding": 3, "many": 3}  # fmt: skip
    assert say_typical(row) == (
        "Typical: 6 turns, 1 failure, no score; the group's medians are 6.5, 2 and 40.0, and no other one is nearer "
        "to them."
    )
    assert say_typical({**row, "deciding": 2}).endswith(
        "6.5, 2 and 40.0, and of the 2 on which the verdict stands no other is nearer to them."
    )
    same = {**row, "reach_turns": 0, "reach_failures": 0, "lost": 40.0}
    assert say_typical(same).startswith("All of this group are alike in turns, failures and points lost")


def test_of_several_benchmarks_each_one_is_listed_by_its_own_main_figure(empty_home: Path) -> None:
    write_run(empty_home, 1, "m", {("s0", 1): 40.0}, reasons={"s0": "slow"})
    write_run(empty_home, 2, "m", {("t0", 1): 30.0}, benchmark="crmarena", task="case_routing", customer=None,
              judges=())  # fmt: skip
    shown = open_page("failures", verdict="all").dataframe[-1].value
    assert sorted(shown["score"]) == [30.0, 40.0]


def test_whose_doing_it_was_can_be_disputed_with_a_reason_and_taken_back(own_judged_home: Path) -> None:
    key = {"attempt": "run-0/run-0-a1", "turn": "1"}
    app = open_page("failures", **key)
    assert "Whose doing: the agent's" in words(app)
    assert "Nothing is stored against others." in words(app)
    button = next(each for each in app.button if each.label == "Dispute it")
    button.click().run()
    assert "A dispute needs a reason" in app.warning[0].value
    assert annotations.notes("run-0", "run-0-a1").log.is_empty()
    app.selectbox(key="dispute-owner").set_value("customer")
    next(each for each in app.text_area if each.label == "Why").set_value(HOSTILE)
    next(each for each in app.button if each.label == "Dispute it").click().run()
    log = annotations.notes("run-0", "run-0-a1").log
    assert log.select("kind", "field", "value").rows() == [("dispute", "customer", HOSTILE)]
    assert re.search(r"disputes this: the customer's doing", words(app))
    assert not any("<img" in each.value for each in [*app.markdown, *app.caption])
    listed = open_page("failures", written="dispute")
    assert listed.dataframe[-1].value["disputed"].tolist() == ["customer"]
    assert failures.chosen_set(View(written=("dispute",)))["disputed"].to_list() == ["customer"]
    next(each for each in app.button if each.label == "Undo").click().run()
    assert annotations.notes("run-0", "run-0-a1").log.is_empty()


def dispute(run_id: str, attempt_id: str, other: str, author: str) -> None:
    id = f"note-{author}-{attempt_id}-{other}"
    write.annotate(
        Annotation(id=id, created=NOON, author=author, kind="dispute", run_id=run_id, attempt_id=attempt_id,
                   field=other, value="it was misheard")
    )  # fmt: skip


def test_disputes_are_counted_beside_the_owner_of_a_group(empty_home: Path) -> None:
    run = write_run(empty_home, 1, "m", VALUES, reasons=REASONS)
    view = View(benchmark="sage", verdict="wrong")
    assert set(failures.groups(view)["disputed"]) == {0}
    keys = failures.rows(view).frame.filter(pl.col("reason") == "slow")["attempt_id"].to_list()
    of_rude = failures.rows(view).frame.filter(pl.col("reason") == "rude")["attempt_id"][0]
    dispute(run, keys[0], "customer", "anna")
    dispute(run, keys[0], "judge", "bert")
    dispute(run, of_rude, "agent", "anna")
    found = failures.groups(view)
    told = {(row["detail"], row["owner"]): row["disputed"] for row in found.iter_rows(named=True)}
    # Two disputes of one attempt are one; one that names the group's own owner is none.
    assert sum(told.values()) == 1
    row = found.filter(pl.col("disputed") == 1).row(0, named=True)
    assert row["detail"] == "slow"
    one = failures.group(view.change(alike=row["alike"]))
    assert one is not None
    assert (one["disputed"], one["attempts"]) == (1, row["attempts"])
    assert "doing, 1 disputed" in words(open_page("failures", benchmark="sage", alike=row["alike"]))


def test_an_attempt_of_a_group_opens_at_the_groups_turn(judged_home: Path) -> None:
    alike = failures.groups(View(errors=("field",)))["alike"][0]
    app = open_page("failures", alike=alike, attempt="run-0/run-0-a1")
    assert not app.exception
    assert any(each.label.endswith("◀ the failure you came for") for each in app.button)


def test_an_attempt_opened_on_another_page_leads_back_there(judged_home: Path) -> None:
    came = {"cx_page": "judges", "cx_last": ("judges", {"tab": "agreement"})}
    app = open_page("failures", attempt="run-0/run-0-a1", state=came)
    (back,) = [each for each in app.get("page_link") if each.proto.label == "Back to Judges"]
    assert "tab=agreement" in back.proto.query_string
    listed = open_page("failures", state=came)
    assert not [each for each in listed.get("page_link") if each.proto.label.startswith("Back to")]


def test_an_attempt_of_a_group_leads_back_to_the_group(judged_home: Path) -> None:
    alike = failures.groups(View(errors=("field",)))["alike"][0]
    app = open_page("failures", alike=alike, attempt="run-0/run-0-a1")
    assert app.button(key="dialogue-up").label == "Back to the group"
    app.button(key="dialogue-up").click().run()
    assert "attempt" not in app.query_params
    assert alike in app.query_params["alike"]


def test_ties_among_the_worst_and_where_the_verdict_stands_most_often_are_told() -> None:
    things = ("dialogue", "dialogues")
    assert say_level({"level": 1}, things) == ""
    assert say_level({"level": 2}, things) == " (as many dialogues as 1 other group)"
    assert say_level({"level": 4}, things) == " (as many dialogues as 3 other groups)"
    row = dict.fromkeys(("stage", "took", "due", "field", "given", "wanted", "tool", "scenario"))
    rows = [{**row, "kind": "answer", "detail": name, "owner": "agent", "scenarios": 1, "elsewhere": False,
             "deciding": n} for name, n in (("slow", 5), ("rude", 24), ("late", 7))]  # fmt: skip
    groups = pl.DataFrame(rows)
    assert say_most_deciding(groups, {}, things) == (
        "Of the groups shown the verdict stands most often on: Rude (24 dialogues)."
    )
    assert say_most_deciding(groups[1:], {}, things) == ""
    assert say_most_deciding(groups.with_columns(deciding=pl.lit(0)), {}, things) == ""


def test_points_of_an_attempt_in_several_groups_are_told_as_counted_in_each() -> None:
    things = ("dialogue", "dialogues")
    assert say_total({"lost_in_all": None, "lost_in_groups": None}, things) == ""
    assert say_total({"lost_in_all": 310.0, "lost_in_groups": 310.0}, things) == (
        "310.0 points are lost in all, and the groups add up to it. "
    )
    assert say_total({"lost_in_all": 310.0, "lost_in_groups": 400.0}, things) == (
        "310.0 points are lost in all; the groups add up to 400.0, as dialogues that failed in several ways count in "
        "each of their groups. "
    )


def test_every_filter_of_the_address_is_seen_and_can_be_taken_away(empty_home: Path) -> None:
    values: dict[tuple[str, int], float | None] = {**VALUES, ("s9", 1): None}
    write_run(empty_home, 1, "m", values, reasons=REASONS, facets={f"s{i}": {"level": "zero"} for i in range(10)})
    write_run(empty_home, 2, "n", values, reasons=REASONS)
    asked = {"benchmark": "sage", "model": "m", "level": "zero", "outcome": "ok", "q": "a", "verdict": "failed"}
    app = open_page("failures", **asked)
    shown = {each.key.removeprefix("cx-active-"): each for each in app.button if "cx-active-" in str(each.key)}
    assert {name: each.label.replace("\\", "") for name, each in shown.items()} == {
        "models": "Model: m", "outcomes": "Outcome: ok", "level": "Adversarial level: not adversarial",
        "search": "Words: a",
    }  # fmt: skip
    listed = next(each for each in open_page("failures", benchmark="sage", verdict="unscored").get("button_group")
                  if each.key == "cx-choose-verdict")  # fmt: skip
    assert listed.value == "unscored", "the choice shows what the address asks for, not what is nearest to it"
    # Reading blind the page may not tell by its filters what it hides, but that they are there.
    blind = open_page("failures", **asked, blind="yes")
    told = [each.label.replace("\\", "") for each in blind.button if "cx-active-" in str(each.key)]
    assert told == ["Model: hidden", "Outcome: hidden", "Adversarial level: not adversarial", "Words: a",
                    "Listed: hidden"]  # fmt: skip
    for name, key in (("outcomes", "outcome"), ("search", "q"), ("level", "level")):
        next(each for each in app.button if each.key == f"cx-active-{name}").click().run()
        assert not app.exception
        assert key not in app.query_params
    assert app.query_params["model"] in ("m", ["m"])


def test_words_of_a_note_are_found_as_words_of_a_dialogue_are(empty_home: Path) -> None:
    run = write_run(empty_home, 1, "m", VALUES, reasons=REASONS)
    own = failures.rows(View()).frame
    attempt = own["attempt_id"][0]
    assert failures.counts(View(search="Ask OPS"))["attempts"] == 0
    written = annotate("note", run, attempt, "asks too late; ask ops")
    app = open_page("failures", q="Ask OPS")
    assert not app.exception
    assert "1 dialogue" in words(app)
    assert failures.rows(View(search="ask ops")).frame["attempt_id"].to_list() == [attempt]
    withdraw(written, run, attempt)
    assert failures.counts(View(search="ask ops"))["attempts"] == 0


def test_nobody_is_told_of_a_task_as_an_end_nor_of_an_end_by_its_id() -> None:
    about = declared("crmarena")
    assert (about.end("submit"), about.end("goodbye"), about.end("of_my_own")) == (
        "an answer",
        "goodbye",
        "of my own",
    )
    assert declared_all(["sage", "crmarena", "mmtaup2"]).end("customer_stop") == "the customer"


def test_the_filter_of_ends_offers_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {"name": ["tasks", "tasks", "ends", "ends"], "value": ["multi_turn", "dialogue", "multi_turn", "goodbye"]}
    monkeypatch.setattr(filters, "cached", lambda *given: pl.DataFrame(stored))
    assert filters._values(View(), ("tasks", "ends"))["ends"] == ["goodbye"]


def test_attempts_are_told_apart_by_what_was_asked_and_what_is_the_same_is_said_once() -> None:
    said = {"transcript": "Customer: Morning.\nAgent: Yes?\nCustomer: How long does it take?\nAgent: An hour."}
    assert attempt_columns.ask_of(said) == "How long does it take?"
    assert attempt_columns.ask_of({"query": "what year", **said}) == "what year"
    lines = [{"who": "Customer", "text": "Hello"}, {"who": "Agent", "text": "Yes?"}]
    assert attempt_columns.ask_of({"lines": lines}) == "Hello"
    assert attempt_columns.ask_of({"corpus": "search"}) is None
    rows = pl.DataFrame({"name": ["m", "m"], "score": [0.0, 0.0], "opening": ["a", "a"], "reason": ["x", "y"]})
    columns = {name: column(name.capitalize()) for name in rows.columns}
    kept, told = attempt_columns.leave_out_alike(rows, columns)
    assert (list(kept), told) == (["opening", "reason"], "The same in all rows below: name: m; score: 0.0.")
    assert attempt_columns.leave_out_alike(rows.head(1), columns) == (columns, "")


def test_answers_show_their_question_and_the_title_of_what_was_due(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = {
        "dataset_id": "d", "inputs": {"query": "what year did it start"}, "expected": {"article_id": "KB_1"},
    }  # fmt: skip
    monkeypatch.setattr(attempt_columns, "samples_of_rows", lambda rows: {"s0": sample})
    monkeypatch.setattr(attempt_columns, "document_titles", lambda dataset, search: {"KB_1": "Our history"})
    rows = pl.DataFrame(
        {
            "sample_id": ["s0", "s1", "s0"],
            "benchmark": ["cxmarena", "cxmarena", "sage"],
            "task": ["article_search", "article_search", "turns"],
            "opening": [None, None, "Hello"],
        }
    )
    found = attempt_columns.add_asked(rows, attempt_columns.answering(["cxmarena", "sage"]))
    assert found["opening"].to_list() == ["what year did it start", None, "Hello"]
    assert found["due_"].to_list() == ["Our history", None, None]
