"""What the reader of dialogue acts decides is right, and how much it leaves open, on every labelled set.

The sets and how they were labelled: tests/data/tau_bench_acts.md. None of these figures is blind but where it says so.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from tests.benchmarks.mmtaup2.acts_table import ALONE, SIDES, read
from tests.benchmarks.mmtaup2.test_dialogue_acts import (
    IN_RETAIL,
    OF_PEOPLE,
    answers_in,
    calls,
    dialogues,
    talks_by_id,
)

Talks = Iterable[list[dict[str, Any]]]
# Set → act → the share of its messages that is left undecided, at most
OPEN = {
    "tau-bench": {
        "request": 0.18,
        "clarification": 0.18,
        "agreement": 0.21,
        "refusal": 0.33,
        "correction": 0.27,
        "frustration": 0.45,
    },
    "SGD": {
        "request": 0.13,
        "clarification": 0.11,
        "agreement": 0.25,
        "refusal": 0.30,
        "correction": 0.20,
        "frustration": 0.22,
    },
    "MultiWOZ": {
        "request": 0.18,
        "clarification": 0.20,
        "agreement": 0.22,
        "refusal": 0.33,
        "correction": 0.24,
        "frustration": 0.42,
    },
    "shop": {
        "request": 0.31,
        "clarification": 0.23,
        "agreement": 0.38,
        "refusal": 0.38,
        "correction": 0.44,
        "frustration": 0.53,
    },
}
SETS: dict[str, Callable[[], Talks]] = {
    "tau-bench": dialogues,
    "SGD": lambda: talks_by_id(tuple(range(1, 14))),
    "MultiWOZ": lambda: answers_in(OF_PEOPLE),
    "shop": lambda: answers_in(IN_RETAIL, last=20),
}


def count_decided(talks: Talks) -> dict[str, Counter[tuple[bool | None, bool]]]:
    """Act → (what was read, whether it is labelled) → messages; those that are labelled unclear are left out."""
    seen: dict[str, Counter[tuple[bool | None, bool]]] = {act: Counter() for acts in SIDES.values() for act in acts}
    for talk in talks:
        asked = None
        for row in talk:
            if "text" not in row:
                continue
            for act in SIDES[row["side"]]:
                if act not in row.get("unclear", ()) and (asked is not None or act in ALONE):
                    seen[act][read(act, row["text"], asked), act in row.get("acts", ())] += 1
            asked = row["text"] if row["side"] == "agent" else asked
    return seen


@pytest.mark.parametrize("name", SETS)
def test_what_is_decided_is_right(name: str) -> None:
    for act, n in count_decided(SETS[name]()).items():
        right, wrong, missed = n[True, True], n[True, False], n[False, True]
        assert right >= 0.95 * (right + wrong), (name, act, n)
        assert right >= 0.95 * (right + missed), (name, act, n)
        share = (n[None, True] + n[None, False]) / max(1, n.total())
        assert share <= OPEN[name].get(act, 0.18), (name, act, share)


@pytest.mark.parametrize("name", SETS)
def test_a_yes_is_decided_by_what_is_plain_and_never_turned_around(name: str) -> None:
    found: Counter[tuple[str, bool | None]] = Counter()
    for talk in SETS[name]():
        asked: dict[str, Any] | None = None
        for row in talk:
            if row.get("side") == "agent":
                asked = row
            elif "text" in row and asked is not None:
                said = dialogue_acts.confirmed(asked["text"], row["text"])
                if "request" in asked.get("acts", ()):
                    found.update((act, said) for act in ("agreement", "refusal") if act in row.get("acts", ()))
                elif "request" not in asked.get("unclear", ()):
                    found["nothing asked", said] += 1
    assert found["agreement", False] == found["refusal", True] == 0
    assert found["nothing asked", True] == found["nothing asked", False] == 0
    yes, no = ([found[act, said] for said in (True, False, None)] for act in ("agreement", "refusal"))
    assert yes[2] <= 0.25 * sum(yes)
    assert no[2] <= 0.25 * sum(no)
    assert sum(yes) > 20
    assert sum(no) > 3


def test_nothing_is_called_what_it_is_not_in_pairs_that_no_rule_was_made_with() -> None:
    """Parts 14 and 15: little was mended by them, and nothing that was called what it is not."""
    talks = talks_by_id((14, 15))
    assert len(talks) == 120
    seen = count_decided(talks)
    assert not any(n[True, False] for n in seen.values()), seen
    assert {act: (n[True, True], n[False, True], n[None, True]) for act, n in seen.items()} == {
        "request": (12, 0, 0),
        "clarification": (3, 0, 0),
        "agreement": (12, 0, 2),
        "refusal": (2, 0, 1),
        "correction": (5, 0, 0),
        "frustration": (0, 0, 0),
    }
    said: Counter[tuple[str, bool | None]] = Counter()
    for asked, answered in zip(talks[::2], talks[1::2], strict=True):
        due = "agreement" if "agreement" in answered[-1]["acts"] else "other"
        kind = due if "request" in asked[-1]["acts"] else "nothing asked"
        said[kind, dialogue_acts.confirmed(asked[-1]["text"], answered[-1]["text"])] += 1
    assert said == {
        ("agreement", True): 8,
        ("other", False): 3,
        ("other", None): 1,
        ("nothing asked", None): 48,
    }


def test_writes_of_a_real_agent_are_decided_rightly_or_left_to_a_judge() -> None:
    found = Counter((row["confirmed"], attempt.confirmed) for row, attempt in calls(dialogues()))
    assert found["yes", False] == found["no", True] == found["unclear", False] == 0
    assert found["yes", True] >= 0.95 * 87
    assert found["no", False] >= 10  # of 11
    assert found["unclear", None] >= 18  # of 25; a reader who was unsure may be sure by rule
    assert sum(n for (_, read), n in found.items() if read is None) <= 0.2 * found.total()


@pytest.mark.parametrize(
    ("asked", "answer", "said"),
    [
        # A go-ahead that says to what answers what was asked among other things; a bare yes may answer those.
        ("Once you confirm I cancel it. Which card shall it go to?", "Please cancel it. To the blue one.", True),
        ("Once you confirm I cancel it. Which card shall it go to?", "Yes, the blue one.", None),
        ("Are you sure there is nothing more I can help with?", "Yes, thank you.", None),
        ("Shall I send it?", "Okay, what is in it?", None),
        ("Shall I send it?", "No, I have no other changes.", None),
        ("Shall I send it?", "No. Yes, do send it.", None),
        ("It costs $4. Everything to your liking?", "Yes, please.", None),
    ],
)
def test_what_is_not_plain_is_undecided(asked: str, answer: str, said: bool | None) -> None:
    assert dialogue_acts.confirmed(asked, answer) is said


@pytest.mark.parametrize(
    ("answer", "corrected"),
    [
        ("Actually, make it just two, please.", True),
        ("Sorry, please make that Friday.", True),
        ("No, I only want one seat.", True),
        ("Actually I changed my mind, let's take the other one.", True),
        ("No. It should be the blue one.", True),
        ("No, I just need the address.", None),
        ("Yes, please.", False),
    ],
)
def test_another_particular_than_the_one_held_out_is_a_correction(answer: str, corrected: bool | None) -> None:
    held_out = "You would like three seats on Thursday. Shall I book them?"
    found = dialogue_acts.correction(answer, held_out)
    assert found is True if corrected else found is not True
    assert (
        dialogue_acts.correction(answer, "Which seats would you like?") is not True
        or "changed my mind" in answer
        or ("should be" in answer)
    )


def test_half_of_the_corrections_is_decided_and_none_wrongly() -> None:
    seen: Counter[tuple[bool | None, bool]] = Counter()
    for made in SETS.values():
        seen += count_decided(made())["correction"]
    assert not seen[True, False]
    assert seen[True, True] >= 0.5 * (seen[True, True] + seen[None, True])
