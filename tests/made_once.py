"""What a process of tests needs once and would make anew for each page and each command that it opens."""

import functools
import sys


def share_between_commands() -> None:
    """The tree of commands is made once, not for each command that is called."""
    import typer.main
    import typer.testing

    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.testing._get_command = typer.main.get_command


def share_between_pages() -> None:
    """What each AppTest would read and compile for itself, and a wait that does not ask a thousand times a second."""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache
    from streamlit.testing.v1 import local_script_runner

    # What all installed packages say of themselves.
    manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

    # The compiled pages; those that a test writes have a path of their own each time.
    compiled, get_bytecode = ScriptCache(), ScriptCache.get_bytecode
    ScriptCache.get_bytecode = lambda _, path: get_bytecode(compiled, path)

    ask = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(timeout)
        if not runner.script_stopped():
            ask(runner, 0)

    local_script_runner.require_widgets_deltas = wait


def share() -> None:
    """All of it that this process uses."""
    share_between_commands()
    if "streamlit" in sys.modules:
        share_between_pages()
