"""The realism study's figures against hand-worked ones."""

from pathlib import Path

import pytest

from cxlab.views.conversations import queries_realism
from cxlab.views.conversations.queries_realism import StudyItem
from cxlab.views.conversations.realism import keep
from tests.stores.cxmarena_dataset import DATASET, make_dataset

REAL = "transcripts-people"
# Who said what of C_0 to C_3 of the generated, and of C_0 of the real ones.
SAID = {
    "AB": {"C_0": "real", "C_1": "real", "C_2": "fake", "C_3": "fake"},
    "CD": {"C_0": "real", "C_1": "fake", "C_2": "fake"},
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("realism")
    make_dataset(home, conversations=4, exchanges=1)
    make_dataset(home, REAL, conversations=2, exchanges=1, real=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        for rater, said in SAID.items():
            for conversation, verdict in said.items():
                keep(StudyItem(DATASET, conversation, ""), rater, verdict, ["repeats itself", "odd"])
        keep(StudyItem(REAL, "C_0", ""), "AB", "fake", ["odd"])
        keep(StudyItem(REAL, "C_0", ""), "AB", "real", ["changed my mind"])
    return home


@pytest.fixture(autouse=True)
def home(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(stored))


def test_shares_are_told_per_rater_and_kind() -> None:
    rated = queries_realism.ratings((DATASET, REAL))
    found = {(rater, kind): (n, real) for rater, kind, n, real, *_ in queries_realism.shares(rated).iter_rows()}
    assert found == {
        ("AB", "generated"): (4, 2),
        ("CD", "generated"): (3, 1),
        ("all raters", "generated"): (7, 3),
        ("AB", "real"): (1, 1),  # the later rating of the same conversation counts
    }


def test_agreement_is_over_what_both_have_judged() -> None:
    pairs, alpha = queries_realism.agreement(queries_realism.ratings((DATASET,)))
    (row,) = pairs.rows(named=True)
    # Both judged C_0 to C_2 and agree on two. By chance: real 2/3 x 1/3 + fake 1/3 x 2/3 = 4/9.
    assert (row["n"], row["agree"]) == (3, pytest.approx(2 / 3))
    assert row["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    # Krippendorff: 3 real and 3 fake in 3 pairs, one of them split: 1 - 5 * (2/2) / (3 * 3).
    assert alpha == pytest.approx(1 - 5 * 1 / 9)


def test_reasons_count_once_a_rating() -> None:
    found = queries_realism.reasons(queries_realism.ratings((DATASET, REAL)))
    counts = {(row["reason"], row["verdict"]): (row["n"], row["raters"]) for row in found.iter_rows(named=True)}
    assert counts["odd", "fake"] == (4, 2)
    assert counts["repeats itself", "real"] == (3, 2)
    assert counts["changed my mind", "real"] == (1, 1)


def test_the_order_is_the_same_for_all_and_hides_nothing_of_the_kind() -> None:
    study = queries_realism.items(DATASET, 5, (REAL,))
    assert sorted({each.kind for each in study}) == ["generated", "real"]
    assert len(study) == 6
    assert study == queries_realism.items(DATASET, 5, (REAL,))
    orders = {tuple(each.conversation_id for each in queries_realism.items(DATASET, seed)) for seed in range(6)}
    assert len(orders) > 1
    rated = queries_realism.ratings((DATASET, REAL))
    assert queries_realism.next_item(study, rated, "nobody") == study[0]
    left = queries_realism.next_item(study, rated, "AB")
    assert left == StudyItem(REAL, "C_1", "real")


def test_the_papers_shares_come_to_what_it_says() -> None:
    whole = queries_realism.published_shares().row(-1, named=True)
    assert (whole["n"], whole["real"], whole["share"]) == (1000, 560, 0.56)
