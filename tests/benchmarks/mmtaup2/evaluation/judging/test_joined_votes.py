"""A conversation that is put to its judges again: who has answered a question is not asked, and paid, once more."""

import asyncio
import json
from collections import Counter
from dataclasses import replace

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.evaluation.judging import joined_votes, judged_metrics
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.llm import Request, load
from cxlab.llm.base import Completion
from cxlab.records import Usage, Vote
from tests.benchmarks.mmtaup2.mm_conversations import attempt, rough, task

ANSWERS = {name: options[0] for group in judge_prompts.GROUPS.values() for name, options in group.items()}


class Judge:
    """Answers every question but those in `dumb`, whose answers cannot be read, and counts what it is asked."""

    simulated = False

    def __init__(self, name: str, *dumb: str) -> None:
        self.name, self.dumb, self.asked = name, dumb, Counter[str]()

    async def complete(self, request: Request) -> Completion:
        text = json.dumps([dict(one) for one in request.messages])
        group = next(name for name in judge_prompts.GROUPS if f"- {next(iter(judge_prompts.GROUPS[name]))}: " in text)
        self.asked[group] += 1
        told = {"reason": f"seen\nsafety: {group}", **{name: ANSWERS[name] for name in judge_prompts.GROUPS[group]}}
        told |= {"verdicts": [{"turn": 3, "annoyed": "no"}]} if group == "annoyance" else {}
        return Completion("no verdict" if group in self.dumb else json.dumps(told), usage=Usage(calls=1))

    async def aclose(self) -> None: ...


def judge(votes: tuple[Vote, ...], *judges: Judge) -> judged_metrics.JudgedFigures:
    setup = Setup(model=load("simulated:strong"), customer=None, judges=judges, run_id="r", options={})
    return asyncio.run(judged_metrics.judge(task(), attempt(rough(), True), replace(setup, votes=votes)))


def test_only_the_judge_and_the_question_that_are_missing_are_asked_again() -> None:
    whole, lame = Judge("whole"), Judge("lame", "safety")
    first = judge((), whole, lame)
    assert {vote.judge: vote.valid for vote in first.votes} == {"whole": True, "lame": False}
    again, mended = Judge("whole"), Judge("lame")
    second = judge(first.votes, again, mended)
    assert again.asked == {}
    assert set(mended.asked) == {"safety"}
    assert mended.asked["safety"] == 5  # turns
    assert all(vote.valid for vote in second.votes)
    fresh = judge((), Judge("whole"), Judge("lame"))
    assert (second.verdicts, second.figures) == (fresh.verdicts, fresh.figures)
    # What was paid before stands with the vote once, however many questions it holds.
    calls = {name: sum(one.usage.calls for one in first.votes if one.judge == name) for name in ("whole", "lame")}
    assert sum(one.usage.calls for one in second.votes if one.judge == "whole") == calls["whole"]
    assert sum(one.usage.calls for one in second.votes if one.judge == "lame") == calls["lame"] + 5


def test_a_vote_is_taken_apart_by_its_questions() -> None:
    vote = Vote(attempt_id="a", turn=2, judge="j", valid=False, raw="goal: {1}\neffort: \nsafety: {\n2}", latency_s=3.0)
    found = joined_votes.split([vote, vote.model_copy(update={"turn": 1})], 2, ["goal", "effort", "safety", "outcome"])
    assert {name: [one.raw for one in each] for name, each in found.items()} == {
        "goal": ["{1}"], "effort": [], "safety": ["{\n2}"], "outcome": [],
    }  # fmt: skip
    assert [one.latency_s for each in found.values() for one in each] == [3.0, 0.0]
    assert joined_votes.split([vote], 2, []) == {}
