"""A panel of judges: ask all, count their votes, keep every ballot."""

from cxlab.judging.panel import JudgeAnswer, Tally, majority, poll, tally

__all__ = ["JudgeAnswer", "Tally", "majority", "poll", "tally"]
