"""A JSON list is read entry by entry, with the line of each, as strictly as a file that is read whole."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.errors import BadFile
from cxlab.files import read_json_list, strict_json

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(values, max_size=5), st.sampled_from((None, 1)), st.integers(1, 40), st.booleans())
def test_it_reads_what_json_reads_whatever_the_window(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], indent: int | None, window: int, ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "list.json"
    text = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace").decode()
    path.write_text(f"\n {text}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "_WINDOW", window)
        found = list(read_json_list(path))
    wanted = json.loads(text)
    assert [value for _, value in found if not isinstance(value, BadFile)] == [
        each for (_, value), each in zip(found, wanted, strict=True) if not isinstance(value, BadFile)
    ]
    # What is refused is refused by the strict reader as well: a lone half of a character, say.
    for (_, value), each in zip(found, wanted, strict=True):
        if isinstance(value, BadFile):
            with pytest.raises(BadFile):
                strict_json.parse_json(json.dumps(each), "x")
    starts = [line for line, _ in found]
    assert starts == sorted(starts)
    if indent and rows:
        assert starts[0] == 3


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{"a": 1}', 1, "no JSON list"),
        ("", 1, "no JSON list"),
        ('[{"a": 1},\n\n {"b" 2}]', 3, "not JSON"),
        ('[{"a": 1},\n {"b": 2}', 2, "the file ends"),
        ('[1,\n 2;]', 2, "';' stands"),
        ("[1] [2]", 1, "after the list"),
        ('[1,\n"' + "x" * 50, 2, "not JSON"),
        ("[" * 100_000, 1, "deep"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused_with_its_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(BadFile) as refused:
        list(read_json_list(path))
    assert problem in str(refused.value)
    assert refused.value.line == line


def test_one_odd_entry_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text('[\n{"a": 1},\n{"a": 1, "a": 2},\n{"a": 3}]')
    first, second, third = read_json_list(path)
    assert (first, third) == ((2, {"a": 1}), (4, {"a": 3}))
    assert second[0] == 3
    assert isinstance(second[1], BadFile)
    assert "stands twice" in str(second[1])


def test_bytes_that_are_no_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes(b'[{"a": "gr\xc3\xbc\xc3\x9fe"},\n{"a": "gr\xfc\xdfe"}]')
    with pytest.raises(BadFile) as refused:
        list(read_json_list(path))
    assert refused.value.line == 2
