"""How many clusters: methods that find them, measures, curves and rules."""
