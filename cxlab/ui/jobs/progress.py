"""Work that goes on: bars that follow it and stop asking when it has ended."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import streamlit as st

from cxlab import read
from cxlab.charts.numbers import format_count, format_elapsed, format_usd
from cxlab.read import RunProgress
from cxlab.ui.labels import describe_state, label, plain

_MOST_BARS = 3
# What is left is told from here on: the first attempts set out together, and say nothing of how fast others follow.
_LEAST_SHARE, _LEAST_DONE = 0.1, 10


def live_progress(
    runs: Callable[[], Sequence[str]],
    *,
    key: str,
    working: Callable[[], bool] | None = None,
    refresh: bool = False,
    since: datetime | None = None,
) -> None:
    """A bar a run that follows the work and stops asking when it has ended; then the page runs once more.

    `runs` gives the ids, which may become more while a job sets out. `working` says whether the work goes on (a job
    may have runs that wait for their turn); without it, a run whose state is running does. `refresh`: offer to run the
    page again once new parts have come in, of which its other figures do not know. `since`: when the work began, to be
    told how long it has gone on. Nothing but the bars is drawn anew meanwhile: the page stays as it is to be read.
    """
    if _goes_on(runs, working):
        _poll(runs, key, working, refresh, read.version(), since)
    else:
        _draw_all(runs())


def _goes_on(runs: Callable[[], Sequence[str]], working: Callable[[], bool] | None) -> bool:
    return working() if working else any(read.progress(run_id).live for run_id in runs())


@st.fragment(run_every=1.0)
def _poll(
    runs: Callable[[], Sequence[str]], key: str, working: Callable[[], bool] | None, refresh: bool, version: str,
    since: datetime | None,
) -> None:  # fmt: skip
    ids = runs()
    if ids:
        _draw_all(ids)
    else:
        st.progress(0.0, text="Setting out")
    if since is not None:
        st.caption(f"At work for {format_elapsed((datetime.now(UTC) - since).total_seconds())}.")
    asked = refresh and read.version() != version and st.button("Show what has come in", key=f"{key}-refresh")
    if asked or not _goes_on(runs, working):
        st.rerun()


def _draw_all(ids: Sequence[str]) -> None:
    """A bar a run; of many runs one bar for all, with each run's own folded away."""
    found = [read.progress(run_id) for run_id in ids]
    if len(found) <= _MOST_BARS:
        for each in found:
            draw_progress(each)
        return
    done, planned = sum(each.done for each in found), sum(each.planned for each in found)
    words = [f"{format_count(done)} of {format_count(planned)} dialogues of {len(found)} models"]
    rate = sum(each.rate_per_s for each in found if each.live)
    if any(each.live for each in found) and done < planned:
        words.append(_say_left((planned - done) / rate if rate else None, done, planned))
    st.progress(done / planned if planned else 0.0, text=plain(" · ".join(words)))
    with st.expander("Each model", type="compact"):
        for each in found:
            draw_progress(each)


def _say_left(seconds: float | None, done: int, planned: int) -> str:
    """How long work will still take, once that can be told."""
    if seconds is None or done < max(_LEAST_DONE, _LEAST_SHARE * planned):
        return "time left not known yet"
    return "less than 10 s left" if seconds < 10 else f"about {format_elapsed(round(seconds, -1))} left"


def _say_faults(count: int, one: str, many: str = "") -> str:
    return f"{format_count(count)} {one if count == 1 else many or f'{one}s'}"


def draw_progress(progress: RunProgress) -> None:
    """One run's bar with its model, state, counts, time left and cost in words."""
    state = "■ stopping: finishing what is under way" if progress.stopping else describe_state(progress.state)
    words = [state, f"{format_count(progress.done)} of {format_count(progress.planned)}"]
    if progress.provider:
        words.append(_say_faults(progress.provider, "provider fault"))
    if progress.format:
        words.append(_say_faults(progress.format, "unreadable reply", "unreadable replies"))
    if progress.live and not progress.stopping and progress.done < progress.planned:
        words.append(_say_left(progress.eta_s, progress.done, progress.planned))
    if progress.cost_usd:
        words.append(format_usd(progress.cost_usd))
    elif progress.cost_usd is None and progress.done:
        words.append("cost unknown")
    st.progress(progress.share, text=f"{plain(label(progress.model))}: {plain(' · '.join(words))}")
    if progress.message and not progress.stopping:
        st.caption(plain(progress.message))
