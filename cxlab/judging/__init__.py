"""A panel of judges: ask all, count their votes, keep every ballot."""

from cxlab.judging.panel import Ballot, Tally, majority, poll, tally

__all__ = ["Ballot", "Tally", "majority", "poll", "tally"]
