"""What the simulated sides of a phone company know: its agent, its customer, and how they read and say things."""
