"""The store that is recorded: small datasets and runs of the three benchmarks, made by the command line alone."""

import itertools
import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from typer.testing import CliRunner

JUDGES = [f"--judge=simulated:judge-{name}" for name in ("strict", "lenient", "partial")]
NOISE = "--noise=formats,acronyms,fragmentation,speech,ivr"


@dataclass
class Store:
    """Where it lies and what is in it: name → id of the runs and datasets, in the order in which they were made."""

    home: Path
    datasets: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    told: dict[str, dict[str, object]] = field(default_factory=dict)
    """Name of a run or dataset → what the command said of it."""


def steady_process(home: Path) -> None:
    """Ids that are drawn, and times that are measured, are the same in each recording.

    Only the standard library is touched: lists on the pages are in the order of ids where all else is equal, and
    attempts have ids made from their run's.
    """
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_KEY")) or name.startswith("CXLAB_")]:
        del os.environ[name]
    os.environ.update(CXLAB_HOME=str(home), CXLAB_NO_AUTOSTART="1", TZ="UTC")
    drawn, noon = itertools.count(1), time.struct_time((2026, 1, 1, 12, 0, 0, 3, 1, 0))
    secrets.token_hex = lambda nbytes=None: f"{next(drawn):0{2 * (nbytes or 32)}x}"
    real = time.gmtime
    time.gmtime = lambda seconds=None: noon if seconds is None else real(seconds)
    time.perf_counter = lambda: 0.0


def make(home: Path, workers: int = 1) -> Store:
    """Fill an empty home; takes about ten seconds."""
    store = Store(home)
    manner = ["--json", "--quiet", f"--workers={workers}"]

    def generate(name: str, *words: str) -> None:
        told = call("generate", *words, "--json", "--quiet")
        store.datasets[name], store.told[name] = told["dataset"], told
        store.folders[name] = Path(told["folder"])

    def run(names: str, *words: str) -> None:
        keep(names, call("run", *words, *manner))

    def keep(names: str, told: dict) -> None:
        for name, entry in zip(names.split(), told["runs"], strict=True):
            store.runs[name], store.told[name] = entry["run"], entry

    cx = ["cxmarena", "--size=37", f"--workers={workers}"]
    generate("sage", "sage")
    generate("hearthwise", *cx, "--brand=hearthwise", "--seed=1", NOISE)
    generate("solvanne", *cx, "--brand=solvanne", "--seed=2", "--noise=none", "--no-validate")
    generate("mmtaup2", "mmtaup2", "--seed=1", "--option=count=2")

    def data(name: str) -> str:
        return f"--dataset={store.datasets[name]}"

    # SAGE: two agents that are compared, the floor, and both switches.
    run("strong weak", "sage", *_models("strong", "weak"), "--limit=8", *JUDGES)
    run("floor", "sage", *_models("floor"), "--limit=4", *JUDGES)
    run("strong-hidden", "sage", *_models("strong"), "--limit=4", "--option=system_info=false")
    run("strong-shown", "sage", *_models("strong"), "--limit=4", "--option=system_info=true", "--option=glossary=false")
    run("base-trials", "sage", *_models("base"), "--limit=3", "--trials=2", "--turns=4", "--seed=5", *JUDGES)
    keep("weak-again", call("score", store.runs["weak"], "--judge=simulated:judge-fair", "--json", "--quiet"))

    # CXMArena: all tasks, other indexes and the ways that options open.
    run("cx-strong", "cxmarena", data("hearthwise"), *_models("strong"), "--limit=100", *JUDGES)
    run("cx-weak cx-floor", "cxmarena", data("hearthwise"), *_models("weak", "floor"), "--limit=36", *JUDGES)
    search = ["--scenario=article_search", "--scenario=multi_turn"]
    options = ["retrieval=hashing", "chunk=400", "overlap=50", "query=last", "answer=true", "verify=false"]
    run("cx-hashing", "cxmarena", data("hearthwise"), *_models("base"), *search, "--limit=16", *_options(options))
    options = ["similar=model", "candidates=articles", "neighbours=4", "contradictions=facts", "na=false"]
    options += ["sizes=16,64", "mode=forced", "retrieval=hybrid", "respond=false"]
    run("cx-options", "cxmarena", data("hearthwise"), *_models("strong"), "--limit=24", *_options(options))
    run("cx-french", "cxmarena", data("solvanne"), *_models("strong"), "--limit=24", *JUDGES)

    # MM-tau-p²: personas, exposures and both channels of the same tasks, floors, the rule about handing over.
    run("mm-strong", "mmtaup2", data("mmtaup2"), *_models("strong"), "--limit=18", *JUDGES)
    run("mm-weak", "mmtaup2", data("mmtaup2"), *_models("weak"), "--limit=8", *JUDGES)
    floors = _models("floor-transfer", "floor-nothing")
    run("mm-transfer mm-nothing", "mmtaup2", data("mmtaup2"), *floors, "--limit=3", "--option=wer=0.3", *JUDGES)
    keep("mm-rules", call("patch", store.runs["mm-weak"], "--version=1", "--version=2", *manner))
    return store


def call(*words: str) -> dict:
    """Run one command in this process; what its last line says."""
    return json.loads(say(*words).splitlines()[-1])


def say(*words: str, codes: Sequence[int] = (0,)) -> str:
    """Run one command in this process; what it prints. RuntimeError for an exit code that is not expected."""
    from cxlab.cli import app

    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    if done.exit_code not in codes:
        raise RuntimeError(f"cxlab {' '.join(words)}: exit code {done.exit_code}\n{done.output}")
    return done.stdout


def _models(*names: str) -> list[str]:
    return [f"--model=simulated:{name}" for name in names]


def _options(words: Sequence[str]) -> list[str]:
    return [f"--option={word}" for word in words]
