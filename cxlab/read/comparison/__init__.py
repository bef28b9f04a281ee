"""Which results of models may be held against each other, and what follows from them."""
