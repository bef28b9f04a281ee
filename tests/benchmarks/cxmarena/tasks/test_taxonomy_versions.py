"""Versions of a taxonomy: what may be changed, where labels go, and what freezing keeps."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.evaluation import corpus
from cxlab.benchmarks.cxmarena.tasks.taxonomy_versions import Action, Change, Label, change, freeze, read_labels
from cxlab.benchmarks.scores import gold_check
from cxlab.errors import BadOption
from cxlab.store import write
from tests.stores.knowledge_base import DATASET, make_knowledge

LABELS = (Label("Repair", "broken"), Label("Return", "sent back"), Label("Late", "not there"))


def step(action: Action, labels: str, names: str = "", description: str = "") -> Change:
    return Change(action, tuple(labels.split()), tuple(names.split("|")) if names else (), description)


def test_each_change_leads_labels_on_and_keeps_the_order() -> None:
    found = change(
        LABELS,
        [
            step("rename", "Late", "Delivery:Late"),
            step("merge", "Return Repair", "Fault"),
            step("split", "Fault", "Fault:New|Fault:Old", "a fault"),
            step("describe", "Delivery:Late", description="a parcel is missing"),
        ],
    )
    assert [(each.name, each.description) for each in found.labels] == [
        ("Fault:New", "a fault"), ("Fault:Old", "a fault"), ("Delivery:Late", "a parcel is missing"),
    ]  # fmt: skip
    both = ("Fault:New", "Fault:Old")
    assert found.moved == {"Repair": both, "Return": both, "Late": ("Delivery:Late",)}
    merged = change(LABELS, [step("merge", "Repair Late", "Repair")])
    assert merged.labels == (Label("Repair", "broken / not there"), Label("Return", "sent back"))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (step("rename", "Gone", "New"), "no label 'Gone'"),
        (step("rename", "Late", "Return"), "already; merge"),
        (step("rename", "Late", "  "), "no name"),
        (step("rename", "Late", "Others"), "no name"),
        (step("rename", "Late", "x" * 121), "no name"),
        (step("rename", "Late", "a:b:c"), "a colon"),
        (step("rename", "Late", ":b"), "a colon"),
        (step("rename", "Late Return", "New"), "one label"),
        (step("merge", "Late", "New"), "two labels"),
        (step("merge", "Late Late", "New"), "two labels"),
        (step("split", "Late", "New"), "two different new names"),
        (step("split", "Late", "New|New"), "two different new names"),
        (step("describe", "Late", "New"), "no new name"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(wrong: Change, told: str) -> None:
    with pytest.raises(BadOption, match=told):
        change(LABELS, [wrong])


@given(
    st.lists(st.tuples(st.sampled_from(["rename", "merge", "split"]), st.integers(0, 9), st.integers(0, 9)), max_size=8)
)
def test_no_label_is_lost_or_there_twice(steps: list[tuple[Action, int, int]]) -> None:
    changes: list[Change] = []
    for number, (action, one, other) in enumerate(steps):
        names = [each.name for each in change(LABELS, changes).labels]
        chosen = tuple(
            dict.fromkeys([names[one % len(names)], names[other % len(names)]][: 2 if action == "merge" else 1])
        )
        if action == "merge" and len(chosen) < 2:
            continue
        new = (f"L{number}", f"M{number}") if action == "split" else (f"L{number}",)
        changes.append(Change(action, chosen, new))
    found = change(LABELS, changes)
    names = [each.name for each in found.labels]
    assert len(set(names)) == len(names)
    assert found.moved.keys() == {each.name for each in LABELS}
    assert {name for went in found.moved.values() for name in went} == set(names)


def test_a_frozen_version_is_a_dataset_whose_gold_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_knowledge(tmp_path, runs=False)
    before = {sample.id: sample for sample in write.load_samples(DATASET)}
    changes = [step("merge", "Return Late", "Delivery"), step("split", "Repair", "Mend|Replace")]
    made = freeze(DATASET, "A", "Second", changes)
    assert made.config["changes"] == ["merge Return, Late into Delivery", "split Repair into Mend, Replace"]
    kept = write.load_samples(made.id)
    intents = [sample for sample in kept if sample.task == "intent"]
    # Three of six conversations were repairs: nobody knows which part is right.
    assert [sample.expected["label"] for sample in intents] == ["Delivery"] * 3
    assert made.config["left_out"] == 3
    assert not {sample.id for sample in intents} & before.keys()
    assert {sample.id for sample in kept if sample.task != "intent"} == {
        id for id, sample in before.items() if sample.task != "intent"
    }
    assert [each.name for each in read_labels(made.id, "A")] == ["Mend", "Replace", "Delivery", "Never"]
    assert [each.label for each in corpus.candidates(made.id, {"taxonomy": "A"})] == [
        "Mend",
        "Replace",
        "Delivery",
        "Never",
    ]
    assert write.load_table(made.id, "taxonomies").filter(pl.col("taxonomy") == "B").height == 2
    assert write.load_table(made.id, "articles").equals(write.load_table(DATASET, "articles"))
    assert not any("label" in line for line in gold_check.check_dataset(made.id).describe())
    assert freeze(DATASET, "A", "Another name", changes).id == made.id
    for wrong in (lambda: freeze(DATASET, "A", "x", []), lambda: freeze(DATASET, "Z", "x", changes)):
        with pytest.raises(BadOption):
            wrong()
