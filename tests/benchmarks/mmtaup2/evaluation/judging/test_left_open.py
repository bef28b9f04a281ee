"""What the wording leaves open goes to judges: annoyance, all turns at once, and what may be a clarification."""

import asyncio
import json
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2.evaluation import measured_metrics
from cxlab.benchmarks.mmtaup2.evaluation.judging import judged_metrics, left_open
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.llm.base import ChatModel
from cxlab.records import Message
from tests.benchmarks.mmtaup2.evaluation.judging.test_judged_metrics import Says, judge, setup
from tests.benchmarks.mmtaup2.mm_conversations import PHONE, agent, attempt, customer, task

ANNOYED = [
    customer(1, "My data is gone."), agent(1, "What is your number?", asks="phone_number"),
    customer(2, f"I told your colleague already: {PHONE}."), agent(2, "Please restart the phone."),
    customer(3, "Again? This is ridiculous."), agent(3, "Please restart it once more."),
    customer(4, "And how many more times is it going to be?"), agent(4, "Once."),
]  # fmt: skip


def figures_of(talk: list[Message], *judges: ChatModel, **options: Any) -> dict[str, tuple[float | None, int | None]]:
    scored = asyncio.run(judged_metrics.assess(task(), attempt(talk), setup(*judges, **options)))
    return {row.metric: (row.value, row.n) for row in scored.scores}


@pytest.mark.parametrize(
    ("verdicts", "annoyance", "left"),
    [
        ([(1, "no"), (2, "yes"), (4, "yes")], (75, 4), 0),
        ([(1, "no"), (2, "no"), (4, "no")], (25, 4), 0),
        ([(1, "no"), (4, "yes"), (9, "yes")], (200 / 3, 3), 25),  # of what it leaves out it says nothing
        ([(1, "no"), (2, "rather"), (4, "yes")], (200 / 3, 3), 25),
    ],
)
def test_judges_decide_which_messages_are_annoyed(
    verdicts: list[tuple[int, str]], annoyance: tuple[float, int], left: float
) -> None:
    told = [{"turn": turn, "annoyed": word} for turn, word in verdicts]
    others = {"solved": "yes", "transfer": "none", "necessary": "yes", "effort": "no"}
    said = Says(json.dumps({"reason": "r", "verdicts": told, **others}), "one")
    found = figures_of(ANNOYED, said, judge_groups=("outcome",))
    assert (found["annoyance"], found["annoyance_undecided"]) == (
        (pytest.approx(annoyance[0]), annoyance[1]),
        (left, 4),
    )
    # Once of all that is open, beside the outcome and the one message that may be an effort.
    assert said.asked == 3
    plain = figures_of(ANNOYED)
    # What is plain is counted without anybody's word, and what is not is left open where nobody is asked.
    assert (plain["annoyance"], plain["annoyance_undecided"]) == ((100, 1), (75, 4))


def test_who_is_asked_about_annoyance_sees_which_turns_and_nothing_later() -> None:
    found = measured_metrics.measure_attempt(task(), attempt(ANNOYED))
    inputs = left_open.annoyance_inputs(found.log, [*ANNOYED, customer(5, "Thank you."), agent(5, "Later.")])
    system, talk = (message["content"] for message in judge_prompts.annoyance_prompt().render(inputs))
    assert "in turns 1, 2, 4 whether" in system
    assert "ridiculous" in talk
    assert "Later." not in talk
    votes = judge(ANNOYED, Says(json.dumps({"reason": "r", "verdicts": [{"turn": 2, "annoyed": "yes"}]}))).votes
    assert [vote.turn for vote in votes if "annoyance: " in vote.raw] == [4]


@pytest.mark.parametrize(
    ("asks", "needed", "precision", "recall", "given", "left"),
    [
        ("yes", "yes", (100, 1), (100, 1), (100, 1), 0),
        ("yes", "no", (0, 1), (0, 1), (None, 0), 0),
        ("no", "no", (None, 0), (0, 1), (None, 0), 0),
        ("yes", "perhaps", (None, 0), (None, 0), (None, 0), 50),
        (None, None, (None, 0), (None, 0), (None, 0), 50),
    ],
)
def test_judges_decide_what_may_be_a_clarification(
    asks: str | None, needed: str | None, precision: Any, recall: Any, given: Any, left: float
) -> None:
    """`recall` where the number is never told, `given` where it is told after what may have asked for it."""
    talk = [customer(1, "Mobile data has stopped."), _as_heard("May we begin with who you are?")]
    said = Says(json.dumps({"reason": "r", "clarified": asks, "clarification_needed": needed}), "one")
    judges = () if asks is None else (said,)
    for answer, due in (("Who I am?", recall), (f"I am at {PHONE}.", given)):
        found = figures_of([*talk, customer(2, answer), agent(2, "One moment.")], *judges, judge_groups=("outcome",))
        assert found["clarification_precision"] == precision
        assert found["clarification_recall"] == due
        assert found["clarification_undecided"] == (left, 2)
    # What it plainly asks for or not is put to nobody.
    for plain in ("What is your phone number?", "I am looking into that."):
        found = figures_of([talk[0], _as_heard(plain), customer(2, "Fine."), agent(2, "One moment.")])
        assert found["clarification_undecided"] == (0, 2)


def _as_heard(text: str) -> Message:
    """A message of an agent whose words nobody has read."""
    return agent(1, text).model_copy(update={"data": {"meant": text, "ideal": text, "heard": text}})
