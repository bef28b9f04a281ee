import json
import time
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationInfo, field_validator

from cxlab.llm.parsing import extract_objects, parse, parse_text

values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=4)
# Prose as models write it: anything without braces, quotes or reasoning tags.
prose = st.text(st.characters(blacklist_characters='{}"<>'), max_size=60)


@given(objects, prose, prose, st.sampled_from([None, 2]))
def test_any_object_survives_prose(found: dict[str, Any], before: str, after: str, indent: int | None) -> None:
    assert extract_objects(f"{before}{json.dumps(found, indent=indent)}{after}") == [found]


@given(objects, prose, st.sampled_from(["```json\n", "```\n", "```JSON "]), st.booleans())
def test_any_object_survives_a_fence(found: dict[str, Any], before: str, fence: str, ascii_only: bool) -> None:
    assert extract_objects(f"{before}\n{fence}{json.dumps(found, ensure_ascii=ascii_only)}\n```\nDone.") == [found]


@given(objects, objects, prose)
def test_any_object_survives_a_reasoning_block(found: dict[str, Any], draft: dict[str, Any], thought: str) -> None:
    thinking = f"{thought} maybe {json.dumps(draft)}".replace("</think", "")
    # The reasoning holds a draft; only what follows it counts, whether or not the opening tag is there.
    assert extract_objects(f"<think>{thinking}</think>\n{json.dumps(found)}") == [found]
    assert extract_objects(f"{thought}</think>\n{json.dumps(found)}") == [found]


@given(st.dictionaries(st.text(min_size=1), values, min_size=1, max_size=4), st.data())
def test_a_cut_object_is_never_taken_for_a_whole_one(found: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(found)
    cut = data.draw(st.integers(1, len(whole) - 1))
    assert extract_objects("Answer: " + whole[:cut]) == []


def test_a_brace_in_a_string_that_was_cut_closes_nothing() -> None:
    assert extract_objects('Answer: {"a": {}, "x}') == []


@given(st.text())
def test_any_text_whatever_yields_an_output_or_a_failure(text: str) -> None:
    output, failure, _ = parse(text, Choice)
    assert (output is None) != (failure is None)


class Choice(BaseModel):
    action: Literal["refund", "wait"]
    amount: float = Field(default=0, ge=0)


def test_forms_that_models_write() -> None:
    good = Choice(action="refund", amount=3)
    for text in (
        '{"action": "refund", "amount": 3,}',
        'Here: {"action": "refund",\n "amount": 3,\n}\nAnything else?',
        '{"note": "a, ]} trap,}", "action": "refund", "amount": 3, }',
        'I weigh {pros} and {cons}. {"action": "refund", "amount": 3}',
        'An example is {"x": 1}. My answer: {"action": "refund", "amount": 3}',
        '{"action": "refund", "note": "line one\nline two", "amount": 3}',
        '\ufeff{"action": "refund", "amount": 3}',
        '{"action": "refund", "amount": 3, "said": "they wrote </think> to me"} ok',
        '<think>{"action": "wait"}</think>```json\n{"action": "refund", "amount": 3}\n```',
    ):
        assert parse(text, Choice)[0] == good, text


class Sheet(BaseModel):
    name: str
    grade: Literal[3, 6, 9]
    lines: list[int] = []
    note: str = ""


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "7", "grade": 9, "lines": [2]}]',
        '{"answer": {"name": "7", "grade": 9, "lines": [2]}}',
        '{"name": 7, "grade": "9", "lines": 2, "note": null}',
        '{"result": {"name": 7, "grade": "9", "lines": ["2"]}}',
    ],
)
def test_a_value_in_another_form_is_the_value(text: str) -> None:
    assert parse(text, Sheet)[0] == Sheet(name="7", grade=9, lines=[2])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"name": null, "grade": 9}', "'name': None"),
        ('{"name": 7, "grade": "8"}', "'grade': '8'"),
        ('{"name": "7", "grade": "nine"}', "'grade': 'nine'"),
        ('{"name": 7, "grade": 9, "lines": "many"}', "'lines': 'many'"),
        ('{"name": ["7"], "grade": 9}', "'name': ['7']"),
        ('{"a": {"name": "7", "grade": 9}, "b": 1}', "'name' is missing"),
    ],
)
def test_another_form_of_what_was_not_said_is_refused(text: str, names: str) -> None:
    output, failure, _ = parse(text, Sheet)
    assert output is None
    assert failure is not None
    assert names in failure.message


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("", "empty", ""),
        (" \n ", "empty", ""),
        ("I would refund it.", "not_json", "I would refund"),
        ('<think>{"action": "refund"}', "not_json", ""),
        ('["refund"]', "not_json", ""),
        ('{"action": "dance"}', "invalid", "'action': 'dance'"),
        ('{"action": "Refund "}', "invalid", "'action': 'Refund '"),
        ('{"amount": 3}', "invalid", "'action' is missing"),
        ('{"action": "refund", "amount": -1}', "invalid", "'amount': -1"),
        ('{"action": "refund", "action": "wait"}', "invalid", "given twice"),
        ('{"action": "refund", "amount": NaN}', "not_json", ""),
    ],
)
def test_content_is_never_guessed(text: str, kind: str, names: str) -> None:
    output, failure, _ = parse(text, Choice)
    assert output is None
    assert failure is not None
    assert (failure.where, failure.type) == ("format", kind)
    assert names in failure.message


def test_a_broken_object_is_told_as_broken_not_as_a_piece_of_it_that_lacks_fields() -> None:
    class Answer(BaseModel):
        said: str
        fields: dict[str, str]
        action: str

    broken = '{"said": "You wrote "no thanks", so be it.", "fields": {"said": "no"}, "action": "Close"}'
    for text in (broken, f"Here it is: {broken} Done."):
        output, failure, ignored = parse(text, Answer)
        assert output is None
        assert failure is not None
        assert (failure.type, ignored) == ("not_json", True)
        assert "Expecting ',' delimiter after" in failure.message
        assert "You wrote" in failure.message
    # What can be read, and lacks a field, lacks a field: also with a comma too many.
    _, failure, _ = parse('{"said": "Yes", "fields": {},}', Answer)
    assert failure is not None
    assert (failure.type, failure.message) == ("invalid", "field 'action' is missing")


def test_the_end_of_a_reply_decides_between_cut_and_wrong() -> None:
    assert parse('{"action": "ref', Choice, finish_reason="length")[1].type == "truncated"
    assert parse("", Choice, finish_reason="length")[1].type == "truncated"
    assert parse('{"action": "ref', Choice, finish_reason="stop")[1].type == "not_json"
    # The object was complete before the limit struck: nothing of the answer is missing.
    assert parse('{"action": "wait"} because', Choice, finish_reason="length")[0] == Choice(action="wait")
    for ending, kind in (("refusal", "refusal"), ("content_filter", "filtered")):
        assert parse('{"action": "wait"}', Choice, finish_reason=ending)[1].type == kind


class Menu(BaseModel):
    options: tuple[str, ...]

    def validate_output(self, output: "Pick") -> list[str]:
        return [] if output.pick in self.options else [f"field 'pick': {output.pick!r} is not offered"]


class Pick(BaseModel):
    pick: str


def test_options_known_at_run_time_are_enforced_by_the_inputs() -> None:
    assert parse('{"pick": "a"}', Pick, Menu(options=("a", "b")))[0] == Pick(pick="a")
    failure = parse('{"pick": "c"}', Pick, Menu(options=("a", "b")))[1]
    assert failure is not None
    assert (failure.type, failure.message) == ("invalid", "field 'pick': 'c' is not offered")


def test_options_known_at_run_time_are_enforced_by_context() -> None:
    class Offer(BaseModel):
        options: tuple[str, ...]

        def output_context(self) -> dict[str, tuple[str, ...]]:
            return {"options": self.options}

    class Chosen(BaseModel):
        pick: str

        @field_validator("pick")
        @classmethod
        def offered(cls, value: str, info: ValidationInfo) -> str:
            if value not in info.context["options"]:
                raise ValueError("not offered")
            return value

    assert parse('{"pick": "b"}', Chosen, Offer(options=("b",)))[0] == Chosen.model_construct(pick="b")
    output, failure, ignored = parse('{"pick": "z"}', Chosen, Offer(options=("b",)))
    assert output is None
    assert failure is not None
    assert "'pick': 'z'" in failure.message
    # No schema could have prevented it, so it says nothing about the server.
    assert not ignored


def test_only_breaches_of_the_schema_count_against_the_server() -> None:
    assert parse("words", Choice)[2]
    assert parse('{"action": "dance"}', Choice)[2]
    assert not parse('{"action": "refund", "amount": -1}', Choice)[2]


def test_plain_text_loses_its_reasoning_only() -> None:
    assert parse_text("<think>hm</think>\nHello {you}")[0] == "Hello {you}"
    assert parse_text("hm\n</think>Hello")[0] == "Hello"
    assert parse_text("Hello")[0] == "Hello"
    for text, ending, kind in (
        ("", "stop", "empty"),
        ("<think>never done", "stop", "empty"),
        ("Hel", "length", "truncated"),
        ("no", "refusal", "refusal"),
    ):
        said, failure = parse_text(text, ending)
        assert said is None
        assert failure is not None
        assert failure.type == kind


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        '{"a":x}' * 15_000,
        "[" * 100_000,
        '{"a":' * 20_000,
        '{"a' * 20_000,
        '{"' + "\\" * 99_999,
        "{}" * 50_000,
    ],
)
def test_hostile_replies_cost_no_time(text: str) -> None:
    # Of this process, and a hundred times what it takes: only what is quadratic fails.
    started = time.process_time()
    parse(text, Choice)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello.<think>say nothing of the refund</think> Bye.", "Hello. Bye."),
        ("Hello.\n<think>say nothing of the refund", "Hello."),
        ("<thinking>a</thinking>One<THINK>b</THINK> two", "One two"),
        ("[THINK]hm[/THINK]Hello", "Hello"),
        ("no tag left alone</think>Hello", "Hello"),
    ],
)
def test_reasoning_is_taken_out_wherever_it_stands(text: str, said: str) -> None:
    assert parse_text(text)[0] == said


def test_an_object_that_was_only_thought_of_is_no_answer() -> None:
    text = '{"action": "refund", "amount": 3}<think>or {"action": "wait"}?</think>'
    assert [found["action"] for found in extract_objects(text)] == ["refund"]
