"""From a brand pack to articles and the refinement corpus: what is stated is in the ledger, gold is proven."""

from pathlib import Path

import pytest

from cxlab.benchmarks.cxmarena.brand import ledger, pack_files
from cxlab.benchmarks.cxmarena.knowledge import article_writer, refinement_corpus, topic_tree
from cxlab.benchmarks.generation import stages
from cxlab.llm import load
from cxlab.metrics import text_statistics


@pytest.mark.parametrize("name", pack_files.names())
def test_articles_state_the_ledger_and_nothing_else(name: str) -> None:
    pack = pack_files.load(name)
    made = ledger.make(pack, seed=1, models=topic_tree.plan(pack, 40))
    model = load("simulated:strong")
    topics = stages.finish(topic_tree.grow(made, model, 40, 1))
    written = stages.finish(article_writer.write_information(made, topics, model, 1))
    plans = article_writer.plan_issues(made, topics, 12, 1)
    written += stages.finish(article_writer.write_issues(made, plans, model, 1, first=41))
    assert len(topics) == 40
    assert len({article.id for article in written}) == len(written) == 52
    assert article_writer.check(written, made) == []
    assert text_statistics.near_duplicates([article.body for article in written]) == []
    again = stages.finish(article_writer.write_information(made, topics, model, 1))
    assert again == written[:40]
    corpus = stages.finish(refinement_corpus.make(written, made, model, 40, 1))
    assert refinement_corpus.check(corpus, made) == []
    assert corpus.contradictory
    assert corpus.similar


def test_a_stage_goes_on_where_it_stopped(tmp_path: Path) -> None:
    pack = pack_files.load("hearthwise")
    made = ledger.make(pack, seed=1, models=topic_tree.plan(pack, 30))
    model = load("simulated:strong")
    topics = stages.finish(topic_tree.grow(made, model, 30, 1))
    whole = stages.finish(article_writer.write_information(made, topics, model, 1))
    begun = article_writer.write_information(made, topics, model, 1, tmp_path)
    next(begun)
    next(begun)
    begun.close()
    # As a kill leaves it: some articles, the last one torn.
    (left,) = tmp_path.iterdir()
    left.write_bytes(left.read_bytes()[:20_000])
    assert stages.finish(article_writer.write_information(made, topics, model, 1, tmp_path)) == whole


def test_statistics_of_a_known_text() -> None:
    assert text_statistics.words("One, two; two THREE.") == ["one", "two", "two", "three"]
    assert text_statistics.mattr(["a", "b", "a", "b"], window=2) == 1.0
    assert text_statistics.mattr(["a", "a", "a", "a"], window=2) == 0.5


@pytest.mark.parametrize("name", pack_files.names())
def test_a_changed_value_is_another_and_stays_in_its_range(name: str) -> None:
    made = ledger.make(pack_files.load(name), 1, 6)
    rng = ledger.rng_for("changes")
    for fact in made.facts.values():
        spec = made.brand.draw(made.subjects[fact.subject].family, fact.property)
        value = refinement_corpus.change(made, fact, rng)
        assert value != fact.value
        if isinstance(value, float) and spec.range:
            low, high = spec.range
            assert min(low, float(fact.value)) <= value <= max(high, float(fact.value)), fact.id
