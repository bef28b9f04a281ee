"""SOQL and SOSL: the product's query languages, parsed by grammar and translated to parameterised SQL.

`parse(text)` gives the syntax tree of a query or, where the text begins with FIND, of a search; what is none raises
QueryError with the product's code and the place. `sandbox.Sandbox` answers queries.
"""

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.parser import parse_query
from cxlab.benchmarks.crmarena.soql.search_parser import is_search, parse_search
from cxlab.benchmarks.crmarena.soql.syntax import Query, Search

__all__ = ["Query", "QueryError", "Search", "parse", "parse_query", "parse_search"]


def parse(text: str) -> Query | Search:
    """The syntax tree of a SOQL query or SOSL search; QueryError for what is neither."""
    return parse_search(text) if is_search(text) else parse_query(text)
