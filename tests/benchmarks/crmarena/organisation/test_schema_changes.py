"""Changes to the schema: what they add can be asked for, agents are told of it; what does not fit names its line."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab import llm
from cxlab.benchmarks.crmarena.generation import added_records, plan, prompts, to_schema
from cxlab.benchmarks.crmarena.live import upload_records
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.organisation import schema_changes
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.prompts.agent_prompts import list_objects
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.errors import BadFile
from cxlab.llm import ChatModel
from cxlab.llm.base import Completion, Request
from cxlab.records import Sample
from cxlab.store import write
from tests.benchmarks.crmarena.small_organisation import make_rows

CHANGES = """
[Case]
about = "A customer's request."
fields.Priority = { about = "How soon it must be done" }
fields.Language__c = { type = "picklist", values = ["English", "Spanish"], about = "The customer's language" }
fields.Score__c = { type = "integer", least = 3, most = 5, about = "What the customer gave" }
fields.Due__c = { type = "date", about = "By when" }
[User]
fields.Phone = { listed = false }
"""


MORE = """
[Warranty__c]
prefix = "a5W"
about = "A longer warranty"
rows = 12
fields.Name = { type = "string", about = "What it is called" }
fields.Account__c = { type = "reference", to = "Account", children = "Warranties__r", about = "Whose it is" }
fields.Level__c = { type = "picklist", values = ["Gold", "Silver"], about = "How much it covers" }
fields.Parts__c = { type = "multipicklist", values = ["Sole", "Lining", "Laces"], about = "What it covers" }
fields.Price__c = { type = "currency", least = 5, most = 30, about = "What it costs" }
fields.Note__c = { type = "long_text", about = "What the agent noted" }
[Claim__c]
prefix = "a5C"
about = "What was claimed"
rows = 5
fields.Warranty__c = { type = "reference", to = "Warranty__c", children = "Claims__r", about = "Of which" }
fields.Before__c = { type = "reference", to = "Claim__c", about = "The claim before" }
fields.Made__c = { type = "datetime", about = "When" }
[Case]
fields.Claim__c = { type = "reference", to = "Claim__c", about = "What was claimed" }
fields.Priority = { dropped = true }
"""


def fill(
    tables: Mapping[str, pl.DataFrame], text: str, records: Path | None = None, model: ChatModel | None = None
) -> dict[str, pl.DataFrame]:
    given = added_records.read_given(text, str(records) if records else None)
    writer = model or llm.load("simulated:strong")
    made, _ = finish(added_records.fill(writer, "A shop.", tables, text, given, 1, None))
    return to_schema(made, schema_changes.extend(text))


@pytest.fixture(scope="module")
def more() -> Sandbox:
    tables = fill(to_tables(make_rows(), load_default()), MORE)
    schema = schema_changes.extend(MORE)
    assert find_faults(tables, schema) == []
    return Sandbox.of_tables(tables, schema, today="2021-03-17")


def test_objects_that_are_added_are_asked_for_by_every_way(more: Sandbox) -> None:
    rows = more.soql("SELECT Id, Name, Account__r.Name, Level__c, Price__c, Note__c FROM Warranty__c ORDER BY Name")
    assert len(rows) == 12
    assert all(row["Id"].startswith("a5W") and 5 <= row["Price__c"] <= 30 for row in rows)
    # What is written says what the record holds.
    for row in rows:
        assert f"Level: {row['Level__c']}" in row["Note__c"]
        assert row["Account__r"]["Name"] in row["Note__c"]
    nested = more.soql("SELECT Id, (SELECT Name FROM Warranties__r) FROM Account")
    assert sum(row["Warranties__r"]["totalSize"] for row in nested if row["Warranties__r"]) == 12
    semi = "SELECT COUNT() FROM Account WHERE Id IN (SELECT Account__c FROM Warranty__c WHERE Level__c = 'Gold')"
    assert more.soql(semi)[0]["expr0"] == len({r["Account__r"]["Name"] for r in rows if r["Level__c"] == "Gold"})
    soles = more.soql("SELECT Parts__c FROM Warranty__c WHERE Parts__c INCLUDES ('Sole')")
    assert soles
    assert all("Sole" in row["Parts__c"].split(";") for row in soles)
    assert {row["Name"] for row in more.soql("SELECT Name FROM Claim__c")} == {f"Claim-000{n}" for n in range(1, 6)}
    assert more.soql("SELECT Claim__r.Warranty__r.Account__r.Name FROM Case LIMIT 1")[0]["Claim__r"]["Warranty__r"]
    found = more.sosl("FIND {Gold} IN ALL FIELDS RETURNING Warranty__c(Id, Level__c)")
    assert len(found) == sum(row["Level__c"] == "Gold" for row in rows)
    told = {each.name: each for each in list_objects(more.schema)}
    account = next(field for field in told["Warranty__c"].fields if field.name == "Account__c")
    parts = next(field for field in told["Warranty__c"].fields if field.name == "Parts__c")
    assert parts.about.endswith("Sole, Lining, Laces. It holds several values, which INCLUDES and EXCLUDES filter")
    assert account.about == "Whose it is. Leads to Account by the path Account__r"
    with pytest.raises(QueryError, match="Priority"):
        more.soql("SELECT Priority FROM Case")
    assert "Priority" not in {field.name for field in told["Case"].fields}
    # An upload makes records before those that refer to them.
    order = upload_records.list_objects(more.schema)
    assert order.index("Account") < order.index("Warranty__c") < order.index("Claim__c") < order.index("Case")


def test_records_of_ones_own_come_from_files(tmp_path: Path) -> None:
    tables = to_tables(make_rows(), load_default())
    account = tables["Account"]["Id"][0]
    (tmp_path / "Warranty__c.csv").write_text(
        f'Id,Name,Account__c,Level__c,Note__c\na5WZZ0000000001,Sole care,{account[:15]},Gold,"two\nlines"\n\n'
        f",Whole shoe,{account},,\n"
    )
    (tmp_path / "Claim__c.csv").write_text("Name,Warranty__c,Before__c\nFirst,Sole care,\nSecond,Whole shoe,First\n")
    made = fill(tables, MORE, tmp_path)
    assert made["Warranty__c"]["Account__c"].to_list() == [account, account]
    assert made["Warranty__c"]["Note__c"].to_list() == ["two\nlines", None]
    assert made["Warranty__c"]["Price__c"].null_count() == 0  # the file has no such column
    claims = made["Claim__c"]
    assert claims["Warranty__c"].to_list() == made["Warranty__c"]["Id"].to_list()
    assert claims["Before__c"].to_list() == [None, claims["Id"][0]]
    assert made["Warranty__c"]["Id"][1].startswith("a5W")


@pytest.mark.parametrize(
    ("file", "text", "line", "problem"),
    [
        ("Warranty__c", "Name,Colour\nA,red\n", 1, "'Colour' is no field of Warranty__c"),
        ("Warranty__c", "Name,Level__c\nA,Gold\nB,Bronze\n", 3, "'Bronze' is none of its values"),
        ("Warranty__c", 'Name,Price__c\n"A\nB",1\nC,dear\n', 4, "Price__c: 'dear' is no number"),
        ("Warranty__c", "Name,Account__c\nA,Nobody Here\n", 2, "no Account has the id or is called 'Nobody Here'"),
        ("Warranty__c", "Name\nA,B\n", 2, "2 values, and 1 columns"),
        ("Warranty__c", "Id,Name\n500Ws0000000001,A\n", 2, "begins with a5W"),
        ("Warranty__c", "Id,Name\na5WZZ0000000001,A\na5WZZ0000000001,B\n", 3, "is that of line 2"),
        ("Warranty__c", 'Name\n"A\n', 2, "not CSV"),
        ("Warranty__c", "", 1, "is empty"),
        ("Warranty__c", "Name\nA\0B\n", 2, "NUL"),
        ("Warranty__c", "Name,Price__c\nA,nan\n", 2, "no number of sensible size"),
        ("Warranty__c", "Name,name\nA,B\n", 1, "two columns have one name"),
        ("Case", "Id\n", None, "Case is no object that the schema changes add"),
    ],
)
def test_a_file_that_does_not_fit_is_told_with_its_line(
    tmp_path: Path, file: str, text: str, line: int | None, problem: str
) -> None:
    (tmp_path / f"{file}.csv").write_text(text)
    with pytest.raises(BadFile, match=re.escape(problem)) as refused:
        fill(to_tables(make_rows(), load_default()), MORE, tmp_path)
    assert refused.value.line == line
    assert str(refused.value.path).endswith(f"{file}.csv")


def test_a_folder_without_files_is_told(tmp_path: Path) -> None:
    for folder, problem in ((tmp_path / "gone", "is no folder"), (tmp_path, "has no CSV file")):
        with pytest.raises(BadFile, match=problem):
            plan(CrmGenerateOptions(schema_changes=MORE, records=str(folder)), GenerationContext())


def test_texts_that_a_writer_gets_wrong_are_made_again() -> None:
    writer = ScriptedWriter()
    found, counts = finish(
        added_records.fill(writer, "A shop.", to_tables(make_rows(), load_default()), MORE, {}, 1, None)
    )
    # Twelve records are two batches. The first came in a wrong form and, asked to mend that, one record short: it was
    # made again. The second had a name twice, which was mended.
    assert (counts.batches, counts.discarded, len(writer.asked)) == (2, 1, 5)
    assert found["Warranty__c"]["Name"].to_list() == [f"Care {n}" for n in range(1, 13)]
    assert "Care 1, Care 2" in writer.asked[-1]
    assert "Price: " in writer.asked[0]


class ScriptedWriter:
    """A real model that errs three times."""

    name, simulated = "scripted", False

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(llm.load("simulated:strong"), name)

    async def complete(self, request: Request) -> Completion:
        self.asked.append("\n".join(str(message["content"]) for message in request.messages))
        inputs = request.inputs
        assert isinstance(inputs, prompts.RecordsInputs)
        records = [
            {"number": one.number, "texts": [{"field": f.name, "text": f"Care {one.number}"} for f in inputs.fields]}
            for one in inputs.records
        ]
        match len(self.asked):
            case 1:
                return Completion(text="Here are your records.")
            case 2:
                records.pop()
            case 4:
                records[0]["texts"][0]["text"] = "Care 1"
        return Completion(text=json.dumps({"records": records}))


def test_fields_that_are_added_are_filled_asked_for_and_told_to_agents(
    tmp_path: Path, small_store: tuple[Path, list[Sample]]
) -> None:
    schema = schema_changes.extend(CHANGES)
    tables = to_tables(make_rows(), load_default())
    filled = fill(tables, CHANGES)
    assert filled["Case"].equals(fill(tables, CHANGES)["Case"])
    stored = write.load_dataset(small_store[1][0].dataset_id, small_store[0])
    config = {**stored.config, schema_changes.CONFIG: CHANGES}
    changed = stored.model_copy(update={"id": "crmarena-changed", "config": config})
    write.save_dataset(changed, [], tmp_path, tables=filled)
    sandbox = Sandbox.open("crmarena-changed", home=tmp_path)
    assert sandbox.schema is schema
    counts = sandbox.soql("SELECT Language__c, COUNT(Id) n FROM Case GROUP BY Language__c ORDER BY Language__c")
    assert [row["Language__c"] for row in counts] == ["English", "Spanish"]
    assert sum(row["n"] for row in counts) == 60
    assert {row["Score__c"] for row in sandbox.soql("SELECT Score__c FROM Case")} == {3, 4, 5}
    assert len(sandbox.soql("SELECT Due__c FROM Case WHERE Due__c = NULL")) == 0
    told = {each.name: each for each in list_objects(sandbox.schema)}
    case = {field.name: field.about for field in told["Case"].fields}
    assert told["Case"].about == "A customer's request."
    assert case["Priority"] == "How soon it must be done"
    assert case["Language__c"] == "The customer's language: English, Spanish"
    assert "Phone" not in {field.name for field in told["User"].fields}
    # Other organisations keep the paper's schema.
    assert Sandbox.open(stored.id, home=small_store[0]).schema is load_default()
    assert schema_changes.extend("") is load_default()


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[Case]\n[Lead]\n", 2, "is no object"),
        ("[Case]\n\nfields.Colour = { about = 'x' }", 3, "is no field"),
        ("[Case]\nfields.Colour = { type = 'string', values = ['red'], about = 'x' }", 2, "ends with __c"),
        ("[Case]\nfields.Status = { type = 'string', values = ['red'], about = 'x' }", 2, "is there already"),
        ("[Case]\nfields.Colour__c = { type = 'picklist', about = 'x' }", 2, "give the values"),
        ("[Case]\nfields.Colour__c = { type = 'integer' }", 2, "what it is"),
        ("[Case]\nfields.N__c = { type = 'integer', about = 'x', least = 9, most = 1 }", 2, "above most"),
        ("[Case]\nfields.N__c = { type = 'reference', about = 'x' }", 2, "a reference leads to an object"),
        ("[Case]\nfields.N__c = { type = 'reference', to = 'Lead', about = 'x' }", 2, "leads to Lead"),
        ("[Case]\nprefix = '999'", 2, "there already"),
        ("[Case]\nfields.Status = { dropped = true }", 2, "what can be dropped: User.Phone"),
        ("[Case]\n[Case.fields]\nA__c = {type='date', about='x'}\na__c = {type='date', about='x'}", 4, "other letters"),
        ("[Lead__c]\nabout = 'x'", 1, "is no object"),
        ("[Lead]\nprefix = 'a5L'\nabout = 'x'", 1, "ends with __c"),
        ("[Lead__c]\nprefix = '500'\nabout = 'x'", 1, "ids of Case begin with 500"),
        ("[Lead__c]\nprefix = '1'", 2, "pattern"),
        ("[Lead__c]\nprefix = 'a5L'", 1, "say in about"),
        ("[Lead__c]\nprefix = 'a5L'\nabout = 'x'\nrows = 10001", 4, "less than or equal"),
        (
            "[L__c]\nprefix = 'a5L'\nabout = 'x'\nfields.M__c = { type = 'reference', to = 'Case', about = 'x' }\n"
            "[Case]\nfields.L__c = { type = 'reference', to = 'L__c', about = 'x' }",
            5,
            "in a circle",
        ),
        (
            "[L__c]\nprefix = 'a5L'\nabout = 'x'\n"
            "fields.M__c = { type = 'reference', to = 'Account', children = 'Cases', about = 'x' }",
            4,
            "has Cases already",
        ),
        ("[Case\n", 1, "']'"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line_before_anything_is_made(text: str, line: int, problem: str) -> None:
    with pytest.raises(BadFile, match=problem) as refused:
        plan(CrmGenerateOptions(schema_changes=text), GenerationContext())
    assert refused.value.line == line
