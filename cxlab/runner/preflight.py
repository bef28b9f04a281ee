"""Before a run starts: does each server answer, take the key and have the model? What else it says is of no account."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cxlab import llm
from cxlab.errors import Unreachable
from cxlab.llm import registry
from cxlab.llm.probe import reach
from cxlab.records import Failure, Run


@dataclass(frozen=True)
class Unanswered:
    """A model that cannot be asked, in which roles, and why."""

    model: str
    where: str
    failure: Failure
    advice: str
    roles: tuple[str, ...] = ()

    def __str__(self) -> str:
        who = f"{', '.join(self.roles)} {self.model}" if self.roles else self.model
        return f"{who} at {self.where}: {self.failure.message}; {self.advice}"


def list_roles(run: Run) -> list[tuple[str, str]]:
    """(role, model) of all that a run asks; what is only judged again asks judges alone."""
    roles = [("judge", name) for name in run.judges]
    if not run.setup.get("rescored_from"):
        customer = run.setup.get("customer")
        roles = [("agent", run.setup.get("model", run.model)), *([("customer", customer)] if customer else []), *roles]
    return roles


def preflight(roles: Iterable[tuple[str, str]]) -> None:
    """Ask every server once; Unreachable in one line for those that do not answer, refuse the key or lack the model."""
    by_model: dict[str, list[str]] = {}
    for role, name in roles:
        if not name.startswith("simulated:") and role not in by_model.setdefault(name, []):
            by_model[name].append(role)
    if not by_model:
        return
    lost = asyncio.run(_ask_all(list(by_model)))
    if lost:
        raise Unreachable("; ".join(str(replace(each, roles=tuple(by_model[each.model]))) for each in lost))


async def _ask_all(names: Sequence[str]) -> list[Unanswered]:
    async def ask(name: str) -> Unanswered | None:
        model = llm.load(name)
        try:
            failure = await reach(model)
        finally:
            await model.aclose()
        if failure is None:
            return None
        return Unanswered(name, registry.host_of(name), failure, _advise(name, failure))

    return [found for found in await asyncio.gather(*map(ask, names)) if found is not None]


def _advise(name: str, failure: Failure) -> str:
    variable = registry.key_variable(name)
    if failure.type == "auth":
        return f"put a key that it takes into {variable}" if variable else "check the key"
    if failure.type == "not_found":
        return "correct the name of the model"
    by_variable = {"openai": "OPENAI_BASE_URL", f"endpoint:{registry.ENV_ENDPOINT}": "CXLAB_ENDPOINT_URL"}
    place = next((variable for begin, variable in by_variable.items() if name.startswith(begin)), registry.user_file())
    return f"start the server, or correct its address in {place}"
