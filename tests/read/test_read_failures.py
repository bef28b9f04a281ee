"""Failures: counted by hand on four attempts; groups, filters, search, pages and files."""

import json
from pathlib import Path

import pytest

from cxlab import read
from cxlab.read import View, failures, troubles
from tests.judged import HOSTILE, make_judged_store


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return make_judged_store(tmp_path)


def keys(view: View) -> list[str]:
    return sorted(failures.rows(view).frame["attempt_id"])


def test_counts(made: list[tuple[str, str]]) -> None:
    assert failures.counts(View()) == {"attempts": 4, "with_trouble": 2, "turns": 4, "wrong_turns": 2}
    assert failures.counts(View(models=("simulated:strong",)))["wrong_turns"] == 1


def test_a_group_names_stage_step_and_misread_value(made: list[tuple[str, str]]) -> None:
    found = failures.groups(View())
    rows = {row["kind"]: row for row in found.iter_rows(named=True)}
    assert set(rows) == {"field", "format"}
    field = rows["field"]
    assert (field["stage"], field["took"], field["due"]) == ("stage3", "Exchange", "Refund")
    assert (field["field"], field["given"], field["wanted"]) == ("CoreIntention", "Exchange", "ReturnOrRefund")
    assert (field["n"], field["attempts"], field["share"], field["of"], field["groups"]) == (1, 1, 0.5, 2, 2)
    assert rows["format"]["detail"] == "invalid fields.CoreIntention"
    described = failures.group(field["alike"])
    assert described is not None
    assert described["field"] == "CoreIntention"
    assert failures.group("nothing") is None


def test_a_group_narrows_the_attempts_and_opens_at_its_turn(made: list[tuple[str, str]]) -> None:
    found = failures.groups(View(errors=("field",)))
    assert found["kind"].to_list() == ["field"]
    page = failures.rows(View(alike=found["alike"][0]))
    assert page.total == 1
    assert page.frame.select("attempt_id", "first_turn", "wrong").row(0) == ("run-0-a1", 1, ["field:1"])


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (View(errors=("any",)), ["run-0-a1", "run-1-a3"]),
        (View(errors=("format",)), ["run-1-a3"]),
        (View(errors=("field", "format")), ["run-0-a1", "run-1-a3"]),
        (View(errors=("no such kind",)), []),
        (View(splits=("yes",)), ["run-0-a1"]),
        (View(splits=("no",)), ["run-0-a0", "run-1-a2"]),
        (View(ends=("goodbye",)), ["run-0-a0", "run-0-a1", "run-1-a2", "run-1-a3"]),
        (View(ends=("turns",)), []),
        (View(search="another one, please 2"), ["run-1-a2"]),
        (View(search="%"), []),
        (View(search="_"), []),
        (View(search="EVIL.example"), ["run-1-a3"]),
        (View(search="' OR 1=1 --"), []),
    ],
)
def test_filters(made: list[tuple[str, str]], view: View, expected: list[str]) -> None:
    assert keys(view) == expected


def test_filters_hold_for_other_tables_too(made: list[tuple[str, str]]) -> None:
    scores = read.score_table(View(errors=("any",)), by=("model",))
    assert dict(scores.select("model", "mean").iter_rows()) == {"simulated:eloquent": 50.0}


def test_facets_count_attempts_by_kind_and_split(made: list[tuple[str, str]]) -> None:
    found = read.facets(View())
    part = {(name, value): n for name, value, n in found.iter_rows()}
    assert part[("errors", "any")] == 2
    assert part[("errors", "field")] == part[("errors", "format")] == 1
    assert (part[("splits", "yes")], part[("splits", "no")]) == (1, 2)


def test_pages_are_cut_and_counted_in_sql(made: list[tuple[str, str]]) -> None:
    first, second = failures.rows(View(), limit=3), failures.rows(View(), limit=3, offset=3)
    assert (first.total, second.total) == (4, 4)
    assert first.frame["score"].to_list() == [50.0, 80.0, 90.0]
    assert second.frame["score"].to_list() == [None]
    assert failures.rows(View(search="nobody said this")).frame.height == 0


def test_the_set_as_a_file_holds_every_message(made: list[tuple[str, str]]) -> None:
    lines = [json.loads(line) for line in failures.to_jsonl(View(errors=("format",))).splitlines()]
    assert len(lines) == 1
    assert [message["text"] for message in lines[0]["messages"]] == [HOSTILE, HOSTILE]
    assert lines[0]["wrong"] == ["format"]
    assert failures.chosen_set(View()).height == 4
    assert "messages" not in failures.chosen_set(View()).columns


def test_a_changed_filter_goes_back_to_page_one_and_stays_behind_on_other_pages() -> None:
    view = View(page=4, errors=("field",), alike="abc", splits=("yes",), ends=("turns",))
    assert View.from_query(view.to_query()) == view
    assert view.change(errors=()).page == 1
    assert view.change(alike="").page == 1
    assert view.filters() == View()


def test_the_fields_that_a_stage_asks_for_come_from_the_procedure() -> None:
    rows = {(row["scenario"], row["stage"]): row["fields"] for row in json.loads(troubles.stage_fields())}
    assert rows[("ecommerce_refund", "stage6")] == ["RefundReasonable"]
    assert troubles.field_options("ecommerce_refund")["ProvidedDocument"] == ("true", "false")
    assert troubles.field_options("no such scenario") == {}
