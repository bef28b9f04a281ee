"""The same order with several indexes: one run each, foreseen before it starts, worked on by one job after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cxlab import llm
from cxlab.errors import BadOption, CxError
from cxlab.records import Sample, Usage, new_id
from cxlab.retrieval import split_kind
from cxlab.retrieval.embeddings import load_embedder
from cxlab.runner import arguments
from cxlab.runner.plan import choose, find_benchmark
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write

# Of one call, in tokens: what the prompt says beside the texts, and what comes back. The answers' lengths are those
# of CXMArena's table 10 (28 for a query, 69 for a response); a judge gives a verdict with a sentence.
_AROUND, _QUERY, _RESPONSE, _VERDICT = 200, 28, 69, 60
_CHARACTERS_A_TOKEN = 4
_CALL_S = 2.0  # as runner.estimate assumes


@dataclass(frozen=True)
class GridEstimate:
    """What a grid would take. `cost_usd` is None without a price, `seconds` when nothing is known to tell it by."""

    runs: int
    searches: int
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float | None


def expand(order: RunRequest, methods: Sequence[str], sizes: Sequence[int], overlap: int) -> list[RunRequest]:
    """One order for each method and chunk size; `overlap` in per cent of the chunk."""
    if not methods or not sizes:
        raise BadOption("pick at least one method and one chunk size")
    if not 0 <= overlap < 100:
        raise BadOption(f"overlap {overlap} %: take 0 to 99 % of the chunk")
    if wrong := [size for size in sizes if size < 1]:
        raise BadOption(f"chunk size {wrong[0]}: must be at least 1")
    pairs = [(method, size) for method in dict.fromkeys(methods) for size in dict.fromkeys(sizes)]
    return [
        replace(order, options={**order.options, "retrieval": m, "chunk": size, "overlap": size * overlap // 100})
        for m, size in pairs
    ]


def validate(orders: Sequence[RunRequest]) -> str:
    """What keeps a grid from being started, in a sentence; "" when nothing does. Calls no server."""
    for name in dict.fromkeys(str(one.options["retrieval"]) for one in orders):
        vectors = split_kind(name)[1]
        if not vectors:
            continue
        try:
            load_embedder(vectors)
        except CxError as mistake:
            return str(mistake)
    return arguments.validate(orders[0])


def estimate_grid(orders: Sequence[RunRequest], seconds: Mapping[str, float]) -> GridEstimate:
    """What the orders of one grid would take; writes and calls nothing.

    `seconds`: what building and asking an index took in earlier runs, by method; a method that it lacks leaves the
    time unknown.
    """
    order = orders[0]
    if order.dataset_id is None:
        raise BadOption("name the dataset to search in")
    samples = choose(find_benchmark(order.benchmark), write.load_samples(order.dataset_id), order.choice)
    turns = [sample for sample in samples if sample.task == "multi_turn"]
    told = _tokens(order, turns)
    cost: float | None = 0.0
    calls = tokens = 0
    for name, each in told.items():
        calls += each.calls
        tokens += (each.prompt_tokens or 0) + (each.completion_tokens or 0)
        part = llm.cost(name, each)
        cost = None if cost is None or part is None else cost + part
    times = [seconds.get(str(one.options["retrieval"])) for one in orders]
    real = any(not name.startswith("simulated:") for name in told)
    waiting = calls * _CALL_S / max(order.concurrency, 1) if real else 0.0
    known = [time for time in times if time is not None]
    return GridEstimate(
        runs=len(orders),
        searches=len(orders) * len(samples) * order.trials,
        calls=len(orders) * calls,
        tokens=len(orders) * tokens,
        cost_usd=None if cost is None else len(orders) * cost,
        seconds=sum(known) + len(orders) * waiting if len(known) == len(times) else None,
    )


def _tokens(order: RunRequest, turns: Sequence[Sample]) -> dict[str, Usage]:
    """What each model is asked in one run; simulated ones report no tokens, so none are to be expected of them."""
    read = sum(len(sample.inputs["transcript"]) for sample in turns) // _CHARACTERS_A_TOKEN
    n, trials = len(turns), order.trials
    parts: list[tuple[str, int, int, int]] = []
    model = order.models[0]
    if order.options.get("query") != "last":
        parts.append((model, n, read + n * _AROUND, n * _QUERY))
    if order.options.get("respond", True):
        shown = _passage_tokens(order) * n
        parts.append((model, n, read + n * _AROUND + shown, n * _RESPONSE))
        parts += [(judge, n, read + n * (_AROUND + _RESPONSE) + shown, n * _VERDICT) for judge in order.judges]
    found: dict[str, Usage] = {}
    for name, calls, prompt, completion in parts:
        paid = 0 if name.startswith("simulated:") else trials
        used = Usage(calls=calls * trials, prompt_tokens=prompt * paid, completion_tokens=completion * paid)
        found[name] = found[name] + used if name in found else used
    return found


def _passage_tokens(order: RunRequest) -> int:
    """Tokens of the articles that one answer is written from."""
    if order.dataset_id is None:
        return 0
    lengths = write.load_table(order.dataset_id, "articles").get_column("body").str.len_chars()
    mean = lengths.mean()
    shown = int(order.options.get("passages", 5))
    return int(mean) * shown // _CHARACTERS_A_TOKEN if isinstance(mean, float) else 0


def create(orders: Sequence[RunRequest]) -> list[str]:
    """Store the runs of a grid as one group, not begun; their ids."""
    group = new_id("group")
    return [run.id for order in orders for run in create_runs(order, group)]


def to_arguments(run_ids: Sequence[str]) -> list[str]:
    """The command line that works through the runs, one after the other."""
    return ["run", *(f"--resume={run}" for run in run_ids), "--quiet"]
