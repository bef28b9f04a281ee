"""Work that goes on: bars that follow it and stop asking when it has ended."""

from collections.abc import Callable, Sequence

import streamlit as st

from cxlab import read
from cxlab.charts.numbers import format_count, format_seconds, format_usd
from cxlab.read import Progress
from cxlab.ui.labels import describe_state, label, plain

_MOST_BARS = 3


def live_progress(
    runs: Callable[[], Sequence[str]],
    *,
    key: str,
    working: Callable[[], bool] | None = None,
    refresh: bool = False,
) -> None:
    """A bar a run that follows the work and stops asking when it has ended; then the page runs once more.

    `runs` gives the ids, which may become more while a job sets out. `working` says whether the work goes on (a job
    may have runs that wait for their turn); without it, a run whose state is running does. `refresh`: run the page
    again whenever new parts have come in (at most every 3 s), so that its numbers grow.
    """
    if _goes_on(runs, working):
        _poll(runs, key, working, refresh, read.version())
    else:
        _draw_all(runs())


def _goes_on(runs: Callable[[], Sequence[str]], working: Callable[[], bool] | None) -> bool:
    return working() if working else any(read.progress(run_id).live for run_id in runs())


@st.fragment(run_every=1.0)
def _poll(
    runs: Callable[[], Sequence[str]], key: str, working: Callable[[], bool] | None, refresh: bool, version: str
) -> None:
    ids = runs()
    if ids:
        _draw_all(ids)
    else:
        st.progress(0.0, text="Setting out")
    count = st.session_state[f"{key}-polls"] = st.session_state.get(f"{key}-polls", 0) + 1
    if not _goes_on(runs, working) or (refresh and count % 3 == 0 and read.version() != version):
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
    if rate and done < planned:
        words.append(f"about {format_seconds((planned - done) / rate)} left")
    st.progress(done / planned if planned else 0.0, text=plain(" · ".join(words)))
    with st.expander("Each model", type="compact"):
        for each in found:
            draw_progress(each)


def _say_faults(count: int, one: str, many: str = "") -> str:
    return f"{format_count(count)} {one if count == 1 else many or f'{one}s'}"


def draw_progress(progress: Progress) -> None:
    """One run's bar with its model, state, counts, time left and cost in words."""
    words = [describe_state(progress.state), f"{format_count(progress.done)} of {format_count(progress.planned)}"]
    if progress.provider:
        words.append(_say_faults(progress.provider, "provider fault"))
    if progress.format:
        words.append(_say_faults(progress.format, "unreadable reply", "unreadable replies"))
    if progress.live and progress.eta_s is not None:
        words.append(f"about {format_seconds(round(progress.eta_s))} left")
    if progress.cost_usd:
        words.append(format_usd(progress.cost_usd))
    elif progress.cost_usd is None and progress.done:
        words.append("cost unknown")
    st.progress(progress.share, text=f"{plain(label(progress.model))}: {plain(' · '.join(words))}")
    if progress.message and progress.state != "done":
        st.caption(plain(progress.message))
