"""Failures in words."""

import pytest

from cxlab.charts.failure_names import describe_group


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
