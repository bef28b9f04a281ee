"""Six conversations of MM-tau-p2 that were asked about under two versions of the rule, small enough to count by hand.

What was true, and what two judges said of it under version 1 and 2 (- : the reply could not be read, and a second
patch asked again and got the verdict in brackets):

    c0 right   ada wrong  → right    bob right    → right
    c1 right   ada wrong  → wrong    bob right    → wrong
    c2 wrong   ada right  → wrong    bob wrong    → wrong
    c3 none    ada none   → none     bob missed   → none
    c4 missed  ada none   → missed   bob none     → none
    c5 none    ada wrong  → none     bob - (none) → none

Passed is measured for c0, c2 and c3 and judged for c0, c1, c2, c3; user effort is measured 10, 20, ... and judged 4
less but for c0, where it is the same, and c5, where it is not judged.
"""

import json
from pathlib import Path
from typing import Any

from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.records import Attempt, Dataset, Judgement, Message, Run, Sample, Score, Vote
from cxlab.store import write
from tests.stores.judged import NOON
from tests.stores.verdicts import JudgingWriter, decide

ADA, BOB, LOG = "simulated:judge-ada", "simulated:judge-bob", "measured"
TRUTH = ("right", "right", "wrong", "none", "missed", "none")
SAID: dict[tuple[str, int], tuple[str | None, ...]] = {
    (ADA, 1): ("wrong", "wrong", "right", "none", "none", "wrong"),
    (ADA, 2): ("right", "wrong", "wrong", "none", "missed", "none"),
    (BOB, 1): ("right", "right", "wrong", "missed", "none", None),
    (BOB, 2): ("right", "wrong", "wrong", "none", "none", "none"),
}
PASSED, JUDGED_PASSED = (1, 0, 1, 1, 0, 0), (1, 1, 1, 1, 0, 0)
SOURCE = "mm-source"


def make_mm_store(home: Path, voice: tuple[int, ...] = ()) -> None:
    """Write the store. `voice`: these conversations are by voice, and the others by text; three of each are alike."""
    dataset = Dataset(
        id="mm", benchmark="mmtaup2", name="six", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    samples = [
        Sample(
            id=f"s{place}",
            dataset_id="mm",
            benchmark="mmtaup2",
            task="telecom",
            inputs={"id": f"t{place % 3}", "terms": {"persona": "none", "exposure": 0}},
            expected={},
            facets={
                "scenario": "telecom",
                "level": "none",
                "persona": "none",
                "modality": "voice" if place in voice else "text",
            },
        )
        for place in range(6)
    ]
    write.save_dataset(dataset, samples, home)
    by_id = {sample.id: sample for sample in samples}
    runs: list[tuple[Run, Any]] = [(_run(SOURCE), _source)]
    rules = rubric_versions.write_option(rubric_versions.rules()[:2])
    runs += [
        (_run("mm-patch", rescored_from=SOURCE, options={"escalation": rules}), _asked),
        (_run("mm-again", rescored_from=SOURCE, options={"escalation": rules[:1]}), _again),
    ]
    for run, scored in runs:
        write.create_run(run, home)
        with JudgingWriter(run, by_id, home=home) as writer:
            for place in range(6):
                attempt = _attempt(run.id, place)
                writer.add(attempt, decide("mmtaup2", "telecom", attempt, scored(attempt.id, place)))


def _run(run_id: str, **setup: Any) -> Run:
    return Run(
        id=run_id,
        benchmark="mmtaup2",
        model="simulated:base",
        simulated=True,
        setup=setup,
        judges=(ADA, BOB),
        dataset_id="mm",
        seed=1,
        trials=1,
        planned=6,
        prompts={},
        code="0.1",
        # A second asking comes later, and takes nothing from the first.
        created=NOON.replace(hour=13 if run_id == "mm-again" else 12),
    )


def _attempt(run_id: str, place: int) -> Attempt:
    return Attempt(
        id=f"{run_id}-c{place}",
        run_id=run_id,
        sample_id=f"s{place}",
        trial=1,
        messages=(
            Message(role="customer", text="My phone has no service.", turn=1),
            Message(role="agent", text="I see.", turn=1),
        ),
        output={"passed": bool(PASSED[place]), "transferred": TRUTH[place] in ("right", "wrong")},
        ended_by="customer_stop",
        started=NOON,
    )


def _source(attempt_id: str, place: int) -> Scored:
    effort = 10.0 * (place + 1)
    values: dict[str, float | None] = {
        "pass": 100.0 * PASSED[place],
        "judged_pass": 100.0 * JUDGED_PASSED[place],
        "user_effort": effort,
        "judged_user_effort": None if place == 5 else effort - (4.0 if place else 0.0),
        "turns": 1.0,
        "judged_turns": 1.0,
    }
    scores = tuple(
        Score(attempt_id=attempt_id, turn=None, metric=name, value=value, reason=None if value is not None else "none")
        for name, value in values.items()
    )
    said = {
        LOG: _yes(PASSED[place]),
        ADA: _yes(JUDGED_PASSED[place]),
        BOB: _yes(PASSED[place]),
    }
    return Scored(
        scores,
        tuple(_vote(attempt_id, judge) for judge in said),
        tuple(_judgement(attempt_id, judge, "solved", verdict) for judge, verdict in said.items()),
    )


def _asked(attempt_id: str, place: int) -> Scored:
    rows = [
        _judgement(attempt_id, judge, f"transfer_v{version}", said[place]) for (judge, version), said in SAID.items()
    ]
    rows += [_judgement(attempt_id, LOG, f"transfer_v{version}", TRUTH[place]) for version in (1, 2)]
    return Scored((), tuple(_vote(attempt_id, judge) for judge in (ADA, BOB)), tuple(rows))


def _again(attempt_id: str, place: int) -> Scored:
    """Everything is wrong the second time but what was not read the first."""
    said = "none" if place == 5 else "wrong" if TRUTH[place] != "wrong" else "right"
    rows = [_judgement(attempt_id, judge, "transfer_v1", said) for judge in (ADA, BOB)]
    return Scored((), (), (*rows, _judgement(attempt_id, LOG, "transfer_v1", TRUTH[place])))


def _judgement(attempt_id: str, judge: str, field: str, verdict: str | None) -> Judgement:
    status: Any = "missing" if verdict is None else "ok"
    return Judgement(
        attempt_id=attempt_id, turn=1, judge=judge, kind="field", field=field, verdict=verdict, status=status
    )


def _vote(attempt_id: str, judge: str) -> Vote:
    return Vote(
        attempt_id=attempt_id, turn=1, judge=judge, valid=True, raw=json.dumps({}), rationale=f"{judge} says so"
    )


def _yes(value: int) -> str:
    return "yes" if value else "no"
