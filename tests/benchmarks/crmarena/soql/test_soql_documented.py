"""What the product documents at the edges of its language: queries taken and refused, places, money, picklists."""

import math

import pytest

from cxlab.benchmarks.crmarena.organisation import schema_changes
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, to_tables, to_value
from cxlab.benchmarks.crmarena.prompts.agent_prompts import list_objects
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from tests.benchmarks.crmarena.small_organisation import make_rows
from tests.benchmarks.crmarena.soql.documented_queries import REFUSED, TAKEN

CITIES = {"Boston": (42.3601, -71.0589), "Seattle": (47.6062, -122.3321), "San Jose": (37.3382, -121.8863)}
SHOPS = """
[Shop__c]
prefix = "a5S"
about = "A shop"
fields.Name = { type = "string", about = "Its town" }
fields.Place__c = { type = "location", about = "Where it is" }
"""


def ask(sandbox: Sandbox, text: str) -> list[dict[str, object]]:
    return sandbox.sosl(text) if text.startswith("FIND") else sandbox.soql(text)


def test_what_the_product_takes_is_answered(sandbox: Sandbox) -> None:
    assert len(TAKEN) > 60
    for text in TAKEN:
        ask(sandbox, text)


@pytest.mark.parametrize(("text", "code", "column"), REFUSED)
def test_what_it_refuses_is_refused_at_the_place(sandbox: Sandbox, text: str, code: str, column: int) -> None:
    with pytest.raises(QueryError) as refused:
        ask(sandbox, text)
    assert (refused.value.code, refused.value.column) == (code, column)


def test_an_amount_in_the_organisations_currency_is_a_number(sandbox: Sandbox) -> None:
    select = "SELECT Id FROM OrderItem WHERE UnitPrice"
    assert sandbox.soql(f"{select} >= USD20.5") == sandbox.soql(f"{select} >= 20.5") != sandbox.soql(f"{select} < 0")
    for mistaken, told in (("IN (USD20, 30)", "cannot be mixed"), ("> JPY20", "JPY is not active")):
        with pytest.raises(QueryError, match=told):
            sandbox.soql(f"{select} {mistaken}")
    grouped = "SELECT OrderId FROM OrderItem GROUP BY OrderId HAVING MAX(UnitPrice) >"
    assert sandbox.soql(f"{grouped} 20")
    with pytest.raises(QueryError, match="without a currency"):
        sandbox.soql(f"{grouped} USD20")


def test_a_picklist_is_sorted_as_it_was_set_up(sandbox: Sandbox) -> None:
    states = [row["Status"] for row in sandbox.soql("SELECT Status FROM Case ORDER BY Status NULLS LAST")]
    assert list(dict.fromkeys(states)) == ["New", "Working", "Escalated", "Closed"]
    falling = "SELECT Status, COUNT(Id) FROM Case GROUP BY Status ORDER BY Status DESC"
    assert [row["Status"] for row in sandbox.soql(falling)] == ["Closed", "Escalated", "Working", "New"]


@pytest.fixture(scope="module")
def shops() -> Sandbox:
    schema = schema_changes.extend(SHOPS)
    places = {name: f"{north},{east}" for name, (north, east) in CITIES.items()} | {"Nowhere": None}
    rows = [
        {"Id": f"a5SWs000000000{n}AAA", "Name": name, "Place__c": place}
        for n, (name, place) in enumerate(places.items())
    ]
    return Sandbox.of_tables(to_tables({**make_rows(), "Shop__c": rows}, schema), schema)


def measure(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres by the law of cosines, not by the haversine."""
    (a, b), (c, d) = (tuple(map(math.radians, each)) for each in (one, other))
    return 6371 * math.acos(math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(b - d))


def test_distances_are_those_of_a_sphere(shops: Sandbox) -> None:
    here = (41.0, -100.5)
    far = "DISTANCE(Place__c, GEOLOCATION(41.0, -100.5), '{}')"
    km, miles = far.format("km"), far.format("mi")
    rows = shops.soql(f"SELECT Name, {km} away, {miles} FROM Shop__c ORDER BY {km} NULLS LAST")
    wanted = sorted((measure(here, place), name) for name, place in CITIES.items())
    assert [row["Name"] for row in rows] == [*(name for _, name in wanted), "Nowhere"]
    for row, (away, _) in zip(rows, wanted, strict=False):
        assert row["away"] == pytest.approx(away, rel=1e-6)
        assert row["expr0"] == pytest.approx(away / 1.609344, rel=1e-6)
    near = f"SELECT Name FROM Shop__c WHERE {miles} < {wanted[1][0] / 1.609344 + 1:.1f}"
    assert {row["Name"] for row in shops.soql(near)} == {name for _, name in wanted[:2]}


def test_a_place_is_read_whole_or_in_halves(shops: Sandbox) -> None:
    select = "SELECT Place__c, Place__Latitude__s, Place__longitude__s FROM Shop__c WHERE Place__Latitude__s > 45"
    assert shops.soql(select) == [
        {
            "Place__c": {"latitude": 47.6062, "longitude": -122.3321},
            "Place__Latitude__s": 47.6062,
            "Place__Longitude__s": -122.3321,
        }
    ]
    field = shops.schema.objects["Shop__c"].fields["Place__c"]
    (told,) = (each.about for each in list_objects(shops.schema)[-1].fields if each.name == "Place__c")
    assert told == "Where it is. DISTANCE measures from it; its halves are Place__Latitude__s and Place__Longitude__s"
    for mistaken in ("north", "91,0", "1,2,3", "0,181"):
        with pytest.raises(TypeMismatch):
            to_value(mistaken, field)
    for condition, told in (
        ("Place__c = '1,2'", "can not be filtered"),
        ("DISTANCE(Place__c, GEOLOCATION(1, 2), 'km') = 3", "only be compared with < or >"),
        ("DISTANCE(Place__c, GEOLOCATION(95, 2), 'km') < 3", "from -90 to 90"),
        ("DISTANCE(Place__c, GEOLOCATION(1, 2), 'ly') < 3", "'mi' or 'km'"),
        ("DISTANCE(Name, GEOLOCATION(1, 2), 'km') < 3", "needs a field that holds a place"),
    ):
        with pytest.raises(QueryError, match=told):
            shops.soql(f"SELECT Id FROM Shop__c WHERE {condition}")
    with pytest.raises(QueryError, match="cannot be grouped"):
        shops.soql("SELECT COUNT(Id) FROM Shop__c GROUP BY DISTANCE(Place__c, GEOLOCATION(1, 2), 'km')")
