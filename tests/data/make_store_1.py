"""Make tests/data/store_1.zip and store_1.json: a store as the program left it before the house was rebuilt.

    python -m tests.data.make_store_1

It is to be run with the program of commit 0fc1105, for it uses parts of the package that have moved since. What the
store is asked for today stands in tests/old_store.py, which wrote the facts in store_1.json as well.
"""

import asyncio
import json
import os
import socket
import sqlite3
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.goldens.store import JUDGES, call, say
from tests.old_store import FACTS, STORE, read_facts

MODELS = """
[endpoints.kept]
description = "A server that was there when this store was made"
base_url = "{url}"
model = "tiny"
key_required = false
prompt_usd = 2.0
completion_usd = 8.0
as_of = "2026-11-22"
source = "made up"

[endpoints.gone]
description = "A server that never was there"
base_url = "http://127.0.0.1:9/v1"
model = "tiny"
key_required = false
attempts = 1
connect_timeout_s = 1
"""
TALKS = [
    {"conversation_id": "talk-1", "role": "customer", "text": "Hello, the left lamp is broken."},
    {"conversation_id": "talk-1", "role": "agent", "text": "I am sorry. Which lamp is it?"},
    {"conversation_id": "talk-1", "role": "customer", "text": "The Aero Lamp, bought in May."},
    {"conversation_id": "talk-1", "role": "agent", "text": "A new one is on its way."},
    {"conversation_id": "talk-2", "role": "customer", "text": "Where is my order?"},
    {"conversation_id": "talk-2", "role": "agent", "text": "It arrives tomorrow."},
]
MANNER = ("--json", "--quiet", "--workers=1")


def main() -> None:
    for name in [name for name in os.environ if name.startswith("CXLAB_") or name.endswith("_API_KEY")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="cxlab-store-") as folder:
        home = Path(folder).resolve() / "home"
        os.environ.update(CXLAB_HOME=str(home), CXLAB_NO_AUTOSTART="1")
        runs = make_runs(home, Path(folder))
        write_on(runs)
        work_in_jobs(home, runs)
        keep_live(runs)
        throw_away(runs)
        clear_names(home)
        time.sleep(15)  # who has been silent so long and says `running` is taken for dead
        pack(home)
        FACTS.write_text(json.dumps(read_facts(home), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def make_runs(home: Path, beside: Path) -> dict[str, str]:
    """Datasets and runs of each benchmark; name → id of the runs."""
    runs: dict[str, str] = {}

    def keep(names: str, told: dict[str, Any]) -> None:
        runs.update(zip(names.split(), (entry["run"] for entry in told["runs"]), strict=True))

    def generate(*words: str) -> str:
        return f"--dataset={call('generate', *words, '--json', '--quiet')['dataset']}"

    models = ("--model=simulated:strong", "--model=simulated:weak")
    keep("sage-strong sage-weak", call("run", "sage", *models, "--limit=8", *JUDGES, *MANNER))
    # More attempts than a part holds, so that the parts are merged into one.
    keep("sage-merged", call("run", "sage", models[0], "--limit=51", "--turns=1", *JUDGES[:1], *MANNER))
    keep("sage-again", call("score", runs["sage-weak"], "--judge=simulated:judge-fair", "--json", "--quiet"))
    keep("sage-hidden", call("run", "sage", models[0], "--limit=1", "--option=system_info=false", *MANNER))
    cx = make_in_job("generate", "cxmarena", "--brand=hearthwise", "--size=37", "--noise=none", "--no-validate")
    keep("cx-strong cx-weak", call("run", "cxmarena", cx, *models, "--limit=12", *JUDGES, *MANNER))
    search = ("--scenario=article_search", "--limit=6", "--option=retrieval=hashing")
    keep("cx-hashing", call("run", "cxmarena", cx, models[0], *search, *MANNER))
    mm = generate("mmtaup2", "--seed=1", "--option=count=1")
    keep("mm-strong", call("run", "mmtaup2", mm, models[0], "--limit=4", *JUDGES, *MANNER))
    keep("mm-floor", call("run", "mmtaup2", mm, "--model=simulated:floor-transfer", "--limit=2", *JUDGES, *MANNER))
    keep("mm-rules", call("patch", runs["mm-strong"], "--version=1", "--version=2", *MANNER))
    import_data(beside)
    ask_servers(home, keep)
    return runs


def import_data(beside: Path) -> None:
    """Other people's conversations, tasks and results."""
    import polars as pl
    from importers import cxm_folder
    from importers.test_import_tau2 import make_folder, result, results, save

    (beside / "talks").mkdir()
    pl.DataFrame(TALKS).write_csv(beside / "talks" / "talks.csv")
    call("import", "transcripts", str(beside / "talks"), "--licence", "ours", "--json")
    call("import", "cxmarena", str(cxm_folder.store(beside / "published", cxm_folder.make())), "--json")
    call("import", "tau2", str(make_folder(beside / "tau2")), "--json")
    bad, lost = result("2", 0.0, end="max_steps"), result("3", reward_info=None, end="infrastructure_error")
    save(beside / "results.json", results(result(), bad, lost, result("1", trial=1)))
    call("import", "tau2-results", str(beside / "results.json"), "--json")


def ask_servers(home: Path, keep: Callable[[str, dict[str, Any]], None]) -> None:
    """A run with tokens, costs and kept replies that do not parse; and one whose provider cannot be reached."""
    from llm.fault_server import FaultServer

    with FaultServer() as server:
        scene = server.scene("ok", reply="Good day, what can I do for you?")
        (home / "models.toml").write_text(MODELS.format(url=scene.url).lstrip())
        few = ("--limit=2", "--turns=2", *JUDGES, *MANNER)
        keep("sage-server", call("run", "sage", "--model=endpoint:kept", "--cache", *few))
        keep("sage-failed", call("run", "sage", "--model=endpoint:gone", *few))


def write_on(runs: dict[str, str]) -> None:
    """Notes, tags, decisions and ratings, and some of them taken back."""
    from cxlab.records import Annotation, new_id
    from cxlab.store import home as the_home
    from cxlab.store import write
    from cxlab.store.connect import open_store

    def add(kind: str, run_id: str, attempt_id: str, value: str, **more: Any) -> str:
        entry = Annotation(
            id=new_id("note"), created=datetime.now(UTC), author="ada", kind=kind, run_id=run_id,
            attempt_id=attempt_id, value=value, **more,
        )  # fmt: skip
        write.annotate(entry)
        return entry.id

    with open_store(the_home()) as con:
        first = "SELECT attempt_id FROM attempts WHERE run_id = $run ORDER BY attempt_id LIMIT 1"
        places = {
            name: (run, con.sql(first, params={"run": run}).fetchall()[0][0])
            for name, run in runs.items()
            if name in ("sage-strong", "sage-weak", "cx-weak", "mm-strong")
        }
        split = """
            SELECT run_id, attempt_id, turn, field, min(verdict) FROM judgements
            WHERE run_id IN (SELECT unnest($runs)) AND kind = 'field' AND status = 'ok'
            GROUP BY ALL HAVING count(DISTINCT verdict) > 1 ORDER BY ALL LIMIT 2
        """
        sides = [runs["sage-strong"], runs["sage-weak"]]
        disputed = con.sql(split, params={"runs": sides}).fetchall()
    add("note", *places["sage-strong"], "Reads the status, then forgets it.", turn=1)
    add("note", *places["mm-strong"], "The customer gives up too early.")
    add("tag", *places["sage-strong"], "tone")
    add("tag", *places["cx-weak"], "retrieval")
    add("tag", *places["sage-weak"], "to discuss")
    add("untag", *places["sage-weak"], "to discuss")
    taken_back = add("note", *places["cx-weak"], "Written by mistake.")
    add("withdrawn", *places["cx-weak"], taken_back)
    if len(disputed) < 2:
        raise RuntimeError("the judges agree too well: there is nothing to decide")
    for run, attempt, turn, field, verdict in disputed:
        add("adjudication", run, attempt, verdict, turn=turn, field=field)
    talks = next(each.id for each in write.list_datasets() if each.config.get("conversations") == "real")
    add("rating", talks, "talk-1", "People interrupt themselves\nNo two lines are alike", field="real")


def work_in_jobs(home: Path, runs: dict[str, str]) -> None:
    """Jobs as pages start them: one done, one cancelled half way, one killed, one refused."""
    from cxlab import jobs

    def has_parts(job: Any) -> Callable[[], bool]:
        return lambda: any(any(home.glob(f"runs/{run}/parts/*")) for run in jobs.find_job(job.id).runs)

    agent = ["--model=simulated:base", "--workers=1", "--quiet"]
    done = jobs.start(["run", "sage", *agent, "--limit=4"])
    runs["sage-job"] = wait(done, ended(done)).runs[0]
    slow = ["run", "sage", *agent, "--concurrency=1", "--turns=1", *JUDGES[:1]]
    stopped = jobs.start(slow)
    wait(stopped, has_parts(stopped))
    jobs.cancel(stopped.id)
    runs["sage-stopped"] = wait(stopped, ended(stopped)).runs[0]
    killed = jobs.start([*slow, "--limit=200"])
    os.kill(wait(killed, has_parts(killed)).pid or 0, 9)
    runs["sage-killed"] = wait(killed, ended(killed)).runs[0]
    refused = jobs.start(["run", "sage", "--model=simulated:nobody", "--quiet"])
    wait(refused, ended(refused))


def make_in_job(*words: str) -> str:
    """Make a dataset as the page Datasets does; the option that names it."""
    from cxlab import jobs

    made = jobs.start([*words, "--workers=1", "--quiet"])
    wait(made, ended(made))
    return f"--dataset={jobs.stages(made.id)[1]}"


def wait(job: Any, until: Callable[[], bool]) -> Any:
    """The job as it is once that has come about."""
    from cxlab import jobs

    give_up = time.monotonic() + 300
    while not until():
        if time.monotonic() > give_up:
            raise TimeoutError(f"{job.args} does not come to an end")
        time.sleep(0.05)
    return jobs.find_job(job.id)


def ended(job: Any) -> Callable[[], bool]:
    from cxlab import jobs

    return lambda: jobs.find_job(job.id).state != "running"


def keep_live(runs: dict[str, str]) -> None:
    """A play of the Persona lab in two variants, kept as a run."""
    from cxlab.benchmarks.mmtaup2.stage import Stage, Variant
    from cxlab.runner.order import read_code_version

    from cxlab.benchmarks.mmtaup2 import keeping, playbill

    task = next(iter(playbill.cases("telecom").values()))
    variants = [Variant("none", 0, "text", 0.0), Variant("hard", 2, "voice", 0.15)]
    stage = Stage(task, variants, "simulated:strong", "simulated:customer", 3)
    stage.forward(400, 300.0)
    address = {"domain": ["telecom"], "case": [task.id], "seed": ["3"], "variant": ["none-0-text", "hard-2-voice-15"]}
    runs["mm-live"] = asyncio.run(keeping.keep(stage, read_code_version(), address=address))
    stage.close().result(60)


def throw_away(runs: dict[str, str]) -> None:
    """A run and a dataset in the trash, and a rule of one's own."""
    from cxlab.benchmarks.mmtaup2 import patches
    from cxlab.store import trash

    say("runs", "delete", runs.pop("sage-hidden"))
    gone = call("generate", "mmtaup2", "--seed=9", "--option=count=1", "--option=domain=retail", "--json", "--quiet")
    trash.delete("dataset", gone["dataset"])
    patches.add("Hand over when the customer asks twice for a person.", "Judges called early transfers right.")


def clear_names(home: Path) -> None:
    """Nothing of the machine may lie in the store: its name and its path are replaced in texts, and fail elsewhere."""
    told = {str(home).encode(): b"/srv/cxlab", f'"host": "{socket.gethostname()}"'.encode(): b'"host": "host"'}
    for path in (each for each in home.rglob("*") if each.is_file()):
        data = fresh = path.read_bytes()
        for name, better in told.items():
            fresh = fresh.replace(name, better)
        if fresh != data and path.suffix not in (".log", ".json", ".stages"):
            raise RuntimeError(f"{path} names the machine that it was made on")
        if fresh != data:
            path.write_bytes(fresh)


def pack(home: Path) -> None:
    """Write the zip; what SQLite keeps beside an open file goes into the file first."""
    for path in home.glob("*.sqlite"):
        with closing(sqlite3.connect(path)) as table:
            table.execute("pragma wal_checkpoint(truncate)")
    with zipfile.ZipFile(STORE, "w") as packed:
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home).as_posix() + ("/" if path.is_dir() else "")
            if name.split("/")[0] in ("tmp", "persona-lab") or name.endswith(("-wal", "-shm")):
                continue
            entry = zipfile.ZipInfo(name, (2026, 11, 22, 12, 0, 0))
            packed.writestr(entry, b"" if path.is_dir() else path.read_bytes(), zipfile.ZIP_LZMA)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
