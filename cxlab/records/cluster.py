"""What several samples of a benchmark share, so that they are no independent observations."""

from dataclasses import dataclass

from cxlab.errors import BadOption
from cxlab.records.declarations import Declarations


@dataclass(frozen=True)
class Cluster:
    """A situation that several samples of a benchmark are about: a task under several personas, a conversation that
    several questions are asked of. What is told of such samples is alike, so intervals and tests take the situation,
    and not the sample, for the independent observation.

    `paths`: names of a sample's inputs, whose values together say which situation it is; a sample that lacks one of
    them is a situation of its own. `of_dataset`: the values tell situations apart within one dataset only.
    """

    name: str
    plural: str
    paths: tuple[str, ...]
    of_dataset: bool = False

    def __post_init__(self) -> None:
        if not self.paths or not all(path.isidentifier() for path in self.paths):
            raise BadOption(f"cluster {self.name!r}: name one input of its samples or more, in plain words")


_DECLARED: Declarations[Cluster] = Declarations("what samples share")
add_source, declared = _DECLARED.add_source, _DECLARED.read
