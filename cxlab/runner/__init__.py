"""Plan, execute and resume runs: asyncio for models behind a network, processes for simulated ones."""
