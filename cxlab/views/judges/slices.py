"""By what the page Judges slices and filters: declared facets of benchmarks that have judges, model, turn, panel."""

from dataclasses import dataclass

from cxlab.charts.matrix import name_judge
from cxlab.charts.numbers import format_count
from cxlab.read import View, procedures
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import label
from cxlab.views.benchmarks import usable_facets
from cxlab.views.judges import queries_agreement


@dataclass(frozen=True)
class Slices:
    """`facets` are ids of declared facets, those that name procedures first; `titles`: what can be sliced by."""

    facets: tuple[str, ...]
    titles: dict[str, str]
    about: Declaration

    def __repr__(self) -> str:
        # What figures are remembered by.
        return f"Slices({self.facets})"

    def list_filters(self, view: View, alone: bool) -> list[str]:
        """What the sidebar filters by: over all benchmarks there are more facets than anybody looks through, and only
        one that the address narrows is there, to be cleared."""
        return ["models", *(name for name in self.facets if alone or view.values(name)), "runs"]

    def name(self, by: str, value: str | None) -> str:
        """A value of a slice for people; None of attempts for which the facet is not known."""
        if value is None:
            return "not known"
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


def choose_panel(view: View) -> View:
    """The view narrowed to the runs of one panel of judges, where there are several: judges that were never asked of
    the same turn can neither agree nor stand in for each other."""
    found = queries_agreement.panels(view)
    if len(found) < 2:
        return view
    names = {}
    for each in found:
        many = f"{format_count(each.attempts)} attempt{'' if each.attempts == 1 else 's'}"
        names["+".join(each.judges)] = f"{', '.join(map(name_judge, each.judges))} · {many}"
    chosen = choose_id(
        "judges-panel",
        "Panel",
        list(names),
        names.__getitem__,
        "Judges that were asked of the same attempts. Figures are of one panel; the review has all of them.",
    )
    runs = next(each.runs for each in found if "+".join(each.judges) == chosen)
    return view.change(runs=runs, page=view.page)
