"""What the model under test is asked in each task, and what its output is worth."""
