"""What tests need once and would make anew for each worker, each page and each command."""

import compileall
import contextlib
import functools
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite


def share_between_commands() -> None:
    """The tree of commands is made once, not for each command that is called."""
    import typer.main
    import typer.testing

    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.testing._get_command = typer.main.get_command


def share_between_pages() -> None:
    """What each AppTest would read and compile for itself, and a wait that does not ask a thousand times a second."""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache
    from streamlit.testing.v1 import local_script_runner

    # What all installed packages say of themselves.
    manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

    # The compiled pages; those that a test writes have a path of their own each time.
    compiled, get_bytecode = ScriptCache(), ScriptCache.get_bytecode
    ScriptCache.get_bytecode = lambda _, path: get_bytecode(compiled, path)

    # A server knows after the first run that app.py has a navigation of its own; an AppTest would first make one of the
    # files in pages/ for each run.
    enter = PagesManager.__init__

    def with_navigation(manager: PagesManager, *args: Any, **kwargs: Any) -> None:
        PagesManager.uses_pages_directory = False
        enter(manager, *args, **kwargs)

    PagesManager.__init__ = with_navigation

    ask = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(timeout)
        if not runner.script_stopped():
            ask(runner, 0)

    local_script_runner.require_widgets_deltas = wait


def use_one_thread() -> None:
    """DuckDB has no variable for it: a query over a few rows costs a tenth less when no second thread is woken."""
    import duckdb

    connect = duckdb.connect

    def connect_alone(*args: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        return connect(*args, **{**options, "config": {"threads": 1, **options.get("config", {})}})

    duckdb.connect = connect_alone


def share_between_stores() -> None:
    """The database of an empty store: it holds views by relative paths, so that of one store is as good as another's.

    Making it is what a new store takes longest for. The first of a process is made as it should be; tests of the
    making itself take the fixture `views_made_anew`.
    """
    from cxlab.store import connect

    make = connect._create
    made: dict[object, bytes] = {}

    @functools.wraps(make)
    def create(base: Path) -> None:
        # What it is made from may be changed by a test.
        wanted = connect._wanted_version(), connect.MIGRATIONS
        if wanted not in made:
            make(base)
            made[wanted] = (base / connect.DATABASE).read_bytes()
            return
        connect.make_empty_parts(base, anew=True)
        fresh = base / "tmp" / f"{connect.DATABASE}.{os.getpid()}"
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(made[wanted])
        with contextlib.suppress(FileExistsError):
            os.link(fresh, base / connect.DATABASE)
        fresh.unlink()

    connect._create = create


def share() -> None:
    """All of it that this process uses."""
    share_between_commands()
    if "cxlab.store.connect" in sys.modules:
        share_between_stores()
        use_one_thread()
    if "streamlit" in sys.modules:
        share_between_pages()


def share_between_workers(config: pytest.Config) -> None:
    """On a fresh checkout each worker would compile the same files, and draw the same table of characters."""
    # Hypothesis keeps the table in a file, which is there before the first test is collected.
    table = "from hypothesis.internal import charmap; charmap.charmap(); charmap.intervals_from_codec('utf-8')"
    subprocess.Popen([sys.executable, "-c", table], cwd=config.rootpath)
    files = [path for room in ("cxlab", "tests") for path in (config.rootpath / room).rglob("*.py")]
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), _take, (config,)) as pool:
        pool.map(_compile, files, chunksize=16)


_taken: list[pytest.Config] = []


def _take(config: pytest.Config) -> None:
    _taken.append(config)


def _compile(path: Path) -> None:
    """As it will be imported: tests with asserts that tell of both sides, all else as it is."""
    if not path.name.startswith("test_") and path.name != "conftest.py":
        compileall.compile_file(path, quiet=2)
        return
    (config,), folder = _taken, rewrite.get_cache_dir(path)
    compiled = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    # What cannot be compiled says so when it is imported, and a later pytest may do all of this otherwise.
    with contextlib.suppress(Exception):
        if rewrite._read_pyc(path, compiled) is None and rewrite.try_makedirs(folder):
            digest, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, compiled)
