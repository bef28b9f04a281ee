"""The sounds of a run are found by the names its messages have, and nothing else ever is."""

from pathlib import Path

import pytest

from cxlab.views.failures.sounds import find_sound

RUN = "run-1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("run-1/sounds/a1/agent.wav", "run-1/sounds/a1/notes.txt", "run-1/run.json", "run-2/sounds/a2/x.wav"):
        path = tmp_path / "home" / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF")
    (tmp_path / "secret.wav").write_bytes(b"RIFF")
    (tmp_path / "home/runs/run-1/sounds/a1/link.wav").symlink_to(tmp_path / "secret.wav")
    return tmp_path / "home"


def test_a_sound_is_found_in_its_run_and_in_the_run_it_was_taken_from(home: Path) -> None:
    assert find_sound(RUN, {}, "sounds/a1/agent.wav", home) == home / "runs/run-1/sounds/a1/agent.wav"
    assert find_sound(RUN, {}, "sounds/a2/x.wav", home) is None
    for key in ("rescored_from", "retried_from"):
        assert find_sound(RUN, {key: "run-2"}, "sounds/a2/x.wav", home) == home / "runs/run-2/sounds/a2/x.wav"


@pytest.mark.parametrize(
    "name",
    [
        "sounds/a1/gone.wav", "sounds/a1/notes.txt", "sounds/a1", "run.json", "sounds/../run.json",
        "../run-2/sounds/a2/x.wav", "sounds/../../run-2/sounds/a2/x.wav", "../../../secret.wav", "sounds/a1/link.wav",
        "HOME/secret.wav", "", "\0.wav", "~/secret.wav", None, 3, ["sounds/a1/agent.wav"],
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_sounds(home: Path, name: object) -> None:
    if isinstance(name, str):
        name = name.replace("HOME", str(home.parent))
    assert find_sound(RUN, {"rescored_from": "../../.."}, name, home) is None
