"""Open a stored run: everything that its record names, ready to be worked on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark, Setup
from cxlab.benchmarks.options import Options
from cxlab.benchmarks.scores.stored import UncalledModel
from cxlab.llm import ChatModel
from cxlab.records import Run, Sample
from cxlab.records.settings import write_word
from cxlab.runner.plan import SampleFilter, SampleTrial, choose, find_benchmark, pair
from cxlab.runner.stored import replay, retry
from cxlab.runner.stored.kept_replies import KeptReplies
from cxlab.store import home, write
from cxlab.store.offers import OfferLog


@dataclass(frozen=True)
class LoadedRun:
    """A run with all that its record names: the benchmark, the samples, the pairs in their order."""

    run: Run
    benchmark: Benchmark
    samples: dict[str, Sample]
    pairs: list[SampleTrial]
    folder: Path


def open_run(run_id: str) -> LoadedRun:
    """Plan a stored run anew; the same record gives the same pairs in the same order, everywhere."""
    run = write.load_run(run_id)
    benchmark = find_benchmark(run.setup.get("benchmark", run.benchmark))
    source = run.setup.get("rescored_from")
    if source is not None:
        samples = {sample.id: sample for sample in _with_run_facets(benchmark, run, write.load_samples(run.dataset_id))}
        return LoadedRun(run, replay.replay(benchmark, source), samples, replay.list_pairs(source), folder_of(run_id))
    retried = run.setup.get("retried_from")
    chosen = choose(benchmark, write.load_samples(run.dataset_id), read_sample_filter(run))
    pairs = pair(chosen, run.trials)
    if retried is not None:
        again = bool(run.setup.get("too_long_again"))
        pairs = retry.order_pairs(retried, pairs, again)
        benchmark = retry.take_over_finished(benchmark, retried, again)
    return LoadedRun(
        run,
        benchmark,
        {sample.id: sample for sample in _with_run_facets(benchmark, run, chosen)},
        pairs,
        folder_of(run_id),
    )


def _with_run_facets(benchmark: Benchmark, run: Run, samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples with the facets that follow from the run's switches, as far as anything is played by them."""
    ids = [facet.id for facet in benchmark.facets if facet.of_run]
    if not ids:
        return samples
    record = read_options(benchmark, run).to_record()
    given = {id: write_word(record[id]) for id in ids if record.get(id) is not None}
    took_place = {task.id for task in benchmark.conversation_tasks}
    return [
        sample if sample.task in took_place else sample.model_copy(update={"facets": {**sample.facets, **given}})
        for sample in samples
    ]


def folder_of(run_id: str) -> Path:
    """The folder of a run in the store."""
    return home() / "runs" / run_id


def read_sample_filter(run: Run) -> SampleFilter:
    """The filters that a run was planned with."""
    kept = run.setup.get("choice", {})
    where = [(facet, value) for facet, value in kept.get("where", ())]
    return SampleFilter(kept.get("limit"), tuple(where))


def read_options(benchmark: Benchmark, run: Run) -> Options:
    """The switches that a run was made with, as its benchmark declares them today."""
    return benchmark.Options.read(run.setup.get("options", {}))


def is_simulated(run: Run) -> bool:
    """Whether every model that takes part is simulated, so that the work is CPU work of this machine."""
    names = list(run.judges)
    if not run.setup.get("rescored_from"):
        names += [run.model, *([run.setup["customer"]] if run.setup.get("customer") else [])]
    return all(name.startswith("simulated:") for name in names)


def judge_role(name: str) -> str:
    """What a judge is called where each of a panel is told apart."""
    return f"judge {name}"


def load_setup(
    run: Run,
    budget: llm.Budget | None = None,
    breakers: Mapping[str, llm.CircuitBreaker] | None = None,
    offers: OfferLog | None = None,
    spending: llm.Spending | None = None,
    replies: KeptReplies | None = None,
) -> Setup:
    """Load the models that a run names, all on one budget and, if the run asks for it, on the reply cache.

    `breakers` by role (agent, customer, `judge_role`) end the calls of one that cannot succeed; `offers` keeps what the
    model under test is given; `spending` adds up what all calls cost; `replies` are kept until the run is done.
    """
    watched = breakers or {}
    cache = None
    if run.setup.get("cache"):
        from cxlab.llm.cache import ReplyCache

        cache = ReplyCache(home() / "cache.sqlite")

    def load(name: str, role: str) -> ChatModel:
        model, watch = llm.load(name), watched.get(judge_role(name) if role == "judge" else role)
        if model.simulated:
            watch = None
        noting = offers if role == "agent" and hasattr(model, "complete") else None
        if budget is None and cache is None and watch is None and noting is None:
            return model
        note = (lambda asked: noting.note(asked.messages, asked.tools, asked.schema is None)) if noting else None
        return llm.MeteredModel(model, budget, cache, watch, note, spending)

    rescoring = run.setup.get("rescored_from") is not None
    customer = None if rescoring else run.setup.get("customer")
    return Setup(
        model=UncalledModel(run.model, run.simulated)
        if rescoring
        else load(str(run.setup.get("model", run.model)), "agent"),
        customer=load(customer, "customer") if customer else None,
        judges=tuple(load(name, "judge") for name in run.judges),
        run_id=run.id,
        seed=run.seed,
        options=read_options(find_benchmark(run.setup.get("benchmark", run.benchmark)), run),
        # What the store's own cache keeps is found again, and stand-ins cost nothing.
        open_replies=None if replies is None or cache is not None or run.simulated else replies.open,
    )
