"""Latent variables: the hidden causes of what happens in an organisation, drawn once and never shown to agents.

| table | what it holds |
| --- | --- |
| latent_agents | per agent: `load` (of new cases), `pace` (factor on times), `deviation` (leaning to break rules) |
| latent_skills | per agent and issue: `skill` from 0 to 1 |
| latent_habits | per customer and season: `rate` of ordering, the `category` they like then |
| latent_defects | per product and month: `rate` of trouble |
| latent_flaws | per product and issue: how much of its trouble is of that kind |
| latent_regions | per state: `pace` (factor on handle times) |
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.organisation.company import Company

START = date(2020, 1, 1)
SEASONS = ("Winter", "Spring", "Summer", "Fall")


def rng_for(seed: int, stage: str) -> np.random.Generator:
    """The randomness of one stage, independent of all others."""
    return np.random.default_rng([seed & 0xFFFFFFFFFFFFFFFF, zlib.crc32(stage.encode())])


def end_of(size: Size) -> date:
    """The first day after the time that an organisation has existed."""
    return date(START.year + size.months // 12, 1, 1)


def count_days(size: Size) -> int:
    """How many days an organisation has existed."""
    return (end_of(size) - START).days


def day(offset: int) -> date:
    """The day that many days after the beginning."""
    return START + timedelta(days=int(offset))


def month_of(offsets: np.ndarray) -> np.ndarray:
    """The month, counted from the beginning, of days counted from the beginning."""
    days = np.datetime64(START) + np.asarray(offsets).astype("timedelta64[D]")
    months = days.astype("datetime64[M]").astype(int)
    found: np.ndarray = months - np.datetime64(START, "M").astype(int)
    return found


def season_of(offsets: np.ndarray) -> np.ndarray:
    """The season (a place in SEASONS) of days counted from the beginning."""
    found: np.ndarray = ((month_of(offsets) + 1) % 12) // 3
    return found


@dataclass(frozen=True)
class Latent:
    """The latent variables as arrays; rows and columns are places in the lists of agents, customers, products, …"""

    load: np.ndarray
    pace: np.ndarray
    deviation: np.ndarray
    skill: np.ndarray
    habit: np.ndarray
    liking: np.ndarray
    popularity: np.ndarray
    defects: np.ndarray
    flaws: np.ndarray
    issue_months: np.ndarray
    region_pace: np.ndarray


def draw(company: Company, size: Size, categories: np.ndarray, seed: int) -> Latent:
    """The latent variables of an organisation. `categories`: product × category, whether one belongs to the other."""
    rng = rng_for(seed, "latent")
    profile = company.profile
    issues, states = len(profile.issues), len(profile.regions)
    befalls = np.array(
        [[issue.befalls == "all" or name in issue.befalls for issue in profile.issues] for name in profile.categories],
        dtype=float,
    )
    # An issue befalls a product as far as its categories allow.
    open_to = (categories.astype(float) @ befalls > 0).astype(float)
    months = size.months
    wave = 1 + 0.6 * np.sin(2 * np.pi * (np.arange(months)[None, :] / 12 + rng.random((issues, 1))))
    spikes = np.where(rng.random((size.products, months)) < 0.06, rng.uniform(3, 9, (size.products, months)), 1.0)
    ranks = rng.permutation(size.products) + 1
    return Latent(
        load=rng.gamma(1.6, 1.0, size.agents) + 0.1,
        pace=rng.lognormal(0, 0.35, size.agents),
        deviation=rng.beta(1.0, 6.0, size.agents),
        skill=_draw_skills(size.agents, issues, rng),
        habit=rng.gamma(1.2, 1.0, (size.customers, 4)) + 0.05,
        liking=rng.integers(0, len(profile.categories), (size.customers, 4)),
        popularity=ranks**-0.7,
        defects=rng.lognormal(0, 0.7, (size.products, 1)) * spikes,
        flaws=rng.lognormal(0, 1.0, (size.products, issues)) * open_to,
        issue_months=wave,
        region_pace=rng.uniform(0.6, 1.6, states),
    )


def _draw_skills(agents: int, issues: int, rng: np.random.Generator) -> np.ndarray:
    """Agent × issue: most know a bit of most issues; of each issue two are specialists, as far as possible others."""
    skills: np.ndarray = 0.75 * rng.beta(1.4, 1.6, (agents, issues))
    order = rng.permutation(agents)
    for turn in range(2):
        specialists = order[(np.arange(issues) + turn * issues) % agents]
        skills[specialists, np.arange(issues)] = rng.uniform(0.85, 1.0, issues)
    return skills


def to_tables(
    latent: Latent, company: Company, agents: list[str], customers: list[str], products: list[str]
) -> dict[str, pl.DataFrame]:
    """The tables that a dataset keeps beside the organisation, by the ids of its records."""
    issues = [issue.name for issue in company.profile.issues]
    categories = np.array(company.profile.categories)
    months = [np.datetime64(START, "M") + each for each in range(latent.defects.shape[1])]
    return {
        "latent_agents": pl.DataFrame(
            {"agent": agents, "load": latent.load, "pace": latent.pace, "deviation": latent.deviation}
        ),
        "latent_skills": _cross("agent", agents, "issue", issues, "skill", latent.skill),
        "latent_habits": _cross("customer", customers, "season", list(SEASONS), "rate", latent.habit).with_columns(
            category=pl.Series(categories[latent.liking].ravel())
        ),
        "latent_defects": _cross("product", products, "month", [str(each) for each in months], "rate", latent.defects),
        "latent_flaws": _cross("product", products, "issue", issues, "rate", latent.flaws),
        "latent_regions": pl.DataFrame(
            {"state": [region.state for region in company.profile.regions], "pace": latent.region_pace}
        ),
    }


def _cross(left: str, lefts: list[str], right: str, rights: list[str], name: str, values: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(
        {left: np.repeat(lefts, len(rights)), right: np.tile(rights, len(lefts)), name: values.astype(float).ravel()}
    )
