"""All that only stand-ins need: simulated writers, speakers, models under test and judges."""
