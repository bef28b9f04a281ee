"""A prompt as a typed function: a Markdown template, what goes in, what must come out.

The template is one Markdown file. A line that is exactly `# system` or `# user` starts that part;
what stands above the first marker is a note to the reader and is never sent. Placeholders are Jinja2,
sandboxed and strict. The parts are split *before* rendering and rendering is one pass, so text from a
customer can neither start a part nor pull in another variable.

    class Inputs(BaseModel):
        message: str
        options: tuple[str, ...]

    class Output(BaseModel):
        intent: str

    CLASSIFY = Prompt("classify", 1, Path(__file__).parent / "classify.md", Inputs, Output,
                      simulate="cxlab.benchmarks.x.simulate:classify")

Options known only at run time are enforced by the inputs, in one of two ways, both optional:

- `Inputs.validate_output(self, output) -> list[str]`: complaints; each one makes the reply `invalid`;
- `Inputs.output_context(self) -> Any`: handed to the pydantic validators of `Output` as `info.context`.

A dialogue that a template prints as one text says whose it is by `Inputs.holds_own_replies(self) -> bool`: too long for
the model, it is the model's own failure once it holds what the model itself has said.

A simulated customer or writer is not under test and may get its script beside the prompt: a field made by
`unrendered(default)` stands in no template, and no real model sees it.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from cxlab import resources
from cxlab.errors import BadFile, BadOption, NoStandIn
from cxlab.llm.base import Out
from cxlab.llm.ladder import schema_of
from cxlab.records import content_id

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

In = TypeVar("In", bound=BaseModel)

_MARKER = re.compile(r"^# (system|user)[ \t]*$", re.MULTILINE)
_POINT = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)


def unrendered(default: Any = ...) -> Any:
    """A field of a prompt's inputs that the template leaves out: the script of a simulated customer or writer."""
    return Field(default, json_schema_extra={"unrendered": True})


def _is_rendered(field: FieldInfo) -> bool:
    extra = field.json_schema_extra
    return not (isinstance(extra, dict) and extra.get("unrendered"))


MOST_RENDERED = 64
"""Parts of a prompt whose text is kept."""


class Text(BaseModel):
    """The output of a prompt without a schema: the reply as plain text, reasoning blocks removed."""

    text: str


def _as_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own `tojson` escapes < > & ' for HTML, which would change what a model reads.
    return to_json(value, indent=indent).decode()


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    # Late, because a prompt is defined in many modules that never render one (`--help`, the pages).
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        """Asked once for each type and attribute: its own answer, which depends on nothing else, takes 13 µs."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self._safe: dict[tuple[type, str], bool] = {}

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            key = (type(obj), attr)
            safe = self._safe.get(key)
            if safe is None:
                safe = self._safe[key] = super().is_safe_attribute(obj, attr, value)
            return safe

        def getattr(self, obj: Any, attribute: str) -> Any:
            """A text that was found safe, at once: a dialogue's lines are read thousands of times."""
            if self._safe.get((type(obj), attribute)):
                value = getattr(obj, attribute, None)
                if type(value) is str:
                    return value
            return super().getattr(obj, attribute)

    env = Sandbox(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
    env.filters["json"] = _as_json
    return env


@lru_cache(maxsize=512)
def _compile(text: str) -> "tuple[Template, tuple[str, ...]]":
    """A part as a template, and the fields that it asks for; several prompts have the same."""
    from jinja2 import meta

    asked = sorted(meta.find_undeclared_variables(_environment().parse(text)))
    return _environment().from_string(text), tuple(asked)


class Prompt(Generic[In, Out]):
    """A named, versioned prompt; reading and compiling the template waits for the first use.

    `Output` None means plain text (`Reply.output.text`). `simulate` names the handler of simulated models as
    `"module:function"`, `script` what draws their script (into a field made by `unrendered`). `repair` allows one
    second ask when a reply cannot be parsed: switch it off where the format itself is measured. How long an answer may
    be is the model's matter (models.toml): what is enough for one that answers at once cuts off one that thinks first.
    """

    @overload
    def __init__(
        self: "Prompt[In, Text]",
        name: str,
        version: int | str,
        template: Path,
        Inputs: type[In],
        Output: None = None,
        simulate: str | None = None,
        temperature: float = 0.0,
        repair: bool = True,
        script: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        name: str,
        version: int | str,
        template: Path,
        Inputs: type[In],
        Output: type[Out],
        simulate: str | None = None,
        temperature: float = 0.0,
        repair: bool = True,
        script: str | None = None,
    ) -> None: ...

    def __init__(
        self,
        name: str,
        version: int | str,
        template: Path,
        Inputs: type[In],
        Output: type[Any] | None = None,
        simulate: str | None = None,
        temperature: float = 0.0,
        repair: bool = True,
        script: str | None = None,
    ) -> None:
        for what, given in (("simulate", simulate), ("script", script)):
            if given is not None and given.count(":") != 1:
                raise BadOption(f"prompt {name!r}: {what}={given!r}; write it as 'package.module:function'")
        self.name = name
        self.version = version
        self.template = Path(template)
        self.Inputs = Inputs
        self.Output: type[Out] = cast("type[Out]", Output or Text)
        self.structured = Output is not None
        self.simulate = simulate
        self.temperature = temperature
        self.repair = repair
        self.script = script

    def __repr__(self) -> str:
        return f"Prompt({self.name!r}, version={self.version!r})"

    @property
    def schema(self) -> type[BaseModel] | None:
        """The model whose JSON schema the reply has to follow, or None for plain text."""
        return self.Output if self.structured else None

    @cached_property
    def parts(self) -> list[tuple[str, str]]:
        """(role, template text) in the order of the file."""
        try:
            source = self.template.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise BadFile(self.template, None, f"the template of prompt {self.name!r} does not exist") from None
        except UnicodeDecodeError as error:
            raise BadFile(self.template, None, f"not UTF-8 at byte {error.start}", "save it as UTF-8") from None
        marks = list(_MARKER.finditer(source))
        ends = [*(mark.start() for mark in marks[1:]), len(source)]
        parts = [(mark[1], source[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=False)]
        roles = [role for role, _ in parts]
        if roles not in (["user"], ["system", "user"]):
            raise BadFile(
                self.template, None, f"parts {roles or 'none'}", "write '# system' (optional), then '# user', each once"
            )
        return parts

    @cached_property
    def rendered_fields(self) -> tuple[str, ...]:
        """The inputs that stand in the template, by name."""
        return tuple(sorted(name for name, field in self.Inputs.model_fields.items() if _is_rendered(field)))

    @cached_property
    def points(self) -> dict[str, str]:
        """What the template says of each thing that it gives a line of its own, "- NAME: what it says"; by name."""
        return {name: text for _, part in self.parts for name, text in _POINT.findall(part)}

    @cached_property
    def _compiled(self) -> "list[tuple[str, Template, tuple[str, ...]]]":
        """Role, template and the fields that it asks for, of each part."""
        from jinja2 import TemplateSyntaxError

        compiled = []
        for role, text in self.parts:
            try:
                compiled.append((role, *_compile(text)))
            except TemplateSyntaxError as error:
                raise BadFile(
                    self.template, None, f"in part '# {role}', line {error.lineno}: {error.message}"
                ) from None
        return compiled

    @cached_property
    def hash(self) -> str:
        """Content hash of template, output schema and version: equal hash, equal question."""
        return content_id(self.version, self.parts, schema_of(self.Output) if self.structured else None)

    def render(self, inputs: In) -> list[dict[str, Any]]:
        """Messages in OpenAI's form; a value that the template asks for and does not get is an error."""
        return list(RenderedMessages(self, inputs))

    def render_part(self, place: int, inputs: In) -> dict[str, Any]:
        """One of these messages."""
        role, template, asked = self._compiled[place]
        # __dict__ holds the fields as they are; model_dump would copy the whole tree for each call.
        return {"role": role, "content": self._render(place, template, asked, inputs.__dict__)}

    def _render(self, place: int, template: "Template", asked: tuple[str, ...], inputs: dict[str, Any]) -> str:
        """One part. Of texts alone, as instructions are, it is the same at every turn, and is rendered once."""
        key = (place, *map(inputs.get, asked))
        if not all(type(value) is str for value in key[1:]):
            return template.render(inputs)
        text = self._rendered.get(key)
        if text is None:
            if len(self._rendered) >= MOST_RENDERED:
                self._rendered.clear()
            text = self._rendered[key] = template.render(inputs)
        return text

    @cached_property
    def _rendered(self) -> dict[tuple[Any, ...], str]:
        return {}

    @cached_property
    def handler(self) -> Callable[..., Any] | None:
        """What simulated models call: `(inputs, profile, rng) -> str`, imported at the first call."""
        return self._load(self.simulate) if self.simulate else None

    @cached_property
    def draw_script(self) -> Callable[..., Any] | None:
        """What draws the script that a simulated customer or writer is handed beside the prompt."""
        return self._load(self.script) if self.script else None

    def _load(self, name: str) -> Callable[..., Any]:
        found = resources.find_object(name)
        if found is None:
            raise NoStandIn(f"no simulated model answers the prompt {self.name!r} here ({name} is not there)")
        return cast("Callable[..., Any]", found)

    def check(self) -> list[str]:
        """Complaints: template variables and rendered input fields must be the same set, the handler must exist."""
        from jinja2 import meta

        try:
            wanted: set[str] = set()
            _ = self._compiled  # a syntax error is told with its file and line
            for _, text in self.parts:
                wanted |= meta.find_undeclared_variables(_environment().parse(text))
        except BadFile as error:
            return [f"{self.name}: {error}"]
        fields = set(self.rendered_fields)
        complaints = [f"{self.name}: the template asks for {v!r}, which is no field" for v in sorted(wanted - fields)]
        complaints += [f"{self.name}: field {f!r} does not appear in the template" for f in sorted(fields - wanted)]
        if self.structured and self.Output.model_json_schema().get("type") != "object":
            complaints.append(f"{self.name}: {self.Output.__name__} is not a JSON object")
        try:
            _ = self.handler, self.draw_script
        except (ImportError, AttributeError, NoStandIn) as error:
            complaints.append(f"{self.name}: simulate={self.simulate!r}: {error}")
        return complaints


class RenderedMessages(Sequence[dict[str, Any]]):
    """What a prompt is rendered to, each message when it is first read: a model that has the inputs reads none."""

    def __init__(self, prompt: Prompt[Any, Any], inputs: BaseModel) -> None:
        if not isinstance(inputs, prompt.Inputs):
            raise TypeError(f"prompt {prompt.name!r} takes {prompt.Inputs.__name__}, not {type(inputs).__name__}")
        self._prompt, self._inputs = prompt, inputs
        self._read: list[dict[str, Any] | None] = [None] * len(prompt.parts)

    def __len__(self) -> int:
        return len(self._read)

    def __repr__(self) -> str:
        return repr(list(self))

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        message = self._read[place]
        if message is None:
            message = self._read[place] = self._prompt.render_part(place, self._inputs)
        return message
