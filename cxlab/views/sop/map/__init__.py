"""The map of a procedure: counts, layout, labels and what is drawn."""
