from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from cxlab.llm.ladder import Ladder, response_format, schema_of, with_instruction


class Inner(BaseModel):
    grade: int = Field(ge=1, le=3)


class Outer(BaseModel):
    action: Literal["refund", "wait"] = "wait"
    inner: Inner = Field(description="how good")
    many: list[Inner] = []


class Open(BaseModel):
    fields: dict[str, str]


T = TypeVar("T")


class Boxed(BaseModel, Generic[T]):
    value: T


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    made = response_format(schema, "json_schema")
    assert made is not None
    return dict(made["json_schema"])


def objects_in(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for item in node for found in objects_in(item)]
    if not isinstance(node, dict):
        return []
    inside = [found for item in node.values() for found in objects_in(item)]
    return [node, *inside] if node.get("type") == "object" else inside


def test_strict_schemas_have_the_form_that_strict_decoding_asks_for() -> None:
    made = strict_schema(Outer)
    assert made["strict"] is True
    found = objects_in(made["schema"])
    assert len(found) >= 2
    for one in found:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert "default" not in str(made["schema"])
    # A description beside a $ref is not allowed: the reference is written out.
    assert made["schema"]["properties"]["inner"]["description"] == "how good"
    assert "$ref" not in made["schema"]["properties"]["inner"]
    # The model itself is left as it was.
    assert Outer.model_json_schema()["properties"]["action"]["default"] == "wait"


def test_the_name_of_a_schema_has_only_letters_that_servers_take() -> None:
    assert strict_schema(Boxed[int])["name"] == "Boxed_int_"


def test_free_form_objects_are_sent_without_strictness() -> None:
    made = strict_schema(Open)
    assert made["strict"] is False
    assert made["schema"] == {
        "properties": {"fields": {"additionalProperties": {"type": "string"}, "type": "object"}},
        "required": ["fields"],
        "type": "object",
    }


def test_titles_made_of_names_are_left_out_and_a_field_called_title_stays() -> None:
    class Page(BaseModel):
        title: str
        kind: Literal["title", "text"] = "text"

    class Book(BaseModel):
        title: str = "title"
        pages: list[Page]

    made = schema_of(Book)
    assert list(made["properties"]) == ["title", "pages"]
    assert made["properties"]["title"] == {"default": "title", "type": "string"}
    assert made["$defs"]["Page"]["properties"]["kind"]["enum"] == ["title", "text"]
    assert "title" not in {**made, "properties": {}} | made["$defs"]["Page"]


def test_lower_rungs_put_the_schema_in_words_at_the_end() -> None:
    assert response_format(Outer, "json_object") == {"type": "json_object"}
    assert response_format(Outer, "prompt") is None
    asked = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    sent = with_instruction(asked, Outer)
    assert sent[1]["content"].startswith("u\n\n")
    assert "JSON schema" in sent[1]["content"]
    assert asked[1]["content"] == "u"
    after_tool = with_instruction([*asked, {"role": "tool", "content": "t"}], Outer)
    assert [m["role"] for m in after_tool] == ["system", "user", "tool", "user"]


def test_one_odd_schema_does_not_spoil_the_others() -> None:
    ladder = Ladder()
    ladder.worked(Outer, "json_schema")
    ladder.refused(Open, "json_schema", surely=True)
    assert (ladder.rung(Open), ladder.rung(Outer), ladder.rung(Inner)) == ("json_object", "json_schema", "json_schema")


def test_a_server_that_refuses_the_first_is_not_asked_again_by_others() -> None:
    ladder = Ladder()
    ladder.refused(Open, "json_schema", surely=True)
    assert ladder.rung(Outer) == "json_object"


def test_chance_errors_need_two_and_count_nothing_once_it_has_worked() -> None:
    ladder = Ladder()
    ladder.refused(Outer, "json_schema", surely=False)
    assert ladder.rung(Outer) == "json_schema"
    ladder.refused(Outer, "json_schema", surely=False)
    assert ladder.rung(Outer) == "json_object"
    ladder = Ladder()
    ladder.worked(Outer, "json_schema")
    for _ in range(5):
        ladder.refused(Outer, "json_schema", surely=False)
    assert ladder.rung(Outer) == "json_schema"


def test_a_hundred_calls_at_once_step_down_once() -> None:
    ladder = Ladder()
    for _ in range(100):
        ladder.ignored(Outer, "json_schema")
        ladder.refused(Outer, "json_schema", surely=True)
    assert ladder.rung(Outer) == "json_object"
    for _ in range(100):
        ladder.ignored(Outer, "prompt")
    assert ladder.rung(Outer) == "json_object"


class Part(BaseModel):
    """What programmers read of a part."""

    kind: str = Field(description="one of three")


class Documented(BaseModel):
    """What programmers read."""

    parts: list[Part]


def test_what_docstrings_say_to_programmers_is_not_sent() -> None:
    sent = [str(strict_schema(Documented)), with_instruction([], Documented)[0]["content"], str(schema_of(Documented))]
    assert [("programmers" in text, "one of three" in text) for text in sent] == [(False, True)] * 3
    renamed = type("Documented", (Documented,), {"__doc__": "Other words."})
    assert schema_of(renamed) == schema_of(Documented)
