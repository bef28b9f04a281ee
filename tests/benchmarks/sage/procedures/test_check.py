"""Each kind of fault in a scenario file is found, with its line and a fix."""

from dataclasses import replace
from pathlib import Path

import pytest

from cxlab.benchmarks.contract import Files
from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.sage.procedures.check import check_file, check_files
from cxlab.benchmarks.sage.simulated import check_phrases, phrases
from cxlab.errors import BadFile
from cxlab.files import Complaint

SOURCE = rules.FOLDER / "telecom_package.yaml"


def test_all_shipped_scenarios_are_clean() -> None:
    assert BENCHMARK.files is not None
    assert [str(c) for c in BENCHMARK.files.complain(None)] == []


def test_the_banks_of_stand_ins_are_checked_with_all_files_and_not_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Complaint("bank.yaml", 1, "wrong", "mend it")
    monkeypatch.setattr(check_phrases, "check_banks", lambda: [wrong])
    files = replace(BENCHMARK.files or Files("", check_files), check=lambda paths: [])
    assert files.complain(None) == [wrong]
    assert files.complain([SOURCE]) == []


def broken(tmp_path: Path, *changes: tuple[str, str]) -> list:
    text = SOURCE.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / "telecom_package.yaml"
    path.write_text(text, encoding="utf-8")
    return check_file(path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "{when: {ConsumptionType: Enquiry}, to: stage3}",
            "{when: {ConsumptionTyp: Enquiry}, to: stage3}",
            "unknown field",
        ),
        (
            "{when: {ConsumptionType: Enquiry}, to: stage3}",
            "{when: {ConsumptionType: Ask}, to: stage3}",
            "has no option",
        ),
        (
            "{when: {ConsumptionType: Cancel}, to: stage5}",
            "{when: {ConsumptionType: Change}, to: stage5}",
            "no branch for",
        ),
        (
            "{when: {ConsumptionType: Enquiry}, to: stage3}",
            "{when: {ConsumptionType: Enquiry}, to: stage9}",
            "unknown stage",
        ),
        (
            "{when: {ConsumptionType: Enquiry}, to: stage3}",
            "{when: {ConsumptionType: Enquiry}, to: stage4}",
            "cannot be reached",
        ),
        (
            "{when: {EmotionTag: Discontent}, action: TransHuman}",
            "{when: {EmotionTag: Discontent}, action: ChangeOrder}",
            "never used",
        ),
        (
            "{when: {EmotionTag: Discontent}, action: TransHuman}",
            "{when: {EmotionTag: Discontent}, action: Fly}",
            "unknown action",
        ),
        ("{when: {EmotionTag: Discontent}, action: TransHuman}", "{when: {EmotionTag: Discontent}}", "must lead to"),
        (
            "{when: {EmotionTag: Discontent}, action: TransHuman}",
            "{when: {EmotionTag: Discontent}, to: stage2}",
            "circle",
        ),
        ("default: Enquiry", "default: Enquiries", "no option of"),
        ("title: Classify all fields", "titel: Classify all fields", "titel"),
        ("title: Telecom package", "", "title"),
        ("id: telecom_package", "id: telecom", "the file is"),
        ("title: Classify all fields", "title: [broken", "expected"),
    ],
)
def test_fault_is_found(tmp_path: Path, old: str, new: str, problem: str) -> None:
    found = broken(tmp_path, (old, new))
    assert any(problem in c.problem for c in found), [str(c) for c in found]
    assert all(c.path == "telecom_package.yaml" and c.fix for c in found)


def test_the_line_is_the_line(tmp_path: Path) -> None:
    old = "{when: {ConsumptionType: Enquiry}, to: stage3}"
    line = next(i for i, t in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1) if old in t)
    found = broken(tmp_path, (old, old.replace("stage3", "stage9")))
    assert any(c.line == line and "stage9" in c.problem for c in found), [str(c) for c in found]


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    found = broken(tmp_path, ("short: TP", "short: TP\nshort: XX"))
    assert any("stands twice" in c.problem for c in found)


def test_words_of_the_desk_in_the_customers_mouth_are_found(tmp_path: Path) -> None:
    found = broken(
        tmp_path,
        (
            "customer: You want another tariff in place of yours.",
            "customer: You want to move from the present package.",
        ),
    )
    assert any("share 'move from the present package'" in c.problem for c in found), [str(c) for c in found]


def test_a_line_of_a_phrase_bank_that_says_the_wrong_thing_is_found() -> None:
    bank = phrases.bank_of("telecom_package")
    assert bank is not None
    spec = bank.fields["ConsumptionType"]
    wrong = spec.options["Cancel"].model_copy(update={"says": ("I want to upgrade to another package",)})
    spec = spec.model_copy(update={"options": {**spec.options, "Cancel": wrong}})
    spoilt = bank.model_copy(update={"fields": {**bank.fields, "ConsumptionType": spec}})
    problems = [problem for _, problem, _ in check_phrases.check_bank(rules.load("telecom_package"), spoilt)]
    assert any("reads as ConsumptionType=Change" in problem for problem in problems)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('{when: {Penalty: ">0"}, to: stage7}', '{when: {Penalty: ">=0"}, to: stage7}', "branches for Penalty=0"),
        ('{when: {Penalty: ">0"}, to: stage7}', '{when: {Penalty: ">100"}, to: stage7}', "no branch for Penalty="),
        ('{when: {Penalty: ">0"}, to: stage7}', '{when: {Penalty: "a lot"}, to: stage7}', "no bound of a whole number"),
        ('{when: {Penalty: ">0"}, to: stage7}', '{when: {Penalty: "1..9999"}, to: stage7}', "no branch for Penalty="),
    ],
)
def test_bounds_that_leave_a_gap_or_overlap_are_found(tmp_path: Path, old: str, new: str, problem: str) -> None:
    found = broken(tmp_path, (old, new))
    assert any(problem in c.problem for c in found), [str(c) for c in found]


@pytest.mark.parametrize(("content", "problem"), [("", "empty"), ("- a\n- b", "mapping"), ("a: \x00", "")])
def test_files_that_are_no_scenario(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(content, encoding="utf-8")
    found = check_file(path)
    assert found
    assert problem in found[0].problem


def test_latin1_and_missing_files_are_complaints_not_tracebacks(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes("id: caf\xe9".encode("latin-1"))
    assert "not UTF-8" in check_file(path)[0].problem
    assert "does not exist" in check_file(tmp_path / "none.yaml")[0].problem


def test_reading_a_bad_file_names_file_line_and_fix(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("id: x\nshort: X\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"x\.yaml"):
        rules.read_file(path)


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "{b: " * 5_000, "- " * 100_000])
def test_what_is_nested_without_end_is_a_complaint_and_no_crash(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text, encoding="utf-8")
    (complaint,) = check_file(path)
    assert str(complaint).startswith("deep.yaml:1: nested more than 40 deep; ")
