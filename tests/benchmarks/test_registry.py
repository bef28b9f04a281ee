"""The benchmarks by name: known at once, imported when they are first asked for."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from cxlab import benchmarks
from cxlab.benchmarks import REGISTRY, Registry
from cxlab.errors import UnknownName


def test_every_name_leads_to_the_benchmark_of_that_id() -> None:
    assert isinstance(REGISTRY, Mapping)
    assert len(list(REGISTRY)) == len(REGISTRY) > 1
    assert {name: each.card.id for name, each in REGISTRY.items()} == {name: name for name in REGISTRY}
    assert benchmarks.get("sage") is REGISTRY["sage"]
    with pytest.raises(UnknownName, match=r"cxmarena, .*sage"):
        benchmarks.get("nothing")


def test_names_are_known_without_importing_a_benchmark() -> None:
    code = (
        "import sys; from cxlab.benchmarks import REGISTRY; 'sage' in REGISTRY, list(REGISTRY), len(REGISTRY); "
        "print([m for m in sys.modules if m.startswith(tuple(f'cxlab.benchmarks.{n}.' for n in REGISTRY))])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_a_broken_benchmark_fails_with_its_own_error() -> None:
    broken = Registry({"broken": "cxlab.benchmarks.no_such_room"})
    assert "broken" in broken
    assert "other" not in broken
    with pytest.raises(ModuleNotFoundError, match="no_such_room"):
        broken["broken"]
    with pytest.raises(KeyError):
        broken["other"]
