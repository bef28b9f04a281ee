"""CXMArena's figures: hand-worked examples, the published figures' arithmetic, and what must always hold."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.evaluation.task_metrics import (
    intent,
    is_two_level,
    kb_pairs,
    multi_turn_recall,
    quality,
    search,
    snap,
    sweep,
    tools,
)
from cxlab.errors import BadOption

PUBLISHED = json.loads((Path(__file__).parents[4] / "data" / "published" / "cxmarena.json").read_text(encoding="utf-8"))
IDS = st.sampled_from("abcdefgh")
PAIRS = st.lists(st.tuples(IDS, IDS), max_size=20)


def rows(table):
    found = next(one for one in PUBLISHED["tables"] if one["id"] == table)
    names = [column["id"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


def test_pairs_by_hand():
    found = kb_pairs([["b", "a"], ["a", "b"], ["c", "c"], ["c", "d"], ["d", "e"]], [["a", "b"], ["e", "f"]])
    assert (found["true_positives"], found["predicted"], found["gold"]) == (1, 3, 2)
    assert found["precision"] == pytest.approx(1 / 3)
    assert found["recall"] == 0.5
    assert found["f1"] == pytest.approx(0.4)


def test_no_prediction_is_zero_and_no_crash():
    found = kb_pairs([], [["a", "b"]])
    assert (found["precision"], found["recall"], found["f1"]) == (0, 0, 0)
    assert kb_pairs([], [])["f1"] == 0
    with pytest.raises(BadOption, match="is no pair"):
        kb_pairs([["a", "b", "c"]], [])
    with pytest.raises(BadOption, match="is no pair"):
        kb_pairs(["ab"], [])


@given(PAIRS, PAIRS)
def test_pairs_are_unordered_and_swapping_the_sides_swaps_the_figures(one, other):
    there, back = kb_pairs(one, other), kb_pairs([(b, a) for a, b in other] * 2, one)
    assert there["f1"] == back["f1"]
    if there["predicted"] and there["gold"]:
        assert there["precision"] == back["recall"]
    assert all(0 <= there[name] <= 1 for name in ("precision", "recall", "f1"))


@given(PAIRS)
def test_gold_pairs_score_one(pairs):
    found = kb_pairs(pairs, pairs)
    assert found["f1"] == (1.0 if found["gold"] else 0.0)


def test_table_1_follows_from_its_own_precision_and_recall():
    for row in rows("table1"):
        p, r, f1 = (next(v for k, v in row.items() if k.startswith(name)) for name in ("precision", "recall", "f1"))
        # What two rounded figures allow.
        low, high = (2 * (p + d) * (r + d) / (p + r + 2 * d) for d in (-0.005, 0.005))
        assert low - 0.005 <= f1 <= high + 0.005, row


def test_a_sweep_trades_precision_for_recall():
    scored = [("a", "b", 0.9), ("a", "c", 0.7), ("b", "c", 0.5)]
    found = sweep(scored, [["a", "b"], ["b", "c"]], [0.4, 0.6, 0.8, 0.95])
    assert [row["recall"] for row in found] == [1.0, 0.5, 0.5, 0.0]
    assert [row["precision"] for row in found] == [pytest.approx(2 / 3), 0.5, 1.0, 0.0]


def test_intents_equal_to_the_letter_and_after_mapping():
    candidates = ["Billing:Refund late", "Billing:Double charge", "Delivery:Lost parcel"]
    said = ["Billing:Refund late", "billing:double charge", "Delivery: Lost parcel", None]
    gold = ["Billing:Refund late", "Billing:Double charge", "Delivery:Lost parcel", "Delivery:Lost parcel"]
    raw = intent(said, gold, candidates)
    assert (raw["accuracy"], raw["correct"], raw["n"], raw["missing"]) == (0.25, 1, 4, 0.25)
    assert raw["outside"] == pytest.approx(2 / 3)
    assert raw["accuracy_l1"] == 0.5
    fuzzy = intent(said, gold, [{"label": label} for label in candidates], mapping="fuzzy")
    assert (fuzzy["accuracy"], fuzzy["missing"]) == (0.75, 0)
    assert intent("x", "x", ["x"])["accuracy"] == 1
    with pytest.raises(BadOption, match="known: raw, fuzzy"):
        intent("x", "x", ["x"], mapping="near")
    with pytest.raises(BadOption, match="1 predictions for 2"):
        intent(["x"], ["x", "y"], ["x"])


def test_the_public_mapping_as_it_was_measured():
    # Reference 2.3: a part of a candidate gives 90, ties go to the first, the fallback is in small letters.
    lamp = "Smart Lighting: Others and accessories"
    assert snap("Others", [lamp, "Heating"]) == lamp
    assert snap("Refund", ["Partial Refund request", "Refund status"]) == "Partial Refund request"
    assert snap("zzz", ["Heating", "Cooling"]) == "others"
    assert snap("", ["Heating"]) == snap(None, ["Heating"]) == "others"
    assert intent("zzz", "Others", ["Heating"], mapping="fuzzy")["accuracy"] == 0
    assert intent("Others", "Others", ["Heating", "Others"])["accuracy"] == 1


def test_two_levels_are_told_from_a_colon_in_prose():
    assert is_two_level(["A:b", "C:d", "Others"])
    assert not is_two_level(["A: b", "C:d"])
    assert not is_two_level(["Others"])


def test_published_accuracies_are_whole_conversations_of_979():
    found = [value for row in rows("table2") for value in row.values() if isinstance(value, float)]
    assert len(found) == 18
    for percent in found:
        right = round(percent * 979 / 100)
        gold = ["x"] * 979
        mine = intent(["x"] * right + ["y"] * (979 - right), gold, ["x", "y"])["accuracy"]
        assert round(100 * mine, 2) == pytest.approx(percent, abs=0.0101), percent


def test_published_tool_accuracies_are_whole_conversations_of_456():
    found = [value for row in rows("table7") for value in row.values() if isinstance(value, float)]
    assert len(found) == 20
    for percent in found:
        right = round(percent * 456 / 100)
        mine = tools([["t"]] * right + [None] * (456 - right), [["t"]] * 456)["names"]
        # Two decimals, some of them cut instead of rounded.
        assert abs(100 * mine - percent) < 0.0101, percent


def test_quality_by_hand():
    gold = [
        {"answers": ["Yes", "No", "Yes"], "evidence": [[1, 2], [], [3]], "conversation_id": "c1"},
        {"answers": ["Yes"], "evidence": [[4]], "conversation_id": "c1"},
        {"answers": ["NA", "Yes"], "evidence": [[], [5]], "conversation_id": "c2"},
    ]
    predicted = [
        {"answers": ["yes", "No", "No"], "evidence": [[1, 9], [7], []]},
        {"answers": []},
        {"answers": ["NA", "Yes"], "evidence": [[], [5]]},
    ]
    ours = quality(predicted, gold)
    assert (ours["questions"], ours["cases"]) == (6, 2)
    assert ours["question_accuracy"] == pytest.approx(4 / 6)
    assert ours["case_accuracy"] == 0.5
    # Evidence: lines 1 and 5 of the named 1, 9, 5; of the gold's 1, 2, 3, 4, 5.
    assert ours["evidence_precision"] == pytest.approx(2 / 3)
    assert ours["evidence_recall"] == pytest.approx(2 / 5)
    assert ours["majority_floor"] == pytest.approx(4 / 6)
    assert ours["majority_case_floor"] == 0
    # yes: TP 2, FP 0, FN 2; no: TP 1, FP 1, FN 0; na: TP 1.
    assert ours["f1_yes"] == pytest.approx(4 / 6)
    assert ours["f1_no"] == pytest.approx(2 / 3)
    assert ours["f1"] == pytest.approx((4 / 6 + 2 / 3 + 1) / 3)
    public = quality(predicted, gold, missing="skip")
    assert public["question_accuracy"] == pytest.approx(4 / 5)
    assert public["case_accuracy"] == 0.5


def test_quality_of_plain_lists_and_of_nothing():
    assert quality(["Yes", None], ["Yes", "No"])["question_accuracy"] == 0.5
    assert quality([], ["Yes", "No"])["question_accuracy"] == 0
    assert math.isnan(quality([], ["Yes"], missing="skip")["question_accuracy"])
    # One answer too many is not exactly the gold list: the question is right, the case is not.
    more = quality([["Yes", "Yes"]], [["Yes"]])
    assert (more["question_accuracy"], more["case_accuracy"]) == (1, 0)
    assert math.isnan(more["evidence_recall"])
    with pytest.raises(BadOption, match="known: wrong, skip"):
        quality([], [], missing="drop")


def test_quality_of_mappings_goes_by_their_keys():
    gold = {"c1": ["Yes", "No"], "c2": {"answers": ["No"], "evidence": [[3]]}}
    shuffled = {"c2": {"answers": ["No"], "evidence": [[3]]}, "c1": ["Yes", "Yes"]}
    assert quality(shuffled, gold) == quality([shuffled["c1"], shuffled["c2"]], list(gold.values()))
    assert quality(gold, gold)["case_accuracy"] == 1
    assert quality({}, gold)["question_accuracy"] == 0
    for wrong in ([["Yes"]], {"c3": ["Yes"]}):
        with pytest.raises(BadOption):
            quality(wrong, gold)


def test_an_unreadable_reply_is_wrong_both_ways_when_given_as_a_stray_answer():
    gold = [["Yes", "No"], ["Yes"]]
    for missing in ("wrong", "skip"):
        found = quality([["parsing_error"] * 2, ["Yes"]], gold, missing=missing)
        assert found["question_accuracy"] == pytest.approx(1 / 3)


@given(st.lists(st.lists(st.sampled_from(["Yes", "No", "NA"]), min_size=1, max_size=4), min_size=1, max_size=8))
def test_gold_answers_score_one_and_skipping_never_lowers_accuracy(gold):
    best = quality(gold, gold)
    assert best["question_accuracy"] == best["case_accuracy"] == best["f1"] == 1
    assert best["majority_floor"] >= 1 / 3
    half = [row[: len(row) // 2] for row in gold]
    wrong, skipped = quality(half, gold)["question_accuracy"], quality(half, gold, missing="skip")["question_accuracy"]
    assert math.isnan(skipped) or skipped >= wrong


def test_search_by_hand():
    found = search(["b", "a", "a", "c"], "c", 3)
    assert found == {
        "hit@3": 1,
        "precision@3": pytest.approx(1 / 3),
        "recall@3": 1,
        "mrr@3": pytest.approx(1 / 3),
        "ndcg@3": 0.5,
    }
    # The public way cuts the chunks first: c is the fourth chunk.
    assert search(["b", "a", "a", "c"], "c", 3, cut="chunks")["hit@3"] == 0
    many = search([["a"], [], ["b", "c"]], ["a", "b", "c"], [1, 2])
    assert many["hit@1"] == pytest.approx(1 / 3)
    assert many["hit@2"] == pytest.approx(2 / 3)
    assert many["mrr@2"] == pytest.approx(0.5)
    assert search({"q": ["a"]}, {"q": "a", "unanswered": "b"}, 1)["hit@1"] == 0.5
    assert search([], "a", 5)["hit@5"] == 0
    assert search(["x", "a", "b"], ["a", "b"], 2)["recall@2"] == 0.5
    with pytest.raises(BadOption, match="known: documents, chunks"):
        search(["a"], "a", 1, cut="pages")


def test_two_flat_lists_say_what_they_were_taken_for():
    # Scalar predictions of two queries, each with its one right article.
    pair = search(["KB_1", "KB_9"], ["KB_1", "KB_2"], 1)
    assert (pair["hit@1"], pair.shape, pair.queries) == (0.5, "many", 2)
    ranking = search(["KB_1", "KB_9"], ["KB_1", "KB_2"], 1, shape="one")
    assert (ranking["hit@1"], ranking.shape, ranking.queries) == (1, "one", 1)
    assert search(["KB_1", "KB_9"], ["KB_1"], 1).shape == search(["KB_1", "KB_9"], "KB_1", 1).shape == "one"
    # A turn may have several right articles.
    turn = multi_turn_recall(["KB_1", "KB_9"], ["KB_1", "KB_2"])
    assert (turn["recall@10"], turn.shape, turn["turns"]) == (0.5, "one", 1)
    assert multi_turn_recall(["KB_1", "KB_9"], ["KB_1", "KB_2"], shape="many")["turns"] == 2
    with pytest.raises(BadOption, match="known: auto, one, many"):
        search(["a"], "a", 1, shape="both")


def test_lists_of_tools_may_stand_as_text():
    assert tools("['a', 'b']", "['b', 'a']")["names"] == 1
    assert tools([["a"], None], ["['a']", '["b"]'])["names"] == 0.5
    calls = [{"name": "track", "arguments": {"order": "W1"}}]
    assert tools(calls, json.dumps(calls))["names_arguments"] == 1
    with pytest.raises(BadOption, match="tools: neither JSON nor a Python literal"):
        tools(["a"], "[a")


@given(st.lists(st.lists(IDS, max_size=12), min_size=1, max_size=5), st.data())
def test_search_figures_stay_between_0_and_1_and_chunks_never_beat_documents(ranked, data):
    gold = data.draw(st.lists(IDS, min_size=len(ranked), max_size=len(ranked)))
    documents, chunks = search(ranked, gold, 5), search(ranked, gold, 5, cut="chunks")
    assert all(0 <= value <= 1 for value in documents.values())
    assert chunks["hit@5"] <= documents["hit@5"]


def test_recall_by_hand_and_empty_gold_both_ways():
    ranked = [["a", "a", *(f"x{i}" for i in range(9)), "b"], ["c"], ["d"]]
    gold = [["a", "b"], ["c", "c"], []]
    ours = multi_turn_recall(ranked, gold)
    # b is the eleventh different article.
    assert ours["recall@10"] == pytest.approx((0.5 + 1) / 2)
    assert ours["recall@20"] == 1
    assert (ours["turns"], ours["empty_gold"]) == (3, 1)
    assert multi_turn_recall(ranked, gold, empty="zero")["recall@20"] == pytest.approx(2 / 3)
    assert math.isnan(multi_turn_recall([["a"]], [[]])["recall@10"])
    with pytest.raises(BadOption, match="known: skip, zero"):
        multi_turn_recall([["a"]], [["a"]], empty="drop")


def test_tools_by_hand():
    gold = [{"name": "track", "arguments": {"order": "A-1", "days": 3}}]
    same = [{"name": "track", "arguments": '{"days": "3", "order": " a-1 "}'}]
    assert tools(same, gold)["names_arguments"] == 1
    for arguments in ({"order": "A-1"}, {"order": "A-1", "days": 4}, {"order": "A-1", "days": 3, "x": 1}, "not json"):
        found = tools([{"name": "track", "arguments": arguments}], gold)
        assert (found["names"], found["names_arguments"]) == (1, 0)
    assert tools([*same, "cancel"], gold)["names"] == 0
    assert tools(same * 2, gold)["names"] == 1
    assert tools(same * 2, gold)["names_arguments"] == 0
    many = tools([["b", "a"], None, ["a"]], [["a", "b"], ["a"], ["a", "b"]])
    assert many["names"] == pytest.approx(1 / 3)
    assert many["name_precision"] == pytest.approx(2 / 3)
    assert many["name_recall"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert many["silent"] == pytest.approx(1 / 3)
    assert math.isnan(many["names_arguments"])


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4))
def test_gold_calls_score_one_in_any_order(names):
    gold = [{"name": name, "arguments": {"n": i}} for i, name in enumerate(names)]
    found = tools(gold[::-1], gold)
    assert found["names"] == found["names_arguments"] == 1
    assert tools(None, gold)["names"] == 0
