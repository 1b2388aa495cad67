"""The compiled walk of rows down trees."""
