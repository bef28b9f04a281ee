"""What leaves the store and comes back: tables, whole runs, training data; and what may not be passed on."""
