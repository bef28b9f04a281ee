"""A user's mistake, one class a situation; the text names the bad value and the fix."""

import errno
import os
import re
from collections.abc import Iterable

# What is wrong with a file, a folder or the disk below it, and what to do. Faults of networks and processes, which
# Python also calls OSError, are not among them.
_ADVICE = {
    errno.ENOSPC: "free some space, or set CXLAB_HOME to a folder on another disk",
    errno.EDQUOT: "free some of your quota, or set CXLAB_HOME to a folder on another disk",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), or set CXLAB_HOME to a folder on another disk",
    errno.EROFS: "name a folder that can be written, or set CXLAB_HOME to one",
    errno.EACCES: "change its permissions, or name another place (for the store: set CXLAB_HOME)",
    errno.EPERM: "change its permissions, or name another place (for the store: set CXLAB_HOME)",
    errno.ENOTDIR: "a file lies where a folder is needed: name another place (for the store: set CXLAB_HOME)",
    errno.EISDIR: "a folder lies where a file is needed: name another place",
    errno.EEXIST: "something else lies there already: name another place (for the store: set CXLAB_HOME)",
    errno.ENOENT: "it has gone or never was there: check the name",
    errno.ENAMETOOLONG: "take a shorter name",
    errno.ELOOP: "a link leads to itself: name another place",
    errno.EIO: "the disk fails: look at the system's log, and copy what you need to another disk",
    errno.EMFILE: "raise the limit of open files (ulimit -n), or take a lower --concurrency",
    errno.ENFILE: "close other programs, or take a lower --concurrency",
    errno.EBUSY: "another program holds it: close that first",
}
_CLASSES: dict[type[BaseException], int] = {
    FileNotFoundError: errno.ENOENT,
    IsADirectoryError: errno.EISDIR,
    PermissionError: errno.EACCES,
}
_SQLITE = {
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_READONLY": errno.EROFS,
    "SQLITE_CANTOPEN": errno.EACCES,
    "SQLITE_IOERR": errno.EIO,
    "SQLITE_PERM": errno.EACCES,
}


class CxError(Exception):
    """A mistake that the user can mend; shown as one line, exit code 2, never as a traceback."""


class UnknownName(CxError):
    """A model, scenario, run, benchmark or column that does not exist."""

    def __init__(self, kind: str, name: object, known: Iterable[object], hint: str = "") -> None:
        listed = ", ".join(sorted(map(str, known))) or "none yet"
        super().__init__(f"unknown {kind} {str(name)!r}; known: {listed}" + (f". {hint}" if hint else ""))


class BadFile(CxError):
    """A file that cannot be read as what it should be: file, line and fix."""

    def __init__(self, path: object, line: int | None, problem: str, fix: str = "") -> None:
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {problem}" + (f"; {fix}" if fix else ""))
        self.path, self.line, self.problem, self.fix = path, line, problem, fix


class BadOption(CxError):
    """An option whose value cannot be used."""


class NotConfigured(CxError):
    """A model, server or package that needs a setting, a key or an installation first."""


class NoStandIn(NotConfigured):
    """A prompt that no simulated model can answer here, for what answers it was taken out."""


class Unreachable(CxError):
    """A server that does not answer, refuses the key or lacks the model, found before any work begins."""


class Busy(CxError):
    """Another process works on the same thing."""


class BadStore(CxError):
    """The store is of another version or damaged."""


class NewerStore(BadStore):
    """A newer CX Lab has upgraded the store; this one must not write to it."""


class FileFault(CxError):
    """The operating system refused a file or folder: full, read-only, not permitted, gone, of another kind."""


def explain(fault: BaseException) -> FileFault | None:
    """What a fault of a file or disk is and what to do, in one line; None for any other exception.

    Takes OSError, and what Polars, DuckDB and SQLite raise in its place when they read or write a file.
    """
    number = _find_errno(fault)
    if number is None:
        return None
    path = getattr(fault, "filename2", None) or getattr(fault, "filename", None) or _find_path(str(fault))
    where = f"{os.fsdecode(path) if isinstance(path, bytes) else path}: " if path else ""
    return FileFault(f"{where}{os.strerror(number)}; {_ADVICE[number]}")


def _find_errno(fault: BaseException) -> int | None:
    module, text = type(fault).__module__, str(fault)
    number: int | None = None
    if isinstance(fault, OSError) and fault.errno is not None:
        number = fault.errno
    elif isinstance(fault, OSError) or module.startswith("polars"):
        found = re.search(r"\(os error (\d+)\)", text)
        number = int(found[1]) if found else _CLASSES.get(type(fault))
    elif module.startswith("_duckdb") and type(fault).__name__ == "IOException":
        # Its text quotes the system's sentence and only sometimes the number.
        number = next((code for code in _ADVICE if re.search(rf": {re.escape(os.strerror(code))}\b", text)), None)
    elif module == "sqlite3":
        code = getattr(fault, "sqlite_errorname", "")
        number = next((known for name, known in _SQLITE.items() if code.startswith(name)), None)
    return number if number in _ADVICE else None


def _find_path(text: str) -> str | None:
    found = re.search(r'file \\?"([^"\\]+)', text) or re.search(r"\(os error \d+\): (/\S+)", text)
    return found[1] if found else None
