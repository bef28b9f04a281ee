"""How long a view of a page takes to come back: `python -m cxlab.bench.page_timing STEM [ADDRESS]` prints it as one
line of JSON, in ms.

A process of its own, so that the first run of each page is a cold one.
"""

import json
import sys
import time
from typing import Any
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest

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


def measure(stem: str, address: str = "") -> dict[str, Any]:
    """ms of the first run of a page at this address ("tab=bias"), of a rerun that changes nothing, and of one rerun for
    each of FILTERS."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.run()
    app.switch_page(f"pages/{stem}.py")
    for key, value in parse_qsl(address):
        app.query_params[key] = value
    first, again = _timed(app), _timed(app)
    changed = []
    for each in FILTERS:
        for key in [key for key in app.query_params if key in ("scenario", "level", "model", "metric")]:
            del app.query_params[key]
        for key, values in each.items():
            app.query_params[key] = values
        changed.append(_timed(app))
    faults = [str(fault.message) for fault in app.exception]
    return {"page": stem, "first": first, "again": again, "changed": changed, "faults": faults}


def _timed(app: Any) -> float:
    began = time.perf_counter()
    app.run()
    return (time.perf_counter() - began) * 1e3


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
