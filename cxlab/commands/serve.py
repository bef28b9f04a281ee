"""`models`, `bench` and `app`."""

import os
import re
import subprocess
import sys
import time
import tomllib
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cxlab.commands import json_line
from cxlab.errors import BadFile, BadOption

BENCHES = ("runner", "pages", "sessions", "storage", "retrieval", "conversations", "generation", "crm", "first")


def models(
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """The models that can be named, and what is missing for those that cannot be used yet."""
    from cxlab import llm
    from cxlab.benchmarks import list_models

    known = list_models()
    for complaint in llm.complaints():
        print(f"cxlab: {complaint}", file=sys.stderr)
    if as_json:
        json_line.say([{"name": m.name, "kind": m.kind, "simulated": m.simulated, "needs": m.needs} for m in known])
        return
    for model in known:
        mark = "ready" if model.configured else f"needs: {model.needs}"
        print(f"{model.name}  [{mark}]  {model.description}")


def bench(
    what: Annotated[str, typer.Argument(help=f"{', '.join(BENCHES[:-1])} or {BENCHES[-1]}.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Passed on to the programme.")] = None,
) -> None:
    """Measure a part of CX Lab on this machine."""
    if what not in BENCHES:
        raise BadOption(f"bench {what!r}: known are {', '.join(BENCHES)}")
    import importlib
    import inspect

    program = importlib.import_module(f"cxlab.bench.{what}")
    if inspect.signature(program.main).parameters:
        raise typer.Exit(program.main(arguments or []))
    if arguments:
        raise BadOption(f"bench {what} takes no arguments, not {' '.join(arguments)!r}")
    raise typer.Exit(program.main())


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port on this machine.")] = 8501,
    browser: Annotated[bool, typer.Option(help="Open a browser once the app answers.")] = True,
    host_name: Annotated[
        list[str] | None,
        typer.Option(help="A name by which browsers reach this server through your proxy, repeatable."),
    ] = None,
    import_root: Annotated[
        Path | None,
        typer.Option(help="The folder that pages may import from. Default: imports in the store's folder."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="Fill an empty store with simulated agents.")] = True,
    dev: Annotated[bool, typer.Option("--dev", help="Watch the source files and offer to run pages anew.")] = False,
) -> None:
    """Open the app on this machine: http://127.0.0.1:8501."""
    from cxlab.importers.import_root import VARIABLE
    from cxlab.jobs import NO_AUTOSTART
    from cxlab.resources import serve_environment, site
    from cxlab.store import home

    root = site()
    program = root / "app.py"
    # Bound to this machine only: the app starts processes and shows whole dialogues.
    command = [sys.executable, "-m", "streamlit", "run", str(program)]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    if host_name:
        own = tomllib.loads((root / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]["allowedHosts"]
        for name in (*own, *map(_read_host_name, host_name)):
            command += ["--server.allowedHosts", name]
    command += ["--server.fileWatcherType", "auto" if dev else "none", "--runner.postScriptGC", "false"]
    if import_root is not None:
        if not import_root.is_dir():
            raise BadFile(import_root, None, "is no folder", "give the folder that pages may import from")
        os.environ[VARIABLE] = str(import_root.resolve())
    if not demo:
        os.environ[NO_AUTOSTART] = "1"
    os.environ["CXLAB_HOME"] = str(home())  # as it is meant here, wherever the server stands
    os.environ.update(serve_environment())
    address = f"http://127.0.0.1:{port}"
    print(f"CX Lab: {address}", file=sys.stderr, flush=True)
    if browser:
        opening = f"from {__name__} import open_when_up; open_when_up({address!r})"
        subprocess.Popen([sys.executable, "-c", opening], start_new_session=True, cwd=root)
    # In place of this process: whoever ends it ends the server and nothing is left on the port.
    os.chdir(root)
    os.execv(command[0], command)


def _read_host_name(given: str) -> str:
    """The name as Streamlit's option wants it: of version 6 without brackets, and no port."""
    name = given.strip().lower().removeprefix("[").removesuffix("]")
    if not re.fullmatch(r"(\*\.)?[a-z0-9_.-]+|[0-9a-f:]+:[0-9a-f:]*", name):
        raise BadOption(f"--host-name {given!r}; give the name alone, such as lab.example, without scheme and port")
    return name


def open_when_up(address: str, seconds: float = 60.0) -> None:
    """Open a browser once the server answers; on a machine without one nothing happens."""
    import urllib.error  # late: every command would wait for it
    import urllib.request

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
            continue
        webbrowser.open(address)
        return
