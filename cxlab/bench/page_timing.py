"""What a view of a page takes to come back: `python -m cxlab.bench.page_timing STEM [ADDRESS]` prints it as one line of
JSON, in ms of processor time, all threads together; the waits of a shared machine are not in it.

A process of its own, so that the first run of each page is a cold one.
"""

import json
import sys
import time
from typing import Any
from urllib.parse import parse_qsl

from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from cxlab import resources

ROOT = resources.site()
# Each combination is asked for once, so that no cached answer helps: what is measured is a filter's change.
FILTERS = (
    {"scenario": ["telecom_package"]},
    {"level": ["weak"]},
    {"scenario": ["ecommerce_refund", "airline_refund"], "level": ["zero"]},
    {"model": ["simulated:strong", "simulated:base"]},
    {"model": ["simulated:weak", "simulated:curt"], "level": ["strong"]},
    {"scenario": ["property_service"], "metric": ["logic"]},
    {"scenario": ["logistics_delivery"], "level": ["weak", "strong"]},
)


# These have filters of their own, and data that is no score.
BY_CONTROLS = ("conversations", "crm_desk", "datasets", "knowledge", "persona_lab", "retrieval")
_MOST_CONTROLS = 7


def measure(stem: str, address: str = "") -> dict[str, Any]:
    """Processor ms of the first run of a page at this address ("tab=bias"), of a rerun that changes nothing, and of one
    rerun for each of FILTERS; of BY_CONTROLS one for each of the page's own controls, put to another value."""
    _run_as_a_server_does()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.run()
    # By its name in the address, as a browser asks for it.
    app._page_hash = calc_hash("" if stem == "overview" else stem)
    for key, value in parse_qsl(address):
        app.query_params[key] = value
    first, again = _timed(app), _timed(app)
    changed = _turn_controls(app) if stem in BY_CONTROLS else _change_filters(app)
    faults = [] if app.session_state["cx_routed"] in (stem, "home") else [f"{stem} did not run"]
    faults += [str(fault.message) for fault in app.exception]
    return {"page": stem, "first": first, "again": again, "changed": changed, "faults": faults}


def _change_filters(app: Any) -> list[float]:
    changed = []
    for each in FILTERS:
        for key in [key for key in app.query_params if key in ("scenario", "level", "model", "metric")]:
            del app.query_params[key]
        for key, values in each.items():
            app.query_params[key] = values
        changed.append(_timed(app))
    return changed


def _turn_controls(app: Any) -> list[float]:
    """One rerun for each list, toggle and search field, put to its next value; as far as they are still there."""
    kinds = {kind: [each.key for each in getattr(app, kind)] for kind in ("selectbox", "toggle", "text_input")}
    changed = []
    for kind, key in [(kind, key) for kind, keys in kinds.items() for key in keys if key][:_MOST_CONTROLS]:
        control = next((each for each in getattr(app, kind) if each.key == key), None)
        if control is None or control.disabled or (kind == "selectbox" and len(control.options) < 2):
            continue
        if kind == "selectbox":
            control.select_index(((control.index or 0) + 1) % len(control.options))
        else:
            control.set_value("the" if kind == "text_input" else not control.value)
        changed.append(_timed(app))
    return changed or [_timed(app)]


def _run_as_a_server_does() -> None:
    """Have AppTest compile a page once, not at each run, and run it within app.py, not by itself."""
    compiled = ScriptCache()

    class ServedPages(PagesManager):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            # What st.navigation says to a server, once.
            PagesManager.uses_pages_directory = False

    # Where AppTest makes them.
    tests: Any = app_test
    runner: Any = local_script_runner
    tests.ScriptCache = runner.ScriptCache = lambda: compiled
    tests.PagesManager = ServedPages


def _timed(app: Any) -> float:
    began = time.process_time()
    app.run()
    return (time.process_time() - began) * 1e3


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
