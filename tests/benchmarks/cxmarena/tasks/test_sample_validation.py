"""The checks of the derived tasks: good samples pass, planted bad ones are caught, and what becomes of them."""

import json
from typing import Any

import pytest

from cxlab.benchmarks.cxmarena.brand import fact_statements, ledger
from cxlab.benchmarks.cxmarena.knowledge import article_writer
from cxlab.benchmarks.cxmarena.tasks import intent_taxonomies, sample_validation, search_queries, task_samples
from cxlab.benchmarks.generation import stages
from cxlab.llm.base import Completion, Request
from cxlab.records import Sample
from tests.benchmarks.cxmarena.cxm_brand import make


@pytest.fixture(scope="module")
def derived():
    made = make()
    rows, labels = stages.finish(intent_taxonomies.make(made.conversations, made.articles, made.model, 1))
    asked = stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 1))
    samples = task_samples.make("d", None, made.conversations, labels, asked, made.tools, 1, made.noisy)
    return samples, rows


@pytest.fixture(scope="module")
def texts():
    made = make()
    return {
        "search": {a.id: a.body for a in made.articles if a.kind != "issue"},
        "multi_turn": {a.id: a.body for a in made.articles},
    }


def judge(samples, rows, texts, model=None, most=None):
    return stages.finish(sample_validation.check(samples, rows, texts, model or make().model, 1, most=most))


def test_good_samples_pass_mostly_and_rates_are_counts(derived, texts):
    samples, rows = derived
    report = judge(samples, rows, texts)
    assert set(report.procedures) == set(sample_validation.PROCEDURES)
    for task, found in report.procedures.items():
        assert found["n"] == sum(s.task == task for s in samples)
        assert found["rate"] > 0.75, task
        assert found["left_out"] + found["relabelled"] + found["passed"] + found["unread"] == found["n"]
    kept = sample_validation.apply(samples, report)
    assert len(kept) == len(samples) - len(report.left_out)


def planted(samples: list[Sample], task: str, change: Any, most: int = 30) -> list[Sample]:
    """Samples of a task with other gold, under ids of their own."""
    found = []
    for n, sample in enumerate(s for s in samples if s.task == task):
        expected = change(sample)
        if expected is not None and len(found) < most:
            found.append(sample.model_copy(update={"expected": expected, "id": f"bad-{n}"}))
    return found


def test_a_label_that_nobody_called_about_is_caught(derived, texts):
    samples, rows = derived
    names = sorted({s.expected["label"] for s in samples if s.task == "intent" and s.inputs["taxonomy"] == "B"})

    def wrong(sample: Sample) -> dict[str, Any] | None:
        if sample.inputs["taxonomy"] != "B":
            return None
        at = names.index(sample.expected["label"])
        return {"label": names[(at + len(names) // 2) % len(names)]}

    report = judge(planted(samples, "intent", wrong), rows, texts)
    good = judge([s for s in samples if s.task == "intent" and s.inputs["taxonomy"] == "B"], rows, texts)
    assert report.procedures["intent"]["rate"] < 0.4 < 0.85 < good.procedures["intent"]["rate"]
    stray = planted(samples, "intent", lambda s: {"label": "No such label"}, 1)
    assert judge(stray, rows, texts).left_out == {stray[0].id: "'No such label' is no label of the taxonomy"}


def test_a_query_that_its_article_does_not_answer_is_caught(derived, texts):
    samples, rows = derived
    about = {a.id: a.properties.get("family") for a in make().articles}
    others = [a for a in texts["search"] if about[a]]

    def wrong(sample: Sample) -> dict[str, Any]:
        own = about[sample.expected["article_id"]]
        return {**sample.expected, "article_id": next(a for a in others if about[a] != own)}

    bad = planted(samples, "article_search", wrong)
    assert judge(bad, rows, texts).procedures["article_search"]["passed"] == 0
    missing = planted(samples, "article_search", lambda s: {**s.expected, "article_id": "KB_none"}, 1)
    assert judge(missing, rows, texts).left_out == {missing[0].id: "no article KB_none"}


def test_an_article_on_something_else_leaves_the_gold(derived, texts):
    samples, rows = derived
    made = make()
    by_id = {c.id: c for c in made.conversations}
    about = {a.id: a.properties.get("family") for a in made.articles}

    def wrong(sample: Sample) -> dict[str, Any]:
        own = by_id[sample.inputs["conversation_id"]].labels["family"]
        other = next(a for a, family in about.items() if family not in (own, None))
        return {**sample.expected, "article_ids": [*sample.expected["article_ids"][:1], other]}

    bad = planted(samples, "multi_turn", wrong)
    report = judge(bad, rows, texts)
    kept = {s.id: s for s in sample_validation.apply(bad, report)}
    lost = sum(len(s.expected["article_ids"]) == 1 for s in kept.values())
    assert lost >= 0.7 * len(bad)
    assert not set(report.relabelled) & set(kept)  # new gold, new id


def test_being_about_the_same_product_is_not_enough(derived, texts):
    """Gold passages mostly pass; articles on the same thing that do not state what was asked for mostly do not."""
    samples, rows = derived
    made = make()
    told = {a.id: {f for f, _ in article_writer.statements(a, made.ledger)} for a in made.articles}
    asked = {}
    for sample in samples:
        if sample.task == "multi_turn":
            gold = sample.expected["article_ids"]
            wanted = fact_statements.find_facts(sample.expected["answer"], made.ledger)
            keys = {f"{ledger.slug(subject)}.{name}" for subject, name, _ in wanted}
            near = [k for k in told if keys and not keys & told[k] and {f.split(".")[0] for f in keys & told[gold[0]]}]
            near = [k for k in near if any(f.split(".")[0] in {w.split(".")[0] for w in keys} for f in told[k])]
            if near:
                asked[sample.id] = (sample, near[:3])
    good = judge([sample for sample, _ in asked.values()], rows, texts).procedures["multi_turn"]
    wrong = [s.model_copy(update={"expected": {**s.expected, "article_ids": near}}) for s, near in asked.values()]
    bad = judge(wrong, rows, texts).procedures["multi_turn"]
    assert len(asked) >= 3
    assert good["rate"] >= 0.7
    assert bad["rate"] <= 0.3


def test_a_turned_quality_label_is_put_right_or_left_out(derived, texts):
    samples, rows = derived

    def turned(sample: Sample) -> dict[str, Any] | None:
        if "Yes" not in sample.expected["answers"]:
            return None
        at = sample.expected["answers"].index("Yes")
        answers, evidence = list(sample.expected["answers"]), list(sample.expected["evidence"])
        answers[at], evidence[at] = "No", []
        return {"answers": answers, "evidence": evidence}

    bad = planted(samples, "quality", turned)
    good = {s.id: s for s in samples if s.task == "quality"}
    report = judge(bad, rows, texts)
    caught = set(report.relabelled) | set(report.left_out)
    assert len(caught) >= 0.85 * len(bad)
    numbers = {f"bad-{n}": s.expected["answers"] for n, s in enumerate(good.values())}
    right = [report.relabelled[key]["answers"] == numbers[key] for key in report.relabelled]
    assert sum(right) >= 0.8 * len(right) > 0


class Scripted:
    """A model that answers each prompt as it is told; what it was asked is kept."""

    simulated = False
    name = "x:scripted"

    def __init__(self, **replies: Any) -> None:
        self.replies, self.asked = replies, []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request.prompt.name)
        said = self.replies.get(request.prompt.name.removeprefix("cxm_"), "I would rather not say.")
        return Completion(said if isinstance(said, str) else json.dumps(said))

    async def aclose(self) -> None:
        """Nothing to close."""


def quality(*answers: str) -> Sample:
    lines = [{"id": 1, "who": "Agent", "text": "Hello."}]
    return Sample(
        id="q",
        dataset_id="d",
        benchmark="cxmarena",
        task="quality",
        inputs={"lines": lines, "questions": [f"Q{n}?" for n in range(len(answers))], "conversation_id": "C"},
        expected={"answers": list(answers), "evidence": [[1] if a == "Yes" else [] for a in answers]},
    )


def review(answer: str, confidence: int) -> dict[str, Any]:
    return {"answers": [{"question": 1, "answer": answer, "confidence": confidence, "reason": "r"}]}


@pytest.mark.parametrize(
    ("gold", "first", "second", "becomes"),
    [
        ("Yes", review("Yes", 5), None, "Yes"),  # sure and agreed: the judge is not asked
        ("Yes", review("Yes", 2), "Yes", "Yes"),
        ("Yes", review("No", 2), "Yes", "Yes"),  # the judge corrects the reviewer
        ("Yes", review("No", 2), "No", "No"),  # both deny the label
        ("Yes", review("No", 5), "NA", None),  # three opinions
        ("Yes", review("No", 2), "unclear", "Yes"),  # a guess and a shrug are no case
        ("Yes", review("No", 5), "unclear", None),
    ],
)
def test_two_stages_settle_a_quality_label(gold, first, second, becomes):
    model = Scripted(review=first, adjudicate={"answer": second, "evidence": [1, 7]})
    sample = quality(gold)
    report = judge([sample], [], {}, model)
    kept = sample_validation.apply([sample], report)
    assert model.asked == (["cxm_review"] if second is None else ["cxm_review", "cxm_adjudicate"])
    assert [s.expected["answers"] for s in kept] == ([] if becomes is None else [[becomes]])
    if becomes == "No":
        assert kept[0].expected["evidence"] == [[]]
        assert kept[0].id != sample.id


def test_a_judge_that_cannot_be_read_decides_nothing(derived, texts):
    samples, rows = derived
    few = [next(s for s in samples if s.task == task) for task in sample_validation.PROCEDURES]
    report = judge(few, rows, texts, Scripted())
    assert {found["unread"] for found in report.procedures.values()} == {1}
    assert {found["rate"] for found in report.procedures.values()} == {None}
    assert sample_validation.apply(few, report) == few


def test_a_drawn_part_is_checked_where_all_would_cost_too_much(derived, texts):
    samples, rows = derived
    report = judge(samples, rows, texts, most=3)
    assert {found["n"] for found in report.procedures.values()} == {3}
