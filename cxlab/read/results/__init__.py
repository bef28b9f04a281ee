"""Results of runs: scores, the headline of a task, what tasks cost, and published tables beside them."""
