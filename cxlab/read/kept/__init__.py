"""What is kept in memory of all attempts of a store, so that a filter reads nothing anew."""
