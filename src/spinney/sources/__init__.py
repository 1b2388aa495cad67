"""Who answers the learner: rows in memory or in a SQL engine, as count tables."""
