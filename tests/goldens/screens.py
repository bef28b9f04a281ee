"""Each page as rows: headings, words, figures in numbers, tables, and the data behind the charts."""

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from streamlit.testing.v1 import AppTest

from tests.goldens.store import Store
from tests.goldens.values import TIME, Recorder, write
from tests.made_once import share_between_pages

ROOT = Path(__file__).parents[2]
WORDS = {
    "title": "heading", "header": "heading", "subheader": "heading", "markdown": "words", "caption": "words",
    "text": "words", "info": "words", "success": "words", "warning": "words", "error": "words", "code": "words",
    "html": "drawing",
}  # fmt: skip
# Of a chart's trace, what is data and not looks.
TRACE = (
    "type", "name", "x", "y", "z", "text", "customdata", "values", "labels", "parents", "ids", "r", "theta", "base",
    "error_x", "error_y", "low", "high", "node", "link", "dimensions", "visible",
)  # fmt: skip
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_CODE = re.compile(r"\d+\.\d+\.\d+\+[0-9a-f]{7,}(-dirty)?")
_STYLE = re.compile(r"<style.*?</style>|<[^>]*>", re.S)
LONGEST = 80
OFFERS = "For voice, "
"""How words begin that say which ways to speak this machine lacks."""


def list_addresses(store: Store, into: Recorder) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, page and address of every look that is recorded."""
    attempts = {name: id for id, name in into.names.items() if "/" in name}
    runs, datasets = store.runs, store.datasets

    def opened(run: str) -> str:
        """The first attempt of a run, as an address names it."""
        name = min(name for name in attempts if name.startswith(f"{run}/"))
        return f"{runs[run]}/{attempts[name]}"

    yield "overview", "overview", {}
    for benchmark in ("cxmarena", "mmtaup2"):
        yield f"overview.{benchmark}", "overview", {"board": benchmark}
    for benchmark, tab in (("sage", "profile"), ("sage", "trials"), ("cxmarena", "front"), ("mmtaup2", "trials")):
        yield f"compare.{benchmark}.{tab}", "compare", {"benchmark": benchmark, "tab": tab}
    yield "compare.sage", "compare", {"benchmark": "sage", "field": "scenario", "metric": "logic"}
    yield "compare.sage.pair", "compare", {"benchmark": "sage", "attempt": opened("strong")}
    yield "compare.cxmarena", "compare", {"benchmark": "cxmarena", "task": "article_search"}
    yield "compare.cxmarena.pair", "compare", {"benchmark": "cxmarena", "task": "intent"}
    yield "compare.mmtaup2", "compare", {"benchmark": "mmtaup2", "field": "persona"}
    yield "compare.mmtaup2.pair", "compare", {"benchmark": "mmtaup2", "attempt": opened("mm-strong")}

    yield "failures", "failures", {}
    for benchmark in ("sage", "cxmarena", "mmtaup2"):
        yield f"failures.{benchmark}", "failures", {"benchmark": benchmark, "verdict": "wrong"}
    for run in ("weak", "cx-hashing", "cx-options", "mm-strong"):
        yield f"failures.attempt.{run}", "failures", {"attempt": opened(run)}
    for task in ("kb_refinement", "intent", "multi_turn", "tools"):
        found = sorted(name for name in attempts if name.startswith("cx-strong/") and into.tasks.get(name) == task)
        yield f"failures.attempt.{task}", "failures", {"attempt": f"{runs['cx-strong']}/{attempts[found[0]]}"}

    yield "sop_paths", "sop_paths", {}
    scenario = "telecom_package"
    for tab in ("", "branches", "variants", "actions", "coverage", "turns", "levels"):
        yield f"sop_paths.{tab or 'first'}", "sop_paths", {"scenario": scenario, "tab": tab}
    yield "sop_paths.difference", "sop_paths", {"scenario": scenario, "baseline": "simulated:weak", "at": "last"}
    for tab in ("review", "agreement", "bias", "changes"):
        yield f"judges.{tab}", "judges", {"tab": tab}
    for against in ("truth", "log", "escalation"):
        yield f"judges.bias.{against}", "judges", {"tab": "bias", "judges-against": against}

    dataset = datasets["hearthwise"]
    for tab in ("", "pairs", "intents", "quality", "facts"):
        yield f"knowledge.{tab or 'articles'}", "knowledge", {"dataset": dataset, "tab": tab}
    for tab in ("", "areas", "misses", "query", "answers", "gaps", "try"):
        yield f"retrieval.{tab or 'curves'}", "retrieval", {"dataset": dataset, "task": "article_search", "tab": tab}
    yield "retrieval.multi_turn", "retrieval", {"dataset": dataset, "task": "multi_turn"}

    yield "persona_lab.live", "persona_lab", {"beats": "6", "seed": "3"}
    variants = ["hard-0-text", "hard-2-voice-15"]
    yield "persona_lab.voice", "persona_lab", {"beats": "6", "domain": "retail", "variant": variants}
    for by in ("persona", "exposure", "modality"):
        yield f"persona_lab.{by}", "persona_lab", {"tab": "results", "by": by}

    yield "datasets", "datasets", {}
    for tab in ("statistics", "conversations", "realism", "files"):
        yield f"datasets.{tab}", "datasets", {"dataset": dataset, "tab": tab}
    yield "datasets.conversation", "datasets", {"dataset": dataset, "tab": "conversations", "conversation": "C_1"}
    yield "datasets.sage", "datasets", {"dataset": datasets["sage"]}
    for tab in ("generate", "import"):
        yield f"datasets.{tab}", "datasets", {"tab": tab}
    yield "run", "run", {"limit": "6", "agents": ["simulated:weak"]}
    yield "run.cxmarena", "run", {"bench": "cxmarena", "dataset": dataset}
    yield "run.mmtaup2", "run", {"bench": "mmtaup2", "dataset": datasets["mmtaup2"]}
    yield "models", "models", {}


def record_screens(store: Store, into: Recorder) -> None:
    """Open every page by its address and record what stands on it."""
    share_between_pages()
    for name, page, query in list_addresses(store, into):
        app = open_page(page, query)
        if app.exception:
            raise RuntimeError(f"{name}: {app.exception[0].message}\n{app.exception[0].stack_trace}")
        record_screen(name, app, into)


def open_page(stem: str, query: Mapping[str, Any]) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    if stem != "overview":
        app.switch_page(f"pages/{stem}.py")
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def record_screen(name: str, app: AppTest, into: Recorder) -> None:
    """One row an element, numbered by its kind from the top of the page down."""
    counts: Counter[str] = Counter()

    def add(kind: str, fields: Mapping[str, Any]) -> None:
        counts[kind] += 1
        said = {key: tidy(write(value), into) for key, value in fields.items() if value is not None}
        into.add("pages", f"{name}/{kind}/{counts[kind]:02}", said, LONGEST)

    for element in (*walk(app.main), *walk(app.sidebar)):
        if kind := WORDS.get(element.type):
            text = str(element.value if element.type != "html" else element.proto.body)
            if element.type == "html":
                text = " ".join(_STYLE.sub(" ", text).split())
            if text and not text.startswith(OFFERS):
                add(kind, {"text": text})
        elif element.type == "metric":
            add("metric", {"label": element.label, "value": element.value, "delta": element.delta or None})
        elif element.type in ("dataframe", "arrow_data_frame", "table", "arrow_table"):
            frame = element.value
            add("table", {"rows": len(frame)} | {str(key): frame[key].tolist() for key in frame.columns})
        elif element.type == "plotly_chart":
            for part, fields in read_chart(element.proto):
                add(part, fields)


def walk(block: Any) -> Iterator[Any]:
    """All elements below a block, from the top down."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from walk(child)
        else:
            yield child


def read_chart(proto: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The titles and marks of a chart, then the data of each trace."""
    figure = orjson.loads(proto.spec or proto.figure.spec)
    layout = figure.get("layout", {})
    axes = {key: axis for key, axis in layout.items() if "axis" in key and isinstance(axis, dict)}
    yield (
        "chart",
        {
            "traces": len(figure["data"]),
            "titles": {key: axis["title"] for key, axis in axes.items() if axis.get("title")},
            "ticks": {key: axis["ticktext"] for key, axis in axes.items() if axis.get("ticktext")},
            "marks": [[each.get("text"), each.get("x"), each.get("y")] for each in layout.get("annotations", ())],
            "shapes": [
                [each.get(key) for key in ("type", "x0", "y0", "x1", "y1")] for each in layout.get("shapes", ())
            ],
        },
    )
    for trace in figure["data"]:
        yield "trace", {key: decode(trace[key]) for key in TRACE if key in trace}


def decode(value: Any) -> Any:
    """Lists of numbers, which Plotly packs, as they are."""
    if isinstance(value, dict) and "bdata" in value:
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return {key: decode(each) for key, each in value.items()} if isinstance(value, dict) else value


def tidy(text: str, into: Recorder) -> str:
    """Without the store's place, the time of day and the version of the code; attempts and runs by their names."""
    # Words on pages are escaped, so that no sign in them acts as Markdown.
    text = text.replace("\\", "").replace(into.home, "<home>").replace(str(ROOT), "<project>")
    return _CODE.sub("<code>", _CLOCK.sub(TIME, text))
