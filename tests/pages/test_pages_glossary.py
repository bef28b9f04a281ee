"""The glossary: every word once, what benchmarks declare, and the words of a page beside its heading."""

from pathlib import Path

import pytest

from cxlab import resources
from cxlab.benchmarks import REGISTRY
from cxlab.read import glossary
from cxlab.views.glossary import list_declared
from tests.pages.app_script import open_page, words

pytestmark = pytest.mark.xdist_group("pages")


def test_each_term_is_there_once_in_order_and_names_pages_that_there_are() -> None:
    known = glossary.terms()
    names = [term.word for term in known]
    assert names == sorted(set(names), key=str.lower)
    assert all(term.meaning.endswith(".") for term in known)
    pages = {path.stem for path in (resources.site() / "pages").glob("*.py")}
    assert {page for term in known for page in term.pages} <= pages
    assert [term.word for term in glossary.terms_of("knowledge")] == [
        "Contradiction", "Gap", "Gold", "Repetition", "Touched", "Unreached",
    ]  # fmt: skip


def test_the_page_lists_what_benchmarks_declare_and_can_be_narrowed(empty_home: Path) -> None:
    app = open_page("glossary")
    assert not app.exception
    shown = app.dataframe[0].value
    assert len(shown) == list_declared().height
    for benchmark in REGISTRY.values():
        of = shown[shown["of"] == benchmark.card.name]
        assert (of["kind"] == "metric").sum() == sum(map(bool, benchmark.card.metrics.values()))
        assert (of["kind"] == "constant agent").sum() == len(benchmark.floors)
    assert "**Owner**" in words(app)
    app.text_input(key="glossary-search").set_value("hands every customer").run()
    assert app.dataframe[0].value["of"].tolist() == ["MM-tau-p²"]


def test_a_page_explains_its_own_words(judged_home: Path) -> None:
    said = words(open_page("failures"))
    assert "**Owner**: Whose doing a failure is" in said
    assert "Kappa" not in said
    said = words(open_page("compare"))
    for word in ("pass^k", "Slice", "Told", "Skill"):
        assert f"**{word}**: " in said
