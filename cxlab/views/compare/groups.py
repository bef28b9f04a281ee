"""The groups that sides are compared in: in which order, which of them are too small for a test, and which are folded
away."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from cxlab.metrics.paired import LEAST_CLUSTERS, least_clusters
from cxlab.read.comparison.like_with_like import AlikeSamples, say_alike
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.choices import choose_id

_MOST = 8
_TOO_FEW = "too few to test"


@dataclass(frozen=True)
class Groups:
    """Values of a facet in the order in which they are drawn: `names` of all, `shown` of those that are not folded
    away, `few` those with fewer clusters than `least`: too few for a test."""

    names: Mapping[str, str]
    shown: Mapping[str, str]
    few: frozenset[str] = frozenset()
    least: int = LEAST_CLUSTERS


def choose_groups(
    about: Declaration, frame: pl.DataFrame, by: str, leader: str, rival: str, less_is_better: bool
) -> Groups:
    """The groups of a frame of `queries.table`; of many the first few that can be tested are shown, unless the address
    asks for all.

    As the facet declares its values, else those first that are large enough for a test, and of these the ones in which
    the rival does best against the leader: what the card above names stands on top.
    """
    if not by:
        return Groups({"": "all"}, {"": "all"}, least=0)
    sizes = frame.group_by("grp").agg(pl.col("clusters").min())
    # Each group is tested once for every side but the one that the others are measured against.
    least = least_clusters(sizes["clusters"], max(1, frame["side"].n_unique() - 1))
    few = frozenset(sizes.filter(pl.col("clusters") < least)["grp"])
    found = about.in_order(by, frame["grp"].unique().sort().to_list())
    facet = about.facet(by)
    if facet is None or not facet.order:
        means: dict[tuple[str, str], float] = {
            (side, group): mean for side, group, mean in frame.select("side", "grp", "mean").iter_rows()
        }

        def ahead(group: str) -> float:
            ours, theirs = means.get((leader, group)), means.get((rival, group))
            if ours is None or theirs is None:
                return -math.inf
            return ours - theirs if less_is_better else theirs - ours

        found.sort(key=lambda group: (group in few, -ahead(group)))
    names = {group: about.value(by, group) if group else "none is stored" for group in found}
    if len(names) <= _MOST:
        return Groups(names, names, few, least)
    first = [group for group in names if group not in few][:_MOST] or list(names)[:_MOST]
    tested = len(names) - len(few)
    words = f"{tested} large enough to test" if len(first) == tested else f"First {len(first)}"
    options = {"": words, "all": f"All {len(names)}"}
    asked = choose_id("groups", "Groups", list(options), options.__getitem__, style="segments")
    return Groups(names, names if asked else {group: names[group] for group in first}, few, least)


def mark_few(groups: Groups) -> dict[str, str]:
    """Names of the groups that are shown, those with too few samples marked."""
    return {group: f"{name}<br>{_TOO_FEW}" if group in groups.few else name for group, name in groups.shown.items()}


def say_groups(about: Declaration, by: str, groups: Groups, alike: AlikeSamples | None) -> str:
    """What stands in grey and why, what the order is, and on which samples values are compared."""
    shared = f"independent {about.cluster.plural}" if about.cluster else "samples"
    few, every = len(groups.few), len(groups.names)
    told = [say_alike(about, by, alike)]
    if few:
        have = "has" if few == 1 else "have"
        which = "None of these groups has" if few == every else f"{few} of {every} groups {have} fewer than"
        told.append(
            f"{which} {groups.least} {shared}: with so many comparisons at once too few to test, and grey where drawn."
        )
    return " ".join(filter(None, told))
