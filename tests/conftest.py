"""For all tests: groups that stay together, compiled code, and stores that more than one file looks at."""

import functools
import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import cxlab.benchmarks  # noqa: F401 (says which procedures there are, as the app and the command line do)
from cxlab.store import layout
from tests import made_once

# Tests start some hundred processes. Compiled once they start twice as fast, wherever the variable comes from.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A worker fills a core by itself: threads beside it only wait for each other.
os.environ.update(POLARS_MAX_THREADS="1", OPENBLAS_NUM_THREADS="1")

# Workers, and what they start, keep the memory that they freed: each page runs in a thread, and each database that is
# opened and closed gives thousands of small pieces back. Pages and reads take 7 to 9 % less processor time.
for setting, value in {"ARENA_MAX": "1", "TRIM_THRESHOLD_": str(2**29), "TOP_PAD_": str(2**25)}.items():
    os.environ.setdefault(f"MALLOC_{setting}", value)

# What tests write lies in memory where there is room for it: a disk's entries are a tenth of the work. What passed is
# removed at once (pyproject.toml), so that little of it is there at a time.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4e9:
    for place in ("TMPDIR", "PYTEST_DEBUG_TEMPROOT"):
        os.environ.setdefault(place, str(MEMORY))

# Until all tests are collected nothing is thrown away: looking for what could be takes a third of the time.
gc.disable()

# A busy machine is slow, not wrong: nothing that is tested has a deadline. And what was green stays green: examples
# follow from the test alone. CXLAB_EXPLORE=1 draws new ones each time, and more; what it finds becomes an @example.
EXPLORE = bool(os.environ.get("CXLAB_EXPLORE"))
settings.register_profile(
    "patient",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=300 if EXPLORE else 50,
    derandomize=not EXPLORE,
)
settings.load_profile("patient")

# Rooms of a benchmark that share little with the rest of it: groups of their own, so that none is long.
APART = {
    "crmarena": {"generation", "live", "soql"},
    "cxmarena": {"brand", "conversations", "importers", "knowledge", "simulated"},
    "mmtaup2": {"importers", "simulated"},
}
# What takes longest, by measured processor time, so that no worker is left with it when the others are done.
FIRST = (
    "browser", "goldens", "pages", "sage", "cxmarena", "mmtaup2", "crmarena", "old_store", "small-twelve", "failures",
    "cdr", "mmtaup2-simulated", "test_resume", "test_damage", "cxmarena-knowledge", "test_prompt_renderings",
    "crmarena-generation", "test_pages_judges", "test_pages_datasets", "test_run_estimates", "persona",
    "test_reply_forms", "test_generation_estimates", "test_pages_summary", "server", "test_verdicts_compare",
    "test_jobs", "cxmarena-conversations", "architecture",
    "test_read_failures_counted", "mmtaup2-importers", "test_store_compact", "cxmarena-brand", "crmarena-live",
    "test_bench_sessions", "test_full_disk", "test_cli",
)  # fmt: skip


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A worker a core, and three at least: the browser's waits half of its time. Each more is 10 s of work itself."""
    return max(3, os.cpu_count() or 1)


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Before the first worker is started."""
    made_once.share_between_workers(config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Group by benchmarks and files, put what takes long first, and write the group into the test's id.

    What a file needs is read, imported and made by whichever of its tests comes first, in a fixture or a cache: spread
    over three workers it would be made three times. So it is with the files of a benchmark.

    pytest-xdist 3.8 does so by an attribute that pytest 9.2 no longer reads; without this, groups are torn apart
    without a word. Where it still works, the id ends with the group already and is left as it is.
    """
    for item in items:
        if not group_of(item):
            place = item.path.relative_to(Path(__file__).parent).parts
            item.add_marker(pytest.mark.xdist_group(group_by_place(place)))
    size = Counter(map(group_of, items))
    places = {group: place for place, group in enumerate(FIRST)}
    items.sort(key=lambda item: (places.get(group_of(item), len(FIRST)), -size[group_of(item)]))
    if not config.getoption("loadgroup", False):
        return
    for item in items:
        ending = f"@{group}" if (group := group_of(item)) else ""
        if not item.nodeid.endswith(ending):
            item._id = type(item._id).parse(item.nodeid + ending)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays: each full collection of garbage would look through it again, and few are needed."""
    made_once.share()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process ends: nobody needs what its last collection would free."""
    gc.freeze()


def group_by_place(place: Sequence[str]) -> str:
    """The benchmark, or its room where that stands apart; else the file."""
    if place[0] != "benchmarks" or len(place) == 2:
        return Path(place[-1]).stem
    benchmark, room = place[1:3]
    return f"{benchmark}-{room}" if room in APART.get(benchmark, ()) else benchmark


def group_of(item: pytest.Item) -> str:
    """The tests of one `xdist_group` run on one worker, so that what they share is started once."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0] if mark.args else mark.kwargs["name"]) if mark else ""


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, and no demo that builds itself."""
    use(tmp_path, monkeypatch)
    return tmp_path


MakeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """A folder of this name, made by whichever worker asks first; for all to look at, and to change for none."""

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once" / name
        made = folder.with_name(f"{name}.made")
        with layout.lock(folder.with_name(f"{name}.lock"), wait_s=600):
            if not made.exists():
                # What one that failed has left is in nobody's way.
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                made.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def judged_store(make_once: MakeOnce) -> Path:
    from tests.stores.judged import make_judged_store

    return make_once("judged", make_judged_store)


@pytest.fixture(scope="session")
def mm_store(make_once: MakeOnce) -> Path:
    """Six tasks, each judged by two and measured from its log; to look at only."""
    from tests.stores.judged_mm import make_mm_store

    return make_once("judged-mm", make_mm_store)


@pytest.fixture(scope="session")
def crm_store(make_once: MakeOnce) -> Path:
    """A small organisation with its questions; to look at only."""
    from tests.stores.crm import make_crm

    return make_once("crm", make_crm)


@pytest.fixture(scope="session")
def crm_run_store(make_once: MakeOnce, crm_store: Path) -> Path:
    """The same with a run by function calling and one by ReAct."""
    from tests.stores.crm import make_runs

    return make_once("crm-runs", lambda home: make_runs(shutil.copytree(crm_store, home, dirs_exist_ok=True)))


@pytest.fixture(scope="session")
def knowledge_store(make_once: MakeOnce) -> Path:
    """A knowledge base that was made by hand, and runs over it; to look at only."""
    from tests.stores.knowledge_base import make_knowledge

    return make_once("knowledge", make_knowledge)


@pytest.fixture(scope="session")
def brand_store(make_once: MakeOnce) -> Path:
    """A dataset of a brand, all of its tables filled by hand; to look at only."""
    from tests.stores.cxmarena_dataset import make_dataset

    return make_once("brand", make_dataset)


@pytest.fixture(scope="session")
def old_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that an earlier version left, as it was left; to look at and to copy only."""
    from tests.old_store import unpack

    home = tmp_path_factory.mktemp("old") / "home"
    unpack(home)
    return home


@pytest.fixture(scope="session")
def made_store(make_once: MakeOnce) -> Path:
    from cxlab.bench.page_store import make_store

    return make_once("made", lambda home: make_store(home, attempts=180))


@pytest.fixture(scope="session")
def made_up(make_once: MakeOnce) -> Path:
    from cxlab.bench.page_store import make_store

    return make_once("read-home", lambda home: make_store(home, attempts=90))


@pytest.fixture
def home(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that `read` sees; not to be changed."""
    monkeypatch.setenv("CXLAB_HOME", str(made_up))
    return made_up


@pytest.fixture(scope="session")
def small_stores(make_once: MakeOnce) -> Callable[[str], Path]:
    """The store of each kind of `tests.stores.small`, made when it is first asked for; to look at only."""

    @functools.cache
    def made(kind: str) -> Path:
        from tests.stores.small import make_small_store

        return make_once(f"small-{kind}", lambda home: make_small_store(kind, home))

    return made


@pytest.fixture
def judged_home(judged_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of four dialogues, for tests that look at it only."""
    use(judged_store, monkeypatch)
    return judged_store


@pytest.fixture
def own_judged_home(judged_store: Path, empty_home: Path) -> Path:
    """The same for tests that write to it."""
    return shutil.copytree(judged_store, empty_home, dirs_exist_ok=True)


@pytest.fixture
def made_home(made_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of 180 made-up dialogues, for tests that look at it only."""
    use(made_store, monkeypatch)
    return made_store


@pytest.fixture
def own_made_home(made_store: Path, empty_home: Path) -> Path:
    """The same for tests that write to it."""
    return shutil.copytree(made_store, empty_home, dirs_exist_ok=True)


def use(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(home))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
