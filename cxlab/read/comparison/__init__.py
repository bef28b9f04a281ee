"""Which results of models may be compared with each other, and what follows from them."""
