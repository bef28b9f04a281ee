"""The house keeps its direction: a room imports only rooms further left, heavy packages only at home."""

import ast
import functools
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.records import Score, SingleJudgeTrace, Trace, Vote
from cxlab.records.procedure import declared as declared_procedures
from cxlab.store import tables

ROOT = Path(__file__).resolve().parents[1]
# All on one worker, which reads each file once.
pytestmark = pytest.mark.xdist_group("architecture")

# Left to right: a room may import the rooms of earlier rows (and itself).
ROWS = [
    ["errors", "resources", "word_forms"],
    ["files", "records"],
    ["metrics"],
    ["store", "llm", "voice"],
    ["retrieval", "dialogue", "judging"],
    ["importers"],
    ["benchmarks"],
    ["runner"],
    ["bench"],
    ["cli", "commands", "jobs", "job_process"],
]
RANK = {room: rank for rank, row in enumerate(ROWS) for room in row}
# The reading side is a line of its own; it meets the writing side only in the store's connection, and in commands that
# say what pages say.
READERS = {("commands", "read"), ("commands", "report")}
ALLOWED = {
    "read": {"errors", "resources", "word_forms", "files", "records", "metrics", "store"},
    "charts": {"errors", "records", "metrics", "read"},
    # A file that says what the pages say, made from the command line and from pages alike.
    "report": {"errors", "records", "metrics", "read", "charts"},
    "ui": {"errors", "resources", "word_forms", "records", "metrics", "read", "charts", "store"},
    # What serves one page: it knows what its benchmark measures, and what an import came to.
    "views": {
        *("errors", "resources", "records", "metrics", "read", "charts", "ui", "store", "benchmarks", "importers"),
        *("report", "word_forms"),
    },
    # What serves the pages loads none of them before it runs.
    "server": set(),
}
# Package → rooms and files that may import it, and whether only inside a function.
HOMES = {
    "openai": {"llm", "voice"},
    "langchain": {"llm", "benchmarks"},
    "langchain_core": {"llm", "benchmarks"},
    "langchain_openai": {"llm"},
    "chromadb": {"retrieval"},
    # Views join frames of their own in memory; the store they know through read alone.
    # CRMArena's organisation is a database of its own, closed to everything else.
    "duckdb": {"store", "read", "views", "benchmarks/crmarena/sandbox.py"},
    "simple_salesforce": {"benchmarks/crmarena/live/connection.py"},
    "requests": {"benchmarks/crmarena/live/connection.py"},
    "streamlit": {"ui", "views", "bench", "server"},
    "starlette": {"server"},
}
# Streamlit's own rooms may import it at the top: nothing of the command line loads them. A class that
# subclasses LangChain's has a file of its own, which in turn is only imported late.
AT_TOP = {
    ("streamlit", "ui"),
    ("streamlit", "views"),
    ("streamlit", "bench/page_timing.py"),
    ("streamlit", "server"),
    ("starlette", "server"),
    ("langchain_core", "llm/langchain_adapter.py"),
}
LATE = {"cxlab.llm.langchain_adapter"}


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "cxlab").parts
    return parts[0].removesuffix(".py")


@functools.cache
def imports(tree: ast.AST) -> list[tuple[str, int, bool]]:
    """(module, line, at the top of the file) for each import, those under TYPE_CHECKING left out."""
    found: list[tuple[str, int, bool]] = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            # No expression holds an import, and most of a tree is expressions.
            if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Import):
                found.extend((alias.name, child.lineno, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.level == 0:
                found.extend((f"{child.module}.{alias.name}", child.lineno, top) for alias in child.names)
            visit(child, top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    visit(tree, True)
    return found


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports_of(path: Path) -> list[tuple[str, int, bool]]:
    return imports(tree_of(path))


FILES = sorted((ROOT / "cxlab").rglob("*.py"))


def wrongs(path: Path) -> list[str]:
    room, found = room_of(path), []
    for module, line, top in imports_of(path):
        where = f"{path.relative_to(ROOT)}:{line}"
        package = module.split(".")[0]
        if top and any(module.startswith(late) for late in LATE):
            found.append(f"{where}: import {module} late")
        if package == "cxlab" and len(module.split(".")) > 1:
            target = module.split(".")[1]
            if target not in RANK and target not in ALLOWED:
                continue
            if room in RANK:
                if RANK.get(target, 99) > RANK[room] and (room, target) not in READERS:
                    found.append(f"{where}: {room} may not import {target}")
            elif room in ALLOWED and target != room and target not in ALLOWED[room]:
                found.append(f"{where}: {room} may not import {target}")
        elif package in HOMES:
            if not {room, str(path.relative_to(ROOT / "cxlab"))} & HOMES[package]:
                found.append(f"{where}: {package} is not at home in {room}")
            elif top and not {(package, room), (package, str(path.relative_to(ROOT / "cxlab")))} & AT_TOP:
                found.append(f"{where}: import {package} late, inside the function that needs it")
    return found


def test_direction() -> None:
    assert [wrong for path in FILES for wrong in wrongs(path)] == []


def test_benchmarks_do_not_import_each_other() -> None:
    folders = {path.parent.name for path in (ROOT / "cxlab/benchmarks").glob("*/benchmark.py")}
    assert folders == set(NAMES)
    bad = [
        f"{path}:{line} imports {module}"
        for folder in folders
        for path in (ROOT / "cxlab/benchmarks" / folder).rglob("*.py")
        for module, line, _ in imports_of(path)
        if module.startswith("cxlab.benchmarks.") and module.split(".")[2] in folders - {folder}
    ]
    assert bad == []


# What outside a `simulated/` folder imports from one, and what for. Nothing may be added: a prompt declares who answers
# it in its place and who draws its script, a benchmark its profiles and who checks the files of stand-ins; all are
# looked up by name.
GUESTS = {
    "cxlab/llm/registry.py": "loads simulated models by name",
}


def test_only_stand_ins_import_from_the_rooms_of_stand_ins() -> None:
    """Also not for a type; so the folders may be deleted but for these lines."""
    found = {
        str(path.relative_to(ROOT))
        for path in FILES
        if "simulated" not in path.parts
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom | ast.Import)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        if "simulated" in name.split(".")
        or (isinstance(node, ast.ImportFrom) and "simulated" in {each.name for each in node.names})
    }
    assert found == GUESTS.keys()


def test_pages_know_no_sql_and_write_no_files() -> None:
    for path in [*(ROOT / "pages").glob("*.py"), ROOT / "app.py"]:
        found = [module for module, _, _ in imports_of(path)]
        assert not {m.split(".")[0] for m in found} & {"duckdb", "sqlite3", "openai"}, path
        assert not any(m.startswith(("cxlab.llm.openai", "cxlab.store.connect")) for m in found), path


def test_the_test_itself_sees_a_wrong_import(tmp_path: Path) -> None:
    tree = ast.parse("import duckdb\nfrom cxlab.store import write\ndef f():\n    import openai\n")
    assert [(m, top) for m, _, top in imports(tree)] == [
        ("duckdb", True),
        ("cxlab.store.write", True),
        ("openai", False),
    ]


# Where a benchmark may be named beside its own folder, and what each place is for.
NAMES = ("sage", "cxmarena", "mmtaup2", "crmarena", "cdr")
NAMED = {
    "cxlab/benchmarks/__init__.py": "the registry",
    "cxlab/bench/": "programs that make the data they measure on",
    "cxlab/views/conversations/": "a view of CXMArena's conversations",
    "cxlab/views/crm/": "a view of CRMArena",
    "cxlab/views/escalation/": "a view of a rule of MM-tau-p2",
    "cxlab/views/knowledge/": "a view of CXMArena's articles",
    "cxlab/views/persona/": "a view of MM-tau-p2",
    "cxlab/views/search/": "a view of CDR's search",
    "pages/conversations.py": "its view is CDR's",
    "pages/crm_desk.py": "its view is CRMArena's",
    "pages/knowledge.py": "its view is CXMArena's",
    "pages/persona_lab.py": "its view is MM-tau-p2's",
}


@functools.cache
def constants(tree: ast.AST) -> list[tuple[str, int]]:
    """(text, line) of each string that is no docstring."""
    nodes = list(ast.walk(tree))
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        (node.value, node.lineno)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    ]


NAME = re.compile(rf"(?<![\w-])({'|'.join(NAMES)})(?![\w-])")


def names_a_benchmark(tree: ast.AST) -> list[int]:
    """Lines with a benchmark's name, in an import or in a string."""
    imported = [
        line
        for module, line, _ in imports(tree)
        if module.startswith("cxlab.benchmarks.") and module.split(".")[2] in NAMES
    ]
    return sorted({*imported, *(line for text, line in constants(tree) if NAME.search(text))})


def test_a_benchmark_is_named_at_home_only() -> None:
    rooms = ROOT / "cxlab/benchmarks"
    for path in [*FILES, *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]:
        name = str(path.relative_to(ROOT))
        at_home = any(path.is_relative_to(rooms / own) for own in NAMES)
        if at_home or any(name.startswith(place) for place in NAMED):
            continue
        found = names_a_benchmark(tree_of(path))
        assert not found, f"{name}:{found[0]} names a benchmark; ask the contract, or let its own room do it"


# A facet of a benchmark in SQL: shared rooms ask what is declared (read/procedures.py, read/query.py).
FACET_IN_SQL = re.compile(r"facet_of\([a-z._]+, '\w+'\)|facets\['\w+'\]|\$\.terms\.\w+")
FACETS_TOLD = {
    "cxlab/store/exports/export.py": "the columns of the event log, which other programs read",
    "cxlab/views/escalation/": "a view of one benchmark",
    "cxlab/views/knowledge/": "a view of one benchmark",
    "cxlab/views/persona/": "a view of one benchmark",
}


def names_in_sql(tree: ast.AST) -> list[int]:
    return sorted(line for text, line in constants(tree) if FACET_IN_SQL.search(text))


def test_shared_rooms_read_facets_by_declared_names() -> None:
    for path in FILES:
        name = str(path.relative_to(ROOT))
        if name.startswith(("cxlab/benchmarks/", "cxlab/bench/", *FACETS_TOLD)):
            continue
        found = names_in_sql(ast.parse(path.read_text(encoding="utf-8")))
        assert not found, f"{name}:{found[0]} names a facet of a benchmark"


# What is drawn for benchmarks with procedures, whose traces have these classes.
PROCEDURE_VIEWS = ("cxlab/views/sop/", "cxlab/views/failures/attempt_procedure")


def test_classes_of_failure_are_named_by_the_benchmark_that_declares_procedures() -> None:
    """A shared room names none of them, but for words that the record of a verdict or trace has as well."""
    own = {
        kind
        for each in declared_procedures().values()
        for kind in (*each.misread, *each.deviations, *each.others)
        if kind not in {"field", "action", "panel", "execution"}
    }
    assert "lucky" in own
    words = re.compile(rf"(?<![\w])'?({'|'.join(sorted(own))})'?(?![\w])")
    for path in FILES:
        name = str(path.relative_to(ROOT))
        if name.startswith(("cxlab/benchmarks/", "cxlab/bench/", *PROCEDURE_VIEWS)):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = [line for text, line in constants(tree) if words.fullmatch(text) or f"'{words.pattern}'" in text]
        assert found == [], f"{name}:{found} names a class of failure"


# Metrics of one benchmark whose names are ordinary words too, which shared rooms use in other senses.
ORDINARY = {"action", "actions", "chat", "communicate", "db", "errors", "escalation", "exact", "f1", "intent", "kept"}
ORDINARY |= {"path", "queries", "right", "score", "told", "too_long", "truth", "turns", "wer"}
# Views of one benchmark's attempts, and of search, whose measures bear the names of the field.
METRIC_VIEWS = ("cxlab/views/failures/attempt_goal.py", "cxlab/views/retrieval/")


def test_shared_rooms_and_tables_know_no_metric_of_a_benchmark() -> None:
    """Nor a record's field, a column or a part of one: a score is stored under its name, not in a place of its own."""
    metrics = {metric for each in REGISTRY.values() for metric in each.card.metrics} - ORDINARY
    assert {"logic", "overall"} <= metrics
    columns = {name for schema in tables.TABLES.values() for name in schema}
    parts = re.findall(r"'(\w+)': ", str(list(tables.TABLES.values())))
    fields = {name for kind in (Trace, SingleJudgeTrace, Score, Vote) for name in kind.model_fields}
    assert metrics & {*columns, *parts, *fields} == set()
    in_sql = re.compile(rf"[a-z]\.({'|'.join(sorted(filter(str.isidentifier, metrics)))})\b")
    for path in FILES:
        name = str(path.relative_to(ROOT))
        if name.startswith(("cxlab/benchmarks/", "cxlab/bench/", *NAMED, *METRIC_VIEWS)):
            continue
        found = [line for text, line in constants(tree_of(path)) if text in metrics or in_sql.search(text)]
        assert found == [], f"{name}:{found} names a metric of a benchmark"


def test_no_import_goes_round_in_a_circle() -> None:
    """Not even one that waits in a function."""
    known = {}
    for path in FILES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        known[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for module, _, _ in imports_of(path):
            while module not in known and "." in module:
                module = module.rpartition(".")[0]
            if module in known and module != name:
                graph[name].add(module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(circle.args[1]))


# A line that mypy passes over says which error, and why it is none: `# type: ignore[code]  # reason`.
PASSED_OVER = re.compile(r"# type: ignore(?!\[[a-z, -]+\]  # \w)")


def test_what_the_type_checker_passes_over_has_a_reason() -> None:
    """mypy itself names those that pass over nothing; it does not read the tests, which have none."""
    for path in [*FILES, *sorted((ROOT / "pages").glob("*.py"))]:
        found = [
            n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if PASSED_OVER.search(line)
        ]
        assert found == [], f"{path.relative_to(ROOT)}:{found} has no code or no reason"
    assert PASSED_OVER.search("x = f()  # type: ignore[misc]")
    assert not PASSED_OVER.search("x = f()  # type: ignore[misc, arg-type]  # made at run time")


MOST_ENTRIES = 22
# Two lists of rooms, which are as many as there are, and a file a prompt.
FULLER = {"cxlab", "tests", "tests/goldens/prompts/cxmarena"}


def entries(folder: Path) -> list[str]:
    """Files and folders; what every folder may have beside them is left out, and what only old compiled files keep."""
    found = {path.name for path in folder.iterdir() if path.is_file() or any(path.rglob("*.*[!c]"))}
    return sorted(found - {"__init__.py", "README.md", "__pycache__"})


def test_no_folder_is_too_full_to_be_seen_at_a_glance(tmp_path: Path) -> None:
    kept = [path for room in ("cxlab", "tests", "pages") for path in [ROOT / room, *(ROOT / room).rglob("*")]]
    folders = [path for path in kept if path.is_dir() and "__pycache__" not in path.parts]
    full = {str(path.relative_to(ROOT)): n for path in folders if (n := len(entries(path))) > MOST_ENTRIES}
    assert full.keys() == FULLER
    for n in range(MOST_ENTRIES):
        (tmp_path / f"room_{n}").mkdir()
        (tmp_path / f"room_{n}" / "room.py").touch()
    (tmp_path / "__init__.py").touch()
    assert len(entries(tmp_path)) == MOST_ENTRIES
    (tmp_path / "one_more.py").touch()
    assert len(entries(tmp_path)) == MOST_ENTRIES + 1


def too_long(path: Path, most: int = 400) -> bool:
    return len(path.read_text(encoding="utf-8").splitlines()) > most


def test_no_frame_goes_to_pandas_but_by_way_of_arrow() -> None:
    # polars' `to_pandas` and `hash_rows` stop a server for good that serves several sessions; see ui/columns.py.
    straight = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if (".to_pandas(" in line and "to_arrow(" not in line) or ".hash_rows(" in line
    ]
    assert straight == []


# Streamlit's elements that load its highlighter; the first on a page costs the browser seconds.
HIGHLIGHTED = {"code", "echo"}


def loads_highlighter(tree: ast.AST) -> list[int]:
    """Lines that show an element of these, or a fence in Markdown, in a file that imports streamlit."""
    if not any(module.split(".")[0] == "streamlit" for module, _, _ in imports(tree)):
        return []
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    shown = [node.lineno for node in called if isinstance(node.func, ast.Attribute) and node.func.attr in HIGHLIGHTED]
    return sorted([*shown, *(line for text, line in constants(tree) if "```" in text)])


def test_no_page_makes_the_browser_build_the_grammars_of_programming_languages() -> None:
    """What is there to be copied is shown by ui.show_code."""
    for path in [*FILES, *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]:
        assert loads_highlighter(tree_of(path)) == [], path.relative_to(ROOT)
    wrong = "import streamlit as st\nleft, _ = st.columns(2)\nleft.code('x')\nst.markdown('```sql\\nSELECT 1\\n```')\n"
    assert loads_highlighter(ast.parse(wrong)) == [3, 4]


# Functions of ours that polars' own threads call.
CALLS_PYTHON = {"map_batches", "map_elements", "map_groups"}


def test_no_query_of_a_page_waits_for_python() -> None:
    """polars' threads would wait for Python's lock while another session holds it, and all other queries for them:
    the values of a column are named outside of the query, by `charts.names.name_each`."""
    rooms = {"read", "charts", "ui", "views", "report"}
    waits = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in [*FILES, *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]
        if not path.is_relative_to(ROOT / "cxlab") or room_of(path) in rooms
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in CALLS_PYTHON
    ]
    assert waits == []


def test_no_file_is_too_long_to_be_held_in_the_head(tmp_path: Path) -> None:
    assert [str(path.relative_to(ROOT)) for path in FILES if too_long(path)] == []
    # A page reads from top to bottom like a script; its parts come from its view.
    assert [path.name for path in (ROOT / "pages").glob("*.py") if too_long(path, 150)] == []
    page = tmp_path / "page.py"
    page.write_text("x = 1\n" * 400)
    assert not too_long(page)
    assert too_long(page, 399)
    page.write_text("x = 1\n" * 401)
    assert too_long(page)


# SQLite files of its own, each read and written in one place.
SQLITE = {"cxlab/jobs.py", "cxlab/llm/cache.py", "cxlab/retrieval/embedders/vector_cache.py"}
# CRMArena's query engine, which is SQL throughout, its reader of other people's databases, and what asks it in SOQL,
# which reads like SQL.
ENGINE = (
    "cxlab/benchmarks/crmarena/live/",
    "cxlab/benchmarks/crmarena/tools/",
    "cxlab/benchmarks/crmarena/sandbox.py",
    "cxlab/benchmarks/crmarena/soql/",
    "cxlab/benchmarks/crmarena/importers/sqlite_mirror.py",
    "cxlab/benchmarks/crmarena/simulated/",
)
SQL = re.compile(r"\b(SELECT\s.+\sFROM\s|CREATE\s+(TABLE|VIEW|MACRO)\s|INSERT\s+INTO\s|DELETE\s+FROM\s)", re.S)


def test_sql_is_written_in_store_read_and_the_queries_of_views() -> None:
    for path in FILES:
        name = str(path.relative_to(ROOT))
        queries = name.startswith(("cxlab/views/", "cxlab/report/")) and path.name.startswith("queries")
        if room_of(path) in ("store", "read", "bench") or queries or name in SQLITE or name.startswith(ENGINE):
            continue
        found = [line for text, line in constants(tree_of(path)) if SQL.search(text)]
        assert found == [], f"{name}:{found} holds SQL"


def test_what_was_withdrawn_is_left_out_in_one_place() -> None:
    """The view annotations_in_force; only the list of annotations asks when one was withdrawn."""
    found = [
        str(path.relative_to(ROOT)) for path in FILES for text, _ in constants(tree_of(path)) if "'withdrawn'" in text
    ]
    assert found == ["cxlab/read/annotations.py"]


def test_the_tests_see_names_and_sql() -> None:
    tree = ast.parse('"""sage"""\nx = "run sage"\ny = "a message"\nfrom cxlab.benchmarks.cdr import run\n')
    assert names_a_benchmark(tree) == [2, 4]
    assert names_in_sql(ast.parse("f\"SELECT facet_of(t.facet_list, 'level'), {x}\"")) == [1]
    assert names_in_sql(ast.parse("f\"SELECT facet_of(t.facet_list, '{x}')\"")) == []
    assert SQL.search("SELECT a\n FROM b WHERE c")
    assert not SQL.search("Select a place from here")
