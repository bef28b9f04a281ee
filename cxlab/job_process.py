"""The process of one job: the command line, and its exit code into the table of jobs (`-m cxlab.job_process ID …`)."""

import signal
import sys
from collections.abc import Sequence
from types import FrameType

from cxlab import jobs
from cxlab.cli import main


def work(job_id: str, args: Sequence[str]) -> int:
    """Run `cxlab ARGS`; SIGTERM is an interrupt, so that work stops in good order. The exit code."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    sys.argv = ["cxlab", *args]
    code = 1  # what a bug leaves behind, with its traceback in the log
    try:
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        jobs.finish(job_id, code)
    return code


if __name__ == "__main__":
    sys.exit(work(sys.argv[1], sys.argv[2:]))
