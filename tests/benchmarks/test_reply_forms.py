"""Forms in which real models put what was asked for: with every role real, each benchmark reads all of them alike."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runner.shell import make_shell

from tests.benchmarks.strong_server import StrongServer

# Samples are spread over tasks and domains: so many are one of each.
RUNS: list[tuple[str, tuple[str, ...]]] = [
    ("sage", ("--limit", "2", "--customer", "endpoint:customer", "--judge", "endpoint:judge")),
    ("cxmarena", ("--limit", "8", "--judge", "endpoint:judge")),
    ("mmtaup2", ("--limit", "2", "--customer", "endpoint:customer", "--judge", "endpoint:judge")),
    ("crmarena", ("--limit", "3")),
    ("cdr", ("--limit", "3")),
]
Message = dict[str, Any]


@pytest.fixture(scope="module")
def server() -> Iterator[StrongServer]:
    with StrongServer() as running:
        yield running


def as_text(value: Any) -> Any:
    """Numbers and truths as strings, at any depth."""
    if isinstance(value, dict):
        return {key: as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_text(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int | float) else value


def bare(value: Any) -> Any:
    """Null for an empty list, one thing for a list of one."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items()}
    if isinstance(value, list):
        return None if not value else bare(value[0]) if len(value) == 1 else [bare(one) for one in value]
    return value


def fenced(said: Any) -> str:
    more = {**said, "confidence": 0.9, "notes": ["none"]}
    return f"<think>Let me see.</think>Here it is:\n```json\n{json.dumps(more, indent=2)}\n```\nTell me if I can help."


FORMS: dict[str, Callable[[Any], str]] = {
    "in a fence, with prose around it and fields more": fenced,
    "numbers and truths as strings": lambda said: json.dumps(as_text(said)),
    "wrapped in a key of its own": lambda said: json.dumps({"response": said}),
    "in a list of one": lambda said: json.dumps([said]),
    "one thing for a list of one, null for none": lambda said: json.dumps(bare(said)),
}


def put(form: Callable[[Any], str]) -> Callable[[Message], Message]:
    """The message with its JSON in this form; reasoning beside it, and null for the text beside a call."""

    def change(message: Message) -> Message:
        text: str | None = message["content"]
        if text and text.startswith("{"):
            text = form(json.loads(text))
        calls = message.get("tool_calls")
        return {**message, "content": None if calls and not text else text, "reasoning_content": "Let me think."}

    return change


@pytest.mark.parametrize(("benchmark", "words"), RUNS, ids=[run[0] for run in RUNS])
def test_every_form_is_read_alike(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: StrongServer,
    generated: Callable[[str, Path], str],
    benchmark: str,
    words: tuple[str, ...],
) -> None:
    shell = make_shell(tmp_path / "home", monkeypatch)
    dataset = generated(benchmark, shell.home)
    (shell.home / "models.toml").write_text(server.settings())
    found: dict[str, Any] = {}
    for name, form in {"plain": json.dumps, **FORMS}.items():
        server.form = put(form)
        server.calls.clear()
        said = shell.call(
            "run", benchmark, "--dataset", dataset, "--model", "endpoint:agent", *words, "--json", "--quiet"
        )
        assert said.returncode == 0, said.stderr
        (run,) = json.loads(said.stdout.splitlines()[-1])["runs"]
        found[name] = {key: run[key] for key in ("ok", "format", "provider", "mean")} | {"calls": dict(server.calls)}
    assert found["plain"]["ok"] > 0
    assert found["plain"]["format"] == 0
    for name, one in found.items():
        assert one == found["plain"], name
