"""The sections of the page Judges: each draws one question about the panel from `read.judges`."""

import math
from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.charts import judges as draw
from cxlab.charts.numbers import format_count, format_points, format_ratio, format_share
from cxlab.charts.theme import short_model
from cxlab import read
from cxlab.read import View, judges
from cxlab.ui.address import cached, marks
from cxlab.ui.browse import go
from cxlab.ui.shell import dark
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.ui.words import label, plain, section

KINDS = {"field": "Fields", "dimension": "Grades"}
_MEASURES = {"agree": "Agreement, %", "kappa": "Kappa"}
_SLICES = {"scenario": "Scenario", "level": "Level", "turn": "Turn", "model": "Model"}
_SKEW = "Kappa and alpha fall when one label has nearly all votes, so read them beside the plain agreement."


def show_agreement(view: View, panel: Sequence[str]) -> None:
    """Who agrees with whom, on what, and how reliable that is."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = _pick("What is judged", KINDS, "judges-kind")
        measure = _pick("Shown", _MEASURES, "judges-measure")
    pairs = cached(_pairs, view, tuple(panel)).filter(pl.col("kind") == kind)
    if pairs.is_empty():
        st.info(f"No two judges have judged the same {KINDS[kind].lower()} under these filters.")
        return
    summary = judges.summarise(pairs, ("kind", "a", "b"))
    least = summary.sort("agree").row(0, named=True)
    weighted = "quadratically weighted kappa of 3, 6, 9" if kind == "dimension" else "Cohen's kappa"
    hardest = pairs.group_by("name").agg(pl.col("agree").mean()).sort("agree", "name").row(0, named=True)
    left, right = st.columns([4, 7], gap="large")
    with left:
        section(
            f"{plain(_two(least['a'], least['b'])).capitalize()} agree least: {format_share(least['agree'])}",
            f"{KINDS[kind]}, pooled by n over {least['fields']} of them; {weighted}. {_SKEW}",
        )
        picked = show_chart(
            draw.draw_agreement(summary, panel, measure, dark()),
            summary,
            key=f"judges-matrix-{kind}-{measure}",
            alt=f"Agreement of {len(panel)} judges with each other; {_two(least['a'], least['b'])} agree least.",
            columns=_pair_columns(),
            select=True,
        )
    with right:
        section(
            f"Hardest to agree on: {plain(draw.name_item(hardest['name']))}, {format_share(hardest['agree'])}",
            "The least agreed on top. Click a cell for its confusion and intervals.",
        )
        cell = show_chart(
            draw.draw_items(pairs, measure, dark()),
            pairs,
            key=f"judges-items-{kind}-{measure}",
            alt=f"Agreement by {KINDS[kind].lower()} and pair of judges; least on {draw.name_item(hardest['name'])}.",
            columns={"name": column("Field" if kind == "field" else "Grade"), **_pair_columns()},
            select=True,
        )
    name, a, b = hardest["name"], least["a"], least["b"]
    if cell:
        name, a, b = map(str, cell[0])
    elif picked:
        a, b = map(str, picked[0])
    elif view.field in set(pairs["name"]):
        name = view.field
    _show_pair(view, name, a, b)
    _show_reliability(view, panel, kind)
    _show_splits(view, panel, kind)


def _show_pair(view: View, name: str, a: str, b: str) -> None:
    found = cached(judges.pair, view, name, a, b)
    if found is None:
        return
    left, right = st.columns([6, 6], gap="large")
    with left:
        interval = f"95 % interval {format_share(found.share_low)} to {format_share(found.share_high)}"
        section(
            f"{plain(draw.name_item(name))}: {plain(_two(a, b))} agree on {format_share(found.share)}",
            f"{interval}; kappa {format_ratio(found.kappa)} ({format_ratio(found.kappa_low)} to "
            f"{format_ratio(found.kappa_high)}, bootstrap over samples); n {format_count(found.n)} turns.",
        )
        frame = pl.DataFrame(
            [
                (down, across, int(found.table[y][x]))
                for y, down in enumerate(found.labels)
                for x, across in enumerate(found.labels)
            ],
            schema={draw.name_judge(a): pl.String, draw.name_judge(b): pl.String, "n": pl.Int64},
            orient="row",
        )
        show_chart(
            draw.draw_confusion(found.labels, found.table, draw.name_judge(b), draw.name_judge(a), dark(), name),
            frame,
            key="judges-confusion",
            alt=f"What {draw.name_judge(a)} and {draw.name_judge(b)} said of {draw.name_item(name)}, as counts.",
        )
    with right:
        section("Where they part", "The commonest disagreements of these two on this field.")
        parted = frame.filter((pl.col(draw.name_judge(a)) != pl.col(draw.name_judge(b))) & (pl.col("n") > 0)).sort("n", descending=True).head(6)
        show_table(
            parted.with_columns(share=pl.col("n") / found.n),
            {
                draw.name_judge(a): column(f"{draw.name_judge(a)} says"),
                draw.name_judge(b): column(f"{draw.name_judge(b)} says"),
                "n": column("Turns", "count"),
                "share": column("Of all", "share"),
            },
            key="judges-parted",
            alt="The commonest disagreements of the two judges.",
            downloads=False,
        )
        if "." in name and st.button("See these disagreements one by one", key="judges-to-queue"):
            go(view.change(tab="queue", field=name))


def _show_reliability(view: View, panel: Sequence[str], kind: str) -> None:
    by = _pick("Sliced by", _SLICES, "judges-slice")
    frame = cached(_reliability, view, tuple(panel), by).filter(pl.col("kind") == kind)
    whole = cached(_reliability, view, tuple(panel), None).filter(pl.col("kind") == kind)
    if frame.is_empty():
        return
    low = frame.filter(pl.col("alpha").is_not_null()).sort("alpha")
    total = whole.row(0, named=True)
    names = {value: label(value).lstrip("0") if by == "turn" else label(value) for value in frame["slice"]}
    finding = f"Krippendorff's alpha {format_ratio(total['alpha'])} for {KINDS[kind].lower()}"
    if low.height > 1:
        finding += f"; lowest {format_ratio(low['alpha'][0])} at {'turn ' if by == 'turn' else ''}{names[low['slice'][0]]}"
    section(
        plain(finding),
        f"Agreement: of two judges at random. Alpha {'ordinal' if kind == 'dimension' else 'nominal'}, missing votes "
        f"allowed; Fleiss' kappa {format_ratio(total['fleiss'])} where all judged; by field, pooled by n = "
        f"{format_count(total['n'])} verdicts. {_SKEW}",
    )
    show_chart(
        draw.draw_reliability(frame, names, dark()),
        frame.drop("kind"),
        key=f"judges-reliability-{kind}-{by}",
        alt=f"Agreement and alpha by {by}.",
        columns={
            "slice": column(_SLICES[by]),
            "n": column("Verdicts", "count"),
            "agree": column("Agreement", "share", "Of two judges at random."),
            "unanimous": column("Unanimous", "share"),
            "fleiss": column("Fleiss' kappa", "ratio"),
            "alpha": column("Alpha", "ratio"),
        },
    )


def _show_splits(view: View, panel: Sequence[str], kind: str) -> None:
    frame = judges.splits(cached(judges.patterns, view, list(panel)), len(panel)).filter(pl.col("kind") == kind)
    together = frame.group_by("split").agg(pl.col("n").sum()).with_columns(share=pl.col("n") / pl.col("n").sum())
    share = dict(together.select("split", "share").iter_rows())
    section(
        f"{format_share(share.get('unanimous', 0.0))} of verdicts are unanimous, {format_share(share.get('tie', 0.0))} end in a tie",
        "A majority decides; a tie decides nothing, and a turn whose path needs that field is not scored. Votes outside "
        "the options never count. The most divided on top.",
    )
    show_chart(
        draw.draw_splits(frame, dark()),
        frame.drop("kind"),
        key=f"judges-splits-{kind}",
        alt="How votes fell, by field.",
        columns={"name": column("Field"), "split": column("Split"), "n": column("Turns", "count"), "share": column("Share", "share")},
    )
    table = cached(judges.panel, view)
    section("Votes that could not be used", "A failed reply loses all its verdicts; one outside the options loses itself.")
    show_table(
        table.with_columns(name=pl.col("judge").map_elements(label, return_dtype=pl.String)),
        {
            "name": column("Judge"),
            "turns": column("Votes", "count"),
            "failed": column("Failed replies", "count"),
            "verdicts": column("Verdicts", "count"),
            "oov": column("Outside the options", "count"),
            "missing": column("Missing", "count"),
            "latency_s": column("Time a vote", "seconds"),
            "cost_usd": column("Cost a vote", "usd"),
        },
        key="judges-panel",
        alt="Votes by judge, and how many could not be used.",
    )


def show_materiality(view: View, panel: Sequence[str]) -> None:
    """What splits change: the reference, and the score."""
    by = _pick("By", {"scenario": "Scenario", "level": "Level", "model": "Model", "turn": "Turn"}, "judges-material-by")
    whole = {row["measure"]: row for row in cached(judges.materiality, view).iter_rows(named=True)}
    if not whole:
        st.info(
            "These runs were scored before it was noted where each judge alone would lead. Score them again: "
            "`python -m cxlab score RUN --judges ...`"
        )
        return
    frame = cached(judges.materiality, view, by)
    way, action, reach = whole["way"], whole["action"], whole["range"]
    left, right = st.columns(2, gap="large")
    with left:
        section(
            f"On {format_share(way['mean'])} of turns the split changes the way that is right",
            f"Each judge's own fields through the rule engine: two lead different ways ({format_share(way['low'])} to "
            f"{format_share(way['high'])}), on {format_share(action['mean'])} to different actions. The turn's logic "
            f"score goes {format_points(reach['mean'])} points from judge to judge on average. n {format_count(way['n'])} turns.",
        )
        part = frame.filter(pl.col("measure") == "way").sort("mean", descending=True)
        picked = show_chart(
            draw.draw_means(part, "slice", {v: label(v) for v in part["slice"]}, dark(), unit="share", title="% of turns on which judges lead apart"),
            frame,
            key=f"judges-material-{by}",
            alt=f"Share of turns on which judges lead different ways, by {by}.",
            columns={"slice": column(by.capitalize()), "measure": column("Measure"), "n": column("Turns", "count"),
                     "mean": column("Mean", "ratio"), "low": column("Low", "ratio"), "high": column("High", "ratio")},
            select=True,
        )  # fmt: skip
        if picked and by in ("scenario", "level", "model"):
            go(view.change(tab="queue", **{f"{by}s": (str(picked[0][0]),)}))
    offsets = cached(judges.offsets, view)
    with right:
        far = offsets.sort(pl.col("mean").abs(), descending=True).row(0, named=True)
        section(
            f"{plain(draw.name_judge(far['judge'])).capitalize()} alone would move overall by {far['mean']:+.1f} points",
            "Overall if one judge alone were the panel, minus the panel's, turn by turn; 95 % intervals clustered by sample. "
            "Over turns that the panel and every judge alone can score.",
        )
        show_chart(
            draw.draw_means(offsets, "judge", _names(offsets["judge"]), dark(), unit="offset", title="points of overall"),
            offsets,
            key="judges-offsets",
            alt="How overall would move with one judge alone.",
            columns=_mean_columns("judge", "Judge"),
        )
    show_ranking(view)


def show_ranking(view: View) -> None:
    """Whether the order of models hangs on the judge."""
    scores = cached(judges.alone, view)
    if scores["model"].n_unique() < 2:
        return
    found = judges.stability(scores)
    moved = [judge for judge, tau in found.tau.items() if tau < 0.999]
    finding = (
        "Every judge alone ranks the models as the panel does"
        if not moved
        else f"{', '.join(map(draw.name_judge, moved)).capitalize()} alone would change the ranking"
    )
    taus = ", ".join(f"{draw.name_judge(judge)} {tau:.2f}" for judge, tau in found.tau.items())
    left, right = st.columns([8, 4], gap="large")
    with left:
        section(plain(finding), plain(f"Kendall's tau-b of each judge's ranking to the panel's: {taus}. Same turns for all."))
        show_chart(
            draw.draw_ranks(found.ranks, marks(), dark()),
            found.ranks.join(scores.select("judge", "model", "n", "low", "high"), on=["judge", "model"], how="left"),
            key="judges-ranks",
            alt=f"Ranks of the models by the panel and by each judge alone; {finding}.",
        )
    with right:
        section("Leave one judge out", "Rank by the mean of the judges, and the best and worst rank with one left out.")
        show_table(
            found.out.sort("rank").with_columns(name=pl.col("model").map_elements(label, return_dtype=pl.String)),
            {"name": column("Model"), "rank": column("Rank", "count"), "best": column("Best", "count"), "worst": column("Worst", "count")},
            key="judges-out",
            alt="Ranks with one judge left out.",
        )


def show_strictness(view: View) -> None:
    """Who grades strictly, who likes words, and who favours its own."""
    frame = cached(judges.severity, view)
    if frame.is_empty():
        st.info("No grades under these filters.")
        return
    strict, mild = frame.sort("mean").row(0, named=True), frame.sort("mean").row(-1, named=True)
    left, right = st.columns(2, gap="large")
    with left:
        section(
            f"{plain(draw.name_judge(strict['judge'])).capitalize()} grades {mild['mean'] - strict['mean']:.2f} lower than {plain(draw.name_judge(mild['judge']))}",
            "Mean offset from the panel's mean on the same grade, on the scale of 3 to 9; over grades that all judges gave.",
        )
        show_chart(
            draw.draw_means(frame.sort("mean"), "judge", _names(frame["judge"]), dark(), unit="offset", title="offset from the panel, scale 3 to 9"),
            frame,
            key="judges-severity",
            alt="Mean offset of each judge from the panel.",
            columns={**_mean_columns("judge", "Judge"), "grade": column("Mean grade", "ratio"), "three": column("3", "share"),
                     "six": column("6", "share"), "nine": column("9", "share"), "length": column("Correlation with length", "ratio")},
        )  # fmt: skip
    with right:
        wordy = frame.filter(pl.col("length").is_not_null()).sort("length", descending=True)
        finding = "How grades are spread"
        if wordy.height:
            finding = f"{draw.name_judge(wordy['judge'][0]).capitalize()} likes words most: correlation {wordy['length'][0]:.2f}"
        lengths = ", ".join(f"{draw.name_judge(j)} {r:.2f}" for j, r in wordy.select("judge", "length").iter_rows())
        section(plain(finding), plain(f"Share of 3, 6 and 9. Correlation of a turn's mean grade with the reply's number of words: {lengths or 'unknown'}."))
        show_chart(draw.draw_grades(frame, dark()), frame, key="judges-grades", alt="Share of grades by judge.")
    _show_favour(view)


def _show_favour(view: View) -> None:
    found = cached(judges.favour, view)
    if found is None:
        return
    raw = _pick("Shown", {"left": "What is left", "raw": "Mean grades"}, "judges-favour") == "raw"
    if math.isnan(found.difference):
        finding = "No judge is of a tested model's family"
        note = "Families: the vendor in front of the colon; each simulated model and endpoint is its own."
    else:
        finding = f"Family cells lie {found.difference:+.2f} above the rest, p = {found.p:.2f}"
        note = (
            "Family cells are outlined (here the wordy agent and the judge that likes words are made alike). p by reassigning "
            f"models to families; {len(found.models)} models allow no p below {1 / max(len(found.models), 1):.2f} for one family cell."
        )
    section(
        plain(finding),
        plain(f"Left after taking out how strict each judge is and how good each model: r − row − column + mean. {note}"),
    )
    frame = pl.DataFrame(
        [
            (judge, model, found.grades[y][x], found.residuals[y][x], int(found.n[y][x]), bool(found.own[y][x]))
            for y, judge in enumerate(found.judges)
            for x, model in enumerate(found.models)
        ],
        schema={"judge": pl.String, "model": pl.String, "grade": pl.Float64, "residual": pl.Float64, "n": pl.Int64, "family": pl.Boolean},
        orient="row",
    )
    values = found.grades if raw else found.residuals
    show_chart(
        draw.draw_favour(found.judges, found.models, values, found.grades, found.n, found.own, dark(), raw=raw),
        frame,
        key=f"judges-favour-{raw}",
        alt=f"Judges against models; {finding}.",
        columns={"judge": column("Judge"), "model": column("Model"), "grade": column("Mean grade", "ratio"),
                 "residual": column("Residual", "ratio"), "n": column("Grades", "count"), "family": column("Family", "flag")},
    )  # fmt: skip


def show_gold(view: View) -> None:
    """Judges against what the customer was made from."""
    frame = cached(judges.against_gold, view)
    if frame.is_empty():
        st.info("No last turns with known facts under these filters.")
        return
    pooled = (
        frame.group_by("judge").agg(share=(pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()).sort("share", descending=True)
    )
    order = ["panel", *[judge for judge in sorted(pooled["judge"]) if judge != "panel"]]
    best = pooled.row(0, named=True)
    said = ", ".join(f"{'the panel' if j == 'panel' else draw.name_judge(j)} {format_share(s)}" for j, s in pooled.select("judge", "share").iter_rows())
    left, right = st.columns([7, 5], gap="large")
    with left:
        name = "The panel" if best["judge"] == "panel" else draw.name_judge(best["judge"]).capitalize()
        section(
            f"{plain(name)} is right most often: {format_share(best['share'])}",
            plain(f"Right: {said}; n {format_count(best['n'])} fields each. On last turns, against the facts that the customer was "
            "made from; a fact that never came out counts against all alike. The hardest on top; click one for its confusion."),
        )  # fmt: skip
        picked = show_chart(
            draw.draw_gold(frame, order, dark()),
            frame,
            key="judges-gold",
            alt="Share of last turns that each judge read as the customer was made, by field.",
            columns={"name": column("Field"), **_mean_columns("judge", "Judge", share=True)},
            select=True,
        )
    hardest = frame.group_by("name").agg(pl.col("mean").mean()).sort("mean", "name")["name"][0]
    field = str(picked[0][0]) if picked else view.field if view.field in set(frame["name"]) else hardest
    with right:
        judge = st.selectbox("Judge", order, format_func=lambda j: "the panel" if j == "panel" else draw.name_judge(j), key="judges-gold-judge")
        part = cached(judges.gold_confusion, view, field).filter(pl.col("judge") == judge)
        labels = sorted({*part["gold"], *part["verdict"]})
        counts = {(gold, verdict): n for gold, verdict, n in part.select("gold", "verdict", "n").iter_rows()}
        table = [[counts.get((gold, verdict), 0) for verdict in labels] for gold in labels]
        who = "the panel" if judge == "panel" else draw.name_judge(judge)
        section(f"{plain(draw.name_item(field))}: what it was, and what {plain(who)} read")
        show_chart(
            draw.draw_confusion(labels, table, f"{who} read", "it was", dark(), field),
            part,
            key="judges-gold-confusion",
            alt=f"What {draw.name_item(field)} was, and what {who} read.",
        )


def show_retest(view: View) -> None:
    """Whether a judge says the same twice."""
    frame = cached(judges.retest, view)
    section(
        "Does a judge say the same twice?",
        "The same judge on the same replies in a run and in a later scoring of it; share of verdicts that stayed the same.",
    )
    if frame.is_empty():
        known = cached(read.facets, View()).filter(pl.col("name") == "runs")["value"].to_list()
        runs = view.runs or tuple(known) or ("RUN",)
        with st.container(border=True):
            st.markdown(
                "No judge has judged the same replies twice yet. Score a run again with its own judges; it costs the judges' "
                "calls only:"
            )
            st.code(f"python -m cxlab score {runs[0]}", language="bash")
        return
    for kind, words in KINDS.items():
        part = frame.filter(pl.col("kind") == kind)
        if part.height:
            st.caption(words)
            show_chart(
                draw.draw_means(part, "judge", _names(part["judge"]), dark(), unit="share", title="% of verdicts that stayed"),
                part,
                key=f"judges-retest-{kind}",
                alt=f"Share of {words.lower()} that a judge repeated.",
                columns=_mean_columns("judge", "Judge", share=True),
            )


def _pick(title: str, options: Mapping[str, str], key: str) -> str:
    return str(
        st.segmented_control(
            title, list(options), default=next(iter(options)), format_func=options.__getitem__, required=True, key=key,
            bind="query-params",
        )
    )  # fmt: skip


def _pairs(view: View, panel: tuple[str, ...]) -> pl.DataFrame:
    return judges.pairs(judges.patterns(view, panel), panel)


def _reliability(view: View, panel: tuple[str, ...], by: str | None) -> pl.DataFrame:
    return judges.reliability(judges.patterns(view, panel, by), len(panel))


def _two(a: str, b: str) -> str:
    return f"{draw.name_judge(a)} and {draw.name_judge(b)}"


def _names(found: pl.Series) -> dict[str, str]:
    return {judge: draw.name_judge(judge) + (" · simulated" if short_model(judge) != judge else "") for judge in found}


def _pair_columns() -> dict[str, object]:
    return {"a": column("Judge"), "b": column("and"), "n": column("Verdicts", "count"), "agree": column("Agreement", "share"),
            "kappa": column("Kappa", "ratio")}  # fmt: skip


def _mean_columns(name: str, title: str, share: bool = False) -> dict[str, object]:
    kind = "share" if share else "ratio"
    return {name: column(title), "n": column("n", "count"), "clusters": column("Samples", "count"), "mean": column("Mean", kind),
            "low": column("Low", kind), "high": column("High", kind)}  # type: ignore[arg-type]  # fmt: skip
