"""The page Judges: how often each judge is wrong about hand-overs under each version of the rule it is given."""

from collections.abc import Sequence
from functools import partial

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.charts.matrix import draw_confusion, name_judge
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, format_share
from cxlab.errors import CxError
from cxlab.read import View
from cxlab.ui.address import cached, open_page
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose_id, is_new
from cxlab.ui.jobs.job_panel import show_job
from cxlab.ui.labels import error, label, plain, say, section, show_code
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.escalation import queries
from cxlab.views.escalation.charts import draw_rates, draw_steps
from cxlab.views.escalation.judging_jobs import JudgingJobs
from cxlab.views.judges.judge_columns import judge_names

_BECAME = {"mended": "✓ towards the truth", "broken": "✕ away from it", "moved": "≠ wrong both times"}
_RATES = {
    "judge": column("Judge"),
    "version": column("Version", "count"),
    "n": column("Verdicts", "count"),
    "wrong_share": column("Wrong", "share"),
    "wrong_low": column("Low", "share"),
    "wrong_high": column("High", "share"),
    "alarm_share": column("False alarms", "share", "Of the conversations in which nobody was needed."),
    "alarm": column("Count", "count"),
    "miss_share": column("Misses", "share", "Of the conversations in which a person was needed."),
    "miss": column("Count", "count"),
    "confused": column("Confused", "count", "Right about the need, wrong about whether the customer was handed over."),
    "unread": column("Not read", "count", "Replies without one of the four options; in no rate."),
    "mcc": column("MCC", "ratio", "Matthews' correlation of needed or not with the truth; none for a constant."),
}  # fmt: skip


def _go_on(desk: JudgingJobs, job: str, runs: Sequence[str]) -> None:
    # A rejudging is resumed by asking the same again, whatever runs it had made: what is kept is not asked twice.
    desk.again(job)


def show_escalation(view: View, desk: JudgingJobs) -> None:
    """Rates, flips and the rules themselves."""
    for job in desk.jobs:
        show_job(partial(desk.look, job), desk.cancel, partial(_go_on, desk, job))
    known = {rule.question: rule for rule in rubric_versions.rules()}
    frame = queries.verdicts(view, tuple(known))
    if frame.is_empty():
        _show_nothing(view, desk)
    else:
        _show_rates(frame)
        _show_flips(frame)
    _show_rules(frame)
    _show_asking(view, frame, desk)


def _show_nothing(view: View, desk: JudgingJobs) -> None:
    runs = cached(queries.sources, view)
    with st.container(border=True):
        st.markdown(
            "Here you would see how often each judge is wrong about hand-overs, under each version of the rule that it "
            "is given: false alarms and misses apart, with what became of every verdict from one version to the next. "
            "The world knows the truth. No conversation under these filters was put to judges so yet."
        )
        if runs.is_empty():
            st.caption("It needs conversations of MM-tau-p² first:")
            show_code("python -m cxlab run mmtaup2 --model simulated:strong --limit 60")
            if st.button("Run MM-tau-p²", key="escalation-run", type="primary"):
                open_page("run", View())
            return
        chosen = runs["run_id"].to_list()[:8]
        if st.button("Ask judges under every version", key="escalation-first", type="primary", disabled=desk.busy):
            desk.ask(["rejudge", *chosen, "--quiet"])
        st.caption("or on the command line:")
        show_code(f"python -m cxlab rejudge {' '.join(chosen)}")


def _show_rates(frame: pl.DataFrame) -> None:
    rates = queries.rates(frame)
    baseline = queries.baseline(frame)
    last = rates.filter(pl.col("version") == rates["version"].max())
    first = rates.filter(pl.col("version") == rates["version"].min())
    pooled = [int(part["wrong"].sum()) / max(int(part["wrong_n"].sum()), 1) for part in (first, last)]
    floors = {} if baseline is None else {"by what happened": baseline.looking}
    versions = rates["version"].unique().sort().to_list()
    if len(versions) > 1:
        finding = f"From version {versions[0]} to {versions[-1]} wrong verdicts go from {format_share(pooled[0])} to "
        finding += format_share(pooled[1])
    else:
        finding = f"Under version {versions[0]}, {format_share(pooled[1])} of verdicts are wrong"
    floor_words = (
        ""
        if baseline is None
        else f"Who always says “{baseline.answer}” is wrong in {format_share(baseline.constant)}; who only looks "
        f"whether there was a hand-over (“{baseline.by_event[True]}”, else “{baseline.by_event[False]}”) in "
        f"{format_share(baseline.looking)}, the dashed line. "
    )
    section(
        plain(finding),
        plain(
            f"{format_count(baseline.n if baseline else 0)} conversations; the last version is filled. False alarm: a "
            f"need for a person seen where there was none; miss: not seen where there was one. {floor_words}Wilson's "
            "95 % intervals, of the effective number where a sample was played more than once."
        ),
    )
    picked = show_chart(
        draw_rates(rates, floors, dark()),
        rates,
        key="escalation-rates",
        alt=f"Wrong verdicts, false alarms and misses by judge and version of the rule. {finding}.",
        columns=_RATES,
        select=True,
    )
    names = judge_names(rates["judge"].unique().sort())
    keys = {f"{judge}~{version}": (judge, version) for judge, version in rates.select("judge", "version").iter_rows()}
    if is_new("escalation-rates", picked) and (key := f"{picked[0][0]}~{picked[0][1]}") in keys:
        st.query_params["escalation-verdicts"] = key
        st.rerun()
    _show_confusion(frame, rates, keys, names)


def _show_confusion(
    frame: pl.DataFrame, rates: pl.DataFrame, keys: dict[str, tuple[str, int]], names: dict[str, str]
) -> None:
    """What one judge said under one version against the truth, and the conversations it got wrong."""
    worst = rates.sort("version", "wrong_share", descending=[True, True], nulls_last=True).row(0, named=True)
    first = f"{worst['judge']}~{worst['version']}"
    options = [first, *(key for key in keys if key != first)]
    left, right = st.columns([5, 7], gap="large")
    with left:
        judge, version = keys[
            choose_id(
                "escalation-verdicts",
                "Verdicts of",
                options,
                lambda key: f"{names[keys[key][0]]}, version {keys[key][1]}",
            )
        ]
        part = queries.confusions(frame).filter((pl.col("judge") == judge) & (pl.col("version") == version))
        counts = {(truth, said): n for truth, said, n in part.select("truth", "said", "n").iter_rows()}
        labels = [name for name in queries.OPTIONS if any(name in pair for pair in counts)]
        show_chart(
            draw_confusion(
                labels,
                [[counts.get((a, b), 0) for b in labels] for a in labels],
                f"{name_judge(judge)} says",
                "it was",
                dark(),
            ),
            part,
            key="escalation-confusion",
            alt=f"What the hand-overs were, and what {name_judge(judge)} says under version {version}.",
        )
    mine = queries.mark(frame).filter(
        (pl.col("judge") == judge) & (pl.col("version") == version) & pl.col("wrong").fill_null(False)
    )
    with right:
        section(
            plain(f"{format_count(mine.height)} conversations on which {name_judge(judge)} is wrong"),
            "Pick one to open it." if mine.height else "",
        )
        if mine.height:
            _open(
                mine.with_columns(
                    kind=pl.when("alarm").then(pl.lit("false alarm")).when("miss").then(pl.lit("miss")).otherwise(
                        pl.lit("confused")
                    )
                ),
                {"kind": column("Error"), "said": column("Says"), "truth": column("It was")},
                f"escalation-wrong-{judge}-{version}",
            )  # fmt: skip
            first_row = mine.row(0, named=True)
            with st.expander("What the judge gave as reasons for the first of them", type="compact"):
                say(queries.reason(first_row["patch"], first_row["judged"], judge) or "No reason was given.")


def _show_flips(frame: pl.DataFrame) -> None:
    versions = sorted(frame["version"].unique())
    if len(versions) < 2:
        return
    _show_steps(queries.steps(frame))
    judges = ["all", *sorted(frame["judge"].unique())]
    names = {"all": "all judges", **judge_names(pl.Series(judges[1:]))}
    pairs = [f"{a}~{b}" for place, a in enumerate(versions) for b in versions[place + 1 :]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        of = choose_id("flips-of", "From version to version", pairs, lambda pair: pair.replace("~", " → "))
        by = choose_id("flips-by", "Judge", judges, names.__getitem__)
    _list_flips(frame, of, by)


def _show_steps(steps: pl.DataFrame) -> None:
    """What became of verdicts from one version to the next, by judge; a step that is picked is chosen below."""
    real = steps.filter(pl.col("p_holm") < 0.05)
    better = real.filter(pl.col("mended") > pl.col("broken")).height
    section(
        f"{better} of {steps.height} steps are real improvements, {real.height - better} real losses",
        "What became of each verdict from one version to the next; only conversations that could be read under both. "
        "McNemar's exact test of mended against broken samples, corrected by Holm over all steps shown; real: p below "
        "0.05.",
    )
    picked = show_chart(
        draw_steps(steps, dark()),
        steps,
        key="escalation-steps",
        alt="Verdicts mended and broken from version to version, by judge.",
        columns={
            "judge": column("Judge"),
            "before": column("From", "count"),
            "after": column("To", "count"),
            "n": column("Conversations", "count"),
            "kept": column("Stayed", "count"),
            "mended": column("Mended", "count"),
            "broken": column("Broken", "count"),
            "moved": column("Wrong both times", "count"),
            "p": column("p", "p"),
            "p_holm": column("p, corrected", "p"),
        },
        select=True,
    )
    if is_new("escalation-steps", picked):
        judge, before, after = picked[0]
        st.query_params.update({"flips-by": str(judge), "flips-of": f"{before}~{after}"})
        st.rerun()


def _list_flips(frame: pl.DataFrame, of: str, by: str) -> None:
    """The verdicts that changed between two versions, of one judge or of all."""
    before, after = map(int, of.split("~"))
    flips = queries.flips(frame, before, after)
    if by != "all":
        flips = flips.filter(pl.col("judge") == by)
    if flips.is_empty():
        st.info("No verdict changed between these versions.")
        return
    counts = ", ".join(
        f"{format_count(n)} {_BECAME[became][2:]}"
        for became in _BECAME
        if (n := int((flips["became"] == became).sum()))
    )
    st.caption(plain(f"{format_count(flips.height)} verdicts changed: {counts}. Pick one to open its conversation."))
    _open(
        flips.with_columns(
            turned=pl.col("became").replace(_BECAME),
            by=name_each(flips["judge"], name_judge),
        ),
        {
            "turned": column("Change"),
            "by": column("Judge"),
            "was": column(f"Version {before}"),
            "now": column(f"Version {after}"),
            "truth": column("It was"),
        },
        f"escalation-flips-{of}-{by}",
    )


def _open(rows: pl.DataFrame, first: dict[str, object], key: str) -> None:
    """A table of verdicts of which one opens its conversation."""
    chosen = show_table(
        rows.with_columns(who=name_each(rows["model"], label)),
        {
            **first,
            "who": column("Model"),
            "scenario": column("Domain"),
            "persona": column("Persona"),
            "modality": column("Modality"),
            "attempt_id": column("Conversation", "id"),
        },
        key=key,
        alt="Verdicts with their conversations.",
        select="single",
        search=True,
        height=300,
    )
    if chosen:
        target = View(attempt=f"{chosen[0]['source']}/{chosen[0]['attempt_id']}", turn=int(chosen[0]["turn"]))
        open_page("failures", target)


def _show_rules(frame: pl.DataFrame) -> None:
    section("The rule, version by version", "What judges read of when handing over counts, and why it was changed.")
    asked = dict(frame.group_by("question").len().iter_rows())
    for rule in reversed(rubric_versions.rules()):
        told = format_count(asked.get(rule.question, 0))
        with st.expander(f"Version {rule.version} · {told} verdicts", expanded=rule is rubric_versions.rules()[-1]):
            st.caption("What was found wrong before")
            say(rule.found)
            for domain, text in rule.domains.items():
                st.caption(f"The rule in {plain(domain)}")
                say(text)
            st.caption("The rule elsewhere" if rule.domains else "The rule")
            say(rule.rule)
    older = [
        one
        for one in cached(queries.questions)
        if one.question not in {rule.question for rule in rubric_versions.rules()}
    ]
    if older:
        with st.expander(f"{len(older)} earlier texts, whose verdicts are kept but not shown", type="compact"):
            for one in older:
                st.caption(f"Was version {one.version}")
                say(one.rule)


def _show_asking(view: View, frame: pl.DataFrame, desk: JudgingJobs) -> None:
    """A new version, and judges for what is not asked yet."""
    left, right = st.columns(2, gap="large")
    with left, st.form("escalation-new", clear_on_submit=True):
        st.markdown("**Write a new version**")
        found = st.text_area("What is wrong with the last one", key="escalation-found", max_chars=2000, height=80)
        text = st.text_area("The rule, as judges shall read it", key="escalation-rule", max_chars=4000, height=140)
        st.caption(f"It is kept in {plain(str(rubric_versions.own_file()))}, which can be edited by hand as well.")
        if st.form_submit_button("Add this version"):
            try:
                rubric_versions.add(text, found)
            except CxError as mistake:
                error(str(mistake))
            else:
                st.rerun()
    runs = cached(queries.sources, view)
    with right, st.container(border=True):
        st.markdown("**Ask judges**")
        if runs.is_empty():
            st.caption("There is no run of MM-tau-p² under these filters.")
            return
        models = dict(runs.select("run_id", "model").iter_rows())
        sizes = dict(runs.select("run_id", "n").iter_rows())
        default = [run for run in models if run in set(frame["source"])] or list(models)[:4]
        chosen = st.multiselect(
            "Conversations of",
            list(models),
            default,
            format_func=lambda run: f"{label(models[run])} ({format_count(sizes[run])}) {run[-8:]}",
            key="escalation-runs",
        )
        before = sorted({*frame["judge"], *(judge for panel in runs["judges"] for judge in panel)})
        judges = st.multiselect(
            "Judges", sorted({*before, *desk.judges}), before[:6], key="escalation-judges", accept_new_options=True,
            help="Real ones read the same prompts.",
        )  # fmt: skip
        tip = "USD that each run of questions may spend before it stops cleanly; it can be resumed."
        budget = st.number_input("Budget", 0.01, value=None, key="escalation-budget", placeholder="none", help=tip)
        arguments = ["rejudge", *chosen, *(f"--judge={judge}" for judge in judges)]
        arguments += [f"--budget={budget:g}"] if budget else []
        every = sum(sizes[run] for run in chosen) * len(judges) * len(rubric_versions.rules())
        kept = frame.filter(pl.col("source").is_in(chosen) & pl.col("judge").is_in(judges)).height
        st.caption(
            f"One question a conversation, judge and version: {format_count(kept)} of {format_count(every)} are kept, "
            "and only the rest is asked."
        )
        off = not chosen or not judges or desk.busy
        if st.button("Ask", key="escalation-ask", type="primary", disabled=off):
            desk.ask([*arguments, "--quiet"])
        show_code(f"python -m cxlab {' '.join(arguments)}")
