"""From a name to a model: `simulated:strong`, `openai:gpt-4.1`, `endpoint:local`, `anthropic:…`.

Settings are data: data/models.toml, with the user's own file laid over it. Keys stay in the
environment; only the *name* of their variable is ever written down.
"""

import importlib.util
import os
import tomllib
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from cxlab import resources
from cxlab.errors import BadFile, BadOption, NotConfigured, UnknownName
from cxlab.llm.base import ChatModel
from cxlab.llm.metering import FREE, AudioPrices, Prices
from cxlab.records import Usage

_SHIPPED = resources.data("models.toml")
_OPENAI_KEY = "OPENAI_API_KEY"
_ENV_ENDPOINT = "env"
_SECTIONS = ("endpoints", "models", "embeddings", "audio", "providers")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One row of the Models page. `needs` says what is missing, "" when `configured`."""

    name: str
    kind: str
    simulated: bool
    configured: bool
    needs: str
    prices: Prices | None
    description: str


def user_file() -> Path:
    """Where the user's own models are looked for: $CXLAB_MODELS, else models.toml in the store's folder."""
    named = os.environ.get("CXLAB_MODELS")
    home = os.environ.get("CXLAB_HOME")
    return Path(named) if named else (Path(home) if home else resources.default_home()) / "models.toml"


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> dict[str, dict[str, dict[str, Any]]]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadFile(path, None, "not UTF-8", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(path, None, str(error)) from None
    for section, entries in found.items():
        if section not in _SECTIONS:
            raise BadFile(path, None, f"unknown table [{section}]", f"known: {', '.join(_SECTIONS)}")
        for name, entry in entries.items():
            if not isinstance(entry, dict):
                raise BadFile(path, None, f"{section}.{name} is not a table", f"write [{section}.{name}]")
            if "key" in entry or "api_key" in entry:
                raise BadFile(
                    path, None, f"{section}.{name} holds a key", "put it into the environment and name key_variable"
                )
    return found


def settings() -> dict[str, dict[str, dict[str, Any]]]:
    """The shipped tables with the user's laid over them, read again when a file changes."""
    merged: dict[str, dict[str, dict[str, Any]]] = {section: {} for section in _SECTIONS}
    for path in (_SHIPPED, user_file()):
        if not path.is_file():
            if path != _SHIPPED and os.environ.get("CXLAB_MODELS"):
                raise BadFile(path, None, "CXLAB_MODELS names a file that does not exist")
            continue
        for section, entries in _read(path, path.stat().st_mtime_ns).items():
            for name, entry in entries.items():
                merged[section][name] = {**merged[section].get(name, {}), **entry}
    url = os.environ.get("CXLAB_ENDPOINT_URL")
    if url:
        merged["endpoints"][_ENV_ENDPOINT] = {
            "description": "The server named by CXLAB_ENDPOINT_URL",
            "base_url": url,
            "key_variable": "CXLAB_ENDPOINT_KEY",
            "key_required": False,
            "model": os.environ.get("CXLAB_ENDPOINT_MODEL") or None,
        }
    return merged


def _prices(entry: dict[str, Any]) -> Prices | None:
    if "prompt_usd" not in entry or "completion_usd" not in entry:
        return None
    return Prices(
        float(entry["prompt_usd"]),
        float(entry["completion_usd"]),
        str(entry.get("as_of", "")),
        str(entry.get("source", "")),
    )


def prices(name: str) -> Prices | None:
    """What a model costs, or None when no price is noted; `endpoint:NAME/MODEL` may have its own entry."""
    kind, _, rest = name.partition(":")
    if kind == "simulated":
        return FREE
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
    return importlib.util.find_spec(package.replace("-", "_")) is not None


def _missing(kind: str, entry: dict[str, Any]) -> str:
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
    from cxlab.llm.simulated.profiles import PROFILES

    rows = [
        KnownModel(f"simulated:{p.name}", "simulated", True, True, "", FREE, f"{p.title}: {p.explains}")
        for p in PROFILES.values()
        if not benchmark or p.benchmark in ("", benchmark)
    ]
    found = settings()
    for name, entry in found["endpoints"].items():
        needs = _missing("endpoint", entry)
        text = str(entry.get("description", entry.get("base_url", "")))
        rows.append(KnownModel(f"endpoint:{name}", "endpoint", False, not needs, needs, _prices(entry), text))
    for name, entry in found["models"].items():
        kind = name.partition(":")[0]
        if kind == "endpoint":
            base = found["endpoints"].get(name.partition(":")[2].partition("/")[0], {})
            needs = _missing(kind, base)
        elif kind == "openai":
            needs = _missing(kind, {"key_variable": _OPENAI_KEY, "package": "openai"})
        else:
            needs = _missing(kind, found["providers"].get(kind, {}))
            kind = "langchain"
        rows.append(KnownModel(name, kind, False, not needs, needs, _prices(entry), str(entry.get("description", ""))))
    return rows


def only_for(name: str) -> str:
    """The one benchmark in which a simulated model means something; "" where it means something in all."""
    from cxlab.llm.simulated.profiles import PROFILES

    kind, _, rest = name.partition(":")
    profile = PROFILES.get(rest.partition("?")[0]) if kind == "simulated" else None
    return profile.benchmark if profile else ""


def load(name: str) -> ChatModel:
    """The model of that name; raises UnknownName or NotConfigured before anything is called.

    `simulated:PROFILE[?latency=0.05&KNOB=VALUE]`, `openai:MODEL`, `endpoint:NAME[/MODEL]`, or
    `PROVIDER:MODEL` for a provider of LangChain.
    """
    kind, colon, rest = name.partition(":")
    if not colon or not rest:
        raise UnknownName("model", name, [row.name for row in known()], "write it as KIND:NAME")
    if kind == "simulated":
        return _load_simulated(name, rest)
    if kind == "openai":
        return _load_openai(name, rest)
    if kind == "endpoint":
        return _load_endpoint(name, rest)
    return _load_langchain(name, kind, rest)


def _load_simulated(name: str, rest: str) -> ChatModel:
    from cxlab.llm.simulated import PROFILES, Profile, SimulatedModel

    profile_name, _, query = rest.partition("?")
    if profile_name not in PROFILES:
        raise UnknownName("simulated model", profile_name, PROFILES)
    profile = PROFILES[profile_name]
    types = {f.name: f.type for f in fields(Profile) if f.type in (float, int, bool)}
    latency_s, changed = 0.0, {}
    for knob, text in parse_qsl(query, keep_blank_values=True):
        if knob != "latency" and knob not in types:
            raise UnknownName("setting of a simulated model", knob, ["latency", *types])
        try:
            value = float({"true": "1", "false": "0"}.get(text.lower(), text))
        except ValueError:
            raise BadOption(f"model {name!r}: {knob}={text!r} is not a number") from None
        if knob == "latency":
            if not 0 <= value <= 60:
                raise BadOption(f"model {name!r}: latency={text!r}; give seconds from 0 to 60")
            latency_s = value
        else:
            changed[knob] = {bool: bool, int: int}.get(types[knob], float)(value)  # type: ignore[call-overload]
    # A changed knob makes another model, so it belongs to the name; a delay does not change any reply.
    label = "&".join(f"{knob}={value:g}" for knob, value in sorted(changed.items()))
    profile = replace(profile, **changed)
    return SimulatedModel(profile, latency_s, f"simulated:{profile_name}" + (f"?{label}" if label else ""))


def _options(entry: dict[str, Any], where: str) -> Any:
    from cxlab.llm.openai_model import Options

    names = {f.name for f in fields(Options)}
    given = {key: value for key, value in entry.items() if key in names}
    others = set(entry) - names
    others -= {"description", "base_url", "model", "key_variable", "key_required"}
    others -= {"prompt_usd", "completion_usd", "as_of", "source"}
    if others:
        raise UnknownName(f"setting of {where}", min(others), names)
    return Options(**given)


def _load_openai(name: str, model: str) -> ChatModel:
    from cxlab.llm.openai_model import OpenAIModel

    if not os.environ.get(_OPENAI_KEY):
        raise NotConfigured(f"model {name!r} needs a key: set {_OPENAI_KEY} in the environment")
    entry = settings()["models"].get(name, {})
    return OpenAIModel(name, model, None, _OPENAI_KEY, prices=_prices(entry), options=_options(entry, name))


def _load_endpoint(name: str, rest: str) -> ChatModel:
    from cxlab.llm.openai_model import OpenAIModel

    endpoint, _, model = rest.partition("/")
    endpoints = settings()["endpoints"]
    if endpoint == _ENV_ENDPOINT and endpoint not in endpoints:
        raise NotConfigured(f"model {name!r} needs a server: set CXLAB_ENDPOINT_URL (and CXLAB_ENDPOINT_KEY)")
    if endpoint not in endpoints:
        raise UnknownName("endpoint", endpoint, endpoints, f"add [endpoints.{endpoint}] to {user_file()}")
    entry = endpoints[endpoint]
    url = entry.get("base_url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise BadOption(f"endpoint {endpoint!r}: base_url {url!r}; write it as http://HOST:PORT/v1")
    missing = _missing("endpoint", entry)
    if missing:
        raise NotConfigured(f"model {name!r}: {missing}")
    return OpenAIModel(
        name,
        model or entry.get("model"),
        url,
        entry.get("key_variable"),
        prices=prices(name),
        options=_options(entry, f"endpoint {endpoint!r}"),
    )


def _load_langchain(name: str, provider: str, model: str) -> ChatModel:
    providers = settings()["providers"]
    if provider not in providers:
        hint = f"kinds: simulated, openai, endpoint, {', '.join(sorted(providers))}"
        raise UnknownName("model", name, [row.name for row in known()], hint)
    missing = _missing("langchain", providers[provider])
    if missing:
        raise NotConfigured(f"model {name!r}: {missing}")
    from cxlab.llm.langchain_model import load_langchain

    return load_langchain(name, provider, model, prices(name), providers[provider].get("key_variable"))
