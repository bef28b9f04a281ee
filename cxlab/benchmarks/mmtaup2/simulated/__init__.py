"""All that only stand-ins need: simulated agents, customers and judges."""
