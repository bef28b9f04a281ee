"""The worlds that agent and customer act on: `load` makes one of our own, `from_data` one of tau2-bench's files."""

from collections.abc import Mapping

from cxlab import resources
from cxlab.benchmarks.mmtaup2.worlds.base import CallResult, LoggedCall, World
from cxlab.benchmarks.mmtaup2.worlds.tools import Json
from cxlab.errors import UnknownName

__all__ = ["DOMAINS", "CallResult", "LoggedCall", "World", "from_data", "load", "policy"]

DOMAINS = ("telecom", "retail")
_POLICIES = resources.data("mmtaup2", "policies")


def _class(domain: str) -> type[World]:
    match domain:
        case "telecom":
            from cxlab.benchmarks.mmtaup2.worlds.telecom import TelecomWorld

            return TelecomWorld
        case "retail":
            from cxlab.benchmarks.mmtaup2.worlds.retail import RetailWorld

            return RetailWorld
    raise UnknownName("domain", domain, DOMAINS)


def load(domain: str, seed: int, size: int | None = None) -> World:
    """A generated world; `size` counts customers (None: the domain's own default)."""
    return _class(domain).generate(seed, size)


def from_data(domain: str, agent_db: Mapping[str, Json], customer_db: Mapping[str, Json] | None = None) -> World:
    """A world of tau2-bench's database files, already parsed."""
    return _class(domain).from_data(agent_db, customer_db)


def policy(domain: str) -> str:
    """What the agent is told about its job, in Markdown."""
    if domain not in DOMAINS:
        raise UnknownName("domain", domain, DOMAINS)
    return (_POLICIES / f"{domain}.md").read_text(encoding="utf-8")
