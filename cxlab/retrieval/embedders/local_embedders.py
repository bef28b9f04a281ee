"""Embedders whose weights lie on this machine, by name, through libraries that are optional extras.

fastembed:NAME   through onnxruntime, no torch: pip install "cxlab[fastembed]"
st:NAME          any model of sentence-transformers: pip install "cxlab[st]"

NAME may be a folder: for st one as its `save` writes it, or of a Hugging Face model; for fastembed one with
config.json, tokenizer.json, tokenizer_config.json and model.onnx or onnx/model.onnx, whose last states are averaged
unless 1_Pooling/config.json says that the first token counts; sentence_bert_config.json may say how long texts are
read. What stands in front is then told by the folder's path.

Models that were trained with another text in front of a question than in front of a passage get it here.
"""

import hashlib
import importlib
import importlib.util
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import NotConfigured

KINDS = ("fastembed", "st")
# Names that are known to work, multilingual ones among them: (name, what it is).
KNOWN = (
    ("fastembed:BAAI/bge-small-en-v1.5", "English, 384 numbers, small and quick"),
    ("fastembed:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "50 languages, 384 numbers"),
    ("fastembed:intfloat/multilingual-e5-large", "100 languages, 1,024 numbers"),
    ("st:intfloat/multilingual-e5-small", "100 languages, 384 numbers"),
    ("st:BAAI/bge-m3", "100 languages, 1,024 numbers, long texts"),
)
_PACKAGES = {"fastembed": "fastembed", "st": "sentence_transformers"}
_EXTRAS = {"fastembed": "fastembed", "st": "sentence-transformers"}
Side = Literal["query", "passage"]
# What is put in front, by how a model is called; the first that fits counts. From the models' own cards.
_BGE = "Represent this sentence for searching relevant passages: "
PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"e5-.*instruct", "Instruct: Find the passages that answer the question\nQuery: ", ""),
    (r"(^|[/-])e5-", "query: ", "passage: "),
    (r"bge-(small|base|large)-en", _BGE, ""),
    (r"mxbai-embed|snowflake-arctic-embed", _BGE, ""),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
)


def missing(name: str) -> str:
    """What must be installed before an embedder of that name can be used, "" when nothing."""
    kind = name.partition(":")[0]
    found = importlib.util.find_spec(_PACKAGES[kind])
    return "" if found is not None else f"pip install {_EXTRAS[kind]}"


def prefix(model: str, side: Side) -> str:
    """What a model wants in front of a query or a passage; "" for one that makes no difference."""
    for pattern, query, passage in PREFIXES:
        if re.search(pattern, model, re.IGNORECASE):
            return query if side == "query" else passage
    return ""


class LocalEmbedder:
    """One of the models above; raises NotConfigured where its package or its weights are not there.

    `embed` takes passages, `embed_queries` questions. Vectors have length 1; a blank text is all zeros.
    """

    def __init__(self, name: str) -> None:
        kind, _, self.model_name = name.partition(":")
        if needs := missing(name):
            raise NotConfigured(f"embedder {name!r} is not installed: {needs}")
        self.name = name + _version(Path(self.model_name).expanduser())
        self._kind = kind
        try:
            self._model: Any = _load_fastembed(self.model_name) if kind == "fastembed" else _load_st(self.model_name)
        except Exception as error:
            # Both libraries raise one of these for a name that they do not know and for weights they cannot fetch;
            # onnxruntime has classes of its own, derived from nothing else, for weights that it cannot read.
            known = isinstance(error, (OSError, ValueError, RuntimeError, KeyError))
            if not known and not type(error).__module__.startswith("onnxruntime."):
                raise
            said = str(error).strip().partition("\n")[0][:200]
            raise NotConfigured(
                f"embedder {name!r}: its weights are not on this machine, or could not be fetched or read ({said}); "
                "fetch them once where there is a network, or name a folder that holds them"
            ) from None
        self.dim = self._encode(["dimension"], "passage").shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a passage."""
        return self._rows(texts, "passage")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a question."""
        return self._rows(texts, "query")

    def _rows(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        full = [place for place, text in enumerate(texts) if text.strip()]
        if full:
            rows = self._encode([texts[place] for place in full], side)
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            vectors[full] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return vectors

    def _encode(self, texts: list[str], side: Side) -> NDArray[np.float32]:
        front = prefix(self.model_name, side)
        written = [front + text for text in texts]
        if self._kind == "fastembed":
            return np.asarray(list(self._model.embed(written)), dtype=np.float32)
        # A model that brings its own texts for both sides knows better; then nothing is put in front twice.
        prompts = getattr(self._model, "prompts", None) or {}
        own = next((each for each in ((side,) if side == "query" else (side, "document")) if prompts.get(each)), None)
        named = {"prompt_name": own} if own is not None else {}
        return np.asarray(self._model.encode(texts if own else written, **named), dtype=np.float32)


def _version(folder: Path) -> str:
    """What tells a folder's weights from those that lay there before, as vectors are kept by name; "" for a name."""
    if not folder.is_dir():
        return ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = "\n".join(f"{path.relative_to(folder)} {(at := path.stat()).st_size} {at.st_mtime_ns}" for path in files)
    return f"@{hashlib.blake2b(told.encode(), digest_size=3).hexdigest()}"


def _load_fastembed(model: str) -> Any:
    threads = int(os.environ.get("OMP_NUM_THREADS") or 0) or None
    fastembed = importlib.import_module(_PACKAGES["fastembed"])
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return fastembed.TextEmbedding(model_name=model, threads=threads)
    weights = next((name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).is_file()), None)
    if weights is None:
        raise ValueError(f"{folder} has neither model.onnx nor onnx/model.onnx; st: reads other weights")
    known = {one["model"] for one in fastembed.TextEmbedding.list_supported_models()}
    if model not in known:
        described = importlib.import_module("fastembed.common.model_description")
        fastembed.TextEmbedding.add_custom_model(
            model=model,
            pooling=described.PoolingType.CLS if _takes_first_token(folder) else described.PoolingType.MEAN,
            normalization=True,
            sources=described.ModelSource(url=folder.resolve().as_uri()),
            dim=int(json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"]),
            model_file=weights,
        )
    made = fastembed.TextEmbedding(model_name=model, specific_model_path=str(folder), threads=threads)
    longest = _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
    if longest:
        # fastembed cuts where the tokenizer does, sentence-transformers where the model was trained to.
        made.model.tokenizer.enable_truncation(int(longest))
    return made


def _takes_first_token(folder: Path) -> bool:
    """Whether a folder's model is pooled by its first token, in either spelling of sentence-transformers."""
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    return bool(pooling.get("pooling_mode_cls_token") or pooling.get("pooling_mode") == "cls")


def _load_st(model: str) -> Any:
    folder = Path(model).expanduser()
    named = str(folder) if folder.is_dir() else model
    return importlib.import_module(_PACKAGES["st"]).SentenceTransformer(named)


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty without one."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found
