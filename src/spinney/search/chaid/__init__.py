"""CHAID: values that tell the same of the target become one branch."""
