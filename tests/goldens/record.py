"""Record what the program computes now, compare it with what was recorded, or show an item in full.

    python -m tests.goldens.record                  write the goldens anew
    python -m tests.goldens.record --check          name each item that differs and is not listed in changes.toml
    python -m tests.goldens.record --show PATTERN   print the items in full, as they are now

An item is FILE/KEY#FIELD, for example `sage/weak/003.1/scores/all#overall`; in a pattern `*` stands for anything. To
see both sides of a difference, run --show here and in a `git worktree` of the commit that wrote the goldens.
"""

import argparse
import logging
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from tests.goldens import compare, store
from tests.goldens.values import Recorder


def record(workers: int = 1) -> Recorder:
    """Fill a store of its own and record it; changes this process for good, so it needs one of its own."""
    logging.disable(logging.WARNING)  # pages that run without a browser say so, once an element
    with tempfile.TemporaryDirectory(prefix="cxlab-goldens-") as folder:
        home = Path(folder).resolve() / "home"
        store.steady_process(home)
        from tests.goldens.rows import record_rows
        from tests.goldens.screens import record_screens
        from tests.made_once import share_between_commands

        share_between_commands()
        made, into = store.make(home, workers), Recorder(str(home))
        record_rows(made, into, home.parent / "exported")
        record_screens(made, into)
    return into


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.goldens.record", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare; exit code 1 if anything differs")
    parser.add_argument("--show", metavar="PATTERN", help="print these items in full")
    parser.add_argument("--to", type=Path, default=compare.HERE, help="the folder to write to")
    parser.add_argument("--workers", type=int, default=1, help="processes that make datasets and runs")
    given = parser.parse_args()
    found = record(given.workers)
    if given.show:
        shown = {item: text for item, text in found.full.items() if fnmatchcase(item, given.show)}
        for item, text in sorted(shown.items()):
            print(f"--- {item}\n{text}")
        return 0 if shown else 1
    given.to.mkdir(parents=True, exist_ok=True)
    if given.check:
        with tempfile.TemporaryDirectory() as folder:
            write(found, Path(folder))
            now = compare.read_items(Path(folder))
        before = compare.read_items(given.to)
        differing = {
            item: sides
            for file in sorted(before.keys() | now.keys())
            for item, sides in compare.compare(before.get(file, {}), now.get(file, {})).items()
        }
        left, unused = compare.split(differing, compare.read_changes())
        print("\n".join(filter(None, [compare.describe(left), *(f"listed, but nothing differs: {p}" for p in unused)])))
        return 1 if left or unused else 0
    write(found, given.to)
    return 0


def write(found: Recorder, folder: Path) -> None:
    """A file for each benchmark, one for exports, one for pages."""
    for file, rows in found.files.items():
        compare.write_rows(rows, folder / f"{file}.txt")


if __name__ == "__main__":
    sys.exit(main())
