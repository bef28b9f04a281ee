"""Failures against a count by hand over the records: every figure, group and filter of the page, on troubled stores."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from cxlab import read
from cxlab.read import View, failure_kinds, failures, procedures
from cxlab.records import Trace
from tests.pages.app_script import open_page, words
from tests.stores.troubled import MODELS, Made, make_troubled_store

DOES_NOT_COUNT = ("judge", "scorer", "unscored", "unmarked", *failure_kinds.EVENTS)
DESCRIBES = ("scenario", "kind", "stage", "took", "due", "field", "given", "wanted", "detail", "owner", "tool")
Row = dict[str, Any]


# One draw holds all kinds of trouble; another holds the same ones at other attempts.
@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Made]]:
    home = tmp_path_factory.mktemp("troubled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        yield make_troubled_store(home, seed=0)


def text_of(value: object) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def describe_turn(scenario: str | None, trace: Trace) -> Row:
    """Where a turn left the way, and by which field."""
    misread = trace.error in ("field", "lucky")
    taken = (*trace.own_path, trace.own_action) if misread else (*trace.predicted_path, trace.predicted_action)
    due = (*trace.reference_path, trace.reference_action)
    apart = [
        place
        for place in range(max(len(taken), len(due)))
        if (taken[place] if place < len(taken) else None) != (due[place] if place < len(due) else None)
    ]
    found: Row = dict.fromkeys(DESCRIBES) | {"scenario": scenario, "kind": trace.error, "owner": "agent"}
    found["stage"] = "start"
    if apart:
        place = apart[0]
        before = taken[place - 1] if place and place - 1 < len(taken) else None
        found["stage"] = before or "start"
        found["took"] = taken[place] if place < len(taken) else None
        found["due"] = due[place] if place < len(due) else None
    if misread:
        said = {name: text_of(value) for name, value in trace.predicted_fields.items()}
        panel = {name: text_of(value) for name, value in trace.panel_fields.items()}
        wrong = [name for name in panel if said.get(name) and panel[name] and said[name] != panel[name]]
        asked = [name for name in fields_of(scenario, found["stage"]) if name in wrong]
        if field := next(iter(asked or wrong), None):
            found |= {"field": field, "given": said[field], "wanted": panel[field]}
    return found


def fields_of(scenario: str | None, stage: str) -> list[str]:
    rows = json.loads(procedures.stage_fields())
    return next((row["fields"] for row in rows if (row["scenario"], row["stage"]) == (scenario, stage)), [])


def without_figures(text: str) -> str:
    return re.sub(r"\S*[0-9]\S*", "…", text)


def troubles_of(made: Made) -> list[Row]:
    """One row a turn or failure of an attempt, as `failure_kinds.troubles` has it."""
    verdict, known = made.scored.verdict, made.sample.facets.get("scenario")
    value, owner = (verdict.value, verdict.owner) if verdict else (None, "")
    turn = verdict.turn if verdict else None
    rows = [
        describe_turn(known, trace) | {"turn": trace.turn, "on_the_way": False}
        for trace in made.scored.traces
        if trace.error in ("field", "lucky", "execution", "action")
    ]
    # Of a dialogue of which only some turns are judged, a reply on another turn decides nothing, unless the verdict
    # stands on it.
    judged = {trace.turn for trace in made.scored.traces}
    # That nobody of the test is at fault says nothing of why: the verdict does.
    said = bool(rows)
    for each in made.attempt.failures:
        kind = failure_kinds.kind_of(each.where, each.type)
        decided = {
            "provider": owner == "provider",
            "format": value == "failed"
            and (each.turn is None or (turn is not None and (not judged or each.turn in {*judged, turn}))),
        }.get(each.where, False)
        said |= decided
        if each.where == "format" and each.type == "invalid":
            found = re.search("field '([^']+)'", each.message)
            detail = f"invalid {found.group(1) if found else ''}"
        elif kind in failure_kinds.EVENTS:
            detail = without_figures(each.message)
        else:
            detail = f"{each.type} {each.message.strip()[:200]}".strip() if each.where == "provider" else each.type
        described = {"scenario": known or made.sample.task, "kind": kind, "detail": detail}
        described["owner"] = "agent" if each.where == "format" else each.where
        rows.append(dict.fromkeys(DESCRIBES) | described | {"turn": each.turn, "on_the_way": not decided})
    if verdict and value in ("failed", "unscored") and not said:
        described = {
            "scenario": known or made.sample.task, "kind": "answer" if value == "failed" else "unmarked",
            "stage": verdict.stage, "field": verdict.field, "tool": verdict.tool,
            "owner": owner, "turn": turn, "on_the_way": False,
        }  # fmt: skip
        # Each line is a thing of its own that is wrong.
        rows += [dict.fromkeys(DESCRIBES) | described | {"detail": each or None} for each in verdict.reason.split("\n")]
    for row in rows:
        # An unreadable reply, and a provider's fault, is the same wherever it comes.
        anywhere = row["kind"] in ("format", "provider")
        told = [name for name in DESCRIBES if name != "owner" and not (name == "scenario" and anywhere)]
        # What a verdict says is the same by whatever tool it came.
        told = [name for name in told if name != "tool" or row["detail"] is None]
        if row["kind"] in ("answer", "unmarked"):
            told.append("owner")
        stopped = {"took": "-"} if row["took"] is None and row["due"] is not None else {}
        # What differs by figures alone, as the ids of requests do, is alike.
        stem = {"detail": without_figures(row["detail"])} if row["kind"] == "provider" else {}
        words = [text for name in told if (text := {**row, **stopped, **stem}[name]) is not None]
        # What decided nothing is told apart from the same thing where it did.
        words += ["on the way"] if row["on_the_way"] and row["kind"] not in failure_kinds.EVENTS else []
        row |= {"alike": hashlib.md5("|".join(words).encode()).hexdigest()[:10], "made": made}
    return rows


def kinds_of(made: Made) -> set[str]:
    """What the filter by kind finds an attempt by."""
    kinds = {trace.error for trace in made.scored.traces} - {"none"}
    kinds |= {row["kind"] for row in troubles_of(made)}
    kinds |= {"judge"} if any(not vote.valid for vote in made.scored.votes) else set()
    return kinds | ({"any"} if kinds - set(DOES_NOT_COUNT) else set())


def split_of(made: Made) -> str | None:
    heard = [trace.single_judges for trace in made.scored.traces if len(trace.single_judges) > 1]
    apart = [len({(each.path, each.action) for each in alone if each.path}) > 1 for alone in heard]
    return ("yes" if any(apart) else "no") if heard else None


def value_of(made: Made) -> str:
    return made.scored.verdict.value if made.scored.verdict else "unscored"


def chosen(made: list[Made], view: View) -> list[Made]:
    """The attempts that a view lets through."""
    values = {"failed": ("failed",), "unscored": ("unscored",), "wrong": ("failed", "unscored"), "passed": ("passed",)}
    return [
        each
        for each in made
        if (each.run.id in view.runs if view.runs else not each.run.setup["rescored_from"])
        and (not view.models or each.run.model in view.models)
        and (not view.tasks or each.sample.task in view.tasks)
        and all(each.sample.facets.get(name) in wanted for name, wanted in view.facets)
        and (view.verdict not in values or value_of(each) in values[view.verdict])
        and (not view.errors or kinds_of(each) & set(view.errors))
        and (not view.splits or split_of(each) in view.splits)
        and (not view.alike or any(row["alike"] == view.alike for row in troubles_of(each)))
    ]


VIEWS = [
    View(),
    View(verdict="wrong"),
    View(verdict="failed"),
    View(verdict="unscored"),
    View(verdict="passed"),
    View(models=MODELS[:1]),
    View(models=MODELS[1:], tasks=("other",), verdict="wrong"),
    View(runs=("run-3",)),
    View().narrow(level=("weak",)),
    View(verdict="wrong").narrow(scenario=("ecommerce_refund",), level=("strong",)),
    View(errors=("any",)),
    View(errors=("format", "judge"), verdict="wrong"),
    View(errors=("refused",), verdict="passed"),
    View(errors=("answer",)),
    View(splits=("yes",), verdict="wrong"),
    View(models=("nobody",)),
]


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_counts(made: list[Made], view: View) -> None:
    whole = chosen(made, view.change(verdict=""))
    verdicts = Counter(value_of(each) for each in whole)
    errors = Counter(trace.error for each in whole for trace in each.scored.traces)
    erred = [each for each in whole if any(failure.where == "tool" for failure in each.attempt.failures)]
    rows = [row for each in whole for row in troubles_of(each)]
    assert failures.counts(view) == {
        "attempts": len(whole), "failed": verdicts["failed"], "unscored": verdicts["unscored"],
        "passed": verdicts["passed"], "turns": errors.total(),
        "wrong_turns": errors.total() - errors["none"] - errors["unscored"], "tool_errors": len(erred),
        "mended": sum(value_of(each) == "passed" for each in erred),
        "on_the_way": sum(row["on_the_way"] for row in rows),
    }  # fmt: skip


def grouped(rows: list[Row], names: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows that have all but their scenario and tool in common, by that and by these, None where there are several."""
    found: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    details: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        details[row["alike"]].add(row["detail"])
    for row in [
        {**row, "detail": without_figures(row["detail"])} if len(details[row["alike"]]) > 1 else row for row in rows
    ]:
        found[tuple(row[name] for name in names if name not in ("scenario", "tool"))].append(row)
    keyed = {}
    for members in found.values():
        scenarios = sorted({row["scenario"] for row in members if row["scenario"] is not None})
        tools = {row["tool"] for row in members}
        shared = members[0] | {
            "scenario": scenarios[0] if len(scenarios) == 1 else None,
            "tool": tools.pop() if len(tools) == 1 else None,
        }
        if len(details[shared["alike"]]) > 1:
            shared["detail"] = without_figures(shared["detail"])
        keyed[tuple(shared[name] for name in names)] = members
    return keyed


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_groups(made: list[Made], view: View) -> None:
    rows = [row for each in chosen(made, view) for row in troubles_of(each)]
    kinds = set(view.errors) - {"any"}
    named = kinds and "any" not in view.errors
    rows = [row for row in rows if (row["kind"] in kinds if named else not row["on_the_way"])]
    expected = {
        key: (len(found), len({id(row["made"]) for row in found}), sorted({row["made"].run.model for row in found}))
        for key, found in grouped(rows, ("alike", *DESCRIBES)).items()
    }
    frame = failures.groups(view, limit=10_000)
    got = {
        tuple(row[name] for name in ("alike", *DESCRIBES)): (row["n"], row["attempts"], row["models"])
        for row in frame.iter_rows(named=True)
    }
    assert got == expected
    by_model = {key[0]: Counter(row["made"].run.model for row in found) for key, found in grouped(
        rows, ("alike", *DESCRIBES)).items()}  # fmt: skip
    assert {row["alike"]: dict(row["by_model"]) for row in frame.iter_rows(named=True)} == by_model
    assert frame.select("attempts", "n", "alike").rows() == sorted(
        ((attempts, n, key[0]) for key, (n, attempts, _) in expected.items()),
        key=lambda row: (-row[0], -row[1], row[2]),
    )
    level = Counter(attempts for _, attempts, _ in expected.values())
    assert frame["level"].to_list() == [level[attempts] for attempts in frame["attempts"]]
    assert set(frame["of"]) <= {len(rows)}
    assert set(frame["groups"]) <= {len(expected)}
    assert set(frame["of_attempts"]) <= {len({id(row["made"]) for row in rows})}
    assert frame["share"].to_list() == pytest.approx([n / frame["of_attempts"][0] for n in frame["attempts"]])
    assert failures.groups(view, limit=3).rows() == frame.head(3).rows() or frame["n"].n_unique() < frame.height


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_on_the_way(made: list[Made], view: View) -> None:
    whole = chosen(made, view.change(verdict=""))
    rows = [row for each in whole for row in troubles_of(each) if row["on_the_way"]]
    expected = {
        key: (
            len(found),
            len({id(row["made"]) for row in found}),
            len({id(row["made"]) for row in found if value_of(row["made"]) == "passed"}),
            sorted({row["made"].run.model for row in found}),
        )
        for key, found in grouped(rows, ("alike", "kind", "scenario", "detail")).items()
    }
    frame = failures.on_the_way(view, limit=10_000)
    got = {
        tuple(row[name] for name in ("alike", "kind", "scenario", "detail")): (
            row["n"], row["attempts"], row["passed"], row["models"],
        )
        for row in frame.iter_rows(named=True)
    }  # fmt: skip
    assert got == expected
    assert (set(frame["of"]), set(frame["groups"])) == (({len(rows)}, {len(expected)}) if rows else (set(), set()))


def expected_row(each: Made, view: View) -> tuple[Any, ...]:
    rows = troubles_of(each)
    kinds = set(view.errors) - {"any"}

    def opens(row: Row) -> bool:
        if view.alike:
            return bool(row["alike"] == view.alike)
        return row["kind"] in kinds if kinds else not row["on_the_way"]

    def listed(way: bool) -> list[str] | None:
        counted = Counter(row["kind"] for row in rows if row["on_the_way"] == way)
        return [f"{kind}:{n}" for kind, n in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))] or None

    turns = [row["turn"] for row in rows if opens(row) and row["turn"] is not None]
    reasons = [row["detail"] for row in rows if row["kind"] in ("answer", "unmarked")]
    return listed(False), listed(True), min(turns, default=None), "\n".join(sorted(reasons)) or None


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_rows(made: list[Made], view: View) -> None:
    view = view.change(metric="overall")
    page = failures.rows(view, limit=500)
    expected = {each.attempt.id: expected_row(each, view) for each in chosen(made, view)}
    got = page.frame.select("attempt_id", "wrong", "way", "first_turn", "reason").rows()
    assert {key: tuple(rest) for key, *rest in got} == expected
    assert page.total == len(expected)
    scores = {each.attempt.id: score_of(each) for each in chosen(made, view)}
    listed = page.frame["attempt_id"].to_list()
    assert page.frame["score"].to_list() == [scores[key] for key in listed]
    ranked = sorted(scores, key=lambda key: (scores[key] is None, scores[key] or 0.0, key.split("-a")[0], key))
    assert listed == ranked
    ranked.sort(key=lambda key: (scores[key] is None, -(scores[key] or 0.0), key.split("-a")[0], key))
    assert failures.rows(view.change(order="best"), limit=500).frame["attempt_id"].to_list() == ranked
    second = failures.rows(view, limit=10, offset=10)
    assert (second.frame["attempt_id"].to_list(), second.total) == (listed[10:20], len(listed))


def score_of(each: Made) -> float | None:
    """The attempt's own score, else the mean over its turns."""
    whole = [score.value for score in each.scored.scores if score.turn is None and score.value is not None]
    turns = [score.value for score in each.scored.scores if score.value is not None]
    return whole[0] if whole else sum(turns) / len(turns) if turns else None


def test_a_group_finds_its_attempts(made: list[Made]) -> None:
    for alike in failures.groups(View(), limit=8)["alike"]:
        view = View(alike=alike)
        expected = {each.attempt.id: expected_row(each, view) for each in chosen(made, view)}
        got = failures.rows(view, limit=500).frame.select("attempt_id", "wrong", "way", "first_turn", "reason").rows()
        assert {key: tuple(rest) for key, *rest in got} == expected
        everywhere = [row for each in made for row in troubles_of(each) if row["alike"] == alike]
        described = failures.group(view)
        assert described is not None
        # Groups that differ in who did it, or in what is not known, go by one name: the largest is described.
        counted = {key: len(rows) for key, rows in grouped(everywhere, DESCRIBES).items()}
        assert described["n"] == max(counted.values()) == counted[tuple(described[name] for name in DESCRIBES)]


@pytest.mark.parametrize("view", VIEWS[:10], ids=str)
def test_how_many_attempts_each_kind_finds(made: list[Made], view: View) -> None:
    whole = chosen(made, view)
    expected = Counter(("errors", kind) for each in whole for kind in kinds_of(each))
    expected += Counter(("splits", found) for each in whole if (found := split_of(each)))
    frame = read.facets(view, ["errors", "splits"])
    assert {(name, value): n for name, value, n in frame.iter_rows()} == expected


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_the_set_as_a_file(made: list[Made], view: View) -> None:
    frame = failures.chosen_set(view)
    expected = {each.attempt.id: sorted(kinds_of(each) - {"any"}) or None for each in chosen(made, view)}
    assert dict(frame.select("attempt_id", "wrong").iter_rows()) == expected
    # What the page counts as one group is as many rows of the file.
    alike = Counter(key for keys in frame["alike"].to_list() for key in keys or ())
    assert alike == {row["alike"]: row["attempts"] for row in failures.groups(view, 10_000).iter_rows(named=True)}


def test_unreadable_replies_of_one_form_are_one_group_in_all_scenarios(made: list[Made]) -> None:
    rows = [row for each in made for row in troubles_of(each) if row["kind"] == "format" and not row["on_the_way"]]
    forms = Counter((row["detail"], row["owner"]) for row in rows)
    kept = failures.groups(View(), limit=10_000).filter(pl.col("kind") == "format")
    assert {(row["detail"], row["owner"]): row["n"] for row in kept.iter_rows(named=True)} == dict(forms)
    assert kept["scenarios"].max() == max(
        len({r["scenario"] for r in rows if r["detail"] == form}) for form, _ in forms
    )
    assert kept.filter(pl.col("scenarios") > 1)["scenario"].drop_nulls().is_empty()


def stands_on(each: Made, alike: str) -> bool:
    """Whether the verdict of an attempt stands on a failure of a group."""
    turn = each.scored.verdict.turn if each.scored.verdict else None
    return any(row["alike"] == alike and not row["on_the_way"] and row["turn"] == turn for row in troubles_of(each))


def test_a_group_says_where_the_verdict_stands_on_it_and_can_be_narrowed_to_that(made: list[Made]) -> None:
    told = {row["alike"]: (row["deciding"], row["attempts"]) for row in failures.groups(View(), limit=500).to_dicts()}
    assert any(0 < deciding < attempts for deciding, attempts in told.values())
    for alike, (deciding, _) in told.items():
        expected = {each.attempt.id for each in chosen(made, View(alike=alike)) if stands_on(each, alike)}
        found = failures.rows(View(alike=alike, decides="yes"), limit=500).frame["attempt_id"]
        assert (deciding, set(found)) == (len(expected), expected)
    # What stands for a group is one on which its verdict stands, at the turn of that.
    turns = {each.attempt.id: each.scored.verdict.turn if each.scored.verdict else None for each in made}
    for alike, (deciding, attempts) in told.items():
        one = failures.typical(View(alike=alike))
        assert (one is None) == (attempts < 3)
        if one and deciding:
            assert (one["deciding"], one["many"]) == (deciding, attempts)
            assert one["first_turn"] == turns[one["attempt_id"]]
            assert stands_on(next(each for each in made if each.attempt.id == one["attempt_id"]), alike)
    partly = next(alike for alike, (deciding, attempts) in told.items() if 0 < deciding < attempts)
    deciding = told[partly][0]
    app = open_page("failures", alike=partly, benchmark="sage", verdict="all")
    assert not app.exception
    assert f"the verdict stands on it in {deciding} of these" in words(app)
    app.button(key="group-decides").click().run()
    assert app.query_params["decides"] == "yes"
    (table,) = (each.value for each in app.dataframe if "score" in each.value.columns)
    assert len(table) == deciding
    app.button(key="group-decides").click().run()
    assert "decides" not in app.query_params


def test_a_dialogue_opened_from_a_group_says_where_it_failed_like_that(made: list[Made]) -> None:
    rows = [(each, row) for each in made for row in troubles_of(each) if row["on_the_way"] and row["kind"] == "format"]
    each, row = next((each, row) for each, row in rows if row["turn"] and value_of(each) == "failed")
    assert failures.turns_alike(each.run.id, each.attempt.id, row["alike"]) == sorted(
        {one["turn"] for one in troubles_of(each) if one["alike"] == row["alike"]}
    )
    app = open_page("failures", attempt=f"{each.run.id}/{each.attempt.id}", alike=row["alike"])
    assert not app.exception
    assert "It failed on the way: the verdict does not stand on it." in words(app)
    app.button(key=f"group-turn-{row['turn']}").click().run()
    assert app.query_params["turn"] == str(row["turn"])
