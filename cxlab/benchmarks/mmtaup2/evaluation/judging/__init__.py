"""The metrics once more by judges: their votes, their verdicts as figures, and the versions of the rule they go by."""
