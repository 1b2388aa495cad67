"""The compiled engine of two branches: exact trees from coarse bins."""
