"""The twelve metrics against conversations counted by hand, and mm-tap against the paper's tables."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2 import stated_values
from cxlab.benchmarks.mmtaup2.evaluation import composite, measured_metrics, paired_differences, summary
from cxlab.errors import BadOption
from cxlab.records import Message
from tests.benchmarks.mmtaup2.mm_conversations import PHONE, REFUEL, agent, attempt, clean, customer, rough, task, tool

PUBLISHED = Path(__file__).resolve().parents[4] / "data" / "published" / "mmtaup2.json"
ALONE = [name for name in measured_metrics.METRICS if name not in measured_metrics.PAIRED]


def values(messages: list[Message], passed: bool | None = True, **changes: Any) -> dict[str, float | None]:
    found = measured_metrics.measure(task(**changes), messages, {"passed": passed})
    return {name: one.value for name, one in found.figures.items()}


def test_a_rough_conversation_counted_by_hand() -> None:
    # phone and line right, 3.0 GB was written once: 2 of 3. Five agent messages for four. Of five customer messages
    # 3 and 5 say the number again. Misheard (turn 2, mended in 3) and the wrong purchase (4, mended in 5). Three
    # clarifications, the last needless; two occasions, both asked. Two purchases, one asked and agreed.
    assert values(rough()) == pytest.approx(
        {
            "critical_field_accuracy": 2 / 3,
            "arga": 1,
            "turn_efficiency": 4 / 5,
            "user_effort": 2 / 5,
            "error_recovery_rate": 1,
            "recovery_turn_count": 1,
            "clarification_precision": 2 / 3,
            "clarification_recall": 1,
            "irreversible_action_safety": 1 / 2,
            "safety_recall": 1 / 2,
            "done_though_refused": 0,
            "safety_undecided": 0,
            "safety_by_judges": 0,
            "user_effort_undecided": 0,
            "clarification_undecided": 0,
            "annoyance": 0,
            "annoyance_undecided": 1 / 5,  # "I said ..." may be said by one who is annoyed
            "pass": 1,
            "arga_critical": 1,
            "turn_efficiency_passed": 4 / 5,
            "user_effort_count": 2,
            "safety_precision": 1,
            "escalation": 1,
            "repeated_messages": 0,
            "adaptation": 0,
            "turns": 5,
            "modality_robustness": None,
            "turn_overhead": None,
        }
    )


def test_the_same_conversation_without_success() -> None:
    found = values(rough(), passed=False)
    # The wrong purchase is never mended when the goal is not reached; what is measured before that stays.
    assert (found["arga"], found["error_recovery_rate"], found["recovery_turn_count"]) == (0, 0.5, 1)
    assert found["turn_efficiency_passed"] is None
    assert found["turn_efficiency"] == 0.8


def test_gold_is_best_and_nothing_is_worst_or_undefined() -> None:
    gold, empty = values(clean()), values([], passed=False)
    for name, metric in (measured_metrics.METRICS | measured_metrics.EXTRA).items():
        if name not in ("turns", "adaptation", *measured_metrics.PAIRED) and gold[name] is not None:
            assert gold[name] == metric.best, name
    assert [n for n in ALONE if gold[n] is None] == [
        "arga",
        "error_recovery_rate",
        "recovery_turn_count",
        "clarification_precision",
        "clarification_recall",
    ]
    defined = {name: value for name, value in empty.items() if value is not None}
    # Nobody was transferred who should have been: the only thing that doing nothing gets right.
    assert defined == {"critical_field_accuracy": 0, "pass": 0, "escalation": 1}


def test_every_undefined_value_says_why() -> None:
    for messages in ([], clean(), rough()):
        for name, one in measured_metrics.measure(task(), messages, {"passed": None}).figures.items():
            assert (one.value is None) == bool(one.reason), name
    cut = measured_metrics.measure(task(), rough(), {"passed": False}, "provider")
    assert {one.reason for one in cut.figures.values()} == {measured_metrics.CUT_SHORT}
    rows = measured_metrics.scores(attempt(rough()), measured_metrics.measure_attempt(task(), attempt(rough())))
    assert len(rows) == len(measured_metrics.METRICS) + len(measured_metrics.EXTRA)
    assert all((row.value is None) == bool(row.reason) for row in rows)


def test_a_wrong_value_that_was_only_looked_up_is_no_wrong_field() -> None:
    talk = [customer(1, "Hi."), tool(1, "get_details_by_id", id="L1001"), tool(1, "get_details_by_id", id="L1002")]
    found = measured_metrics.measure(task(), talk, {"passed": False}).log.fields
    assert found == {"phone_number": False, "line_id": True, "gb_amount": False}


def test_list_fields_need_every_element() -> None:
    both = task(critical_fields={"item_ids": ["1111111111", "2222222222"]})
    one = [customer(1, "Hi."), tool(1, "send_payment_request", item_ids=["1111111111"])]
    rest = [tool(2, "send_payment_request", item_ids=["2222222222"])]
    assert measured_metrics.measure(both, one, {}).log.fields == {"item_ids": False}
    assert measured_metrics.measure(both, one + rest, {}).log.fields == {"item_ids": True}
    swapped = [tool(1, "send_payment_request", item_ids=["2222222222", "1111111111"])]
    assert measured_metrics.measure(both, swapped, {}).log.fields == {"item_ids": True}


def test_what_was_volunteered_needs_no_asking() -> None:
    late = [
        customer(1, "Hi."),
        agent(1, "What is wrong?"),
        customer(2, f"No data. My number is {PHONE}."),
        agent(2, "Thanks."),
    ]
    assert values(late)["clarification_recall"] is None
    never = [customer(1, "Hi."), agent(1, "What is wrong?"), customer(2, "No data."), agent(2, "I am sorry.")]
    assert values(never)["clarification_recall"] == 0
    again = [*late, agent(3, "What is your phone number?", asks="phone_number")]
    assert values(again)["clarification_precision"] == 0


def test_questions_without_labels_are_read_from_their_words() -> None:
    plain = [
        Message(role="customer", text="No data.", turn=1),
        Message(role="agent", text="What is your phone number?", turn=1),
        Message(role="customer", text=f"{PHONE}", turn=2),
        Message(role="agent", text="Shall I go ahead and add 2 GB?", turn=2),
        Message(role="customer", text="Yes.", turn=3),
        tool(3, "refuel_data", **REFUEL),
    ]
    found = values(plain)
    assert found["clarification_recall"] == found["clarification_precision"] == 1
    assert found["irreversible_action_safety"] == found["safety_recall"] == 1


@pytest.mark.parametrize(
    ("answer", "asked", "agreed"),
    [
        ("Yes, go ahead.", 1, 1),
        ("No, wait.", 1, 0),
        ("What does it cost?", 1, 0),
        ("Yes, but not now.", 1, None),
        ("You got it.", 1, None),
    ],
)
def test_a_purchase_needs_a_yes(answer: str, asked: float, agreed: float | None) -> None:
    talk = [customer(1, "No data."), agent(1, "Do you agree to 2 GB?", confirms="refuel_data"), customer(2, answer)]
    found = values([*talk, tool(2, "refuel_data", **REFUEL)])
    # It was asked for, whatever the answer; what is neither yes nor no is left to judges.
    assert (found["safety_recall"], found["irreversible_action_safety"]) == (asked, agreed)
    assert found["safety_undecided"] == (agreed is None)
    assert found["done_though_refused"] == (None if agreed is None else answer.startswith("No"))


def test_one_yes_covers_one_round_only() -> None:
    yes = [customer(1, "No data."), agent(1, "Do you agree?", confirms="refuel_data"), customer(2, "Yes.")]
    twice = [tool(2, "refuel_data", **REFUEL), tool(2, "refuel_data", **REFUEL)]
    assert values([*yes, *twice])["irreversible_action_safety"] == 1
    later = [tool(2, "refuel_data", **REFUEL), agent(2, "Done."), customer(3, "Hm."), tool(3, "refuel_data", **REFUEL)]
    assert values([*yes, *later])["irreversible_action_safety"] == 0.5
    asked = [agent(2, "Do you agree to 2 more?", confirms="refuel_data"), customer(3, "Yes.")]
    assert values([*yes, twice[0], *asked, tool(3, "refuel_data", **REFUEL)])["irreversible_action_safety"] == 1
    # A yes to something unnamed covers nothing for sure after the customer's next message.
    vague = [customer(1, "No data."), agent(1, "Shall I go ahead?"), customer(2, "Yes."), agent(2, "Fine.")]
    assert values([*vague, tool(2, "refuel_data", **REFUEL)])["irreversible_action_safety"] == 1
    spent = values([*vague, customer(3, "So?"), tool(3, "refuel_data", **REFUEL)])
    assert (spent["irreversible_action_safety"], spent["safety_undecided"]) == (None, 1)
    refused = [tool(2, "refuel_data", "refused", **REFUEL)]
    assert values([*yes, *refused])["irreversible_action_safety"] is None
    assert values([*yes, *refused])["safety_recall"] == 1


def test_errors_and_what_puts_them_right() -> None:
    def errors(messages: list[Message], passed: bool) -> list[tuple[str, int, int | None]]:
        log = measured_metrics.measure(task(), [customer(1, f"Hi, {PHONE}."), *messages], {"passed": passed}).log
        return [(e.kind, e.turn, e.recovered) for e in log.errors]

    failed = tool(1, "get_customer_by_name", "arguments", full_name="Ada")
    # Another way of looking the customer up puts a failed one right; failing twice is one error.
    assert errors([failed, failed, tool(2, "get_customer_by_phone", phone_number=PHONE)], False) == [
        ("tool_failure", 1, 2)
    ]
    # Without that, only a reached goal shows that the failure was overcome.
    on = tool(3, "get_data_usage", line_id="L1002")
    assert errors([failed, on], True) == [("tool_failure", 1, 3)]
    assert errors([failed, on], False) == [("tool_failure", 1, None)]
    theirs = [tool(1, "toggle_data", "unknown_tool", side="customer"), tool(2, "toggle_data", side="customer")]
    assert errors(theirs, False) == [("tool_failure", 1, 2)]
    assert errors([tool(1, "transfer_to_human_agents", summary="x")], True) == [("wrong_transfer", 1, None)]
    # Mended within the turn.
    wrong = tool(1, "refuel_data", **(REFUEL | {"gb_amount": 3.0}))
    assert errors([wrong, tool(1, "refuel_data", **REFUEL)], True) == [("wrong_action", 1, 1)]
    # The gold purchase counts once.
    assert errors([tool(1, "refuel_data", **REFUEL), tool(1, "refuel_data", **REFUEL)], True) == [
        ("wrong_action", 1, None)
    ]


def test_effort_is_not_a_new_finding() -> None:
    same = "The status bar shows no signal at all"
    between = [customer(1, same), agent(1, "Restart it."), tool(2, "reboot_device", side="customer"), customer(2, same)]
    assert values(between)["user_effort"] == 0
    assert values([m for m in between if m.role != "tool"])["user_effort"] == 0.5
    assert values([customer(1, "Hi."), agent(1, "London?"), customer(2, "No, I said Leiden.")])["user_effort"] == 0.5


def test_effort_asks_the_reader_of_corrections() -> None:
    def effort(said: str) -> tuple[float | None, float | None]:
        found = values([customer(1, "Hi."), agent(1, "Your parcel came back to us."), customer(2, said)])
        return found["user_effort"], found["user_effort_undecided"]

    assert effort("It was not a parcel.") == (0.5, 0)  # no cue of a correction stands in it
    assert effort("Three kilos. No, sorry, four.") == (0, 0)  # put right in the same breath
    assert effort("That is strange.")[1] == 0.5
    assert effort("Thank you.") == (0, 0)


def test_a_number_put_right_and_a_thing_looked_up_again_are_effort() -> None:
    asked = [customer(1, "Hi."), agent(1, "Your number?"), customer(2, "It should be 555-123-9999.")]
    refused = tool(2, "get_customer_by_phone", "refused", phone_number="555-123-9999")
    right = customer(3, "My daughter has 555-123-2002.")
    assert values([*asked, refused, agent(2, "Nobody has it."), right])["user_effort_count"] == 1
    assert values([*asked, agent(2, "Please repeat it?"), right])["user_effort_count"] == 1
    # Another number that nobody found fault with corrects nothing.
    assert values([*asked, agent(2, "Thanks."), right])["user_effort_count"] == 0
    look = [tool(2, "check_sim_status", side="customer"), customer(2, "Something about a number.")]
    anew = [tool(3, "check_sim_status", side="customer"), customer(3, "All right: the card is locked.")]
    start = [customer(1, "Hi."), agent(1, "Please look at the card.")]
    again = [*start, *look, agent(2, "Sorry, I did not catch that. Please look at the card."), *anew]
    assert values(again)["user_effort_count"] == 1
    assert values([*start, *look, agent(2, "Put it in anew, and look."), *anew])["user_effort_count"] == 0


def test_agreeing_twice_is_no_repetition() -> None:
    twice = [
        customer(1, "Hi."),
        agent(1, "2 GB?"),
        customer(2, "Yes, that is right."),
        customer(3, "Yes, that is right."),
    ]
    assert values(twice)["user_effort"] == 0


def test_a_name_may_be_asked_for_until_it_arrived() -> None:
    ask = {"asks": "name"}
    talk = [
        customer(1, "Hi."),
        agent(1, "Your name?", **ask),
        customer(2, "Ada Moss.", "Adam Oz."),
        agent(2, "Who?", **ask),
    ]
    assert values(talk)["clarification_precision"] == 1
    heard = [*talk, customer(3, "Ada Moss."), agent(3, "Your name?", **ask)]
    assert values(heard)["clarification_precision"] == pytest.approx(2 / 3)
    # Whether somebody is abroad is said in many ways: asked twice is asked too often.
    place = [
        customer(1, "Hi."),
        *(m for t in (1, 2) for m in (agent(t, "Abroad?", asks="abroad"), customer(t + 1, "Well."))),
    ]
    assert values(place)["clarification_precision"] == 0.5


def test_escalation_is_right_where_the_task_says_so() -> None:
    handed = [customer(1, "SIM locked."), tool(1, "transfer_to_human_agents", summary="x"), agent(1, "Bye.")]
    assert values(handed, transfer_right=True)["escalation"] == 1
    assert values(handed, transfer_right=False)["escalation"] == 0
    assert values(clean(), transfer_right=True)["escalation"] == 0
    assert values(handed, None, transfer_right=True)["escalation"] is None


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("call 555 123 2002 please", PHONE, True),
        ("five five five one two three two zero zero two", PHONE, True),
        ("it is 15551232002", PHONE, False),
        ("ada dot moss at mail dot com", "ada.moss@mail.com", True),
        ("order W1234567", "#W1234567", True),
        ("12 GB", 2.0, False),
        ("2 GB", 2.0, True),
        ("2.0 GB", 2, True),
        ("yes", True, False),
        ("", "", False),
    ],
)
def test_values_in_texts(text: str, value: Any, said: bool) -> None:
    assert stated_values.states(text, value) is said


_ENTRIES = st.lists(
    st.one_of(
        st.builds(
            customer,
            st.integers(1, 6),
            st.sampled_from([f"It is {PHONE}.", "No data.", "Yes.", "No.", "I said L1002, not L1001."]),
            st.sampled_from([None, "something else"]),
        ),
        st.builds(
            agent,
            st.integers(1, 6),
            st.sampled_from(["Could you repeat that?", "Do you agree?", "Fine."]),
            asks=st.sampled_from([None, "phone_number", "abroad", "nonsense"]),
        ),
        st.builds(
            tool,
            st.integers(1, 6),
            st.sampled_from(["refuel_data", "get_data_usage", "transfer_to_human_agents", ""]),
            st.sampled_from(["ok", "refused", "arguments", "unknown_tool"]),
            st.sampled_from(["agent", "customer"]),
            line_id=st.sampled_from(["L1002", "L1001", None, 3, ["L1002"]]),
        ),
    ),
    max_size=14,
)


@settings(max_examples=120, deadline=None)
@given(_ENTRIES, st.sampled_from([True, False, None]))
def test_whatever_happens_the_bounds_hold(entries: list[Message], passed: bool | None) -> None:
    # A conversation's turns never go back.
    entries = sorted(entries, key=lambda m: m.turn)
    for name, one in measured_metrics.measure(task(), entries, {"passed": passed}).figures.items():
        metric = (measured_metrics.METRICS | measured_metrics.EXTRA)[name]
        for value in one.observations:
            assert metric.low <= value <= (math.inf if metric.high is None else metric.high), name


def published() -> list[dict[str, float]]:
    """Tables 2 and 5 joined: twelve cells. pass^1 is printed nowhere, so the formula cannot be recomputed outright."""
    tables = {table["id"]: table for table in json.loads(PUBLISHED.read_text())["tables"]}
    rows = {
        name: {
            row[0]: dict(zip([c["id"] for c in tables[name]["columns"]], row, strict=True))
            for row in tables[name]["rows"]
        }
        for name in ("table2", "table5")
    }
    return [row | rows["table5"][setting] for setting, row in rows["table2"].items()]


def tap(row: dict[str, float], pass1: float, ias: float) -> float:
    names = ("modality_robustness", "arga_score", "error_recovery_rate", "turn_efficiency", "user_effort_score")
    return composite.mm_tap(
        row["critical_field_accuracy"], pass1, *(row[name] for name in names), row["turn_overhead"], ias
    )


# What pass^1 then was, by another hand's algebra, with IAS read as safety precision: gpt-4.1 then gpt-5 as judge, each
# none, persona, context, each telecom, retail.
IMPLIED = (0.291, 0.693, 0.321, 0.683, 0.261, 0.721, 0.448, 0.693, 0.392, 0.600, 0.449, 0.711)


def test_mm_tap_reproduces_the_published_table() -> None:
    rows = published()
    assert len(rows) == 12
    for row, implied in zip(rows, IMPLIED, strict=True):
        assert tap(row, implied, row["safety_precision"]) == pytest.approx(row["mm_tap"], abs=0.0005), row["setting"]
        # With either safety figure as IAS a pass rate exists that gives the published value ...
        for ias in (row["safety_precision"], row["safety_recall"]):
            assert tap(row, 0, ias) < row["mm_tap"] < tap(row, 1, ias)
        # ... and with IAS = 1 none does in telecom, so the table was not made with perfect safety.
        assert row["domain"] == "retail" or tap(row, 0, 1) > row["mm_tap"]


def test_mm_tap_bounds() -> None:
    assert composite.mm_tap(1, 1, 1, 1, 1, 1, 0, 0, 1) == pytest.approx(1)
    assert composite.mm_tap(0, 0, 0, 0, 0, 0, 9, 9, 0) == pytest.approx(0.2 * 0.2 / 3)
    assert composite.mm_tap(1, 1, 2, 1, 1, 1, 0, -0.5, 1) > 1
    assert composite.mm_tap(0.5, 0.5, 1, 1, 1, 1, 0, 0, 1, weights=(1, 0, 0, 0)) == 0.25
    nothing = dict.fromkeys(("cfa", "pass1", "mrs", "arga", "err", "te", "ues", "to", "ias"), 0.5)
    for name, wrong in [("cfa", 1.1), ("to", -1), ("ues", -1), ("mrs", math.nan), ("arga", None), ("mrs", math.inf)]:
        with pytest.raises(BadOption, match=name):
            composite.mm_tap(**(nothing | {name: wrong}))
    for weights in [(1, 1, 0, 0), (0.5, 0.5), (1.5, -0.5, 0, 0)]:
        with pytest.raises(BadOption, match="weights"):
            composite.mm_tap(**nothing, weights=weights)


def test_composite_says_what_is_missing() -> None:
    parts: dict[str, float | None] = dict.fromkeys(composite.PARTS.values(), 1.0)
    parts |= {"user_effort": 0.0, "turn_overhead": 0.0}
    assert composite.composite(parts).value == pytest.approx(1)
    found = composite.composite(parts | {"error_recovery_rate": None, "irreversible_action_safety": None})
    assert found.value is None
    assert found.missing == ("error_recovery_rate", "irreversible_action_safety")
    assert found.partial == pytest.approx(1)
    assert composite.composite({}).partial is None


def cases(*told: tuple[str, str, str, bool, int]) -> list[summary.ConversationResult]:
    """(task, modality, persona, passed, agent messages) as cases; trials are counted up."""
    made, seen = [], dict[tuple[str, ...], int]()
    for name, modality, persona, passed, turns in told:
        messages = [customer(1, "Hi.")] + [agent(t, f"Step {t}.") for t in range(1, turns + 1)]
        trial = seen[(name, modality, persona)] = seen.get((name, modality, persona), -1) + 1
        one = attempt(messages, passed, trial, modality=modality, persona=persona)
        made.append(summary.case(task(id=name), one))
    return made


def test_voice_against_text_by_hand() -> None:
    # T1: text 2 of 2, voice 1 of 2; T2: text 1 of 2, voice 1 of 2; T3 has no voice and does not count.
    rows = [("T1", "text", "none", True, 4)] * 2 + [("T1", "voice", "none", p, 6) for p in (True, False)]
    rows += [("T2", m, "none", p, 4) for m in ("text", "voice") for p in (True, False)]
    rows += [("T3", "text", "none", True, 40)]
    found = cases(*rows)
    one = summary.modality_robustness(found)
    assert (one.value, one.n, one.clusters) == (pytest.approx(1 / 1.5), 2, 2)
    assert one.low == pytest.approx(0.5)
    assert one.high == pytest.approx(1)
    # pass^2: text 1 and 0, voice 0 and 0.
    assert summary.modality_robustness(found, 2).value == 0
    # Turns: voice 6 and 4 against text 4 and 4.
    assert summary.turn_overhead(found).value == pytest.approx(10 / 8 - 1)
    assert summary.pass_k([c for c in found if c.task == "T1"]).value == pytest.approx(0.75)
    only = [c for c in found if c.modality == "text"]
    assert summary.modality_robustness(only).reason == "no setting has both voice and text"
    never = cases(("T1", "text", "none", False, 2), ("T1", "voice", "none", True, 2))
    assert summary.modality_robustness(never).reason == "text never reached the goal"


def test_a_table_has_every_figure_of_every_cell() -> None:
    voice, text = attempt(rough()), attempt(clean(), modality="text")
    both = [summary.case(task(id=name), one) for name in ("T1", "T2") for one in (voice, text)]
    rows = summary.table(both, by=("domain", "persona"), seed=3)
    cell = {row.metric: row.estimate for row in rows}
    assert len(rows) == len(measured_metrics.METRICS) + len(measured_metrics.EXTRA) + 2
    assert cell["critical_field_accuracy"].value == pytest.approx(5 / 6)
    assert cell["turn_overhead"].value == pytest.approx(0.25)
    # All parts by hand: CFA 2/3, pass 1, MRS 1, ARGA 1, ERR 1, TE .8, UES .4, TO .25, IAS .5.
    wanted = 0.35 * 2 / 3 + 0.35 + 0.2 * (0.8 + 1 / 1.4 + 1 / 1.25) / 3 + 0.05
    assert cell["mm_tap"].value == pytest.approx(wanted)
    # Both tasks came out alike, so resampling them changes nothing.
    assert (cell["mm_tap"].low, cell["mm_tap"].high) == pytest.approx((wanted, wanted))
    # Two personas a task, one of which fails by voice: the resampled parts add up as the pooled ones do.
    hard = [attempt(rough(), False, persona="hard"), attempt(clean(), modality="text", persona="hard")]
    more = [*both, *(summary.case(task(id=name), one) for name in ("T1", "T2") for one in hard)]
    half = summary.mm_tap(more)
    assert summary.modality_robustness(more).value == 0.5
    assert (half.low, half.high) == pytest.approx((half.value, half.value))
    alone = {
        row.metric: row.estimate for row in summary.table(both, by=("modality",)) if row.keys["modality"] == "text"
    }
    assert alone["mm_tap"].value is None
    assert "modality_robustness" in (alone["mm_tap"].reason or "")
    with pytest.raises(BadOption, match="colour"):
        summary.table(both, by=("colour",))


def test_personas_are_compared_on_the_same_tasks() -> None:
    rows = [(f"T{n}", "text", persona, persona == "easy" or n < 2, 4) for n in range(8) for persona in ("easy", "hard")]
    rows.append(("T9", "text", "easy", False, 4))
    random.Random(1).shuffle(rows)
    sides = paired_differences.match_levels(cases(*rows), "persona", "easy", "hard")
    paired = paired_differences.subtract(sides, "pass", seed=0)
    assert (paired.n, paired.wins, paired.losses, paired.difference) == (8, 6, 0, 0.75)
    # Sign flips of six differing pairs: 2 of 64 patterns are as extreme.
    assert paired.p == pytest.approx(2 / 64)


@settings(max_examples=40, deadline=None)
@given(_ENTRIES)
def test_nothing_that_comes_later_changes_what_was_counted(entries: list[Message]) -> None:
    entries = sorted(entries, key=lambda m: m.turn)
    whole = measured_metrics.measure(task(), entries, {}).log
    for end in range(len(entries)):
        part = measured_metrics.measure(task(), entries[:end], {}).log
        for name in ("clarifications", "irreversible", "requests", "effort", "misheard"):
            seen = getattr(part, name)
            assert getattr(whole, name)[: len(seen)] == seen, name
