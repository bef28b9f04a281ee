"""The schema holds what the reference says, and rows that do not fit it are refused with their place."""

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.generation import dataset_figures
from cxlab.benchmarks.crmarena.organisation import schema as schemas
from cxlab.benchmarks.crmarena.organisation.ids import complete_id, make_id
from cxlab.benchmarks.crmarena.organisation.tables import complete, read_folder, to_tables
from cxlab.errors import BadFile

SCHEMA = schemas.load_default()

# Object → id prefix, rows of the public mirror and of the paper's table 8, where they are known.
PUBLISHED = {
    "User": ("005", 152, 100),
    "Account": ("001", 201, None),
    "Contact": ("003", 208, 196),
    "Case": ("500", 977, 977),
    "Knowledge__kav": ("ka0", 45, 45),
    "ProductCategory": (None, 12, 12),
    "Product2": ("01t", 501, 500),
    "ProductCategoryProduct": (None, 762, None),
    "Pricebook2": ("01s", 46, 44),
    "PricebookEntry": ("01u", 22000, 22000),
    "Order": ("801", 2069, 2071),
    "OrderItem": ("802", 7100, 7100),
    "EmailMessage": ("02s", 3241, 3234),
    "LiveChatTranscript": ("570", 774, 387),
    "Issue__c": ("a1M", 10, None),
    "CaseHistory__c": ("a1N", 2983, None),
}
# References that the benchmark's metadata declare, an object.
DECLARED = {
    "Contact": {"Account", "User"},
    "Case": {"Contact", "Account", "User"},
    "ProductCategoryProduct": {"ProductCategory", "Product2"},
    "PricebookEntry": {"Pricebook2", "Product2"},
    "Order": {"Account", "Pricebook2"},
    "OrderItem": {"Order", "Product2", "PricebookEntry"},
    "EmailMessage": {"Case"},
    "LiveChatTranscript": {"Case", "Account", "User", "Contact"},
    "CaseHistory__c": {"Case"},
}


def test_the_objects_are_the_papers() -> None:
    assert list(SCHEMA.objects) == list(PUBLISHED)
    for name, (prefix, mirror, rows) in PUBLISHED.items():
        info = SCHEMA.objects[name]
        assert (info.mirror_rows, info.rows) == (mirror, rows), name
        assert prefix is None or info.prefix == prefix


def test_the_declared_references_are_the_papers() -> None:
    declared = {
        name: {field.reference.to for field in info.references if field.reference and field.reference.declared}
        for name, info in SCHEMA.objects.items()
    }
    assert {name: found for name, found in declared.items() if found} == DECLARED
    assert SCHEMA.size.objects == dataset_figures.OBJECTS
    # 20 are declared; the paper's 1.31 an object would be 21.
    assert SCHEMA.size.references == 20
    assert round(dataset_figures.REFERENCES_AN_OBJECT * 16) == 21


def test_every_way_has_a_way_back_of_its_own_and_prefixes_differ() -> None:
    prefixes = [info.prefix for info in SCHEMA.objects.values()]
    assert len(set(prefixes)) == len(prefixes)
    ways = [child for name in SCHEMA.objects for child in SCHEMA.children(name).values()]
    named = [f for info in SCHEMA.objects.values() for f in info.references if f.reference and f.reference.children]
    assert len(ways) == len(named), "two ways back of one object have one name"


def test_dependency_order_has_each_object_after_those_it_refers_to() -> None:
    order = SCHEMA.dependency_order()
    for name, info in SCHEMA.objects.items():
        for field in info.references:
            assert field.reference is not None
            assert order.index(field.reference.to) < order.index(name)


def test_a_known_id_gets_its_known_guards() -> None:
    assert complete_id("001D000000IRFma") == "001D000000IRFmaIAH"


@given(st.integers(0, 62**8), st.integers(0, 62**8))
def test_ids_are_as_different_as_their_numbers(a: int, b: int) -> None:
    one, other = make_id("500", a), make_id("500", b)
    assert len(one) == 18
    # Different even where letters' case is lost, which is what the guards are for.
    assert (one.lower() == other.lower()) == (a == b)


def test_rows_become_typed_columns() -> None:
    rows = {
        "User": [{"Id": "005A", "FirstName": "Ann", "LastName": "Lee", "Phone": 5551234567.0, "Email": ""}],
        "Case": [{"Id": "500A", "CreatedDate": "2024-05-26T06:58:00.000+0000", "Status": "New"}],
        "OrderItem": [{"Id": "802A", "PriceBookEntryId": "01uA", "Quantity": "2"}],
        "Product2": [{"Id": "01tA", "IsActive": 1}],
        "EmailMessage": [{"Id": "02sA", "ToIds": '["003A"]'}],
    }
    tables = to_tables(rows, SCHEMA)
    assert set(tables) == set(SCHEMA.objects)
    user = tables["User"].row(0, named=True)
    assert (user["Name"], user["Phone"], user["Email"]) == ("Ann Lee", "5551234567", None)
    assert tables["Case"]["CreatedDate"][0].isoformat() == "2024-05-26T06:58:00+00:00"
    assert tables["OrderItem"].row(0, named=True)["PricebookEntryId"] == "01uA"
    assert tables["Product2"]["IsActive"][0] is True
    assert tables["Order"].is_empty()


@pytest.mark.parametrize(
    ("object", "row", "told"),
    [
        ("Case", {"Colour": "red"}, "Case:1: Colour is no field of Case"),
        ("Case", {"CreatedDate": "yesterday"}, "Case:1: CreatedDate: 'yesterday' is no date or time"),
        ("OrderItem", {"Quantity": "many"}, "OrderItem:1: Quantity: 'many' is no number"),
        ("OrderItem", {"Quantity": float("nan")}, "OrderItem:1: Quantity: nan is no number"),
        ("Product2", {"IsActive": "perhaps"}, "Product2:1: IsActive: 'perhaps' is neither true nor false"),
        ("Lead", {}, "Lead: is no object of the schema"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(object: str, row: dict[str, object], told: str) -> None:
    with pytest.raises(BadFile, match=told.replace("(", r"\(")):
        to_tables({object: [row]}, SCHEMA)


def test_what_is_written_in_other_ways_is_read_alike() -> None:
    emails = [{"Id": "02sA", "ToIds": each} for each in ('["a", "b"]', "['a', 'b']", "a, b", ["a", "b"])]
    assert to_tables({"EmailMessage": emails}, SCHEMA)["EmailMessage"]["ToIds"].unique().to_list() == ['["a", "b"]']
    users = to_tables({"User": [{"Id": "005A"}, {"Id": "005B", "LastName": "Lee"}]}, SCHEMA)["User"]
    assert users["Name"].to_list() == [None, "Lee"]
    info = SCHEMA.objects["Case"]
    bare = pl.DataFrame({"Id": ["500A"], "Subject": [""], "CreatedDate": [datetime(2020, 1, 1, 12)]})
    row = complete(bare, info).row(0, named=True)
    assert (row["Subject"], row["CreatedDate"].isoformat()) == (None, "2020-01-01T12:00:00+00:00")


def test_a_folder_holds_an_organisation_or_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="holds no organisation"):
        read_folder(tmp_path, SCHEMA)
    made = to_tables({"Issue__c": [{"Id": "a1M1", "Name": "Shipping Delay"}]}, SCHEMA)
    for name, frame in made.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "latent_skills.parquet").write_bytes(b"never opened")
    assert read_folder(tmp_path, SCHEMA)["Issue__c"]["Name"].to_list() == ["Shipping Delay"]
    (tmp_path / "Case.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(BadFile, match=r"Case\.parquet: cannot be read as Case rows"):
        read_folder(tmp_path, SCHEMA)


def test_a_schema_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text('[Lead]\nprefix = "00Q"\nabout = "x"\nfields.Name = { type = "rope" }\n')
    with pytest.raises(BadFile, match=r"Lead\.fields\.Name\.type"):
        schemas.load(path)
    path.write_text('[Lead]\nprefix = "00Q"\nabout = "x"\nfields.A = { type = "reference", to = "B", path = "B" }\n')
    with pytest.raises(BadFile, match=r"Lead\.A leads to B, which is no object"):
        schemas.load(path)
