"""The page Judges as a script sees it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cxlab import jobs
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.read import View, ask, decisions
from cxlab.records import Annotation, new_id
from cxlab.store import write
from cxlab.views.benchmarks import declared_all
from cxlab.views.judges.slices import Slices
from tests.pages.app_script import codes, open_page, words
from tests.stores import judged
from tests.stores.judged import judge_again
from tests.stores.judged_mm import ADA, BOB, SOURCE, make_mm_store
from tests.stores.verdicts import JudgingWriter, decide

TABS = ["review", "agreement", "bias", "changes", "verdicts"]


def test_an_empty_store_says_what_would_be_here(empty_home: Path) -> None:
    app = open_page("judges")
    assert not app.exception
    assert "No judge has voted in this store yet" in words(app)


@pytest.mark.parametrize("tab", TABS)
def test_every_question_is_answered(judged_home: Path, tab: str) -> None:
    app = open_page("judges", tab=tab)
    assert not app.exception
    assert not app.error
    assert app.query_params.get("tab") == tab


@pytest.mark.parametrize("tab", TABS)
def test_filters_that_leave_nothing_are_told(judged_home: Path, tab: str) -> None:
    app = open_page("judges", tab=tab, run=["run-1"], model=["simulated:eloquent"])
    assert not app.exception
    assert "No judge has voted under these filters" in words(app) or "No two judges differ on anything" in words(app)


@pytest.mark.parametrize("tab", TABS)
def test_a_judge_has_one_name_on_the_whole_page(judged_home: Path, tab: str) -> None:
    app = open_page("judges", tab=tab)
    cells = [str(cell) for table in app.dataframe for row in table.value.to_numpy().tolist() for cell in row]
    options = [option for choice in app.selectbox for option in choice.options]
    told = "\n".join([words(app), *cells, *options])
    assert "lenient" in told
    assert "judge-" not in told
    assert "lenient · simulated" not in told


def test_titles_say_the_finding(judged_home: Path) -> None:
    review = words(open_page("judges"))
    assert "◇ simulated" in review
    # The review says what the other views found.
    drop = "No judge is missed beyond chance: without lenient the panel is right on 66.7 %, with it on 66.7 %"
    assert f"{drop} (" in review
    agreement = open_page("judges", tab="agreement")
    assert "Two judges agree on 50.0 % to 75.0 %" in words(agreement)
    assert {m.label: m.value for m in agreement.metric}["Splits that matter"] == "33.3 %"
    left_out = open_page("judges", tab="changes")
    # The panel as it is stands first, for the others to be read against.
    table = next(each.value for each in left_out.dataframe if "rest" in each.value)
    assert (table["name"].iloc[0], table["rest"].iloc[0]) == ("none", pytest.approx(200 / 3))
    # All of its columns stand in a window of 1024 pixels: about 7.2 a letter and 18 for the edges of a cell.
    shapes = next(json.loads(each.proto.columns) for each in left_out.dataframe if "rest" in each.value)
    heads = [str(shapes[name]["label"]) for name in table.columns]
    assert sum(7.2 * len(head) + 18 for head in heads) <= 714, heads
    changes = words(left_out)
    assert "The table tells of fields alone. No judge grades lower than another beyond chance; " in changes
    assert "On 33.3 % of turns the split changes the way that is right" in changes
    assert drop in changes
    assert "No judge alone turns the order of two models beyond chance" in changes
    assert "No judge grades lower than another beyond chance" in words(open_page("judges", tab="bias"))
    truth = open_page("judges", tab="bias", **{"judges-against": "The truth"})
    assert "Who is right most often cannot be told: 33.3 % to 66.7 %" in words(truth)


def test_what_is_named_lowest_is_what_is_opened_and_reviewed(own_judged_home: Path) -> None:
    app = open_page("judges", tab="agreement")
    assert "The lowest, core intention · ecommerce refund: lenient and partial agree on 50.0 %, n 4" in words(app)
    assert "Core intention · ecommerce refund: lenient and partial agree on 50.0 %" in words(app)
    assert "Asked: What the customer wants done about the order. Until told: return or refund." in words(app)
    # Stand-ins: nobody measured what they cost and take, and an empty column is none.
    votes = next(each.value for each in app.dataframe if "oov" in each.value)
    assert not {"cost_usd", "latency_s"} & set(votes.columns)
    app.button(key="judges-to-queue").click().run()
    assert app.query_params["judge"] == ["simulated:judge-lenient", "simulated:judge-partial"]
    assert "Only what lenient and partial differ on" in [each.value for each in app.subheader]
    kinds = next(each.value for each in app.dataframe if "telling" in each.value)
    assert set(kinds["title"]) == {"core intention · ecommerce refund"}
    assert kinds["n"].sum() == 2
    assert "core intention · ecommerce refund: all (2)" in app.selectbox(key="group").options
    app.button(key="review-all-judges").click().run()
    assert "judge" not in app.query_params


def test_panels_are_looked_at_one_at_a_time(own_judged_home: Path) -> None:
    judged.add_run_of_one_judge(own_judged_home)
    app = open_page("judges", tab="agreement")
    assert app.selectbox(key="judges-panel").options == ["lenient, partial, strict · 4 attempts", "ada · 1 attempt"]
    assert {m.label: m.value for m in app.metric}["Judged turns"] == "4"
    alone = open_page("judges", tab="agreement", **{"judges-panel": "ada"})
    assert "There is one judge only" in words(alone)


def test_judges_of_whom_nothing_is_known_are_no_empty_table(own_judged_home: Path) -> None:
    # A run of two judges whose one verdict has no truth: nothing can be said of leaving one out.
    run = judged.make_run("run-other", "simulated:weak").model_copy(update={"judges": ("ada", "bob")})
    write.create_run(run, own_judged_home)
    samples = {sample.id: sample for sample in write.load_samples("d1", own_judged_home)}
    with JudgingWriter(run, samples, home=own_judged_home) as writer:
        attempt, scored = judged.make_attempt(0, run.id, "s1")
        votes = tuple(scored.votes[0].model_copy(update={"judge": name, "cost_usd": None, "latency_s": None})
                      for name in run.judges)  # fmt: skip
        writer.add(attempt, decide("sage", "dialogue", attempt, Scored((), votes, (), ())))
    app = open_page("judges", tab="changes", run=["run-other"])
    assert not app.exception
    assert "Which judge to drop cannot be told" in words(app)
    assert not any("alone" in each.value or "name" in each.value for each in app.dataframe)


def test_a_clicked_cell_is_kept_in_the_address(judged_home: Path) -> None:
    point = {"customdata": ["ecommerce_refund.CoreIntention", "simulated:judge-lenient", "simulated:judge-strict"]}
    app = open_page("judges", state={"judges-items-field-agree": {"selection": {"points": [point]}}}, tab="agreement")
    assert app.query_params["field"] == "ecommerce_refund.CoreIntention"
    assert app.query_params["judge"] == ["simulated:judge-lenient", "simulated:judge-strict"]
    assert "lenient and strict agree on 75.0 %" in words(app)


def test_twice_the_same_shows_the_command_until_there_is_something(own_judged_home: Path) -> None:
    app = open_page("judges", tab="agreement")
    assert codes(app)[0].startswith("python -m cxlab score run-")
    judge_again(own_judged_home, "simulated:judge-strict")
    assert not codes(open_page("judges", tab="agreement"))


ANN = {"cx-author-kept": "Ann"}


def test_a_decision_needs_a_name_is_kept_with_it_and_can_be_taken_back(own_judged_home: Path) -> None:
    nameless = open_page("judges")
    assert "The verdicts below wait for your name" in words(nameless)
    assert all(each.disabled for each in nameless.button if (each.key or "").startswith("review-say-"))
    nameless.text_input(key="cx-author").set_value("  Ann   Example ").run()
    next(each for each in nameless.text_input if (each.key or "").startswith("review-why")).set_value("he said so")
    nameless.button(key="review-say-Exchange").click().run()
    found = decisions.decisions()
    assert found.select("rater", "attempt_id", "turn", "field", "value").row(0) == (
        "Ann Example", "run-0-a1", 1, "CoreIntention", "Exchange",
    )  # fmt: skip
    kept = ask("SELECT author, turn, field, value FROM annotations_in_force WHERE kind = 'note'").rows()
    assert kept == [("Ann Example", 1, "CoreIntention", "he said so")]
    # One is at the next item, and what was just decided is told there.
    assert {name: nameless.query_params[name] for name in ITEM} != ITEM
    assert "✓ Core intention, turn 1: exchange" in words(nameless)
    nameless.button(key="review-look").click().run()
    assert {name: nameless.query_params[name] for name in ITEM} == ITEM
    assert "You decided: **exchange**" in words(nameless)
    assert "What the judges were asked" in words(nameless)
    assert "- exchange: wants to have the article" in words(nameless)
    assert "failed → passed" in words(nameless)
    assert "1 decision changes 1 attempt" in words(nameless)
    assert "corrects nothing" not in words(nameless)
    nameless.button(key="review-n").click().run()
    nameless.button(key="review-say-cannot tell").click().run()
    assert "1 decision changes 1 attempt" in words(nameless)
    assert "1 more said “cannot tell”, which corrects nothing." in words(nameless)
    nameless.button(key="review-back").click().run()
    nameless.button(key="review-p").click().run()
    nameless.button(key="review-undo").click().run()
    assert decisions.decisions().is_empty()
    nameless.button(key="review-say-Exchange").click().run()
    nameless.button(key="review-back").click().run()
    assert decisions.decisions().is_empty()
    assert {name: nameless.query_params[name] for name in ITEM} == ITEM


def test_blind_hides_judges_model_truth_and_other_raters_until_decided(own_judged_home: Path) -> None:
    annotate_as("Bob", "ReturnOrRefund")
    app = open_page("judges", state=ANN)
    item = words(app).partition("kinds of disagreement")[0]
    for hidden in ("lenient** says", "eloquent · simulated", "made with", "Bob decided"):
        assert hidden not in item
    app.button(key="review-say-Exchange").click().run()
    app.button(key="review-look").click().run()
    for shown in ("**lenient** says **exchange**", "Bob decided: **return or refund**", "Raters differ"):
        assert shown in words(app)
    assert "**lenient** says" in words(open_page("judges", state={"cx-author-kept": "Cy"}, **{"review-blind": "false"}))


def test_an_audience_sees_the_question_and_its_answers_first(judged_home: Path) -> None:
    app = open_page("judges", show="large")
    assert not app.exception
    assert not any("decided by you" in str(each.label) for each in app.get("progress"))
    assert [each.key for each in app.selectbox if each.key == "group"] == []
    assert any(str(each.key).startswith("review-say-") for each in app.button)
    assert not any("kinds of disagreement" in each.value for each in app.subheader)
    app.toggle(key="large").set_value(False).run()
    assert any("kinds of disagreement" in each.value for each in app.subheader)


def test_a_conflict_is_told_settled_and_reopened(own_judged_home: Path) -> None:
    annotate_as("Bob", "ReturnOrRefund")
    annotate_as("Ann", "Exchange")
    app = open_page("judges", state=ANN, **{"review-show": "Conflicts"})
    assert "The score stays as the judges have it" in words(app)
    assert "Ann and Bob agree on 0.0 %" in words(app)
    app.button(key="review-settle-Exchange").click().run()
    settled = open_page("judges", state=ANN, **{"review-show": "All"}, **ITEM)
    assert "Settled by Ann: **exchange**" in words(settled)
    assert decisions.outcomes(decisions.decisions())["state"].to_list() == ["resolved"]
    settled.button(key="review-reopen").click().run()
    assert decisions.outcomes(decisions.decisions())["state"].to_list() == ["conflict"]


ITEM = {"attempt": "run-0/run-0-a1", "turn": "1", "field": "CoreIntention"}


def annotate_as(rater: str, value: str) -> None:
    write.annotate(
        Annotation(
            id=new_id("note"), created=datetime.now(UTC), author=rater, kind="adjudication", run_id="run-0",
            attempt_id="run-0-a1", turn=1, field="CoreIntention", value=value,
        )
    )  # fmt: skip


def test_what_decisions_correct_stands_beside_the_scores_on_overview(own_judged_home: Path) -> None:
    assert "Corrected by people" not in words(open_page())
    annotate_as("Ann", "Exchange")
    told = words(open_page())
    assert "Corrected by people's decisions, over all runs: success rate of eloquent 50.0 → 100.0 (+50.0" in told


def test_each_item_has_an_address_and_the_way_to_the_next(own_judged_home: Path) -> None:
    app = open_page("judges", state=ANN)
    assert {name: app.query_params[name] for name in ITEM} == ITEM
    first = dict(ITEM)
    app.button(key="review-n").click().run()
    assert {name: app.query_params[name] for name in ITEM} != first
    app.button(key="review-p").click().run()
    assert {name: app.query_params[name] for name in ITEM} == first
    foreign = open_page("judges", state=ANN, **{**ITEM, "field": "NoSuchField"})
    assert "No judge was asked about “NoSuchField”" in words(foreign)
    assert not foreign.exception


def test_over_all_benchmarks_the_sidebar_has_no_more_facets_than_are_narrowed() -> None:
    slices = Slices(("scenario", "level"), {}, declared_all(["sage"], union=True))
    assert slices.list_filters(View(), alone=False) == ["models", "runs"]
    assert slices.list_filters(View(), alone=True) == ["models", "scenario", "level", "runs"]
    narrowed = View().narrow(level=("zero",))
    assert slices.list_filters(narrowed, alone=False) == ["models", "level", "runs"]


def test_older_links_lead_to_the_view_that_answers_now(judged_home: Path) -> None:
    for tab, told in (
        ("queue", "Core intention, turn 1?"),
        ("gold", "Who is right most often cannot be told"),
    ):
        app = open_page("judges", tab=tab)
        assert not app.exception
        assert told in words(app)


LONG, RIGHT_TO_LEFT = "n" * 200, "שופט: <b>ג'ון</b> ![x](http://evil.example/a.png)"


@pytest.mark.parametrize("names", [("ada",), (LONG, RIGHT_TO_LEFT, "ada")])
def test_one_judge_and_odd_names(empty_home: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    count = len(names)
    monkeypatch.setattr(judged, "JUDGES", names)
    monkeypatch.setattr(judged, "VERDICTS", [each[:count] for each in judged.VERDICTS])
    monkeypatch.setattr(judged, "GRADES", [each[:count] for each in judged.GRADES])
    judged.make_judged_store(empty_home)
    for tab in TABS:
        app = open_page("judges", tab=tab, state={"cx-author-kept": RIGHT_TO_LEFT})
        assert not app.exception, tab
        if count == 1:
            alone = {
                "review": "ada alone has judged here",
                "bias": "No judge grades lower",
                "verdicts": "gave 8 verdicts",
                "": "There is one judge only",
            }
            assert alone.get(tab, alone[""]) in words(app)
        elif tab == "review":
            app.button(key="review-say-Exchange").click().run()
            assert not app.exception
            assert decisions.decisions()["rater"].to_list() == [RIGHT_TO_LEFT]


@pytest.fixture
def mm_home(empty_home: Path) -> Path:
    """Six conversations of MM-tau-p2, measured and judged, and asked about under two versions of the rule."""
    make_mm_store(empty_home)
    return empty_home


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The jobs that a page starts, which are not."""
    found: list[list[str]] = []
    monkeypatch.setattr(jobs, "start", lambda args: found.append(list(args)))
    return found


def test_measured_and_judged_stand_side_by_side(mm_home: Path) -> None:
    app = open_page("judges", tab="judged")
    assert not app.exception
    told = words(app)
    assert "No metric is judged clearly apart from the log" not in told
    assert "The panel sees user effort 3.2 points below the log" in told
    assert "Passed: the panel and the log differ in 16.7 % of conversations" in told
    assert "Ada differs from the log most on solved: 16.7 %" in told
    table = next(each.value for each in app.dataframe if "difference" in each.value.columns)
    assert table["attempt_id"].tolist() == [f"{SOURCE}-c1"]
    other = open_page("judges", tab="judged", **{"judged-by": BOB, "judged-metric": "pass"})
    assert "Passed: bob and the log differ in 0.0 % of conversations" in words(other)


def test_a_clicked_metric_is_kept_in_the_address(mm_home: Path) -> None:
    app = open_page(
        "judges", state={"judged-shares": {"selection": {"points": [{"customdata": ["user_effort"]}]}}}, tab="judged"
    )
    assert app.query_params["judged-metric"] == "user_effort"
    assert "User effort: the panel and the log differ in 80.0 % of conversations" in words(app)


def test_escalation_shows_rates_flips_and_the_rules(mm_home: Path) -> None:
    app = open_page("judges", tab="escalation")
    assert not app.exception
    told = words(app)
    assert "From version 1 to 2 wrong verdicts go from 58.3 % to 25.0 %" in told
    assert "2 conversations on which bob is wrong" in told
    assert "0 of 2 steps are real improvements, 0 real losses" in told
    assert "6 verdicts changed: 5 towards the truth, 1 away from it" in told
    assert all(rule.rule in told for rule in rubric_versions.rules())
    of_bob = open_page("judges", tab="escalation", **{"flips-by": BOB, "escalation-verdicts": f"{ADA}~1"})
    assert "2 verdicts changed" in words(of_bob)
    assert "5 conversations on which ada is wrong" in words(of_bob)


def test_a_new_version_is_written_and_asked_for_from_the_page(mm_home: Path, started: list[list[str]]) -> None:
    app = open_page("judges", tab="escalation")
    app.text_area(key="escalation-rule").set_value("Handing over never counts.")
    app.text_area(key="escalation-found").set_value("Too many of them.")
    next(each for each in app.button if each.label == "Add this version").click().run()
    assert not app.exception
    assert (rubric_versions.find().version, rubric_versions.find().rule) == (4, "Handing over never counts.")
    assert "Handing over never counts." in words(app)
    app.button(key="escalation-ask").click().run()
    assert started == [["rejudge", SOURCE, f"--judge={ADA}", f"--judge={BOB}", "--quiet"]]
    # The same once more is refused with the reason.
    app.text_area(key="escalation-rule").set_value("Handing over never counts.")
    next(each for each in app.button if each.label == "Add this version").click().run()
    assert "version 4 of the rule says just that" in words(app)


def test_escalation_says_how_to_fill_it(mm_home: Path, judged_home: Path, started: list[list[str]]) -> None:
    import shutil

    app = open_page("judges", tab="escalation")  # a store of SAGE only
    assert "Here you would see how often each judge is wrong about hand-overs" in words(app)
    assert "cxlab run mmtaup2" in codes(app)[0]
    assert "Here you would see the metrics of MM-tau-p² twice" in words(open_page("judges", tab="judged"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("mm-patch", "mm-again"):
            shutil.rmtree(mm_home / "runs" / name)
        patch.setenv("CXLAB_HOME", str(mm_home))
        app = open_page("judges", tab="escalation")
        assert codes(app)[0] == f"python -m cxlab rejudge {SOURCE}"
        app.button(key="escalation-first").click().run()
        assert started == [["rejudge", SOURCE, "--quiet"]]
