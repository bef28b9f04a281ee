"""What a run asks of models, told from the samples before it starts."""

from collections.abc import Mapping, Sequence

from cxlab.benchmarks.contract import Role, RoleEstimate
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.benchmarks.cxmarena.run import run
from cxlab.benchmarks.cxmarena.score import score
from cxlab.benchmarks.rehearsal import rehearse
from cxlab.records import Sample


def estimate(samples: Sequence[Sample], options: CxmOptions, roles: Mapping[Role, Sequence[str]]) -> list[RoleEstimate]:
    """Calls and tokens of one trial by role.

    Searches go over words here: what an index of vectors finds is as long, and finding it may cost money.
    """
    by_words = options.model_copy(update={"retrieval": "bm25", "similarity": "words"})
    return rehearse(run, score, samples, by_words, roles)
