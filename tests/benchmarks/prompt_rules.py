"""What must hold of every prompt that a real model is sent, whatever the benchmark and the sample.

Each rule takes what one sample's attempt asked of models and yields complaints. What people and models wrote in the
dialogue is taken out first: it may say what it likes.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from cxlab.benchmarks.prompt_renderings import RecordedRequest, Recording, Rendering, to_rendering
from cxlab.records import Sample

# Elements of HTML, in which some articles are written.
HTML = frozenset(
    re.findall(
        r"\w+",
        "a b br code div em h1 h2 h3 h4 h5 h6 hr html body head i img li ol p pre section small span strong table "
        "tbody td th thead title tr u ul article blockquote header footer main nav meta dl dt dd",
    )
)
# Names that are written so by everybody.
BRANDS = frozenset({"PayPal"})
RUN = 5
LONGEST_LINE = 600


@dataclass(frozen=True)
class Asked:
    """One request with its rendering and its text without what was said in the dialogue."""

    sample: Sample
    recorded: RecordedRequest
    rendering: Rendering
    text: str

    @property
    def place(self) -> str:
        return f"{self.rendering.name} of {self.sample.id}"

    @property
    def used(self) -> str:
        """What the reader must write: the schema's names and options, the tools' names and arguments."""
        return json.dumps([self.rendering.schema, self.rendering.tools], ensure_ascii=False)


def read(benchmark: str, sample: Sample, recording: Recording) -> list[Asked]:
    """What was asked, each with its own text."""
    said = {m.text for m in recording.attempt.messages if m.text} if recording.attempt else set()
    longest = sorted(said, key=len, reverse=True)
    found = []
    for one in recording.requests:
        rendering = to_rendering(benchmark, sample.id, one)
        text = "\n".join(m["content"] for m in rendering.messages if m["role"] in ("system", "user"))
        # What a judge reads is the dialogue with its calls, as it was.
        transcript = getattr(one.request.inputs, "talk", "")
        # To some servers tools and calls go as text: neither is the prompt's own.
        offered = getattr(one.request.inputs, "tools", None)
        lines = [getattr(line, "text", "") for line in getattr(one.request.inputs, "history", ())] if offered else []
        printed = [to_json(offered).decode()] if offered else []
        called = sorted(filter(None, lines), key=len, reverse=True)
        for words in [*filter(None, [transcript]), *printed, *called, *longest]:
            text = text.replace(words, "…")
        # What stands in a fence is a form or a text to be copied.
        text = re.sub(r"^```\w*\n.*?^```$", "…", text, flags=re.MULTILINE | re.DOTALL)
        found.append(Asked(sample, one, rendering, text))
    return found


def find_unfilled_placeholders(asked: Iterable[Asked]) -> Iterator[str]:
    """`<brand>`, `{{ … }}` and the like."""
    for one in asked:
        for found in re.finditer(r"\{\{.*?\}\}|\{%.*?%\}|<([A-Za-z][A-Za-z0-9_ ]*)>", one.text):
            # A name in angle brackets that is closed again marks a part of the text.
            if (found[1] or "").lower() not in HTML and f"</{found[1]}>" not in one.text:
                yield f"{one.place}: {found[0]}"


def find_leaks(asked: Iterable[Asked]) -> Iterator[str]:
    """Five words in a row that only another side's card holds.

    A card is what a side was told beside the dialogue, fields of its inputs that are the other side's, too, left out:
    what both may know (the back end's facts) is given to both by the same name.
    """
    every = list(asked)
    cards: dict[str, dict[str, dict[str, str]]] = {}
    for one in every:
        cards.setdefault(one.sample.id, {}).setdefault(one.recorded.role, {}).update(_told(one.recorded.request.inputs))
    for one in every:
        reader = one.recorded.role
        of = cards[one.sample.id]
        for other in ("agent", "customer"):
            if other == reader or other not in of or (reader, other) == ("judge", "agent"):
                continue  # a judge sees the policy that it is to judge by
            own = {line for text in of[reader].values() for line in text.splitlines()}
            lines = [text.splitlines() for text in of[other].values()]
            secret = ["\n".join(line for line in text if line not in own) for text in lines]
            both = "\n".join(line for text in lines for line in text if line in own)
            # The back end's facts are both sides', though each is told them in words of its own.
            shared = _runs(both) | _runs(of[reader].get("system", ""))
            shared |= _runs(of[other].get("system", "")) if "system" in of[reader] else frozenset()
            if reader == "customer":
                # What an agent is told at length is policy and procedure, of which customers know nothing.
                secret = [text for text in secret if len(text) > LONGEST_LINE]
            runs = frozenset[tuple[str, ...]]().union(*map(_runs, secret))
            for leak in sorted((runs & _runs(one.text)) - _template(one) - shared)[:3]:
                yield f"{one.place} holds words of the {other}'s card: {' '.join(leak)!r}"


def find_machine_keys(asked: Iterable[Asked]) -> Iterator[str]:
    """Names that programs use and that the reader need not write."""
    for one in asked:
        # Most words look like no name of a program's: only for those that do it is asked whether the reader knows them.
        words = set(re.findall(r"(?<![\w@./-])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?![\w@/-])", one.text))
        snake = {word for word in words if re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)+", word)}
        camel = {word for word in words if re.search(r"[a-z][A-Z]", word)}
        if camel:
            camel &= set(_keys([one.sample.inputs, one.sample.expected]))
        used = one.used if snake | camel else ""
        for word in sorted(snake | camel):
            if not _is_known(one.text, used, word):
                yield f"{one.place}: {word}"


def _is_known(text: str, used: str, word: str) -> bool:
    """Whether the reader can tell what a key is, or has to write it."""
    key = re.escape(word)
    return bool(
        # A key that is explained in a list is no riddle, nor one that is followed by what it means.
        re.search(rf"^\s*[-*] {key}: \S|{key} \([A-ZÀ-Ý]", text, re.MULTILINE)
        # An id is a value, which is compared letter by letter.
        or word in BRANDS
        or re.search(r"\d{4}", word)
        # Names in square brackets, where the prompt says what they are.
        or ("square brackets" in text and f"[{word}]" in text)
        or re.search(rf"(?<!\w){key}(?!\w)", used)
    )


def find_absent_fields(asked: Iterable[Asked]) -> Iterator[str]:
    """Labels with nothing behind them, and fields of the reply that the words never mention."""
    for one in asked:
        for line in one.text.splitlines():
            if re.fullmatch(r"\s*[-*]? ?[^:\n]{1,60}[:=] *(None|null|nan|\[\]|\{\}|\(\)|''|\"\")\.?", line):
                yield f"{one.place}: {line.strip()!r} tells nothing"
        for found in re.finditer(r"^[-*] [^:\n]{1,40}: *$(?=\n(?:[-*] |\n|\Z))", one.text, re.MULTILINE):
            yield f"{one.place}: {found[0]!r} has nothing behind it"
        for found in re.finditer(r"^[A-Z][^:\n]{3,80}:[ \t]*\n(?=\s*\n|\Z)", one.text, re.MULTILINE):
            yield f"{one.place}: {found[0]!r} has nothing below it"
        properties = (one.rendering.schema or {}).get("properties", {})
        for name in properties:
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", one.text):
                yield f"{one.place}: the reply has a field {name!r} that the words do not mention"


def find_glued_lines(asked: Iterable[Asked]) -> Iterator[str]:
    """Lists whose items run on in one line, and text as a program prints it."""
    for one in asked:
        for line in one.text.splitlines():
            if re.search(r"[^\s-]- [A-Z\[<]", line) or line.count(" - ") > 3:
                yield f"{one.place}: items run on in one line: {line[:120]!r}"
            elif re.search(r"\[('[^']*', )+'|\{'\w+':|\bTrue\b|\bFalse\b", line):
                yield f"{one.place}: printed by a program: {line[:120]!r}"


def find_third_person(asked: Iterable[Asked]) -> Iterator[str]:
    """A card that speaks of its own reader as of somebody else."""
    for one in asked:
        if one.recorded.role == "customer":
            for found in re.finditer(r".*\b[Tt]he (?:customer|passenger|learner|resident|tenant)\b.*", one.text):
                yield f"{one.place} speaks of its reader as of somebody else: {found[0][:120]!r}"


def find_untyped_options(asked: Iterable[Asked]) -> Iterator[str]:
    """Options in a schema without a type: servers that hold a model to its schema refuse such a one."""

    def walk(node: Any, place: str) -> Iterator[str]:
        if isinstance(node, list):
            for each in node:
                yield from walk(each, place)
        elif isinstance(node, dict):
            if isinstance(node.get("enum"), list) and "type" not in node:
                yield f"{place}: {node['enum']!r} without a type"
            for each in node.values():
                yield from walk(each, place)

    for one in asked:
        yield from walk([one.rendering.schema, one.rendering.tools], one.place)


RULES: Mapping[str, Callable[[Iterable[Asked]], Iterator[str]]] = {
    "no unfilled placeholder": find_unfilled_placeholders,
    "no words of another side's card": find_leaks,
    "no machine key": find_machine_keys,
    "no field that the sample has not": find_absent_fields,
    "one thing a line": find_glued_lines,
    "the reader is you": find_third_person,
    "options have a type": find_untyped_options,
}


def _told(inputs: Any) -> dict[str, str]:
    """The fields of a prompt's inputs as text, the dialogue left out."""
    if inputs is None:
        return {}
    # Tools are offered to the side that has them; what they are called is no secret of the case.
    left_out = ("history", "messages", "dialogue", "transcript", "talk", "tools")
    return {k: _text(v) for k, v in inputs.__dict__.items() if v and k not in left_out}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{k} = {_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(_text(each) for each in value)
    if hasattr(value, "model_dump"):
        return _text(value.model_dump())
    return str(value)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of words of one line."""
    return frozenset().union(*map(_runs_of_line, text.lower().splitlines()))


@functools.cache
def _runs_of_line(line: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w[\w'’-]*", line)
    return frozenset(tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


def _template(one: Asked) -> frozenset[tuple[str, ...]]:
    """The words of the prompt that no sample put there."""
    prompt = one.recorded.request.prompt
    return _runs("\n".join(text for _, text in prompt.parts)) if prompt is not None else frozenset()


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)
    elif isinstance(value, str):
        yield value
