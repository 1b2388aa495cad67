"""CHAID: values without a significant difference become one branch."""
