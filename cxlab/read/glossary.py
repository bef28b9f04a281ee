"""What the words mean that pages use: read from one file, data/glossary.toml."""

from dataclasses import dataclass
from functools import lru_cache

from cxlab import resources
from cxlab.files.strict_toml import read_toml


@dataclass(frozen=True)
class Term:
    """A word, what it means, and the pages (by file name) that explain it beside their figures."""

    word: str
    meaning: str
    pages: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """All terms, as the file has them."""
    rows = read_toml(resources.data("glossary.toml"))["term"]
    return tuple(Term(str(row["word"]), str(row["meaning"]), tuple(map(str, row["pages"]))) for row in rows)


def terms_of(page: str) -> tuple[Term, ...]:
    """Those that a page explains beside its figures."""
    return tuple(term for term in terms() if page in term.pages)
