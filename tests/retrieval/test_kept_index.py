"""The kept Chroma index: brought up to date by what has changed, also across processes, and on a server."""

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cxlab.errors import BadOption, NotConfigured, Unreachable
from cxlab.retrieval import kept_index
from cxlab.retrieval.embedders.embeddings import load_embedder
from cxlab.retrieval.kept_index import Piece

HASHING = load_embedder("hashing")


def pieces(*texts: str) -> dict[str, Piece]:
    return {f"{text}-id": Piece(text, {"text": text, "length": len(text)}) for text in texts}


def bring(folder: Path, *texts: str) -> list[tuple[int, int]]:
    return list(kept_index.update(folder, pieces(*texts), HASHING, ",".join(texts)))


def ask(folder: Path, question: str, count: int = 3) -> list[str]:
    return [each.note["text"] for each in kept_index.find_near(folder, HASHING.embed([question])[0], count)]


def test_an_update_embeds_only_what_is_new_and_drops_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bring(tmp_path, "a late parcel", "a refund") == [(0, 2), (2, 2)]
    assert ask(tmp_path, "late parcel", 1) == ["a late parcel"]
    embedded: list[str] = []
    real = HASHING.embed

    def noting(texts: Sequence[str]) -> Any:
        embedded.extend(texts)
        return real(texts)

    monkeypatch.setattr(HASHING, "embed", noting)
    assert bring(tmp_path, "a refund", "brown boots") == [(0, 1), (1, 1)]
    assert embedded == ["brown boots"]
    assert set(ask(tmp_path, "boots")) == {"a refund", "brown boots"}
    state = kept_index.read_state(tmp_path)
    assert state is not None
    assert (state.holds, state.pieces) == ("a refund,brown boots", 2)


def test_a_build_that_broke_off_is_not_there_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_index, "STEP", 1)
    steps = kept_index.update(tmp_path, pieces("one", "two", "three"), HASHING, "all")
    assert [next(steps), next(steps)] == [(0, 3), (1, 3)]
    steps.close()
    assert kept_index.read_state(tmp_path) is None
    with pytest.raises(BadOption, match="not built"):
        ask(tmp_path, "one")
    assert bring(tmp_path, "one", "two", "three")[0] == (0, 2)
    assert set(ask(tmp_path, "two")) == {"one", "two", "three"}


def test_what_another_process_writes_is_seen(tmp_path: Path) -> None:
    bring(tmp_path, "a late parcel")
    assert ask(tmp_path, "boots") == ["a late parcel"]
    code = (
        "import sys; from pathlib import Path; from tests.retrieval.test_kept_index import bring;"
        "bring(Path(sys.argv[1]), 'a late parcel', 'brown boots')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert ask(tmp_path, "boots", 1) == ["brown boots"]


def test_a_folder_that_chroma_cannot_read_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "chroma.sqlite3").write_bytes(b"no data base" * 100)
    bring(tmp_path, "a refund")
    assert ask(tmp_path, "refund") == ["a refund"]


def test_a_server_that_is_not_there_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path, "a refund")
    monkeypatch.setenv(kept_index.SERVER, "http://127.0.0.1:9")
    assert kept_index.read_state(tmp_path) is None, "what lies in a folder is not on a server"
    with pytest.raises(Unreachable, match="no Chroma server answers at"):
        bring(tmp_path, "a refund")
    monkeypatch.setenv(kept_index.SERVER, "somewhere")
    with pytest.raises(NotConfigured, match="is no address"):
        bring(tmp_path, "a refund")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server of its own, as `chroma run` starts it."""
    program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or shutil.which("chroma")
    if program is None:
        pytest.skip("chromadb brought no program to run a server with")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("chroma")
    with (log / "log").open("wb") as told:
        words = [program, "run", "--path", str(log / "data"), "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(words, stdout=told, stderr=told, start_new_session=True)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        if process.poll() is not None:
            pytest.skip(f"chroma run ended at once: {(log / 'log').read_text(errors='replace')[-200:]}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_a_server_that_chroma_run_starts_keeps_the_index(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_index.SERVER, server)
    assert bring(tmp_path, "a late parcel", "a refund") == [(0, 2), (2, 2)]
    assert ask(tmp_path, "late parcel", 1) == ["a late parcel"]
    assert not (tmp_path / "chroma").exists(), "nothing lies in the folder"
    # Only what is new goes there, and what is gone goes.
    assert bring(tmp_path, "a refund", "brown boots") == [(0, 1), (1, 1)]
    assert set(ask(tmp_path, "boots")) == {"a refund", "brown boots"}
    other = tmp_path / "other"
    with pytest.raises(BadOption, match="not built"):
        ask(other, "boots")
