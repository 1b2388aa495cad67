"""Private tools that know neither tables nor trees."""
