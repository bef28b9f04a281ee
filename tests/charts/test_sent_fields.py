"""What models and tools send, in words."""

from cxlab.charts.failure_names import say_unread
from cxlab.charts.sent_fields import list_fields, read_sent, say_arguments


def test_an_object_is_named_field_by_field_and_its_values_stay_as_they_were_sent() -> None:
    sent = (
        '{"order_id": "#W1_a", "paid": true, "note": null, "tags": [], "address": {"zip": "1"}, "items": [{"id": 1}]}'
    )
    assert list(list_fields(read_sent(sent))) == [
        ("order id", "#W1_a"), ("paid", "yes"), ("note", "none"), ("tags", "none"), ("address: zip", "1"),
        ("items 1: id", "1"),
    ]  # fmt: skip
    assert say_arguments(sent) == "#W1_a, yes, none, none, zip: 1, id: 1"
    # What is no object has no fields, and is told as it came.
    for odd in ("[1, 2]", '"x"', "no {JSON", ""):
        assert list(list_fields(read_sent(odd))) == []
    assert say_arguments("no  {JSON") == "no {JSON"
    assert say_arguments("{}") == ""


def test_why_a_reply_could_not_be_used_is_told_in_words() -> None:
    outside = "field 'fields.RiskStatus': 'SafeRequest': Input should be 'Risk' or 'Safe'"
    assert say_unread("invalid", outside) == "risk status is “SafeRequest”, outside its options (risk, safe)"
    boolean = (
        "field 'fields.DescriptionClear': 'trueRequest': Input should be a valid boolean, unable to interpret input"
    )
    assert say_unread("invalid", boolean) == "description clear is “trueRequest”, outside its options (yes, no)"
    assert (
        say_unread("not_json", "no JSON object in the reply: 'Hi'") == "the reply held no JSON object that can be read"
    )
    assert say_unread("invalid", "something else") == "something else"
