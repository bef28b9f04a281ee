"""A draft of a taxonomy outlives the window it was made in, says who changed what, and can be taken back."""

from pathlib import Path

import pytest

from cxlab.benchmarks.cxmarena.tasks import taxonomy_drafts as drafts
from cxlab.benchmarks.cxmarena.tasks.taxonomy_versions import Change
from cxlab.errors import BadOption, BadStore
from tests.stores.knowledge_base import DATASET, make_knowledge

WHERE = (DATASET, "A")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_knowledge(tmp_path, runs=False)
    return tmp_path


def test_a_draft_is_kept_with_who_and_ends_when_it_is_frozen(home: Path) -> None:
    assert drafts.read_draft(*WHERE) == drafts.Draft()
    merge = Change("merge", ("Return", "Late"), ("Delivery",))
    drafts.add_change(*WHERE, merge, "Ann")
    drafts.add_change(*WHERE, Change("rename", ("Delivery",), ("Parcel",)), "Bob")
    kept = drafts.read_draft(*WHERE)
    assert kept.list_changes() == [merge, Change("rename", ("Delivery",), ("Parcel",))]
    assert [each.by for each in kept.changes] == ["Ann", "Bob"]
    assert drafts.read_draft(DATASET, "B") == drafts.Draft()
    drafts.undo_last(*WHERE, 2)
    # Somebody who still saw both does not take a second one back.
    with pytest.raises(BadOption, match="meanwhile"):
        drafts.undo_last(*WHERE, 2)
    assert drafts.read_draft(*WHERE).list_changes() == [merge]
    drafts.end(*WHERE)
    assert drafts.read_draft(*WHERE) == drafts.Draft()


def test_what_was_discarded_comes_back_until_something_else_is_changed(home: Path) -> None:
    merge = Change("merge", ("Return", "Late"), ("Delivery",))
    drafts.add_change(*WHERE, merge, "Ann")
    drafts.discard(*WHERE)
    assert drafts.read_draft(*WHERE).changes == ()
    drafts.bring_back(*WHERE)
    assert drafts.read_draft(*WHERE).list_changes() == [merge]
    drafts.discard(*WHERE)
    drafts.add_change(*WHERE, Change("rename", ("Late",), ("Missing",)), "Bob")
    drafts.bring_back(*WHERE)
    assert [each.by for each in drafts.read_draft(*WHERE).changes] == ["Bob"]


def test_a_change_that_the_draft_no_longer_allows_is_refused(home: Path) -> None:
    drafts.add_change(*WHERE, Change("merge", ("Return", "Late"), ("Delivery",)), "Ann")
    with pytest.raises(BadOption, match="there is no label 'Late' any more"):
        drafts.add_change(*WHERE, Change("rename", ("Late",), ("Missing",)), "Bob")
    assert len(drafts.read_draft(*WHERE).changes) == 1


def test_a_damaged_draft_is_told_and_put_aside(home: Path) -> None:
    path = drafts.find_draft(*WHERE)
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"changes": [{"by": 3}]}')
    with pytest.raises(BadStore, match="no draft of a taxonomy"):
        drafts.read_draft(*WHERE)
    drafts.discard(*WHERE)
    assert drafts.read_draft(*WHERE) == drafts.Draft()
    assert path.with_suffix(".damaged").exists()
