"""A user's mistake, one class a situation; the text names the bad value and the fix."""

from collections.abc import Iterable


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


class Busy(CxError):
    """Another process works on the same thing."""


class BadStore(CxError):
    """The store is of another version or damaged."""
