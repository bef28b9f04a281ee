"""Where one is on the page CRM desk."""

from __future__ import annotations

from dataclasses import dataclass

from cxlab.read import View
from cxlab.ui.place import PagePlace

LONGEST_QUERY = 2_000
"""Characters of a query that an address holds; longer ones stay in the session."""


@dataclass(frozen=True)
class Place(PagePlace):
    """Where one is: `view` (what pages share: dataset, tab, task, run, page) and what only this page knows.

    `object` and `record` are what is browsed, `find` the words that narrow it, `query` what the console is asked,
    `today` the day it is asked on, `kind` a task, `sample` one of its questions, `reading` how policies are read.
    """

    page = "crm_desk"
    prefix = "crm"
    longest = {"query": LONGEST_QUERY}

    object: str = ""
    record: str = ""
    find: str = ""
    query: str = ""
    today: str = ""
    sample: str = ""
    reading: str = ""
    kind: str = ""

    def open(self, record: str) -> Place:
        """The same dataset with a record open."""
        return Place(View(dataset=self.dataset), record=record)

    def ask(self, query: str) -> Place:
        """The same dataset with a query in the console."""
        return Place(View(dataset=self.dataset, tab="console"), query=query, today=self.today)
