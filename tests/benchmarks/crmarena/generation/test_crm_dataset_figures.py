"""An organisation beside the paper's tables 1 and 8, and the checks that its texts went through."""

import polars as pl
import pytest

from cxlab.benchmarks.crmarena.generation import dataset_figures, sizes
from cxlab.benchmarks.dataset_figures import OWN, CheckTable, FigureTable
from cxlab.store import write
from tests.benchmarks.crmarena.generation.conftest import MadeOrganisation

# The paper's table 8, written off once more.
PUBLISHED = (
    "User 100, Contact 196, ProductCategory 12, Product2 500, OrderItem 7100, Pricebook2 44, PricebookEntry 22000, "
    "Case 977, Order 2071, EmailMessage 3234, LiveChatTranscript 387, Knowledge__kav 45"
)


@pytest.fixture
def figures(made: MadeOrganisation, monkeypatch: pytest.MonkeyPatch) -> dict[str, FigureTable | CheckTable]:
    monkeypatch.setenv("CXLAB_HOME", str(made.home))
    return {table.id: table for table in dataset_figures.list_figures(made.dataset)}


def values(table: FigureTable | CheckTable, column: str) -> dict[str, float]:
    return dict(table.frame.select("label", column).iter_rows())


def test_records_stand_beside_the_papers_and_the_public_copys(figures: dict[str, FigureTable | CheckTable]) -> None:
    table = figures["sizes"]
    told = {name: count for name, count in values(table, "paper").items() if count is not None}
    assert told == {name: float(count) for name, count in (pair.split(" ") for pair in PUBLISHED.split(", "))}
    size = sizes.read_size(150)
    ours = values(table, OWN)
    assert (ours["Case"], ours["LiveChatTranscript"], ours["EmailMessage"]) == (size.cases, size.chats, size.emails)
    assert values(table, "mirror")["LiveChatTranscript"] == 774
    assert "150 cases" in table.finding


def test_objects_and_references_stand_beside_table_1(figures: dict[str, FigureTable | CheckTable]) -> None:
    table = figures["schema"]
    ours, paper = values(table, OWN), values(table, "paper")
    assert (ours["Objects"], paper["Objects"]) == (16, 16)
    assert (ours["References an object"], paper["References an object"]) == (1.25, 1.31)
    objects = figures["sizes"].frame
    assert objects["references"].cast(pl.Int64).sum() == 20
    assert dict(objects.select("label", "fields").iter_rows())["Case"] == "11"


def test_checks_are_counted_and_have_intervals(figures: dict[str, FigureTable | CheckTable]) -> None:
    frame = figures["checks"].frame
    assert frame.filter(pl.col("label") == "Texts of cases")["n"].item() == 15
    assert (frame["passed"] <= frame["n"]).all()
    assert frame["low"].is_between(0, 1).all()


def test_a_dataset_without_an_organisation_says_so(made: MadeOrganisation, figures: object) -> None:
    empty = made.dataset.model_copy(update={"id": "crmarena-none", "config": {}})
    write.save_dataset(empty, [], made.home)
    tables = dataset_figures.list_figures(empty)
    assert [table.id for table in tables] == ["sizes", "schema"]
    assert "no organisation" in tables[0].finding
    assert dataset_figures.list_figures(made.dataset.model_copy(update={"benchmark": "sage"})) == []
