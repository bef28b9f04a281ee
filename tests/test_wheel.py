"""A wheel carries all that the product needs, runs outside a checkout, and takes no private data along."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tracked and new files in which data/local holds something private."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("cxlab", "pages", "data", ".streamlit", "app.py", "pyproject.toml", "requirements.txt", "README.md"):
        (source / name).symlink_to(ROOT / name) if name not in ("data",) else _link_data(source / "data")
    (source / "data" / "local" / "runs").mkdir(parents=True)
    (source / "data" / "local" / "runs" / "private.json").write_text("{}")
    built = subprocess.run(
        [sys.executable, "-c", f"import hatchling.build as b; print(b.build_wheel({str(out)!r}))"],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return out / built.stdout.split()[-1]


def _link_data(folder: Path) -> None:
    folder.mkdir()
    for entry in (ROOT / "data").iterdir():
        if entry.name != "local":
            (folder / entry.name).symlink_to(entry)


def test_lists_what_is_needed_and_nothing_private(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "app.py",
        "pages/overview.py",
        ".streamlit/config.toml",
        "data/models.toml",
        "data/published/sage.json",
    ):
        assert f"cxlab/_site/{needed}" in names
    shipped = {f"cxlab/{path.relative_to(ROOT / 'cxlab').as_posix()}" for path in (ROOT / "cxlab").rglob("*.py")}
    assert shipped <= names
    assert not [name for name in names if "local/" in name or "__pycache__" in name or name.startswith("tests/")]


def test_the_command_line_types_pages_and_data_are_read_from_it_alone(wheel: Path, tmp_path: Path) -> None:
    """Nothing of the checkout is at hand: another folder, another home, the unpacked wheel first among the modules."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    outside = {k: v for k, v in os.environ.items() if not k.startswith("CXLAB_") and k != "PYTHONPATH"}
    env = {**outside, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "own"), "PYTHONPATH": str(site)}

    def call(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    told = call("-m", "cxlab", "--help")
    assert "doctor" in told
    assert "benchmark" in told
    script = (
        "import cxlab, json\n"
        "from importlib.resources import files as packaged\n"
        "from cxlab import files, resources\n"
        "site, data = resources.site(), resources.data()\n"
        "pages = sorted(path.name for path in (site / 'pages').glob('*.py'))\n"
        "read = [len(files.read_toml(data / 'models.toml')), len(files.read_json(data / 'published/sage.json'))]\n"
        "typed = (packaged('cxlab') / 'py.typed').is_file()\n"
        "print(json.dumps([cxlab.__file__, str(data), typed, pages, read]))"
    )
    package, data, typed, pages, read = json.loads(call("-c", script))
    assert Path(package).is_relative_to(site)
    assert Path(data).is_relative_to(site)
    assert typed
    assert pages == sorted(path.name for path in (ROOT / "pages").glob("*.py"))
    assert all(read)
    (listed,) = site.glob("cxlab-*.dist-info/entry_points.txt")
    assert "cxlab = cxlab.cli:main" in listed.read_text()


def test_runs_outside_a_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    outside = {k: v for k, v in os.environ.items() if k not in ("CXLAB_HOME", "PYTHONPATH")}
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "own"), "PYTHONPATH": str(tmp_path / "site")}
    script = (
        "from cxlab import resources, cli\n"
        "from cxlab.benchmarks.sage import rules\n"
        "from cxlab.store import layout\n"
        "assert '_site' in str(resources.data()), resources.data()\n"
        "assert len(rules.ids()) == 6 and (resources.site() / 'app.py').is_file() and resources.checkout() is None\n"
        "print(layout.home())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**outside, **home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(tmp_path / "own" / "cxlab")
