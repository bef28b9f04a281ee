"""What a person is shown, and the dataset that has their decisions."""

from collections.abc import Iterator

import pytest

from cxlab.benchmarks.cdr.benchmark import check
from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.relevance.labelling import TRAIL, LabelDecision, LabellingResult
from cxlab.benchmarks.cdr.relevance.queue import (
    QUERIES,
    PersonDecision,
    build_queries,
    has_trail,
    list_queue,
    revise,
)
from cxlab.errors import BadOption, UnknownName
from cxlab.store import home, write
from tests.benchmarks.cdr.conftest import AREAS, CORPUS
from tests.benchmarks.cdr.conftest import QUERIES as TEXTS

DECISIONS = [
    LabelDecision("q1", "late", "candidates", "reader", True),
    LabelDecision("q1", "late", "panel", "majority", True, 1.0),
    LabelDecision("q1", "glad", "candidates", "reader", None),
    LabelDecision("q1", "login", "classifier", "classifier", False, 0.87, "uncertain"),
    LabelDecision("q1", "login", "uncertain", "reader", False),
    LabelDecision("q1", "advice", "classifier", "classifier", False, 0.3),
    LabelDecision("q2", "login", "classifier", "classifier", True, 0.93),
    LabelDecision("q2", "login", "panel", "majority", True, 0.75),
    LabelDecision("q4", "late", "candidates", "reader", True),
    LabelDecision("q4", "late", "panel", "majority", None, 0.5),
]


@pytest.fixture
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("queue")))
        yield store_labelled()


def store_labelled() -> str:
    """A dataset with a trail in which each kind of pair is; its id."""
    found = LabellingResult(trail=DECISIONS)
    dataset, samples, tables = build(
        "Six talks, labelled", "generated", CORPUS, {q: TEXTS[q] for q in ("q1", "q2")},
        {"q1": {"late"}, "q2": {"login"}}, AREAS, config={"dropped": {"q4": "a tie"}}, licence="own work",
    )  # fmt: skip
    tables |= {TRAIL: found.to_frame(), QUERIES: build_queries(TEXTS, AREAS)}
    write.save_dataset(dataset, samples, tables=tables)
    return dataset.id


def test_what_is_sure_is_not_shown_and_each_other_pair_once(labelled: str) -> None:
    assert [(each.pair, each.kind, each.relevant) for each in list_queue(labelled)] == [
        (("q1", "glad"), "undecided", False),
        (("q2", "login"), "panel", True),
        (("q4", "late"), "panel", False),
        (("q1", "login"), "threshold", False),
    ]
    assert "panel by majority: cannot tell (0.50)" in list_queue(labelled)[2].told


def test_decisions_change_the_set_and_stand_in_its_trail(labelled: str) -> None:
    decisions = [
        PersonDecision("q1", "glad", "ada", True),
        PersonDecision("q2", "login", "ada", False),
        PersonDecision("q4", "late", "ada", True),
        PersonDecision("q1", "login", "ada", True),
        PersonDecision("q1", "login", "bob", False),
    ]
    made = revise(labelled, decisions)
    assert made.id != labelled
    samples = write.load_samples(made.id)
    found = {each.inputs["query_id"]: each.expected["conversations"] for each in samples if each.task == "turn"}
    assert found == {"q1": ["glad", "late"], "q4": ["late"]}, "a tie leaves a pair as it was"
    assert not [complaint for each in samples for complaint in check(each)]
    assert (made.derived_from, made.derivation) == (labelled, "decisions")
    assert made.config["dropped"] == {
        "q2": "people found no conversation that fits",
        "q3": "people found no conversation that fits",
    }
    assert {each.facets["area"] for each in samples} == {AREAS["q1"], AREAS["q4"]}
    trail = write.load_table(made.id, TRAIL)
    told = trail.filter(step="person").select("by", "fits").rows()
    assert told == [("ada", True), ("ada", False), ("ada", True), ("ada", True), ("bob", False)]
    assert trail.height == len(DECISIONS) + 5
    assert list_queue(made.id) == []


def test_what_cannot_be_decided_on_is_refused(labelled: str) -> None:
    with pytest.raises(BadOption, match="no decision"):
        revise(labelled, [])
    with pytest.raises(BadOption, match="no pair"):
        revise(labelled, [PersonDecision("q1", "nobody", "ada", True)])
    plain, samples, tables = build("Plain", "generated", CORPUS, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(plain, samples, tables=tables)
    assert not has_trail(plain.id)
    with pytest.raises(UnknownName):
        list_queue(plain.id)


def test_older_datasets_without_a_table_of_queries_have_those_of_their_samples(labelled: str) -> None:
    (home() / "datasets" / labelled / f"{QUERIES}.parquet").unlink()
    assert {each.query_id for each in list_queue(labelled)} == {"q1", "q2"}
