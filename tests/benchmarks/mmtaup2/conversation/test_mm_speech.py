"""Conversations by real audio: through a service, kept with the run; what fails on the way is told as what it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.benchmark import BENCHMARK
from cxlab.benchmarks.mmtaup2.conversation import recogniser_vocabulary
from cxlab.benchmarks.mmtaup2.conversation.speech import INAUDIBLE, open_carrier
from cxlab.benchmarks.mmtaup2.options import MmOptions
from cxlab.benchmarks.mmtaup2.run import prepare, run
from cxlab.errors import CxError
from cxlab.llm import Budget, MeteredModel, load
from cxlab.records import Attempt, Sample
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from cxlab.store.load import load_attempts
from cxlab.views.failures.sounds import find_sound
from cxlab.voice import audio
from cxlab.voice.spelling import spoken
from tests.pages.app_script import open_page
from tests.voice.speech_server import SpeechServer

GONE = (401, b'{"error": {"message": "no such key"}}', {})
MODELS = {"speech_model": "tts", "transcription_model": "stt"}


@pytest.fixture(scope="module")
def running() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        yield server


@pytest.fixture
def server(running: SpeechServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SpeechServer:
    running.reset()
    (tmp_path / "models.toml").write_text(
        f'[endpoints.here]\nbase_url = "{running.url}"\nfirst_wait_s = 0.01\n'
        '[audio."endpoint:here"]\nminute_usd = 0.6\n'
    )
    monkeypatch.setenv("CXLAB_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return running


@pytest.fixture(scope="module")
def sample() -> Sample:
    config: dict[str, Any] = {"domain": "telecom", "modalities": "voice", "exposures": "0", "count": 2}
    return next(each for each in BENCHMARK.generate_now(config, 3)[1] if each.facets["persona"] == "easy")


async def play(sample: Sample, **options: Any) -> Attempt:
    setup = Setup(load("simulated:strong"), load("simulated:customer"), (), "run-1", 0, {**MODELS, **options})
    return await run(sample, setup, 1)


def test_a_run_by_a_service_keeps_its_sounds_and_plays_them(
    server: SpeechServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    config = {"domain": "telecom", "personas": "easy", "modalities": "voice", "exposures": 0, "count": 1}
    dataset, made = BENCHMARK.generate_now(config, 3)
    write.save_dataset(dataset, made)
    options = {**MODELS, "audio": "endpoint:here"}
    order = RunRequest("mmtaup2", ("simulated:strong",), "simulated:customer", dataset_id=dataset.id, options=options)
    (stored,) = create_runs(order)
    launch([stored.id], ExecutionOptions(workers=1, quiet=True))
    ((attempt, _),) = load_attempts(stored.id)
    spoken = [message for message in attempt.messages if "wav" in message.data]
    assert (attempt.outcome, len(spoken) > 5) == ("ok", True)
    assert len({message.data["wav"] for message in spoken}) == len(spoken)
    for message in spoken:
        assert find_sound(stored.id, {}, message.data["wav"]) is not None
        # Here the recogniser is without a fault.
        assert message.data["ideal"] == message.data["heard"] == message.text
        assert message.data["wer"] == 0
    # Two services, 60 cents a minute each; every sound is half a second.
    costs = {role: [m.cost_usd for m in spoken if m.role == role] for role in ("agent", "customer")}
    assert sum(costs["agent"]) + sum(costs["customer"]) == pytest.approx(len(spoken) * 2 * 0.005)
    assert attempt.cost_usd == pytest.approx(sum(costs["agent"]))
    assert all(costs.values())
    assert len(server.speech.asked) == len(spoken)
    assert {asked["voice"] for asked in server.speech.asked} == {"nova", "echo"}

    page = open_page("failures", attempt=f"{stored.id}/{attempt.id}")
    assert not page.get("audio")
    page.toggle(key="cx-sounds").set_value(True).run()
    assert not page.exception
    assert len(page.get("audio")) == len(spoken)


async def test_a_fault_of_the_service_ends_it_as_the_providers(server: SpeechServer, sample: Sample) -> None:
    server.transcription.first = [GONE]
    attempt = await play(sample, audio="endpoint:here")
    assert (attempt.outcome, attempt.ended_by) == ("provider", "provider")
    (failure,) = attempt.failures
    assert (failure.where, failure.type, failure.turn) == ("provider", "auth", 0)
    assert failure.message.startswith("transcription: HTTP 401")
    # Nobody heard anything, so nothing was misheard.
    assert [(m.text, m.data["delivered"], "wer" in m.data) for m in attempt.messages] == [("", False, False)]
    assert attempt.output["wer"] == 0
    assert attempt.cost_usd == pytest.approx(0.005), "what was spoken is paid for"


async def test_a_run_without_a_store_keeps_no_sounds_and_a_budget_stops_it(
    server: SpeechServer, sample: Sample, tmp_path: Path
) -> None:
    model = MeteredModel(load("simulated:strong"), Budget(0.02))
    setup = Setup(model, load("simulated:customer"), (), "run-9", 0, {**MODELS, "audio": "endpoint:here"})
    attempt = await run(sample, setup, 1)
    assert [failure.type for failure in attempt.failures] == ["budget"]
    assert not list(tmp_path.rglob("*.wav"))
    assert not any("wav" in message.data for message in attempt.messages)


async def test_what_nobody_understood_is_told_as_such(server: SpeechServer) -> None:
    class Deaf:
        def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
            return "", {}

    carried = await open_carrier("voice", 1, ears=Deaf()).carry("agent", "Hello there", 1)
    assert (carried.text, carried.data["heard"], carried.data["wer"]) == (INAUDIBLE, "", 1.0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"audio": "gramophone"}, "channel, espeak, openai or endpoint:NAME"),
        ({"audio": "openai"}, "OPENAI_API_KEY"),
        ({"audio": "endpoint:nobody"}, "nobody"),
        ({"audio": "espeak"}, "apt install espeak-ng"),
        ({"modality": "text"}, "modality=text: the dataset has samples with modality voice"),
    ],
)
def test_what_is_not_there_is_refused_before_anything_is_played(
    server: SpeechServer, sample: Sample, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(audio.shutil, "which", lambda name: None)
    with pytest.raises(CxError, match=says):
        list(prepare([sample], MmOptions.read(options)))
    assert list(prepare([sample], MmOptions())) == [(1, 1, "lines")]
    text = sample.model_copy(update={"facets": sample.facets | {"modality": "text"}})
    assert list(prepare([text], MmOptions(audio="espeak"))) == [], "a chat needs no audio"


@pytest.mark.parametrize("domain", ["telecom", "retail"])
def test_a_recogniser_is_told_words_and_no_conversation(domain: str, sample: Sample) -> None:
    sentences, parts = recogniser_vocabulary.sentences(domain), recogniser_vocabulary.parts(domain)
    texts = [text for text, _ in (*sentences, *parts)]
    assert not any("<" in text or spoken(text) == ["thing"] for text in texts)
    assert all(weight > 0 for _, weight in (*sentences, *parts))
    words = {word for text in texts for word in spoken(text)}
    assert words >= ({"roaming", "sim", "oduya"} if domain == "telecom" else {"refund", "duvet", "chaudhry"})
    # No number of a task is among them: numbers are digits in any order.
    numbers = {text for text in texts if any(char.isdigit() for char in text)}
    known = sample.inputs["known"]["facts"] if "known" in sample.inputs else {}
    assert not [value for value in known.values() if isinstance(value, str) and any(value in text for text in numbers)]
