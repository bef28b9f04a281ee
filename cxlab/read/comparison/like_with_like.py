"""Values of a facet compared on what they share: the samples of the other terms under which all of them were tried."""

from dataclasses import dataclass

import polars as pl

from cxlab.metrics.like_with_like import find_shared_cells
from cxlab.records.benchmark_card import Declaration


@dataclass(frozen=True)
class AlikeSamples:
    """`samples` of `of` are alike; `held`: facet → the values that are left of it, of facets that lose any; `mixed`:
    facets in which the values differ and nothing can be held, as no combination has all of them."""

    samples: int
    of: int
    held: dict[str, tuple[str, ...]]
    mixed: tuple[str, ...] = ()


def keep_alike(about: Declaration, rows: pl.DataFrame, by: str) -> tuple[pl.DataFrame, AlikeSamples | None]:
    """The rows by which the values of a facet are compared, and what was left out; None where it is nothing.

    `rows` have sample_id and a column for the facet and each that it is compared within (`Facet.within`). Where no
    combination of these has all values the rows stay as they are, and `mixed` names what sets them apart.
    """
    facet = about.facet(by)
    within = [name for name in (facet.within if facet else ()) if name in rows.columns and name != by]
    if not within or by not in rows.columns:
        return rows, None
    known = rows.select(by, *within).unique().fill_null("")
    cells = find_shared_cells((level, tuple(cell)) for level, *cell in known.iter_rows())
    if not cells:
        apart = [name for name in within if known.group_by(by).agg(pl.col(name).unique().sort())[name].n_unique() > 1]
        return rows, AlikeSamples(0, rows["sample_id"].n_unique(), {}, tuple(apart))
    if len(cells) == known.select(within).n_unique():
        return rows, None
    wanted = pl.DataFrame(sorted(cells), schema=dict.fromkeys(within, pl.String), orient="row")
    told = rows.with_columns(pl.col(name).fill_null("").alias(f"alike {name}") for name in within)
    keys = [f"alike {name}" for name in within]
    kept = told.join(wanted, left_on=keys, right_on=within, how="semi").drop(keys)
    held = {name: tuple(sorted({cell[place] for cell in cells})) for place, name in enumerate(within)}
    held = {name: values for name, values in held.items() if len(values) < known[name].n_unique()}
    return kept, AlikeSamples(kept["sample_id"].n_unique(), rows["sample_id"].n_unique(), held)


def say_alike(about: Declaration, by: str, found: AlikeSamples | None) -> str:
    """Which samples a facet's values are compared on, and why not on all; "" where it is on all."""
    if found is None:
        return ""
    title = about.title(by)
    if not found.samples:
        apart = " and ".join(about.title(name) for name in found.mixed)
        return f"No two values of {title} were tried alike: they differ in {apart}, too, and so may the means."
    held = "; ".join(
        f"{about.title(name)}: {', '.join(about.value(name, value) for value in values)}"
        for name, values in found.held.items()
    )
    where = f" ({held})" if held else ""
    return (
        f"Like with like: {found.samples:,} of {found.of:,} samples{where}. The others were not tried with every value "
        f"of {title}."
    )
