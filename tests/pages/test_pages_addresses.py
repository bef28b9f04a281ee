"""Addresses that people mistype and strangers send: no page breaks, and what there is not is named as unknown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cxlab.read import known
from cxlab.read.view import KEYS, View
from cxlab.ui.choices import LARGEST, read_number
from cxlab.ui.unknown import find_unknown, find_unknown_attempt
from cxlab.views.persona.choices import KEYS as PLAYED
from cxlab.views.persona.choices import VariantChoice
from tests.conftest import use
from tests.pages.app_script import ROOT, open_page, words

pytestmark = pytest.mark.xdist_group("small-twelve")
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
# What is named as unknown: with these the rest of the page is not reached.
NAMED = {"run", "model", "dataset", "benchmark", "task", "baseline", "attempt"}
WITH_VIEW = (
    "compare",
    "conversations",
    "crm_desk",
    "datasets",
    "failures",
    "judges",
    "knowledge",
    "retrieval",
    "sop_paths",
)
# Parameters that are no View's, of any page.
# fmt: off
OWN = [
    "agents", "at_once", "budget", "cache", "customer", "docket-open", "judges", "levels", "limit",
    "scenarios", "seed", "trials", "only-language", "job", "role", "articles", "brand", "brief-language",
    "folder", "kind", "noise", "size", "validate", "way", "wer", "writer", "mix",
    "order-seed", "rater", "article", "corpus", "fact", "find", "form", "intent", "pair",
    "talk", "taxonomy", "topic", "trouble", "methods", "most", "on", "overlap", "query",
    "respond", "sizes", "by", "figure", "source", "weights", "pace", "show", "beats",
    "flips-by", "flips-of", "judged-by", "judged-field", "judged-metric", "escalation-verdicts",
    "object", "record", "today", "sample", "reading",
    "suspected", "finding", "status", "granularity", "retriever", "size", "like", "only", "since", "until",
]
# fmt: on
GARBAGE = {
    "beyond all numbers": "1e999",
    "many digits": "9" * 5000,
    "below": "-1",
    "markup": "<img src=x onerror=alert(1)>![a](http://b) $x$ :red[c]",
    "a path": "../../../etc/passwd",
    "nul": "a\0b",
    "quotes": "'\";--%' OR 1=1",
    "signs": "\u202e\U0001f600²٣",
    "parts": "a/b>c~d=e",
}
TABS = {"datasets": {"tab": "generate"}, "persona_lab": {"tab": "results"}}


@pytest.fixture
def home(small_stores: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something to show on every page."""
    use(small_stores("twelve"), monkeypatch)
    return small_stores("twelve")


@pytest.mark.parametrize("stem", PAGES)
@pytest.mark.parametrize("turn", range(2))
def test_no_parameter_breaks_a_page(home: Path, stem: str, turn: int) -> None:
    # Over two looks a parameter of many values is eight of the nine kinds of garbage, and each look has all of them;
    # what reads one value is given all kinds below.
    kinds = list(GARBAGE.values())
    keys = sorted({*(KEYS - NAMED), *OWN})
    query = {key: [kinds[(place + turn * 4 + more) % 9] for more in range(4)] for place, key in enumerate(keys)}
    # A parameter of one value takes the first, so that one stands alone for every other parameter.
    query = {key: values[: 1 if (place + turn) % 2 else 4] for place, (key, values) in enumerate(query.items())}
    app = open_page(stem, **{**query, **TABS.get(stem, {})})
    assert not app.exception
    for part in [*app.markdown, *app.caption, *app.error, *app.warning]:
        assert "<img" not in part.value.replace("\\<", "")


@pytest.mark.parametrize("stem", WITH_VIEW)
def test_what_there_is_not_is_named_and_nothing_shown_in_its_place(home: Path, stem: str) -> None:
    lost = {"run": "run-gone", "model": "simulated:ghost", "dataset": GARBAGE["a path"], "attempt": "run-gone/a1"}
    # All pages are guarded by the same look before anything of theirs is drawn.
    for key in lost if stem == "failures" else ("run", "attempt"):
        value = lost[key]
        app = open_page(stem, **{key: value})
        assert not app.exception
        assert f"There is no {key} “{value}” in this store" in words(app)
        assert not app.dataframe
        assert not app.metric
        assert not app.get("plotly_chart")
    app.button(key="cx-unknown").click().run()
    assert not app.exception
    assert "There is no" not in words(app)
    # Judges opens its first item then, which has an address.
    assert "run-gone/a1" not in app.query_params.get("attempt", "")


@pytest.mark.parametrize("stem", ["failures", "compare"])
def test_malformed_names_are_named_as_well(home: Path, stem: str) -> None:
    # All of them at once: each is looked up and described by itself, see below.
    query: dict[str, Any] = {key: [*GARBAGE.values(), "simulated:strong"] for key in sorted(NAMED)}
    app = open_page(stem, **query)
    assert not app.exception
    assert "There is no run “" in words(app)


@pytest.mark.parametrize("stem", ["run", "datasets"])
@pytest.mark.parametrize("number", ["1e999", "-3"])  # read as any number is, see below
def test_numbers_out_of_range_are_brought_into_it(home: Path, stem: str, number: str) -> None:
    app = open_page(stem, tab="generate", seed=number, limit=number, trials=number, at_once=number, size="small")
    assert not app.exception
    assert app.number_input(key="seed").value == 0


HAS = {"run": frozenset({"r"}), "model": frozenset({"m"}), "dataset": frozenset({"d"})}
HAS |= {"benchmark": frozenset({"b"}), "task": frozenset({"t"})}


def test_names_are_looked_up_only_where_there_are_any() -> None:
    assert find_unknown({"level": ["x"], "q": ["y"], "run": [""]}, lambda: pytest.fail("looked up")) == []
    assert find_unknown({"run": ["r"], "model": ["m", "n"]}, lambda: HAS) == ["model “n”"]
    assert find_unknown({"baseline": ["m"]}, lambda: HAS) == find_unknown({"baseline": ["r"]}, lambda: HAS) == []
    assert find_unknown({"baseline": ["x"]}, lambda: HAS) == ["model or run “x”"]
    assert find_unknown({"run": ["x" * 500]}, lambda: HAS) == [f"run “{'x' * 80}…”"]
    for key in ("run", "model", "dataset", "benchmark", "task"):
        for value in GARBAGE.values():
            (named,) = find_unknown({key: [value]}, lambda: HAS)
            assert named.startswith(f"{key} “")


TEXT = some.text(max_size=40) | some.sampled_from(sorted(GARBAGE.values()))


@given(some.dictionaries(some.sampled_from(sorted(KEYS)), some.lists(TEXT, max_size=4), max_size=8))
def test_any_address_is_a_view(query: dict[str, list[str]]) -> None:
    found = View.from_query(query)
    assert View.from_query(found.to_query()) == found
    find_unknown(query, lambda: HAS)


def test_what_is_no_attempt_is_none(home: Path) -> None:
    for value in (*GARBAGE.values(), "a", "a/", "/a", "a/b/c"):
        assert find_unknown_attempt({"attempt": [value]}, known.has_attempt), value
    assert (
        find_unknown_attempt({"attempt": [""]}, known.has_attempt) == find_unknown_attempt({}, known.has_attempt) == []
    )


@given(TEXT | some.integers().map(str) | some.floats().map(str))
def test_any_text_is_a_number_in_range_or_none(text: str) -> None:
    assert read_number(text, 1, 512, 32) in range(1, 513)
    whole = read_number(text, 0, LARGEST, None)
    assert whole is None or 0 <= whole <= LARGEST
    assert 0.01 <= read_number(text, 0.01, 1e6, 1.0) <= 1e6


def test_numbers_are_read_as_they_are_written() -> None:
    assert read_number("7", 0, LARGEST, 1) == 7
    assert read_number(str(LARGEST), 0, LARGEST, 1) == LARGEST
    assert read_number("-7", 0, 9, 1) == 0
    assert read_number("1_0", 0, 99, 1) == read_number("", 0, 99, 1) == read_number("٣", 0, 99, 1) == 1
    assert read_number("0.5", 0.01, 1.0, None) == 0.5


@given(TEXT | some.just("hard-2-voice-15"))
def test_any_code_is_a_variant_or_named(code: str) -> None:
    read = VariantChoice.read(code)
    assert VariantChoice.knows(read.code)
    if VariantChoice.knows(code):
        assert VariantChoice.read(read.code) == read


def test_the_parameters_of_a_play_are_no_views() -> None:
    assert not (PLAYED & KEYS)
