"""Typed switches: what can be typed, what is refused and how, and that words give back what they were made from."""

from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.errors import BadOption, UnknownName
from cxlab.records.settings import Listed, Settings, split_pairs, write_word

ROOMS = sorted(REGISTRY)
SAGE, CXM, MM = (REGISTRY[name].Options for name in ("sage", "cxmarena", "mmtaup2"))


class Kinds(Options):
    """One field of each kind."""

    flag: bool = Field(True, description="A flag.")
    count: int = Field(3, ge=1, le=9)
    rate: float | None = Field(None, ge=0)
    way: Literal["short", "long"] = "short"
    level: Literal[0, 1] | None = None
    noise: Annotated[tuple[Literal["a", "b"], ...], Listed] | None = None
    some: Annotated[tuple[Literal["a", "b"], ...], Listed] = ()
    sizes: Annotated[tuple[int, ...], Listed] = ()
    name: str = Field("x", json_schema_extra={"choices": ["x", "y"]})
    index: str = Field("x", json_schema_extra={"choices": ["x", "y"], "forms": ["both:NAME", "far:NAME"]})
    folder: str | None = Field(None, json_schema_extra={"on_page": False})


def test_a_switch_tells_its_kind_and_what_is_allowed() -> None:
    found = {switch.name: switch for switch in Kinds.switches()}
    assert {name: (switch.kind, switch.allowed) for name, switch in found.items()} == {
        "flag": ("flag", "true or false"),
        "count": ("integer", "a whole number from 1 to 9"),
        "rate": ("number", "a number from 0 on"),
        "way": ("choice", "one of short, long"),
        "level": ("choice", "one of 0, 1"),
        "noise": ("choices", "any of a, b, with commas between"),
        "some": ("choices", "any of a, b, with commas between"),
        "sizes": ("list", "values with commas between"),
        "name": ("text", "x, y, or other text"),
        "index": ("text", "x, y, both:NAME or far:NAME"),
        "folder": ("text", "text"),
    }
    assert (found["flag"].meaning, found["flag"].usual, found["rate"].usual) == ("A flag.", "true", "")
    assert found["name"].choices == ("x", "y")
    assert [name for name, switch in found.items() if not switch.on_page] == ["folder"]


@pytest.mark.parametrize(
    ("word", "field", "value"),
    [
        ("flag=no", "flag", False),
        ("flag=False", "flag", False),
        ("flag=0", "flag", False),
        ("flag=on", "flag", True),
        ("count= 4 ", "count", 4),
        ("count=", "count", 3),
        ("rate=0.5", "rate", 0.5),
        ("level=1", "level", 1),
        ("some=b,a", "some", ("b", "a")),
        ("some=", "some", ()),
        ("noise=", "noise", None),
        ("noise=[]", "noise", ()),
        ("folder= ", "folder", None),
        ("name=z", "name", "z"),
        ("index=y", "index", "y"),
        ("index=far:a/b", "index", "far:a/b"),
        ("sizes=16, 64", "sizes", (16, 64)),
        ("sizes=[1,2]", "sizes", (1, 2)),
    ],
)
def test_words_are_understood(word: str, field: str, value: object) -> None:
    assert getattr(Kinds.read_words([word]), field) == value


@pytest.mark.parametrize(("given_", "value"), [(16, (16,)), ([16, 64], (16, 64)), ((1,), (1,))])
def test_lists_come_as_values_too(given_: Any, value: tuple[int, ...]) -> None:
    assert Kinds.read({"sizes": given_}).sizes == value


@pytest.mark.parametrize(
    ("options", "word", "says"),
    [
        (SAGE, "turns=abc", "turns=abc: give a whole number from 1 to 200"),
        (SAGE, "turns=0", "turns=0: give a whole number from 1 to 200"),
        (SAGE, "turns=1.5", "turns=1.5: give"),
        (SAGE, "turns=1e99", "turns=1e99: give"),
        (SAGE, "system_info=maybe", "system_info=maybe: give true or false"),
        (CXM, "verify=maybe", "verify=maybe: give true or false"),
        (CXM, "query=shout", "query=shout: give one of keywords, question, last"),
        (CXM, "sizes=16,many", "sizes=16,many: give values with commas between"),
        (CXM, "threshold=nan", "threshold=nan: give a number from 0 to 1"),
        (CXM, "chunk=-5", "chunk=-5: give"),
        (MM, "persona=kind", "persona=kind: give one of none, easy, hard"),
        (MM, "exposure=3", "exposure=3: give one of 0, 1, 2"),
        (MM, "wer=1.01", "wer=1.01: give a number from 0 to 1"),
        (MM, "judge_groups=goal,colour", "judge_groups=goal,colour: give any of goal, effort"),
        (MM, "escalation=last", "escalation=last: must be the number of a version"),
        (MM, "audio=gramophone", "audio=gramophone: give channel, espeak, openai or endpoint:NAME"),
        (CXM, "retrieval=telepathy", "retrieval=telepathy: give bm25, lexical, hashing, minilm, chroma, hybrid, "),
        (CXM, "retrieval=openai:", "retrieval=openai:: give bm25, "),
        (CXM, "similarity=feeling", "similarity=feeling: give words, minilm, hashing, openai:MODEL, "),
        (CXM, "sizes=16,0", "sizes=16,0: give values with commas between"),
        (Kinds, "index=z", "index=z: give x, y, both:NAME or far:NAME"),
        (Kinds, "index=far:", "index=far:: give x, y, "),
    ],
)
def test_what_does_not_parse_is_refused_with_name_value_and_what_is_allowed(
    options: type[Options], word: str, says: str
) -> None:
    with pytest.raises(BadOption) as refused:
        options.read_words([word])
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("word", ["system_info=no", "system_info=False", "system_info=0", "system_info=off"])
def test_what_means_no_is_no(word: str) -> None:
    options = SAGE.read_words([word])
    assert options.to_record()["system_info"] is False
    assert options.to_words() == ["system_info=false"]


def test_unknown_names_are_told_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"unknown option 'turn'.*known: .*turns"):
        SAGE.read({"turn": 3})
    with pytest.raises(BadOption, match="must be key=value"):
        SAGE.read_words(["turns"])


def test_the_record_holds_defaults_and_the_words_only_what_differs() -> None:
    assert SAGE().to_record() == {"turns": 15, "system_info": True, "glossary": True, "language": "en"}
    assert SAGE().to_words() == []
    assert SAGE.read({"turns": 4}).to_words() == ["turns=4"]


def test_pairs_keep_what_follows_the_first_sign() -> None:
    assert split_pairs(["a=b=c", "a=d=e"]) == {"a": "d=e"}
    assert write_word(["a,b"]) == '["a,b"]'


def values_of(model: type[Settings]) -> st.SearchStrategy[Settings]:
    """Any settings of that model that are allowed."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for switch, field in zip(model.switches(), model.model_fields.values(), strict=True):
        low, high = switch.low, switch.high
        match switch.kind:
            case "flag":
                values: st.SearchStrategy[Any] = st.booleans()
            case "integer":
                values = st.integers(int(low or 0), int(high or 10**6))
            case "number":
                values = st.floats(low or 0.0, high or 1e6, allow_nan=False)
            case "choice":
                values = st.sampled_from(switch.values)
            case "choices":
                values = st.lists(st.sampled_from(switch.values), max_size=4).map(tuple)
            case "list":
                # Typed as people type a list: names and numbers, an empty one for what is left out.
                inner = next(each for each in get_args(field.annotation) or () if each is not Ellipsis)
                words = st.text("abcXYZ-_09 ä", min_size=1).map(str.strip).filter(bool)
                whole = int in (inner, *get_args(inner))
                values = st.lists(st.integers(1, 999) if whole else words, max_size=4).map(tuple)
            case "text":
                # What text is empty is left out; an escalation is told apart by its number.
                numbers = get_origin(field.annotation) is not None and int in get_args(field.annotation)
                free = st.sampled_from(switch.choices) if switch.forms else st.text(min_size=1).filter(str.strip)
                values = st.integers(1, 9) if numbers else free
        fields[switch.name] = values if switch.default is not None else st.none() | values
    return st.fixed_dictionaries({}, optional=fields).map(model.model_validate)


@pytest.mark.parametrize("room", ROOMS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_words_give_back_what_they_were_made_from(room: str, data: st.DataObject) -> None:
    options = data.draw(values_of(REGISTRY[room].Options))
    assert type(options).read_words(options.to_words()) == options
    assert type(options).read(options.to_record()) == options


@pytest.mark.parametrize("room", ROOMS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_settings_of_a_dataset_come_back_too(room: str, data: st.DataObject) -> None:
    made = data.draw(values_of(REGISTRY[room].GenerateOptions))
    assert type(made).read_words(made.to_words()) == made


@pytest.mark.parametrize("room", ROOMS)
@settings(deadline=None, max_examples=60)
@given(words=st.lists(st.text(max_size=40), max_size=4))
def test_whatever_is_typed_is_read_or_refused_in_one_line(room: str, words: list[str]) -> None:
    model = REGISTRY[room].Options
    named = [f"{switch.name}={word}" for switch, word in zip(model.switches(), words, strict=False)]
    try:
        options = model.read_words(named)
    except BadOption as fault:
        refused = str(fault)
    else:
        refused = ""
        assert model.read(options.to_record()) == options
    assert "\n" not in refused


@pytest.mark.parametrize("room", ROOMS)
def test_every_switch_says_what_it_is(room: str) -> None:
    for model in (REGISTRY[room].Options, REGISTRY[room].GenerateOptions):
        assert issubclass(model, Options | GenerateOptions)
        for switch in model.switches():
            assert switch.meaning.endswith("."), switch.name
            assert model.read({}).to_record().keys() >= {switch.name}


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("word", ["9" * 20, f"-{'9' * 20}", "1e30", "1e999", "nan", "inf"])
def test_every_number_has_a_range_and_what_is_beyond_is_refused(room: str, word: str) -> None:
    sources = REGISTRY[room].importers
    for model in (REGISTRY[room].Options, REGISTRY[room].GenerateOptions, *(each.Options for each in sources)):
        for switch in model.switches():
            if switch.kind in ("integer", "number"):
                with pytest.raises(BadOption, match=switch.name):
                    model.read_words([f"{switch.name}={word}"])
