"""What a choice between two sides stands on, in words and numbers: the same in the card that Compare opens with, in a
report, and on the command line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl

from cxlab.charts.names import begin
from cxlab.charts.numbers import (
    format_count,
    format_decimals,
    format_interval,
    format_points,
    format_rough,
    format_seconds,
    format_share,
    format_usd,
)
from cxlab.read.comparison.corrected import CorrectedRanking
from cxlab.read.comparison.decision import Decision, Slice
from cxlab.read.comparison.other_metrics import OtherLead, OtherMetric, PassCount
from cxlab.read.comparison.ranking import Ranking, gaps_from
from cxlab.read.comparison.words import (
    MOST_NEEDED,
    clusters_to_settle,
    name_some,
    samples_to_settle,
    say_changes,
    say_count,
    say_floors,
    say_leader,
    say_leaders,
    say_left,
    say_no_floors,
    say_repeats,
)
from cxlab.read.results.headlines import say_rule
from cxlab.records.benchmark_card import Declaration
from cxlab.records.decimals import write_decimals
from cxlab.records.metric_names import name_metric, within_sentence

_STAND_INS = "What stand-ins cost and take says nothing of real models."
_MOST_TOLD = 3


@dataclass(frozen=True)
class Figure:
    """One figure: what it is, its value, what stands behind it, and by which `rule` it counts, told on demand."""

    label: str
    value: str
    note: str
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.value}. {self.note} {self.rule}".rstrip()


def list_figures(
    about: Declaration, found: Ranking, told: Decision, sides: pl.DataFrame, title: str, name: Callable[[str], str],
    corrected: CorrectedRanking | None = None, repeat: bool = False,
) -> list[Figure]:  # fmt: skip
    """A decision's figures in the order in which they are asked for; `sides` as `ranking.describe_sides`, `title` the
    metric's. `corrected`: the ranking with people's decisions, told of beside the one as judged. `repeat`: the two are
    one model, of which nothing is to be settled and nowhere one to win."""
    rows = {row["side"]: row for row in sides.iter_rows(named=True)}
    pair = [{**rows[side], "name": name(side)} for side in (told.leader, told.rival)]
    one, many = about.card.unit
    return [
        _difference(found, told.leader, told.rival, told.gap, title, name),
        *([_correct(about, told, corrected, title, name)] if corrected else []),
        _pass_rates(about, found, told, name),
        *_prices(one, many, pair),
        *([] if repeat else [_power(found, told), _slices(about, told, name(told.rival))]),
        *_other_metrics(about, told, name),
    ]


def say_decision(
    scored: Sequence[Ranking], names: Mapping[str, str], repeat: bool = False, alone: str = ""
) -> str:  # fmt: skip
    """Who leads, over all tasks; no mean over tasks, whose figures are not to be compared. `repeat`: all are runs of
    one model under the same conditions. `alone`: which task it is of, where others were tried, too: one task is not the
    benchmark."""
    if not scored:
        return "Nothing has been scored that could be compared"

    def name(side: str) -> str:
        return names.get(side, side)

    if repeat:
        told = say_repeats(scored)
    else:
        told = say_leader(scored[0], name) if len(scored) == 1 else say_leaders(scored, name)
    return f"{alone} alone: {told}" if alone else begin(told)


def say_warnings(about: Declaration, scored: Sequence[Ranking], names: Mapping[str, str]) -> tuple[str, ...]:
    """What must stand beside a decision: constant agents that are as good, or that none has run."""
    told = say_floors(scored, lambda side: names.get(side, side)) or say_no_floors(scored, bool(about.floors))
    return (f"{told}.",) if told else ()


def say_metric(about: Declaration, found: Ranking) -> str:
    """By what a ranking judges, and what that is: "Judged by told: 0.4 fields + …"."""
    metric = found.task.metric
    meaning = about.card.metrics.get(metric, "no definition is noted").rstrip(".")
    return f"Judged by {name_metric(metric)}: {meaning}." + ("" if found.task.higher_is_better else " Less is better.")


def say_other_lead(each: OtherLead, name: Callable[[str], str]) -> str:
    """What the verdict is by another metric that may lead: "By overall: strong leads for sure, by 2.5 points"."""
    by = f"By {name_metric(each.metric)}:"
    if each.decided:
        return f"{by} {name(each.first)} leads for sure, by {format_points(each.by)} points"
    if not each.by:
        return f"{by} cannot tell yet, {name(each.first)} and {name(each.behind)} are level"
    far = f"{format_points(each.by)} points" if round(each.by, 1) else "less than 0.1 points"
    return f"{by} cannot tell yet, {name(each.first)} is first by {far}"


def say_zeros(about: Declaration, others: Sequence[OtherLead], name: Callable[[str], str]) -> str:
    """Who is not better for sure than the constant agent that a metric's 0 stands for, by intervals; "" where all are:
    "By skill, whose 0 is the best constant agent (worked out, not Floor): weak is below 0 for sure; whether eloquent is
    above 0 cannot be told
    yet". Such an agent is worked out, and is another one than those that ran."""
    told = []
    for each in others:
        parts = []
        if each.below:
            parts.append(f"{name_some([*map(name, each.below)])} {_are(each.below)} below 0 for sure")
        if each.near:
            parts.append(f"whether {name_some([*map(name, each.near)])} {_are(each.near)} above 0 cannot be told yet")
        if parts:
            constant = within_sentence(about.card.zeros[each.metric])
            ran = "".join(f", not {floor.title}" for floor in about.floors[:1])
            by = f"By {name_metric(each.metric)}, whose 0 is the {constant} (worked out{ran})"
            told.append(f"{by}: {'; '.join(parts)}")
    return ". ".join(told)


def _are(sides: Sequence[str]) -> str:
    return "is" if len(sides) == 1 else "are"


def _correct(
    about: Declaration, told: Decision, found: CorrectedRanking, title: str, name: Callable[[str], str]
) -> Figure:
    """The same two sides by the corrected means, the better one first."""
    ours, theirs = (side for side in found.ranking.table["side"] if side in (told.leader, told.rival))
    gaps = gaps_from(about, found.ranking, ours)
    gap = next(row for row in gaps.iter_rows(named=True) if row["side"] == theirs)
    each = _difference(found.ranking, ours, theirs, gap, title, name)
    return Figure(
        f"With reviewers' corrections: {each.label}",
        each.value,
        f"{say_changes(found, about.card.unit[1])} {each.note}",
    )


def _difference(
    found: Ranking, leader: str, rival: str, gap: Mapping[str, Any], title: str, name: Callable[[str], str]
) -> Figure:
    level = gap["difference"] is not None and round(gap["difference"], 1) == 0
    between = "level with" if level else "ahead of"
    label = f"{name(leader)} {between} {name(rival)}, {title}"
    if gap["difference"] is None:
        return Figure(label, "unknown", "The two share no sample.")
    sign = 1 if not found.task.higher_is_better else -1
    ends = sorted(sign * end for end in (gap["low"], gap["high"]) if end is not None)
    tied = gap["n"] and not gap["wins"] + gap["losses"]
    none = "All samples are tied: no difference to measure" if tied else "Too few samples for an interval"
    span = f"95 % interval {format_interval(*ends)}" if len(ends) == 2 else none
    count = say_count(gap["n"], gap["clusters"], found.compared.shared)
    exact = _say_unrounded(found, leader, rival, gap["difference"])
    corrected = f", corrected for {found.gaps.height} comparisons" if found.gaps.height > 1 else ""
    return Figure(
        label, f"{format_points(abs(gap['difference']))} points", f"{span}, paired on {count}{corrected}.{exact}"
    )


def _say_unrounded(found: Ranking, leader: str, rival: str, difference: float) -> str:
    """That a difference is of unrounded means, where the two as they are written differ by another last digit."""
    means = dict(zip(found.table["side"], found.table["value"], strict=True))
    if leader not in means or rival not in means:
        return ""
    ours, theirs, apart = (Decimal(write_decimals(each)) for each in (means[leader], means[rival], abs(difference)))
    if abs(ours - theirs) == apart:
        return ""
    return f" Of the unrounded means: {write_decimals(means[leader], '.2f')} and {write_decimals(means[rival], '.2f')}."


def _pass_rates(about: Declaration, found: Ranking, told: Decision, name: Callable[[str], str]) -> Figure:
    """How many attempts of each passed, and what passing is."""
    pair = [(name(side), told.passed[side]) for side in (told.leader, told.rival)]
    label = f"{about.card.unit[1].capitalize()} passed"
    if not any(each.known for _, each in pair):
        return Figure(label, "unknown", "None has a verdict.")
    value = " against ".join(f"{format_count(each.passed)} of {format_count(each.known)}" for _, each in pair)
    rates = "; ".join(_say_passed(who, each) for who, each in pair)
    rule = say_rule(about.card.task(found.task.id))
    return Figure(label, value, f"{rates}.", f"What passing is: {rule}" if rule else "")


def _say_passed(who: str, each: PassCount) -> str:
    if each.share is None:
        return f"{who} no verdict at all"
    span = "" if each.low is None or each.high is None else f" ({format_share(each.low)} to {format_share(each.high)})"
    left = f", {format_count(each.tried - each.known)} more got no verdict" if each.tried > each.known else ""
    return f"{who} {format_share(each.share)}{span}{left}"


def _prices(one: str, many: str, pair: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """What the two cost and take, told once where neither says anything, as with stand-ins."""
    if all(row[column] is None and row["simulated"] for row in pair for column in ("cost_usd", "latency_s")):
        return [Figure(f"Cost and time of one {one}", "not measured: stand-ins", _STAND_INS)]
    return [
        _price(f"Cost of one {one}", "cost_usd", format_usd, many, pair),
        _price(f"Time of one {one}", "latency_s", format_seconds, many, pair),
    ]


def _price(
    label: str, column: str, write: Callable[[float | None], str], many: str, pair: Sequence[Mapping[str, Any]]
) -> Figure:
    """What the leader and the rival cost or take. `pair`: of each its name, `simulated`, and the mean or None."""
    ours, theirs = (row[column] for row in pair)
    missing = [row for row in pair if row[column] is None]
    stand_ins = [row["name"] for row in missing if row["simulated"]]
    why = _STAND_INS if stand_ins else "Not every one is known."
    if len(missing) == 2:
        return Figure(label, "not measured" if stand_ins else "unknown", why if stand_ins else "None is known.")
    value = " against ".join("unknown" if row[column] is None else write(row[column]) for row in pair)
    who = f"{pair[0]['name']} against {pair[1]['name']}, means; judges left out."
    if missing:
        return Figure(label, value, f"{who} {why}")
    word = "more" if ours > theirs else "less"
    apart = f"{write(1000 * abs(ours - theirs))} {word} in 1,000 {many}" if ours != theirs else "The same for both"
    return Figure(label, value, f"{apart}. {who}")


def _power(found: Ranking, told: Decision) -> Figure:
    label, gap = "More samples to settle it", told.gap
    least = gap["detectable"]
    shared = found.compared.shared
    count = say_count(gap["n"], gap["clusters"], shared)
    finds = f"{count} find {format_points(least)} points or more in four cases out of five." if least else ""
    if told.decided and gap["clusters"] < told.least:
        few = (
            f"It rests on {gap['clusters']} independent samples, enough for a test of this one difference; slices, of "
            f"which {told.looked_at or 'many'} are tested at once, need {told.least} each."
        )
        return Figure(label, "none: settled, on few", f"{few} {finds}".rstrip())
    if told.decided:
        return Figure(label, "none: settled", finds)
    if gap["difference"] is None or least is None:
        why = "Too few samples" if gap["wins"] + gap["losses"] else "All samples are tied"
        return Figure(label, "unknown", f"{why}: nothing says how many would tell them apart.")
    more = samples_to_settle(gap)
    if more is None:
        return Figure(label, f"more than {format_count(MOST_NEEDED)}", f"{finds} The two may as well be equal.")
    if more == 0:
        many = f"a few more {shared.plural}" if shared is not None and gap["clusters"] < gap["n"] else "a few"
        return Figure(label, many, f"{finds} The difference is about at that limit.")
    wanted = ""
    if shared is not None and gap["clusters"] < gap["n"]:
        others = clusters_to_settle(gap, more)
        wanted = (
            f" and these samples come from {format_rough(others)} more {shared.name if others == 1 else shared.plural}"
        )
    return Figure(
        label,
        f"about {format_rough(more)}",
        f"If the difference stays as it is{wanted}{say_left(found.compared, more)}. {finds}",
    )


def _slices(about: Declaration, told: Decision, rival: str) -> Figure:
    label = f"Where {rival} wins"
    if not told.looked_at:
        return Figure(label, "not looked at", f"No facet has two values with {told.least} independent samples each.")
    many = f"1 slice has the {told.least} independent samples or more that a test needs"
    if told.looked_at > 1:
        # The chart of one facet tests fewer or more groups than these, and so has other intervals.
        many = (
            f"{told.looked_at} slices have the {told.least} independent samples or more that each needs where so many "
            f"are tested; intervals are corrected for all {told.looked_at}, in the chart by facet for its own"
        )
    if not told.slices:
        return Figure(label, "nowhere", f"{many}.")

    def say(place: int) -> str:
        each = told.slices[place]
        return f"{about.title(each.facet)}: {about.value(each.facet, each.value)}"

    first = told.slices[0]
    few = first.low is None or first.high is None
    span = " (too few of them differ for an interval)" if few else f" ({format_interval(first.low, first.high)})"
    by = f"by {format_points(first.by)} points{span} on {first.n:,} samples"
    if not first.sure:
        return Figure(label, "nowhere for sure", f"{many}. Among these it is furthest ahead in {say(0)}, {by}.")
    others = [say(place) for place, each in enumerate(told.slices) if place and each.sure]
    shown = ", ".join(others[: _MOST_TOLD - 1])
    more = f" Also in {shown}{' and others' if len(others) > _MOST_TOLD - 1 else ''}." if others else ""
    return Figure(label, say(0), f"For sure, {by}.{more} {many}.")


def list_named(slices: Sequence[Slice]) -> list[Slice]:
    """The slices that a decision's figures name: those that are sure, up to three, else the one furthest ahead."""
    return [each for each in slices if each.sure][:_MOST_TOLD] or list(slices[:1])


def _other_metrics(about: Declaration, told: Decision, name: Callable[[str], str]) -> list[Figure]:
    """Where the rival is better and where worse on other declared metrics: what is sure, else the largest."""
    rival, leader = name(told.rival), name(told.leader)
    better, worse = (f"Other metrics, {rival} {word}" for word in ("better", "worse"))
    looked_at = len(told.metrics)
    if not looked_at:
        return [Figure(better, "not looked at", "No other declared metric is scored for both.")]
    if looked_at == 1:
        many = "One other metric was looked at"
    else:
        many = f"{looked_at} other metrics were looked at; where there is an interval, it is corrected for all of them"
    figures = []
    for label, own in ((better, [each for each in told.metrics if each.by > 0]),
                       (worse, [each for each in told.metrics if each.by < 0])):  # fmt: skip
        sure = [each for each in own if each.sure]
        if sure:
            said = "; ".join(_say_metric(about, each) for each in sure[:_MOST_TOLD])
            more = f"; and {len(sure) - _MOST_TOLD} smaller ones" if len(sure) > _MOST_TOLD else ""
            figures.append(Figure(label, f"{len(sure)} for sure", f"{rival} against {leader}: {said}{more}."))
        elif seen := [each for each in own if format_points(each.theirs) != format_points(each.ours)]:
            figures.append(Figure(label, "none for sure", f"Largest: {_say_metric(about, seen[0])}."))
        elif own:
            figures.append(Figure(label, "none for sure", "None differs in the first decimal."))
        else:
            figures.append(Figure(label, "none", ""))
    last = figures[-1]
    return [*figures[:-1], Figure(last.label, last.value, f"{last.note} {many}.".lstrip())]


def _say_metric(about: Declaration, each: OtherMetric) -> str:
    """The rival's mean against the leader's and which is better: "action 88.6 against 91.1 (more is better, difference
    −7.8 to 2.9)"; of a scale that ends elsewhere than at 100 with its end, "warmth 4.3 against 6.8 of 10"."""
    scale = about.card.scale(each.metric)
    most = None if scale is None else max(scale)
    of = "" if most in (None, 100.0) else f" of {most:g}"
    sign = 1 if (each.theirs - each.ours) * each.by >= 0 else -1
    ends = sorted(sign * end for end in (each.low, each.high) if end is not None)
    better = "less is better" if each.metric in about.card.lower_is_better else "more is better"
    span = f"difference {format_interval(*ends)}" if len(ends) == 2 else "too few samples differ for an interval"
    theirs, ours = format_points(each.theirs), format_points(each.ours)
    if theirs == ours:
        theirs, ours = format_decimals(each.theirs, 2), format_decimals(each.ours, 2)
    means = f"{theirs} against {ours}{of}"
    return f"{name_metric(each.metric)} {means} ({better}, {span})"
