"""Query templates: 130 and 510 values, filled sensibly, and queries by area as in the paper."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from cxlab.benchmarks.cdr.corpus import AREAS
from cxlab.benchmarks.cdr.queries import load_templates
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES
from cxlab.errors import BadFile, BadOption

PAPER = Path(__file__).parents[5] / "shared" / "reference" / "cdr_templates_from_paper.json"
SMALL = """
placeholders:
  pet: {small: [a cat, a mouse], large: [a horse]}
  colour: {any: [red, green]}
templates:
  emotion_feedback: ["{pet} and {pet} are {colour}", "Only {pet:small}"]
"""


@pytest.fixture(scope="module")
def templates():
    return load_templates()


@pytest.fixture(scope="module")
def many(templates):
    return templates.sample(28_000, seed=1)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "templates.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_as_many_as_promised(templates):
    assert Counter(one.area for one in templates.templates) == dict.fromkeys(AREAS, 26)
    assert sum(len(values) for kinds in templates.placeholders.values() for values in kinds.values()) == 510
    used = {value for one in templates.templates for slot in one.slots for value in slot.values}
    assert {value for kinds in templates.placeholders.values() for each in kinds.values() for value in each} == used


def test_queries_by_area_as_in_the_paper(many):
    assert len({one.text for one in many}) == 28_000
    areas = Counter(one.area for one in many)
    for area, share in AREA_SHARES.items():
        assert areas[area] == pytest.approx(28_000 * share / sum(AREA_SHARES.values()), abs=1)


def test_queries_read_as_sentences(many):
    for one in many:
        assert not re.search(r"[{}]|  | [,.?]|\b(a|an|the) (a|an|the)\b", one.text), one.text
        assert one.text[0].isupper(), one.text
        assert len(set(one.values)) == len(one.values), one.text
        assert not re.search(r"\b(\w+) \1\b", one.text), one.text


def test_the_same_seed_makes_the_same_queries(templates):
    assert templates.sample(300, seed=3) == templates.sample(300, seed=3)
    assert templates.sample(300, seed=3) != templates.sample(300, seed=4)


def test_each_number_is_another_query(templates):
    """All of those templates that make few, by brute force."""
    for one in templates.templates:
        if one.count <= 200:
            made = [one.at(number) for number in range(one.count)]
            assert len({each.text for each in made}) == one.count
            assert all(each == one.fill(each.values) for each in made)


@pytest.mark.skipif(not PAPER.is_file(), reason="../shared/reference is not here")
def test_no_template_is_the_papers(templates):
    bare = re.compile(r"\{[^}]*\}")
    theirs = [bare.sub("X", text) for texts in json.loads(PAPER.read_text())["templates"].values() for text in texts]
    for one in templates.templates:
        assert max(fuzz.ratio(bare.sub("X", one.text), text) for text in theirs) < 75, one.text


@given(st.data())
def test_what_makes_no_sense_is_refused(data):
    one = data.draw(st.sampled_from(load_templates().templates))
    values = list(one.at(data.draw(st.integers(0, one.count - 1))).values)
    if values:
        place = data.draw(st.integers(0, len(values) - 1))
        with pytest.raises(BadOption):
            one.fill([*values[:place], "nothing of the kind", *values[place + 1 :]])
    with pytest.raises(BadOption):
        one.fill([*values, "more"])


def test_by_hand(tmp_path):
    found = load_templates(write(tmp_path, SMALL))
    pair, only = found.templates
    assert (pair.count, only.count) == (3 * 2 * 2, 2)
    assert pair.fill(["a cat", "a horse", "red"]).text == "A cat and a horse are red"
    with pytest.raises(BadOption, match="twice"):
        pair.fill(["a cat", "a cat", "red"])
    made = found.sample(14, 1, {"emotion_feedback": 1})
    assert Counter(one.template for one in made) == {pair.text: 12, only.text: 2}
    with pytest.raises(BadOption, match="make 14"):
        found.sample(15, 1, {"emotion_feedback": 1})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("emotion_feedback", "feelings", r":6: 'feelings' is no area"),
        ("{colour}", "{color}", r":6: 'color' is no placeholder"),
        ("{pet:small}", "{pet:tiny}", r":6: 'tiny' is no kind of pet"),
        ("Only {pet:small}", "{pet:small} and {pet}", r":6: two slots of pet share"),
        ("Only {pet:small}", "Only {pet small}", r":6: a brace that is no slot"),
        ("[red, green]", "[red, red]", r":4: 'red' stands twice"),
        ("Only {pet:small}", "{pet} and {pet} are {colour}", r":6: the template stands twice"),
        ("{pet:small}", "{colour} {colour} {colour}", r":6: a slot without a value"),
    ],
)
def test_a_fault_is_told_with_file_and_line(tmp_path, old, new, said):
    assert old in SMALL
    with pytest.raises(BadFile, match=said):
        load_templates(write(tmp_path, SMALL.replace(old, new)))


def test_values_are_dropped_by_name(tmp_path):
    kept = load_templates(write(tmp_path, SMALL + 'without:\n  "Only {pet:small}": {pet: [a mouse]}\n'))
    assert kept.templates[1].slots[0].values == ("a cat",)
    (tmp_path / "other").mkdir()
    for without in ('"Only {pet:small}": {pet: [a horse]}', '"Nothing": {pet: [a cat]}'):
        with pytest.raises(BadFile, match=r"templates\.yaml:8: "):
            load_templates(write(tmp_path / "other", SMALL + f"without:\n  {without}\n"))
