"""The compiled engine of a branch a value: rows coded by rank."""
