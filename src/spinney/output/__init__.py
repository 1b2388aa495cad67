"""A finished model as words, rules, files and other programs."""
