"""The verdicts behind the figures of the page Judges, one by one."""
