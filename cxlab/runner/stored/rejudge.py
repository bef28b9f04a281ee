"""Versions of what judges are asked by as an experiment: stored attempts, all versions, what was said kept.

A rejudging is a run that judges another run's attempts again (replay.py), once under each version that its benchmark
declares (`Benchmark.rejudge`). So it is resumed, cancelled, budgeted, exported and deleted as any run; and what one has
asked, no later one asks again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Rejudge
from cxlab.errors import BadOption
from cxlab.records import Run
from cxlab.runner.plan import find_benchmark
from cxlab.runner.stored.replay import create_rescoring, list_pairs
from cxlab.store import write


@dataclass(frozen=True)
class RejudgePlan:
    """`runs` to be worked on, new ones and such as were stopped; `kept` counts judges x versions of runs that stand,
    `asked` those that `runs` will ask. `where`: the place of the app that shows what came of it.
    """

    runs: tuple[str, ...]
    kept: int
    asked: int
    where: str = ""


def plan_rejudging(
    source_ids: Iterable[str], judges: Sequence[str], numbers: Sequence[int] = (), *, again: bool = False
) -> RejudgePlan:
    """What is left to ask of these runs; stores a run for it. No `judges`: each run's own; no `numbers`: all versions.

    `again`: ask everything once more, whatever is kept; the first verdict that can be read goes on counting.
    """
    stored = write.list_runs()
    sources = [(run, check_source(run)) for run in map(write.load_run, dict.fromkeys(source_ids))]
    chosen = [hook.versions(numbers) for _, hook in sources]
    runs: list[str] = []
    kept = asked = 0
    for (source, hook), versions in zip(sources, chosen, strict=True):
        panel = tuple(dict.fromkeys(judges or source.judges))
        if not panel:
            raise BadOption(f"run {source.id} had no judges; name some: --judge simulated:judge-fair")
        left = {judge: {each.question for each in versions} for judge in panel}
        wanted = len(panel) * len(versions)
        for old in () if again else find_rejudgings(source.id, stored, hook):
            covered = {(judge, question) for judge in old.judges for question in hook.asked(old)}
            news = sum((judge, question) in covered for judge, few in left.items() for question in few)
            if news and len(write.finished(old.id)) < len(list_pairs(source.id)):
                runs.append(old.id)
            else:
                kept += news
            for judge in left:
                left[judge] -= {question for name, question in covered if name == judge}
        asked += wanted
        for missing, few in _group(left):
            options, prompts = hook.plan([each for each in versions if each.question in missing])
            runs.append(create_rescoring(source.id, few, options, prompts).id)
    return RejudgePlan(tuple(runs), kept, asked - kept, sources[0][1].where if sources else "")


def check_source(run: Run) -> Rejudge:
    """How a run's attempts are put to judges again; BadOption where they cannot be."""
    hook = find_benchmark(run.setup.get("benchmark", run.benchmark)).rejudge
    if hook is None:
        able = [f"{found.what} of {name}" for name in REGISTRY if (found := REGISTRY[name].rejudge) is not None]
        raise BadOption(f"run {run.id} is of {run.benchmark}; what has versions is {', '.join(able)}")
    if hook.asked(run):
        source = run.setup["rescored_from"]
        raise BadOption(f"run {run.id} judged again itself; name the run it asked about: {source}")
    return hook


def find_rejudgings(source_id: str, stored: Iterable[Run], hook: Rejudge) -> list[Run]:
    """The rejudgings of a run's attempts, the oldest first."""
    found = [run for run in stored if run.setup.get("rescored_from") == source_id and hook.asked(run)]
    return sorted(found, key=lambda run: (run.created, run.id))


def _group(left: dict[str, set[str]]) -> Iterator[tuple[set[str], tuple[str, ...]]]:
    """Judges to whom the same is left to ask, together: one run for them."""
    for missing in dict.fromkeys(frozenset(questions) for questions in left.values() if questions):
        yield set(missing), tuple(judge for judge, questions in left.items() if questions == missing)
