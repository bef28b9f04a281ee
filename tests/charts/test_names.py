"""What ids are called on pages."""

import polars as pl
import pytest

from cxlab.charts.names import begin, name_each, shorten, spell_out


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("ReturnOrRefund", "return or refund"),
        ("RescheduleOrRefund+HandlingFee", "reschedule or refund + handling fee"),
        ("PLAN_C", "plan C"),
        ("GUIDE", "guide"),
        ("hasSLA", "has SLA"),
        ("orderStatus", "order status"),
        ("QuestionTypeFor30Days", "question type for 30 days"),
        ("bm25", "bm25"),
        (True, "yes"),
        ("false", "no"),
        ("<img src=x>", "<img src=x>"),
        ("3 days", "3 days"),
        ("", ""),
    ],
)
def test_an_id_is_spelled_out_and_other_text_stays(id: object, words: str) -> None:
    assert spell_out(id) == words


@pytest.mark.parametrize("longest", [1, 5, 12, 40, 80])
def test_shortened_text_fits_and_begins_alike(longest: int) -> None:
    text = "Read core demand as inquiry, it was a complaint about “Where the parcel is”"
    short = shorten(text, longest)
    assert len(short) <= max(longest, 2)
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_a_sentence_begins_with_a_capital_but_a_programs_name_stays() -> None:
    assert begin("strong leads by 3 points") == "Strong leads by 3 points"
    for name in ("retriever:bm25", "gpt-4.1", "org/model", "my_model", "model@2"):
        assert begin(f"{name} leads") == f"{name} leads"
    assert begin("") == ""


def test_each_value_of_a_column_is_named_once_and_a_missing_one_has_no_name() -> None:
    asked: list[object] = []

    def name(value: object) -> str | None:
        asked.append(value)
        return f"“{value}”" if value != "c" else None

    named = name_each(pl.Series("which", ["b", None, "a", "b", "c"]), name)
    assert (named.name, named.to_list()) == ("which", ["“b”", None, "“a”", "“b”", None])
    assert asked == ["b", "a", "c"]
    assert name_each(pl.Series("n", [2, 1]), name).to_list() == ["“2”", "“1”"]
    for empty in (pl.Series("none", []), pl.Series("none", [None, None])):
        assert (name_each(empty, name).dtype, name_each(empty, name).null_count()) == (pl.String, len(empty))
