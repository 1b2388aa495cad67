"""How many clusters: measures, curves and rules."""
