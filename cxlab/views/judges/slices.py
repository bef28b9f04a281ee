"""By what the page Judges slices and filters: declared facets of the benchmarks that have judges, model and turn."""

from dataclasses import dataclass

from cxlab.read import procedures
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.labels import label
from cxlab.views.benchmarks import usable_facets


@dataclass(frozen=True)
class Slices:
    """`facets` are ids of declared facets, those that name procedures first; `titles`: what can be sliced by."""

    facets: tuple[str, ...]
    titles: dict[str, str]
    about: Declaration

    def __repr__(self) -> str:
        # What figures are remembered by.
        return f"Slices({self.facets})"

    def name(self, by: str, value: str) -> str:
        """A value of a slice for people."""
        if by == "turn":
            return value.lstrip("0") or "0"
        return self.about.value(by, value) if by in self.facets else label(value)


def find_slices(about: Declaration, benchmarks: list[str]) -> Slices:
    """The slices of these benchmarks, whose merged declaration is `about`; not what identifies a sample."""
    usable = [name for name in usable_facets(about) if about.identifying is None or name != about.identifying.id]
    first = [facet for name in benchmarks if (facet := procedures.facet_of(name)) in usable]
    facets = tuple(dict.fromkeys([*first, *usable]))
    titles = {name: about.title(name) for name in facets} | {"turn": "Turn", "model": "Model"}
    return Slices(facets, titles, about)
