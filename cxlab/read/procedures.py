"""The procedures of all benchmarks that declare some, as queries and pages ask for them."""

import json
from contextlib import suppress
from functools import lru_cache
from typing import Literal

from cxlab.errors import BadFile, UnknownName
from cxlab.records.procedure import Procedure, Procedures, declared


def ids() -> tuple[str, ...]:
    """The ids of all procedures."""
    return tuple(sorted({id for each in declared().values() for id in each.ids()}))


def find(id: str | None) -> Procedure | None:
    """The procedure of that id, None where there is none."""
    for each in declared().values() if id else ():
        with suppress(UnknownName):
            return each.load(id or "")
    return None


def get(id: str) -> Procedure:
    """The procedure of that id; UnknownName where there is none."""
    found = find(id)
    if found is None:
        raise UnknownName("procedure", id, ids())
    return found


def words() -> dict[str, str]:
    """What ids of fields, values and actions are called where the id does not say it."""
    return {id: words for each in declared().values() for id, words in each.words.items()}


def of(benchmark: str) -> Procedures | None:
    """What a benchmark declares of its procedures; None where it has none."""
    return declared().get(benchmark)


def facet_of(benchmark: str) -> str:
    """The facet that names the procedure in a benchmark's samples; "" where there are none."""
    return found.facet if (found := of(benchmark)) else ""


def reference_of(metric: str) -> str | None:
    """The column of traces `t` that a metric holds a turn against, as declared; None of other metrics."""
    columns = {"path": "t.reference_path", "action": "t.reference_action"}
    return next((columns[each.exact[metric]] for each in declared().values() if metric in each.exact), None)


def single_judge_metrics(of: Literal["way", "whole"]) -> dict[str, str]:
    """Benchmark → the metric that each judge alone gives: of the way that it leads, or the one that models are ranked
    by; of those benchmarks whose judges give any."""
    return {name: getattr(each.single_judge, of) for name, each in declared().items() if each.single_judge}


# SQL of these rows: benchmark, metric; with the parameters of `name_single_judge_metrics`.
SINGLE_JUDGE_METRICS = "SELECT unnest($judged::VARCHAR[]) AS benchmark, unnest($metrics::VARCHAR[]) AS metric"


def name_single_judge_metrics(of: Literal["way", "whole"]) -> dict[str, list[str]]:
    """The parameters of SINGLE_JUDGE_METRICS."""
    found = single_judge_metrics(of)
    return {"judged": list(found), "metrics": list(found.values())}


def procedure_facets(of: Literal["facet", "leaf", "level"] = "facet") -> tuple[str, ...]:
    """The facets that name the procedure, the way due through it, or how hard it is made; one a benchmark that does."""
    return tuple(filter(None, dict.fromkeys(getattr(each, of) for each in declared().values())))


def select_procedure(facet_list: str, of: Literal["facet", "leaf", "level"] = "facet") -> str:
    """SQL of the procedure that a row's facets name, or of the way due through it, or of how hard it is made; NULL
    where they name none."""
    found = [f"facet_of({facet_list}, '{name}')" for name in procedure_facets(of)]
    return f"coalesce({', '.join(found)})" if found else "NULL::VARCHAR"


def stage_fields() -> str:
    """JSON rows of procedure, stage and the fields that the stage asks for, in order; as their files are now.

    A file of a user's own that cannot be read is left out: what was scored by others is shown all the same.
    """
    found = []
    for id in ids():
        with suppress(BadFile):
            found.append(get(id))
    return _list_stage_fields(tuple(found))


@lru_cache(maxsize=4)
def _list_stage_fields(procedures: tuple[Procedure, ...]) -> str:
    rows: dict[tuple[str, str], list[str]] = {}
    for each in procedures:
        for edge in each.edges:
            fields = rows.setdefault((each.id, edge.source), [])
            fields += [field for branch in edge.branches for field, _ in branch.conditions if field not in fields]
    return json.dumps([{"scenario": id, "stage": stage, "fields": fields} for (id, stage), fields in rows.items()])
