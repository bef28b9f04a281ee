"""The store: append-only Parquet parts under one DuckDB database of views.

`layout` places, `tables` columns, `soundness` one file, `catalogue` what counts, `write` and `load` records, `connect`
reading, `compact`, `trash`, `export`, `health` what is wrong and its repair.
"""

from cxlab.store.catalogue import version
from cxlab.store.layout import home

__all__ = ["home", "version"]
