"""`models`, `bench` and `app`."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from cxlab.errors import BadOption, NotConfigured

BENCHES = ("runner", "pages", "storage", "retrieval", "generation")


def models(
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """The models that can be named, and what is missing for those that cannot be used yet."""
    from cxlab import llm

    known = llm.known()
    for complaint in llm.complaints():
        print(f"cxlab: {complaint}", file=sys.stderr)
    if as_json:
        print(json.dumps([{"name": m.name, "kind": m.kind, "simulated": m.simulated, "needs": m.needs} for m in known]))
        return
    for model in known:
        mark = "ready" if model.configured else f"needs: {model.needs}"
        print(f"{model.name}  [{mark}]  {model.description}")


def bench(
    what: Annotated[str, typer.Argument(help="runner, pages, storage, retrieval or generation.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Passed on to the programme, after --.")] = None,
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
    port: Annotated[int, typer.Option(help="The port on this machine.")] = 8501,
    browser: Annotated[bool, typer.Option(help="Open a browser once the app answers.")] = True,
) -> None:
    """Open the app on this machine: http://127.0.0.1:8501."""
    root = Path(__file__).resolve().parents[2]
    program = root / "app.py"
    if not program.exists():
        raise NotConfigured(f"{program} is missing; run the app from a checkout of the project")
    # Bound to this machine only: the app starts processes and shows whole dialogues.
    command = [sys.executable, "-m", "streamlit", "run", str(program)]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.fileWatcherType", "none"]
    address = f"http://127.0.0.1:{port}"
    print(f"CX Lab: {address}", file=sys.stderr)
    if browser:
        threading.Thread(target=_open_when_up, args=(address,), daemon=True).start()
    raise typer.Exit(subprocess.call(command, cwd=root))


def _open_when_up(address: str, seconds: float = 60.0) -> None:
    """Open a browser once the server answers; on a machine without one nothing happens."""
    import time
    import urllib.error
    import urllib.request
    import webbrowser

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
            continue
        webbrowser.open(address)
        return
