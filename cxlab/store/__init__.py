"""The store: append-only Parquet parts under one DuckDB database of views.

`layout` places, `tables` columns, `write` and `load` records, `connect` reading, `compact`, `trash`, `export`.
"""

from cxlab.store.layout import home, version

__all__ = ["home", "version"]
