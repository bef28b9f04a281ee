"""What Overview shows first, asked for before anybody comes."""

from collections.abc import Callable
from contextlib import suppress

from cxlab import read
from cxlab.errors import CxError
from cxlab.read import View
from cxlab.store import catalogue, connect, layout
from cxlab.ui.address import cached
from cxlab.views.benchmarks import declared, in_order, leave_out_floors
from cxlab.views.comparison_sets import ranked
from cxlab.views.overview.queries import outcome
from cxlab.views.overview.since import find_changes


def read_ahead(ended: Callable[[], bool]) -> None:
    """Have the rows of Overview known, for the server that calls it while its first visitor's browser still starts;
    gives up once that server has `ended`.

    Nothing of a store that is not there yet or is of an older version; and what cannot be read is told by the page.
    """
    import duckdb

    home = layout.home()
    if not (home / connect.DATABASE).is_file() or not layout.is_up_to_date(home):
        return
    with suppress(CxError, OSError, duckdb.Error), catalogue.held():
        cached(read.health)
        # As the page asks: whoever asks for the same meanwhile waits for this answer.
        abouts = []
        for name in in_order(cached(read.benchmarks)["benchmark"]):
            if ended():
                return
            abouts.append(about := declared(name))
            cached(ranked, View(benchmark=name))
            cached(outcome, leave_out_floors(View(benchmark=name), about))
        changes = find_changes(abouts)
        while not ended() and next(changes, None):
            pass
