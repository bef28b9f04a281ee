"""From a raw reply to a checked output: lenient in form, strict in content.

Form: code fences, prose before and after, reasoning blocks (`<think>`), trailing commas, bare line breaks in
strings, a wrapping ({"answer": {...}}, a list of one object), a number for its text, one thing for a list of one and
null for what may be left out are forgiven. Content: the first JSON object that has one of the output's fields must
pass the pydantic model and the inputs' own check; nothing is ever guessed or filled in.
"""

import copy
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from cxlab.records import Failure

# A reply holds few objects; the bound keeps a hostile one from costing seconds.
_MOST_STARTS = 200
_DEEPEST_FORM = 3
_OBJECT_START = re.compile(r'\{(?=\s*["}])')
_THINK_END = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
_THINK_START = re.compile(r"\s*(?:<think(?:ing)?>|\[THINK\])", re.IGNORECASE)
_THINK_TAG = re.compile(r"<(/?)think(?:ing)?>|\[(/?)THINK\]", re.IGNORECASE)


class _Ambiguous(ValueError):
    """One object gives the same key two different values."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise _Ambiguous(f"key {key!r} is given twice, as {_short(found[key])} and as {_short(value)}")
        found[key] = value
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# strict=False: models write real line breaks inside strings, which is a matter of form.
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, strict=False)


def _balanced_end(text: str, start: int) -> int | None:
    """Index after the brace that closes the one at `start`, minding strings; None when it never closes."""
    depth, at = 0, start
    # A string that never closes goes on to the end: a brace in it closes nothing.
    for match in re.finditer(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}]', text[start:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return at + match.end()
    return None


def _drop_trailing_commas(text: str) -> str:
    return re.sub(
        r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])', lambda m: m[1] if m[1] is not None else m[2], text, flags=re.DOTALL
    )


def find_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(start, end, object) of each JSON object in the text, outermost first, in order.

    Raises ValueError when an object contradicts itself (one key, two values).
    """
    at = 0
    for _ in range(_MOST_STARTS):
        # A brace that opens an object is followed by a key or closes at once; any other one is prose.
        start = _OBJECT_START.search(text, at)
        if start is None:
            return
        at = start.start()
        try:
            found, end = _DECODER.raw_decode(text, at)
        except _Ambiguous:
            raise
        except RecursionError:
            return  # hundreds of levels deep: no answer to any prompt
        except ValueError:
            closed = _balanced_end(text, at)
            if closed is None:
                return  # never closed: whatever lies inside is a piece of a broken object
            try:
                found, end = _DECODER.decode(_drop_trailing_commas(text[at:closed])), closed
            except _Ambiguous:
                raise
            except ValueError:
                at += 1
                continue
        yield at, end, found
        at = end


def without_thinking(text: str) -> str:
    """The text without its reasoning blocks, wherever they stand.

    One that is never closed goes on to the end. Some chat templates swallow the opening tag: then everything up to
    the closing one is reasoning.
    """
    return hide_thinking(text).strip()


def hide_thinking(text: str) -> str:
    """The same with blanks at both ends as they came, for a text that is still being written."""
    return _cut(text, _thinking(text))


def _thinking(text: str, spans: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """(start, end) of each reasoning block, tags included; a tag inside one of the `spans` is text like any other."""
    whole = list(spans)
    found: list[tuple[int, int]] = []
    opened: int | None = None
    after = 0
    for tag in _THINK_TAG.finditer(text):
        if opened is None and any(start < tag.start() < end for start, end in whole):
            continue
        if "/" not in tag[0]:
            opened = tag.start() if opened is None else opened
        else:
            found.append((after if opened is None else opened, tag.end()))
            opened, after = None, tag.end()
    return found if opened is None else [*found, (opened, len(text))]


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])


def extract_objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a reply, in order, leaving out those that belong to its reasoning."""
    try:
        whole = _DECODER.decode(text)
        # Some models put the one object that they were asked for into a list.
        whole = whole[0] if isinstance(whole, list) and len(whole) == 1 else whole
        return [whole] if isinstance(whole, dict) else []
    except _Ambiguous:
        raise
    except (ValueError, RecursionError):
        pass
    begin = 0
    if _THINK_START.match(text):
        end = _THINK_END.search(text)
        if end is None:
            return []
        begin = end.end()
    rest = text[begin:]
    found = list(find_objects(rest))
    # A tag inside an object is its content.
    blocks = _thinking(rest, [(start, end) for start, end, _ in found])
    return [each for at, _, each in found if not any(start <= at < end for start, end in blocks)]


def _short(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _format(kind: str, message: str) -> Failure:
    return Failure(where="format", type=kind, message=message, retryable=False)


def describe(error: ValidationError) -> str:
    """The first three complaints of pydantic, each naming the field and the value."""
    said = []
    for item in error.errors(include_url=False)[:3]:
        where = ".".join(str(step) for step in item["loc"]) or "the object"
        if item["type"] == "missing":
            said.append(f"field {where!r} is missing")
        else:
            said.append(f"field {where!r}: {_short(item['input'])}: {item['msg']}")
    rest = error.error_count() - len(said)
    return "; ".join(said) + (f"; and {rest} more" if rest > 0 else "")


# Complaints that a schema could have prevented: their presence shows that the server did not enforce it.
_BY_SCHEMA = ("missing", "extra_forbidden", "literal_error", "enum")


def breaks_schema(error: ValidationError) -> bool:
    """Whether a complaint is one that an enforced JSON schema makes impossible."""
    return any(item["type"] in _BY_SCHEMA or item["type"].endswith("_type") for item in error.errors(include_url=False))


def _wrapped(objects: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What objects of one key hold, where that is an object: {"answer": {...}}."""
    for one in objects:
        inner = next(iter(one.values())) if len(one) == 1 else None
        if isinstance(inner, dict):
            yield inner


def find_break(text: str) -> str:
    """Why the first object of a reply cannot be read, and after which words; "" where it can or there is none."""
    text = without_thinking(text)
    start = _OBJECT_START.search(text)
    if start is None:
        return ""
    try:
        _DECODER.raw_decode(text, start.start())
    except json.JSONDecodeError as error:
        closed = _balanced_end(text, start.start())
        if closed is not None and _reads(_drop_trailing_commas(text[start.start() : closed])):
            return ""
        return f"{error.msg} after {text[max(0, error.pos - 60) : error.pos]!r}"
    except (ValueError, RecursionError):
        pass
    return ""


def _reads(text: str) -> bool:
    try:
        _DECODER.decode(text)
    except ValueError:
        return False
    return True


def _validate(found: dict[str, Any], Output: type[BaseModel], context: Any) -> BaseModel:
    """The checked output; raises ValidationError as it is without what is forgiven in the form of single values."""
    try:
        return Output.model_validate(found, context=context)
    except ValidationError as error:
        first = last = error
    mended = copy.deepcopy(found)
    # A list that was none hides what is wrong inside it, so a second look may find more.
    for _ in range(_DEEPEST_FORM):
        # All or none: what remains wrong is complained of as the model wrote it.
        if not all(_mend(mended, item["loc"], item["type"]) for item in last.errors(include_url=False)):
            break
        try:
            return Output.model_validate(mended, context=context)
        except ValidationError as error:
            last = error
    raise first


def _mend(found: Any, place: tuple[Any, ...], complaint: str) -> bool:
    """Give one value the form that was asked for, where it says the same; whether there was a way to."""
    for step in place[:-1]:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return False  # a step through a union, which is no place in the reply
    if not place or not complaint.endswith(("_type", "literal_error")):
        return False
    try:
        value = found[place[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    if complaint in ("list_type", "tuple_type") and (value is None or isinstance(value, str | int | float | dict)):
        found[place[-1]] = [] if value is None else [value]
    elif value is None and isinstance(found, dict):
        del found[str(place[-1])]
    elif complaint == "string_type" and isinstance(value, int | float) and not isinstance(value, bool):
        found[place[-1]] = str(value)
    elif complaint == "literal_error" and isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value):
        found[place[-1]] = int(value)
    else:
        return False
    return True


def _find_refusal(text: str, finish_reason: str | None) -> Failure | None:
    """A reply that the model declined to give, or that its provider's filter held back."""
    if finish_reason == "content_filter":
        came = f" after {text[:200]!r}" if text.strip() else ""
        return _format("filtered", f"a content filter held the reply back{came}")
    return _format("refusal", f"the model declined: {text[:200]!r}") if finish_reason == "refusal" else None


@functools.lru_cache(maxsize=512)
def _names_of(Output: type[BaseModel]) -> frozenset[str]:
    """What the fields of an output may be called in a reply."""
    return frozenset(Output.model_fields) | {field.alias or name for name, field in Output.model_fields.items()}


@functools.lru_cache(maxsize=512)
def _checks_of(Inputs: type[Any]) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
    """How a prompt's inputs enforce options that are known only at run time: by a context, by complaints."""
    return getattr(Inputs, "output_context", None), getattr(Inputs, "validate_output", None)


def parse(
    text: str, Output: type[BaseModel], inputs: BaseModel | None = None, finish_reason: str | None = None
) -> tuple[BaseModel | None, Failure | None, bool]:
    """(output, failure, ignored): exactly one of the first two; `ignored` = no schema was enforced.

    Failure types: `empty`, `refusal`, `filtered`, `truncated`, `not_json`, `invalid`.
    """
    if (declined := _find_refusal(text, finish_reason)) is not None:
        return None, declined, False
    cut = finish_reason == "length"
    if cut and not without_thinking(text):
        return None, _format("truncated", "cut off at the token limit before any text"), False
    if not text.strip():
        return None, _format("empty", "the reply has no text"), False
    try:
        objects = extract_objects(text)
    except _Ambiguous as error:
        return None, _format("invalid", str(error)), False
    if not objects:
        if cut:
            return None, _format("truncated", f"cut off at the token limit after {len(text)} characters"), False
        wrong = find_break(text)
        told = (
            f"the JSON object is broken: {wrong}" if wrong else f"no JSON object in the reply: {text.strip()[:200]!r}"
        )
        return None, _format("not_json", told), True
    names = _names_of(Output)
    found = next((o for o in (*objects, *_wrapped(objects)) if not names.isdisjoint(o)), objects[0])
    kind: Any = type(inputs)
    give_context, complain = _checks_of(kind)
    context = give_context(inputs) if give_context else None
    try:
        output = _validate(found, Output, context)
    except ValidationError as error:
        if cut:  # whatever it lacks may have stood in what was lost
            return None, _format("truncated", f"cut off at the token limit after {len(text)} characters"), False
        # What lies inside a broken object is a piece of it: that this piece lacks fields says nothing of the reply.
        wrong = find_break(text)
        if wrong and any(item["type"] == "missing" for item in error.errors(include_url=False)):
            return None, _format("not_json", f"the JSON object is broken: {wrong}"), True
        return None, _format("invalid", describe(error)), breaks_schema(error)
    if complain:
        complaints = complain(inputs, output)
        if complaints:
            return None, _format("invalid", "; ".join(complaints)), False
    return output, None, False


def parse_text(text: str, finish_reason: str | None = None) -> tuple[str | None, Failure | None]:
    """Plain text without reasoning blocks, or why there is none."""
    if (declined := _find_refusal(text, finish_reason)) is not None:
        return None, declined
    said = without_thinking(text)
    if finish_reason == "length":
        return None, _format("truncated", f"cut off at the token limit after {len(said)} characters")
    if not said:
        return None, _format("empty", "the reply has no text")
    return said, None
