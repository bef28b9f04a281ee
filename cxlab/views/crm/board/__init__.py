"""Board: what agents reach on the tasks, what they take, and which tools help."""
