"""An attempt in which everybody says what a page could mistake for markup."""

from datetime import UTC, datetime
from pathlib import Path

from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt, Failure, Judgement, Message, Run, ToolCall, Trace, Vote
from cxlab.store import write
from tests.stores.verdicts import decide

SAID = (
    '<img src=http://example.invalid/x onerror="window.hacked=1"> ![](http://example.invalid/y) '
    "<script>window.hacked=1</script> $x$ :material/home: **bold** [a](http://example.invalid/z) # a <b>b</b> `c`"
)
RUN_ID, ATTEMPT_ID = "run-hostile", "run-hostile-a1"
JUDGES = ("simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial")


SCORED = Scored(
    # The judges' part: each votes, and quotes what it was told.
    # Each something else, so that the attempt is in the queue of disagreements.
    judgements=(
        *(
            Judgement(attempt_id=ATTEMPT_ID, turn=1, judge=judge, kind="field", field="Intent", verdict=verdict)
            for judge, verdict in zip(JUDGES, ("Change", "Keep"), strict=False)
        ),
        Judgement(
            attempt_id=ATTEMPT_ID, turn=1, judge=JUDGES[2], kind="field", field="Intent", verdict=SAID, status="oov"
        ),
    ),
    votes=tuple(
        Vote(attempt_id=ATTEMPT_ID, turn=1, judge=judge, valid=True, raw=SAID, rationale=SAID, failure=SAID)
        for judge in JUDGES
    ),
    traces=(
        Trace(
            attempt_id=ATTEMPT_ID,
            turn=1,
            last=True,
            parsed=True,
            predicted_fields={"Intent": SAID, SAID: "x"},
            panel_fields={"Intent": "Change", SAID: "y"},
            predicted_path=("stage1", SAID),
            reference_path=("stage1", "stage2"),
            own_path=("stage1", SAID),
            predicted_action=SAID,
            reference_action="Change",
            moves=(("sync", "stage1"), ("inserted", SAID)),
            error="field",
        ),
    ),
)


def plant_attempt(home: Path) -> str:
    """Put it into the store beside the others, on one of their samples; its name in an address."""
    run = write.list_runs(home)[0]
    tried = min(write.finished(run.id, home))[0]
    sample = next(each for each in write.load_samples(run.dataset_id, home) if each.id == tried)
    planted = Run.model_validate({**run.model_dump(), "id": RUN_ID, "planned": 1, "created": datetime.now(UTC)})
    call = ToolCall(id="c1", name=SAID, arguments=SAID)
    told = {"reasoning": SAID, "raw": SAID, "grounding": [SAID]}
    attempt = Attempt(
        id=ATTEMPT_ID,
        run_id=RUN_ID,
        sample_id=sample.id,
        trial=0,
        messages=(
            Message(role="customer", text=SAID, turn=1),
            Message(role="agent", text=SAID, turn=1, tool_calls=(call,), data=told),
            Message(role="tool", text=SAID, turn=1),
        ),
        outcome="ok",
        ended_by="goodbye",
        failures=(Failure(where="tool", type="refused", message=SAID, turn=1),),
        started=datetime.now(UTC),
    )
    write.create_run(planted, home)
    with write.PartWriter(planted, {sample.id: sample}, home=home) as writer:
        writer.add(attempt, decide("sage", "dialogue", attempt, SCORED))
    return f"{RUN_ID}/{ATTEMPT_ID}"
