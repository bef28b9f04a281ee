"""The command line: `python -m cxlab COMMAND`. Each command is one function in `cxlab.commands`."""

import gc
import os
import sys
from typing import Any, NoReturn

import typer

from cxlab.commands import (
    compare,
    data,
    doctor,
    evaluate,
    generate,
    index,
    json_line,
    prompts,
    rejudge,
    report,
    results,
    send,
    serve,
    upload,
)
from cxlab.errors import CxError, explain

# Plain help: the decorated one loads rich, which doubles the time that --help takes.
app = typer.Typer(
    name="cxlab",
    help="CX Lab: find out what customer-experience agents really do.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def enter() -> None:
    """Bring the store up to date before any command; nothing but a look at a stamp where that is done."""
    if sys.argv[1:2] == ["bench"] or "--help" in sys.argv:
        return
    from cxlab.store import home, layout

    if home().is_dir() and not layout.is_up_to_date(home()):
        from cxlab.runner.stored.migrate import migrate_aloud

        migrate_aloud(quiet="--quiet" in sys.argv)


app.command()(evaluate.demo)
# These show help of their own: with a benchmark named, its settings and switches, too; the sources of an import.
_OWN_FLAGS: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True},
}
app.command(**_OWN_FLAGS)(generate.generate)
app.command("import", **_OWN_FLAGS)(data.import_data)
app.command(**_OWN_FLAGS)(index.index)
app.command(**_OWN_FLAGS)(send.send)
app.command(**_OWN_FLAGS)(evaluate.run)
app.command()(evaluate.score)
app.command()(rejudge.rescore)
app.command()(rejudge.rejudge)
app.command("patch", hidden=True)(rejudge.rejudge)  # what it was called first
app.command()(data.check)
app.command()(data.convert)
app.command()(send.answers)
app.command()(compare.compare)
app.command()(report.report)
app.command()(data.export)
app.command(**_OWN_FLAGS)(upload.upload)
data.runs_app.command("show")(results.show_runs)
app.add_typer(data.runs_app, name="runs")
app.command()(doctor.doctor)
app.command()(prompts.prompts)
app.command()(serve.models)
app.command(context_settings={"ignore_unknown_options": True})(serve.bench)
app.command("app")(serve.serve)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a bug or a complaint, 2 a mistake in what was asked,
    3 stopped before its end, or failed, 130 interrupted."""
    # Attempts are many small records without cycles: to look through them every 700 takes an eighth of a run's time.
    gc.set_threshold(20_000, 20, 50)
    json_line.begin()
    try:
        app(prog_name="cxlab")
    except SystemExit as leaving:
        if leaving.code:
            json_line.say_failure("see what is said on the error output")
        raise
    except CxError as mistake:
        _leave(str(mistake), 2)
    except KeyboardInterrupt:  # before or after a run; within one it is a clean stop
        _leave("interrupted", 130, "stopped")
    except BrokenPipeError:
        # The reader of our output (`head`, say) has gone; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as fault:  # of many kinds, and none of them a bug: what the system says of a file or disk
        told = explain(fault)
        if told is None:
            json_line.say_failure(f"{type(fault).__name__}: {fault}")
            raise
        _leave(str(told), 2)


def _leave(reason: str, code: int, state: str = "failed") -> NoReturn:
    """End with the reason on the error output, and where JSON was asked for in its last line."""
    print(f"cxlab: {reason}", file=sys.stderr)
    json_line.say_failure(reason, state)
    sys.exit(code)
