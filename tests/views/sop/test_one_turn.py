"""One turn on the map of its procedure: the way due and the way taken, and where they part."""

import re

import polars as pl
import pytest

from cxlab.read import procedures
from cxlab.views.sop import queries
from cxlab.views.sop.map.charts import draw_map
from cxlab.views.sop.one_turn import list_steps, pair_ways, where_ways_part

ID = "telecom_package"


def trace(predicted: list[str], action: str, reference: list[str], due: str) -> dict[str, object]:
    return {"procedure": ID, "parsed": True, "predicted_path": predicted, "predicted_action": action,
            "reference_path": reference, "reference_action": due}  # fmt: skip


LEFT = trace(["stage1", "stage2", "stage3", "stage6", "stage4", "stage5"], "ChangeOrder",
             ["stage1", "stage2", "stage3", "stage6"], "GoodBye")  # fmt: skip
KEPT = trace(["stage1", "stage2"], "GoodBye", ["stage1", "stage2"], "GoodBye")


@pytest.mark.parametrize(
    ("one", "parts"),
    [(LEFT, "stage6"), (KEPT, ""), (trace([], "x", ["stage1"], "y"), ""),
     (trace(["stage1"], "x", ["stage1"], "y"), "stage1")],
)  # fmt: skip
def test_where_ways_part(one: dict[str, object], parts: str) -> None:
    assert where_ways_part(one) == parts


def test_steps_are_told_in_words_for_who_cannot_tell_colours() -> None:
    procedure = procedures.get(ID)
    steps = queries.count_steps(pair_ways(LEFT))
    assert set(steps.select("source", "target", "kind").rows()) == {
        ("stage1", "stage2", "followed"), ("stage2", "stage3", "followed"), ("stage3", "stage6", "followed"),
        ("stage6", "stage4", "inserted"), ("stage4", "stage5", "inserted"), ("stage5", "ChangeOrder", "inserted"),
        ("stage6", "GoodBye", "skipped"),
    }  # fmt: skip
    told = list_steps(procedure, steps)
    assert told.startswith("Taken, and not due: ")
    assert f"Due, and not taken: {procedure.name('stage6')} → GoodBye." in told
    assert "<" not in told
    assert list_steps(procedure, queries.count_steps(pair_ways(KEPT))) == "The way taken is the one that was due."


def test_of_one_turn_nothing_is_counted() -> None:
    procedure = procedures.get(ID)
    steps = queries.count_steps(pair_ways(LEFT))
    none = pl.DataFrame(schema={"stage": pl.String, "share": pl.Float64})
    figure = draw_map(procedure, steps, none, False, "stage6", counted=False)
    names = {each.name for each in figure.data if each.showlegend}
    assert names == {"as was due", "taken, not due", "due, not taken"}
    told = [note.text for note in figure.layout.annotations]
    assert any("6 Takes the offer" in text.replace("<br>", " ") for text in told)
    counted = draw_map(procedure, steps, none, False, "stage6")

    def numbered(texts: list[str]) -> int:
        # A stage's own number is no count.
        return sum(any(sign.isdigit() for sign in re.sub(r"<b>\d+ |<[^>]*>", "", text)) for text in texts)

    assert numbered([note.text for note in counted.layout.annotations]) > numbered(told)
