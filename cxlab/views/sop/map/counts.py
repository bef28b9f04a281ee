"""The turns on a procedure's map, counted such that what leaves a stage is what came to it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from cxlab.records.procedure import Procedure
from cxlab.views.sop.map.layout import Step

Moves = Mapping[Step, Mapping[str, int]]
MOST_DETOURS = 6
"""Transitions that the procedure does not know get a line for the commonest only; the table has them all."""
FAINT = 0.008
"""A detour with less than this share of the busiest step gets no line: hairs hide the rest."""


@dataclass(frozen=True)
class MapCounts:
    """Turns by node and line of a map.

    `moved`: transition between nodes → followed, inserted, skipped → turns; `detours`: those drawn that the procedure
    does not know, commonest first. For a stage, came = (begun, of the first stage) + what its drawn lines bring +
    entered = what its drawn lines take + left; for an action, came = what its drawn lines bring + entered. `entered`
    and `left` have no line: they come from or go to where the map draws none, or begin or stop at the stage.
    """

    moved: Moves
    detours: tuple[Step, ...]
    came: Mapping[str, int]
    begun: int
    entered: Mapping[str, int]
    left: Mapping[str, int]

    @property
    def most(self) -> int:
        """Turns that took, or should have taken, the busiest transition."""
        return max((sum(kinds.values()) for kinds in self.moved.values()), default=0)


def made(kinds: Mapping[str, int]) -> int:
    """Turns that took a transition: all but those that only should have."""
    return sum(n for kind, n in kinds.items() if kind != "skipped")


def count_moves(procedure: Procedure, traffic: pl.DataFrame) -> dict[Step, dict[str, int]]:
    """Turns by transition between nodes and kind, over all models. `traffic`: source, target, kind, n."""
    moved: dict[Step, dict[str, int]] = {}
    for source, target, kind, n in traffic.select("source", "target", "kind", "n").iter_rows():
        kinds = moved.setdefault((procedure.node(source), procedure.node(target)), {})
        kinds[kind] = kinds.get(kind, 0) + n
    return moved


def count_map(
    procedure: Procedure, traffic: pl.DataFrame, nodes: Collection[str], most_detours: int = MOST_DETOURS
) -> MapCounts:
    """The turns of a map that has these nodes. `traffic`: source, target, kind, n."""
    moved = count_moves(procedure, traffic)
    known = procedure.steps()
    most = max((sum(kinds.values()) for kinds in moved.values()), default=0)
    away = sorted(
        (-made(kinds), step)
        for step, kinds in moved.items()
        if step not in known and step[0] != step[1] and {*step} <= {*nodes} and made(kinds) > FAINT * most
    )
    detours = tuple(step for _, step in away[:most_detours])
    drawn = known | {*detours}
    into, out = dict.fromkeys(nodes, 0), dict.fromkeys(nodes, 0)
    entered, left = dict.fromkeys(nodes, 0), dict.fromkeys(nodes, 0)
    for step, kinds in moved.items():
        for node, all_of, undrawn in ((step[0], out, left), (step[1], into, entered)):
            if node in all_of:
                all_of[node] += made(kinds)
                undrawn[node] += 0 if step in drawn else made(kinds)
    # A way that comes to a stage also leaves it, if only for no action; one that leaves without coming began there.
    came = {node: out[node] if node in procedure.stages else into[node] for node in nodes}
    for node in procedure.stages:
        if node in entered and node != procedure.start:
            entered[node] += came[node] - into[node]
    begun = came.get(procedure.start, 0) - into.get(procedure.start, 0)
    return MapCounts(moved, detours, came, begun, entered, left)
