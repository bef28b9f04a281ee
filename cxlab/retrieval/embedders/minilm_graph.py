"""The forward pass of a BERT encoder as an ONNX graph, made from its weights.

For folders that hold only model.safetensors. The inputs and the output are named as in the usual exports
(`input_ids`, `attention_mask` -> `last_hidden_state`), so that either kind of file serves.

Why it stays: the packages that bring all-MiniLM-L6-v2 without a network hold no ONNX file, which is all that fastembed
reads, and sentence-transformers reads safetensors with torch alone. Measured: `st:FOLDER` at most 1.2e-7 from this;
`fastembed:FOLDER` with this graph in its folder 7.5e-8, on 34 texts of 1 to 200 words. With a model.onnx of its own a
folder needs nothing from here.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption

HEADS, EPSILON = 12, 1e-12
# Attention to padding; low enough to vanish in a softmax, high enough not to overflow.
_NEVER = -1e9
_OPSET, _IR_VERSION = 17, 8


def build_graph(weights: Mapping[str, NDArray[np.float32]], heads: int = HEADS) -> bytes:
    """A serialised ONNX model; BadOption when a weight of the encoder is missing."""
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    width = graph.weight("embeddings.word_embeddings.weight").shape[1]
    layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
    hidden = _embed(graph)
    bias = _mask(graph)
    for layer in range(layers):
        hidden = _layer(graph, f"encoder.layer.{layer}", hidden, bias, heads, width // heads)
    graph.node("Identity", [hidden], "last_hidden_state")
    shape = ["batch", "length"]
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, width])],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


class _Graph:
    """Nodes and constants as they are added; a node returns the name of its output."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._count = 0

    def weight(self, name: str) -> NDArray[np.float32]:
        if name not in self.weights:
            raise BadOption(f"the weights lack {name!r}: not those of a BERT encoder")
        return self.weights[name]

    def constant(self, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._count += 1
        name = f"c{self._count}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        from onnx import helper

        self._count += 1
        output = output or f"n{self._count}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def whole(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def linear(self, name: str, value: str) -> str:
        product = self.node("MatMul", [value, self.constant(self.weight(f"{name}.weight").T)])
        return self.node("Add", [product, self.constant(self.weight(f"{name}.bias"))])

    def norm(self, name: str, value: str) -> str:
        scale, shift = (self.constant(self.weight(f"{name}.{part}")) for part in ("weight", "bias"))
        return self.node("LayerNormalization", [value, scale, shift], axis=-1, epsilon=EPSILON)


def _embed(graph: _Graph) -> str:
    """Words plus positions plus the first of the two segment types, normalised."""
    words = graph.node("Gather", [graph.constant(graph.weight("embeddings.word_embeddings.weight")), "input_ids"])
    length = graph.node("Gather", [graph.node("Shape", ["input_ids"]), graph.whole(1)], axis=0)
    table = (
        graph.weight("embeddings.position_embeddings.weight")
        + graph.weight("embeddings.token_type_embeddings.weight")[0]
    )
    places = graph.node("Slice", [graph.constant(table), graph.whole(0), length, graph.whole(0)])
    return graph.norm("embeddings.LayerNorm", graph.node("Add", [words, places]))


def _mask(graph: _Graph) -> str:
    """0 where there is a token and a large negative number where there is padding, as (batch, 1, 1, length)."""
    from onnx import TensorProto

    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    away = graph.node("Mul", [graph.node("Sub", [graph.number(1.0), mask]), graph.number(_NEVER)])
    return graph.node("Unsqueeze", [away, graph.whole(1, 2)])


def _layer(graph: _Graph, name: str, hidden: str, bias: str, heads: int, width: int) -> str:
    """Self-attention and feed-forward, each added to what came in and normalised."""

    def split(part: str, order: list[int]) -> str:
        made = graph.linear(f"{name}.attention.self.{part}", hidden)
        return graph.node("Transpose", [graph.node("Reshape", [made, graph.whole(0, 0, heads, width)])], perm=order)

    query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
    scores = graph.node("Mul", [graph.node("MatMul", [query, key]), graph.number(width**-0.5)])
    attention = graph.node("Softmax", [graph.node("Add", [scores, bias])], axis=-1)
    mixed = graph.node("Transpose", [graph.node("MatMul", [attention, value])], perm=[0, 2, 1, 3])
    joined = graph.linear(f"{name}.attention.output.dense", graph.node("Reshape", [mixed, graph.whole(0, 0, -1)]))
    attended = graph.norm(f"{name}.attention.output.LayerNorm", graph.node("Add", [joined, hidden]))
    inner = graph.linear(f"{name}.intermediate.dense", attended)
    # GELU in its exact form: x / 2 * (1 + erf(x / sqrt 2)).
    bell = graph.node("Erf", [graph.node("Div", [inner, graph.number(2**0.5)])])
    raised = graph.node("Mul", [inner, graph.node("Add", [bell, graph.number(1.0)])])
    outer = graph.linear(f"{name}.output.dense", graph.node("Mul", [raised, graph.number(0.5)]))
    return graph.norm(f"{name}.output.LayerNorm", graph.node("Add", [outer, attended]))
