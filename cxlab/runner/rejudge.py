"""The judges' rule about handing over as an experiment: stored conversations, all versions, what was said kept.

A patch is a run that judges another run's conversations again (rescore.py), asked for the outcome only, once under each
version of the rule (benchmarks/mmtaup2/patches.py). So it is resumed, cancelled, budgeted, exported and deleted as any
run; and what one patch has asked, no later one asks again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cxlab.benchmarks.mmtaup2.evaluation import rubric_versions
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.errors import BadOption
from cxlab.records import Run
from cxlab.runner.replay import create_rescoring, list_pairs
from cxlab.store import write

BENCHMARK = "mmtaup2"


@dataclass(frozen=True)
class RejudgePlan:
    """`runs` to be worked on, new ones and such as were stopped; `kept` counts judges x versions of runs that stand,
    `asked` those that `runs` will ask."""

    runs: tuple[str, ...]
    kept: int
    asked: int


def plan_rejudging(
    source_ids: Iterable[str],
    judges: Sequence[str],
    versions: Sequence[rubric_versions.EscalationRule],
    *,
    again: bool = False,
) -> RejudgePlan:
    """What is left to ask of these runs; stores a run for it. No `judges`: each run's own.

    `again`: ask everything once more, whatever is kept; the first verdict that can be read goes on counting.
    """
    stored = write.list_runs()
    sources = [check_source(source_id) for source_id in dict.fromkeys(source_ids)]
    runs: list[str] = []
    kept = asked = 0
    for source in sources:
        panel = tuple(dict.fromkeys(judges or source.judges))
        if not panel:
            raise BadOption(f"run {source.id} had no judges; name some: --judge simulated:judge-fair")
        left = {judge: {rule.question for rule in versions} for judge in panel}
        wanted = len(panel) * len(versions)
        for old in () if again else find_rejudgings(source.id, stored):
            covered = {(judge, question) for judge in old.judges for question in questions_of(old)}
            news = sum((judge, question) in covered for judge, few in left.items() for question in few)
            if news and len(write.finished(old.id)) < len(list_pairs(source.id)):
                runs.append(old.id)
            else:
                kept += news
            for judge in left:
                left[judge] -= {question for name, question in covered if name == judge}
        asked += wanted
        for missing, few in _group(left):
            rules = [rule for rule in versions if rule.question in missing]
            prompts = {
                f"{prompt.name}_v{rule.version}": prompt.hash
                for rule in rules
                for prompt in [judge_prompts.outcome_prompt(rule.version)]
            }
            options = {"judge_groups": ["outcome"], "escalation": rubric_versions.write_option(rules)}
            runs.append(create_rescoring(source.id, few, options, prompts).id)
    return RejudgePlan(tuple(runs), kept, asked - kept)


def check_source(run_id: str) -> Run:
    """The run, if its conversations can be put to judges under a rule; BadOption otherwise."""
    run = write.load_run(run_id)
    if run.benchmark != BENCHMARK:
        raise BadOption(f"run {run_id} is of {run.benchmark}; the rule about handing over is one of {BENCHMARK}")
    if is_rejudging(run):
        raise BadOption(f"run {run_id} is a patch itself; name the run it asked about: {run.setup['rescored_from']}")
    return run


def find_rejudgings(source_id: str, stored: Iterable[Run]) -> list[Run]:
    """The patches of a run's conversations, the oldest first."""
    found = [run for run in stored if run.setup.get("rescored_from") == source_id and is_rejudging(run)]
    return sorted(found, key=lambda run: (run.created, run.id))


def is_rejudging(run: Run) -> bool:
    """Whether a run asks about versions of the rule."""
    return isinstance(run.setup.get("options", {}).get("escalation"), list)


def questions_of(run: Run) -> tuple[str, ...]:
    """The questions that a patch asks: hashes of prompt and rule."""
    return tuple(str(entry.get("question")) for entry in run.setup["options"]["escalation"])


def _group(left: dict[str, set[str]]) -> Iterator[tuple[set[str], tuple[str, ...]]]:
    """Judges to whom the same is left to ask, together: one run for them."""
    for missing in dict.fromkeys(frozenset(questions) for questions in left.values() if questions):
        yield set(missing), tuple(judge for judge, questions in left.items() if questions == missing)
