"""Which runs the Persona lab's results are of: the usual ones, those taken for one, and those that are left out."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation import results
from cxlab.ui.labels import plain
from cxlab.views.persona.results import labels as terms

_MOST = 6
_LEVELS = {"persona": "the personas are", "exposure": "what the agent knows is told", "modality": "text and voice are"}


def pick_usual(runs: Sequence[str], about: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The largest run of each model on the data of most conversations, of equals the newest, with those by other ways
    to speak; what only judges anew is left out."""
    first = [run for run in runs if not about[run]["again"]] or list(runs)
    # A few conversations that somebody kept from the stage are newer than any run, and say little.
    sizes: dict[str, int] = {}
    for run in first:
        sizes[about[run]["dataset_id"]] = sizes.get(about[run]["dataset_id"], 0) + about[run]["conversations"]
    most = max(sizes, key=sizes.__getitem__)
    chosen: dict[str, list[str]] = {}
    for run in sorted(first, key=lambda run: -about[run]["conversations"]):
        mine = chosen.setdefault(about[run]["model"], [])
        if about[run]["dataset_id"] == most and not any(_overlap(about[run], about[other]) for other in mine):
            mine.append(run)
    return [run for runs in [runs for runs in chosen.values() if runs][:_MOST] for run in runs]


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs have conversations by the same way to speak."""
    return bool({*one["modalities"]} & {*other["modalities"]})


def put_together(picked: Sequence[str], about: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The runs as sides: those of one model on one dataset, each with a way to speak of its own, are one."""
    found: list[list[str]] = []
    for run in picked:
        row = about[run]
        for runs in found:
            first = about[runs[0]]
            alike = all(first[name] == row[name] for name in ("model", "dataset_id", "again"))
            if alike and not any(_overlap(row, about[other]) for other in runs):
                runs.append(run)
                break
        else:
            found.append([run])
    return found


def offer_others(known: pl.DataFrame, sides: Sequence[str]) -> None:
    """That runs of these models by other ways to speak are not picked, with the click that picks them."""
    about = {row["run_id"]: row for row in known.iter_rows(named=True)}
    stored = [run for key in sides for run in key.split(results.TOGETHER)]
    more: list[str] = []
    for key in sides:
        runs = key.split(results.TOGETHER)
        first = about[runs[0]]
        for run, row in about.items():
            alike = all(first[name] == row[name] for name in ("model", "dataset_id", "again"))
            if run not in (*stored, *more) and alike and not any(_overlap(row, about[each]) for each in runs):
                more.append(run)
    if more:
        words = sorted({word for run in more for word in about[run]["modalities"]})
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            many = f"{len(more)} run{'' if len(more) == 1 else 's'}"
            st.caption(plain(f"! {many} of these models by {' and '.join(words)} not picked."), width="content")
            if st.button("Pick them too", key="results-pick-others", type="tertiary"):
                st.query_params["of"] = [*stored, *more]
                st.rerun()


class LikeWithLike(NamedTuple):
    """On how many conversations the levels of a factor are compared, of how many in all; in words where it is not every
    one, for some terms were not played at every level."""

    kept: int
    every: int
    told: str

    @property
    def all(self) -> str:
        """What the row of all is called, above those of the levels."""
        return f"All {self.every:,}" + (f"<br>below: {self.kept:,} of them" if self.told else "")


def count_alike(sides: Sequence[str], by: str, only: Mapping[str, Any], prefix: str, metric: str) -> LikeWithLike:
    """On how many conversations of these runs the levels of `by` are compared."""
    kept, every = [], []
    for told in results.load(sides, prefix).values():
        own = results.narrow(told.cases, only)
        every += own
        kept += results.keep_alike(own, by)
    if len(kept) == len(every):
        return LikeWithLike(len(kept), len(every), "")
    held = [
        " and ".join(terms.name_level(name, level).lower() for level in left)
        for name in results.WITHIN[by]
        if len(left := sorted({str(getattr(one, name)) for one in kept}))
        < len({getattr(one, name) for one in every})
    ]  # fmt: skip
    where = f" ({'; '.join(held)})" if held else ""
    return LikeWithLike(
        len(kept),
        len(every),
        f"“All” is of all {len(every):,} conversations; {_LEVELS[by]} of the {len(kept):,}{where} that were played at "
        "every level" + (", but for what sets voice against text." if metric in results.BOTH_WAYS else "."),
    )
