"""Embedders of optional packages, with tiny ones in their place: what a model is handed, what is said without."""

import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cxlab import retrieval
from cxlab.errors import BadOption, NotConfigured, UnknownName
from cxlab.retrieval.embedders import embeddings, local_embedders, minilm
from cxlab.retrieval.embedders.embedder import embed_queries
from cxlab.retrieval.embedders.embeddings import known_embedders, load_embedder
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder

TEXTS = ["Wo ist mein Paket?", "Das Paket liegt im Depot.", "Die Rechnung ist bezahlt."]


class Tokenizer:
    """Notes where texts are cut."""

    cut = 512

    def enable_truncation(self, length: int) -> None:
        self.cut = length


class Unreadable(Exception):
    """As onnxruntime raises for weights that it cannot read: of a class of its own."""

    __module__ = "onnxruntime.capi.onnxruntime_pybind11_state"


class Model:
    """Counts letters; notes what it was handed."""

    handed: list[str]
    prompts: dict[str, str]

    added: dict[str, dict[str, Any]]

    def __init__(self, model_name: str, threads: int | None = None, specific_model_path: str | None = None) -> None:
        if model_name == "nobody/nothing" or (specific_model_path and model_name not in self.added):
            raise ValueError("Model nobody/nothing is not supported\nand a long list")
        if specific_model_path and "damaged" in specific_model_path:
            raise Unreadable("Protobuf parsing failed.")
        self.model = types.SimpleNamespace(tokenizer=Tokenizer())
        self.handed, self.prompts = [], {"query": "frage: ", "document": ""} if "own" in model_name else {}

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        return [{"model": name} for name in cls.added]

    @classmethod
    def add_custom_model(cls, model: str, **told: Any) -> None:
        cls.added[model] = told

    def embed(self, texts: list[str]) -> Iterator[np.ndarray]:
        self.handed += texts
        for text in texts:
            yield np.array([text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"], dtype=float)

    def encode(self, texts: list[str], prompt_name: str | None = None) -> np.ndarray:
        return np.array(list(self.embed([self.prompts.get(prompt_name or "", "") + text for text in texts])))


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setattr(Model, "added", {}, raising=False)
    described: Any = types.ModuleType("fastembed.common.model_description")
    described.PoolingType = types.SimpleNamespace(CLS="first", MEAN="mean")
    described.ModelSource = dict
    monkeypatch.setitem(sys.modules, described.__name__, described)
    for package, entry in (("fastembed", "TextEmbedding"), ("sentence_transformers", "SentenceTransformer")):
        made: Any = types.ModuleType(package)
        made.__spec__ = importlib.util.spec_from_loader(package, None)
        setattr(made, entry, Model)
        monkeypatch.setitem(sys.modules, package, made)
    embeddings._open_local.cache_clear()


@pytest.mark.parametrize("kind", local_embedders.KINDS)
def test_questions_and_passages_get_what_the_model_was_trained_with(kind: str) -> None:
    found = local_embedders.LocalEmbedder(f"{kind}:intfloat/multilingual-e5-small")
    found._model.handed.clear()
    passages, questions = found.embed(["Paket", " "]), found.embed_queries(["Paket"])
    assert found._model.handed == ["passage: Paket", "query: Paket"]
    assert found.dim == 26
    assert np.linalg.norm(passages[0]) == pytest.approx(1.0)
    assert not passages[1].any(), "a blank text is all zeros"
    assert not np.allclose(passages[0], questions[0])


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", local_embedders._BGE, ""),
        ("BAAI/bge-m3", "", ""),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
    ],
)
def test_prefixes_are_those_of_the_models_cards(model: str, query: str, passage: str) -> None:
    assert (local_embedders.prefix(model, "query"), local_embedders.prefix(model, "passage")) == (query, passage)


def test_a_model_that_brings_its_own_prefixes_gets_those() -> None:
    found = local_embedders.LocalEmbedder("st:own/e5-like")
    found._model.handed.clear()
    found.embed_queries(["Paket"])
    assert found._model.handed == ["frage: Paket"]


def test_a_folder_of_weights_is_a_name_and_changes_with_what_lies_in_it(tmp_path: Path) -> None:
    """Tried by hand with real ones, too: all-MiniLM-L6-v2, at most 7.5e-8 from `minilm` on short and long texts."""
    folder = tmp_path / "multilingual-e5-tiny"
    folder.mkdir()
    with pytest.raises(NotConfigured, match="could not be fetched or read"):
        load_embedder(f"fastembed:{folder}")
    with pytest.raises(NotConfigured, match=r"neither model\.onnx nor onnx/model\.onnx; st: reads other weights"):
        load_embedder(f"fastembed:{folder}")
    assert not Model.added
    (folder / "config.json").write_text('{"hidden_size": 26}')
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_text("weights")
    first = local_embedders.LocalEmbedder(f"fastembed:{folder}")
    told = Model.added[str(folder)]
    assert (told["pooling"], told["dim"], told["model_file"]) == ("mean", 26, "onnx/model.onnx")
    assert (first._model.handed, first.dim) == (["passage: dimension"], 26)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    (folder / "model.onnx").write_text("weights")
    Model.added.clear()
    second = local_embedders.LocalEmbedder(f"fastembed:{folder}")
    told = Model.added[str(folder)]
    assert (told["pooling"], told["model_file"]) == ("first", "model.onnx")
    assert first.name != second.name
    # fastembed cuts where the tokenizer does; a model that was trained on less says so.
    assert (first._model.model.tokenizer.cut, second._model.model.tokenizer.cut) == (512, 512)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    assert local_embedders.LocalEmbedder(f"fastembed:{folder}")._model.model.tokenizer.cut == 256
    assert local_embedders.LocalEmbedder(f"st:{folder}").name.startswith(f"st:{folder}@")


def test_damaged_weights_are_told_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "config.json").write_text('{"hidden_size": 26}')
    (folder / "model.onnx").write_text("nonsense")
    with pytest.raises(NotConfigured, match="Protobuf parsing failed"):
        load_embedder(f"fastembed:{folder}")


def test_both_sides_are_kept_apart_in_the_cache() -> None:
    one = load_embedder("fastembed:intfloat/multilingual-e5-large")
    passages, questions = one.embed(TEXTS), embed_queries(one, TEXTS)
    again = load_embedder("fastembed:intfloat/multilingual-e5-large")
    inner: Any = again.inner
    inner._model.handed.clear()
    assert np.array_equal(again.embed(TEXTS), passages)
    assert np.array_equal(embed_queries(again, TEXTS), questions)
    assert inner._model.handed == [], "nothing was computed twice"
    assert not np.allclose(passages, questions)


def test_an_index_asks_for_both_sides() -> None:
    embeddings._open_local.cache_clear()
    found = retrieval.index_documents("exact", 1000, 0, "st:intfloat/multilingual-e5-small", enumerate_texts())
    assert found.search(["Wo liegt das Paket?"], 1)[0][0].id == "1"
    handed = embeddings._open_local("st:intfloat/multilingual-e5-small")._model.handed
    assert "query: Wo liegt das Paket?" in handed
    assert "passage: Das Paket liegt im Depot." in handed


def enumerate_texts() -> list[tuple[str, str]]:
    return [(str(place), text) for place, text in enumerate(TEXTS)]


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotConfigured, match="pip install fastembed"):
        load_embedder("fastembed:BAAI/bge-small-en-v1.5")
    with pytest.raises(NotConfigured, match="pip install sentence-transformers"):
        load_embedder("st:BAAI/bge-m3")
    needs = {row.name: row.needs for row in known_embedders()}
    assert needs["st:BAAI/bge-m3"] == "pip install sentence-transformers"


def test_without_weights_it_is_said_in_one_line() -> None:
    with pytest.raises(NotConfigured) as told:
        load_embedder("fastembed:nobody/nothing")
    assert "weights are not on this machine" in str(told.value)
    assert "\n" not in str(told.value)
    with pytest.raises(UnknownName):
        load_embedder("st:")


@pytest.mark.parametrize(
    "name", ["bm25", "lexical", "hashing", "hybrid:hashing", "fastembed:intfloat/multilingual-e5-large"]
)
def test_a_retriever_by_name_scores_every_text(name: str) -> None:
    found = retrieval.load(name).fit(TEXTS)
    scores = found.scores("Paket im Depot")
    assert scores.shape == (3,)
    assert int(np.argmax(scores)) == 1
    assert np.array_equal(scores, found.scores("Paket im Depot"))
    assert retrieval.load(name).fit([]).scores("x").shape == (0,)


def test_a_retriever_that_is_none_is_refused() -> None:
    for name in ("chroma", "exact"):
        with pytest.raises(BadOption):
            retrieval.load(name)
    with pytest.raises(UnknownName):
        retrieval.load("telepathy")
    with pytest.raises(BadOption, match="not fitted"):
        retrieval.load("bm25").scores("x")


def test_fused_ranks_know_no_order_among_equals_and_prepared_queries_score_the_same():
    texts = ["red lamp", "blue lamp", "green door", "nothing alike"]
    queries = ["lamp", "green lamp door", "giraffe"]
    asked = retrieval.load("hybrid:hashing").fit(texts)
    plain = [asked.scores(query) for query in queries]
    asked.prepare(queries)
    assert all(np.array_equal(asked.scores(query), found) for query, found in zip(queries, plain, strict=True))
    turned = retrieval.load("hybrid:hashing").fit(texts[::-1])
    assert all(turned.scores(query)[::-1] == pytest.approx(found) for query, found in zip(queries, plain, strict=True))
    words = retrieval.load("bm25").fit(texts).scores("lamp")
    assert words[0] == words[1] > words[2] == words[3] == 0


def test_what_is_longer_than_an_embedder_reads_is_counted(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.enable_truncation(3)
    model = object.__new__(minilm.MiniLM)
    model.tokenizer = words
    texts = ["a a a", "a a a a", "", "a b c d e"]
    assert CachedEmbedder(model, tmp_path / "v.sqlite").count_cut(texts) == 2

    class Silent:
        name, dim = "silent", 1

    assert CachedEmbedder(Silent(), tmp_path / "v.sqlite").count_cut(texts) is None
    assert retrieval.load("hashing").count_cut(texts) == retrieval.load("bm25").count_cut(texts) == 0
    parts = retrieval.load("hybrid:hashing").fit(texts).description["parts"]
    assert (parts[0]["k1"], parts[1]["dim"]) == (1.5, 1024)
