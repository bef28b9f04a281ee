"""A store small enough to count by hand: two models, two samples each, one turn, three judges.

Verdicts on CoreIntention (R = ReturnOrRefund, E = Exchange), grades of content_utility, and what a turn came to:

    model      sample  strict lenient partial   strict lenient partial   error   alone
    eloquent   s1      R      R       R         3      9       9         none    all one way
    eloquent   s2      R      E       R         3      9       9         field   lenient ends in Exchange
    strong     s1      E      E       E         6      9       6         none    all one way
    strong     s2      E      E       R         6      6       6         format  -
The last one also holds what people and models must not be able to do to a page.
"""

from datetime import UTC, datetime
from pathlib import Path

from cxlab.benchmarks.contract import Scored
from cxlab.records import (
    Attempt,
    Dataset,
    Failure,
    Judgement,
    Message,
    Run,
    Sample,
    Score,
    SingleJudgeTrace,
    Trace,
    Vote,
)
from cxlab.store import write
from tests.stores.verdicts import JudgingWriter, decide

HOSTILE = (
    "<img src=http://evil.example/a.png onerror=alert(1)> ![x](http://evil.example/b.png) $x^2$ :material/home: "
    "**bold** "
    "<script>fetch('http://evil.example/c')</script> [l](http://evil.example) =1+1"
)
JUDGES = tuple(f"simulated:judge-{name}" for name in ("lenient", "partial", "strict"))
MODELS = ("simulated:eloquent", "simulated:strong")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
R, E = "ReturnOrRefund", "Exchange"
# (lenient, partial, strict): field, then grade.
VERDICTS = [(R, R, R), (E, R, R), (E, E, E), (E, R, E)]
GRADES = [(9, 9, 3), (9, 9, 3), (9, 6, 6), (6, 6, 6)]
TO_REFUND = ("stage1", "stage2", "stage3")


def add_run_of_one_judge(home: Path, model: str = MODELS[0]) -> None:
    """A run `run-other` beside those of the store: one attempt, on which "ada" alone was asked."""
    run = make_run("run-other", model).model_copy(update={"judges": ("ada",)})
    write.create_run(run, home)
    samples = {sample.id: sample for sample in write.load_samples("d1", home)}
    with JudgingWriter(run, samples, home=home) as writer:
        attempt, scored = make_attempt(0, run.id, "s1")
        votes = tuple(each.model_copy(update={"judge": "ada"}) for each in scored.votes[:1])
        said = tuple(each.model_copy(update={"judge": "ada"}) for each in scored.judgements[:1])
        writer.add(attempt, decide("sage", "dialogue", attempt, Scored(scored.scores, votes, said, scored.traces)))


def make_judged_store(home: Path) -> list[tuple[str, str]]:
    """Write the store; returns (run, attempt) of the four attempts in the order above."""
    dataset = Dataset(
        id="d1", benchmark="sage", name="tiny", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    samples = [
        Sample(
            id=f"s{i}",
            dataset_id="d1",
            benchmark="sage",
            task="dialogue",
            inputs={
                "scenario": "ecommerce_refund",
                "system": {"ShippingStatus": "Unshipped"},
                "facts": [
                    {"field": "CoreIntention", "label": R, "value": R, "delivery": "asked", "wording": "oblique"},
                ],
            },
            expected={"action": {"Action": "Refund"}, "path": list(TO_REFUND), "fields": {"CoreIntention": R}},
            facets={"scenario": "ecommerce_refund", "level": "weak", "leaf": f"ER-0{i}", "intent": "wants_money"},
        )
        for i in (1, 2)
    ]
    write.save_dataset(dataset, samples, home)
    by_id = {sample.id: sample for sample in samples}
    made = []
    for place, model in enumerate(MODELS):
        run = make_run(f"run-{place}", model)
        write.create_run(run, home)
        with JudgingWriter(run, by_id, home=home) as writer:
            for sample in (0, 1):
                number = place * 2 + sample
                attempt, scored = make_attempt(number, run.id, samples[sample].id)
                writer.add(attempt, decide("sage", "dialogue", attempt, scored))
                made.append((run.id, attempt.id))
    return made


def judge_again(home: Path, changed: str) -> None:
    """Store a second scoring of the first run in which one judge has changed its mind on one field."""
    run = make_run("run-again", MODELS[0], rescored_from="run-0")
    write.create_run(run, home)
    samples = {sample.id: sample for sample in write.load_samples("d1", home)}
    with JudgingWriter(run, samples, home=home) as writer:
        for number in (0, 1):
            attempt, scored = make_attempt(number, run.id, f"s{number + 1}")
            judgements = tuple(
                each.model_copy(update={"verdict": E})
                if (each.judge, each.kind, number) == (changed, "field", 0)
                else each
                for each in scored.judgements
            )
            again = Scored(scored.scores, scored.votes, judgements, scored.traces)
            writer.add(attempt, decide("sage", "dialogue", attempt, again))


def make_run(run_id: str, model: str, rescored_from: str | None = None) -> Run:
    return Run(
        id=run_id,
        benchmark="sage",
        model=model,
        simulated=True,
        setup={"rescored_from": rescored_from},
        judges=JUDGES,
        dataset_id="d1",
        seed=1,
        trials=1,
        planned=2,
        prompts={"sage_customer": "abc"},
        code="0.1",
        created=NOON,
    )


def make_attempt(number: int, run_id: str, sample_id: str) -> tuple[Attempt, Scored]:
    key = f"{run_id}-a{number}"
    said = E if number == 1 else R
    unreadable = number == 3
    reasoning = f'CoreIntention is {said} ("another one"). So I went on.'
    taken = {
        "fields": {"CoreIntention": said},
        "path": list(TO_REFUND),
        "action": "Exchange" if said == E else "Refund",
    }
    data = {"raw": HOSTILE} if unreadable else {**taken, "reasoning": reasoning, "raw": "{}"}
    failure = Failure(where="format", type="invalid", message="field 'fields.CoreIntention': bad", turn=1)
    attempt = Attempt(
        id=key,
        run_id=run_id,
        sample_id=sample_id,
        trial=0,
        messages=(
            Message(
                role="customer", text=HOSTILE if unreadable else f"I would like another one, please {number}", turn=1
            ),
            Message(role="agent", text=HOSTILE if unreadable else "All right.", turn=1, data=data),
        ),
        outcome="format" if unreadable else "ok",
        ended_by="goodbye",
        failures=(failure,) if unreadable else (),
        latency_s=1.5,
        started=NOON,
    )
    overall = [90.0, 50.0, 80.0, None][number]
    reason = None if overall is not None else "unparsed"
    scores = (
        *(Score(attempt_id=key, turn=turn, metric="overall", value=overall, reason=reason) for turn in (1, None)),
        Score(attempt_id=key, turn=1, metric="chat_words", value=10.0 + number),
    )
    votes = tuple(
        Vote(attempt_id=key, turn=1, judge=judge, valid=True, raw=HOSTILE, rationale=HOSTILE) for judge in JUDGES
    )
    judgements = tuple(
        Judgement(attempt_id=key, turn=1, judge=judge, kind=kind, field=field, verdict=str(values[place]))
        for kind, field, values in (
            ("field", "CoreIntention", VERDICTS[number]),
            ("dimension", "content_utility", GRADES[number]),
        )
        for place, judge in enumerate(JUDGES)
    )
    return attempt, Scored(scores, votes, judgements, (make_trace(key, number, said),))


def make_trace(key: str, number: int, said: str) -> Trace:
    base = {"attempt_id": key, "turn": 1, "last": True, "gold_fields": {"CoreIntention": R}, "gold_path": TO_REFUND}
    if number == 3:
        return Trace(parsed=False, error="format", **base)
    panel = E if number == 2 else R
    taken, due = ("Exchange" if said == E else "Refund"), ("Exchange" if panel == E else "Refund")
    single_judges = tuple(
        SingleJudgeTrace(
            judge=judge,
            path=TO_REFUND,
            action="Exchange" if verdict == E else "Refund",
            scores={"logic": 20.0, "chat": 70.0, "overall": 30.0}
            if verdict != said
            else {"logic": 100.0, "chat": 70.0, "overall": 94.0},
        )
        for judge, verdict in zip(JUDGES, VERDICTS[number], strict=True)
    )
    return Trace(
        parsed=True,
        predicted_fields={"CoreIntention": said},
        panel_fields={"CoreIntention": panel},
        predicted_path=TO_REFUND,
        reference_path=TO_REFUND,
        own_path=TO_REFUND,
        predicted_action=taken,
        own_action=taken,
        reference_action=due,
        gold_action="Refund",
        moves=tuple(("sync", stage) for stage in TO_REFUND),
        error="field" if number == 1 else "none",
        single_judges=single_judges,
        **base,
    )
