"""What people wrote to attempts and turns: notes, tags and adjudications that are in force, newest last."""

from dataclasses import dataclass

import polars as pl

from cxlab.read.query import ask


@dataclass(frozen=True)
class Notes:
    """Of one attempt. `log` holds all that was written and is in force; `tags` the tags that are on it now."""

    log: pl.DataFrame
    tags: tuple[str, ...]


# A withdrawal names the annotation that it takes back; nothing is ever deleted.
_IN_FORCE = """SELECT * FROM annotations WHERE kind <> 'withdrawn'
    AND id NOT IN (SELECT value FROM annotations WHERE kind = 'withdrawn')"""


def notes(run_id: str, attempt_id: str) -> Notes:
    """Notes and tags of one attempt: columns id, created, author, kind, turn, judge, field, value."""
    log = ask(
        f"""SELECT id, created, author, kind, turn, judge, field, value FROM ({_IN_FORCE})
        WHERE run_id = $run AND attempt_id = $attempt ORDER BY created, id""",
        {"run": run_id, "attempt": attempt_id},
    )
    tags: dict[str, None] = {}
    for kind, value in log.select("kind", "value").iter_rows():
        if kind == "tag":
            tags[value] = None
        elif kind == "untag":
            tags.pop(value, None)
    return Notes(log, tuple(tags))


def adjudications(run_id: str = "", attempt_id: str = "", turn: int | None = None) -> pl.DataFrame:
    """What people decided: the latest decision in force on each field of a turn, of one turn or of all."""
    wanted = "true" if not run_id else "run_id = $run AND attempt_id = $attempt AND turn = $turn"
    params = {"run": run_id, "attempt": attempt_id, "turn": turn} if run_id else None
    return ask(
        f"""SELECT id, created, author, run_id, attempt_id, turn, field, value FROM ({_IN_FORCE})
        WHERE kind = 'adjudication' AND {wanted}
        QUALIFY row_number() OVER (PARTITION BY run_id, attempt_id, turn, field ORDER BY created DESC, id DESC) = 1
        ORDER BY created DESC, id DESC""",
        params,
    )


def known_tags() -> tuple[str, ...]:
    """Every tag that was ever given, commonest first."""
    found = ask("SELECT value FROM annotations WHERE kind = 'tag' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 50")
    return tuple(found["value"])
