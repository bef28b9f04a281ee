"""The strict readers on files that are sound, and where their complaints point."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from cxlab import files
from cxlab.errors import BadFile

ROOT = Path(__file__).resolve().parents[2]

_KEYS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=12)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
    | st.sampled_from(
        ["1e5", "12:30", "007", "yes", "2025-01-02", "null", "~", "<<", "0x1F", "1_000", ".5", "=", "- a"]
    )
)
_DATA = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4))


class Pet(BaseModel):
    name: str
    legs: int = 4


def test_plain_words_mean_what_they_look_like() -> None:
    text = "a: [1, two, true, null, 1.5, yes, 007, 12:30, 2025-01-02, '3']\ntrue:\n  - {c: 'ä'}\n7: |\n  b\n  c\n"
    assert files.parse_yaml(text, "x") == {
        "a": [1, "two", True, None, 1.5, "yes", "007", "12:30", "2025-01-02", "3"],
        True: [{"c": "ä"}],
        7: "b\nc\n",
    }


def test_shipped_files_read_as_yaml_says() -> None:
    """But for yes and no, which YAML 1.1 takes for true and false; here they are words."""

    def as_words(value: object) -> object:
        if isinstance(value, dict):
            return {key: as_words(each) for key, each in value.items()}
        return [as_words(each) for each in value] if isinstance(value, list) else value

    found = sorted((ROOT / "data").rglob("*.yaml"))
    assert found
    for path in found[::4]:
        assert as_words(files.read_yaml(path)) == _load(path.read_text(encoding="utf-8")), path.name


def _load(text: str) -> object:
    loader = type("Words", (yaml.CSafeLoader,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in pairs if not tag.endswith(":bool") or first in "tf"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return yaml.load(text, Loader=loader)


@settings(deadline=None, max_examples=25)
@given(_DATA)
def test_what_is_written_reads_the_same(data: object) -> None:
    text = files.dump_yaml({"data": data, "again": data})
    assert files.parse_yaml(text, "x") == {"data": data, "again": data}
    assert files.parse_json(json.dumps(data), "x") == data


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=60) | st.text(alphabet="[]{}:,-?&*!|>'\"%@`#<~ \n\tab1.\\", max_size=40))
def test_any_text_is_data_or_one_line(text: str) -> None:
    for parse in (files.parse_yaml, files.parse_toml, files.parse_json):
        fault = _fault_of(parse, text)
        assert fault is None or ((fault.line or 0) >= 1 and len(str(fault).splitlines()) == 1)


def _fault_of(parse: Callable[[str, object], object], text: str) -> BadFile | None:
    try:
        parse(text, "x")
    except BadFile as fault:
        return fault
    return None


def test_a_byte_order_mark_in_front_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: Rex\n", encoding="utf-8-sig")
    assert files.load_model(path, Pet, "see there") == Pet(name="Rex")


def test_models_complain_about_each_place(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name:\n  - Rex\nlegs: many\n", encoding="utf-8")
    _, complaints = files.read_model(path, Pet, "see there")
    assert [each.line for each in complaints] == [1, 3]
    with pytest.raises(BadFile, match=r"x\.yaml:1: name: "):
        files.load_model(path, Pet, "see there")


def test_lines_of_keys_and_items(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a:\n  b:\n    - 1\n    - c: 2\ntrue: x\n", encoding="utf-8")
    lines = files.lines_of(path)
    assert lines["a", "b", "1", "c"] == 4
    assert files.line_of(lines, ("a", "b", 0)) == 3
    assert files.line_of(lines, (True,)) == 5
    assert files.line_of(lines, ("a", "nothing")) == 1


def test_lines_of_toml() -> None:
    text = 'x = 1\n[a."b:c"]\n# y = 2\ny = [\n  1,\n]\nz.w = """\nq = 1\n"""\n[[d]]\ne = "="\n'
    lines = files.toml_lines(text)
    assert {place: lines[place] for place in lines} == {
        ("x",): 1,
        ("a", "b:c"): 2,
        ("a", "b:c", "y"): 4,
        ("a", "b:c", "z", "w"): 7,
        ("d",): 10,
        ("d", "e"): 11,
    }


def test_toml_dates_are_text() -> None:
    assert files.parse_toml("a = 2025-01-02\nb = 10:30:00\n", "x") == {"a": "2025-01-02", "b": "10:30:00"}


@pytest.mark.parametrize("kind", ["folder", "pipe", "none", "nul"])
def test_what_is_no_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("a\0b" if kind == "nul" else "x.yaml")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    for read in (files.read_yaml, files.read_toml, files.read_json):
        with pytest.raises(BadFile, match=r"is no file|does not exist|cannot be read"):
            read(path)


def test_complaints_are_one_printable_line() -> None:
    told = str(files.Complaint("a.yaml", None, "the key '\x1b[2Jx'\nis \u202e strange" + "y" * 1000, "mend it"))
    assert told.isprintable()
    assert len(told) < 600
    assert told.startswith("a.yaml:1: the key '\\x1b[2Jx' is \\u202e strange")


def test_faults_in_data_that_another_reader_read() -> None:
    fault = files.find_fault({"a": [1, {"b": float("inf")}]})
    assert fault is not None
    assert fault.where == ("a", "1", "b")
    assert files.find_fault({"a": ["x", 1.5, None, True, -(2**63)]}) is None
    for bad in (2**63, "\ud800", "\0", {"k": {"\ud800": 1}}, float("nan")):
        assert files.find_fault([bad]) is not None
