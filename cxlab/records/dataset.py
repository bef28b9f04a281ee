"""A dataset: what a set of samples is, where it is from and what may be done with it."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationInfo, model_validator

from cxlab.records.base import Record
from cxlab.records.versions import FILE_VERSION, Version

Derivation = Literal["samples", "conversations", "taxonomy", "task", "decisions", "labels", "import"]
"""How a dataset was made of another one: of some of its samples or conversations, with another taxonomy, for a task on
its conversations, with people's decisions, with labels for its conversations, or by importing its conversations."""


class Dataset(Record):
    """A set of samples; `id` is the hash of its content.

    `derived_from` is the dataset that it was made of, and `derivation` how. `redistributable`: whether its texts may be
    passed on; None where nobody said, so that the licence alone tells. `unlabelled`: nobody has said what is right, so
    nothing is expected of its samples.
    """

    version: Version = FILE_VERSION
    id: str
    benchmark: str
    name: str
    source: Literal["generated", "imported"]
    config: dict[str, Any]
    seed: int | None
    licence: str
    created: datetime
    derived_from: str | None = None
    derivation: Derivation | None = None
    redistributable: bool | None = None
    unlabelled: bool = False

    @model_validator(mode="after")
    def _lift_config(self, info: ValidationInfo) -> "Dataset":
        """Versions before the fourth kept what are fields now in `config`."""
        stored = self.version if "version" in self.model_fields_set else 1
        return self if info.mode != "json" or stored >= 4 else _lift_config(self)


# Key of an older config → how a dataset was made, and a part that its id then has.
_KEYS: dict[str, tuple[Derivation, str]] = {
    "samples_of": ("samples", "-samples-"),
    "set_of": ("conversations", "-set-"),
    "version_of": ("taxonomy", "-taxonomy-"),
    "conversations_of": ("task", ""),
    "revises": ("decisions", ""),
    "reference": ("labels", ""),
    "from_dataset": ("import", ""),
}


def _lift_config(dataset: Dataset) -> Dataset:
    config = dict(dataset.config)
    lifted: dict[str, Any] = {"config": config}
    for key, kept in dataset.config.items():
        how, part = _KEYS.get(key, (None, ""))
        if how is not None and isinstance(kept, str):
            del config[key]
            # A derived dataset inherited its origin's keys: its own came last, and its id may tell.
            if part in dataset.id:
                lifted |= {"derived_from": kept, "derivation": how}
    if "share" in config and (share := config.pop("share")) in (True, False):
        lifted["redistributable"] = share
    if "unlabelled" in config:
        lifted["unlabelled"] = config.pop("unlabelled") is True
    return dataset.model_copy(update=lifted)


def count_of(n: int, thing: str) -> str:
    """So many of a thing, as the name of a dataset tells it: "1 task", "1,200 dialogues"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"
