"""The rows under a world, against plain dicts that are copied whole."""

import copy
from random import Random
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2.worlds.database import Database


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_plain_dicts_copied_whole_would_be(seed: int) -> None:
    """Edits, additions, checkpoints, rollbacks and copies in any order; hashes agree exactly when the rows do."""
    rng = Random(seed)
    ground: dict[str, dict[str, Any]] = {"a": {str(n): {"n": n, "deep": {"list": [n]}} for n in range(4)}, "b": {}}
    kept = copy.deepcopy(ground)
    pairs: list[tuple[Database, dict[str, Any], dict[str, Any]]] = [
        (Database(ground), copy.deepcopy(ground), copy.deepcopy(ground))
    ]
    for _ in range(250):
        place = rng.randrange(len(pairs))
        database, rows, saved = pairs[place]
        table, name = rng.choice("ab"), str(rng.randrange(6))
        match rng.randrange(7):
            case 0 | 1 if name in rows[table]:
                value = rng.randrange(3)
                for row in (database.edit(table, name), rows[table][name]):
                    row["deep"]["list"].append(value)
                    row["n"] = value
            case 2:
                row = {"n": rng.randrange(3), "deep": {"list": []}}
                database.add(table, name, row)
                rows[table][name] = copy.deepcopy(row)
                row["n"] = "changed after it was added"
            case 3:
                database.checkpoint()
                pairs[place] = (database, rows, copy.deepcopy(rows))
            case 4:
                database.rollback()
                pairs[place] = (database, copy.deepcopy(saved), saved)
            case 5 if len(pairs) < 4:
                database.checkpoint()
                pairs[place] = (database, rows, copy.deepcopy(rows))
                pairs.append((database.copy(), copy.deepcopy(rows), copy.deepcopy(rows)))
            case 6 if name not in rows[table]:
                with pytest.raises(KeyError):
                    database.edit(table, name)
        for database, rows, _ in pairs:
            assert database.dump() == rows
            assert database.hash() == Database(copy.deepcopy(rows)).hash()
            assert {table: dict(database.rows(table)) for table in "ab"} == rows
            changed = {(t, n) for t in "ab" for n, row in rows[t].items() if kept[t].get(n) != row}
            assert set(database.changes()) == changed
        hashes = [database.hash() for database, _, _ in pairs]
        for one, (_, left, _) in zip(hashes, pairs, strict=True):
            for other, (_, right, _) in zip(hashes, pairs, strict=True):
                assert (one == other) == (left == right)
    assert ground == kept
    assert pairs[0][0].fresh().dump() == kept


def test_a_row_counts_with_its_table_and_its_id() -> None:
    row = {"n": 1}
    states = [{"a": {"1": row}}, {"a": {"2": row}}, {"b": {"1": row}}, {"a": {}}, {"a": {"1": {"n": 1.5}}}]
    assert len({Database(each).hash() for each in states}) == len(states)
    assert Database({"a": {"1": {"n": 1, "m": 2}}}).hash() == Database({"a": {"1": {"m": 2, "n": 1}}}).hash()
