"""Opening a model: what its heads look at, what becomes of it without them, and what its states hold (lesson 15)."""
