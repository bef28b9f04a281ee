"""What a dataset is to be made of, read from what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brand_pack as brand
from cxlab.benchmarks.cxmarena.brand import pack_files
from cxlab.benchmarks.cxmarena.brand import pack_from_brief as brief
from cxlab.benchmarks.cxmarena.generation import sizes
from cxlab.errors import BadOption, UnknownName

NOISE = ("formats", "acronyms", "fragmentation", "speech", "ivr")
# What a person may answer about a brief, beside its language.
ANSWERS = ("called", "sells", "trade", "figures")
WER = 0.1
WRITER = "simulated:strong"


@dataclass(frozen=True)
class Config:
    """What to make; `brand` is a pack's id or file, `brief` a paragraph from which a pack is made instead."""

    brand: str
    language: str
    size: str
    seed: int
    model: str = WRITER
    noise: tuple[str, ...] = NOISE
    wer: float = WER
    validate: bool = True
    brief: str = ""
    called: str = ""
    sells: tuple[str, ...] = ()
    trade: str = ""
    figures: str = ""


def read_config(given: Mapping[str, Any], seed: int) -> Config:
    """Options by name, checked; BadOption or UnknownName says what is wrong."""
    known = ("brand", "language", "size", "model", "noise", "wer", "validate", "brief", *ANSWERS)
    for name in given:
        if name not in known:
            raise UnknownName("option of cxmarena's generator", name, known)
    language, name, told = (str(given.get(key) or "") for key in ("language", "brand", "brief"))
    if language and language not in brand.LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(brand.LANGUAGES)}")
    if given.get("brief") is not None and not told.strip():
        raise BadOption("the brief is empty; say in a paragraph what the brand sells and to whom")
    if name and told:
        raise BadOption("give a brand or a brief, not both: a brief makes a brand of its own")
    if not told:
        name = name or brief.EXAMPLES[language or "en"]
        own = pack_files.load(name).language_id
        if language and own != language:
            fitting = [one for one in pack_files.names() if pack_files.load(one).language_id == language]
            raise BadOption(
                f"brand {name!r} is written in {own!r}, not {language!r}, and packs are not translated; "
                f"take {', '.join(fitting)}, or have a brand made with --brief and --language {language}"
            )
        language = own
    sizes.read_size(given.get("size") or "small")
    try:
        wer = float(given.get("wer", WER))
    except (TypeError, ValueError):
        raise BadOption(f"wer={given['wer']!r}; give a share of words from 0 to 1") from None
    if not 0 <= wer <= 1:
        raise BadOption(f"wer={wer}; give a share of words from 0 to 1")
    config = Config(
        brand=name,
        language=language or ("" if told else "en"),
        size=str(given.get("size") or "small"),
        seed=seed,
        model=str(given.get("model") or WRITER),
        noise=read_noise(given.get("noise")),
        wer=wer,
        validate=str(given.get("validate", True)).lower() not in ("false", "0", "no"),
        brief=told,
        called=str(given.get("called") or ""),
        sells=tuple(given.get("sells") or ()),
        trade=str(given.get("trade") or ""),
        figures=str(given.get("figures") or ""),
    )
    if not told and any(getattr(config, name) for name in ANSWERS):
        raise BadOption(f"{', '.join(ANSWERS)} say more of a brief; give one with --brief")
    llm.load(config.model)
    return config


def read_noise(given: Any) -> tuple[str, ...]:
    """The kinds of noise, all when nothing is said; "none" for a clean dataset."""
    if given is None:
        return NOISE
    names = given.split(",") if isinstance(given, str) else list(given)
    names = [name.strip() for name in names if name.strip() and name.strip() != "none"]
    for name in names:
        if name not in NOISE:
            raise UnknownName("noise", name, NOISE, "Or none")
    return tuple(name for name in NOISE if name in names)
