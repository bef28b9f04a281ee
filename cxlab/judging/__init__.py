"""A panel of judges: ask all, count their votes, keep every ballot."""

from cxlab.judging.panel import JudgeAnswer, Tally, find_silence, majority, poll, quorum, tally

__all__ = ["JudgeAnswer", "Tally", "find_silence", "majority", "poll", "quorum", "tally"]
