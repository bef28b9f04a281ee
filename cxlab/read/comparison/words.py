"""What a ranking says, in sentences: the same on the pages and on the command line."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cxlab.metrics.paired import LEAST_CLUSTERS
from cxlab.read.comparison.corrected import CorrectedRanking
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import Customers, TaskSet
from cxlab.read.conditions import Conditions, find_differing
from cxlab.records.cluster import Cluster
from cxlab.records.decimals import write_decimals
from cxlab.records.metric_names import name_metric

Name = Callable[[str], str]
"""How a side is called."""
MOST_NEEDED = 10_000
"""More samples than anybody would run to settle an order."""
NO_RANDOM_CHOICE = (
    "Decided splits are no random choice, so a corrected mean is not what it would be had all been decided."
)
"""What is said wherever corrected means stand."""
_MOST_NAMED = 3
STANDING = {"worse": "behind", "better": "ahead", "cannot tell": "cannot tell"}
"""How a side stands against another, by the verdict of its row of `Ranking.gaps`."""
MARKED_STANDING = {"worse": "✕ behind", "better": "✓ ahead", "cannot tell": "? cannot tell", "too few": "– too few"}
"""The same with a sign, for tables."""


def say_leader(found: Ranking, name: Name = str) -> str:
    """Who leads a task, or why nobody does yet: no lead that the paired comparison does not support."""
    rows = found.table
    if not rows.height:
        return "nothing has been scored yet"
    leader = name(found.leader)
    if rows.height == 1:
        return f"only {leader} has been evaluated, so nobody leads"
    others = rows.height - 1
    if leads(found):
        return f"{leader} leads" + (f", ahead of all {others} others for sure" if others > 1 else " for sure")
    if found.decided:
        behind = f"all {others} others" if others > 1 else name(rows["side"][1])
        constant = "does better" if _beaten_by(found) else "is as good"
        return f"nobody leads: {leader} is ahead of {behind} for sure, but a constant agent {constant}"
    level = [name(side) for side, value in zip(rows["side"], rows["value"], strict=True) if value == rows["value"][0]]
    few = say_count(found.compared.samples, found.compared.clusters, found.compared.shared, "only ")
    few = f", with {few}" if found.compared.clusters < LEAST_CLUSTERS else ""
    if len(level) > 1:
        return f"cannot tell yet who leads: {name_some(level)} are level{few}"
    near = [name(side) for side in rows["side"] if side in found.open]
    told = (
        "none of the others is"
        if len(near) == others > 1
        else f"{name_some(near)} {'is' if len(near) == 1 else 'are'} not"
    )
    return f"cannot tell yet who leads: {leader} is first, but {told} behind for sure{few}"


def is_repeat(found: Ranking, conditions: Mapping[str, Conditions]) -> bool:
    """Whether the sides are runs of one model under the same conditions, of which none can lead; `conditions` of runs
    that are known."""
    coverage, ranked = found.compared.coverage, set(found.table["side"])
    models = {side: model for side, model in zip(coverage["side"], coverage["model"], strict=True) if side in ranked}
    runs = {side: conditions[side] for side in models if side in conditions}
    return len(runs) == len(models) > 1 == len(set(models.values())) and not find_differing(runs)


def say_repeats(found: Sequence[Ranking]) -> str:
    """Runs of one model under the same conditions (`is_repeat`): how often it ran, and how far apart the results lie,
    of several tasks in how many for sure."""
    times = max(each.table.height for each in found)
    often = "twice" if times == 2 else f"{times} times"
    told = f"the same model {often}, under the same settings"
    several = [each for each in found if each.table.height > 1]
    sure = sum("worse" in each.gaps["verdict"] for each in several)
    if len(several) > 1:
        return f"{told}: apart for sure in {sure} of {len(several)} tasks"
    values = several[0].table["value"].to_list()
    apart = max(values) - min(values)
    if not any(several[0].gaps["wins"]) and not any(several[0].gaps["losses"]):
        return f"{told}, with the same score on every sample"
    chance = "more than chance explains" if sure else "which cannot be told from chance"
    return f"{told}: {write_decimals(apart)} points apart, {chance}"


def say_leaders(found: Sequence[Ranking], name: Name = str) -> str:
    """Who leads for sure in how many tasks: nobody over nobody, and no lead that cannot be told. No mean over tasks,
    whose figures are not to be compared."""
    several = [each for each in found if each.table.height > 1]
    if not several:
        models = {each.leader for each in found if each.leader}
        return f"only {name(models.pop())} has been evaluated" if len(models) == 1 else "no two models to compare"
    leaders = [each.leader for each in several if leads(each)]
    low = sum(each.decided for each in several) - len(leaders)
    alone = f"; {len(found) - len(several)} with one model only" if len(found) > len(several) else ""
    few = _say_few([each for each in several if not each.decided])
    if not leaders and not low:
        return f"cannot tell yet who leads in any of {len(several)} tasks{few}{alone}"
    count = Counter(leaders)
    told = [f"{name(side)} leads for sure in {count[side]}" for side in sorted(count, key=lambda s: (-count[s], s))]
    lead = f"{', '.join(told) if told else 'nobody leads for sure in any'} of {len(several)} tasks"
    below = f", in {low} somebody is ahead for sure, but no better than a constant agent" if low else ""
    unsure = len(several) - len(leaders) - low
    rest = f", {unsure} cannot be told yet{few}" if unsure else ""
    return f"{lead}{below}{rest}{alone}"


def _say_few(found: Sequence[Ranking]) -> str:
    """That rankings stand on few independent samples, where all of these do."""
    sizes = sorted(each.compared.clusters for each in found)
    if not sizes or sizes[-1] >= LEAST_CLUSTERS:
        return ""
    each = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    return f", on only {each} independent samples{' each' if len(sizes) > 1 else ''}"


def say_against(found: Ranking, baseline: str, name: Name = str) -> str:
    """How the leader stands against a kept baseline among the sides."""
    if baseline == found.leader:
        return f"Baseline {name(baseline)} is first"
    row = next(each for each in found.gaps.iter_rows(named=True) if each["side"] == baseline)
    if row["difference"] is None:
        return f"Baseline {name(baseline)} shares no sample with the first"
    sure = "for sure" if row["verdict"] == "worse" else "which cannot be told from chance yet"
    by = write_decimals(abs(row["difference"]))
    return f"Baseline {name(baseline)}: {name(found.leader)} is {by} points ahead of it, {sure}"


def samples_to_settle(gap: Mapping[str, Any]) -> int | None:
    """How many more samples would find the difference of an open row of `Ranking.gaps`, if it is the true one; None
    where that is unknown, or more than anybody would run."""
    needed = gap["needed"]
    return None if needed is None or needed > MOST_NEEDED else max(0, int(needed) - int(gap["n"]))


def clusters_to_settle(gap: Mapping[str, Any], more: int) -> int:
    """How many more clusters so many more samples are from, with as many samples each as now."""
    return math.ceil(more * int(gap["clusters"]) / int(gap["n"]))


def say_count(samples: int, clusters: int, shared: Cluster | None, only: str = "") -> str:
    """So many samples, and from how many situations they are, where these are fewer; `only` stands before the fewest
    of these."""
    told = _count(samples, "sample")
    if shared is None or clusters == samples:
        return f"{only}{told}"
    return f"{told} from {only}{clusters:,} {shared.name if clusters == 1 else shared.plural}"


def say_left(compared: TaskSet, more: int) -> str:
    """How many samples the dataset still has, as the end of a sentence that asks for `more`; "" where it has enough."""
    left = compared.known - compared.samples
    return "" if more <= left else "; this dataset has no more" if left <= 0 else f"; this dataset has {left:,} more"


def say_floors(found: Sequence[Ranking], name: Name = str) -> str:
    """Where whoever is first does no better than a constant agent, of one task or of several; of one task also which
    others are not, and which pass less often than one. "" where nowhere.

    Means and pass rates are two measures, and one model can be above a constant agent by one and below it by the other:
    where either is told of, so is the other.
    """
    low = _say_low_means(found, name)
    if len(found) != 1:
        return low
    rates = _say_low_rates(found[0], name)
    low = low or _say_others_low(found[0], name)
    high = _say_above(found[0], name)
    return f"{low}, and {rates}" if low and rates else f"{high}, but {rates}" if high and rates else low or rates


def say_no_floors(found: Sequence[Ranking], known: bool) -> str:
    """That no constant agent stands beside what is ranked, though there are some (`known`); "" otherwise."""
    if not known or not any(each.table.height for each in found) or any(each.floors.height for each in found):
        return ""
    return "No constant agent has run here, so whether anybody is better than one is not known"


def leads(found: Ranking) -> bool:
    """Whether somebody leads: ahead of all others for sure, and better than a constant agent."""
    return found.decided and not is_below_floor(found)


def is_below_floor(found: Ranking) -> bool:
    """Whether whoever is first does no better than a constant agent."""
    return _beaten_by(found) is not None


def _beaten_by(found: Ranking) -> bool | None:
    """Whether a constant agent's mean is better than that of whoever is first (True), or as good (False), as both are
    shown; None where it is neither."""
    best = found.best_floor
    if best is None or not found.table.height:
        return None
    ahead = (1 if found.task.higher_is_better else -1) * (
        float(write_decimals(best[1])) - float(write_decimals(found.table["value"][0]))
    )
    return ahead > 0 if ahead >= 0 else None


def _say_low_rates(found: Ranking, name: Name) -> str:
    """The constant agent that passes most, and the ranked ones that pass less often than it."""
    rates = found.success
    floors = {name_: rates[side] for side, name_ in zip(found.floors["side"], found.floors["name"], strict=True)
              if side in rates}  # fmt: skip
    if not floors:
        return ""
    best = max(floors, key=lambda each: (floors[each], each))
    behind = [f"{name(side)} ({write_decimals(100 * rates[side])} %)" for side in found.table["side"]
              if side in rates and rates[side] < floors[best]]  # fmt: skip
    return (
        f"{best} passes {write_decimals(100 * floors[best])} %, more often than {name_some(behind)}" if behind else ""
    )


def _say_others_low(found: Ranking, name: Name) -> str:
    """Which of the others are no better than the best constant agent by their means; "" where none is."""
    best = found.best_floor
    if best is None:
        return ""
    sign = 1 if found.task.higher_is_better else -1
    behind = [name(side) for side, value in zip(found.table["side"], found.table["value"], strict=True)
              if sign * (float(write_decimals(best[1])) - float(write_decimals(value))) >= 0]  # fmt: skip
    are = f"{name_some(behind)} {'is' if len(behind) == 1 else 'are'}" if behind else ""
    return f"By {name_metric(found.task.metric)} {are} no better than {_write_floor(best)}" if behind else ""


def _say_above(found: Ranking, name: Name) -> str:
    """That all are better than the best constant agent by their means; "" where there is none."""
    best, many = found.best_floor, found.table.height
    if best is None or not many:
        return ""
    everybody = {1: f"{name(found.leader)} is", 2: "both are"}.get(many, f"all {many} are")
    return f"By {name_metric(found.task.metric)} {everybody} better than {_write_floor(best)}"


def _write_floor(best: tuple[str, float]) -> str:
    return f"{best[0]} ({write_decimals(best[1])})"


def _say_low_means(found: Sequence[Ranking], name: Name) -> str:
    told = []
    for each in found:
        if not each.table.height:
            continue
        best = each.best_floor
        if best and is_below_floor(each):
            ours = f"{name(each.leader)} {write_decimals(each.table['value'][0])}"
            few = each.compared.samples < LEAST_CLUSTERS
            on = f", on {_count(each.compared.samples, 'sample')} only" if few else ""
            told.append((each, f"{ours}, {best[0]} {write_decimals(best[1])}{on}"))
    if not told:
        return ""
    if len(found) == 1:
        return f"Whoever is first does no better than a constant agent: {told[0][1]}"
    tasks = "; ".join(f"{each.task.title} ({values})" for each, values in told)
    low = "whoever is first, for sure or not, is no better than a constant agent"
    return f"In {len(told)} of {len(found)} tasks {low}: {tasks}"


def say_apart(titles: Iterable[str], models: Iterable[str]) -> tuple[str, bool]:
    """In what runs that are compared differ, by the `titles` of their settings and by their models, and whether that is
    to be warned of: one thing is what is compared, of several nobody can say which makes a difference."""
    things = [*(["model"] if len(set(models)) > 1 else []), *(title.lower() for title in titles)]
    if not things:
        return "Same conditions: these runs differ in nothing", False
    if len(things) == 1:
        return f"These runs differ in {things[0]}: that is what is compared", False
    named = f"{', '.join(things[:-1])} and {things[-1]}"
    return f"These runs differ in {named}: a difference may be due to any of these", True


def say_left_out(names: Sequence[str]) -> str:
    """Which samples are left out of a comparison, as their label is marked as wrong; "" where none is."""
    return f"Left out: {_count(len(names), 'sample')} marked as wrongly labelled: {name_some(names)}" if names else ""


def say_set(compared: TaskSet) -> str:
    """What a ranking stands on."""
    if not compared.sides:
        return "no results"
    of = f" of the dataset's {compared.known:,}" if compared.known > compared.samples else ""
    trials = f" ({compared.trials:,} trials)" if compared.trials > compared.samples else ""
    count = len(compared.sides)
    # Single runs have ids of their own.
    side = "model" if compared.coverage["side"].to_list() == compared.coverage["model"].to_list() else "run"
    who = {1: f"one {side} has", 2: f"both {side}s have"}.get(count, f"all {count} {side}s have")
    samples = "sample" if compared.samples == 1 == compared.known else "samples"
    from_ = say_count(compared.samples, compared.clusters, compared.shared).partition(" from ")[2]
    return f"{compared.samples:,}{of} {samples}{trials}{from_ and f' from {from_}'} that {who}"


def say_customers(found: Customers | None) -> str:
    """Whether the customers said the same to all sides; "" where they did, as far as is stored."""
    if found is None or found.same == found.compared:
        return ""
    how = "had another script" if found.scripts == found.compared else "began with other words"
    return (
        f"The customers were not the same: in {found.compared - found.same:,} of {found.compared:,} conversations they "
        f"{how} for some model than for others. Differences are then partly the customers'."
    )


def say_changes(found: CorrectedRanking, many: str) -> str:
    """How much people's decisions change in a comparison; `many` is what its attempts are called."""
    one = found.decided == 1
    return (
        f"{_count(found.decided, 'decision')} of reviewers change{'s' if one else ''} the value of {found.values:,} "
        f"and the verdict of {found.verdicts:,} of these {many}."
    )


def name_some(names: Sequence[str]) -> str:
    """Names in a row, of many the first."""
    if len(names) > _MOST_NAMED + 1:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(n: int, one: str) -> str:
    return f"{n:,} {one}{'' if n == 1 else 's'}"
