"""Brand packs by name or file: read, checked, and kept while their file does not change."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from cxlab.benchmarks.cxmarena.brand.brand_pack import FOLDER, Brand
from cxlab.benchmarks.cxmarena.brand.pack_check import check
from cxlab.errors import BadFile, UnknownName
from cxlab.files import Complaint


def names() -> list[str]:
    """The ids of the packs at hand."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str | Path) -> Brand:
    """The pack of this id or in this file; UnknownName, or BadFile with line and fix when it is wrong."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        if str(name) not in names():
            raise UnknownName("brand", name, names(), "Or give the path of a brand pack (.yaml)")
        path = FOLDER / f"{name}.yaml"
    elif not path.is_file():
        raise BadFile(path, None, "no such file", "give the path of a brand pack")
    stamp = path.stat()
    return _load(path, stamp.st_mtime_ns, stamp.st_size)


@functools.lru_cache(maxsize=8)
def _load(path: Path, changed: int, size: int) -> Brand:
    brand, complaints = check(path)
    if complaints or brand is None:
        first = complaints[0]
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        raise BadFile(path, first.line, first.problem, first.fix + more)
    return brand


def check_files(paths: Iterable[Path] | None = None) -> list[Complaint]:
    """Complaints about all packs, or about those given."""
    return [c for path in (sorted(FOLDER.glob("*.yaml")) if paths is None else paths) for c in check_file(Path(path))]


def check_file(path: Path) -> list[Complaint]:
    """Complaints about one pack: its form, then its references, cycles and phrases."""
    return check(path)[1]
