"""Another version of a taxonomy of intents: its labels renamed, merged, split or described anew, frozen as a dataset.

A frozen version is a dataset of its own beside the one it was made of: `run` names it, and every evaluation says by its
dataset which labels it chose from. Conversations keep what they are; their right label follows the changes. Of a label
that was split nobody knows yet which part is right, so its conversations are left out of the task, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from cxlab.errors import BadOption
from cxlab.records import Dataset, Sample, content_id
from cxlab.store import layout, write
from cxlab.store.sample_set import save_part

Action = Literal["rename", "merge", "split", "describe"]
_LONGEST = 120
_TABLE = "taxonomies"


@dataclass(frozen=True)
class Label:
    """A label as models give it ("Booking" or "Booking:Refund") and what it stands for."""

    name: str
    description: str = ""


@dataclass(frozen=True)
class Change:
    """One step from a version to the next: `labels` that it is about, `names` that they get, a `description`."""

    action: Action
    labels: tuple[str, ...]
    names: tuple[str, ...] = ()
    description: str = ""

    def describe(self) -> str:
        """ "merge Late, Lost into Missing" """
        old, new = ", ".join(self.labels), ", ".join(self.names)
        return {
            "rename": f"rename {old} to {new}",
            "merge": f"merge {old} into {new}",
            "split": f"split {old} into {new}",
            "describe": f"describe {old} anew",
        }[self.action]


@dataclass(frozen=True)
class Version:
    """The labels after some changes, and where each label of the origin went; one that was split has several."""

    labels: tuple[Label, ...]
    moved: dict[str, tuple[str, ...]]


def read_labels(dataset_id: str, taxonomy: str, home: Path | str | None = None) -> tuple[Label, ...]:
    """The labels of a dataset's taxonomy in their order; BadOption where it has none of that name."""
    folder = layout.dataset_folder(layout.resolve_home(home), dataset_id)
    rows: list[dict[str, Any]] = []
    if (folder / f"{_TABLE}.parquet").is_file():
        rows = write.load_table(dataset_id, _TABLE, home).filter(pl.col("taxonomy") == taxonomy).to_dicts()
    if not rows:
        raise BadOption(f"dataset {dataset_id} has no table of a taxonomy {taxonomy!r}, so there is nothing to change")
    return tuple(
        Label(f"{row['l1']}:{row['l2']}" if row["l2"] else row["l1"], row["description"] or "") for row in rows
    )


def change(labels: Sequence[Label], changes: Sequence[Change]) -> Version:
    """The version after these changes, one after the other; BadOption names what cannot be done, and why."""
    now = {label.name: label for label in labels}
    moved: dict[str, tuple[str, ...]] = {label.name: (label.name,) for label in labels}
    for each in changes:
        names = tuple(_clean(name) for name in each.names)
        _check(each, names, now)
        kept = [now[name].description for name in each.labels]
        texts = {
            "describe": {each.labels[0]: each.description},
            "rename": dict.fromkeys(names, each.description or kept[0]),
            "merge": dict.fromkeys(names, each.description or " / ".join(filter(None, kept))),
            "split": dict.fromkeys(names, each.description),
        }[each.action]
        # What comes stands where the first of what goes stood.
        order: dict[str, Label] = {}
        for name, label in now.items():
            if name == each.labels[0]:
                order |= {new: Label(new, text) for new, text in texts.items()}
            elif name not in each.labels:
                order[name] = label
        if each.action != "describe":
            gone = set(each.labels)
            moved = {
                old: tuple(dict.fromkeys(new for at in went for new in (names if at in gone else (at,))))
                for old, went in moved.items()
            }
        now = order
    return Version(tuple(now.values()), moved)


def _clean(name: str) -> str:
    text = " ".join(name.split())
    if not text or len(text) > _LONGEST or text == "Others":
        raise BadOption(f"{text[:40]!r} is no name for a label: take 1 to {_LONGEST} characters, other than Others")
    if text.count(":") > 1 or text.startswith(":") or text.endswith(":"):
        raise BadOption(f"label {text!r}: a colon parts the first level from the second, once")
    return text


def _check(each: Change, names: Sequence[str], now: dict[str, Label]) -> None:
    least, most = {"rename": (1, 1), "describe": (1, 1), "split": (1, 1), "merge": (2, len(now))}[each.action]
    unknown = [name for name in each.labels if name not in now]
    if unknown:
        raise BadOption(f"there is no label {unknown[0]!r} any more; known: {', '.join(list(now)[:8])}")
    if not least <= len(set(each.labels)) <= most:
        raise BadOption(f"to {each.action} takes {'two labels or more' if least == 2 else 'one label'}")
    wanted = {"rename": (1, 1), "merge": (1, 1), "split": (2, 20), "describe": (0, 0)}[each.action]
    if not wanted[0] <= len(names) <= wanted[1] or len(set(names)) != len(names):
        told = {"split": "two different new names or more, one a line", "describe": "no new name"}
        raise BadOption(f"to {each.action} takes {told.get(each.action, 'one new name')}")
    taken = set(names) & (now.keys() - set(each.labels))
    if taken:
        raise BadOption(f"there is a label {min(taken)!r} already; merge the two instead")


def freeze(
    dataset_id: str, taxonomy: str, name: str, changes: Sequence[Change], home: Path | str | None = None
) -> Dataset:
    """Store the version as a dataset: the origin with these labels and the right labels that follow from them.

    Samples whose right label is unknown after a split are left out (`config["left_out"]` of them). The same changes of
    the same taxonomy are the same dataset. BadOption where nothing is changed, or a change cannot be made.
    """
    if not changes:
        raise BadOption("nothing is changed, so there is no new version to freeze")
    origin = write.load_dataset(dataset_id, home)
    version = change(read_labels(dataset_id, taxonomy, home), changes)
    told = [each.describe() for each in changes]
    content = content_id(dataset_id, taxonomy, told, [vars(label) for label in version.labels])
    id = f"{origin.benchmark}-taxonomy-{content}"
    samples = [_follow(sample, taxonomy, version, id) for sample in write.load_samples(dataset_id, home)]
    kept = [sample for sample in samples if sample is not None]
    called = " ".join(name.split())[:_LONGEST] or f"{origin.name}, taxonomy {taxonomy} changed"
    config = {"taxonomy": taxonomy, "changes": told, "left_out": len(samples) - len(kept)}
    labels = _replace(write.load_table(dataset_id, _TABLE, home), taxonomy, version)
    return save_part(origin, id, "taxonomy", called, kept, config, home, tables={_TABLE: labels})


def _follow(sample: Sample, taxonomy: str, version: Version, id: str) -> Sample | None:
    """The sample in the new version; None where its right label is not known any more."""
    moved = sample.model_copy(update={"dataset_id": id})
    if sample.task != "intent" or sample.inputs.get("taxonomy") != taxonomy:
        return moved
    went = version.moved.get(str(sample.expected.get("label")), (str(sample.expected.get("label")),))
    if len(went) != 1:
        return None
    inputs = {key: value for key, value in sample.inputs.items() if key != "candidates"}
    expected = {**sample.expected, "label": went[0]}
    # Another list of labels to choose from is another question, also where the right one is the same.
    return moved.model_copy(update={"id": content_id(id, sample.id), "inputs": inputs, "expected": expected})


def _replace(table: pl.DataFrame, taxonomy: str, version: Version) -> pl.DataFrame:
    rows = [
        {"taxonomy": taxonomy, "l1": first, "l2": second or None, "description": label.description}
        for label in version.labels
        for first, _, second in [label.name.partition(":")]
    ]
    fresh = pl.DataFrame(rows, schema=dict.fromkeys(("taxonomy", "l1", "l2", "description"), pl.String))
    others = table.filter(pl.col("taxonomy") != taxonomy).select(fresh.columns)
    return pl.concat([others.cast(pl.String), fresh])
