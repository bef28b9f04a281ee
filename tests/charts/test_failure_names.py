"""Failures in words."""

import pytest

from cxlab.charts.failure_names import describe_group, name_group, say_worst


def group(kind: str, detail: str) -> dict[str, object]:
    steps = dict.fromkeys(("stage", "took", "due", "field", "given", "wanted", "tool"))
    return {"kind": kind, "scenario": "case_routing", "detail": detail, "owner": "", **steps}


@pytest.mark.parametrize(
    ("kind", "detail", "told"),
    [
        ("provider", "quota HTTP 402: Insufficient Balance", "Provider fault: quota or credit spent"),
        ("provider", "rate_limited HTTP 429: slow down", "Provider fault: rate limit"),
        ("provider", "of_a_new_kind HTTP 999: x", "Provider fault: of a new kind"),
        ("format", "truncated", "Unreadable reply: the reply was cut off at its token limit"),
        ("format", "filtered", "Unreadable reply: the provider's content filter held the reply back"),
    ],
)
def test_faults_and_unreadable_replies_stand_in_words(kind: str, detail: str, told: str) -> None:
    what, where = describe_group(group(kind, detail))
    assert what == told
    assert ("HTTP" in where) == (kind == "provider")


def test_a_name_says_where_if_the_same_happened_elsewhere() -> None:
    row = {**group("answer", "handed over without need"), "scenario": "telecom", "elsewhere": True, "level": 1}
    titles = {"telecom": "Telecom"}
    assert name_group(row, titles) == "Handed over without need, in “Telecom”"
    assert name_group({**row, "elsewhere": False}, titles) == "Handed over without need"
    counted = {"n": 25, "attempts": 25, "by_model": {"simulated:weak": 25}}
    found = say_worst({**row, **counted}, ("dialogue", "dialogues"), "of 72 that failed", titles)
    assert found == ("Handed over without need, in “Telecom”", "25 dialogues, of 72 that failed. All are weak's.")
