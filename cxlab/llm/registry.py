"""From a name to a model: `simulated:strong`, `openai:gpt-4.1`, `endpoint:local`, `anthropic:…`.

Settings are data: data/models.toml, with the user's own file laid over it. Keys stay in the
environment; only the *name* of their variable is ever written down.
"""

import functools
import importlib.util
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cxlab import resources
from cxlab.errors import BadOption, NotConfigured, UnknownName
from cxlab.llm.base import ChatModel
from cxlab.llm.metering import FREE, AudioPrices, Prices
from cxlab.llm.model_file import (
    ENV_ENDPOINT,
    Tables,
    complaints,
    damaged,
    is_own,
    refuse_damaged,
    refuse_unknown,
    settings,
    user_file,
)
from cxlab.records import Usage

_OPENAI_KEY = "OPENAI_API_KEY"
# What somebody installs beside a running app is seen after that long; a look goes through all of the search path.
_LOOK_S = 10.0

__all__ = [
    "ENV_ENDPOINT",
    "KnownModel",
    "ModelKind",
    "add_kind",
    "audio_prices",
    "complaints",
    "cost",
    "embedding_prices",
    "host_of",
    "key_variable",
    "known",
    "known_as",
    "load",
    "only_for",
    "prices",
    "refuse_damaged",
    "role_of",
    "settings",
    "user_file",
]


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One row of the Models page. `needs` says what is missing, "" when `configured`; `role` is the one that a
    simulated model can take, "" for any; `keyless` one that ships and asks for no key: whether its server runs here
    nobody has said."""

    name: str
    kind: str
    simulated: bool
    configured: bool
    needs: str
    prices: Prices | None
    description: str
    role: str = ""
    keyless: bool = False

    @property
    def rank(self) -> int:
        """Its place where people look for models: 0 real and set up here, 1 simulated, 2 keyless, 3 still needs
        something."""
        return 1 if self.simulated else 3 if not self.configured else 2 if self.keyless else 0


@dataclass(frozen=True)
class ModelKind:
    """A kind of model under test that answers no prompts: `PREFIX:...` names one, and it has a role of its own.

    `load(name)` raises UnknownName or NotConfigured before anything is called; what it gives is a ChatModel whose
    `complete` serves what it asks itself, if anything. `known()` are those to choose from.
    """

    prefix: str
    role: str
    load: Callable[[str], ChatModel]
    known: Callable[[], list[KnownModel]]
    prices: Callable[[str], Prices | None]


# Brought by rooms further right, so that this one knows none of them.
_KINDS: dict[str, ModelKind] = {}


def add_kind(kind: ModelKind) -> None:
    """Make a kind of model known by its prefix."""
    _KINDS[kind.prefix] = kind


def role_of(name: str) -> str:
    """The role under test of a model: that of its kind, else agent."""
    kind = _KINDS.get(name.partition(":")[0])
    return kind.role if kind is not None else "agent"


def known_as(role: str) -> list[KnownModel]:
    """The models that have a role which no chat model can take; calls nothing."""
    return [row for kind in _KINDS.values() if kind.role == role for row in kind.known()]


def _prices(entry: dict[str, Any]) -> Prices | None:
    if "prompt_usd" not in entry or "completion_usd" not in entry:
        return None
    return Prices(
        float(entry["prompt_usd"]),
        float(entry["completion_usd"]),
        str(entry.get("as_of", "")),
        str(entry.get("source", "")),
        *(None if entry.get(key) is None else float(entry[key]) for key in ("cached_usd", "reasoning_usd")),
    )


def prices(name: str) -> Prices | None:
    """What a model costs, or None when no price is noted; `endpoint:NAME/MODEL` may have its own entry."""
    kind, _, rest = name.partition(":")
    if kind == "simulated":
        return FREE
    if kind in _KINDS:
        return _KINDS[kind].prices(name)
    found = settings()
    if name in found["models"]:
        return _prices(found["models"][name])
    if kind == "endpoint":
        return _prices(found["endpoints"].get(rest.partition("/")[0], {}))
    return None


def embedding_prices(name: str) -> Prices | None:
    """What an embedding model costs; one behind an endpoint, without an entry of its own, what the endpoint does."""
    entry = settings()["embeddings"].get(name)
    return _prices({"completion_usd": 0.0, **entry}) if entry else prices(name)


def audio_prices(name: str) -> AudioPrices | None:
    """What speaking or transcribing costs with `openai:MODEL` or `endpoint:NAME/MODEL`; None when no price is noted.

    An endpoint's own entry holds for all its models; one whose tokens cost nothing is somebody's own machine.
    """
    found = settings()["audio"]
    endpoint = name.partition("/")[0]
    entry = found.get(name) or found.get(endpoint)
    if entry is None:
        noted = prices(endpoint) if endpoint.startswith("endpoint:") else None
        free = noted is not None and noted.prompt_usd == noted.completion_usd == 0
        return AudioPrices(0.0, None, noted.as_of, noted.source) if noted is not None and free else None
    minute, characters = (entry.get(key) for key in ("minute_usd", "characters_usd"))
    return AudioPrices(
        None if minute is None else float(minute),
        None if characters is None else float(characters),
        str(entry.get("as_of", "")),
        str(entry.get("source", "")),
    )


def cost(model_name: str, usage: Usage) -> float | None:
    """USD for this usage, 0.0 for simulated models; None without a price or without reported tokens."""
    if model_name.startswith("simulated:"):
        return 0.0
    noted = prices(model_name)
    return noted.cost(usage) if noted else None


def _has_package(package: str) -> bool:
    return _is_installed(package.replace("-", "_"), int(time.monotonic() // _LOOK_S))


@functools.lru_cache(maxsize=64)
def _is_installed(module: str, when: int) -> bool:
    del when
    return importlib.util.find_spec(module) is not None


def _missing(entry: dict[str, Any]) -> str:
    """What must be done before a model of this entry can be used, "" when nothing."""
    lacks = []
    package = entry.get("package")
    if package and not _has_package(package):
        lacks.append(f"pip install {package}")
    variable = entry.get("key_variable")
    if variable and entry.get("key_required", True) and not os.environ.get(variable):
        lacks.append(f"set {variable} in the environment")
    return " and ".join(lacks)


def known(benchmark: str = "") -> list[KnownModel]:
    """Every model that has a name here (and means something in the benchmark), simulated ones first; calls nothing."""
    from cxlab.llm.simulated.profiles import list_profiles

    rows = [
        KnownModel(f"simulated:{p.name}", "simulated", True, True, "", FREE, f"{p.title}: {p.explains}", p.role)
        for p in list_profiles().values()
        if not benchmark or p.benchmark in ("", benchmark)
    ]
    found, faults = settings(), damaged()
    for name, entry in found["endpoints"].items():
        needs = _missing(entry)
        text = str(entry.get("description", entry.get("base_url", "")))
        keyless = not is_own("endpoints", name) and not os.environ.get(str(entry.get("key_variable")))
        rows.append(
            KnownModel(f"endpoint:{name}", "endpoint", False, not needs, needs, _prices(entry), text, keyless=keyless)
        )
    for name, entry in found["models"].items():
        kind, needs = _needs(name, found)
        rows.append(KnownModel(name, kind, False, not needs, needs, _prices(entry), str(entry.get("description", ""))))
    # What the user's file says wrongly is a row that cannot be used, whatever ships under that name.
    wrong = {f"endpoint:{name}" if section == "endpoints" else name: str(fault)
             for (section, name), fault in faults.items() if section in ("endpoints", "models")}  # fmt: skip
    rows = [row for row in rows if row.name not in wrong]
    for name, fault in wrong.items():
        kind = name.partition(":")[0]
        kind = kind if kind in ("openai", "endpoint") else "langchain"
        rows.append(KnownModel(name, kind, False, False, f"mend {fault}", None, "Left out: its entry is wrong"))
    return rows


def _needs(name: str, found: Tables) -> tuple[str, str]:
    """(kind, what is missing) of an entry under [models]."""
    kind, _, rest = name.partition(":")
    if kind == "openai":
        return kind, _missing({"key_variable": _OPENAI_KEY, "package": "openai"})
    section, key = ("endpoints", rest.partition("/")[0]) if kind == "endpoint" else ("providers", kind)
    needs = _missing(found[section][key]) if key in found[section] else f"add [{section}.{key}] to {user_file()}"
    return kind if kind == "endpoint" else "langchain", needs


def only_for(name: str) -> str:
    """The one benchmark in which a simulated model means something; "" where it means something in all."""
    from cxlab.llm.simulated.profiles import find_profile

    kind, _, rest = name.partition(":")
    profile = find_profile(rest.partition("?")[0]) if kind == "simulated" else None
    return profile.benchmark if profile else ""


def load(name: str) -> ChatModel:
    """The model of that name; raises UnknownName or NotConfigured before anything is called.

    `simulated:PROFILE[?latency=0.05&KNOB=VALUE]`, `openai:MODEL`, `endpoint:NAME[/MODEL]`,
    `PROVIDER:MODEL` for a provider of LangChain, or a name of a kind that another room brought.
    """
    kind, colon, rest = name.partition(":")
    if not colon or not rest:
        raise UnknownName("model", name, [row.name for row in known()], "write it as KIND:NAME")
    if kind in _KINDS:
        return _KINDS[kind].load(name)
    if kind == "simulated":
        return _load_simulated(name, rest)
    if kind == "openai":
        return _load_openai(name, rest)
    if kind == "endpoint":
        return _load_endpoint(name, rest)
    return _load_langchain(name, kind, rest)


def host_of(name: str) -> str:
    """Host and port of the server that a model is asked at, without anything secret; "" where it is not known."""
    kind, _, rest = name.partition(":")
    url = ""
    if kind == "openai":
        url = os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    elif kind == "endpoint":
        url = settings()["endpoints"].get(rest.partition("/")[0], {}).get("base_url") or ""
    return urlsplit(url).netloc.rpartition("@")[2] or kind


def key_variable(name: str) -> str:
    """The environment variable with the key of a model; "" where none is named."""
    kind, _, rest = name.partition(":")
    if kind == "openai":
        return _OPENAI_KEY
    section, key = ("endpoints", rest.partition("/")[0]) if kind == "endpoint" else ("providers", kind)
    return str(settings()[section].get(key, {}).get("key_variable") or "")


def add_simulated(source: Callable[[], Iterable[str]]) -> None:
    """Name where further simulated models are declared, each as "package.module:PROFILES"; asked when they are."""
    from cxlab.llm.simulated.profiles import add_source

    add_source(lambda: (profile for declared in source() for profile in resources.find_object(declared) or ()))


def _load_simulated(name: str, rest: str) -> ChatModel:
    from cxlab.llm.simulated import Profile, SimulatedModel, find_profile, list_profiles

    profile_name, _, query = rest.partition("?")
    profile = find_profile(profile_name)
    if profile is None:
        raise UnknownName("simulated model", profile_name, list_profiles())
    types = {f.name: f.type for f in fields(Profile) if f.type in (float, int, bool)}
    latency_s, changed = 0.0, {}
    for knob, text in parse_qsl(query, keep_blank_values=True):
        if knob != "latency" and knob not in types:
            raise UnknownName("setting of a simulated model", knob, ["latency", *types])
        try:
            value = float({"true": "1", "false": "0"}.get(text.lower(), text))
        except ValueError:
            raise BadOption(f"model {name!r}: {knob}={text!r} is not a number") from None
        if not abs(value) <= 1e6:
            raise BadOption(f"model {name!r}: {knob}={text!r}; give a number from -1e6 to 1e6")
        if knob == "latency":
            if not 0 <= value <= 60:
                raise BadOption(f"model {name!r}: latency={text!r}; give seconds from 0 to 60")
            latency_s = value
        else:
            changed[knob] = {bool: bool, int: int}.get(types[knob], float)(value)
    # A changed knob makes another model, so it belongs to the name; a delay does not change any reply.
    label = "&".join(f"{knob}={value:g}" for knob, value in sorted(changed.items()))
    profile = replace(profile, **changed)
    return SimulatedModel(profile, latency_s, f"simulated:{profile_name}" + (f"?{label}" if label else ""))


def _options(*entries: dict[str, Any]) -> Any:
    """How a model is asked: by what holds for all, then by its entries, the closest last."""
    from cxlab.llm.openai_clients import EndpointOptions

    names = {f.name for f in fields(EndpointOptions)}
    merged = {key: value for entry in (_defaults(), *entries) for key, value in entry.items() if key in names}
    return EndpointOptions(**merged)


def _defaults() -> dict[str, Any]:
    return settings()["defaults"].get("models", {})


def _load_openai(name: str, model: str) -> ChatModel:
    from cxlab.llm.openai_model import OpenAIModel

    if not os.environ.get(_OPENAI_KEY):
        raise NotConfigured(f"model {name!r} needs a key: set {_OPENAI_KEY} in the environment")
    refuse_damaged(("models", name))
    entry = settings()["models"].get(name, {})
    return OpenAIModel(name, model, None, _OPENAI_KEY, prices=_prices(entry), options=_options(entry))


def _load_endpoint(name: str, rest: str) -> ChatModel:
    from cxlab.llm.openai_model import OpenAIModel

    endpoint, _, model = rest.partition("/")
    refuse_damaged(("endpoints", endpoint), ("models", name))
    endpoints = settings()["endpoints"]
    if endpoint == ENV_ENDPOINT and endpoint not in endpoints:
        raise NotConfigured(f"model {name!r} needs a server: set CXLAB_ENDPOINT_URL (and CXLAB_ENDPOINT_KEY)")
    if endpoint not in endpoints:
        refuse_unknown()
        raise UnknownName("endpoint", endpoint, endpoints, f"add [endpoints.{endpoint}] to {user_file()}")
    entry = endpoints[endpoint]
    url = entry.get("base_url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise BadOption(f"endpoint {endpoint!r}: base_url {url!r}; write it as http://HOST:PORT/v1")
    missing = _missing(entry)
    if missing:
        raise NotConfigured(f"model {name!r}: {missing}")
    return OpenAIModel(
        name,
        model or entry.get("model"),
        url,
        entry.get("key_variable"),
        prices=prices(name),
        options=_options(entry, settings()["models"].get(name, {})),
    )


def _load_langchain(name: str, provider: str, model: str) -> ChatModel:
    refuse_damaged(("models", name), ("providers", provider))
    providers = settings()["providers"]
    if provider not in providers:
        refuse_unknown()
        hint = f"kinds: simulated, openai, endpoint, {', '.join(sorted(providers))}"
        raise UnknownName("model", name, [row.name for row in known()], hint)
    missing = _missing(providers[provider])
    if missing:
        raise NotConfigured(f"model {name!r}: {missing}")
    from cxlab.llm.langchain_model import load_langchain

    limits = _defaults() | settings()["models"].get(name, {})
    key = providers[provider].get("key_variable")
    return load_langchain(
        name, provider, model, prices(name), key, limits.get("max_output_tokens"), limits.get("reasoning_effort")
    )
