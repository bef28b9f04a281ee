"""Changes to the schema: what they add can be asked for, agents are told of it; what does not fit names its line."""

from pathlib import Path

import numpy as np
import pytest

from cxlab.benchmarks.crmarena.generation import plan
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.organisation import schema_changes
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.prompts.agent_prompts import list_objects
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.generation import GenerationContext
from cxlab.errors import BadFile
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


def test_fields_that_are_added_are_filled_asked_for_and_told_to_agents(
    tmp_path: Path, small_store: tuple[Path, list[Sample]]
) -> None:
    schema = schema_changes.extend(CHANGES)
    tables = to_tables(make_rows(), load_default())
    filled = schema_changes.fill(tables, CHANGES, np.random.default_rng(1))
    assert filled["Case"].equals(schema_changes.fill(tables, CHANGES, np.random.default_rng(1))["Case"])
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
        ("[Case]\nfields.N__c = { type = 'reference', about = 'x' }", 2, "Input should be"),
        ("[Case]\nprefix = '999'", 2, "Extra inputs"),
        ("[Case\n", 1, "']'"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line_before_anything_is_made(text: str, line: int, problem: str) -> None:
    with pytest.raises(BadFile, match=problem) as refused:
        plan(CrmGenerateOptions(schema_changes=text), GenerationContext())
    assert refused.value.line == line
