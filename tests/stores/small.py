"""Stores with next to nothing in them, by real runs: so many attempts of each benchmark."""

import json
from pathlib import Path

from llm.fault_server import FaultServer
from runner.shell import Shell

from tests.benchmarks.cxmarena.importers.cxm_folder import make, store

KINDS = {"none": 0, "one": 1, "twelve": 12, "failed": 12}
"""Kind of store → attempts of each benchmark; those of "failed" met a server that turns everybody away."""


def make_small_store(kind: str, home: Path) -> Path:
    """Write the store; its folder."""
    if not KINDS[kind]:
        return home
    shell = Shell(home)
    (home / "in").mkdir()
    store(home / "in", make())
    dataset = json.loads(shell.call("import", "cxmarena", str(home / "in"), "--json").stdout)["dataset"]
    with FaultServer() as server:
        model = "simulated:strong"
        if kind == "failed":
            shell.endpoint(server.scene("status", status=401).url)
            model = "endpoint:test"
        for words in (("sage",), ("mmtaup2",), ("cxmarena", "--dataset", dataset)):
            said = shell.call("run", *words, "--model", model, "--limit", str(KINDS[kind]), "--quiet")
            if said.returncode not in (0, 3):
                raise RuntimeError(said.stderr)
    return home
