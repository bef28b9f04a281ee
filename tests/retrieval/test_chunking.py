"""Cutting: every rule of the module's docstring, as a property."""

import itertools
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.retrieval import chunk, spans

texts = st.text(st.sampled_from("ab \n\tä漢.\r"), max_size=200)
sizes = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(texts, sizes)
def test_nothing_is_lost_nothing_is_longer_and_the_order_is_kept(text, given_sizes):
    size, overlap = given_sizes
    pieces = chunk(text, size, overlap)
    assert all(0 < len(piece) <= size for piece in pieces)
    assert "".join(piece[overlap if number else 0 :] for number, piece in enumerate(pieces)) == text
    found = spans(text, size, overlap)
    assert [text[start:end] for start, end in found] == pieces
    for (start, end), (following, later) in itertools.pairwise(found):
        assert following == end - overlap
        assert start < following < end + 1
        assert end < later


def strength(text, end):
    """3 after a blank line, 2 after a line, 1 after white space, 0 inside a word."""
    before = text[:end]
    if before.endswith("\n"):
        return 3 if before[:-1].rstrip(" \t\r").endswith("\n") else 2
    return 1 if before[-1:].isspace() else 0


@given(texts, sizes)
def test_each_cut_is_the_last_of_the_strongest_boundaries_that_fit(text, given_sizes):
    size, overlap = given_sizes
    for start, end in spans(text, size, overlap)[:-1]:
        reachable = range(start + overlap + 1, start + size + 1)
        strongest = max(strength(text, one) for one in reachable)
        assert end == max(one for one in reachable if strength(text, one) == strongest)


@given(st.lists(st.text("abc ", min_size=1, max_size=18).filter(str.strip), max_size=12))
def test_a_paragraph_that_fits_is_never_cut(paragraphs):
    text = "\n\n".join(paragraphs)
    cuts = {end for _, end in spans(text, 25, 5)[:-1]}
    assert all(text[:cut].endswith("\n\n") for cut in cuts)


def test_a_long_paragraph_goes_down_to_lines_then_words_then_letters():
    assert chunk("one two\nthree four\nfive", 12, 0) == ["one two\n", "three four\n", "five"]
    assert chunk("one two three", 8, 0) == ["one two ", "three"]
    assert chunk("abcdefgh", 3, 1) == ["abc", "cde", "efg", "gh"]
    assert chunk("a b", 3, 1) == ["a b"]
    assert chunk("", 3, 1) == []


@given(st.lists(st.text("abcdef", min_size=1, max_size=30), min_size=1, max_size=10), st.integers(33, 60))
def test_like_langchain_where_paragraphs_fit(paragraphs, size):
    splitters = pytest.importorskip("langchain_text_splitters", reason="the other splitter is not installed")
    text = "\n\n".join(paragraphs)
    other = splitters.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=0, keep_separator="end", strip_whitespace=False
    )
    assume(len(text) > size)
    assert chunk(text, size, 0) == other.split_text(text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a", 0, 0), "size 0"),
        (("a", 5, 5), "overlap 5"),
        (("a", 5, -1), "overlap -1"),
        (("a", 5.0, 1), "whole number"),
        (("a", 5, True), "whole number"),
        ((b"a", 5, 1), "not bytes"),
    ],
)
def test_misuse_is_refused(arguments, says):
    with pytest.raises(BadOption, match=says):
        chunk(*arguments)


@pytest.mark.parametrize("unit", ["word ", "漢字", "\n"])
def test_a_large_text_takes_seconds_at_most(unit):
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    pieces = chunk(text, 1_000, 100)
    # Of this process, and a hundred times what it takes: only what grows with the square of the text fails.
    assert time.process_time() - began < 60
    assert sum(map(len, pieces)) == len(text) + 100 * (len(pieces) - 1)
