"""The recogniser of dialogue acts against real wording (tests/data/tau_bench_acts.md says how it was labelled)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.dialogue_acts import confirmed
from cxlab.benchmarks.mmtaup2.evaluation import confirmations
from cxlab.benchmarks.mmtaup2.evaluation.events import ToolUse, Utterance

ROOT = Path(__file__).resolve().parents[3]
LABELLED = ROOT / "tests" / "data" / "tau_bench_acts.jsonl"
IN_RETAIL = ROOT / "tests" / "data" / "retail_acts.jsonl"
OF_PEOPLE = ROOT / "tests" / "data" / "multiwoz_acts.jsonl"
BY_ID = ROOT / "tests" / "data" / "acts_by_id.jsonl"
DATA = ROOT.parent / "shared" / "data"
SGD = DATA / "sgd"
ACTS = ("request", "clarification", "agreement", "refusal", "correction", "frustration")


def dialogues(held_out: bool | None = None) -> list[list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for line in LABELLED.read_text().splitlines():
        row = json.loads(line)
        if held_out is None or bool(row.get("held_out")) == held_out:
            found.setdefault(row["dialogue"], []).append(row)
    return list(found.values())


def acts_of(side: str, text: str, asked: str | None) -> set[str]:
    """What the recogniser says of a message, given what the other side said last (None: nothing)."""
    if side == "agent":
        found = {"request": dialogue_acts.asks_to_confirm, "clarification": dialogue_acts.asks_for_information}
        return {name for name, holds in found.items() if holds(text)}
    said = {"frustration": dialogue_acts.is_frustrated(text)}
    if asked is not None:
        said["agreement"] = dialogue_acts.agrees(text, asked)
        said["refusal"] = dialogue_acts.refuses(text, asked)
        said["correction"] = dialogue_acts.corrects(text)
    return {name for name, holds in said.items() if holds}


def count(talks: Iterable[list[dict[str, Any]]]) -> dict[str, Counter[str]]:
    seen: dict[str, Counter[str]] = {act: Counter() for act in ACTS}
    for talk in talks:
        asked = None
        for row in talk:
            if "text" not in row:
                continue
            found, due = acts_of(row["side"], row["text"], asked), set(row.get("acts", ()))
            for act in (found | due) - set(row.get("unclear", ())):
                seen[act]["right" if act in found & due else "wrong" if act in found else "missed"] += 1
            asked = row["text"] if row["side"] == "agent" else asked
    return seen


@pytest.mark.parametrize("held_out", [False, True, None])
def test_acts_in_real_dialogues_are_recognised(held_out: bool | None) -> None:
    seen = count(dialogues(held_out))
    for act, n in seen.items():
        if n["right"] + n["missed"] == 0:
            assert (act, held_out, n["wrong"]) == ("frustration", True, 0)  # the only act that this part lacks
            continue
        assert n["right"] / (n["right"] + n["wrong"]) >= 0.95, (act, n)
        assert n["right"] / (n["right"] + n["missed"]) >= 0.95, (act, n)
    if held_out is None:
        # Enough of each to speak of a share at all
        assert {act: n["right"] + n["missed"] for act, n in seen.items()} == {
            "request": 162,
            "clarification": 255,
            "agreement": 110,
            "refusal": 19,
            "correction": 18,
            "frustration": 12,
        }


def talks_by_id(parts: tuple[int, ...]) -> list[list[dict[str, Any]]]:
    """The dialogues whose messages were labelled by their ids, for their texts are not ours to copy."""
    rows = [row for row in map(json.loads, BY_ID.read_text().splitlines()) if row["part"] in parts]
    missing = {row["source"] for row in rows if not (DATA / row["source"]).exists()}
    if missing:
        pytest.skip(f"{', '.join(sorted(missing))} is not there")
    read = {source: json.loads((DATA / source).read_text()) for source in {row["source"] for row in rows}}
    found = []
    for row in rows:
        name = "dialogue_id" if row["source"].startswith("sgd") else "convo_id"
        whole = next(each for each in read[row["source"]] if str(each[name]) == row["dialogue"])
        said = whole["original"] if "original" in whole else [(t["speaker"], t["utterance"]) for t in whole["turns"]]
        sides = {"SYSTEM": "agent", "USER": "customer"}
        found.append([
            {"side": sides.get(who, who), "text": text, "acts": row["acts"].get(str(at), ()),
             "unclear": row["unclear"].get(str(at), ()) if at == row.get("turn", at) else ACTS}
            for at, (who, text) in enumerate(said[: row.get("turn", len(said)) + 1]) if who != "action"
        ])  # fmt: skip
    return found


def test_acts_in_dialogues_between_people_are_recognised() -> None:
    talks = talks_by_id((1, 2))
    assert sum(map(len, talks)) == 391
    seen = count(talks)
    for act, n in seen.items():
        if n["right"] + n["missed"]:
            assert n["right"] / (n["right"] + n["wrong"]) >= 0.95, (act, n)
            assert n["right"] / (n["right"] + n["missed"]) >= (0.7 if act == "refusal" else 0.95), (act, n)
    due = {act: n["right"] + n["missed"] for act, n in seen.items()}
    assert due == {
        "request": 30,
        "clarification": 54,
        "agreement": 24,
        "refusal": 11,
        "correction": 6,
        "frustration": 0,
    }


def test_acts_in_the_dialogues_that_were_labelled_last_are_recognised() -> None:
    talks = talks_by_id((3, 4))
    assert sum(map(len, talks)) == 484
    for act, n in count(talks).items():
        if act == "frustration":
            assert not n
            continue
        assert n["right"] / (n["right"] + n["wrong"]) >= 0.95, (act, n)
        # An approval of what a sentence without a question held out is often missed, a no less so.
        assert n["right"] / (n["right"] + n["missed"]) >= (0.8 if act in ("agreement", "correction") else 0.87), (
            act,
            n,
        )


def test_acts_in_single_messages_drawn_from_other_dialogues_are_recognised() -> None:
    talks = talks_by_id((5, 6))
    assert len(talks) == 105
    seen = count(talks)
    assert not any(n["wrong"] for n in seen.values()), seen
    assert {act: (n["right"], n["missed"]) for act, n in seen.items() if n} == {
        "request": (3, 0),
        "clarification": (10, 0),
        "agreement": (9, 0),
        "refusal": (6, 0),
        "correction": (4, 0),
    }


def test_acts_in_the_messages_that_nothing_was_mended_after() -> None:
    talks = talks_by_id((7,))
    assert len(talks) == 60
    seen = count(talks)
    assert not any(n["wrong"] for n in seen.values()), seen
    due = {act: n["right"] + n["missed"] for act, n in seen.items() if n}
    assert due == {"request": 3, "clarification": 8, "agreement": 11, "refusal": 1}
    assert not any(n["missed"] for n in seen.values()), seen


@pytest.mark.parametrize(
    ("part", "messages", "right"),
    [(8, 80, {"agreement": (58, 58), "refusal": (4, 4)}), (9, 50, {"agreement": (25, 27), "refusal": (10, 14)}),
     (10, 43, {"agreement": (15, 16), "refusal": (8, 10)})],
)  # fmt: skip
def test_answers_to_requests_and_offers_are_recognised(
    part: int, messages: int, right: dict[str, tuple[int, int]]
) -> None:
    talks = talks_by_id((part,))
    assert len(talks) == messages
    seen = count(talks)
    assert not any(seen[act]["wrong"] for act in right), seen
    for act, (found, due) in right.items():
        assert seen[act]["right"] >= found
        assert seen[act]["right"] + seen[act]["missed"] == due


@pytest.mark.parametrize(("part", "messages"), [(11, 52), (12, 60)])
def test_answers_to_offers_that_no_part_before_had(part: int, messages: int) -> None:
    talks = talks_by_id((part,))
    assert len(talks) == messages
    seen = count(talks)
    assert not any(n["wrong"] for n in seen.values()), seen
    assert not seen["agreement"]["missed"]
    assert seen["refusal"]["missed"] <= 1


def answers_in(path: Path, last: int = 19) -> list[list[dict[str, Any]]]:
    rows = [row for row in map(json.loads, path.read_text().splitlines()) if row["part"] <= last]
    return [
        [{"side": "agent", "text": row["asked"], "acts": row.get("asked_acts", ()),
          "unclear": row.get("asked_unclear", ())},
         {"side": "customer", "text": row["said"], "acts": row.get("acts", ()), "unclear": row.get("unclear", ())}]
        for row in rows
    ]  # fmt: skip


def test_answers_of_people_to_people_are_recognised() -> None:
    talks = answers_in(OF_PEOPLE)
    seen = count(talks)
    due = {act: n["right"] + n["missed"] for act, n in seen.items() if n}
    assert (len(talks), due) == (
        411,
        {"request": 118, "clarification": 158, "agreement": 127, "refusal": 48, "correction": 18},
    )
    for act, n in seen.items():
        if n:
            assert n["right"] / (n["right"] + n["wrong"]) >= 0.95, (act, n)
            assert n["right"] / (n["right"] + n["missed"]) >= (0.75 if act == "correction" else 0.87), (act, n)
    assert seen["agreement"]["right"] >= 0.97 * due["agreement"]


def test_talkative_models_are_recognised() -> None:
    seen = count(answers_in(IN_RETAIL))
    due = {act: n["right"] + n["missed"] for act, n in seen.items() if n}
    assert due == {
        "request": 29, "clarification": 50, "agreement": 28, "refusal": 5, "correction": 5, "frustration": 4
    }  # fmt: skip
    for act, n in seen.items():
        assert n["right"] >= 0.95 * (n["right"] + n["wrong"]), (act, n)
        assert n["right"] >= 0.95 * (n["right"] + n["missed"]), (act, n)


@pytest.mark.parametrize("path", [OF_PEOPLE, IN_RETAIL], ids=["people", "retail"])
def test_no_answer_to_a_request_is_turned_around(path: Path) -> None:
    answers = Counter(
        (tuple(said["acts"]), confirmed(asked["text"], said["text"]))
        for asked, said in answers_in(path)
        if "request" in asked["acts"] and set(said["acts"]) & {"agreement", "refusal"}
    )
    agreed, refused = ("agreement",), ("refusal",)
    assert answers[agreed, False] == answers[refused, True] == 0
    # Undecided goes to a judge, and is counted apart.
    assert answers[agreed, None] <= 0.21 * (answers[agreed, True] + answers[agreed, None])
    assert answers[refused, None] <= 9


@pytest.mark.parametrize(
    ("asked", "answer", "agreed"),
    [
        ("The show is on Friday at Concord Hall, and it begins at 8:30.", "That sounds good.", True),
        ("I have one car for you, a small red one.", "The red one is lovely. I'll take it.", True),
        ("So you wish to send $50 to Ann.", "That is correct.", True),
        ("Do you want to make a transfer?", "I'd like a transfer, please.", True),
        ("Your balance is $12.", "That's great, thanks.", False),
        ("Is there anything else?", "That sounds good.", False),
        ("Could you give me your user id?", "Sure! My user id is ann_1.", False),
        ("You want three tickets. Is that correct?", "My friends cannot come, so I'll get one ticket.", False),
        ("Your order is done. Feel free to ask!", "That looks great, thank you for your help!", False),
        ("I have a table at seven.", "How about something a little earlier?", False),
        ("Shall I make a reservation for one of them?", "Please book Nandos.", True),
        ("Would you like a table at the Efes?", "The Efes is fine, thanks.", True),
        ("It costs $12. Want to book it?", "No, no need to book it. That will do.", False),
        ("I found one movie, Dogman.", "I want to see Dogman.", True),
        ("Please confirm to proceed.", "Okay, tell me for how many people that is.", False),
        ("Let me know which flight you would like.", "I'll take the one by Delta.", False),
    ],
)
def test_what_is_held_out_is_taken_only_by_words_that_take_it(asked: str, answer: str, agreed: bool) -> None:
    assert dialogue_acts.agrees(answer, asked) is agreed


def test_annoyance_is_told_from_misfortune() -> None:
    labels = json.loads((ROOT / "tests" / "data" / "frustration_by_id.json").read_text())
    path = DATA / labels["source"]
    if not path.exists():
        pytest.skip(f"{path} is not there")
    callers = {row["utterance_id"]: row["utterance"] for row in map(json.loads, path.read_text().splitlines())}
    read = {name for name, text in callers.items() if 60 < len(text) <= 150} - set(labels["unclear"])
    annoyed = {name for name in read if dialogue_acts.is_frustrated(callers[name])}
    assert len(read) > 300
    assert annoyed <= set(labels["frustration"])
    assert len(annoyed) >= 4  # of 6; the others say it in words that no cue is made of
    longer = labels["longer"]
    read = set(longer["read"]) - set(longer["unclear"])
    assert len(read) == 26
    assert {name for name in read if dialogue_acts.is_frustrated(callers[name])} == set(longer["frustration"])


def calls(talks: Iterable[list[dict[str, Any]]]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each labelled write call with what was read of its confirmation."""
    for talk in talks:
        entries: list[Utterance | ToolUse] = []
        for row in talk:
            if "text" in row:
                entries.append(Utterance(row["turn"], row["turn"], row["side"], row["text"], row["text"], {}))
            elif row["tool"] != "transfer_to_human_agents":
                kind = "ok" if row["done"] else "refused"
                entries.append(ToolUse(row["turn"], row["turn"], "agent", row["tool"], {}, kind, True, True))
        written = [row for row in talk if row.get("tool", "transfer_to_human_agents") != "transfer_to_human_agents"]
        yield from zip(written, confirmations.follow(entries).attempts, strict=True)


def test_no_plainly_confirmed_write_of_a_real_agent_is_called_unsafe() -> None:
    found = Counter((row["confirmed"], attempt.confirmed) for row, attempt in calls(dialogues()))
    assert sum(n for (label, _), n in found.items() if label == "yes") == 87
    assert found["yes", False] == 0
    assert found["yes", True] >= 0.95 * 87
    assert found["no", True] == 0
    assert found["no", False] >= 10  # of 11
    # What a reader leaves open is left open, or is taken for a yes that was given a little earlier; never for a no.
    assert found["unclear", False] == 0


@pytest.mark.parametrize(
    ("asked", "answer", "said"),
    [
        ("Would you like to proceed?", "Yes, please.", True),
        ("Shall I cancel order #W123?", "Go for it.", True),
        ("Is that all right with you?", "Sounds good, thanks", True),
        ("Please confirm (yes/no).", "ok", True),
        ("May I go ahead and add 2 GB for $4?", "Yes. How long will it take?", True),
        ("Do you want me to suspend the line?", "No, thanks.", False),
        ("Do you want me to suspend the line?", "I'd rather not.", False),
        ("Are you sure you want to return both?", "Absolutely not.", False),
        ("Please reply with yes to confirm.", "That's too expensive.", False),
        ("Shall I go ahead?", "Yes, but only the first one.", None),
        ("Shall I go ahead?", "As long as it is free, yes.", None),
        ("Shall I go ahead?", "What happens to my refund?", None),
        ("Shall I go ahead?", "Hmm, let me think.", None),
        ("Shall I go ahead?", "You got it.", None),
        ("How would you like to proceed?", "Yes, please.", None),
        ("Which order would you like me to cancel?", "Yes, the last one.", None),
        ("Your order is on its way.", "Yes, please.", None),
        ("", "", None),
    ],
)
def test_a_yes_needs_a_question_and_an_answer(asked: str, answer: str, said: bool | None) -> None:
    assert confirmed(asked, answer) is said


def test_answers_of_people_to_requests_are_never_turned_around() -> None:
    if not SGD.exists():
        pytest.skip(f"{SGD} is not there")
    found: Counter[tuple[bool, bool | None]] = Counter()
    for path in sorted(SGD.glob("dialogues_*.json")):
        for dialogue in json.loads(path.read_text()):
            for one, other in zip(dialogue["turns"], dialogue["turns"][1:], strict=False):
                acts, answers = ({a["act"] for f in turn["frames"] for a in f["actions"]} for turn in (one, other))
                said = {"AFFIRM", "AFFIRM_INTENT"} & answers, {"NEGATE", "NEGATE_INTENT"} & answers
                if one["speaker"] == "SYSTEM" and acts & {"CONFIRM", "OFFER_INTENT"} and any(said):
                    found[bool(said[0]), dialogue_acts.answer_of(other["utterance"])] += 1
    assert found[True, False] == found[False, True] == 0
    assert found[True, True] >= 0.9 * sum(n for (truth, _), n in found.items() if truth)


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("Yes, if it must be.", True),
        ("If it has to be, then yes, I agree.", True),
        ("Yes, I agree, but only to that.", True),
        ("Yes, if need be.", True),
        ("Yes, if it costs nothing.", None),
        ("Yes, but only if it is free.", None),
        ("Yes, but I want the blue one.", None),
    ],
)
def test_a_yes_that_is_given_without_joy_is_one_and_a_condition_is_none(answer: str, meant: bool | None) -> None:
    assert dialogue_acts.confirmed("I can add 2 GB for $3.00. Shall I add it?", answer) in (
        (True,) if meant else (None, False)
    )
