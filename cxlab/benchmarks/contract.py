"""What a benchmark is: one frozen object; nothing outside asks for anything that is not declared here.

Only `card`, `Options`, `generate`, `run`, `score` and `check` are needed; the rest has defaults. `README.md` beside
this file builds a whole benchmark in under 60 lines.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cxlab.benchmarks.dataset_parts import (
    Correction,
    DatasetParts,
    Demo,
    DemoRun,
    Excerpt,
    Files,
    Indexing,
    Understanding,
)
from cxlab.benchmarks.generation import Generation, GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.errors import CxError
from cxlab.judging import find_silence
from cxlab.llm.base import ChatModel
from cxlab.records import Attempt, Dataset, Failure, Judgement, Run, Sample, Score, Trace, Verdict, Vote
from cxlab.records.benchmark_card import RESERVED, Baseline, Card, Declaration, Facet, Search, Task
from cxlab.records.cluster import Cluster
from cxlab.records.evaluation import Owner
from cxlab.records.fault_words import name_fault_type
from cxlab.records.procedure import Procedures
from cxlab.store import write

if TYPE_CHECKING:
    from cxlab.llm.cache import ReplyCache

Role = Literal["agent", "customer", "judge", "writer"]
__all__ = [
    "RESERVED", "Baseline", "Card", "Cluster", "Correction", "Demo", "DemoRun", "Excerpt", "Facet", "Files", "Indexing",
    "Search", "Task", "Understanding",
]  # fmt: skip


class Uncheckable(CxError):
    """Raised by `check` for a sample whose gold cannot be checked here, with the reason: that is no complaint."""


@dataclass(frozen=True)
class Setup:
    """Who takes part in a run: the model under test, the customer it talks to, the judges, and the switches."""

    model: ChatModel
    customer: ChatModel | None
    judges: tuple[ChatModel, ...]
    run_id: str
    seed: int = 0
    options: Any = field(default_factory=Options)
    """The benchmark's own `Options`."""
    votes: tuple[Vote, ...] = ()
    """What judges said of this very attempt before, where it is put to them again: only who is missing is asked."""
    open_replies: Callable[[], ReplyCache] | None = None
    """Opens where replies are kept until the run is done, for an attempt that asks so many questions that a fault in
    one, or a stop, must not cost all of them; None where there is nothing to save."""


@dataclass(frozen=True)
class Scored:
    """All that scoring one attempt yields; without a `verdict` the contract's default rule gives one."""

    scores: tuple[Score, ...] = ()
    votes: tuple[Vote, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    traces: tuple[Trace, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True)
class RoleEstimate:
    """What one model in one role is expected to take in a run, all attempts together; None is unknown."""

    role: Role
    model: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None


class Wording(Protocol):
    """One version of what judges are asked by; `question` is the hash of all that they read beside the attempt."""

    @property
    def version(self) -> int: ...
    @property
    def question(self) -> str: ...


@dataclass(frozen=True)
class Rejudge:
    """How stored attempts are judged again under each version of what judges are asked by: `python -m cxlab rejudge`.

    `what` names the thing that has versions. `versions(numbers)` are those of the numbers, all when none is given;
    UnknownName for one that is not there. `plan(versions)` gives (options, prompts) of the run that asks them.
    `asked(run)` are the questions that a stored run asks; () for a run that is no rejudging. `view` and `title`: the
    part of the page Judges that shows what came of it, and what it is called among what judges are compared with.
    """

    what: str
    view: str
    title: str
    versions: Callable[[Sequence[int]], Sequence[Wording]]
    plan: Callable[[Sequence[Any]], tuple[Mapping[str, Any], Mapping[str, str]]]
    asked: Callable[[Run], Sequence[str]]

    @property
    def where(self) -> str:
        """The place of the app that shows what came of it."""
        return f"page Judges, Bias, {self.title}"


@dataclass(frozen=True)
class Contrast:
    """One metric under a value of a facet over the same metric under another one, of attempts at the same thing.

    `same`: paths into a sample's inputs that say what is the same thing, beside the model.
    """

    title: str
    metric: str
    facet: str
    value: str
    base: str
    same: tuple[str, ...]


@dataclass(frozen=True)
class JudgedMetrics:
    """Metrics that are measured from a log and judged as well: NAME beside judged_NAME in an attempt's scores.

    `values(verdicts, turns)`: metrics of one judge's verdicts (turn → field → verdict). `first` heads the list, and a
    run has both where judged_FIRST has a value. `names`: what metrics are called where their id does not say it.
    `counts` have no scale of 100. `otherwise`: judges are asked another thing, so the difference is no finding.
    `same`: both sides count these from the same messages. `opinions`: fields of which the log holds a rule's reading
    and no fact, so that no judge is right or wrong by it. `note` is what else a reader must know.
    """

    values: Callable[[Mapping[int, Mapping[str, str]], int], Mapping[str, float | None]]
    first: str
    names: Mapping[str, str] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()
    otherwise: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()
    opinions: frozenset[str] = frozenset()
    note: str = ""
    contrast: Contrast | None = None


@dataclass(frozen=True, kw_only=True)
class Benchmark(DatasetParts):
    """A benchmark: what must be there comes first, what has a default after it, its datasets in dataset_parts.py."""

    card: Card
    run: Callable[[Sample, Setup, int], Awaitable[Attempt]]
    """run(sample, setup, trial): the only step that calls the model under test."""
    score: Callable[[Sample, Attempt, Setup], Awaitable[Scored]]
    """score(sample, attempt, setup): calls judges only."""
    check: Callable[[Sample], Iterable[str]]
    """Complaints, calling no model: gold scores 1.0, an empty answer 0.0. Uncheckable where that cannot be told."""
    generate: Callable[[Any, GenerationContext], Generation]
    """generate(options, context) yields Progress and returns what was Generated (generation.py); the same settings and
    seed give the same dataset."""
    Options: type[Options] = Options
    GenerateOptions: type[GenerateOptions] = GenerateOptions

    # Runs and their scores.
    facets: tuple[Facet, ...] = ()
    verdict: Callable[[str, Attempt, Scored], Verdict] | None = None
    """verdict(task, attempt, scored): whether an attempt passed; None takes the task's own rule."""
    verdict_reads: tuple[Literal["scores", "votes", "judgements", "traces"], ...] = ("scores", "votes", "traces")
    """On which tables the verdict rests, so that a large run need not be read whole to judge it."""
    floors: tuple[Baseline, ...] = ()
    cluster: Cluster | None = None
    """What several samples share that are therefore no independent observations; None: each sample stands alone."""
    scorer: str = "1"
    """The version of the scorer, to be raised whenever a score may come out otherwise."""
    rescore: Callable[[Sample, Attempt, Scored, Setup], Scored] | None = None
    """rescore(sample, attempt, stored, setup): a stored attempt scored anew from what judges said of it, asking
    nobody: the models of that set-up refuse to be called."""
    rejudge: Rejudge | None = None
    judged: JudgedMetrics | None = None
    questions: Callable[[Mapping[str, str], Mapping[str, Any]], Mapping[str, str]] | None = None
    """questions(facets, options): judged field → what judges are asked of it, in the words of their prompt, of a sample
    with these facets in a run with these options; without facets of every field that there is."""
    procedures: Procedures | None = None
    """Where agents are held to procedures: which there are, and what can go wrong on a turn (`Scored.traces`)."""
    migrate: Callable[[Run, int], Run] | None = None
    """migrate(record, version): an older record of a run as it would be today."""
    figures: Callable[[str, Mapping[str, Any]], list[dict[str, Any]]] | None = None
    """figures(run_id, options): rows of a stored run's table where means do not tell all."""

    # Before a run.
    own_data: bool = True
    """Generating takes no time, so a run may do without a stored dataset."""
    model_roles: tuple[str, ...] = ("agent",)
    """What its models under test may be: an agent is a chat model, a retriever orders texts (`retriever:NAME`)."""
    default_models: tuple[str, ...] = ("simulated:strong",)
    """What the page Run proposes to evaluate."""
    with_customer: bool = True
    needs_judges: bool = True
    default_customer: str = "simulated:customer"
    """Who takes part in a run that names nobody."""
    default_judges: tuple[str, ...] = ("simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-partial")
    refuse: Callable[[Sequence[Sample], Any], None] | None = None
    """refuse(samples, options) raises a CxError for switches that these samples cannot be run with; it is asked before
    a run is stored, makes nothing and calls nothing."""
    prepare: Callable[[Sequence[Sample], Any, str], Iterator[tuple[int, int, str]]] | None = None
    """prepare(samples, options, model) makes what all attempts share before the first, yielding (done, of, of what)."""
    estimate: Callable[[Sequence[Sample], Any, Mapping[Role, Sequence[str]]], Sequence[RoleEstimate]] | None = None
    """Calls and tokens by role before a run."""
    prompts: Callable[[], dict[str, str]] = dict
    """Prompt name → hash."""
    prompt_options: tuple[Mapping[str, Any], ...] = ({},)
    """Switches under which `python -m cxlab prompts` shows what a run asks, one after the other."""
    ask_writer: Callable[[ChatModel], None] | None = None
    """ask_writer(model) asks a writer, once, each thing that no run asks (generating, converting), so that
    `python -m cxlab prompts` can show it; what it answers is of no account."""
    simulated: str = ""
    """The simulated models that mean something in this benchmark alone, as "package.module:PROFILES"."""

    # Its pages.
    attempt_view: str = "dialogue"
    """Which part of the page Failures draws one attempt."""

    @property
    def declaration(self) -> Declaration:
        """What pages know of the benchmark: its card, facets and floors, and which part draws one attempt."""
        return Declaration(
            self.card,
            self.facets,
            self.floors,
            self.attempt_view,
            self.published,
            self.Options.switches(),
            self.cluster,
        )

    @property
    def spread(self) -> tuple[str, ...]:
        """The facets in which neighbours of a run differ, so that a limit takes a bit of each."""
        return tuple(facet.id for facet in self.facets if facet.spread)

    def facet(self, id: str) -> Facet | None:
        """The facet of that id."""
        return next((facet for facet in self.facets if facet.id == id), None)

    def generate_now(
        self, given: Mapping[str, Any], seed: int = 0, home: Path | None = None
    ) -> tuple[Dataset, list[Sample]]:
        """The dataset of these settings and its samples, without a word of progress; stores what stores itself."""
        made = finish(self.generate(self.GenerateOptions.read(given), GenerationContext(seed, home)))
        return made.dataset, list(made.samples) or write.load_samples(made.dataset.id, home)

    def complete(self, task: str, attempt: Attempt, scored: Scored) -> Scored:
        """What scoring yielded as it is stored: with the verdict, and the scorer's version on scores without one."""
        mine = {"scorer": self.scorer}
        scores = tuple(score if score.scorer is not None else score.model_copy(update=mine) for score in scored.scores)
        return replace(scored, scores=scores, verdict=self.judge_attempt(task, attempt, scored))

    def judge_attempt(self, task: str, attempt: Attempt, scored: Scored) -> Verdict:
        """The verdict of one attempt: what scoring said, else the benchmark's rule, else the task's threshold.

        It needs no sample and no model, so that older runs get theirs, too.
        """
        if scored.verdict is not None:
            return scored.verdict
        if self.verdict is not None:
            return self.verdict(task, attempt, scored)
        return default_verdict(self.card.task(task), attempt, scored)


def default_verdict(task: Task | None, attempt: Attempt, scored: Scored) -> Verdict:
    """Passed from the task's threshold on (its best value, 100 points, where none is declared).

    Without a value a reply that could not be read as a whole fails the attempt and is the agent's doing; a provider's
    fault leaves it unscored and is the provider's; else it is unscored for the score's reason.
    """
    metric = task.decided_by or task.metric if task is not None else ""
    found = [score for score in scored.scores if score.metric == metric]
    whole = [score for score in found if score.turn is None] or found
    values = [score.value for score in whole if score.value is not None]
    reason = next((score.reason for score in whole if score.reason), None)

    def verdict(value: Literal["passed", "failed", "unscored"], reason: str = "", owner: Owner = "") -> Verdict:
        return Verdict(attempt_id=attempt.id, value=value, reason=reason, owner=owner)

    if task is None:
        return verdict("unscored", "the task is not declared", "label")
    if not values:
        # Of many replies some may be unreadable beside one that never came: what is missing is the provider's.
        if attempt.outcome == "provider":
            return verdict("unscored", name_fault(attempt), "provider")
        unread = [each for each in attempt.failures if each.where == "format" and each.turn is None]
        if unread:
            return verdict("failed", name_unread(unread[0]), "agent")
        if lost_customer(attempt):
            return verdict("unscored", f"customer: {name_unread(attempt.failures[-1])}", "customer")
        silence, owner = find_silence(scored.votes) or (None, "judge" if scored.votes else "label")
        return verdict("unscored", silence or reason or f"no {metric}", owner)
    mean = sum(values) / len(values)
    wanted = task.pass_from if task.pass_from is not None else 100.0 if task.higher_is_better else 0.0
    if mean >= wanted if task.higher_is_better else mean <= wanted:
        return verdict("passed")
    return verdict("failed", reason or f"{metric} {mean:.4g}, {wanted:g} needed", "agent")


_NAMED = frozenset(("truncated", "refusal", "filtered", "overlong"))
"""How a reply failed, where more can be said than that it could not be read."""


def name_unread(failure: Failure | None, otherwise: str = "unreadable reply") -> str:
    """What a reply that could not be read was, in words that alike failures share."""
    return name_fault_type(failure.type) if failure and failure.type in _NAMED else otherwise


def lost_customer(attempt: Attempt) -> bool:
    """Whether a dialogue ended because its customer could not be read any more, which is none of the agent's doing."""
    return attempt.ended_by == "unreadable" and bool(attempt.failures) and attempt.failures[-1].where == "customer"


def name_fault(attempt: Attempt) -> str:
    """The provider's fault that cut an attempt short, and behind which side it stood where that was not the agent."""
    fault = next((each for each in attempt.failures if each.where == "provider"), None)
    if fault is None:
        return "provider fault"
    who = f"{fault.role}'s provider" if fault.role not in (None, "agent") else "provider"
    return f"{who}: {name_fault_type(fault.type)}"
