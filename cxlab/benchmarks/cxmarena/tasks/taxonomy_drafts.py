"""The next version of a taxonomy while it is worked out: its changes with who made them, kept in the store's drafts.

One draft a dataset and taxonomy, for everybody who opens the store; it ends when it is frozen or discarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from cxlab.benchmarks.cxmarena.tasks.taxonomy_versions import Change, change, read_labels
from cxlab.errors import BadOption, BadStore
from cxlab.records import content_id
from cxlab.store import layout

_MOST = 1_000


class DraftChange(BaseModel):
    """A change with who made it, and when."""

    change: Change
    by: str
    made: datetime


class Draft(BaseModel):
    """The changes that wait to be frozen, and those that were discarded last, to be brought back."""

    changes: tuple[DraftChange, ...] = ()
    discarded: tuple[DraftChange, ...] = ()

    def list_changes(self) -> list[Change]:
        """The changes alone, in their order."""
        return [each.change for each in self.changes]


def read_draft(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> Draft:
    """The draft of a taxonomy, empty where there is none; BadStore where its file is damaged."""
    path = find_draft(dataset_id, taxonomy, home)
    try:
        return Draft.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Draft()
    except ValidationError:
        raise BadStore(f"the draft {path} is no draft of a taxonomy: discard it, or put the file right") from None


def find_draft(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> Path:
    """The file of a draft."""
    return layout.resolve_home(home) / "drafts" / f"taxonomy-{content_id(dataset_id, taxonomy)}.json"


def add_change(dataset_id: str, taxonomy: str, wanted: Change, by: str, home: Path | str | None = None) -> None:
    """Add a change to the draft; BadOption where it cannot be made of what the draft comes to by now."""
    with _changing(dataset_id, taxonomy, home) as path:
        draft = read_draft(dataset_id, taxonomy, home)
        if len(draft.changes) >= _MOST:
            raise BadOption(f"a draft holds {_MOST:,} changes at most: freeze it first")
        change(read_labels(dataset_id, taxonomy, home), [*draft.list_changes(), wanted])
        mine = DraftChange(change=wanted, by=by, made=datetime.now(UTC))
        _write(path, Draft(changes=(*draft.changes, mine)))


def undo_last(dataset_id: str, taxonomy: str, seen: int, home: Path | str | None = None) -> None:
    """Take the last of the `seen` changes back; BadOption where somebody has changed the draft since."""
    with _changing(dataset_id, taxonomy, home) as path:
        changes = read_draft(dataset_id, taxonomy, home).changes
        if len(changes) != seen:
            raise BadOption("somebody else has changed this draft meanwhile: look at it again")
        _write(path, Draft(changes=changes[:-1]))


def discard(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> None:
    """Empty the draft; what it held can be brought back until something else is changed. A damaged one is put aside."""
    with _changing(dataset_id, taxonomy, home) as path:
        try:
            _write(path, Draft(discarded=read_draft(dataset_id, taxonomy, home).changes))
        except BadStore:
            path.rename(path.with_suffix(".damaged"))


def bring_back(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> None:
    """Undo `discard`; nothing where something was changed since."""
    with _changing(dataset_id, taxonomy, home) as path:
        draft = read_draft(dataset_id, taxonomy, home)
        if draft.discarded and not draft.changes:
            _write(path, Draft(changes=draft.discarded))


def end(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> None:
    """Remove the draft: it was frozen."""
    with _changing(dataset_id, taxonomy, home) as path:
        path.unlink(missing_ok=True)


@contextmanager
def _changing(dataset_id: str, taxonomy: str, home: Path | str | None) -> Iterator[Path]:
    path = find_draft(dataset_id, taxonomy, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    with layout.lock(path.with_suffix(".lock"), 5.0, "somebody else is changing this draft: try again"):
        yield path


def _write(path: Path, draft: Draft) -> None:
    layout.write_whole(path, draft.model_dump_json(indent=1).encode())
