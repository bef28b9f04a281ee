"""How to ask a server for JSON: `json_schema`, else `json_object`, else words; what worked is remembered.

Servers differ: one enforces a schema, one answers HTTP 500 to it, one accepts and ignores it. A ladder
belongs to one model object and learns per schema, so that one odd schema does not spoil the others.
"""

import copy
import json
import re
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Schema = type[BaseModel]

OPENAI_RUNGS = ("json_schema", "json_object", "prompt")


class Ladder:
    """The rungs of one model from best to plainest; the last one always works."""

    def __init__(self, rungs: tuple[str, ...] = OPENAI_RUNGS) -> None:
        self.rungs = rungs
        self._start = 0
        self._at: dict[Schema, int] = {}
        self._proven: set[tuple[Schema, int]] = set()
        self._doubts: dict[int, int] = {}

    def rung(self, schema: Schema) -> str:
        """The rung to begin with."""
        return self.rungs[self._index(schema)]

    def below(self, rung: str) -> str | None:
        """The next plainer rung, None at the bottom."""
        index = self.rungs.index(rung) + 1
        return self.rungs[index] if index < len(self.rungs) else None

    def is_proven(self, schema: Schema, rung: str) -> bool:
        """Whether this server has answered this schema on this rung before."""
        return (schema, self.rungs.index(rung)) in self._proven

    def worked(self, schema: Schema, rung: str) -> None:
        """The server accepted this rung."""
        self._proven.add((schema, self.rungs.index(rung)))

    def refused(self, schema: Schema, rung: str, surely: bool) -> None:
        """The server refused this rung and a plainer one worked.

        `surely` for a refusal that can only mean the rung (HTTP 4xx); a server error may have been
        chance, so it takes two.
        """
        if surely or not self.is_proven(schema, rung):
            self._step_down(schema, self.rungs.index(rung), 1 if surely else 2)

    def ignored(self, schema: Schema, rung: str) -> None:
        """The server accepted this rung but its reply shows that nothing was enforced."""
        self._step_down(schema, self.rungs.index(rung), 2)

    def _index(self, schema: Schema) -> int:
        return self._at.get(schema, self._start)

    def _step_down(self, schema: Schema, index: int, needed: int) -> None:
        if index < self._index(schema) or index + 1 >= len(self.rungs):
            return  # already below, by a call that ran at the same time
        self._doubts[index] = self._doubts.get(index, 0) + 1
        if self._doubts[index] < needed:
            return
        self._at[schema] = index + 1
        if not any(proven == index for _, proven in self._proven - {(schema, index)}):
            self._start = max(self._start, index + 1)


def schema_of(output: Schema) -> dict[str, Any]:
    """The JSON schema of a reply as models read it.

    What a class's docstring says is for programmers and left out; a field's own description is part of the prompt.
    """
    found = output.model_json_schema()
    for node in (found, *found.get("$defs", {}).values()):
        node.pop("description", None)
    _drop_titles(found)
    return found


def _drop_titles(node: Any) -> None:
    """Take out the titles that pydantic makes of the names: "Descriptionclear" tells nobody anything."""
    if isinstance(node, list):
        for each in node:
            _drop_titles(each)
    elif isinstance(node, dict):
        if isinstance(node.get("title"), str):
            del node["title"]
        for key, each in node.items():
            # Below these keys stand names of fields, of which one may be "title"; below those, values.
            for one in each.values() if key in ("properties", "$defs") else () if key in ("enum", "const") else [each]:
                _drop_titles(one)


@lru_cache(maxsize=256)
def without_docstrings(output: Schema) -> Schema:
    """The same class for libraries that ask it for its JSON schema: it gives what `schema_of` gives."""

    def model_json_schema(_cls: Schema, *_given: Any, **_named: Any) -> dict[str, Any]:
        return schema_of(output)

    members = {"__doc__": "", "__module__": output.__module__, "model_json_schema": classmethod(model_json_schema)}
    return type(output.__name__, (output,), members)


@lru_cache(maxsize=256)
def response_format(schema: Schema, rung: str) -> dict[str, Any] | None:
    """The `response_format` of a rung; None for the plainest."""
    if rung == "json_object":
        return {"type": "json_object"}
    if rung != "json_schema":
        return None
    plain = schema_of(schema)
    strict = _strict(plain)
    return {
        "type": "json_schema",
        "json_schema": {
            "name": re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64],
            "schema": plain if strict is None else strict,
            "strict": strict is not None,
        },
    }


@lru_cache(maxsize=256)
def instruction(schema: Schema) -> str:
    """The schema in words, for servers that take none."""
    shape = json.dumps(schema_of(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must follow this JSON schema:\n{shape}"


def with_instruction(messages: list[dict[str, Any]], schema: Schema) -> list[dict[str, Any]]:
    """The messages with the schema in words at the end of the last one."""
    last = messages[-1] if messages else {"role": "user", "content": ""}
    note = instruction(schema)
    if last.get("role") == "user" and isinstance(last.get("content"), str):
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{note}"}]
    return [*messages, {"role": "user", "content": note}]


def _strict(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema in the form that strict decoding asks for, None when it has free-form objects.

    Every property required, nothing else allowed, no defaults, no neighbours beside a `$ref`.
    """
    definitions = schema.get("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node and len(node) > 1:
            target = definitions.get(str(node["$ref"]).rpartition("/")[2], {})
            node = {**copy.deepcopy(target), **{k: v for k, v in node.items() if k != "$ref"}}
        made = {
            key: {name: walk(part) for name, part in value.items()} if key in ("properties", "$defs") else walk(value)
            for key, value in node.items()
            if key != "default"
        }
        if made.get("type") == "object":
            if not made.get("properties") or made.get("additionalProperties", False) is not False:
                raise _FreeForm
            made["additionalProperties"] = False
            made["required"] = list(made["properties"])
        return made

    try:
        walked: dict[str, Any] = walk(schema)
    except _FreeForm:
        return None
    return walked


class _FreeForm(Exception):
    """An object whose keys the schema leaves open."""
