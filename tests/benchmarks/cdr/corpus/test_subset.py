"""Some conversations of a dataset as a dataset of their own."""

import polars as pl
import pytest

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.corpus.subset import save_subset
from cxlab.errors import BadOption
from cxlab.records import Dataset, Sample
from cxlab.store import write
from tests.benchmarks.cdr.conftest import CORPUS, stored

__all__ = ["stored"]


def test_a_subset_holds_these_conversations_and_no_queries_of_the_whole(
    stored: tuple[Dataset, list[Sample]],
) -> None:
    made = save_subset(stored[0].id, "two", ["login", "late"], {"q": "late"})
    assert dict(load_corpus(made.id)) == {name: CORPUS[name] for name in ("late", "login")}
    assert write.load_samples(made.id) == []
    assert (made.derived_from, made.config["asked"], made.config["corpus"]) == (stored[0].id, {"q": "late"}, 2)
    assert save_subset(stored[0].id, "two", ["late", "login"], {}).id == made.id
    with pytest.raises(BadOption, match="one conversation"):
        save_subset(stored[0].id, "none", ["nobody"], {})


def test_samples_about_a_conversation_go_with_it(stored: tuple[Dataset, list[Sample]]) -> None:
    origin = stored[0].model_copy(update={"id": "toy-1", "benchmark": "toy"})
    samples = [
        Sample(id=f"s-{name}", dataset_id="toy-1", benchmark="toy", task="t", inputs={"conversation_id": name},
               expected={"label": name}, facets={})
        for name in CORPUS
    ]  # fmt: skip
    talks = write.load_table(stored[0].id, "conversations")
    write.save_dataset(origin, samples, tables={"conversations": talks, "articles": pl.DataFrame({"id": ["a"]})})
    made = save_subset("toy-1", "one", ["glad"], {})
    (kept,) = write.load_samples(made.id)
    assert (made.benchmark, kept.dataset_id, kept.expected, kept.id != "s-glad") == (
        "toy", made.id, {"label": "glad"}, True,
    )  # fmt: skip
    assert write.load_table(made.id, "articles").height == 1
