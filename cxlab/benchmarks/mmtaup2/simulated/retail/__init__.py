"""What the simulated sides of a shop know: its agent, its customer, and how they read and say things."""
