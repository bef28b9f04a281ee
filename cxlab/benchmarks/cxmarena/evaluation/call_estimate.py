"""What a run of searches asks of models, told from the samples before it starts; other tasks tell nothing yet."""

from collections.abc import Mapping, Sequence

from cxlab.benchmarks.contract import Role, RoleEstimate
from cxlab.benchmarks.cxmarena.evaluation.corpus import CORPORA
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.records import Sample
from cxlab.store import write

# Of one call, in tokens: what the prompt says beside the texts, and what comes back. The answers' lengths are those
# of the paper's table 10 (28 for a query, 69 for a response); a judge gives a verdict with a sentence.
_AROUND, _QUERY, _RESPONSE, _VERDICT = 200, 28, 69, 60
_CHARACTERS_A_TOKEN = 4


def estimate(samples: Sequence[Sample], options: CxmOptions, roles: Mapping[Role, Sequence[str]]) -> list[RoleEstimate]:
    """Calls and tokens of one trial by role; [] where a task is among them of which it cannot be told.

    Simulated models report no tokens, so none are to be expected of them.
    """
    if options.answer or not samples or any(sample.task not in CORPORA for sample in samples):
        return []
    turns = [sample for sample in samples if sample.task == "multi_turn"]
    n = len(turns)
    read = sum(len(sample.inputs["transcript"]) for sample in turns) // _CHARACTERS_A_TOKEN
    asks, answers = options.query != "last", options.respond
    shown = n * _passage_tokens(turns[0].dataset_id, options.passages) if turns and answers else 0
    prompt = asks * (read + n * _AROUND) + answers * (read + n * _AROUND + shown)
    agents = [
        (name, n * (asks + answers), prompt, n * (asks * _QUERY + answers * _RESPONSE)) for name in roles["agent"]
    ]
    judges = roles.get("judge", ()) if answers else ()
    judged = [(name, n, read + n * (_AROUND + _RESPONSE) + shown, n * _VERDICT) for name in judges]
    found: list[RoleEstimate] = []
    rows: list[tuple[Role, list[tuple[str, int, int, int]]]] = [("agent", agents), ("judge", judged)]
    for role, each in rows:
        for name, calls, prompt_tokens, completion_tokens in each:
            paid = not name.startswith("simulated:")
            found.append(RoleEstimate(role, name, calls, paid * prompt_tokens, paid * completion_tokens))
    return found


def _passage_tokens(dataset_id: str, shown: int) -> int:
    """Tokens of the articles that one answer is written from."""
    mean = write.load_table(dataset_id, "articles").get_column("body").str.len_chars().mean()
    return int(mean) * shown // _CHARACTERS_A_TOKEN if isinstance(mean, float) else 0
