"""All that only stand-ins need: simulated agents, judges, customers and converters, and their phrase banks."""
