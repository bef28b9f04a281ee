"""Speech and transcription by a service: the real client against a server of our own, well and badly behaved."""

import io
import json
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cxlab.errors import BadFile, BadOption, NotConfigured, UnknownName
from cxlab.llm import Budget
from cxlab.voice.service import open_service
from cxlab.voice.sound_files import SoundFolder
from cxlab.voice.spoken_message import SpokenMessage

from .speech_server import SpeechServer, tone

KEY = "sk-a-very-secret-key"
SAID = "Please reboot the phone."
LIMITED = (429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0.01"})
BROKEN = (500, b'{"error": {"message": "it broke"}}', {})


@pytest.fixture(scope="module")
def running() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        yield server


@pytest.fixture
def server(running: SpeechServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SpeechServer:
    running.reset()
    models = tmp_path / "models.toml"
    models.write_text(
        f'[endpoints.here]\nbase_url = "{running.url}"\nkey_variable = "HERE_KEY"\n'
        "attempts = 3\nfirst_wait_s = 0.01\nread_timeout_s = 0.3\n"
        '[audio."endpoint:here/paid-tts"]\ncharacters_usd = 10.0\n'
        '[audio."endpoint:here/paid-stt"]\nminute_usd = 0.6\n'
    )
    monkeypatch.setenv("CXLAB_MODELS", str(models))
    monkeypatch.setenv("HERE_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return running


Listen = Callable[..., Any]
PAID = {"speech_model": "paid-tts", "transcription_model": "paid-stt"}


async def listen(text: str = SAID, side: str = "agent", **settings: Any) -> SpokenMessage:
    options = {name: settings.pop(name) for name in list(settings) if name not in ("keep", "budget")}
    line = open_service("endpoint:here", options, **settings)
    try:
        return await line.listen(side, text, 0x2A)
    finally:
        await line.aclose()


async def test_a_text_is_said_and_written_down_and_the_sound_is_kept(server: SpeechServer, tmp_path: Path) -> None:
    heard = await listen(agent_voice="shimmer", keep=SoundFolder(tmp_path, "sounds/a1"), **PAID)
    assert (heard.heard, heard.failure) == (SAID, None)
    assert server.speech.asked == [
        {"input": SAID, "voice": "shimmer", "response_format": "wav", "model": "paid-tts"},
    ]
    form = server.transcription.asked[0]
    assert (form["model"], form["language"], form["response_format"]) == ("paid-stt", "en", "json")
    assert heard.data == {"seconds": 0.5, "wav": "sounds/a1/agent-0000002a.wav"}
    kept = (tmp_path / heard.data["wav"]).read_bytes()
    assert kept == form["file"]
    with wave.open(io.BytesIO(kept)) as file:
        assert file.getnframes() == 12_000, "the header of what is kept says how long it is"
    # 24 characters at 10 USD a million, and half a second at 60 cents a minute.
    assert heard.cost_usd == pytest.approx(24e-5 + 0.005)
    assert (heard.usage.calls, heard.usage.retries, heard.usage.prompt_tokens) == (2, 0, 0)
    assert server.speech.headers[0]["authorization"] == f"Bearer {KEY}"
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in everything


@pytest.mark.parametrize("format", ["wav", "pcm", "mp3", "flac"])
async def test_formats(server: SpeechServer, tmp_path: Path, format: str) -> None:
    sounds = {"wav": tone(0.2, False), "pcm": b"\1\0" * 4800, "mp3": b"ID3 mp3", "flac": b"fLaC flac"}
    server.speech.usual = sounds[format]
    heard = await listen(speech_format=format, keep=SoundFolder(tmp_path), **PAID)
    assert heard.heard == SAID
    plays = "wav" if format == "pcm" else format
    assert heard.data["wav"] == f"agent-0000002a.{plays}"
    # How long a compressed sound is stays unknown here, and so does what a minute of it costs.
    assert (heard.data.get("seconds"), heard.cost_usd is None) == ((0.2, False) if plays == "wav" else (None, True))


async def test_without_a_price_the_cost_is_unknown_and_never_nothing(server: SpeechServer) -> None:
    assert (await listen()).cost_usd is None
    assert (await listen(speech_model="paid-tts")).cost_usd is None
    assert (server.speech.asked[0]["model"], server.transcription.asked[0]["model"]) == ("tts-1", "whisper-1")


@pytest.mark.parametrize("step", ["speech", "transcription"])
async def test_what_passes_is_tried_again(server: SpeechServer, step: str) -> None:
    getattr(server, step).first = [LIMITED, BROKEN]
    heard = await listen(**PAID)
    assert (heard.heard, heard.failure, heard.usage.retries) == (SAID, None, 2)


@pytest.mark.parametrize(
    ("step", "replies", "usual", "type", "retryable", "asked"),
    [
        ("speech", [LIMITED] * 3, None, "rate_limited", True, 3),
        ("speech", [BROKEN] * 3, None, "server_error", True, 3),
        ("speech", [(401, b'{"error": {"message": "bad key sk-a-very-secret-key"}}', {})], None, "auth", False, 1),
        ("speech", [], b"RIFF but no sound", "bad_reply", True, 3),
        ("speech", [], b"<html>proxy</html>", "bad_reply", True, 3),
        ("speech", [], b"", "bad_reply", True, 3),
        ("speech", [], tone(0.0), "bad_reply", True, 3),
        ("transcription", [BROKEN] * 3, None, "server_error", True, 3),
        ("transcription", [(400, b'{"error": {"message": "no such model"}}', {})], None, "bad_request", False, 1),
        ("transcription", [], b"plain words", "bad_reply", True, 3),
        ("transcription", [], b'{"text": null}', "bad_reply", True, 3),
    ],
)
async def test_faults_are_told_apart_and_say_which_step_it_was(
    server: SpeechServer, step: str, replies: list[Any], usual: bytes | None, type: str, retryable: bool, asked: int
) -> None:
    behaving = getattr(server, step)
    behaving.first, behaving.usual = list(replies), usual
    heard = await listen(**PAID)
    assert heard.failure is not None
    assert (heard.failure.where, heard.failure.type, heard.failure.retryable) == ("provider", type, retryable)
    assert heard.failure.message.startswith(f"{step}: ")
    assert KEY not in heard.failure.message
    assert (heard.heard, len(behaving.asked)) == ("", asked)
    # What was spoken before the fault is paid for.
    assert heard.cost_usd == (0.0 if step == "speech" else pytest.approx(24e-5))


async def test_a_server_that_does_not_answer_is_a_timeout(server: SpeechServer) -> None:
    server.transcription.wait_s = 0.6
    heard = await listen()
    assert heard.failure is not None
    assert heard.failure.type == "timeout"
    assert len(server.transcription.asked) == 2, "a timeout is tried once more only"


async def test_nothing_understood_is_no_fault_and_nothing_said_asks_nobody(server: SpeechServer) -> None:
    server.transcription.usual = json.dumps({"text": " \n"}).encode()
    heard = await listen(**PAID)
    assert (heard.heard, heard.failure) == ("", None)
    assert heard.data["seconds"] == 0.5
    silent = await listen(" ")
    assert (silent, len(server.speech.asked)) == (SpokenMessage(""), 1)


async def test_a_spent_budget_stops_it(server: SpeechServer) -> None:
    budget = Budget(0.003)
    first = await listen(budget=budget, **PAID)
    assert first.failure is None
    assert budget.spent_usd == pytest.approx(24e-5 + 0.005)
    second = await listen(budget=budget, **PAID)
    assert second.failure is not None
    assert (second.failure.type, len(server.speech.asked)) == ("budget", 1)


@pytest.mark.parametrize(
    ("audio", "options", "error", "says"),
    [
        ("openai", {}, NotConfigured, "OPENAI_API_KEY"),
        ("endpoint:nobody", {}, UnknownName, "nobody"),
        ("endpoint:", {}, BadOption, "endpoint:NAME"),
        ("openai:tts-1", {}, BadOption, "endpoint:NAME"),
        ("endpoint:here", {"speech_format": "ogg"}, BadOption, "wav, pcm, mp3, flac"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    server: SpeechServer, audio: str, options: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        open_service(audio, options)


def test_a_key_in_the_price_table_is_refused(server: SpeechServer, tmp_path: Path, monkeypatch: Any) -> None:
    other = tmp_path / "other.toml"
    other.write_text(f'[audio."openai:tts-1"]\nkey = "{KEY}"\n')
    monkeypatch.setenv("CXLAB_MODELS", str(other))
    with pytest.raises(BadFile, match="holds a key") as refused:
        open_service("openai", {"speech_model": "tts-1"})
    assert KEY not in str(refused.value)
